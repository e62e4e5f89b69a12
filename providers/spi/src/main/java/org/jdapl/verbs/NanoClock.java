package org.jdapl.verbs;

/** A monotonic clock. */
@FunctionalInterface
public interface NanoClock {

  /** The clock of the machine, {@link System#nanoTime}. */
  NanoClock SYSTEM = System::nanoTime;

  /**
   * The time now; only differences have a meaning.
   *
   * @return nanoseconds.
   */
  long nanoTime();
}
