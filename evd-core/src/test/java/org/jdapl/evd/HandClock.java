package org.jdapl.evd;

import java.time.Duration;
import org.jdapl.verbs.NanoClock;

/** A clock that a test sets. */
final class HandClock implements NanoClock {

  private volatile long now = 1_000_000_000L;

  @Override
  public long nanoTime() {
    return now;
  }

  void advance(final Duration by) {
    final long before = now;
    now = before + by.toNanos();
  }
}
