package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.Cno;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ObjectCounts;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.VerbsException;

/**
 * Two adapters with connections between them that are made and closed all the time, in every way;
 * then the adapters are closed, and nothing may be left of them. One thread drives it. What faults
 * of the provider make of its calls, it bears; what the framework must not do, it tells.
 */
final class Storm implements EventHandler {

  /** What all storms did. */
  static final class Account {
    final AtomicLong lives = new AtomicLong();
    final AtomicLong asked = new AtomicLong();
    final AtomicLong established = new AtomicLong();
    final AtomicLong ended = new AtomicLong();
    final AtomicLong completions = new AtomicLong();
    final AtomicLong closed = new AtomicLong();
    final AtomicLong incomplete = new AtomicLong();
    final AtomicLong abrupt = new AtomicLong();
    final AtomicLong refused = new AtomicLong();
    final AtomicLong faults = new AtomicLong();
    final AtomicLong open = new AtomicLong();
    final AtomicLong mostOpen = new AtomicLong();
    final Queue<String> breaches = new ConcurrentLinkedQueue<>();
    final AtomicLong connQual = new AtomicLong();
  }

  /** A connection, from its creation to its close. */
  private static final class Link {
    private Endpoint active;
    private Endpoint passive;
    private Lmr near;
    private Lmr far;
    private final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();

    boolean isOver() {
      return !closes.isEmpty() && closes.stream().allMatch(CompletableFuture::isDone);
    }
  }

  private static final ObjectCounts NOTHING = new ObjectCounts(0, 0, 0, 0, 0, 0, 0, 0, 0);
  private static final EndpointAttributes SMALL = EndpointAttributes.defaults().withMaxDtos(4, 4);

  private static final int MESSAGE = 64;

  private static final Duration CONNECT = Duration.ofSeconds(2);
  private static final Duration CLOSE = Duration.ofSeconds(2);
  private static final Duration ABRUPT = Duration.ofSeconds(10);
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);
  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(100);

  /**
   * So many new connections refused in a row, and the device, or an EVD of it, is of no more use.
   */
  private static final int HOPELESS = 50;

  private final Account account;
  private final SplittableRandom random;
  private final Link[] links;
  private final Queue<Endpoint> waiting = new ConcurrentLinkedQueue<>();
  private final Queue<ConnectionRequest> unanswered = new ConcurrentLinkedQueue<>();
  private final AtomicLong events = new AtomicLong();

  /** Of a life; its end is left to the garbage collector. */
  private ByteBuffer memory;

  private InterfaceAdapter client;
  private InterfaceAdapter server;
  private ProtectionZone clientPz;
  private ProtectionZone serverPz;
  private Evd clientEvd;
  private Evd serverEvd;
  private Cno cno;
  private PublicServicePoint psp;
  private boolean isSet;
  private int refusals;

  /**
   * A storm.
   *
   * @param connections at once, each of two endpoints.
   */
  Storm(final Account account, final SplittableRandom random, final int connections) {
    this.account = account;
    this.random = random;
    links = new Link[connections];
  }

  /** Opens the adapters, storms, and closes them; again and again. */
  void run(final Jdapl jdapl, final BooleanSupplier isOver) {
    while (!isOver.getAsBoolean() && account.breaches.isEmpty()) {
      live(jdapl, isOver);
      account.lives.incrementAndGet();
    }
  }

  private void live(final Jdapl jdapl, final BooleanSupplier isOver) {
    final int steps = random.nextInt(20 * links.length, 100 * links.length);
    try {
      memory = ByteBuffer.allocateDirect(2 * links.length * MESSAGE);
      client = jdapl.open();
      server = jdapl.open();
      refusals = 0;
      isSet = attempt(this::set);
      if (isSet) {
        for (int i = 0; i < steps && refusals < HOPELESS && !isOver.getAsBoolean(); i++) {
          step(random.nextInt(links.length));
        }
      }
    } finally {
      end();
    }
  }

  private void set() {
    clientPz = client.createPz();
    serverPz = server.createPz();
    final int length = 8 * links.length + 64;
    clientEvd = client.createEvd(length, EventStream.DTO, EventStream.CONNECTION);
    serverEvd =
        server.createEvd(
            length, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
    cno = server.createCno();
    serverEvd.cno(cno);
    psp = server.createPsp(1 + account.connQual.getAndIncrement() % 65_535, serverEvd);
    clientEvd.upcall(this);
    serverEvd.upcall(this);
  }

  // The storm.

  private void step(final int index) {
    final Link link = links[index];
    if (link == null) {
      links[index] = new Link();
      refusals = attempt(() -> connect(index)) ? 0 : refusals + 1;
    } else if (link.isOver()) {
      free(link);
      links[index] = null;
    } else if (!link.closes.isEmpty()) {
      LockSupport.parkNanos(NAP);
    } else {
      attempt(() -> disturb(link));
    }
    answerOne();
  }

  private void connect(final int index) {
    final Link link = links[index];
    link.near = clientPz.createLmr(memory(2 * index), Privilege.LOCAL_READ, Privilege.LOCAL_WRITE);
    link.far =
        serverPz.createLmr(memory(2 * index + 1), Privilege.LOCAL_READ, Privilege.LOCAL_WRITE);
    link.passive = server.createEndpoint(serverPz, serverEvd, SMALL);
    opened();
    link.passive.postReceive(link.far, 0, MESSAGE, 1);
    link.passive.postReceive(link.far, 0, MESSAGE, 2);
    waiting.add(link.passive);
    link.active = client.createEndpoint(clientPz, clientEvd, SMALL);
    opened();
    link.active.postReceive(link.near, 0, MESSAGE, 1);
    account.asked.incrementAndGet();
    link.active.connect(server.address(), psp.connQual(), CONNECT, null);
  }

  private ByteBuffer memory(final int index) {
    return memory.slice(index * MESSAGE, MESSAGE);
  }

  private void opened() {
    final long open = account.open.incrementAndGet();
    account.mostOpen.accumulateAndGet(open, Math::max);
  }

  private void disturb(final Link link) {
    if (link.active == null) { // its creation was refused half way
      close(link);
      return;
    }
    switch (random.nextInt(16)) {
      case 0 -> link.active.disconnect(Endpoint.Disconnect.ABRUPT);
      case 1 -> link.passive.disconnect(Endpoint.Disconnect.GRACEFUL);
      case 2, 3 -> close(link);
      case 4 -> link.active.close(); // waits
      case 5 -> link.passive.closeAsync(CLOSE);
      case 6 -> {
        clientEvd.disable();
        clientEvd.drain(this, 10);
        clientEvd.upcall(this);
      }
      default -> {
        if (link.active.state() == EndpointState.CONNECTED) {
          link.active.postSend(link.near, 0, MESSAGE, 3);
          link.passive.postSend(link.far, 0, MESSAGE, 4);
          link.passive.postReceive(link.far, 0, MESSAGE, 5);
        }
      }
    }
  }

  private void answerOne() {
    final ConnectionRequest request = unanswered.poll();
    if (request != null) {
      attempt(() -> request.reject(null));
    }
  }

  // Upcalls.

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    final Endpoint endpoint = waiting.poll();
    if (endpoint == null || events.incrementAndGet() % 16 == 0) {
      unanswered.add(event.request());
    } else {
      tolerate(
          () -> event.request().accept(endpoint, null),
          () -> tolerate(event.request()::close, () -> {}));
    }
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
      account.established.incrementAndGet();
    } else {
      account.ended.incrementAndGet();
    }
    if (events.incrementAndGet() % 32 == 0) {
      tolerate(event.endpoint()::close, () -> {});
    }
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    account.completions.incrementAndGet();
  }

  @Override
  public void onEvent(final Event event) {
    account.breaches.add("an event that was not asked for: " + event);
  }

  // The end.

  private void close(final Link link) {
    closeAsync(link, link.active);
    closeAsync(link, link.passive);
    if (link.closes.isEmpty()) {
      link.closes.add(CompletableFuture.completedFuture(null));
    }
  }

  private void closeAsync(final Link link, final Endpoint endpoint) {
    if (endpoint != null) {
      waiting.remove(endpoint);
      link.closes.add(endpoint.closeAsync(CLOSE).toCompletableFuture());
    }
  }

  /** Its endpoints are closed. */
  private void free(final Link link) {
    for (final CompletableFuture<DrainReport> close : link.closes) {
      final DrainReport report = close.join();
      if (report != null) {
        account.closed.incrementAndGet();
        account.open.decrementAndGet();
        if (!report.complete()) {
          account.incomplete.incrementAndGet();
        }
      }
    }
    if (link.near != null) {
      attempt(link.near::close);
    }
    if (link.far != null) {
      attempt(link.far::close);
    }
  }

  private void end() {
    if (!isSet || random.nextInt(4) == 0 || !attempt(this::closeGracefully)) {
      account.abrupt.incrementAndGet();
    }
    for (final InterfaceAdapter ia : new InterfaceAdapter[] {client, server}) {
      if (ia != null) {
        attempt(() -> ia.closeAbruptly(ABRUPT)); // does nothing where it is closed
        checkNothingIsLeft(ia);
      }
    }
    for (int i = 0; i < links.length; i++) {
      if (links[i] != null) {
        account.open.addAndGet(links[i].active == null ? 0 : -1);
        account.open.addAndGet(links[i].passive == null ? 0 : -1);
        links[i] = null;
      }
    }
    waiting.clear();
    unanswered.clear();
    memory = null;
    client = null;
    server = null;
    isSet = false;
  }

  private void closeGracefully() {
    psp.close();
    for (final Link link : links) {
      if (link != null && link.closes.isEmpty()) {
        close(link);
      }
    }
    for (int i = 0; i < links.length; i++) {
      if (links[i] != null) {
        links[i].closes.forEach(this::await);
        free(links[i]);
        links[i] = null;
      }
    }
    for (final Evd evd : List.of(clientEvd, serverEvd)) {
      final DrainReport report = await(evd.closeAsync(CLOSE).toCompletableFuture());
      for (final Event event : report.events()) {
        if (event instanceof ConnectionRequestEvent request) {
          request.request().close();
        }
      }
    }
    unanswered.forEach(ConnectionRequest::close);
    cno.close();
    clientPz.close();
    serverPz.close();
    client.close();
    server.close();
  }

  private <T> T await(final CompletableFuture<T> close) {
    try {
      return close.get(PATIENCE, TimeUnit.NANOSECONDS);
    } catch (final TimeoutException | ExecutionException | InterruptedException e) {
      account.breaches.add("a close with a bound of " + CLOSE + " did not end: " + e);
      throw new IllegalStateException(e);
    }
  }

  private void checkNothingIsLeft(final InterfaceAdapter ia) {
    final long deadline = System.nanoTime() + PATIENCE;
    ObjectCounts open = open(ia);
    while (!open.equals(NOTHING)) {
      if (System.nanoTime() - deadline > 0) {
        account.breaches.add(ia.name() + " is closed, and has " + open + ": " + Dat.openObjects());
        return;
      }
      LockSupport.parkNanos(NAP);
      open = open(ia);
    }
  }

  /** Without the adapters: others of the runtime are open. */
  private static ObjectCounts open(final InterfaceAdapter ia) {
    final ObjectCounts all = ia.statistics().open();
    return new ObjectCounts(
        0,
        all.evds(),
        all.cnos(),
        all.protectionZones(),
        all.lmrs(),
        all.sharedReceiveQueues(),
        all.endpoints(),
        all.servicePoints(),
        all.connectionRequests());
  }

  // Refusals.

  private boolean attempt(final Runnable call) {
    final boolean[] done = {true};
    tolerate(call, () -> done[0] = false);
    return done[0];
  }

  /** Faults may make any call fail; but then the provider's failure is its cause. */
  private void tolerate(final Runnable call, final Runnable otherwise) {
    try {
      call.run();
    } catch (final DatException e) {
      account.refused.incrementAndGet();
      if (e.type() == ReturnType.INTERNAL_ERROR && !(e.getCause() instanceof VerbsException)) {
        account.breaches.add("not the provider's fault: " + e);
      }
      otherwise.run();
    }
  }
}
