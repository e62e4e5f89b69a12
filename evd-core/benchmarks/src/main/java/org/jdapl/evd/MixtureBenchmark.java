package org.jdapl.evd;

import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.CmRequest;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * B5: of 64 events 32 are completions, 31 software events and one a connection request, which the
 * handler refuses. One thread makes them, and has 512 open at most.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class MixtureBenchmark {

  private static final int EVENTS = 1 << 16;
  private static final int OPEN = 512;
  private static final int SPINS = 200;

  /** Who handles. */
  @State(Scope.Benchmark)
  public static class Handling {

    /** Who handles. */
    @Param("EVD")
    public Mixture.Kind kind;

    /** How it waits. */
    @Param("BUSY_SPIN")
    public WaitStrategy strategy;

    private final CmRequest request = new Mixture.Refused();
    private final Object payload = new Object();
    private Mixture mixture;
    private long made;

    /** Starts it. */
    @Setup
    public void start() {
      mixture = Mixture.start(kind, strategy);
    }

    private void awaitOpen(final int most) {
      int spins = 0;
      while (made - mixture.handled() > most) {
        if (spins++ < SPINS) {
          Thread.onSpinWait();
        } else {
          Thread.yield(); // it may have no core
        }
      }
    }

    /** Ends it. */
    @TearDown
    public void stop() {
      mixture.close();
    }
  }

  /**
   * Makes events, and waits until all are handled.
   *
   * @param by handles them.
   */
  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public void events(final Handling by) {
    for (int i = 0; i < EVENTS; i++) {
      by.awaitOpen(OPEN - 1);
      by.made++;
      if ((i & 63) == 63) {
        by.mixture.request(by.request);
      } else if ((i & 1) == 0) {
        by.mixture.complete(i);
      } else {
        by.mixture.tell(by.payload);
      }
    }
    by.awaitOpen(0);
  }
}
