package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.hooks.Faults;
import org.jdapl.hooks.Trace;
import org.jdapl.sim.SimFabric;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.VerbsProvider;

/** The contract tests' bench over the simulator, by hand on virtual time or with threads. */
final class SimBench implements Bench {

  private static final int HANDLER_FAILURES = 10_000;
  private static final Duration VIRTUAL_BOUND = Duration.ofSeconds(60);

  /** {@link MistakesTest} has it shorter: there, much hangs. */
  private static final long REAL_BOUND = TimeUnit.SECONDS.toNanos(Long.getLong("jdapl.bound", 60));

  private static final long SILENCE = TimeUnit.MILLISECONDS.toNanos(20);

  /** The most that a look adds: while this thread does not run, those that were woken may not. */
  private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(50);

  private final SimCase origin;
  private final SimFabric fabric;
  private final Trace.Tail trace = new Trace.Tail(100);
  private final Faults faults; // null for none
  private final VerbsProvider provider;
  private final List<Jdapl> runtimes = new ArrayList<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final List<InterfaceAdapter> adapters = new ArrayList<>();

  SimBench(final SimCase origin) {
    this(origin, FaultPlan.NONE);
  }

  /** With things going wrong, and a trace of them. */
  SimBench(final SimCase origin, final FaultPlan plan) {
    this.origin = origin;
    fabric = origin.virtual() ? SimFabric.virtual(origin.seed()).keepTrace() : SimFabric.realTime();
    final VerbsProvider simulated = origin.notification().of(fabric.provider(origin.model()));
    faults = plan.equals(FaultPlan.NONE) ? null : Faults.over(simulated, plan, fabric.clock());
    provider = faults == null ? simulated : Trace.over(faults, trace);
  }

  @Override
  public InterfaceAdapter open() {
    if (!origin.virtual() || runtimes.isEmpty()) {
      runtimes.add(start());
    }
    final InterfaceAdapter adapter = runtimes.get(runtimes.size() - 1).open();
    adapters.add(adapter);
    return adapter;
  }

  /** By hand, all adapters share a runtime; with threads, each has its own, as Dat.open does it. */
  private Jdapl start() {
    final Jdapl.Builder builder = Jdapl.with(provider).dispatchers(origin.dispatchers());
    return (origin.virtual()
            ? builder.byHand().clock(faults == null ? fabric.clock() : faults.clock())
            : builder.threads(this::thread))
        .start();
  }

  private Thread thread(final Runnable loop) {
    final Thread thread = new Thread(loop, "bench-" + loop);
    thread.setDaemon(true);
    threads.add(thread);
    return thread;
  }

  @Override
  public boolean runUntil(final BooleanSupplier condition) {
    if (!origin.virtual()) {
      final long deadline = System.nanoTime() + REAL_BOUND;
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - deadline > 0) {
          return false;
        }
        LockSupport.parkNanos(NAP);
      }
      return true;
    }
    final long deadline = System.nanoTime() + REAL_BOUND;
    final Throwable[] own = new Throwable[1];
    final BooleanSupplier guarded =
        () -> {
          try {
            if (System.nanoTime() - deadline > 0) {
              throw new AssertionError("something goes on for ever [" + replay() + "]");
            }
            return condition.getAsBoolean();
          } catch (final RuntimeException | Error e) {
            own[0] = e;
            throw e;
          }
        };
    if (runtimes.isEmpty()) {
      return condition.getAsBoolean();
    }
    final boolean holds =
        drive(() -> runtimes.get(0).runUntil(guarded, VIRTUAL_BOUND), e -> e == own[0]);
    if (faults == null) {
      checkNothingWasRescued();
    }
    return holds;
  }

  /** No notification was lost, so the watchdog must not have had to help. */
  private void checkNothingWasRescued() {
    assertThat(runtimes.get(0).watchdog().rescued())
        .as(() -> "a lost wake-up: completions that the watchdog found [" + replay() + "]")
        .isZero();
  }

  /** Driven by hand, a dispatcher throws on what a handler throws; the bench goes on then. */
  private static boolean drive(final BooleanSupplier driving, final Predicate<Throwable> own) {
    for (int failures = 0; ; failures++) {
      try {
        return driving.getAsBoolean();
      } catch (final RuntimeException | Error e) {
        if (failures > HANDLER_FAILURES || own.test(e)) {
          throw e;
        }
      }
    }
  }

  @Override
  public void settle() {
    if (origin.virtual()) {
      runUntil(() -> false);
    } else {
      final long start = System.nanoTime();
      long silent = 0;
      for (long now = start; silent < SILENCE && now - start < REAL_BOUND; ) {
        final long before = now;
        LockSupport.parkNanos(NAP);
        now = System.nanoTime();
        silent = isAwake() ? 0 : silent + Math.min(now - before, LOOK);
      }
    }
  }

  /** Whether a thread of a runtime or of the fabric runs, or would if the machine let it. */
  private boolean isAwake() {
    final Thread[] all = new Thread[2 * Thread.activeCount()];
    final int count = Thread.enumerate(all);
    final String wires =
        fabric.toString().replaceFirst("\\[.*", "-"); // its threads' names begin so
    return Stream.concat(
            threads.stream(),
            Stream.of(all).limit(count).filter(thread -> thread.getName().startsWith(wires)))
        .map(Thread::getState)
        .anyMatch(state -> state == Thread.State.RUNNABLE || state == Thread.State.BLOCKED);
  }

  @Override
  public boolean isVirtual() {
    return origin.virtual();
  }

  @Override
  public String replay() {
    return origin
        + " "
        + fabric
        + (faults == null ? "\n" + String.join("\n", fabric.trace()) : " " + faults + "\n" + trace);
  }

  @Override
  public void close() {
    for (final InterfaceAdapter adapter : adapters) {
      drive(
          () -> {
            adapter.closeAbruptly(Duration.ofSeconds(6));
            return true;
          },
          e -> false);
    }
    runtimes.forEach(Jdapl::close);
    fabric.close();
  }
}
