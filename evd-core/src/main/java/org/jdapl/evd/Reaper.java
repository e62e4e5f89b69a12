package org.jdapl.evd;

import java.time.Duration;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.verbs.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does what takes time or waits for its time: timeouts, and the provider's calls that may block. It
 * runs no consumer code, so that a handler that is stuck does not keep a close from ending.
 *
 * <p>It runs on a thread of its own, or by hand, one {@link #round} at a time.
 */
final class Reaper implements Runnable {

  private static final Logger LOGGER = LoggerFactory.getLogger(Reaper.class);
  private static final long LONGEST_SLEEP = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_DELAY = TimeUnit.DAYS.toNanos(10_000);
  private static final ThreadLocal<Reaper> CURRENT = new ThreadLocal<>();

  private static final class Timer implements Comparable<Timer> {

    private final long dueNanos;
    private long order;
    private volatile Runnable action;

    Timer(final long dueNanos, final Runnable action) {
      this.dueNanos = dueNanos;
      this.action = action;
    }

    /** It stays where it is until it is due, but keeps nothing from being collected. */
    void cancel() {
      action = null;
    }

    @Override
    public int compareTo(final Timer other) {
      final int byTime = Long.signum(dueNanos - other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final String name;
  private final NanoClock clock;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final AtomicReference<Thread> sleeper = new AtomicReference<>();
  private long timerOrder;
  private volatile boolean stopped;

  Reaper(final String name, final NanoClock clock) {
    this.name = name;
    this.clock = clock;
  }

  void start(final ThreadFactory threads) {
    threads.newThread(this).start();
  }

  /** Ends the thread. From any thread. */
  void stop() {
    stopped = true;
    wake();
  }

  /** Has something done soon. From any thread. */
  void execute(final Runnable task) {
    tasks.add(task);
    wake();
  }

  /** Has something done after a delay. From any thread. */
  void schedule(final Duration delay, final Runnable action) {
    schedule(nanos(delay), action);
  }

  /** Has something done after a delay. From any thread. */
  void schedule(final long delayNanos, final Runnable action) {
    add(new Timer(clock.nanoTime() + delayNanos, action));
  }

  /** Has something done after a delay, unless something else is complete then. From any thread. */
  void schedule(final Duration delay, final CompletableFuture<?> unless, final Runnable action) {
    final Timer timer = new Timer(clock.nanoTime() + nanos(delay), action);
    add(timer);
    final var unused = unless.whenComplete((result, failure) -> timer.cancel());
  }

  private void add(final Timer timer) {
    execute(
        () -> {
          timer.order = timerOrder++;
          timers.add(timer);
        });
  }

  /** Whether this thread is a reaper's, and so must not wait for one. */
  static boolean isCurrent() {
    return CURRENT.get() != null;
  }

  /**
   * Does what is to be done now. One thread at a time.
   *
   * @return whether there was anything.
   */
  boolean round() {
    boolean worked = false;
    Runnable task;
    while ((task = tasks.poll()) != null) {
      worked = true;
      run(task);
    }
    while (nextTimerNanos() == 0) {
      final Runnable action = timers.poll().action;
      if (action != null) { // else it was cancelled just now
        worked = true;
        run(action);
      }
    }
    return worked;
  }

  /** How long until the next timer; {@link Long#MAX_VALUE} without one. */
  long nextTimerNanos() {
    Timer next = timers.peek();
    while (next != null && next.action == null) {
      timers.poll();
      next = timers.peek();
    }
    return next == null ? Long.MAX_VALUE : Math.max(0, next.dueNanos - clock.nanoTime());
  }

  /** The nanoseconds of a duration, however long. */
  static long nanos(final Duration duration) {
    try {
      return Math.min(duration.toNanos(), LONGEST_DELAY);
    } catch (final ArithmeticException e) {
      return LONGEST_DELAY;
    }
  }

  private void run(final Runnable task) {
    CURRENT.set(this);
    try {
      task.run();
    } catch (final RuntimeException | Error e) {
      LOGGER.error("{}: a task failed", name, e);
    } finally {
      CURRENT.remove();
    }
  }

  /** The loop. Called by its thread. */
  @Override
  public void run() {
    while (!stopped) {
      try {
        if (!round()) {
          sleep();
        }
      } catch (final VirtualMachineError e) {
        // Even its message had no room. It goes on: closes wait for it.
      }
    }
  }

  /**
   * The sleeper announces itself, then looks once more; who brings work looks for a sleeper after.
   */
  private void sleep() {
    sleeper.set(Thread.currentThread());
    if (tasks.isEmpty() && !stopped) {
      LockSupport.parkNanos(this, Math.min(LONGEST_SLEEP, nextTimerNanos()));
    }
    sleeper.set(null);
  }

  private void wake() {
    final Thread asleep = sleeper.getAndSet(null);
    if (asleep != null) {
      LockSupport.unpark(asleep);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
