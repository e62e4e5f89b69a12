package org.jdapl.evd;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.verbs.EventChannel;
import org.slf4j.Logger;

/**
 * How a dispatcher waits until an EVD is ready: spins, and unless its strategy is to spin for ever,
 * then sleeps, in the provider's event channel if there is one.
 *
 * <p>No wake-up is lost: the sleeper announces itself and then looks once more; who brings work
 * makes it visible and then looks for a sleeper. Both are full fences, so one of the two sees the
 * other.
 */
final class IdleWait implements com.lmax.disruptor.WaitStrategy {

  private static final int SPINS = 200;

  /** Less than a millisecond, which counts as the turn's; then the EVD is idle, and watched. */
  private static final int SPINS_IN_TURN = 5000;

  private static final long LONGEST_SLEEP = TimeUnit.SECONDS.toNanos(1);
  private static final long FAULT_DELAY = TimeUnit.MILLISECONDS.toNanos(1);
  private static final Logger LOGGER = Log.of(IdleWait.class);

  private final WaitStrategy strategy;
  private final EventChannel channel;
  private final Queue<EvdImpl> readyAnywhere;
  private final AtomicReference<Thread> sleeper = new AtomicReference<>();
  private final AtomicLong sleeps = new AtomicLong();
  private final AtomicBoolean reading = new AtomicBoolean();
  private final AtomicLong looks = new AtomicLong();
  private final AtomicLong faults = new AtomicLong();
  private volatile boolean stopped;
  private boolean ended;

  /** Of the reaper. */
  private long looksSeen = -1;

  /**
   * A wait.
   *
   * @param strategy whether to sleep.
   * @param channel where to sleep, or to look while spinning; null to park.
   * @param readyAnywhere work for any dispatcher.
   */
  IdleWait(
      final WaitStrategy strategy, final EventChannel channel, final Queue<EvdImpl> readyAnywhere) {
    this.strategy = strategy;
    this.channel = channel;
    this.readyAnywhere = readyAnywhere;
  }

  /** Ends all waiting, now and later. */
  void stop() {
    stopped = true;
    wake();
  }

  @Override
  public long waitFor(
      final long sequence,
      final Sequence cursor,
      final Sequence dependentSequence,
      final SequenceBarrier barrier) {
    if (strategy == WaitStrategy.BUSY_SPIN) {
      while (!isWorkThere(sequence, cursor)) {
        if (channel == null) {
          Thread.onSpinWait();
        } else {
          look();
        }
      }
      return cursor.get();
    }
    // In a channel events come by looking into it only: to spin beside it would delay them.
    for (int spin = 0; spin < SPINS && channel == null; spin++) {
      if (isWorkThere(sequence, cursor)) {
        return cursor.get();
      }
      Thread.onSpinWait();
    }
    beginReading(); // before it can be woken: who reads instead of it would take the wake-up
    try {
      sleeper.set(Thread.currentThread());
      if (!isWorkThere(sequence, cursor)) {
        sleep();
      }
    } finally {
      sleeper.set(null);
      reading.set(false);
    }
    return cursor.get();
  }

  private boolean isWorkThere(final long sequence, final Sequence cursor) {
    return cursor.get() >= sequence || !readyAnywhere.isEmpty() || stopped;
  }

  /** How often a turn may spin, in place of this wait. */
  int spinsInTurn() {
    return strategy == WaitStrategy.BUSY_SPIN ? SPINS_IN_TURN : SPINS;
  }

  /** How often it slept. From any thread. */
  long sleeps() {
    return sleeps.get();
  }

  private void sleep() {
    sleeps.lazySet(sleeps.getPlain() + 1);
    final boolean unused = Thread.interrupted(); // left by a handler, it would end every sleep
    if (channel == null) {
      LockSupport.parkNanos(this, LONGEST_SLEEP);
    } else {
      read(LONGEST_SLEEP);
    }
  }

  /**
   * Looks into the channel, if there is one and nobody else reads it. By the dispatcher.
   *
   * @return how many handlers were called.
   */
  int look() {
    if (channel == null || !reading.compareAndSet(false, true)) {
      return 0;
    }
    looks.lazySet(looks.getPlain() + 1);
    try {
      return read(0);
    } finally {
      reading.set(false);
    }
  }

  /**
   * Looks into the channel, unless the dispatcher does: others may wait for what is there, while a
   * handler keeps it. By the reaper.
   *
   * @return whether the dispatcher has not looked since the last call.
   */
  boolean lookInstead() {
    final long now = looks.get();
    final boolean kept = now == looksSeen;
    looksSeen = now;
    if (channel == null || !reading.compareAndSet(false, true)) {
      return false;
    }
    try {
      read(0);
    } finally {
      reading.set(false);
    }
    return kept;
  }

  /** Nobody looks into the channel from now on, so that it can be closed. By the dispatcher. */
  void endReading() {
    if (!ended) {
      ended = true;
      beginReading();
    }
  }

  private void beginReading() {
    while (channel != null && !reading.compareAndSet(false, true)) {
      Thread.onSpinWait();
    }
  }

  /** A channel that fails costs time. */
  private int read(final long timeoutNanos) {
    try {
      return channel.await(timeoutNanos);
    } catch (final VirtualMachineError e) {
      throw e;
    } catch (final Throwable e) {
      onFault(e);
      LockSupport.parkNanos(this, FAULT_DELAY);
      return 0;
    }
  }

  private void onFault(final Throwable e) {
    final long count = faults.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      LOGGER.error("the provider's event channel {} failed, {} times so far", channel, count, e);
    }
  }

  /** Work was made visible. From any thread. */
  @Override
  public void signalAllWhenBlocking() {
    wake();
  }

  /**
   * Ends the sleep, if there is one; a channel that fails to lets it end by itself. From any
   * thread.
   *
   * @return whether it ends.
   */
  boolean wake() {
    final Thread asleep = sleeper.getAndSet(null);
    if (asleep == null) {
      return false;
    }
    if (channel == null) {
      LockSupport.unpark(asleep);
      return true;
    }
    try {
      channel.wakeup();
      return true;
    } catch (final VirtualMachineError e) {
      throw e;
    } catch (final Throwable e) { // none of the poster's
      onFault(e);
      return false;
    }
  }
}
