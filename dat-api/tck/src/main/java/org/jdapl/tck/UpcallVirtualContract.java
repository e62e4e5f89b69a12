package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Invoke;
import org.junit.jupiter.api.Test;

/**
 * The rules of section U that need to be alone: nothing may run but in the bench: for benches of
 * which {@link Bench#isVirtual} is true.
 */
public abstract class UpcallVirtualContract extends Contract {

  /** A contract; its state lives for one test. */
  protected UpcallVirtualContract() {}

  @Test
  void required_U02_onVirtualTimeNothingRunsBeforeTheBenchDoes() {
    final Evd evd = softwareEvd(16);
    final Recorder seen = recorder(evd);
    post(evd, "a");

    evd.upcall(seen);
    post(evd, "b");

    assertThat(seen.count()).as(why("nobody ran a dispatcher yet")).isZero();
    awaitCount(seen, 2, "both");
  }

  @Test
  void required_U09_aQueuedUpcallOfATornDownEvdDoesNotRun() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);
    post(evd, 1, 2);

    evd.teardown();
    bench.settle();

    assertThat(seen.count()).as(why("it was ready, and never ran")).isZero();
    assertThat(evd.statistics().droppedUpcalls()).as(why("it is counted")).isOne();
    assertThat(seen.takeAll()).as(why("both are there")).isEqualTo(2);
  }

  @Test
  void required_U09_aQueuedUpcallOfAClosedEvdDoesNotRun() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);
    post(evd, 1, 2);

    evd.close();
    bench.settle();

    assertThat(seen.count()).as(why("it was ready, and never ran")).isZero();
    assertThat(evd.statistics().droppedUpcalls()).as(why("it is counted")).isOne();
  }

  @Test
  void required_U09_anUpcallQueuedBeforeATeardownBelongsToTheOldGeneration() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);
    post(evd, 1);
    evd.teardown();

    evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();
    assertThat(seen.count())
        .as(why("the upcall queued before the teardown must not serve the new enabling"))
        .isZero();
    post(evd, 2);
    awaitCount(seen, 2, "old and new");
  }

  @Test
  void required_U14_aTurnOfSoftwareEventsMakesNoProviderCall() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    bench.settle();
    final int before = side.seen.count();
    final long calls = side.evd.statistics().providerCalls();

    for (int i = 1; i <= 10; i++) {
      post(side.evd, i);
      awaitCount(side.seen, before + i, "a turn of its own for each");
    }

    assertThat(side.evd.statistics().providerCalls() - calls)
        .as(why("no CQ bit, no poll: the endpoints are idle"))
        .isZero();
  }
}
