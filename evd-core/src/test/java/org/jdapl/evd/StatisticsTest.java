package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the counters of an EVD come to, exactly, by hand. */
@ExtendWith(HandBed.Closing.class)
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

  @Test
  void shouldCountWhatAnUpcallHandsOutApartFromWhatIsDequeued() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, EVENTS);
    bed.complete(3);
    assertThat(bed.evd.drain(TAKING, 2)).isEqualTo(2);
    assertThat(bed.evd.await(TAKING, 1, Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    assertThat(bed.evd.statistics().dequeued()).isEqualTo(3);
    assertThat(bed.evd.statistics().eventsPerUpcall()).isZero();
    bed.enable();
    bed.complete(6);
    bed.settle();
    bed.complete(1);
    bed.settle();
    final EvdStatistics counted = bed.evd.statistics();
    assertThat(counted.events()).isEqualTo(EVENTS);
    assertThat(counted.dequeued()).isEqualTo(3);
    assertThat(counted.eventsPerUpcall()).isEqualTo(3.5);
  }

  @Test
  void shouldCountEachArmOfACompletionQueue() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 40);
    bed.enable();
    assertThat(bed.evd.statistics().arms()).isEqualTo(bed.cq().armCalls()).isOne();
    bed.complete(20);
    bed.settle();
    bed.complete(1);
    bed.settle();
    assertThat(bed.evd.statistics().arms()).isEqualTo(bed.cq().armCalls()).isEqualTo(3);
  }

  @Test
  void shouldKeepTheMostThatWaited() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 60);
    bed.complete(1);
    for (int i = 0; i < EVENTS; i++) {
      bed.evd.postSoftwareEvent(i);
    }
    bed.enable();
    assertThat(bed.evd.statistics().mostInLane()).isEqualTo(EVENTS);
    assertThat(bed.evd.statistics().mostCompletions()).isOne();
    bed.complete(40);
    bed.settle();
    for (int i = 0; i < 5; i++) {
      bed.complete(3);
      bed.evd.postSoftwareEvent(i);
      bed.settle();
    }
    assertThat(bed.evd.statistics().mostInLane()).isEqualTo(EVENTS);
    assertThat(bed.evd.statistics().mostCompletions()).isEqualTo(40);
  }

  @Test
  void shouldKeepTheMostEvdsThatWereReadyAndTheLongestTurnOfADispatcher() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final EventHandler taking =
        new EventHandler() {
          @Override
          public void onEvent(final Event event) {
            bed.clock.advance(Duration.ofMillis(7));
          }
        };
    for (int i = 0; i < 3; i++) {
      final Evd evd = bed.createEvd(1);
      evd.postSoftwareEvent(i);
      evd.upcall(taking);
    }
    bed.settle();
    bed.evd.postSoftwareEvent("alone");
    bed.enable();
    assertThat(bed.ia.statistics().dispatchers())
        .singleElement()
        .satisfies(
            dispatcher -> {
              assertThat(dispatcher.mostReady()).isEqualTo(3);
              assertThat(dispatcher.longestTurnNanos()).isEqualTo(Duration.ofMillis(7).toNanos());
            });
  }

  @Test
  void shouldCountNoDroppedUpcallWhereNoneWasDue() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final Evd evd = bed.createEvd(4);
    evd.upcall(TAKING);
    evd.disable(); // the upcall that was to look what is there
    assertThat(evd.statistics().droppedUpcalls()).isOne();
    evd.postSoftwareEvent("while disabled");
    evd.upcall(TAKING);
    bed.settle();
    evd.postSoftwareEvent("due");
    evd.upcall(TAKING, Concurrency.many(2), Invoke.ON_ANY);
    bed.settle();
    evd.close();
    assertThat(evd.statistics().droppedUpcalls()).isOne();
    assertThat(evd.statistics().events()).isEqualTo(2);
  }
}
