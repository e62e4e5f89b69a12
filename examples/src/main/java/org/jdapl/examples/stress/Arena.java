package org.jdapl.examples.stress;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DispatcherStatistics;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.evd.Jdapl;

/** All that takes part, and the threads that stir it. */
final class Arena {

  private static final long SERVICE = 5000;
  private static final Duration STALL = Duration.ofSeconds(20);

  private final Jdapl jdapl;
  private final int dispatchers;
  private final Account account;
  private final int posters;
  private final InterfaceAdapter west;
  private final InterfaceAdapter east;
  private final Links links;

  /** The last one closes all the time, and is replaced. */
  private final AtomicReferenceArray<Station> stations;

  private final List<PublicServicePoint> servicePoints = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final ExecutorService executor = Executors.newSingleThreadExecutor(Arena::daemon);
  private final SplittableRandom seeds;
  private volatile boolean stopping;
  private long eventsSeen;
  private long eventsSeenAt = System.nanoTime();

  Arena(
      final Jdapl jdapl,
      final int dispatchers,
      final Account account,
      final long seed,
      final int posters,
      final int connections) {
    this.jdapl = jdapl;
    this.dispatchers = dispatchers;
    this.account = account;
    this.posters = posters;
    seeds = new SplittableRandom(seed);
    west = open();
    east = open();
    links = new Links(account, connections);
    stations =
        new AtomicReferenceArray<>(
            new Station[] {
              newStation(west, Station.Habit.PLAIN),
              newStation(west, Station.Habit.SLOW),
              newStation(east, Station.Habit.PLAIN),
              newStation(east, Station.Habit.THROWING),
              newStation(west, Station.Habit.CLOSING)
            });
    servicePoints.add(east.createPsp(SERVICE, stations.get(2).evd()));
    servicePoints.add(east.createPsp(SERVICE + 1, stations.get(3).evd()));
    for (int i = 0; i < connections; i++) {
      final int door = i / 2 % 2;
      links.put(
          new Link(
              i,
              account,
              links,
              executor,
              seeds.split(),
              stations.get(i % 2),
              stations.get(2 + door),
              SERVICE + door));
    }
  }

  private InterfaceAdapter open() {
    final InterfaceAdapter ia = jdapl.open();
    ia.asyncEvd()
        .upcall(
            new EventHandler() {
              @Override
              public void onAsync(final AsyncEvent event) {
                account.breach("async error: " + event);
              }
            });
    return ia;
  }

  private Station newStation(final InterfaceAdapter ia, final Station.Habit habit) {
    return new Station(ia, habit, account, links, posters);
  }

  private static Thread daemon(final Runnable task) {
    final Thread thread = new Thread(task, "stress");
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    links.all().forEach(link -> executor.execute(link::start));
    for (int i = 0; i < posters; i++) {
      final int poster = i;
      begin("poster-" + i, random -> post(poster, random));
    }
    begin("policies", this::changePolicies);
    begin("dequeues", this::dequeue);
    begin("disturbances", this::disturb);
    begin("closes", this::replaceTheClosing);
  }

  /** What a thread does until it is told to stop. */
  private interface Work {
    void once(SplittableRandom random) throws Exception;
  }

  private void begin(final String name, final Work work) {
    final SplittableRandom random = seeds.split();
    final Thread thread =
        daemon(
            () -> {
              try {
                while (!stopping) {
                  work.once(random);
                }
              } catch (final Exception e) {
                account.breach("thread " + name + " failed: " + e);
              }
            });
    thread.setName("stress-" + name);
    threads.add(thread);
    thread.start();
  }

  private Station anyStation(final SplittableRandom random) {
    return stations.get(random.nextInt(stations.length()));
  }

  private static void pause(final SplittableRandom random, final int mostMicros) {
    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(1, mostMicros)));
  }

  // What the threads do.

  private void post(final int poster, final SplittableRandom random) {
    final Station station = anyStation(random);
    final int burst = random.nextInt(1, 500);
    try {
      for (int i = 0; i < burst; i++) {
        if (station.post(poster) == Outcome.QUEUE_FULL) {
          Thread.yield();
          return;
        }
      }
    } catch (final DatException e) {
      account.refused(e); // it was closed meanwhile
    }
    if (random.nextInt(20) == 0) {
      pause(random, 3000);
    }
  }

  private void changePolicies(final SplittableRandom random) {
    final Station station = anyStation(random);
    final Invoke when = random.nextInt(4) == 0 ? Invoke.ON_NEW : Invoke.ON_ANY;
    account.policyChanges.increment();
    try {
      switch (random.nextInt(7)) {
        case 6 -> jdapl.place(station.evd(), random.nextInt(dispatchers));
        case 0, 1 -> station.single(when);
        case 2 -> station.many(when);
        case 3 -> station.notifyOnce(when, random.nextInt(1, 4));
        default -> {
          station.disable(random.nextInt(4) == 0);
          for (int i = random.nextInt(20); i > 0; i--) {
            station.dequeue(random.nextInt(1, 50));
          }
          if (random.nextBoolean()) {
            station.single(Invoke.ON_ANY);
          } else {
            station.many(Invoke.ON_ANY);
          }
        }
      }
    } catch (final DatException e) {
      account.refused(e); // it was closed meanwhile
    }
    pause(random, 500);
  }

  private void dequeue(final SplittableRandom random) {
    anyStation(random).dequeue(random.nextInt(1, 20));
    pause(random, 200);
  }

  private void disturb(final SplittableRandom random) {
    links.all().get(random.nextInt(links.count())).disturb(random.nextInt(6));
    pause(random, 3000);
  }

  private void replaceTheClosing(final SplittableRandom random) throws Exception {
    pause(random, 50_000);
    final int last = stations.length() - 1;
    final Station old = stations.get(last);
    stations.set(last, newStation(west, Station.Habit.CLOSING));
    old.close(Link.BOUND);
  }

  // Looking on.

  long wakes() {
    return account.wakes.sum() + openWakes();
  }

  private long openWakes() {
    long wakes = 0;
    for (int i = 0; i < stations.length(); i++) {
      wakes += stations.get(i).evd().statistics().wakes();
    }
    return wakes;
  }

  /** Somebody posts all the time: when nothing comes for long, a wake-up was lost. */
  void checkProgress(final long now) {
    final long events = account.delivered();
    if (events != eventsSeen) {
      eventsSeen = events;
      eventsSeenAt = now;
    } else if (now - eventsSeenAt > STALL.toNanos()) {
      account.breach("no event for " + STALL.toSeconds() + " s:\n" + this);
    }
    links.all().forEach(link -> link.checkEnds(now));
  }

  /** Stops the threads, lets all that was posted come, and closes. */
  void finish() throws Exception {
    stopping = true;
    for (final Thread thread : threads) {
      thread.join();
    }
    for (int i = 0; i < stations.length(); i++) {
      stations.get(i).single(Invoke.ON_ANY);
    }
    await("all software events", () -> account.software.missing() == 0);
    links.all().forEach(Link::stop);
    await("the links to close", () -> links.all().stream().allMatch(Link::isStopped));
    for (final DispatcherStatistics dispatcher : west.statistics().dispatchers()) {
      account.sleeps.add(dispatcher.sleeps());
    }
    if (account.isBreached()) {
      west.closeAbruptly(STALL);
      east.closeAbruptly(STALL);
    } else {
      links.all().forEach(Link::free);
      servicePoints.forEach(PublicServicePoint::close);
      for (int i = 0; i < stations.length(); i++) {
        stations.get(i).close(Link.BOUND);
      }
      west.close();
      east.close();
    }
    executor.shutdown();
  }

  private void await(final String what, final BooleanSupplier condition) {
    if (!reached(condition)) {
      account.breach("waited in vain for " + what + ":\n" + this);
    }
  }

  /** Waits for something, within a bound. */
  static boolean reached(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + Link.BOUND.toNanos();
    boolean is = condition.getAsBoolean();
    while (!is && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
      is = condition.getAsBoolean();
    }
    return is;
  }

  @Override
  public String toString() {
    final StringBuilder all = new StringBuilder();
    for (int i = 0; i < stations.length(); i++) {
      all.append(stations.get(i).evd()).append('\n');
    }
    links.all().forEach(link -> all.append(link).append('\n'));
    return all.append(west.statistics()).append('\n').append(east.statistics()).toString();
  }
}
