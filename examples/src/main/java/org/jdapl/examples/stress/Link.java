package org.jdapl.examples.stress;

import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.dat.Privilege.REMOTE_WRITE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Event;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;

/**
 * Two endpoints that connect, send each other numbers, and part in one of many ways, over and over.
 * Each time is a round.
 *
 * <p>The two sides answer each other: a side that got n messages may send n + {@link #WINDOW}. So
 * traffic goes both ways, and a message that is lost stops it.
 */
final class Link {

  static final Duration BOUND = Duration.ofSeconds(30);

  private static final int WINDOW = 8;
  private static final int RECEIVES = 32;
  private static final int REQUESTS = 32;

  /** One more than may be open: the one that is filled for a post that is refused. */
  private static final int REQUEST_SLOTS = REQUESTS + 1;

  /** The slots, and one that the peer writes into. */
  private static final int MEMORY = (RECEIVES + REQUEST_SLOTS + 1) * Long.BYTES;

  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(RECEIVES, REQUESTS).withRetries(7, 7);

  private static final int INDEX_SHIFT = 48;
  private static final int ROUND_SHIFT = 32;
  private static final int NUMBER_SHIFT = 8;

  private final int index;
  private final Account account;
  private final Links links;
  private final Executor executor;
  private final long connQual;
  private final End client;
  private final End server;

  // Under the monitor of this object.
  private final SplittableRandom random;
  private int round;
  private long messages;
  private boolean requested;
  private boolean isOver;
  private boolean stopping;

  Link(
      final int index,
      final Account account,
      final Links links,
      final Executor executor,
      final SplittableRandom random,
      final Station west,
      final Station east,
      final long connQual) {
    this.index = index;
    this.account = account;
    this.links = links;
    this.executor = executor;
    this.random = random;
    this.connQual = connQual;
    client = new End(west);
    server = new End(east);
  }

  int index() {
    return index;
  }

  int round() {
    return round & 0x1FFF;
  }

  // Cookies: the link, the round, the number of the request in its queue, and its slot.

  private long cookie(final long number, final int slot) {
    return (long) index << INDEX_SHIFT
        | (long) round() << ROUND_SHIFT
        | number << NUMBER_SHIFT
        | slot;
  }

  static int index(final long cookie) {
    return (int) (cookie >>> INDEX_SHIFT);
  }

  static int round(final long cookie) {
    return (int) (cookie >>> ROUND_SHIFT) & 0xFFFF;
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

  synchronized void start() {
    if (stopping) {
      return;
    }
    round++;
    requested = false;
    isOver = false;
    messages = random.nextInt(20, 2000);
    client.open();
    server.open();
    account.connections.increment();
    final ByteBuffer hello = ByteBuffer.allocate(2 * Integer.BYTES);
    hello.putInt(index).putInt(round).flip();
    try {
      client.endpoint.connect(server.station.address(), connQual, Duration.ofSeconds(20), hello);
    } catch (final DatException e) {
      account.breach("link " + index + " cannot connect: " + e);
    }
  }

  synchronized void onRequest(final ConnectionRequest request, final int ofRound) {
    if (ofRound != round || isOver) {
      account.request.posted.increment(); // its round could not know
      request.reject(null);
      return;
    }
    if (requested) {
      account.breach("link " + index + " round " + round + " was asked twice");
    }
    requested = true;
    if (server.state == End.State.OPEN) {
      request.accept(server.endpoint, null);
    } else {
      request.reject(null);
    }
  }

  private void onClosed() {
    if (client.state != End.State.CLOSED || server.state != End.State.CLOSED) {
      if (client.state == End.State.CLOSED && !client.established) {
        server.close(); // it will not hear of a connection
      }
      return;
    }
    isOver = true;
    if (requested || client.answered) {
      account.request.posted.increment();
    }
    if (!stopping) {
      executor.execute(this::start);
    }
  }

  /** Does something to the connection that a consumer may do at any time. */
  synchronized void disturb(final int how) {
    final End end = how % 2 == 0 ? client : server;
    if (end.state != End.State.OPEN) {
      return;
    }
    switch (how / 2 % 3) {
      case 0 -> end.disconnect(Endpoint.Disconnect.GRACEFUL);
      case 1 -> end.disconnect(Endpoint.Disconnect.ABRUPT);
      default -> end.close();
    }
  }

  synchronized void stop() {
    stopping = true;
    client.close();
    server.close();
  }

  synchronized boolean isStopped() {
    return client.state == End.State.CLOSED && server.state == End.State.CLOSED;
  }

  /** A side whose peer is gone must hear of it. */
  synchronized void checkEnds(final long now) {
    client.checkEnd(now, server);
    server.checkEnd(now, client);
  }

  void free() {
    client.free();
    server.free();
  }

  @Override
  public synchronized String toString() {
    return "link " + index + " round " + round + ": client " + client + ", server " + server;
  }

  /** One side. All under the monitor of the link. */
  final class End {

    private enum State {
      CLOSED,
      OPEN,
      CLOSING
    }

    private final Station station;
    private final ProtectionZone pz;
    private final Lmr slots;
    private final Segments segments = new Segments(1);

    private State state = State.CLOSED;
    private Endpoint endpoint;
    private long receivesPosted;
    private long requestsPosted;
    private long dtosDelivered;
    private final Map<Queue, Long> lastDelivered = new EnumMap<>(Queue.class);
    private long connectionEvents;
    private long sent;
    private long received;
    private boolean established;

    /** The peer's consumer said yes or no. */
    private boolean answered;

    private boolean ended;
    private long changedAt = System.nanoTime();

    End(final Station station) {
      this.station = station;
      final InterfaceAdapter ia = station.ia();
      pz = ia.createPz();
      slots =
          pz.createLmr(ByteBuffer.allocateDirect(MEMORY), LOCAL_READ, LOCAL_WRITE, REMOTE_WRITE);
    }

    Link link() {
      return Link.this;
    }

    private void open() {
      receivesPosted = 0;
      requestsPosted = 0;
      dtosDelivered = 0;
      lastDelivered.clear();
      connectionEvents = 0;
      sent = 0;
      received = 0;
      established = false;
      answered = false;
      ended = false;
      endpoint = station.ia().createEndpoint(pz, station.evd(), ATTRIBUTES);
      links.opened(endpoint, this);
      become(State.OPEN);
      for (int slot = 0; slot < RECEIVES; slot++) {
        postReceive(slot);
      }
    }

    private void become(final State next) {
      state = next;
      changedAt = System.nanoTime();
    }

    private void postReceive(final int slot) {
      final long offset = (long) slot * Long.BYTES;
      final long cookie = cookie(receivesPosted, slot);
      if (accepted(endpoint.postReceive(slots, offset, Long.BYTES, cookie))) {
        receivesPosted++;
      } else {
        account.breach(this + ": no room for a receive that just became free");
      }
    }

    private boolean accepted(final Outcome outcome) {
      if (outcome == Outcome.SUCCESS) {
        account.dto.posted.increment();
        return true;
      }
      return false; // INSUFFICIENT_RESOURCES: the next completion of this side posts again
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
        if (e.type() != ReturnType.INVALID_STATE) {
          account.breach(this + ": " + e);
        } // else a disconnect is on its way
      }
    }

    private Outcome send() {
      final int slot = RECEIVES + (int) (requestsPosted % REQUEST_SLOTS);
      slots.buffer().putLong(slot * Long.BYTES, sent);
      return endpoint.postSend(segment(slot), cookie(requestsPosted, slot), null, flags());
    }

    private Outcome write() {
      final End peer = this == client ? server : client;
      final int slot = RECEIVES + (int) (requestsPosted % REQUEST_SLOTS);
      return endpoint.postRdmaWrite(
          segment(slot),
          peer.slots.rmrContext(),
          peer.slots.address() + MEMORY - Long.BYTES,
          cookie(requestsPosted, slot),
          null,
          flags());
    }

    private Segments segment(final int slot) {
      return segments.clear().add(slots, (long) slot * Long.BYTES, Long.BYTES);
    }

    private int flags() {
      return isSuppressed(requestsPosted) ? CompletionFlags.SUPPRESS : CompletionFlags.DEFAULT;
    }

    void onCompletion(final DtoCompletion event) {
      synchronized (Link.this) {
        dtosDelivered++;
        final Queue queue = isReceive(event.operation()) ? Queue.RECEIVE : Queue.REQUEST;
        lastDelivered.merge(queue, number(event.cookie()), Math::max);
        if (event.status() == DtoStatus.SUCCESS && isReceive(event.operation())) {
          final int slot = slot(event.cookie());
          final long message = slots.buffer().getLong(slot * Long.BYTES);
          if (message != number(event.cookie())) {
            account.breach(this + ": message " + message + " came as " + event);
          }
          received++;
          if (state == State.OPEN) {
            postReceive(slot);
          }
        }
        pump();
        if (this == client && sent == messages && received == messages) {
          disturb(random.nextInt(6));
        }
      }
    }

    void onConnection(final ConnectionEvent event) {
      synchronized (Link.this) {
        connectionEvents++;
        switch (event.kind()) {
          case ESTABLISHED -> {
            established = true;
            answered = true;
            pump();
          }
          case PEER_REJECTED -> {
            answered = true;
            end();
          }
          case TIMED_OUT, UNREACHABLE -> {
            account.breach(this + ": " + event);
            end();
          }
          default -> end();
        }
      }
    }

    private void end() {
      ended = true;
      if (random.nextBoolean()) {
        close(); // inside the upcall
      } else {
        executor.execute(
            () -> {
              synchronized (Link.this) {
                close();
              }
            });
      }
    }

    private void disconnect(final Endpoint.Disconnect how) {
      try {
        endpoint.disconnect(how);
      } catch (final DatException e) {
        if (e.type() != ReturnType.INVALID_STATE) {
          account.breach(this + ": " + e);
        } // else it is not connected yet
      }
    }

    private void close() {
      if (state == State.OPEN) {
        become(State.CLOSING);
        final Endpoint closing = endpoint;
        final var unused =
            closing
                .closeAsync(BOUND)
                .whenCompleteAsync((report, failure) -> closed(closing, report, failure), executor);
      }
    }

    private void closed(final Endpoint closing, final DrainReport report, final Throwable failure) {
      synchronized (Link.this) {
        links.closed(closing);
        if (failure != null || !report.complete()) {
          account.breach(this + ": its close did not end: " + report + ", " + failure);
        } else {
          settle(report);
        }
        become(State.CLOSED);
        onClosed();
      }
    }

    /** No event of this side comes any more: each post has had its one outcome. */
    private void settle(final DrainReport report) {
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

    private void checkEnd(final long now, final End peer) {
      final boolean peerIsGone = peer.state == State.CLOSED && isOverdue(peer.changedAt, now);
      if (state == State.OPEN && peerIsGone) {
        account.breach(Link.this + ": the peer is closed for long, and nothing told of it");
        close();
      } else if (state == State.CLOSING && isOverdue(changedAt + BOUND.toNanos(), now)) {
        account.breach(Link.this + ": its close does not end");
      }
    }

    private static boolean isOverdue(final long since, final long now) {
      return now - since > BOUND.toNanos();
    }

    private void free() {
      slots.close();
      pz.close();
    }

    @Override
    public String toString() {
      return state
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
}
