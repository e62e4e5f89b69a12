package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.LongStream;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Hint;
import org.jdapl.evd.ScriptedDevice.Notify;
import org.jdapl.evd.ScriptedDevice.Point;
import org.jdapl.evd.ScriptedDevice.ScriptedCq;
import org.jdapl.evd.ScriptedDevice.ScriptedQp;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bugs that drivers and consumers of verbs had, each as the scenario that showed it. By hand. */
@ExtendWith(HandBed.Closing.class)
class VerbsScenarioTest {

  /** RDMA/rxe lost events: the producer looked at the arm later than it published. */
  @Test
  void required_A03_aProducerThatLooksAtTheArmLateLosesNothing() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 3);
    final ScriptedCq cq = bed.cq();
    bed.enable();
    final boolean[] published = {false};
    cq.hook(
        point -> {
          if (point == Point.POLL && !published[0]) {
            published[0] = true;
            cq.addSilently(bed.qp().takeReceive());
          }
        });
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(2);
    assertThat(cq.isArmed()).isTrue();
    cq.notifyIfArmed(); // the producer goes on, and takes an arm that was not for it
    bed.settle();
    assertThat(cq.isArmed()).as("armed again").isTrue();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(3);
  }

  /** rdma_get_*_comp hung: an arm while the event of the last one is in flight does nothing. */
  @ParameterizedTest
  @EnumSource
  void required_A04_anArmThatItsEventUnderWayMadeVoidIsMadeAgain(final SecondArm second) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK.withSecondArm(second), 3);
    final ScriptedCq cq = bed.cq();
    bed.enable();
    cq.notifies(Notify.HELD);
    bed.complete(1);
    cq.notifyNow();
    bed.settle();
    bed.assertDelivered(1);
    assertThat(cq.release()).isOne();
    bed.settle();
    assertThat(cq.isArmed()).isTrue();
    bed.complete(1);
    assertThat(cq.release()).isOne();
    bed.settle();
    bed.assertDelivered(2);
  }

  /** libfabric polled, then armed, then slept. */
  @Test
  void required_A02_aCompletionBetweenPollAndArmIsFoundByTheLook() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    final ScriptedCq cq = bed.cq();
    bed.enable();
    cq.notifies(Notify.NEVER);
    final boolean[] added = {false};
    cq.hook(
        point -> {
          if (point == Point.ARM && !added[0]) {
            added[0] = true;
            bed.complete(1);
          }
        });
    cq.notifyNow();
    bed.settle();
    bed.assertDelivered(1);
  }

  /** The queue was armed after the peer could send, or never. */
  @Test
  void required_A01_aCompletionBeforeTheFirstArmIsDelivered() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.complete(1);
    assertThat(bed.cq().isArmed()).isFalse();
    bed.enable();
    bed.assertDelivered(1);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(2);
  }

  /** bnxt_re put an arm off to the next poll. */
  @Test
  void required_A02_anArmThatTakesEffectAtTheNextPollTakesEffect() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 3);
    final ScriptedCq cq = bed.cq();
    final boolean[] deferred = {false};
    cq.notifies(Notify.NEVER); // what the double does by itself does not count here
    cq.hook(
        point -> {
          if (point == Point.ARM) {
            deferred[0] = true;
          } else if (point == Point.POLL && deferred[0]) {
            deferred[0] = false;
            cq.notifies(Notify.AT_ONCE);
          }
        });
    bed.enable();
    assertThat(deferred[0]).as("every arm took effect").isFalse();
    for (int i = 1; i <= 3; i++) {
      bed.complete(1);
      cq.notifies(Notify.NEVER);
      bed.settle();
      bed.assertDelivered(i);
    }
  }

  /** An application took a strong queue's event for its own send's. */
  @Test
  void required_A01_aNotificationIsNotTakenForThatOfOneRequest() {
    final ScriptedBed bed = new ScriptedBed(Behavior.STRONG, 1);
    bed.connect();
    bed.complete(1);
    assertThat(bed.endpoint.postSend(bed.lmr, 0, 8, 100)).isEqualTo(Outcome.SUCCESS);
    bed.enable();
    bed.assertDelivered(1);
    bed.qp().completeSends(1);
    bed.settle();
    assertThat(bed.cookies).containsExactly(0L, 100L);
  }

  /** libvma armed with a stale index: an endless chain of events without completions. */
  @Test
  void required_A09_anArmThatAlwaysNotifiesDoesNotSpin() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    final ScriptedCq cq = bed.cq();
    cq.hook(
        point -> {
          if (point == Point.ARMED) {
            cq.notifyNow();
          }
        });
    bed.enable();
    assertThat(bed.evd.statistics().spurious()).isEqualTo(16);
    assertThat(cq.calls()).isLessThan(60);
    final int calls = cq.calls();
    for (int i = 0; i < 1000; i++) {
      bed.pass(Duration.ofMillis(1));
    }
    assertThat(cq.calls() - calls).as("a second costs some twenty polls").isLessThan(80);
    bed.complete(1);
    bed.pass(Duration.ofMillis(64));
    bed.assertDelivered(1);
  }

  /** UCX polled a queue along two paths of which one kept no index: events without completions. */
  @Test
  void required_A07_whateverPollsAQueueLeavesNoEventForWhatItTook() {
    final ScriptedBed bed = new ScriptedBed(Behavior.STRONG, 30);
    final Endpoint other = bed.createEndpoint(bed.evd, 4);
    bed.complete(20);
    assertThat(bed.evd.drain(bed, 5)).isEqualTo(5);
    bed.enable();
    bed.complete(5);
    bed.settle();
    bed.evd.disable();
    bed.complete(3);
    final CompletableFuture<DrainReport> closed =
        other.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    assertThat(closed).as("which polls too").isCompleted();
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(3);
    bed.enable();
    bed.complete(2);
    bed.settle();
    bed.assertDelivered(30);
    assertThat(bed.evd.statistics().spurious()).isZero();
  }

  /** UCX slept over completions that were polled and that nobody had got yet. */
  @Test
  void required_E11_completionsInTheStashNeedNoNotification() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 68);
    bed.cq().notifies(Notify.NEVER);
    final Endpoint other = bed.createEndpoint(bed.evd, 4);
    bed.complete(5);
    final CompletableFuture<DrainReport> closed =
        other.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    assertThat(closed).as("it stashed those of the other endpoint").isCompleted();
    bed.enable();
    bed.assertDelivered(5);

    bed.evd.disable();
    bed.complete(3);
    bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.settle();
    assertThat(bed.cq().size()).as("in the stash").isZero();
    bed.assertDelivered(5);
    assertThat(bed.evd.postSoftwareEvent("new")).isEqualTo(Outcome.SUCCESS);
    bed.settle();
    bed.assertDelivered(8);

    bed.complete(60); // the budget ends in the middle of the last batch
    for (int i = 0; i < 10; i++) {
      assertThat(bed.evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
    }
    bed.cq().notifyNow();
    bed.settle();
    bed.assertDelivered(68);
  }

  /** libfabric's trywait did not look at the software queue. */
  @Test
  void required_A03_aSoftwareEventBetweenDrainAndSleepIsServed() {
    for (final Point point : Point.values()) {
      final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
      final int[] left = {2};
      bed.cq()
          .hook(
              at -> {
                if (at == point && left[0]-- > 0) {
                  bed.evd.postSoftwareEvent(point);
                }
              });
      bed.enable();
      bed.cq().notifyNow();
      bed.settle();
      assertThat(bed.payloads).containsExactly(point, point);
    }
  }

  /** siw looked at the arm, and cleared it after the consumer had armed anew. */
  @ParameterizedTest
  @EnumSource
  void required_A04_anArmThatTheProducerClearsIsMadeAgain(final SecondArm second) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK.withSecondArm(second), 3);
    final ScriptedCq cq = bed.cq();
    bed.enable();
    cq.addSilently(bed.qp().takeReceive());
    cq.notifyNow(); // the queue is polled for another reason, and armed
    bed.settle();
    bed.assertDelivered(1);
    assertThat(cq.isArmed()).isTrue();
    cq.loseArms();
    bed.complete(1); // finds no arm
    cq.notifyNow(); // of the first one
    bed.settle();
    bed.assertDelivered(2);
    assertThat(cq.isArmed()).isTrue();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(3);
  }

  /** IPoIB cannot poll once it has armed: what the arm returns must be enough to go on. */
  @ParameterizedTest
  @EnumSource
  void required_A02_aHintOfMissedCompletionsIsEnoughToGoOn(final ArmedAfterHint armed) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK.withHint(Hint.EXACT, armed), 2);
    final ScriptedCq cq = bed.cq();
    bed.enable();
    final boolean[] added = {false};
    cq.hook(
        point -> {
          if (point == Point.ARM && !added[0]) {
            added[0] = true;
            cq.addSilently(bed.qp().takeReceive());
          }
        });
    cq.notifyNow();
    assertThat(bed.jdapl.round()).isTrue();
    bed.assertDelivered(1);
    assertThat(bed.jdapl.round()).as("once is enough").isFalse();
    assertThat(cq.isArmed()).isTrue();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(2);
  }

  /** perftest got an event, armed, polled 16 of 32, and slept. */
  @Test
  void required_A05_moreCompletionsThanOneBatchAreAllDelivered() {
    for (final Behavior behavior : new Behavior[] {Behavior.WEAK, Behavior.STRONG}) {
      final ScriptedBed bed = new ScriptedBed(behavior, 33);
      bed.enable();
      bed.complete(32);
      bed.settle();
      bed.assertDelivered(32);
      bed.complete(1);
      bed.settle();
      bed.assertDelivered(33);
    }
  }

  /** bnxt_re of the kernel returns a hint and does not arm. */
  @Test
  void required_A02_aHintWithoutAnArmIsFollowedByAnArm() {
    for (final ArmedAfterHint armed :
        new ArmedAfterHint[] {ArmedAfterHint.NO, ArmedAfterHint.UNKNOWN}) {
      final ScriptedBed bed = new ScriptedBed(Behavior.WEAK.withHint(Hint.EXACT, armed), 4);
      final int[] late = {0};
      bed.cq()
          .hook(
              point -> {
                if (point == Point.ARM && late[0]++ == 0) {
                  bed.complete(1);
                }
              });
      bed.enable();
      bed.assertDelivered(1);
      assertThat(bed.cq().isArmed()).isTrue();
      late[0] = 0;
      bed.complete(1);
      bed.settle();
      bed.assertDelivered(3);
      bed.complete(1);
      bed.settle();
      bed.assertDelivered(4);
    }
  }

  /** After a disconnect with nothing outstanding a consumer waited for a completion, for ever. */
  @Test
  void required_T01_aDisconnectedEndpointWithNothingOutstandingClosesAtOnce() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.connect();
    bed.enable();
    bed.complete(2);
    bed.device.cmId(0).event(CmEventType.DISCONNECTED);
    bed.settle();
    bed.assertDelivered(2);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    assertThat(closed).as("without time").isCompleted();
    assertThat(closed.join().requests()).isEmpty();
  }

  /** A sender that only tried again made no progress, because nobody polled for it. */
  @Test
  void required_U04_requestsAreFreeAgainThoughTheConsumerOnlyPosts() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    bed.connect();
    bed.enable();
    final Segments message = new Segments(1).add(bed.lmr, 0, 8);
    for (int round = 0; round < 10; round++) {
      int accepted = 0;
      while (bed.endpoint.postSend(message, accepted, null, CompletionFlags.SUPPRESS)
          == Outcome.SUCCESS) {
        accepted++;
      }
      assertThat(accepted).as("in round %d", round).isPositive();
      bed.qp().completeSignaledSends();
      bed.settle();
    }
    assertThat(bed.cookies).as("all suppressed").isEmpty();
  }

  /** A post to a queue pair in error notifies on the poster's stack, who holds his own lock. */
  @Test
  void required_U02_aNotificationInsideAPostRunsNoUpcall() {
    final ReentrantLock consumersLock = new ReentrantLock();
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 8) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            assertThat(consumersLock.isHeldByCurrentThread()).as("on the poster's stack").isFalse();
            super.onCompletion(event);
          }
        };
    bed.enable();
    bed.qp().modifyToError();
    bed.settle();
    bed.assertDelivered(8);
    assertThat(bed.cq().isArmed()).isTrue();
    consumersLock.lock();
    try {
      bed.postReceives(bed.endpoint, 2);
      assertThat(bed.cq().isArmed()).as("it did notify").isFalse();
      bed.assertDelivered(8);
    } finally {
      consumersLock.unlock();
    }
    bed.settle();
    bed.assertDelivered(10);
  }

  /** The same, where the poster is a handler. */
  @Test
  void required_U02_aNotificationInsideAPostOfAnUpcallDoesNotNest() {
    final int[] depth = {0};
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 4) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            depth[0]++;
            assertThat(depth[0]).isOne();
            super.onCompletion(event);
            if (cookies.size() < 20) {
              postReceives(endpoint, 1);
            }
            depth[0]--;
          }
        };
    bed.enable();
    bed.qp().modifyToError();
    bed.settle();
    bed.assertDelivered(23);
  }

  /** An iterator of completions moved on twice at its end, and kept its lock when it failed. */
  @Test
  void required_P04_whatAPollTookBeforeItFailedIsHandedOutOnce() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
    bed.enable();
    final int[] failures = {2};
    bed.cq()
        .hook(
            point -> {
              if (point == Point.POLLED && failures[0]-- > 0) {
                throw new VerbsException(
                    "poll_cq", "cq", VerbsException.ENODEV, "as the test says");
              }
            });
    for (int i = 1; i <= 3; i++) {
      bed.complete(1);
      bed.pass(Duration.ofMillis(64));
      bed.assertDelivered(i);
    }
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    assertThat(closed).isCompleted();
    bed.evd.close();
    bed.assertDelivered(4); // the last one was flushed
  }

  /** UCX removed a handler inside that handler, and went on with what it had removed. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DISABLED")
  void required_T07_anEvdThatIsClosedInItsUpcallIsClosedWhenThatReturned(
      final UpcallPolicy policy) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    bed.endpoint.close();
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    final Runnable upcall =
        () -> {
          closes.add(bed.evd.closeAsync(Duration.ofSeconds(1)).toCompletableFuture());
          bed.evd.close();
          final boolean unused = ((IaImpl) bed.ia).reaper().round(); // as its thread might
          assertThat(closes.get(0)).as("while its upcall runs").isNotDone();
          assertThat(bed.cq().isClosed()).as("its queue, while its upcall runs").isFalse();
        };
    assertThat(bed.evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    assertThat(bed.evd.postSoftwareEvent(2)).isEqualTo(Outcome.SUCCESS);
    if (policy == UpcallPolicy.NOTIFY) {
      bed.evd.notifyOnce(evd -> upcall.run(), Invoke.ON_ANY);
    } else {
      bed.evd.upcall(
          InterceptedBed.on(event -> upcall.run()),
          policy == UpcallPolicy.MANY ? Concurrency.many(2) : Concurrency.SINGLE_INSTANCE,
          Invoke.ON_ANY);
    }
    bed.settle();
    assertThat(closes).as("one upcall").singleElement().matches(CompletableFuture::isDone);
    assertThat(bed.cq().isClosed()).isTrue();
    assertThat(closes.get(0).join().events())
        .as("the rest is in the report")
        .hasSize(policy == UpcallPolicy.NOTIFY ? 2 : 1);
  }

  /** A queue pair with one completion queue for both directions was cleaned up twice. */
  @Test
  void required_T05_aQueuePairWithOneQueueForBothDirectionsIsSweptOnce() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 3);
    bed.connect();
    assertThat(bed.qp().sendCq()).isSameAs(bed.qp().recvCq());
    final Endpoint second = bed.createEndpoint(bed.evd, 3);
    assertThatThrownBy(() -> bed.createEndpoint(bed.evd, 3))
        .as("full with %s", second)
        .isInstanceOf(DatException.class);
    for (long cookie = 3; cookie < 5; cookie++) {
      assertThat(bed.endpoint.postSend(bed.lmr, 0, 8, cookie)).isEqualTo(Outcome.SUCCESS);
    }
    bed.complete(1);
    bed.qp().completeSends(1);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::cookie)
        .containsExactly(ScriptedBed.upTo(5));
    assertThat(bed.evd.statistics().dropped()).isZero();
    final Endpoint third = bed.createEndpoint(bed.evd, 3);
    assertThat(third.state()).isEqualTo(EndpointState.UNCONNECTED);
    assertThatThrownBy(() -> bed.createEndpoint(bed.evd, 3))
        .as("the room came back once")
        .isInstanceOf(DatException.class);
  }

  /** An event loop without a bound: one source that never runs dry, and another. */
  @Test
  void required_U11_aQueueThatNeverRunsDryStarvesNoOther() {
    final ScriptedBed[] endless = {null};
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 32) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            super.onCompletion(event);
            if (event.endpoint() == endpoint && endless[0] != null) {
              postReceives(endpoint, 1);
              qp().completeReceives(1);
            }
          }
        };
    endless[0] = bed;
    final Evd other = bed.createEvd(8);
    final Endpoint poor = bed.createEndpoint(other, 1);
    final ScriptedQp poorQp = bed.device.qp(1);
    final CountingHandler counted = new CountingHandler();
    other.upcall(counted);
    bed.settle();

    bed.evd.upcall(bed);
    bed.complete(20);
    for (int round = 1; round <= 10; round++) {
      assertThat(poor.postReceive(bed.lmr, 0, 8, round)).isEqualTo(Outcome.SUCCESS);
      poorQp.completeReceives(1);
      bed.jdapl.round();
      assertThat(counted.count).as("served within one round").isEqualTo(round);
      assertThat(bed.cookies).as("a budget a round").hasSize(64 * round);
    }
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    endless[0] = null;
    bed.settle();
    assertThat(closed).isCompleted();
    bed.evd.close();
    assertThat(bed.cookies)
        .containsExactlyElementsOf(LongStream.range(0, bed.cookies.size()).boxed().toList());
  }

  private static final class CountingHandler implements EventHandler {
    private int count;

    @Override
    public void onCompletion(final DtoCompletion event) {
      count++;
    }
  }

  /** The same, where the one that never runs dry is a chain of software events. */
  @Test
  void required_U11_softwareEventsThatNeverRunDryStarveNoCompletion() {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 8) {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            evd.postSoftwareEvent(event.payload());
          }
        };
    bed.evd.upcall(bed);
    bed.evd.postSoftwareEvent("again");
    bed.complete(8);
    bed.jdapl.round();
    bed.assertDelivered(8);
    assertThat(bed.jdapl.round()).isTrue();
    bed.evd.teardown();
    bed.settle();
  }
}
