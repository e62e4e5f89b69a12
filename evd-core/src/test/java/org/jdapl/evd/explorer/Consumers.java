package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jdapl.verbs.SteppedClock;

/**
 * The threads of a script's consumers, and the time they live in. They are threads of Java, as the
 * core sees who calls it; but only one of them runs at any time, and it is known where it stops: a
 * call that waits drives everything until nothing is left to do at its time, and would let time
 * pass then. There it is put to sleep instead, inside the core, and the script goes on. Time passes
 * only for the script, and only when each thread that waits has looked whether its wait is over.
 *
 * <p>So a script gives the same run each time. What it cannot reach: a thread that is stopped
 * anywhere else, such as between two changes of an EVD's state (the schedules of {@code
 * evd-core/stress} do that), and two upcalls at once, since a runtime that is driven by hand has
 * one thread at a time that drives it.
 */
final class Consumers implements SteppedClock {

  /** How many consumers there are. */
  static final int COUNT = 3;

  private static final Executor THREADS =
      new ThreadPoolExecutor(
          0, Integer.MAX_VALUE, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), Consumers::daemon);

  /** Ends a call that waits when its run is given up. */
  private static final class Abandoned extends Error {
    private static final long serialVersionUID = 1L;

    private Abandoned() {
      super("the run is over", null, false, false);
    }
  }

  /** Something that runs, or waits for another that runs. */
  private class Runner {
    final String name;
    final Semaphore mayRun = new Semaphore(0);
    int driving;

    private Runner(final String name) {
      this.name = name;
    }

    @Override
    public final String toString() {
      return name;
    }

    final void handTo(final Runner other) {
      running = other;
      other.mayRun.release();
      mayRun.acquireUninterruptibly();
    }
  }

  /** A consumer's thread, as long as it is inside a call. */
  private final class Consumer extends Runner {
    private Runner caller;
    private Thread thread;
    private String call;
    private boolean waits;
    private long until;
    private Runnable whileItWaits;
    private Throwable failure;

    private Consumer(final int number) {
      super("#" + number);
    }

    private void begin(final Runner by, final String what, final Runnable how) {
      call = what;
      caller = by;
      THREADS.execute(
          () -> {
            mayRun.acquireUninterruptibly();
            thread = Thread.currentThread();
            try {
              how.run();
            } catch (final Throwable e) { // also an assertion: the run reports it
              failure = e;
            }
            final boolean unused = Thread.interrupted();
            call = null;
            whileItWaits = null;
            running = caller;
            caller.mayRun.release();
          });
      by.handTo(this);
      rethrow();
    }

    private void goOn(final Runner by) {
      caller = by;
      waits = false;
      by.handTo(this);
      rethrow();
    }

    private void rethrow() {
      final Throwable thrown = failure;
      failure = null;
      if (thrown instanceof RuntimeException e) {
        throw e;
      } else if (thrown instanceof Error e && !(e instanceof Abandoned)) {
        throw e;
      }
    }

    private void sleep(final long limit) {
      if (whileItWaits != null) {
        whileItWaits.run();
      }
      waits = true;
      until = limit;
      handTo(caller);
      if (abandoned) {
        throw new Abandoned();
      }
    }
  }

  private final SteppedClock real;
  private final LongSupplier progress;
  private final Runner script = new Runner("script");
  private final List<Consumer> consumers = new ArrayList<>();
  private Runner running = script;
  private boolean abandoned;

  /**
   * @param real the clock of the fabric.
   * @param progress grows when the core does something.
   */
  Consumers(final SteppedClock real, final LongSupplier progress) {
    this.real = real;
    this.progress = progress;
    for (int i = 0; i < COUNT; i++) {
      consumers.add(new Consumer(i));
    }
  }

  private static Thread daemon(final Runnable what) {
    final Thread thread = new Thread(what, "consumer");
    thread.setDaemon(true);
    return thread;
  }

  // Who runs.

  /** Whether a consumer's last call did not return yet. */
  boolean isBusy(final int number) {
    return consumers.get(number).call != null;
  }

  /** The calls that did not return yet. */
  List<String> calls() {
    return consumers.stream()
        .filter(consumer -> consumer.call != null)
        .map(consumer -> consumer.name + " in " + consumer.call)
        .toList();
  }

  /** Has a consumer make a call on its own thread; returns when it waits or has returned. */
  void call(final int number, final String what, final Runnable how) {
    consumers.get(number).begin(running, what, how);
  }

  /** What must be so whenever the call that runs here goes to sleep. */
  void whileItWaits(final Runnable check) {
    if (running instanceof Consumer consumer) {
      consumer.whileItWaits = check;
    }
  }

  /** Interrupts a thread that waits. */
  boolean interrupt(final int number) {
    final Consumer consumer = consumers.get(number);
    if (consumer.waits) {
      consumer.thread.interrupt();
    }
    return consumer.waits;
  }

  /**
   * Has each thread that waits look whether its wait is over, at this time.
   *
   * @return whether anything came of it.
   */
  boolean goOn() {
    final long before = progress.getAsLong();
    boolean ended = false;
    for (final Consumer consumer : consumers) {
      if (consumer.waits) {
        consumer.goOn(running);
        ended |= consumer.call == null;
      }
    }
    return ended || progress.getAsLong() != before;
  }

  /** The run is over: ends all calls. */
  void abandon() {
    abandoned = true;
    for (final Consumer consumer : consumers) {
      while (consumer.waits) { // what is called on the way out may wait again
        consumer.goOn(running);
      }
    }
  }

  // Who drives the runtime.

  /** This thread makes a call that drives the runtime. */
  void beginDriving() {
    running.driving++;
  }

  void endDriving() {
    running.driving--;
  }

  boolean isDriving() {
    return running.driving > 0;
  }

  /** Who runs, to compare. */
  Object who() {
    return running;
  }

  // The time.

  @Override
  public long nanoTime() {
    return real.nanoTime();
  }

  @Override
  public boolean step(final long limit) {
    if (running instanceof Consumer consumer) {
      consumer.sleep(limit);
      return true;
    }
    if (goOn()) {
      return true;
    }
    long first = limit;
    for (final Consumer consumer : consumers) {
      first = consumer.waits ? Math.min(first, consumer.until) : first;
    }
    return real.step(first) || first < limit;
  }

  /** Time passes, and nobody looks. */
  void stepAlone(final long limit) {
    real.step(limit);
  }
}
