package org.jdapl.sim;

import org.jdapl.verbs.NanoClock;

/** Time, and what happens in it. */
interface Scheduler extends AutoCloseable {

  /** The time, from 0. */
  long now();

  /** The lane the wire and all notifications run in. */
  Lane wire();

  /** A second lane that may run at the same time, or the first again. */
  Lane second();

  /** The clock to show. */
  NanoClock clock();

  @Override
  void close();
}
