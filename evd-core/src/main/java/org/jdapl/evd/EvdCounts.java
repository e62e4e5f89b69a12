package org.jdapl.evd;

import java.util.StringJoiner;
import org.jdapl.dat.EvdStatistics;

/** What {@link Counters} had counted at some moment. */
final class EvdCounts implements EvdStatistics {

  private final String evd;
  private final long[] values;

  EvdCounts(final String evd, final long[] values) {
    this.evd = evd;
    this.values = values;
  }

  @Override
  public String evd() {
    return evd;
  }

  @Override
  public long completions() {
    return values[Counters.COMPLETIONS];
  }

  @Override
  public long binds() {
    return values[Counters.BINDS];
  }

  @Override
  public long connections() {
    return values[Counters.CONNECTIONS];
  }

  @Override
  public long requests() {
    return values[Counters.REQUESTS];
  }

  @Override
  public long software() {
    return values[Counters.SOFTWARE];
  }

  @Override
  public long async() {
    return values[Counters.ASYNC];
  }

  @Override
  public long dequeued() {
    return values[Counters.DEQUEUED];
  }

  @Override
  public long suppressed() {
    return values[Counters.SUPPRESSED];
  }

  @Override
  public long dropped() {
    return values[Counters.DROPPED];
  }

  @Override
  public long upcalls() {
    return values[Counters.UPCALLS];
  }

  @Override
  public long emptyTurns() {
    return values[Counters.EMPTY_TURNS];
  }

  @Override
  public long droppedUpcalls() {
    return values[Counters.DROPPED_UPCALLS];
  }

  @Override
  public long failures() {
    return values[Counters.FAILURES];
  }

  @Override
  public long unhandled() {
    return values[Counters.UNHANDLED];
  }

  @Override
  public long slowTurns() {
    return values[Counters.SLOW_TURNS];
  }

  @Override
  public long longestTurnNanos() {
    return values[Counters.LONGEST_TURN];
  }

  @Override
  public long wakes() {
    return values[Counters.WAKES];
  }

  @Override
  public long providerCalls() {
    return values[Counters.PROVIDER_CALLS];
  }

  @Override
  public long arms() {
    return values[Counters.ARMS];
  }

  @Override
  public long spurious() {
    return values[Counters.SPURIOUS];
  }

  @Override
  public long rescued() {
    return values[Counters.RESCUED];
  }

  @Override
  public long overdueEnds() {
    return values[Counters.OVERDUE_ENDS];
  }

  @Override
  public long faults() {
    return values[Counters.POLL_FAULTS]
        + values[Counters.FLUSH_FAULTS]
        + values[Counters.DRAIN_FAULTS]
        + values[Counters.CLOSE_FAULTS]
        + values[Counters.CONNECTION_FAULTS];
  }

  @Override
  public long mostInLane() {
    return values[Counters.MOST_IN_LANE];
  }

  @Override
  public long mostCompletions() {
    return values[Counters.MOST_COMPLETIONS];
  }

  @Override
  public String toString() {
    final StringJoiner line = new StringJoiner(", ", evd + ": ", "").setEmptyValue(evd + ": idle");
    add(line, completions(), "completions");
    add(line, binds(), "binds");
    add(line, connections(), "connections");
    add(line, requests(), "requests");
    add(line, software(), "software");
    add(line, async(), "async");
    add(line, dequeued(), "dequeued");
    add(line, suppressed(), "suppressed");
    add(line, dropped(), "dropped");
    add(line, upcalls(), "upcalls");
    add(line, emptyTurns(), "empty turns");
    add(line, droppedUpcalls(), "dropped upcalls");
    add(line, failures(), "failures");
    add(line, unhandled(), "unhandled");
    add(line, wakes(), "wakes");
    add(line, providerCalls(), "provider calls");
    add(line, arms(), "arms");
    add(line, spurious(), "spurious");
    add(line, rescued(), "rescued");
    add(line, overdueEnds(), "overdue ends");
    add(line, faults(), "faults");
    add(line, mostInLane(), "in the lane at most");
    add(line, mostCompletions(), "completions in a row at most");
    add(line, slowTurns(), "slow turns");
    add(line, longestTurnNanos() / 1000, "us longest turn");
    return line.toString();
  }

  private static void add(final StringJoiner line, final long count, final String what) {
    if (count != 0) {
      line.add(count + " " + what);
    }
  }
}
