package org.jdapl.sim;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * A lane with a thread: spins briefly, then parks. Submitting takes no lock and allocates nothing.
 */
final class Worker implements Lane {

  private static final long SPIN_NANOS = 20_000;
  private static final long STOP_MILLIS = 5_000;

  private final RealTime time;
  private final String name;
  private final AtomicReference<Task> intake = new AtomicReference<>(); // newest first
  private final PriorityQueue<Task> delayed = new PriorityQueue<>(Task::compare);
  private long submitted;
  private volatile Thread thread;
  private volatile boolean asleep;
  private volatile boolean stopped;

  Worker(final RealTime time, final String name) {
    this.time = time;
    this.name = name;
  }

  @Override
  public void submit(final Task task, final long delayNanos) {
    if (!task.claim()) {
      return;
    }
    task.due = delayNanos == 0 ? 0 : time.now() + delayNanos;
    Task head;
    do {
      head = intake.get();
      task.next = head;
    } while (!intake.compareAndSet(head, task));
    // The exchange above and the reads below are ordered, as are the store of asleep and the look
    // at the intake in idle(): one of both sides sees the other.
    if (thread == null) {
      start();
    } else if (asleep) {
      LockSupport.unpark(thread);
    }
  }

  private synchronized void start() {
    if (thread == null && !stopped) {
      final Thread created = new Thread(this::loop, name);
      created.setDaemon(true);
      thread = created;
      created.start();
    }
  }

  void stop() {
    final Thread running;
    synchronized (this) {
      stopped = true;
      running = thread;
    }
    if (running == null || running == Thread.currentThread()) {
      return;
    }
    LockSupport.unpark(running);
    try {
      running.join(STOP_MILLIS);
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void loop() {
    while (!stopped) {
      final boolean tookIn = runIntake();
      final boolean ranDelayed = runDelayed();
      if (!tookIn && !ranDelayed) {
        idle();
      }
    }
  }

  private boolean runIntake() {
    Task task = oldestFirst(intake.getAndSet(null));
    final boolean worked = task != null;
    while (task != null && !stopped) {
      final Task following = task.next; // once it runs, it may be submitted, and linked, again
      task.next = null;
      if (task.due == 0) {
        execute(task);
      } else {
        task.tie = submitted++;
        delayed.add(task);
      }
      task = following;
    }
    return worked;
  }

  /** What a task throws is reported as if it had ended the thread, which others need. */
  private static void execute(final Task task) {
    try {
      task.execute();
    } catch (final Throwable e) {
      final Thread self = Thread.currentThread();
      self.getUncaughtExceptionHandler().uncaughtException(self, e);
    }
  }

  private static Task oldestFirst(final Task newest) {
    Task reversed = null;
    Task task = newest;
    while (task != null) {
      final Task older = task.next;
      task.next = reversed;
      reversed = task;
      task = older;
    }
    return reversed;
  }

  private boolean runDelayed() {
    if (delayed.isEmpty() || delayed.peek().due > time.now()) {
      return false;
    }
    execute(delayed.remove());
    return true;
  }

  private void idle() {
    final long since = time.now();
    while (intake.get() == null && !isDue() && !stopped) {
      final long now = time.now();
      if (now - since < SPIN_NANOS) {
        Thread.onSpinWait();
        continue;
      }
      asleep = true;
      if (intake.get() == null && !stopped) {
        if (delayed.isEmpty()) {
          LockSupport.park(this);
        } else {
          LockSupport.parkNanos(this, Math.max(1, delayed.peek().due - now));
        }
      }
      asleep = false;
      Thread.interrupted(); // a handler's leftover would make park return at once, for ever
    }
  }

  private boolean isDue() {
    return !delayed.isEmpty() && delayed.peek().due <= time.now();
  }

  @Override
  public String toString() {
    return name + " after " + TimeUnit.NANOSECONDS.toMillis(time.now()) + " ms";
  }
}
