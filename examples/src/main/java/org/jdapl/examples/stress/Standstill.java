package org.jdapl.examples.stress;

/** For how long a count has not grown. Looked at now and then, by one thread. */
final class Standstill {

  private long count;
  private long since = System.nanoTime();

  /** The nanoseconds since the first look that saw this count. */
  long nanos(final long countNow, final long now) {
    if (countNow != count) {
      count = countNow;
      since = now;
    }
    return now - since;
  }
}
