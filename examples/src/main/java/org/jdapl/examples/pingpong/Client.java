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

  /** Enough for the compiler; large messages shall not take long all the same. */
  private static final long WARM_UP = 10_000;

  private static final long WARM_UP_NANOS = TimeUnit.SECONDS.toNanos(2);

  private static final long LEAVE_SECONDS = 5;

  private final long iterations;
  private final Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
  private final AtomicLong roundTrips = new AtomicLong(); // only the handler changes it
  private final CountDownLatch warm = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile long warmUp;
  private long coldUntil;
  private boolean isWarm;
  private long sentAt;

  Client(
      final VerbsProvider provider,
      final WaitStrategy strategy,
      final int size,
      final long iterations) {
    super(provider, strategy, size);
    this.iterations = iterations;
  }

  @Override
  void onEstablished() {
    coldUntil = System.nanoTime() + WARM_UP_NANOS;
    ping();
  }

  private void ping() {
    sentAt = System.nanoTime();
    send();
  }

  @Override
  void onMessage() {
    final long now = System.nanoTime();
    final long made = roundTrips.get() + 1;
    roundTrips.lazySet(made);
    if (isWarm) {
      nanos.recordValue(now - sentAt);
      if (made - warmUp == iterations) {
        finished.countDown();
        return;
      }
    } else if (made == WARM_UP || now - coldUntil >= 0) {
      isWarm = true;
      warmUp = made;
      warm.countDown();
    }
    ping();
  }

  @Override
  void onLast() {}

  @Override
  void onFailure() {
    warm.countDown();
    finished.countDown();
    over.countDown();
  }

  /** Says goodbye, and waits for the server to end the connection. */
  void leave() throws InterruptedException {
    sendLast();
    over.await(LEAVE_SECONDS, TimeUnit.SECONDS);
  }

  /** How many round trips were made, those to warm up included. From any thread. */
  long roundTrips() {
    return roundTrips.get();
  }

  /** How many round trips were measured, once it is warm. From any thread. */
  long measured() {
    return roundTrips.get() - warmUp;
  }

  /** Opens when those to warm up were made, or something failed. */
  CountDownLatch warm() {
    return warm;
  }

  /** Opens when all were made, or something failed. */
  CountDownLatch finished() {
    return finished;
  }

  /** How many round trips were made to warm up; 0 before that is over. From any thread. */
  long warmUp() {
    return warmUp;
  }

  /** How long the round trips took; to be asked when all is done. */
  Histogram nanos() {
    return nanos;
  }
}
