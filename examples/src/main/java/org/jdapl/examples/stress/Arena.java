package org.jdapl.examples.stress;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DispatcherStatistics;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.evd.Jdapl;

/** All that takes part in this process, one side or both, and the threads that stir it. */
final class Arena {

  private static final Duration STALL = Duration.ofSeconds(20);

  private final Jdapl jdapl;
  private final int dispatchers;
  private final Account account;
  private final int posters;
  private final int connections;
  private final List<Side> sides = new ArrayList<>();

  /** The last one closes all the time, and is replaced. */
  private AtomicReferenceArray<Station> stations;

  private final List<Thread> threads = new ArrayList<>();
  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(Arena::daemon);
  private final SplittableRandom seeds;
  private final Standstill events = new Standstill();
  private volatile boolean stopping;

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
    this.connections = connections;
    seeds = new SplittableRandom(seed);
  }

  /** Opens the side that listens; returns the port. */
  long serve(final long port) {
    return add(Station.Habit.THROWING).serve(port, seeds).connQual();
  }

  /** Opens the side that connects, to a server of which the address of the first side tells. */
  void connect(final UnaryOperator<InetAddress> server, final long service) {
    final Side side = add(Station.Habit.SLOW);
    side.connect(server.apply(address()), service, seeds);
  }

  /** The address of the first side. */
  InetAddress address() {
    return sides.get(0).ia().address();
  }

  private Side add(final Station.Habit habit) {
    final Side side = new Side(jdapl, account, executor, connections, posters, habit);
    sides.add(side);
    return side;
  }

  private static Thread daemon(final Runnable task) {
    final Thread thread = new Thread(task, "stress");
    thread.setDaemon(true);
    return thread;
  }

  void start() {
    stations =
        new AtomicReferenceArray<>(
            Stream.concat(sides.stream().flatMap(side -> side.stations().stream()), closing())
                .toArray(Station[]::new));
    sides.forEach(Side::start);
    for (int i = 0; i < posters; i++) {
      final int poster = i;
      begin("poster-" + i, random -> post(poster, random));
    }
    begin("policies", this::changePolicies);
    begin("dequeues", this::dequeue);
    begin("disturbances", this::disturb);
    begin("closes", this::replaceTheClosing);
  }

  private Stream<Station> closing() {
    return Stream.of(new Station(sides.get(0), Station.Habit.CLOSING, posters));
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
    final List<End> ends = sides.get(random.nextInt(sides.size())).ends();
    ends.get(random.nextInt(ends.size())).disturb();
    pause(random, 3000);
  }

  private void replaceTheClosing(final SplittableRandom random) throws Exception {
    pause(random, 50_000);
    final int last = stations.length() - 1;
    final Station old = stations.get(last);
    stations.set(last, closing().findFirst().orElseThrow());
    old.close(End.BOUND);
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
    if (events.nanos(account.delivered(), now) > STALL.toNanos()) {
      account.breach("no event for " + STALL.toSeconds() + " s:\n" + this);
    }
    sides.forEach(side -> side.ends().forEach(end -> end.check(now)));
  }

  /** Whether a peer ever said something. */
  boolean hasHeard() {
    return sides.stream().allMatch(Side::hasHeard);
  }

  /** Whether no peer said anything for so long. */
  boolean isSilent(final Duration bound, final long now) {
    return sides.stream().anyMatch(side -> side.isSilent(bound, now));
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
    sides.forEach(Side::stop);
    await("the connections to close", () -> sides.stream().allMatch(Side::isStopped));
    for (final DispatcherStatistics dispatcher : sides.get(0).ia().statistics().dispatchers()) {
      account.sleeps.add(dispatcher.sleeps());
    }
    if (account.isBreached()) {
      sides.forEach(side -> side.ia().closeAbruptly(STALL));
    } else {
      sides.forEach(Side::free);
      for (int i = 0; i < stations.length(); i++) {
        stations.get(i).close(End.BOUND);
      }
      sides.forEach(side -> side.ia().close());
    }
    executor.shutdown();
  }

  private void await(final String what, final BooleanSupplier condition) {
    if (!reached(condition)) {
      account.breach("waited in vain for " + what + ":\n" + this);
    }
  }

  /** Waits for something, within twice the bound of each. */
  static boolean reached(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + 2 * End.BOUND.toNanos();
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
    sides.forEach(side -> all.append(side).append('\n'));
    return all.toString();
  }
}
