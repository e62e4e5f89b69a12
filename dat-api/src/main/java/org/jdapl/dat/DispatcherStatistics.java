package org.jdapl.dat;

/**
 * What a dispatcher counted since it was started. A dispatcher is the thread, or by hand the loop,
 * that gives EVDs their turns.
 *
 * @param name the name of the dispatcher.
 * @param turns turns it offered; an EVD whose turn is held by somebody else does not take it.
 * @param sleeps how often it went to sleep because no EVD was ready. One that stays idle looks up
 *     once a second.
 */
public record DispatcherStatistics(String name, long turns, long sleeps) {

  /**
   * What was counted, in one line.
   *
   * @return a line such as {@code dispatcher-1: 812 turns, 40 sleeps}.
   */
  @Override
  public String toString() {
    return name + ": " + turns + " turns, " + sleeps + " sleeps";
  }
}
