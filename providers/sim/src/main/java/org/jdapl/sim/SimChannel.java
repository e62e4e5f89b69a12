package org.jdapl.sim;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;

/** A channel: a lane whose tasks run in {@link #await}. */
final class SimChannel implements EventChannel, Lane {

  private final boolean blocks;
  private final Object lock = new Object();
  private final ArrayDeque<Task> tasks = new ArrayDeque<>();
  private boolean woken;
  private int devices;

  /** A channel; in virtual time it does not block, for nothing would happen meanwhile. */
  SimChannel(final boolean blocks) {
    this.blocks = blocks;
  }

  @Override
  public void submit(final Task task, final long delayNanos) {
    if (task.claim()) {
      synchronized (lock) {
        tasks.add(task);
        lock.notifyAll();
      }
    }
  }

  @Override
  public int await(final long timeoutNanos) {
    int left = waitForTasks(blocks ? timeoutNanos : 0);
    int made = 0;
    for (; left > 0; left--) { // not what its own handlers cause: no endless loop here
      final Task task;
      synchronized (lock) {
        task = tasks.poll();
      }
      if (task == null) {
        break;
      }
      made += task.execute();
    }
    return made;
  }

  private int waitForTasks(final long timeoutNanos) {
    final long start = System.nanoTime();
    synchronized (lock) {
      long left = timeoutNanos;
      while (tasks.isEmpty() && !woken && left > 0) {
        try {
          TimeUnit.NANOSECONDS.timedWait(lock, left);
        } catch (final InterruptedException e) {
          Thread.currentThread().interrupt();
          break;
        }
        left = timeoutNanos - (System.nanoTime() - start);
      }
      woken = false;
      return tasks.size();
    }
  }

  @Override
  public void wakeup() {
    synchronized (lock) {
      woken = true;
      lock.notifyAll();
    }
  }

  void opened() {
    synchronized (lock) {
      devices++;
    }
  }

  void closed() {
    synchronized (lock) {
      devices--;
    }
  }

  @Override
  public void close() {
    synchronized (lock) {
      if (devices > 0) {
        throw new VerbsException(
            "destroy_comp_channel",
            "channel",
            VerbsException.EBUSY,
            devices + " open devices deliver in it; close them first");
      }
    }
  }
}
