package org.jdapl.sim;

/** Where tasks are run, one after the other. */
interface Lane {

  /**
   * Runs a task once after a delay. Without effect if the task waits already: whoever submits twice
   * relies on the one run to see everything that was published before.
   */
  void submit(Task task, long delayNanos);
}
