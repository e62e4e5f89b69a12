package org.jdapl.examples.pingpong;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.jdapl.evd.WaitStrategy;
import org.jdapl.verbs.VerbsProvider;

/** Sends a message, waits for the answer, notes how long it took, and so on. */
final class Client extends Player {

  private static final int SIGNIFICANT_DIGITS = 3;

  private final long warmUp;
  private final long total;
  private final Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
  private final AtomicLong done = new AtomicLong(); // only the handler changes it
  private final CountDownLatch finished = new CountDownLatch(1);
  private long sentAt;

  Client(
      final VerbsProvider provider,
      final WaitStrategy strategy,
      final int size,
      final long warmUp,
      final long iterations) {
    super(provider, strategy, size);
    this.warmUp = warmUp;
    total = warmUp + iterations;
  }

  @Override
  void onEstablished() {
    ping();
  }

  private void ping() {
    sentAt = System.nanoTime();
    send();
  }

  @Override
  void onMessage() {
    final long roundTrip = System.nanoTime() - sentAt;
    final long number = done.get();
    if (number >= warmUp) {
      nanos.recordValue(roundTrip);
    }
    done.lazySet(number + 1);
    if (number + 1 < total) {
      ping();
    } else {
      finished.countDown();
    }
  }

  @Override
  void onFailure() {
    finished.countDown();
  }

  /** How many round trips are done, those to warm up included. From any thread. */
  long done() {
    return done.get();
  }

  /** Waits until all is done or something failed; false if the time is over first. */
  boolean await(final long timeout, final TimeUnit unit) throws InterruptedException {
    return finished.await(timeout, unit);
  }

  /** How long the round trips took; to be asked when all is done. */
  Histogram nanos() {
    return nanos;
  }
}
