package org.jdapl.sim;

import org.jdapl.verbs.NanoClock;

/** Real time: two workers, whose threads start when first needed. */
final class RealTime implements Scheduler {

  private final long start = System.nanoTime();
  private final Worker wire;
  private final Worker second;

  RealTime(final String name) {
    wire = new Worker(this, name + "-wire");
    second = new Worker(this, name + "-notifier");
  }

  @Override
  public long now() {
    return System.nanoTime() - start;
  }

  @Override
  public Lane wire() {
    return wire;
  }

  @Override
  public Lane second() {
    return second;
  }

  @Override
  public NanoClock clock() {
    return NanoClock.SYSTEM;
  }

  @Override
  public void close() {
    wire.stop();
    second.stop();
  }
}
