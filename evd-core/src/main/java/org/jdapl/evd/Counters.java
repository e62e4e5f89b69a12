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
  static final int DEQUEUED = 5;
  static final int SUPPRESSED = 6;
  static final int DROPPED = 7;
  static final int UPCALLS = 8;
  static final int PROVIDER_CALLS = 9;
  static final int ARMS = 10;
  static final int SPURIOUS = 11;
  static final int RESCUED = 12;
  static final int OVERDUE_ENDS = 13;
  static final int MOST_IN_LANE = 14;
  static final int MOST_COMPLETIONS = 15;

  // Outside of turns too.
  static final int EMPTY_TURNS = 16;
  static final int DROPPED_UPCALLS = 17;
  static final int FAILURES = 18;
  static final int ERROR_HANDLER_FAILURES = 19;
  static final int UNHANDLED = 20;
  static final int WAKES = 21;
  static final int SLOW_TURNS = 22;
  static final int SLOW_TURN_WARNINGS = 23;
  static final int LONGEST_TURN = 24;
  static final int POLL_FAULTS = 25;
  static final int FLUSH_FAULTS = 26;
  static final int DRAIN_FAULTS = 27;
  static final int CLOSE_FAULTS = 28;
  static final int CONNECTION_FAULTS = 29;

  private static final int COUNT = 30;

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
