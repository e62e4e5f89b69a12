package org.jdapl.sim;

import java.util.concurrent.atomic.AtomicBoolean;

/** Something to do, reusable: it waits in at most one lane, and there once. */
abstract class Task {

  /** When it is due, the order among equals, and the link of a list: the lane's. */
  long due;

  long tie;
  Task next;

  private final AtomicBoolean waiting = new AtomicBoolean();

  /** Whether the caller is the one to put it into the lane. A full fence either way. */
  final boolean claim() {
    return waiting.compareAndSet(false, true);
  }

  /** Runs it. What is submitted from here on runs again. */
  final int execute() {
    waiting.set(false);
    return run();
  }

  /** Does it; returns the number of handler calls made. */
  abstract int run();

  static int compare(final Task a, final Task b) {
    final int byTime = Long.compare(a.due, b.due);
    return byTime != 0 ? byTime : Long.compare(a.tie, b.tie);
  }
}
