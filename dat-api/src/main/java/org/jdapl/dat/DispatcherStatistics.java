package org.jdapl.dat;

/**
 * What a dispatcher counted since it was started. A dispatcher is the thread, or by hand the loop,
 * that gives EVDs their turns.
 *
 * @param name the name of the dispatcher.
 * @param turns turns it gave.
 * @param sleeps how often it slept because no EVD was ready.
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
