package org.jdapl.evd;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The counters of an EVD. Counted by the holder of the turn, except those from {@link #EMPTY_TURNS}
 * on, which are counted outside of turns too; read by anybody.
 */
final class Counters {

  static final int COMPLETIONS = 0;
  static final int CONNECTIONS = 1;
  static final int REQUESTS = 2;
  static final int SOFTWARE = 3;
  static final int ASYNC = 4;
  static final int BINDS = 5;
  static final int DEQUEUED = 6;
  static final int SUPPRESSED = 7;
  static final int DROPPED = 8;
  static final int UPCALLS = 9;
  static final int PROVIDER_CALLS = 10;
  static final int ARMS = 11;
  static final int SPURIOUS = 12;
  static final int RESCUED = 13;
  static final int OVERDUE_ENDS = 14;
  static final int MOST_IN_LANE = 15;
  static final int MOST_COMPLETIONS = 16;

  // Outside of turns too.
  static final int EMPTY_TURNS = 17;
  static final int DROPPED_UPCALLS = 18;
  static final int FAILURES = 19;
  static final int ERROR_HANDLER_FAILURES = 20;
  static final int UNHANDLED = 21;
  static final int WAKES = 22;
  static final int SLOW_TURNS = 23;
  static final int SLOW_TURN_WARNINGS = 24;
  static final int LONGEST_TURN = 25;
  static final int POLL_FAULTS = 26;
  static final int FLUSH_FAULTS = 27;
  static final int DRAIN_FAULTS = 28;
  static final int CLOSE_FAULTS = 29;
  static final int CONNECTION_FAULTS = 30;

  private static final int COUNT = 31;

  private final AtomicLongArray values = new AtomicLongArray(COUNT);

  void increment(final int counter) {
    add(counter, 1);
  }

  void add(final int counter, final int count) {
    values.lazySet(counter, values.getPlain(counter) + count);
  }

  long incrementShared(final int counter) {
    return values.incrementAndGet(counter);
  }

  long get(final int counter) {
    return values.get(counter);
  }

  /** Keeps the greatest value. */
  void maximum(final int counter, final long value) {
    if (value > values.get(counter)) {
      values.accumulateAndGet(counter, value, Math::max);
    }
  }

  EvdCounts snapshot(final String evd) {
    final long[] copy = new long[COUNT];
    for (int i = 0; i < COUNT; i++) {
      copy[i] = values.get(i);
    }
    return new EvdCounts(evd, copy);
  }
}
