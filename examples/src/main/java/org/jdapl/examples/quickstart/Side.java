package org.jdapl.examples.quickstart;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;

/**
 * What client and server have in common: messages, software events, and the books on both.
 *
 * <p>All of it runs in upcalls of one EVD. They never overlap, so the fields are plain.
 *
 * <p>A side sends {@link #WINDOW} messages, then one more for each that comes in. So no more than
 * twice as many are on their way, and the peer keeps a receive posted for each.
 */
abstract class Side implements EventHandler {

  private static final int WINDOW = 8;
  private static final int RECEIVES = 2 * WINDOW;
  private static final int REQUESTS = 2 * WINDOW;

  static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(RECEIVES, REQUESTS);

  /** A slot for each request that may be open. A message is its number. */
  static final int SLOTS_BYTES = (RECEIVES + REQUESTS) * Long.BYTES;

  /** What the client writes and reads at the server by RDMA. */
  static final int BOARD_BYTES = 64;

  record Plan(int messages, int posters) {}

  /** The payload of a software event. */
  record Tick(int poster, int number) {}

  final String name;
  final Plan plan;
  final Evd evd;
  final Endpoint endpoint;
  final Lmr board;
  final Meter meter = new Meter(this);

  final AtomicLong ticksPosted = new AtomicLong();
  final CountDownLatch established = new CountDownLatch(1);
  final CountDownLatch finished = new CountDownLatch(1);
  final Queue<String> failures = new ConcurrentLinkedQueue<>();

  private final PrintWriter out;
  private final Lmr slots;
  private final int[] ticks;

  private long receivesPosted;
  private long receivesDone;
  private long requestsPosted;
  private long requestsDone;
  private long sent;
  private long received;
  private long disorder;
  private boolean connected;
  private boolean ended;

  Side(
      final String name,
      final PrintWriter out,
      final Plan plan,
      final Evd evd,
      final Endpoint endpoint,
      final Lmr slots,
      final Lmr board) {
    this.name = name;
    this.out = out;
    this.plan = plan;
    this.evd = evd;
    this.endpoint = endpoint;
    this.slots = slots;
    this.board = board;
    this.ticks = new int[plan.posters()];
  }

  /** The connection stands, and the peer told something with it. */
  abstract void onEstablished(ByteBuffer privateData);

  /** All messages of the plan were sent, and as many came. */
  abstract void onExchanged();

  /** The peer asks this side to look at the board. */
  abstract void onAsked();

  /** The peer's board was read into this side's. */
  abstract void onRead();

  final void start(final Evd asyncEvd) {
    for (int i = 0; i < RECEIVES; i++) {
      postReceive();
    }
    asyncEvd.upcall(
        new EventHandler() {
          @Override
          public void onAsync(final AsyncEvent event) {
            fail("async error " + event.kind() + ": " + event.reason());
          }
        });
    evd.upcall(meter);
  }

  @Override
  public final void onConnection(final ConnectionEvent event) {
    say(event.kind().toString());
    switch (event.kind()) {
      case ESTABLISHED -> {
        connected = true;
        onEstablished(event.privateData());
        sendAllowed();
        established.countDown();
      }
      case DISCONNECTED -> ended = true;
      default -> fail("the connection ended with " + event.kind());
    }
    finishIfDone();
  }

  @Override
  public final void onCompletion(final DtoCompletion event) {
    final boolean isReceive = event.operation() == DtoOperation.RECEIVE;
    inOrder(event.cookie() == (isReceive ? receivesDone : requestsDone));
    if (isReceive) {
      receivesDone = event.cookie() + 1;
    } else {
      requestsDone = event.cookie() + 1;
    }
    if (event.status() == DtoStatus.SUCCESS) {
      inOrder(connected && !ended);
      onSuccess(event.operation(), event.cookie());
    } else if (event.status() != DtoStatus.ERR_FLUSHED || !wasAsked()) {
      fail(event.operation() + " number " + event.cookie() + " ended with " + event.status());
    }
    finishIfDone();
  }

  @Override
  public final void onSoftware(final SoftwareEvent event) {
    final Tick tick = (Tick) event.payload();
    inOrder(tick.number() == ticks[tick.poster()]);
    ticks[tick.poster()] = tick.number() + 1;
    finishIfDone();
  }

  private void onSuccess(final DtoOperation operation, final long cookie) {
    switch (operation) {
      case RECEIVE -> onMessage(slots.buffer().getLong(receiveSlot(cookie)));
      case RDMA_READ -> onRead();
      default -> sendAllowed();
    }
    if (sent == plan.messages() && received == sent && requestsDone == requestsPosted) {
      onExchanged();
    }
  }

  private void onMessage(final long number) {
    inOrder(number == received);
    received = number + 1;
    postReceive();
    sendAllowed();
    if (wasAsked()) {
      onAsked();
    }
  }

  /** Whether the message after those of the plan came. */
  private boolean wasAsked() {
    return received > plan.messages();
  }

  private void sendAllowed() {
    while (sent < Math.min(plan.messages(), WINDOW + received)
        && requestsPosted - requestsDone < REQUESTS) {
      send();
    }
  }

  /** Sends the next message. */
  final void send() {
    final long cookie = requestsPosted++;
    final int slot = (RECEIVES + (int) (cookie % REQUESTS)) * Long.BYTES;
    slots.buffer().putLong(slot, sent++);
    posted(endpoint.postSend(slots, slot, Long.BYTES, cookie));
  }

  final void rdmaWrite(final int rmrContext, final long address) {
    posted(endpoint.postRdmaWrite(board, 0, BOARD_BYTES, rmrContext, address, requestsPosted++));
  }

  final void rdmaRead(final int rmrContext, final long address) {
    posted(endpoint.postRdmaRead(board, 0, BOARD_BYTES, rmrContext, address, requestsPosted++));
  }

  private void postReceive() {
    final long cookie = receivesPosted++;
    posted(endpoint.postReceive(slots, receiveSlot(cookie), Long.BYTES, cookie));
  }

  private static int receiveSlot(final long cookie) {
    return (int) (cookie % RECEIVES) * Long.BYTES;
  }

  private void posted(final Outcome outcome) {
    if (outcome != Outcome.SUCCESS) {
      fail("a post was answered with " + outcome);
    }
  }

  final void writeBoard(final String text) {
    board.buffer().put(0, Arrays.copyOf(text.getBytes(UTF_8), BOARD_BYTES));
  }

  final void expectBoard(final String text) {
    final byte[] bytes = new byte[BOARD_BYTES];
    board.buffer().get(0, bytes);
    final String found = text(ByteBuffer.wrap(bytes));
    if (!found.equals(text)) {
      fail("expected \"" + text + "\" on the board, found \"" + found + "\"");
    }
  }

  /** Zeros may follow the text. */
  static String text(final ByteBuffer bytes) {
    return UTF_8.decode(bytes).toString().replace("\0", "");
  }

  private void inOrder(final boolean kept) {
    if (!kept) {
      disorder++;
    }
  }

  private void finishIfDone() {
    if (ended
        && meter.events(EventStream.DTO) == due(EventStream.DTO)
        && meter.events(EventStream.SOFTWARE) == (long) plan.posters() * plan.messages()) {
      finished.countDown();
    }
  }

  /** How many events this side must get for what was posted. */
  long due(final EventStream stream) {
    return switch (stream) {
      case DTO -> receivesPosted + requestsPosted;
      case CONNECTION -> 2; // ESTABLISHED and DISCONNECTED
      case SOFTWARE -> ticksPosted.get();
      case CONNECTION_REQUEST, RMR_BIND, ASYNC -> 0;
    };
  }

  final long orderViolations() {
    return disorder + meter.sequenceGaps();
  }

  /** Ends all waiting for this side. */
  final void fail(final String what) {
    failures.add(what);
    established.countDown();
    finished.countDown();
  }

  final void say(final String what) {
    say(out, name, what);
  }

  static void say(final PrintWriter out, final String who, final String what) {
    out.printf("%-8s %s%n", who, what);
  }
}
