package org.jdapl.hooks;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BiConsumer;

/** Who may call the handler of one object: none after the end, which waits for those that run. */
final class Gate {

  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private boolean closed; // guarded by the lock
  private int waiting; // guarded by this, as is the next
  private long lastDue;

  /** Makes a call, unless it is too late: alone if serial, else perhaps beside others. */
  void pass(final boolean serial, final Runnable call) {
    final var held = serial ? lock.writeLock() : lock.readLock();
    held.lock();
    try {
      if (!closed) {
        call.run();
      }
    } finally {
      held.unlock();
    }
  }

  /** Makes a call after a delay, and after all that were given before. */
  void inOrder(
      final long now,
      final long delay,
      final Runnable call,
      final BiConsumer<Long, Runnable> later) {
    synchronized (this) {
      if (delay > 0 || waiting > 0) {
        lastDue = waiting == 0 ? now + delay : Math.max(lastDue, now + delay);
        waiting++;
        later.accept(lastDue - now, () -> makeWaiting(call));
        return;
      }
    }
    call.run();
  }

  private void makeWaiting(final Runnable call) {
    try {
      call.run();
    } finally {
      synchronized (this) {
        waiting--;
      }
    }
  }

  /** Whether this thread is in a call. */
  boolean isInside() {
    return lock.isWriteLockedByCurrentThread() || lock.getReadHoldCount() > 0;
  }

  /** A barrier: when it returned, no call runs or will be made. */
  void close() {
    lock.writeLock().lock();
    try {
      closed = true;
    } finally {
      lock.writeLock().unlock();
    }
  }
}
