package org.jdapl.evd;

import java.util.concurrent.atomic.AtomicLongArray;
import org.jdapl.dat.EvdStatistics;

/**
 * The counters of an EVD. Counted by the holder of the turn, except {@link #EMPTY_TURNS} and those
 * from {@link #FAILURES} on, which are counted outside of turns too; read by anybody.
 */
final class Counters {

  static final int COMPLETIONS = 0;
  static final int CONNECTIONS = 1;
  static final int REQUESTS = 2;
  static final int SOFTWARE = 3;
  static final int ASYNC = 4;
  static final int UPCALLS = 5;
  static final int EMPTY_TURNS = 6;
  static final int PROVIDER_CALLS = 7;
  static final int SUPPRESSED = 8;
  static final int DROPPED = 9;
  static final int SPURIOUS = 10;
  static final int RESCUED = 11;
  static final int FAILURES = 12;
  static final int UNHANDLED = 13;
  static final int WAKES = 14;
  static final int SLOW_TURNS = 15;
  static final int SLOW_TURN_WARNINGS = 16;
  static final int LONGEST_TURN = 17;
  static final int ERROR_HANDLER_FAILURES = 18;

  /** The first of those of {@link FaultLog.Call}. */
  static final int POLL_FAULTS = 19;

  private static final int COUNT = POLL_FAULTS + FaultLog.Call.values().length;

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

  EvdStatistics snapshot(final String evd) {
    return new EvdStatistics(
        evd,
        values.get(COMPLETIONS),
        values.get(CONNECTIONS),
        values.get(REQUESTS),
        values.get(SOFTWARE),
        values.get(ASYNC),
        values.get(UPCALLS),
        values.get(EMPTY_TURNS),
        values.get(WAKES),
        values.get(PROVIDER_CALLS),
        values.get(SUPPRESSED),
        values.get(DROPPED),
        values.get(FAILURES),
        values.get(UNHANDLED),
        values.get(SPURIOUS),
        values.get(RESCUED),
        values.get(SLOW_TURNS),
        values.get(LONGEST_TURN));
  }
}
