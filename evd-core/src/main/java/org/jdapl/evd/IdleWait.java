package org.jdapl.evd;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.verbs.EventChannel;

/**
 * How a dispatcher waits: spins briefly, then sleeps, in the provider's event channel if there is
 * one, until an EVD is ready.
 *
 * <p>No wake-up is lost: the sleeper announces itself and then looks once more; who brings work
 * makes it visible and then looks for a sleeper. Both are full fences, so one of the two sees the
 * other.
 */
final class IdleWait implements WaitStrategy {

  private static final int SPINS = 200;
  private static final long LONGEST_SLEEP = TimeUnit.SECONDS.toNanos(1);

  private final AtomicReference<Thread> sleeper = new AtomicReference<>();
  private volatile EventChannel channel;
  private volatile boolean stopped;

  /** Ends all waiting, now and later. */
  void stop() {
    stopped = true;
    wake();
  }

  void sleepIn(final EventChannel in) {
    channel = in;
    wake();
  }

  EventChannel channel() {
    return channel;
  }

  void closeChannel() {
    final EventChannel in = channel;
    if (in != null) {
      in.close();
    }
  }

  /** Dispatches what waits in the channel; does not wait. */
  int poll() {
    final EventChannel in = channel;
    return in == null ? 0 : in.await(0);
  }

  @Override
  public long waitFor(
      final long sequence,
      final Sequence cursor,
      final Sequence dependentSequence,
      final SequenceBarrier barrier) {
    for (int spin = 0; spin < SPINS; spin++) {
      if (isWorkThere(sequence, cursor)) {
        return cursor.get();
      }
      Thread.onSpinWait();
    }
    sleeper.set(Thread.currentThread());
    if (!isWorkThere(sequence, cursor)) {
      sleep(LONGEST_SLEEP);
    }
    sleeper.set(null);
    return cursor.get();
  }

  private boolean isWorkThere(final long sequence, final Sequence cursor) {
    return cursor.get() >= sequence || stopped;
  }

  private void sleep(final long nanos) {
    final EventChannel in = channel;
    if (in == null) {
      LockSupport.parkNanos(this, nanos);
    } else {
      in.await(nanos);
    }
  }

  /** Work was made visible. From any thread. */
  @Override
  public void signalAllWhenBlocking() {
    wake();
  }

  private void wake() {
    final Thread asleep = sleeper.getAndSet(null);
    if (asleep != null) {
      final EventChannel in = channel;
      if (in != null) {
        in.wakeup();
      }
      LockSupport.unpark(asleep);
    }
  }
}
