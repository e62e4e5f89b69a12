package org.jdapl.evd;

import java.util.concurrent.atomic.AtomicLongArray;
import org.jdapl.dat.EvdStatistics;

/**
 * The counters of an EVD. Counted by the holder of the turn, except {@link #FAILURES}, {@link
 * #UNHANDLED} and {@link #EMPTY_TURNS}, which are counted outside of turns too; read by anybody.
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
  static final int FAILURES = 11;
  static final int UNHANDLED = 12;

  private final AtomicLongArray values = new AtomicLongArray(UNHANDLED + 1);

  void increment(final int counter) {
    values.lazySet(counter, values.getPlain(counter) + 1);
  }

  long incrementShared(final int counter) {
    return values.incrementAndGet(counter);
  }

  EvdStatistics snapshot() {
    return new EvdStatistics(
        values.get(COMPLETIONS),
        values.get(CONNECTIONS),
        values.get(REQUESTS),
        values.get(SOFTWARE),
        values.get(ASYNC),
        values.get(UPCALLS),
        values.get(EMPTY_TURNS),
        values.get(PROVIDER_CALLS),
        values.get(SUPPRESSED),
        values.get(DROPPED),
        values.get(FAILURES),
        values.get(UNHANDLED),
        values.get(SPURIOUS));
  }
}
