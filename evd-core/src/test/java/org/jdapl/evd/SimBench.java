package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.sim.SimFabric;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.NanoClock;

/** The contract tests' bench over the simulator, by hand on virtual time or with threads. */
final class SimBench implements Bench {

  private static final int HANDLER_FAILURES = 10_000;
  private static final Duration VIRTUAL_BOUND = Duration.ofSeconds(60);
  private static final long REAL_BOUND = TimeUnit.SECONDS.toNanos(10);
  private static final long SILENCE = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(50);

  private final SimCase origin;
  private final SimFabric fabric;
  private final Jdapl jdapl;
  private final List<InterfaceAdapter> adapters = new ArrayList<>();

  SimBench(final SimCase origin) {
    this.origin = origin;
    fabric = origin.virtual() ? SimFabric.virtual(origin.seed()) : SimFabric.realTime();
    final Jdapl.Builder builder =
        Jdapl.with(fabric.provider(origin.model())).dispatchers(origin.dispatchers());
    jdapl = (origin.virtual() ? builder.byHand().clock(fabric.clock()) : builder).start();
  }

  @Override
  public InterfaceAdapter open() {
    final InterfaceAdapter adapter = jdapl.open();
    adapters.add(adapter);
    return adapter;
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
    return drive(() -> jdapl.runUntil(condition, VIRTUAL_BOUND));
  }

  /** Driven by hand, a dispatcher throws on what a handler throws; the bench goes on then. */
  private static boolean drive(final BooleanSupplier driving) {
    for (int failures = 0; ; failures++) {
      try {
        return driving.getAsBoolean();
      } catch (final RuntimeException | Error e) {
        if (failures > HANDLER_FAILURES || !isFromHandler(e)) {
          throw e;
        }
      }
    }
  }

  private static boolean isFromHandler(final Throwable e) {
    return Arrays.stream(e.getStackTrace())
        .anyMatch(frame -> frame.getClassName().equals(Dispatcher.class.getName()));
  }

  @Override
  public void settle() {
    if (origin.virtual()) {
      runUntil(() -> false);
    } else {
      final NanoClock clock = fabric.clock();
      final long deadline = clock.nanoTime() + SILENCE;
      while (clock.nanoTime() - deadline < 0) {
        LockSupport.parkNanos(NAP);
      }
    }
  }

  @Override
  public boolean isVirtual() {
    return origin.virtual();
  }

  @Override
  public String replay() {
    return origin + " " + fabric;
  }

  @Override
  public void close() {
    for (final InterfaceAdapter adapter : adapters) {
      drive(
          () -> {
            adapter.closeAbruptly(Duration.ofSeconds(6));
            return true;
          });
    }
    jdapl.close();
    fabric.close();
  }
}
