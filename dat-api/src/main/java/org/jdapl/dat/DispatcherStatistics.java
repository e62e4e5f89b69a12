package org.jdapl.dat;

/**
 * What a dispatcher counted since it was started. A dispatcher is the thread, or by hand the loop,
 * that gives EVDs their turns.
 *
 * @param name the name of the dispatcher.
 * @param turns turns it offered; an EVD whose turn is held by somebody else does not take it.
 * @param sleeps how often it went to sleep because no EVD was ready. One that stays idle looks up
 *     once a second.
 * @param mostReady the most EVDs that were ready when it began a round.
 * @param longestTurnNanos how long the longest turn took, of those that were timed; see {@link
 *     Evd#slowAfter}.
 */
@Experimental
public record DispatcherStatistics(
    String name, long turns, long sleeps, long mostReady, long longestTurnNanos) {

  /**
   * What was counted, in one line.
   *
   * @return a line such as {@code dispatcher-1: 812 turns, 40 sleeps, 3 ready at most, 95 us
   *     longest turn}.
   */
  @Override
  public String toString() {
    return name
        + ": "
        + turns
        + " turns, "
        + sleeps
        + " sleeps, "
        + mostReady
        + " ready at most, "
        + longestTurnNanos / 1000
        + " us longest turn";
  }
}
