package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the counters of an EVD come to, exactly, by hand. */
class StatisticsTest {

  private static final int EVENTS = 10;
  private static final EventHandler TAKING =
      new EventHandler() {
        @Override
        public void onEvent(final Event event) {}
      };
  private static final NotifyHandler DRAINING =
      new NotifyHandler() {
        @Override
        public void onReady(final Evd ready) {
          ready.drain(TAKING, 100);
          ready.notifyOnce(this, Invoke.ON_ANY);
        }
      };

  private static void enable(final Evd evd, final UpcallPolicy policy) {
    switch (policy) {
      case SINGLE_INSTANCE -> evd.upcall(TAKING);
      case MANY -> evd.upcall(TAKING, Concurrency.many(2), Invoke.ON_ANY);
      case NOTIFY -> evd.notifyOnce(DRAINING, Invoke.ON_ANY);
      case DISABLED -> evd.disable();
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DISABLED")
  void shouldCountOneWakeAndOneUpcallForEachCompletionThatComesAlone(final UpcallPolicy policy) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, EVENTS);
    enable(bed.evd, policy);
    bed.settle();
    final EvdStatistics before = bed.evd.statistics();
    for (int i = 0; i < EVENTS; i++) {
      bed.complete(1);
      bed.settle();
    }
    final EvdStatistics after = bed.evd.statistics();
    assertThat(after.completions()).isEqualTo(EVENTS);
    assertThat(after.wakes() - before.wakes()).as("wakes").isEqualTo(EVENTS);
    assertThat(after.upcalls()).as("upcalls").isEqualTo(EVENTS);
    assertThat(after.rescued()).as("rescued").isZero();
    assertThat(after.spurious()).as("spurious").isZero();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DISABLED")
  void shouldCountNoWakeForSoftwareEvents(final UpcallPolicy policy) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, EVENTS);
    enable(bed.evd, policy);
    bed.settle();
    final long before = bed.evd.statistics().wakes();
    for (int i = 0; i < EVENTS; i++) {
      bed.evd.postSoftwareEvent(i);
      bed.settle();
    }
    assertThat(bed.evd.statistics().software()).isEqualTo(EVENTS);
    assertThat(bed.evd.statistics().wakes()).isEqualTo(before);
  }

  @Test
  void shouldCountOneUpcallForABatchUnderSingleInstance() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, EVENTS);
    bed.enable();
    bed.complete(EVENTS);
    bed.settle();
    assertThat(bed.evd.statistics().completions()).isEqualTo(EVENTS);
    assertThat(bed.evd.statistics().upcalls()).isOne();
  }
}
