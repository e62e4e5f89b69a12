package org.jdapl.examples.copy;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.examples.Opened;

/**
 * One end of the connection, with a ring of slots for the bytes of the file.
 *
 * <p>Its handler does no more than to put the news into an inbox. A thread of the consumer's own
 * takes them out, and does all that may block there: the handler holds the turn of its EVD, and a
 * slow disk must not keep it. The inbox needs no bound of its own: a receive is posted again, and a
 * slot is written again, only after its news was taken.
 */
final class Link implements AutoCloseable {

  static final int SLOTS = 16;
  static final int SLOT_BYTES = 256 << 10;

  /** A chunk or a credit for each slot, and the last word. */
  static final int MESSAGES = SLOTS + 2;

  /** How long the peer may be silent. */
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final int PATIENCE_STEPS = 60;
  private static final String HELLO = "jDAPL copy 1";
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  /** What the thread of the file is told. */
  sealed interface News permits Established, Arrived, Written, Ended {}

  /** The connection stands. Of the side that connected: where the ring of the peer is. */
  record Established(int rmrContext, long address) implements News {}

  /**
   * A message of the peer.
   *
   * @param number of the receive it came in.
   */
  record Arrived(Message message, int number) implements News {}

  /** What was in a slot is in the peer's slot. */
  record Written(int slot, long bytes) implements News {}

  /** The connection is of no use any more. */
  record Ended(String why) implements News {}

  private final Duration patience;
  private final InterfaceAdapter adapter;
  private final Opened opened;
  private final Evd evd;
  private final Endpoint endpoint;
  private final Lmr ring;
  private final Lmr messages; // those that are sent, then those that are received
  private final BlockingQueue<Integer> freeMessages = new ArrayBlockingQueue<>(MESSAGES);
  private final BlockingQueue<News> inbox = new LinkedBlockingQueue<>();
  private boolean isEnded; // who takes the news knows
  private volatile String asked; // whom it connects to; null if none, or when it is connected

  /**
   * Opens an adapter.
   *
   * @param patience how long to wait for news, or for room to send; then the peer counts as gone.
   * @param privileges what may be done to the ring.
   */
  Link(final String ia, final Duration patience, final Privilege... privileges) {
    this.patience = patience;
    adapter = Dat.open(ia);
    opened = new Opened(adapter, CLOSE_BOUND);
    try {
      evd =
          opened.add(
              adapter.createEvd(
                  2 * MESSAGES + SLOTS,
                  EventStream.DTO,
                  EventStream.CONNECTION,
                  EventStream.CONNECTION_REQUEST,
                  EventStream.ASYNC));
      adapter.asyncEvd(evd);
      final ProtectionZone pz = opened.add(adapter.createPz());
      ring = opened.add(pz.createLmr(ByteBuffer.allocateDirect(SLOTS * SLOT_BYTES), privileges));
      messages =
          opened.add(
              pz.createLmr(
                  ByteBuffer.allocateDirect(2 * MESSAGES * Message.MAX_BYTES),
                  Privilege.LOCAL_READ,
                  Privilege.LOCAL_WRITE));
      endpoint =
          opened.add(
              adapter.createEndpoint(
                  pz, evd, EndpointAttributes.defaults().withMaxDtos(MESSAGES, MESSAGES + SLOTS)));
      for (int i = 0; i < MESSAGES; i++) {
        freeMessages.add(i);
        postReceive(MESSAGES + i);
      }
      evd.upcall(new Handler());
    } catch (final RuntimeException e) {
      throw Opened.closed(this, e);
    }
  }

  InetAddress address() {
    return adapter.address();
  }

  /** Listens at a service, 0 for any; returns which. */
  long listen(final long service) {
    return opened
        .add(service == 0 ? adapter.createPsp(evd) : adapter.createPsp(service, evd))
        .connQual();
  }

  void connect(final InetAddress peer, final long service) {
    asked = peer.getHostAddress() + " port " + service;
    endpoint.connect(peer, service, CONNECT_TIMEOUT, UTF_8.encode(HELLO));
  }

  /** A slot of the ring. */
  ByteBuffer slot(final int slot) {
    return ring.buffer().slice(slot * SLOT_BYTES, SLOT_BYTES);
  }

  /** Writes the first bytes of a slot into the peer's slot of that number. */
  void write(final int slot, final int length, final Established peer) {
    final long offset = (long) slot * SLOT_BYTES;
    posted(
        endpoint.postRdmaWrite(
            ring, offset, length, peer.rmrContext(), peer.address() + offset, slot));
  }

  /** Sends a message; waits for room, which comes as long as the peer receives. */
  void send(final Message message) throws CopyException, InterruptedException {
    final Integer number = isEnded ? freeMessages.poll() : await(freeMessages);
    if (number == null) {
      throw new CopyException(silence());
    }
    final ByteBuffer buffer = message(number);
    message.encode(buffer);
    posted(
        endpoint.postSend(messages, (long) number * Message.MAX_BYTES, buffer.position(), number));
  }

  /** Sends the last word, if the peer may still hear it. */
  void tell(final Message message) throws InterruptedException {
    try {
      send(message);
    } catch (final CopyException | DatException e) {
      // there is no connection any more, or a peer that does not receive
    }
  }

  private void postReceive(final int number) {
    posted(
        endpoint.postReceive(
            messages, (long) number * Message.MAX_BYTES, Message.MAX_BYTES, number));
  }

  private ByteBuffer message(final int number) {
    return messages.buffer().slice(number * Message.MAX_BYTES, Message.MAX_BYTES);
  }

  private static void posted(final Outcome outcome) {
    if (outcome != Outcome.SUCCESS) {
      throw new IllegalStateException("a post was answered with " + outcome);
    }
  }

  /** The next news; null if there are none yet. */
  News poll() {
    return noted(inbox.poll());
  }

  /** The next news; waits for them, and when none come in time, that is the end. */
  News take() throws InterruptedException {
    final News news = await(inbox);
    return noted(news != null ? news : new Ended(silence()));
  }

  private String silence() {
    return "the peer was silent for " + patience.toSeconds() + " s";
  }

  /** In steps: a process that was stopped meanwhile loses no more than one of them. */
  private <T> T await(final BlockingQueue<T> queue) throws InterruptedException {
    T found = null;
    for (int step = 0; step < PATIENCE_STEPS && found == null; step++) {
      found = queue.poll(patience.toNanos() / PATIENCE_STEPS, TimeUnit.NANOSECONDS);
    }
    return found;
  }

  private News noted(final News news) {
    if (news instanceof Arrived arrived) {
      postReceive(arrived.number());
    }
    isEnded |= news instanceof Ended;
    return news;
  }

  /** Ends the wait for news, from any thread. */
  void end(final String why) {
    inbox.add(new Ended(why));
  }

  /** Lets what was sent arrive, then ends the connection. */
  void disconnect() {
    endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
  }

  /** Waits until the connection ended, or the time is over. */
  void awaitEnd(final Duration bound) throws InterruptedException {
    final long deadline = System.nanoTime() + bound.toNanos();
    boolean inTime = true;
    while (!isEnded && inTime) {
      inTime = noted(inbox.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) != null;
    }
  }

  @Override
  public void close() {
    opened.close();
  }

  private final class Handler implements EventHandler {

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      final ByteBuffer hello = event.request().privateData(); // zeros may follow
      final boolean isHello = UTF_8.decode(hello).toString().replace("\0", "").equals(HELLO);
      if (!isHello || endpoint.state() != EndpointState.UNCONNECTED) {
        event.request().reject(null);
        return;
      }
      final ByteBuffer whereabouts = ByteBuffer.allocate(Integer.BYTES + Long.BYTES);
      whereabouts.putInt(ring.rmrContext()).putLong(ring.address()).flip();
      event.request().accept(endpoint, whereabouts);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      if (event.kind() != ConnectionEvent.Kind.ESTABLISHED) {
        end(
            asked == null
                ? "the connection ended: " + event.kind()
                : "no connection to "
                    + asked
                    + ": "
                    + event.kind()
                    + "; start copy -s there first");
        return;
      }
      asked = null;
      final ByteBuffer whereabouts = event.privateData();
      if (whereabouts.remaining() >= Integer.BYTES + Long.BYTES) {
        inbox.add(new Established(whereabouts.getInt(), whereabouts.getLong()));
      }
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      final int number = (int) event.cookie();
      if (event.operation() == DtoOperation.SEND) {
        freeMessages.add(number);
      }
      if (event.status() != DtoStatus.SUCCESS) {
        if (event.status() != DtoStatus.ERR_FLUSHED) { // else the end of the connection tells why
          end(event.operation() + " ended with " + event.status());
        }
        return;
      }
      switch (event.operation()) {
        case RECEIVE -> arrived(number, (int) event.transferredLength());
        case RDMA_WRITE -> inbox.add(new Written(number, event.transferredLength()));
        default -> {}
      }
    }

    private void arrived(final int number, final int length) {
      try {
        inbox.add(new Arrived(Message.decode(message(number).limit(length)), number));
      } catch (final CopyException e) {
        end(e.getMessage());
      }
    }

    @Override
    public void onAsync(final AsyncEvent event) {
      end("async error " + event.kind() + ": " + event.reason());
    }
  }
}
