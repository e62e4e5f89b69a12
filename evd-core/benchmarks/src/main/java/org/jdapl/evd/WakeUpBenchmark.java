package org.jdapl.evd;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** B4: from a post to the handler, and back to the poster's eyes, when nothing was to be done. */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class WakeUpBenchmark {

  private static final long IDLE_NANOS = 20_000;

  /** Who is woken. */
  @State(Scope.Benchmark)
  public static class Sleeping {

    /** Who handles. */
    @Param("EVD")
    public Consumer.Kind kind;

    /** How it waits. */
    @Param("SPIN_THEN_BLOCK")
    public WaitStrategy strategy;

    private final Object payload = new Object();
    private Consumer consumer;

    /** Starts it. */
    @Setup
    public void start() {
      consumer = Consumer.start(kind, strategy);
      consumer.post(payload); // an executor has no thread before
      while (consumer.handled() == 0) {
        Thread.onSpinWait();
      }
    }

    /** Waits until it sleeps, unless it never does, and a little longer. */
    @Setup(Level.Invocation)
    public void awaitIdle() {
      while (strategy != WaitStrategy.BUSY_SPIN && !consumer.isAsleep()) {
        Thread.onSpinWait();
      }
      final long asleep = System.nanoTime();
      while (System.nanoTime() - asleep < IDLE_NANOS) {
        Thread.onSpinWait();
      }
    }

    /** Ends it. */
    @TearDown
    public void stop() {
      consumer.close();
    }
  }

  /**
   * Posts one event, and waits until it is handled.
   *
   * @param sleeping handles it.
   */
  @Benchmark
  public void wakeUp(final Sleeping sleeping) {
    final Consumer consumer = sleeping.consumer;
    final long due = consumer.handled() + 1;
    if (!consumer.post(sleeping.payload)) {
      throw new IllegalStateException(sleeping.kind + " has no room for one event");
    }
    while (consumer.handled() < due) {
      Thread.onSpinWait();
    }
  }
}
