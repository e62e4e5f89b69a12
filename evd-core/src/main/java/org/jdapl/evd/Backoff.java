package org.jdapl.evd;

import java.time.Duration;

/** The delays between tries: each is twice the one before, up to the last. Confined. */
final class Backoff {

  private final Duration first;
  private final Duration last;
  private Duration next;

  Backoff(final Duration first, final Duration last) {
    this.first = first;
    this.last = last;
    next = first;
  }

  /** The delay before the next try. */
  Duration next() {
    final Duration delay = next;
    final Duration twice = delay.multipliedBy(2);
    next = twice.compareTo(last) < 0 ? twice : last;
    return delay;
  }

  /** A try did well: begins anew. */
  void reset() {
    next = first;
  }
}
