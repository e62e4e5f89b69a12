package org.jdapl.dat;

import java.util.StringJoiner;

/**
 * What an EVD counted since it was created.
 *
 * @param evd the name of the EVD.
 * @param completions DTO completions handed out.
 * @param connections connection events handed out.
 * @param requests connection requests handed out.
 * @param software software events handed out.
 * @param async async errors handed out.
 * @param upcalls turns that called the handler. One turn hands out one event or more; with MANY
 *     one, with NOTIFY none.
 * @param emptyTurns turns under an enabled policy that called no handler: after a notification
 *     without a completion, a change of policy, or completions that were only left out.
 * @param wakes how often a completion queue made an idle EVD ready.
 * @param providerCalls polls and arms made; the looks of the watchdog are not counted.
 * @param suppressed successes that were posted with SUPPRESS and so made no event.
 * @param dropped completions of closed endpoints, and others nobody knows, that were left out.
 * @param failures how often consumer code threw in an upcall: at an event, in onTurnEnd, in
 *     onReady.
 * @param unhandled events for which the consumer had no method.
 * @param spurious notifications, and looks of the timer that follows many of them, that found no
 *     completion.
 * @param rescued completions that came without a notification, and that the watchdog found.
 * @param slowTurns turns that took longer than {@link Evd#slowAfter}.
 * @param longestTurnNanos how long the longest turn took, of those that were timed: not while
 *     {@link Evd#slowAfter} is zero.
 */
public record EvdStatistics(
    String evd,
    long completions,
    long connections,
    long requests,
    long software,
    long async,
    long upcalls,
    long emptyTurns,
    long wakes,
    long providerCalls,
    long suppressed,
    long dropped,
    long failures,
    long unhandled,
    long spurious,
    long rescued,
    long slowTurns,
    long longestTurnNanos) {

  /**
   * All events handed out.
   *
   * @return the sum over the streams.
   */
  public long events() {
    return completions + connections + requests + software + async;
  }

  /**
   * What was counted, in one line; without what is zero.
   *
   * @return a line such as {@code sim0/evd-1: 9 completions, 2 connections, 4 upcalls}.
   */
  @Override
  public String toString() {
    final StringJoiner line = new StringJoiner(", ", evd + ": ", "").setEmptyValue(evd + ": idle");
    add(line, completions, "completions");
    add(line, connections, "connections");
    add(line, requests, "requests");
    add(line, software, "software");
    add(line, async, "async");
    add(line, upcalls, "upcalls");
    add(line, emptyTurns, "empty turns");
    add(line, wakes, "wakes");
    add(line, providerCalls, "provider calls");
    add(line, suppressed, "suppressed");
    add(line, dropped, "dropped");
    add(line, failures, "failures");
    add(line, unhandled, "unhandled");
    add(line, spurious, "spurious");
    add(line, rescued, "rescued");
    add(line, slowTurns, "slow turns");
    add(line, longestTurnNanos / 1000, "us longest turn");
    return line.toString();
  }

  private static void add(final StringJoiner line, final long count, final String what) {
    if (count != 0) {
      line.add(count + " " + what);
    }
  }
}
