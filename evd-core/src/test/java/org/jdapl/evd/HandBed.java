package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ObjectCounts;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;

/** An adapter that is driven by hand. {@link Closing} closes it after its test. */
abstract class HandBed implements AutoCloseable {

  private static final int ROUNDS_AT_MOST = 1000;
  private static final Duration BOUND = Duration.ofSeconds(1);
  private static final Duration STEP = Duration.ofMillis(100);
  private static final Duration CLOSED_WITHIN = Duration.ofMinutes(5);

  /** Not where mistakes are planted: tests are to find those, and not what comes after a test. */
  private static final boolean IS_CLOSED =
      LeakDetector.Level.configured() != LeakDetector.Level.OFF;

  private static final ObjectCounts NOTHING = new ObjectCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /**
   * Closes abruptly what a test left open, on the bed's clock; whatever the test did, nothing stays
   * open then.
   */
  static final class Closing implements TestInstancePreConstructCallback, AfterEachCallback {

    /** Of the test that runs on this thread, and on those it starts, such as that of a time-out. */
    private static final ThreadLocal<Queue<HandBed>> BEDS = new InheritableThreadLocal<>();

    @Override
    public void preConstructTestInstance(
        final TestInstanceFactoryContext factory, final ExtensionContext context) {
      BEDS.set(new ConcurrentLinkedQueue<>());
    }

    @Override
    public void afterEach(final ExtensionContext context) {
      final Queue<HandBed> beds = BEDS.get();
      BEDS.remove();
      beds.forEach(HandBed::close);
    }

    private static void remove(final HandBed bed) {
      final Queue<HandBed> beds = BEDS.get();
      if (beds != null) {
        beds.remove(bed);
      }
    }

    private static void add(final HandBed bed) {
      if (!IS_CLOSED) {
        return;
      }
      final Queue<HandBed> beds = BEDS.get();
      if (beds == null) {
        throw new IllegalStateException(
            bed.getClass().getName()
                + " stays open: its test class needs @ExtendWith(HandBed.Closing.class)");
      }
      beds.add(bed);
    }
  }

  final HandClock clock = new HandClock();
  final Jdapl jdapl;
  final InterfaceAdapter ia;
  private boolean deviceClosed;

  HandBed(final VerbsProvider provider, final int capacity) {
    jdapl = Jdapl.with(provider).clock(clock).byHand().capacity(capacity).start();
    ia = jdapl.open(() -> deviceClosed = true);
    Closing.add(this);
  }

  /** Turns until nothing is to be done now. */
  final void settle() {
    for (int rounds = 0; jdapl.round(); rounds++) {
      assertThat(rounds).as("rounds; %s does not come to rest", ia).isLessThan(ROUNDS_AT_MOST);
    }
  }

  final void pass(final Duration time) {
    clock.advance(time);
    settle();
  }

  /** Closes abruptly what is open; a test that makes many beds does it before the next one. */
  @Override
  public final void close() {
    if (!IS_CLOSED) {
      return;
    }
    Closing.remove(this);
    ((IaImpl) ia).reaper().execute(() -> ia.closeAbruptly(BOUND)); // there it does not wait
    final long deadline = jdapl.deadline(CLOSED_WITHIN);
    while (!deviceClosed && !jdapl.isOver(deadline)) {
      for (int rounds = 0; rounds < ROUNDS_AT_MOST && round(); rounds++) {}
      clock.advance(STEP);
    }
    assertThat(deviceClosed).as("the device of %s is closed", ia).isTrue();
    assertThat(ia.statistics().open()).as("what is stuck on %s", ia).isEqualTo(NOTHING);
    jdapl.close();
  }

  /** What a handler throws now is the test's no longer. */
  private boolean round() {
    try {
      return jdapl.round();
    } catch (final RuntimeException | Error e) {
      return true;
    }
  }
}
