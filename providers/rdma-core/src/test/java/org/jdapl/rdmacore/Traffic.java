package org.jdapl.rdmacore;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnType;
import org.jdapl.evd.Jdapl;

/**
 * Messages both ways with one peer after the other, as fast as they go; when a connection ended,
 * the account of its requests. A program that runs in guests: {@link WireIT}.
 */
final class Traffic implements EventHandler {

  private static final long SERVICE = 4711;
  private static final int RECEIVES = 16;
  private static final int SENDS = 8;
  private static final int BYTES = 1024;
  private static final int SOME = 50;

  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(RECEIVES, SENDS).withRetries(6, 7);

  private static final Duration CONNECT = Duration.ofSeconds(10);

  private final Duration bound;
  private final int messages;
  private final InterfaceAdapter ia;
  private final Evd evd;
  private final ProtectionZone pz;
  private final Lmr memory;
  private final BlockingQueue<Connection> ended = new LinkedBlockingQueue<>();
  private final BlockingQueue<ConnectionRequest> requests = new LinkedBlockingQueue<>();
  private volatile Connection current;
  private int connections;

  /** The requests of a connection; what is not atomic is of the EVD's upcalls, one at a time. */
  private final class Connection {

    final Endpoint endpoint = ia.createEndpoint(pz, evd, ATTRIBUTES);
    final AtomicInteger posted = new AtomicInteger();
    final AtomicInteger delivered = new AtomicInteger();
    private int sent;
    private int sending;
    private int received;
    private long heardAt;
    private boolean stood;
    private ConnectionEvent.Kind end;
    private double secondsToEnd;

    void postReceive(final int slot) {
      if (endpoint.postReceive(memory, (long) slot * BYTES, BYTES, slot) == Outcome.SUCCESS) {
        posted.incrementAndGet();
      }
    }

    void send() {
      try {
        while (sending < SENDS && (messages == 0 || sent < messages)) {
          final int slot = RECEIVES + sent % SENDS;
          if (endpoint.postSend(memory, (long) slot * BYTES, BYTES, slot) != Outcome.SUCCESS) {
            return;
          }
          posted.incrementAndGet();
          sending++;
          sent++;
        }
        if (sending == 0) {
          endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
        }
      } catch (final DatException e) {
        if (e.type() != ReturnType.INVALID_STATE) {
          throw e;
        } // else the event of its end follows
      }
    }

    void completed(final DtoCompletion event) {
      delivered.incrementAndGet();
      final boolean isReceive = event.operation() == DtoOperation.RECEIVE;
      sending -= isReceive ? 0 : 1;
      if (event.status() != DtoStatus.SUCCESS) {
        return;
      }
      heardAt = System.nanoTime();
      if (!isReceive) {
        send();
        return;
      }
      postReceive((int) event.cookie());
      if (++received == SOME) {
        say("connection %d has traffic", connections);
      }
    }

    void happened(final ConnectionEvent event) {
      if (event.kind().isTerminal()) {
        end = event.kind();
        secondsToEnd = (System.nanoTime() - heardAt) / 1e9;
        ended.add(this);
        return;
      }
      stood = true;
      connections++;
      heardAt = System.nanoTime();
      send();
    }
  }

  private Traffic(final Jdapl jdapl, final Duration bound, final int messages) {
    this.bound = bound;
    this.messages = messages;
    ia = jdapl.open();
    ia.asyncEvd().upcall(this);
    evd =
        ia.createEvd(
            4 * (RECEIVES + SENDS),
            EventStream.DTO,
            EventStream.CONNECTION,
            EventStream.CONNECTION_REQUEST);
    pz = ia.createPz();
    memory =
        pz.createLmr(ByteBuffer.allocateDirect((RECEIVES + SENDS) * BYTES), Privilege.values());
    evd.upcall(this);
  }

  private Connection open() {
    final Connection connection = new Connection();
    current = connection;
    for (int slot = 0; slot < RECEIVES; slot++) {
      connection.postReceive(slot);
    }
    return connection;
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    requests.add(event.request());
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    current.happened(event);
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    current.completed(event);
  }

  @Override
  public void onAsync(final AsyncEvent event) {
    say("async event %s: %s", event.kind(), event.reason());
  }

  /** Serves peers, one after the other; returns whether every request is accounted for. */
  private boolean serve(final int peers) throws Exception {
    ia.createPsp(SERVICE, evd);
    say("listening");
    boolean isWell = true;
    while (connections < peers) {
      isWell &= !isAccepted(requests.take()) || account();
    }
    return isWell;
  }

  /** Whether the peer still waited, while another one was served. */
  private boolean isAccepted(final ConnectionRequest request) {
    final Connection connection = open();
    try {
      request.accept(connection.endpoint, null);
      return true;
    } catch (final DatException e) {
      say("attempt: %s", e.getMessage());
      connection.endpoint.close();
      request.close();
      return false;
    }
  }

  /** Has one connection; asks for it until it gets it, within the bound. Each try has its own. */
  private boolean connect(final InetAddress peer) throws Exception {
    final long deadline = System.nanoTime() + bound.toNanos();
    boolean isWell = true;
    while (connections == 0 && System.nanoTime() - deadline < 0) {
      open().endpoint.connect(peer, SERVICE, CONNECT, null);
      isWell &= account();
    }
    return isWell && connections == 1;
  }

  /** Waits until the connection ended, closes it, and says what became of its requests. */
  private boolean account() throws Exception {
    final Connection connection = ended.take();
    final long start = System.nanoTime();
    final DrainReport report =
        connection
            .endpoint
            .closeAsync(bound)
            .toCompletableFuture()
            .get(2 * bound.toSeconds(), TimeUnit.SECONDS);
    final double secondsToClose = (System.nanoTime() - start) / 1e9;
    final int posted = connection.posted.get();
    final int delivered = connection.delivered.get();
    final boolean isAccounted =
        report.complete() && posted == delivered + report.requests().size() + report.suppressed();
    final boolean isInTime = !connection.stood || connection.secondsToEnd < bound.toSeconds();
    say(
        "connection %s is %s and %saccounted for: %d posted, %d delivered, %d reported;"
            + " it ended %.3f s after the last message%s and was closed in %.3f s",
        connection.stood ? connections : "attempt",
        connection.end,
        isAccounted ? "" : "NOT ",
        posted,
        delivered,
        report.requests().size(),
        connection.stood ? connection.secondsToEnd : 0,
        isInTime ? "" : ", TOO LATE,",
        secondsToClose);
    return isAccounted && isInTime;
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private static void say(final String format, final Object... arguments) {
    System.out.printf(Locale.ROOT, format + "%n", arguments);
  }

  /**
   * Runs it.
   *
   * @param arguments the device's address, the bound in seconds; and {@code serve} and how many
   *     peers, or {@code connect}, a peer's address, and after how many messages to disconnect, 0
   *     for never.
   */
  public static void main(final String... arguments) throws Exception {
    final boolean isServer = arguments[2].equals("serve");
    final Duration bound = Duration.ofSeconds(Long.parseLong(arguments[1]));
    final boolean isWell;
    try (Jdapl jdapl =
        Jdapl.with(new RdmaCoreProvider()).parameters("address=" + arguments[0]).start()) {
      final Traffic traffic =
          new Traffic(jdapl, bound, isServer ? 0 : Integer.parseInt(arguments[4]));
      isWell =
          isServer
              ? traffic.serve(Integer.parseInt(arguments[3]))
              : traffic.connect(InetAddress.getByName(arguments[3]));
      traffic.ia.closeAbruptly(bound);
    }
    say("all is %swell", isWell ? "" : "NOT ");
    System.exit(isWell ? 0 : 1);
  }
}
