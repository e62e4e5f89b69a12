package org.jdapl.examples.stress;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.evd.Jdapl;

/** One side of all connections, which needs no other one in this process: clients, or servers. */
final class Side implements EventHandler {

  private final InterfaceAdapter ia;
  private final Account account;
  private final ScheduledExecutorService executor;
  private final int connections;
  private final List<Station> stations;
  private final List<End> ends = new ArrayList<>();
  private final Map<Endpoint, End> open = new ConcurrentHashMap<>();
  private final LongAdder heard = new LongAdder();
  private final Standstill silence = new Standstill();
  private PublicServicePoint servicePoint;

  Side(
      final Jdapl jdapl,
      final Account account,
      final ScheduledExecutorService executor,
      final int connections,
      final int posters,
      final Station.Habit habit) {
    this.account = account;
    this.executor = executor;
    this.connections = connections;
    ia = jdapl.open();
    ia.asyncEvd().upcall(this);
    stations =
        List.of(new Station(this, Station.Habit.PLAIN, posters), new Station(this, habit, posters));
  }

  /** Clients. */
  void connect(final InetAddress server, final long service, final SplittableRandom seeds) {
    for (int i = 0; i < connections; i++) {
      ends.add(new Client(i, this, stations.get(i % 2), seeds.split(), server, service));
    }
  }

  /** Servers. Half of them are asked in one EVD, and have their events in another one. */
  PublicServicePoint serve(final long port, final SplittableRandom seeds) {
    for (int i = 0; i < connections; i++) {
      ends.add(new Server(i, this, stations.get(i % 2), seeds.split()));
    }
    servicePoint =
        port == 0 ? ia.createPsp(stations.get(0).evd()) : ia.createPsp(port, stations.get(0).evd());
    return servicePoint;
  }

  void start() {
    for (final End end : ends) {
      if (end instanceof Client client) {
        later(client::start, 0);
      }
    }
  }

  InterfaceAdapter ia() {
    return ia;
  }

  Account account() {
    return account;
  }

  int connections() {
    return connections;
  }

  List<Station> stations() {
    return stations;
  }

  List<End> ends() {
    return ends;
  }

  /** Does something on the thread for that. */
  void later(final Runnable what, final long millis) {
    try {
      final var unused = executor.schedule(what, millis, TimeUnit.MILLISECONDS);
    } catch (final RejectedExecutionException e) {
      // a round that would begin after the end of all
    }
  }

  /** Something came from the peers. */
  void hear() {
    heard.increment();
  }

  boolean hasHeard() {
    return heard.sum() > 0;
  }

  /** Whether nothing came from any peer for so long. */
  boolean isSilent(final Duration bound, final long now) {
    return silence.nanos(heard.sum(), now) > bound.toNanos();
  }

  void opened(final Endpoint endpoint, final End end) {
    open.put(endpoint, end);
  }

  void closed(final Endpoint endpoint) {
    open.remove(endpoint);
  }

  // Events. First each is recorded, then handled.

  @Override
  public void onAsync(final AsyncEvent event) {
    account.breach("async error: " + event);
  }

  static void record(final DtoCompletion event, final Ledger ledger) {
    final long cookie = event.cookie();
    final int end = End.index(cookie);
    ledger.record(
        event.sequence(),
        event.status() == DtoStatus.SUCCESS ? Ledger.SUCCESS : Ledger.NUMBER,
        End.isReceive(event.operation()) ? ledger.receivesOf(end) : ledger.requestsOf(end),
        End.round(cookie),
        End.number(cookie));
  }

  void record(final ConnectionEvent event, final Ledger ledger) {
    final End end = open.get(event.endpoint());
    if (end == null) {
      account.breach(event + " came after its endpoint's close");
      ledger.record(event.sequence(), Ledger.OTHER, 0, 0, 0);
    } else {
      ledger.record(
          event.sequence(),
          event.kind().isTerminal() ? Ledger.TERMINAL : Ledger.ESTABLISHED,
          ledger.receivesOf(end.index()),
          end.round(),
          0);
    }
  }

  void handle(final Event event) {
    if (event instanceof ConnectionRequestEvent request) {
      handle(request.request());
    } else if (event.source() instanceof Endpoint endpoint) {
      final End end = open.get(endpoint);
      if (end == null) {
        account.breach(event + " came after its endpoint's close");
      } else if (event instanceof DtoCompletion completion) {
        end.onCompletion(completion);
      } else if (event instanceof ConnectionEvent connection) {
        end.onConnection(connection);
      }
    }
  }

  private void handle(final ConnectionRequest request) {
    account.request.posted.increment();
    final ByteBuffer hello = request.privateData();
    if (!Client.isHello(hello)) {
      account.strangers.increment();
      request.reject(null);
      return;
    }
    hear();
    final int index = hello.getInt();
    if (index < connections) {
      ((Server) ends.get(index)).onRequest(request, hello);
    } else {
      account.breach("the client has more than " + connections + " connections; see --connections");
      request.reject(null);
    }
  }

  // The end.

  void stop() {
    ends.forEach(End::stop);
  }

  boolean isStopped() {
    return ends.stream().allMatch(End::isClosed);
  }

  /** Closes all but the EVDs. */
  void free() {
    ends.forEach(End::free);
    if (servicePoint != null) {
      servicePoint.close();
    }
  }

  @Override
  public String toString() {
    final StringBuilder all = new StringBuilder();
    ends.forEach(end -> all.append(end).append('\n'));
    return all.append(ia.statistics()).toString();
  }
}
