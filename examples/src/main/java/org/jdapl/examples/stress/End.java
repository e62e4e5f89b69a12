package org.jdapl.examples.stress;

import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.dat.Privilege.REMOTE_WRITE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Event;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;

/**
 * One end of a connection that is made, carries numbers both ways, and ends in one of many ways,
 * over and over. Each time is a round.
 *
 * <p>It knows its peer by what comes from it only. The two answer each other: an end that got n
 * messages may send n + {@link #WINDOW}. So traffic goes both ways, and a message that is lost
 * stops it.
 */
abstract class End {

  /** Of a close, and of each other thing that must end. */
  static final Duration BOUND = Duration.ofSeconds(30);

  private static final int WINDOW = 8;
  private static final int RECEIVES = 32;
  private static final int REQUESTS = 32;

  /** One more than may be open: the one that is filled for a post that is refused. */
  private static final int REQUEST_SLOTS = REQUESTS + 1;

  /** The slots, and one that the peer writes into. */
  private static final int MEMORY = (RECEIVES + REQUEST_SLOTS + 1) * Long.BYTES;

  /**
   * A message is sent again 6 times, then the peer is lost; one that finds no receive, for ever.
   */
  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(RECEIVES, REQUESTS).withRetries(6, 7);

  /** One round of so many may be disturbed before its connection stands. */
  private static final int DISTURBED_EARLY = 8;

  private static final int INDEX_SHIFT = 48;
  private static final int ROUND_SHIFT = 32;
  private static final int NUMBER_SHIFT = 8;
  private static final int ROUND_MASK = 0x1FFF;

  private enum State {
    CLOSED,
    OPEN,
    CLOSING
  }

  private final int index;
  private final Side side;
  private final Station station;
  private final ProtectionZone pz;
  private final Lmr slots;
  private final Segments segments = new Segments(1);
  private final Standstill standstill = new Standstill();

  // Under the monitor of this object.
  private final SplittableRandom random;
  private State state = State.CLOSED;
  private boolean stopping;
  private Endpoint endpoint;
  private int round;
  private long messages;
  private int peerContext;
  private long peerAddress;
  private long receivesPosted;
  private long requestsPosted;
  private long dtosDelivered;
  private final Map<Queue, Long> lastDelivered = new EnumMap<>(Queue.class);
  private long connectionEvents;
  private long sent;
  private long received;
  private boolean established;
  private boolean ended;
  private long changes;
  private long spared;

  End(final int index, final Side side, final Station station, final SplittableRandom random) {
    this.index = index;
    this.side = side;
    this.station = station;
    this.random = random;
    pz = side.ia().createPz();
    slots = pz.createLmr(ByteBuffer.allocateDirect(MEMORY), LOCAL_READ, LOCAL_WRITE, REMOTE_WRITE);
  }

  final int index() {
    return index;
  }

  final Side side() {
    return side;
  }

  final SplittableRandom random() {
    return random;
  }

  final Endpoint endpoint() {
    return endpoint;
  }

  final int round() {
    return round;
  }

  // Cookies: the end, the round, the number of the request in its queue, and its slot.

  private long cookie(final long number, final int slot) {
    return (long) index << INDEX_SHIFT
        | (long) (round & ROUND_MASK) << ROUND_SHIFT
        | number << NUMBER_SHIFT
        | slot;
  }

  static int index(final long cookie) {
    return (int) (cookie >>> INDEX_SHIFT);
  }

  static int round(final long cookie) {
    return (int) (cookie >>> ROUND_SHIFT) & ROUND_MASK;
  }

  static long number(final long cookie) {
    return (cookie & 0xFFFF_FFFFL) >>> NUMBER_SHIFT;
  }

  private static int slot(final long cookie) {
    return (int) cookie & 0xFF;
  }

  static boolean isReceive(final DtoOperation operation) {
    return operation == DtoOperation.RECEIVE;
  }

  /** Whether the request of that number is posted with SUPPRESS. */
  static boolean isSuppressed(final long number) {
    return number % 5 == 4;
  }

  private static boolean isWrite(final long number) {
    return number % 7 == 3;
  }

  // Rounds.

  /** Whether a round may begin. */
  final boolean isFree() {
    return state == State.CLOSED && !stopping;
  }

  /** Begins a round: has an endpoint, and receives in it. */
  final void open(final int nextRound, final int howMany) {
    round = nextRound;
    messages = howMany;
    receivesPosted = 0;
    requestsPosted = 0;
    dtosDelivered = 0;
    lastDelivered.clear();
    connectionEvents = 0;
    sent = 0;
    received = 0;
    established = false;
    ended = false;
    endpoint = side.ia().createEndpoint(pz, station.evd(), ATTRIBUTES);
    side.opened(endpoint, this);
    become(State.OPEN);
    spared = changes + (random.nextInt(DISTURBED_EARLY) == 0 ? 0 : random.nextInt(1, 2 * howMany));
    for (int slot = 0; slot < RECEIVES; slot++) {
      postReceive(slot);
    }
  }

  /** Says where the peer may write. */
  final void putMemory(final ByteBuffer data) {
    data.putInt(slots.rmrContext()).putLong(slots.address() + MEMORY - Long.BYTES);
  }

  /** Hears where it may write. */
  final void getMemory(final ByteBuffer data) {
    peerContext = data.getInt();
    peerAddress = data.getLong();
  }

  /** The peer's consumer said yes; the connection stands. */
  abstract void onEstablished(ByteBuffer privateData);

  /** All messages of this round came and went. */
  abstract void onAllDone();

  /** The round is over. */
  abstract void onClosed(boolean wasEstablished);

  private void become(final State next) {
    state = next;
    changes++;
  }

  /** Disturbs it, unless too little happened in this round: devices may be slow. */
  final synchronized void disturb() {
    if (changes >= spared) {
      part();
    }
  }

  /** Does something to the connection that a consumer may do at any time. */
  final synchronized void part() {
    if (state == State.OPEN) {
      switch (random.nextInt(3)) {
        case 0 -> disconnect(Endpoint.Disconnect.GRACEFUL);
        case 1 -> disconnect(Endpoint.Disconnect.ABRUPT);
        default -> close();
      }
    }
  }

  final synchronized void stop() {
    stopping = true;
    close();
  }

  final synchronized boolean isClosed() {
    return state == State.CLOSED;
  }

  /** An end hears of each thing that happens to its connection. */
  final synchronized void check(final long now) {
    if (state != State.CLOSED && standstill.nanos(changes, now) > 2 * BOUND.toNanos()) {
      side.account().breach(this + ": nothing came for " + 2 * BOUND.toSeconds() + " s");
      changes++;
      close();
    }
  }

  final void free() {
    slots.close();
    pz.close();
  }

  // Requests.

  private void postReceive(final int slot) {
    final long offset = (long) slot * Long.BYTES;
    final long cookie = cookie(receivesPosted, slot);
    if (accepted(endpoint.postReceive(slots, offset, Long.BYTES, cookie))) {
      receivesPosted++;
    } else {
      side.account().breach(this + ": no room for a receive that just became free");
    }
  }

  private boolean accepted(final Outcome outcome) {
    if (outcome == Outcome.SUCCESS) {
      side.account().dto.posted.increment();
      return true;
    }
    return false; // INSUFFICIENT_RESOURCES: the next completion of this end posts again
  }

  /** Sends what may be sent. */
  private void pump() {
    try {
      while (state == State.OPEN
          && established
          && !ended
          && sent < Math.min(messages, received + WINDOW)) {
        final boolean isWrite = isWrite(requestsPosted);
        if (!accepted(isWrite ? write() : send())) {
          return;
        }
        requestsPosted++;
        sent += isWrite ? 0 : 1;
      }
    } catch (final DatException e) {
      expectState(e); // else a disconnect is on its way
    }
  }

  private void expectState(final DatException answer) {
    if (answer.type() != ReturnType.INVALID_STATE) {
      side.account().breach(this + ": " + answer);
    }
  }

  private Outcome send() {
    final int slot = RECEIVES + (int) (requestsPosted % REQUEST_SLOTS);
    slots.buffer().putLong(slot * Long.BYTES, sent);
    return endpoint.postSend(segment(slot), cookie(requestsPosted, slot), null, flags());
  }

  private Outcome write() {
    final int slot = RECEIVES + (int) (requestsPosted % REQUEST_SLOTS);
    return endpoint.postRdmaWrite(
        segment(slot), peerContext, peerAddress, cookie(requestsPosted, slot), null, flags());
  }

  private Segments segment(final int slot) {
    return segments.clear().add(slots, (long) slot * Long.BYTES, Long.BYTES);
  }

  private int flags() {
    return isSuppressed(requestsPosted) ? CompletionFlags.SUPPRESS : CompletionFlags.DEFAULT;
  }

  // Events.

  final synchronized void onCompletion(final DtoCompletion event) {
    dtosDelivered++;
    changes++;
    final Queue queue = isReceive(event.operation()) ? Queue.RECEIVE : Queue.REQUEST;
    lastDelivered.merge(queue, number(event.cookie()), Math::max);
    if (event.status() == DtoStatus.SUCCESS && isReceive(event.operation())) {
      side.hear();
      final int slot = slot(event.cookie());
      final long message = slots.buffer().getLong(slot * Long.BYTES);
      if (message != number(event.cookie())) {
        side.account().breach(this + ": message " + message + " came as " + event);
      }
      received++;
      if (state == State.OPEN) {
        postReceive(slot);
      }
    }
    pump();
    if (sent == messages && received == messages) {
      onAllDone();
    }
  }

  final synchronized void onConnection(final ConnectionEvent event) {
    connectionEvents++;
    changes++;
    if (event.kind() != ConnectionEvent.Kind.DISCONNECTED) { // else this side may have ended it
      side.account().outcome = event.kind();
    }
    switch (event.kind()) {
      case ESTABLISHED -> {
        side.hear();
        side.account().connections.increment();
        established = true;
        onEstablished(event.privateData());
        pump();
      }
      case PEER_REJECTED -> {
        side.hear();
        end();
      }
      case TIMED_OUT, UNREACHABLE -> {
        side.account().silence(this + ": " + event);
        end();
      }
      default -> end();
    }
  }

  private void end() {
    ended = true;
    if (random.nextBoolean()) {
      close(); // inside the upcall
    } else {
      side.later(this::endLater, 0);
    }
  }

  private synchronized void endLater() {
    if (ended) { // else another round began
      close();
    }
  }

  private void disconnect(final Endpoint.Disconnect how) {
    try {
      endpoint.disconnect(how);
    } catch (final DatException e) {
      expectState(e); // else it is not connected yet
    }
  }

  final void close() {
    if (state == State.OPEN) {
      become(State.CLOSING);
      final Endpoint closing = endpoint;
      final var unused =
          closing
              .closeAsync(BOUND)
              .whenComplete(
                  (report, failure) -> side.later(() -> closed(closing, report, failure), 0));
    }
  }

  private synchronized void closed(
      final Endpoint closing, final DrainReport report, final Throwable failure) {
    side.closed(closing);
    if (failure != null || !report.complete()) {
      side.account().breach(this + ": its close did not end: " + report + ", " + failure);
    } else {
      settle(report);
    }
    become(State.CLOSED);
    onClosed(established);
  }

  /** No event of this round comes any more: each post has had its one outcome. */
  private void settle(final DrainReport report) {
    final Account account = side.account();
    final long accounted = dtosDelivered + report.requests().size() + report.suppressed();
    if (accounted != receivesPosted + requestsPosted) {
      account.breach(
          "%s: %d receives and %d requests posted, %d delivered, %d suppressed, %d reported"
              .formatted(
                  this,
                  receivesPosted,
                  requestsPosted,
                  dtosDelivered,
                  report.suppressed(),
                  report.requests().size()));
    }
    for (final DrainReport.Request request : report.requests()) {
      if (number(request.cookie()) <= lastDelivered.getOrDefault(request.queue(), -1L)) {
        account.breach(
            "%s: %s number %d is reported as %s, and %d was delivered"
                .formatted(
                    this,
                    request.queue(),
                    number(request.cookie()),
                    request.status(),
                    lastDelivered.get(request.queue())));
      }
    }
    account.dto.reported.add(report.requests().size());
    account.dto.suppressed.add(report.suppressed());
    account.connection.posted.add(connectionEvents);
    for (final Event event : report.events()) {
      if (event instanceof ConnectionEvent) {
        account.connection.posted.increment();
        account.connection.reported.increment();
      }
    }
  }

  @Override
  public final synchronized String toString() {
    return getClass().getSimpleName()
        + " "
        + index
        + " round "
        + round
        + " "
        + state
        + " "
        + (endpoint == null ? "" : endpoint)
        + (established ? " established" : "")
        + (ended ? " ended" : "")
        + " sent "
        + sent
        + " received "
        + received
        + " of "
        + messages;
  }
}
