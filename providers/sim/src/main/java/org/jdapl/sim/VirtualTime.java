package org.jdapl.sim;

import java.util.PriorityQueue;
import java.util.SplittableRandom;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.SteppedClock;

/**
 * Virtual time: nothing happens but in {@link #step}, and what is due at once comes in any order.
 */
final class VirtualTime implements Scheduler, Lane, SteppedClock {

  private final PriorityQueue<Task> tasks = new PriorityQueue<>(Task::compare);
  private final SplittableRandom random;
  private long now;
  private boolean stepping;

  VirtualTime(final SplittableRandom random) {
    this.random = random;
  }

  @Override
  public synchronized void submit(final Task task, final long delayNanos) {
    if (task.claim()) {
      task.due = now + delayNanos;
      synchronized (random) {
        task.tie = random.nextLong();
      }
      tasks.add(task);
    }
  }

  @Override
  public boolean step(final long limitNanos) {
    final Task task = takeUntil(limitNanos);
    if (task == null) {
      return false;
    }
    try {
      task.execute();
    } finally {
      synchronized (this) {
        stepping = false;
      }
    }
    return true;
  }

  private synchronized Task takeUntil(final long limitNanos) {
    if (stepping) {
      throw new IllegalStateException(
          "step called inside a step: a handler must return, it cannot wait for virtual time");
    }
    final Task first = tasks.peek();
    if (first == null || first.due > limitNanos) {
      if (limitNanos != Long.MAX_VALUE) {
        now = Math.max(now, limitNanos);
      }
      return null;
    }
    stepping = true;
    now = first.due;
    return tasks.remove();
  }

  @Override
  public synchronized long nanoTime() {
    return now;
  }

  @Override
  public long now() {
    return nanoTime();
  }

  @Override
  public Lane wire() {
    return this;
  }

  @Override
  public Lane second() {
    return this;
  }

  @Override
  public NanoClock clock() {
    return this;
  }

  @Override
  public synchronized void close() {
    tasks.clear();
  }
}
