package org.jdapl.examples.stress;

import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.ReturnType;

/** What was posted, what came of it, and every promise that was broken. From any thread. */
final class Account {

  private static final int BREACHES_KEPT = 20;

  /** The books of one stream. */
  static final class Stream {

    final LongAdder posted = new LongAdder();
    final LongAdder delivered = new LongAdder();

    /** In the report of a close. */
    final LongAdder reported = new LongAdder();

    /** Successes that were posted with SUPPRESS. */
    final LongAdder suppressed = new LongAdder();

    long missing() {
      return posted.sum() - delivered.sum() - reported.sum() - suppressed.sum();
    }

    private void print(final PrintWriter out, final String name) {
      out.printf(
          Locale.ROOT,
          "  %-18s%12d%12d%12d%12d%11d%n",
          name,
          posted.sum(),
          delivered.sum(),
          reported.sum(),
          suppressed.sum(),
          missing());
    }
  }

  final Stream software = new Stream();
  final Stream dto = new Stream();

  /** Posted: what the ends saw. */
  final Stream connection = new Stream();

  /** Posted: what the servers' side saw. */
  final Stream request = new Stream();

  /** Requests that no client made. */
  final LongAdder strangers = new LongAdder();

  final LongAdder dequeued = new LongAdder();
  final LongAdder refusals = new LongAdder();
  final LongAdder policyChanges = new LongAdder();
  final LongAdder connections = new LongAdder();
  final LongAdder closedEvds = new LongAdder();
  final LongAdder thrown = new LongAdder();

  final LongAdder silences = new LongAdder();

  /** What a connect came to last; null before the first one did. */
  volatile ConnectionEvent.Kind outcome;

  /** Of EVDs that are closed. */
  final LongAdder wakes = new LongAdder();

  final LongAdder sleeps = new LongAdder();

  private final boolean isWhole;
  private final ConcurrentLinkedQueue<String> breaches = new ConcurrentLinkedQueue<>();
  private final AtomicLong breachCount = new AtomicLong();
  private final CountDownLatch breached = new CountDownLatch(1);

  /**
   * An account.
   *
   * @param isWhole whether it is of both sides.
   */
  Account(final boolean isWhole) {
    this.isWhole = isWhole;
  }

  boolean isWhole() {
    return isWhole;
  }

  /** A promise was broken. */
  void breach(final String what) {
    if (breachCount.incrementAndGet() <= BREACHES_KEPT) {
      breaches.add(what);
    }
    breached.countDown();
  }

  /**
   * A peer did not answer, or not in time: a breach, unless it is another process, which may be
   * gone.
   */
  void silence(final String what) {
    if (isWhole) {
      breach(what);
    }
    silences.increment();
  }

  /** A call was refused. Misuse at the wrong moment is answered so; anything else is a breach. */
  void refused(final DatException answer) {
    if (answer.type() != ReturnType.INVALID_STATE && answer.type() != ReturnType.INVALID_HANDLE) {
      breach("a call was answered with " + answer);
    }
    refusals.increment();
  }

  /** Waits until the first promise is broken, or the time is over. */
  void awaitBreach(final long nanos) throws InterruptedException {
    final boolean unused = breached.await(nanos, TimeUnit.NANOSECONDS);
  }

  boolean isBreached() {
    return breachCount.get() > 0;
  }

  long breachCount() {
    return breachCount.get();
  }

  List<String> breaches() {
    return List.copyOf(breaches);
  }

  long delivered() {
    return software.delivered.sum()
        + dto.delivered.sum()
        + connection.delivered.sum()
        + request.delivered.sum();
  }

  /** Balances the books: what is missing is a breach. */
  void balance() {
    balance("SOFTWARE", software);
    balance("DTO", dto);
    balance("CONNECTION", connection);
    balance("CONNECTION_REQUEST", request);
  }

  private void balance(final String name, final Stream stream) {
    if (stream.missing() != 0) {
      breach(name + ": " + stream.missing() + " events are missing (below 0: came twice)");
    }
  }

  void print(final PrintWriter out) {
    out.printf(
        "%n  %-18s%12s%12s%12s%12s%11s%n",
        "", "posted", "delivered", "reported", "suppressed", "missing");
    software.print(out, "SOFTWARE");
    dto.print(out, "DTO");
    connection.print(out, "CONNECTION");
    request.print(out, "CONNECTION_REQUEST");
  }
}
