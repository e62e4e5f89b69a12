package org.jdapl.evd;

import java.util.function.Consumer;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Invoke;

/**
 * What a thread does to an EVD while others use it. Every two of them race, also one with itself;
 * turns are part of each race, and a poster is. A new operation is one more constant.
 */
@SuppressWarnings("ImmutableEnumChecker") // no lambda here has state
enum Operation {
  POST(false, RaceBed::post),
  SIGNAL(
      true,
      bed -> {
        bed.complete();
        bed.complete();
      }),
  POLICY(
      false,
      bed -> {
        bed.disable();
        bed.enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
      }),
  ON_NEW(false, bed -> bed.enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW)),
  NOTIFY(
      false,
      bed -> {
        bed.notifyOnce(Invoke.ON_ANY);
        bed.notifyOnce(Invoke.ON_ANY);
      }),
  MANY(
      false,
      bed -> {
        bed.enable(Concurrency.many(1), Invoke.ON_ANY);
        bed.enable(Concurrency.many(2), Invoke.ON_ANY);
      }),
  DEQUEUE(
      false,
      bed -> {
        bed.disable();
        bed.dequeue();
        bed.dequeue();
        bed.enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
      }),
  AWAIT(
      false,
      bed -> {
        bed.disable();
        bed.await();
        bed.enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
      }),
  MOVE(false, RaceBed::move),
  RESIZE(false, RaceBed::resize),
  TEARDOWN(false, RaceBed::tearDown),
  CLOSE(false, RaceBed::closeEvd),
  ENDPOINT_CLOSE(true, RaceBed::closeEndpoint);

  private final boolean needsEndpoint;
  private final Consumer<RaceBed> action;

  Operation(final boolean needsEndpoint, final Consumer<RaceBed> action) {
    this.needsEndpoint = needsEndpoint;
    this.action = action;
  }

  boolean needsEndpoint() {
    return needsEndpoint;
  }

  void on(final RaceBed bed) {
    action.accept(bed);
  }
}
