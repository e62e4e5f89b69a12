package org.jdapl.evd;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
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

/** B2 and B3: from one or two threads that post to one that handles; its rate at full load. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class PosterBenchmark {

  private static final int EVENTS = 1 << 17;
  private static final int SPINS = 200;

  /** Who posts to whom. */
  @State(Scope.Benchmark)
  public static class Posting {

    /** Who handles. */
    @Param("EVD")
    public Consumer.Kind kind;

    /** How it waits. */
    @Param("BUSY_SPIN")
    public WaitStrategy strategy;

    /** How many post. */
    @Param("1")
    public int posters;

    private final Object payload = new Object();
    private Consumer consumer;
    private Thread second;
    private volatile long rounds;
    private volatile boolean stopped;

    /** Starts the threads. */
    @Setup
    public void start() {
      consumer = Consumer.start(kind, strategy);
      if (posters == 2) {
        second = new Thread(this::postRounds, "second poster");
        second.setDaemon(true);
        second.start();
      }
    }

    private void postRounds() {
      long seen = 0;
      while (!stopped) {
        if (rounds == seen) {
          Thread.onSpinWait();
        } else {
          seen++;
          post();
        }
      }
    }

    private void post() {
      for (int i = 0; i < EVENTS / posters; i++) {
        int spins = 0;
        while (!consumer.post(payload)) {
          pause(spins++);
        }
      }
    }

    private static void pause(final int spins) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield(); // it may have no core
      }
    }

    /** Ends the threads. */
    @TearDown
    public void stop() {
      stopped = true;
      consumer.close();
    }
  }

  /** How often the handling thread slept. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Slept {

    /** Sleeps. */
    public long sleeps;

    /** Events. */
    public long events;
  }

  /**
   * Posts, and waits until all is handled.
   *
   * @param posting who to whom.
   * @param slept counts.
   */
  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public void events(final Posting posting, final Slept slept) {
    final Consumer consumer = posting.consumer;
    final long due = consumer.handled() + EVENTS;
    final long before = consumer.sleeps();
    final var rounds = posting.rounds; // this thread's only
    posting.rounds = rounds + 1;
    posting.post();
    int spins = 0;
    while (consumer.handled() < due) {
      Posting.pause(spins++);
    }
    slept.sleeps += consumer.sleeps() - before;
    slept.events += EVENTS;
  }
}
