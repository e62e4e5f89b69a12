package org.jdapl.verbs;

/**
 * The clock of a provider that lives in virtual time: nothing happens, and no time passes, but in
 * {@link #step}.
 *
 * <p>Such a provider has no thread. Who would block drives it instead, so that a whole program runs
 * on one thread and can be replayed.
 */
public interface SteppedClock extends NanoClock {

  /**
   * Does the next thing that is due and sets the clock to its time, but not past a limit. If
   * nothing is due before the limit, the clock is set to the limit.
   *
   * @param limitNanos the time not to pass; {@link Long#MAX_VALUE} for none.
   * @return whether something was done; false means nothing will happen up to the limit unless
   *     somebody calls a verb (and with no limit, the clock stands).
   */
  boolean step(long limitNanos);
}
