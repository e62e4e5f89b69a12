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

/**
 * Does what waits for its time, and the provider's calls that may block. It runs no consumer code,
 * so that a handler that is stuck does not keep a close from ending.
 *
 * <p>Timers have a thread of their own, on which nothing blocks: each bound is kept by a timer.
 * Tasks have another, one after the other; if one does not return, those behind it get a new one.
 * By hand both are done by {@link #round}.
 */
final class Reaper implements Runnable {

  private static final Logger LOGGER = Log.of(Reaper.class);
  private static final long LONGEST_SLEEP = TimeUnit.SECONDS.toNanos(1);
  private static final int FEW_TIMERS = 64;
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

    /** It stays where it is until others do, too, but keeps nothing from being collected. */
    void cancel() {
      action = null;
    }

    @Override
    public int compareTo(final Timer other) {
      final int byTime = Long.signum(dueNanos - other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  /** Does the tasks, until one is stuck. */
  private final class Caller implements Runnable {

    /** Its own: one that was replaced must not take back what its successor announced. */
    private final AtomicReference<Thread> waiting = new AtomicReference<>();

    private volatile boolean runs;
    private volatile Thread busy;
    private volatile long begun; // calls so far; written before it is busy
    private long found; // the call of the last look, or 0; of the timers

    @Override
    public void run() {
      runs = true;
      while (!isReplaced() && !stopped) {
        final Runnable task = tasks.poll();
        if (task == null) {
          sleep();
        } else {
          call(task);
        }
      }
      if (isReplaced()) {
        LOGGER.warn("{}: a call of the provider returned after all", name);
      }
    }

    /** Not before its successor runs: whose thread may not start, and then it stays. */
    private boolean isReplaced() {
      final Caller now = caller;
      return now != this && now.runs;
    }

    private void call(final Runnable task) {
      final long before = begun;
      begun = before + 1;
      busy = Thread.currentThread();
      try {
        Reaper.this.run(task);
      } catch (final Throwable e) {
        // Even its message had no room. It goes on: closes wait for it.
      } finally {
        busy = null;
      }
    }

    /** As for timers. */
    private void sleep() {
      final boolean unused = Thread.interrupted(); // left by a call, it would end every sleep
      waiting.set(Thread.currentThread());
      if (tasks.isEmpty() && !stopped) {
        LockSupport.parkNanos(this, LONGEST_SLEEP);
      }
      waiting.set(null);
    }

    /**
     * Where it is stuck: in the call in which the last look found it, too. A time instead would
     * blame the call for a pause of the whole process.
     */
    Throwable isStuckAt() {
      final Thread thread = busy;
      final long last = found;
      found = thread == null ? 0 : begun;
      if (found == 0 || found != last) {
        return null;
      }
      final Throwable where = new Throwable(this + " is here");
      where.setStackTrace(thread.getStackTrace());
      return where;
    }

    @Override
    public String toString() {
      return name + "-calls";
    }
  }

  private final String name;
  private final NanoClock clock;

  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final Queue<Timer> newTimers = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final AtomicReference<Thread> sleeper = new AtomicReference<>();
  private long timerOrder;
  private int mostTimers = FEW_TIMERS;
  private ThreadFactory threads;

  /** Null by hand. */
  private volatile Caller caller;

  private volatile boolean stopped;

  Reaper(final String name, final NanoClock clock) {
    this.name = name;
    this.clock = clock;
  }

  /** Begins to work on threads. */
  void start(final ThreadFactory factory) {
    threads = factory;
    startCaller();
    threads.newThread(this).start();
  }

  private void startCaller() {
    final Caller before = caller;
    final Caller next = new Caller();
    final Thread thread = threads.newThread(next);
    caller = next;
    try {
      thread.start();
    } catch (final Throwable e) {
      caller = before;
      wakeCaller(); // it may have slept when there was something for the one that is not
      throw e;
    }
  }

  /** Ends the threads, as soon as their tasks return. From any thread. */
  void stop() {
    stopped = true;
    wakeCaller();
    wake(sleeper);
  }

  /**
   * Has something done soon that may block, after what was asked for before, unless that is stuck.
   * From any thread.
   */
  void execute(final Runnable task) {
    tasks.add(task);
    wakeCaller();
  }

  private void wakeCaller() {
    final Caller now = caller;
    if (now != null) {
      wake(now.waiting);
    }
  }

  /** If a task is stuck, has others done by another thread. By a timer, now and then. */
  void watch() {
    final Throwable where = caller.isStuckAt();
    if (where != null) {
      LOGGER.warn(
          "{}: a call of the provider has not returned, two looks in a row, or its thread gets no"
              + " processor; others go on without it",
          name,
          where);
      try {
        startCaller();
      } catch (final Throwable e) { // what the factory says is no reason to look at nothing else
        LOGGER.error("{}: no other thread can take over", name, e);
      }
    }
  }

  /** Has something done after a delay that does not block. From any thread. */
  void schedule(final Duration delay, final Runnable action) {
    schedule(nanos(delay), action);
  }

  /** Has something done after a delay that does not block. From any thread. */
  void schedule(final long delayNanos, final Runnable action) {
    add(new Timer(clock.nanoTime() + delayNanos, action));
  }

  /** Has something done after a delay that may block. From any thread. */
  void executeAfter(final Duration delay, final Runnable task) {
    schedule(delay, () -> execute(task));
  }

  /** Has something done after a delay, unless something else is complete then. From any thread. */
  void schedule(final Duration delay, final CompletableFuture<?> unless, final Runnable action) {
    final Timer timer = new Timer(clock.nanoTime() + nanos(delay), action);
    add(timer);
    final var unused = unless.whenComplete((result, failure) -> timer.cancel());
  }

  private void add(final Timer timer) {
    newTimers.add(timer);
    wake(sleeper);
  }

  /** Whether this thread is a reaper's, and so must not wait for one. */
  static boolean isCurrent() {
    return CURRENT.get() != null;
  }

  /**
   * Does what is to be done now: timers, and by hand tasks, too. One thread at a time.
   *
   * @return whether there was anything.
   */
  boolean round() {
    boolean worked = false;
    Runnable task;
    while (caller == null && (task = tasks.poll()) != null) {
      worked = true;
      run(task);
    }
    Timer added;
    while ((added = newTimers.poll()) != null) {
      worked = true;
      added.order = timerOrder++;
      timers.add(added);
    }
    if (timers.size() > mostTimers) {
      timers.removeIf(timer -> timer.action == null); // cancelled, behind one that lasts
      mostTimers = Math.max(FEW_TIMERS, 2 * timers.size());
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

  /** How many timers it keeps: at most a few, or twice as many as waited at once. */
  int timers() {
    return timers.size();
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
    } catch (final Throwable e) { // a checked one as well, of another language
      LOGGER.error("{}: a task failed", name, e);
    } finally {
      CURRENT.remove();
    }
  }

  /** The loop of the timers' thread. */
  @Override
  public void run() {
    while (!stopped) {
      try {
        if (!round()) {
          sleep();
        }
      } catch (final Throwable e) {
        // As for tasks.
      }
    }
  }

  /**
   * The sleeper announces itself, then looks once more; who brings work looks for a sleeper after.
   */
  private void sleep() {
    final boolean unused = Thread.interrupted();
    sleeper.set(Thread.currentThread());
    if (newTimers.isEmpty() && !stopped) {
      LockSupport.parkNanos(this, Math.min(LONGEST_SLEEP, nextTimerNanos()));
    }
    sleeper.set(null);
  }

  private static void wake(final AtomicReference<Thread> sleeper) {
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
