package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Hint;
import org.jdapl.evd.ScriptedDevice.Point;
import org.jdapl.evd.ScriptedDevice.ScriptedCq;
import org.jdapl.evd.ScriptedDevice.ScriptedQp;
import org.jdapl.evd.ScriptedDevice.Wc;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A provider that misbehaves, and completions of queue pairs that are gone. */
@ExtendWith(HandBed.Closing.class)
class ProviderFaultContractTest {

  private static final int ENOUGH = 10_000;

  private static DrainReport close(final ScriptedBed bed, final Endpoint endpoint) {
    final CompletableFuture<DrainReport> closed =
        endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    if (!closed.isDone()) {
      bed.pass(Duration.ofSeconds(1));
    }
    assertThat(closed).isCompleted();
    return closed.join();
  }

  private static List<Long> reported(final DrainReport report, final DrainReport.Status status) {
    return report.requests().stream()
        .filter(request -> request.status() == status)
        .map(DrainReport.Request::cookie)
        .toList();
  }

  private static void assertFault(final ScriptedBed bed) {
    assertThat(bed.faults())
        .singleElement()
        .asString()
        .startsWith("PROVIDER_INTERNAL_ERROR: " + bed.evd.name());
  }

  // P04: more than asked for

  /** bnxt_re returned more completions than asked for, beyond the end of the buffer. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4, 16, 35})
  void required_P04_moreCompletionsThanAskedForAreDeliveredAndReported(final int surplus) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 60);
    bed.cq().returnMore(surplus);
    bed.complete(50);
    bed.enable();
    bed.pass(Duration.ofMillis(64));
    bed.assertDelivered(50);
    assertFault(bed);
    bed.complete(1);
    bed.pass(Duration.ofMillis(64));
    bed.assertDelivered(51);
    assertThat(bed.cq().overlaps()).isZero();
  }

  @Test
  void required_P04_moreCompletionsThanABatchHoldsAreReportedAndNoneIsLost() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 60);
    bed.cq().returnMore(1000);
    bed.complete(50);
    bed.enable();
    assertFault(bed);
    bed.pass(Duration.ofMillis(64));
    bed.assertDelivered(50);
    bed.complete(1);
    bed.pass(Duration.ofMillis(64));
    bed.assertDelivered(51);
  }

  @Test
  void required_P04_aPollThatSaysMoreThanItReturnsDoesNotHangTheTurn() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 60);
    final int[] polls = {0};
    bed.cq()
        .hook(
            point -> {
              if (point == Point.ARMED && polls[0] == 1) {
                bed.complete(16); // the look fills the batch: plain poll until empty
              } else if (point == Point.POLL && ++polls[0] == 3) {
                bed.cq().pretendMore(1);
              } else if (polls[0] > ENOUGH) {
                bed.cq().pretendMore(0);
              }
            });
    bed.enable();
    bed.assertDelivered(16);
    assertThat(polls[0]).isLessThan(100);
  }

  // P04: ids

  static Stream<Long> unknownIds() {
    return Stream.of(-1L, 0L, 1L, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 25, 0xFFFL << 25, 1L << 60);
  }

  @ParameterizedTest
  @MethodSource("unknownIds")
  void required_P04_unknownIdsAreLeftOutAndCounted(final long id) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
    bed.enable();
    bed.complete(1);
    for (final WcStatus status : WcStatus.values()) {
      bed.cq().add(new Wc(id, status, null, 0, bed.qp().number(), 0));
    }
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(2);
    assertThat(bed.evd.statistics().dropped()).isEqualTo(WcStatus.values().length);
    bed.complete(2);
    bed.settle();
    bed.assertDelivered(4);
  }

  @Test
  void required_P04_anIdThatWasNotPostedYetIsLeftOut() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
    bed.enable();
    final long last = bed.qp().receiveId(3);
    bed.cq().add(Wc.success(last + 1, WcOpcode.RECV, 1));
    bed.complete(4);
    bed.settle();
    bed.assertDelivered(4);
    assertThat(bed.evd.statistics().dropped()).isOne();
  }

  @Test
  void required_P04_aRequestCompletesOnceHoweverOftenTheProviderSaysSo() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 8);
    bed.enable();
    for (int i = 0; i < 4; i++) {
      final Wc completion = bed.qp().takeReceive();
      for (int times = 0; times < 3; times++) {
        bed.cq().add(completion);
      }
      bed.cq().add(new Wc(completion.wrId(), WcStatus.GENERAL_ERR, null, 0, 0, 0));
    }
    bed.settle();
    bed.assertDelivered(4);
    assertThat(bed.evd.statistics().dropped()).isEqualTo(12);
    bed.complete(4);
    bed.settle();
    bed.assertDelivered(8);
  }

  @Test
  void required_P04_eachRequestHasOneOutcomeThoughTheProviderReorders() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
    bed.enable();
    final Wc first = bed.qp().takeReceive();
    final Wc second = bed.qp().takeReceive();
    bed.complete(1);
    bed.cq().add(first);
    bed.cq().add(second);
    bed.settle();
    assertThat(bed.cookies).containsExactly(2L);
    final DrainReport report = close(bed, bed.endpoint);
    assertThat(bed.cookies).containsExactly(2L, 3L);
    assertThat(reported(report, DrainReport.Status.UNKNOWN)).containsExactly(0L, 1L);
    assertThat(report.requests()).hasSize(2);
  }

  @Test
  void required_P04_aCompletionInTheQueueOfAnotherEvdIsLeftOut() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final Evd requests = bed.createEvd(16);
    final Endpoint endpoint =
        bed.ia.createEndpoint(
            bed.pz,
            bed.evd,
            requests,
            bed.connectEvd,
            EndpointAttributes.defaults().withMaxDtos(1, 4));
    endpoint.connect(bed.ia.address(), 1, Duration.ofSeconds(1), null);
    bed.enable();
    for (int i = 0; i < 2; i++) {
      assertThat(endpoint.postSend(bed.lmr, 0, 8, 100 + i)).isEqualTo(Outcome.SUCCESS);
    }
    final ScriptedQp qp = bed.device.qp(1);
    assertThat(qp.sendCq()).isNotSameAs(qp.recvCq());
    final Wc send = qp.takeSend();
    qp.recvCq().add(send);
    bed.settle();
    assertThat(bed.cookies).as("a send at the EVD of receives").isEmpty();
    qp.sendCq().add(send);
    qp.completeSends(1);
    requests.upcall(bed);
    bed.settle();
    assertThat(bed.cookies).containsExactly(100L, 101L);
  }

  @Test
  void required_U11_completionsThatAreLeftOutUseUpTheBudgetToo() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    bed.enable();
    final ScriptedCq cq = bed.cq();
    final Wc unknown = Wc.success(-1, WcOpcode.RECV, 1);
    final int[] polls = {0};
    cq.hook(
        point -> {
          if (point == Point.POLL && ++polls[0] < ENOUGH) {
            for (int i = cq.size(); i < CqFeed.BATCH; i++) {
              cq.addSilently(unknown);
            }
          }
        });
    cq.add(unknown);
    bed.jdapl.round();
    assertThat(polls[0]).as("polls of one turn").isLessThan(100);
  }

  /** What is left out is bounded for one turn; what comes behind it must not be forgotten. */
  @ParameterizedTest
  @ValueSource(ints = {15, 16, 63, 64, 65, 127, 128, 129, 500})
  void required_U03_whatIsBehindCompletionsThatAreLeftOutIsDelivered(final int leftOut) {
    for (final Concurrency concurrency :
        List.of(Concurrency.SINGLE_INSTANCE, Concurrency.many(2))) {
      final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
      for (int i = 0; i < leftOut; i++) {
        bed.cq().add(Wc.success(-1, WcOpcode.RECV, 1));
      }
      bed.complete(2);
      bed.evd.upcall(bed, concurrency, Invoke.ON_ANY);
      bed.settle();
      bed.assertDelivered(2);
      for (int i = 0; i < leftOut; i++) {
        bed.cq().add(Wc.success(-1, WcOpcode.RECV, 1));
      }
      bed.complete(1);
      bed.settle();
      bed.assertDelivered(3);
      bed.complete(1);
      bed.settle();
      bed.assertDelivered(4);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 16, 63, 64, 65, 127, 128, 129, 500})
  void required_U03_whatIsBehindCompletionsThatAreLeftOutIsDequeued(final int leftOut) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    for (int i = 0; i < leftOut; i++) {
      bed.cq().add(Wc.success(-1, WcOpcode.RECV, 1));
    }
    bed.complete(2);
    assertThat(bed.evd.drain(bed, 10)).isEqualTo(2);
    bed.assertDelivered(2);
  }

  // P04: garbage on errors

  @ParameterizedTest
  @EnumSource(value = WcStatus.class, names = "SUCCESS", mode = EnumSource.Mode.EXCLUDE)
  void required_P04_onErrorsOnlyTheIdIsBelieved(final WcStatus status) {
    final List<DtoCompletion> events = new ArrayList<>();
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 2) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            super.onCompletion(event);
            events.add(event.copy());
          }
        };
    bed.connect();
    bed.enable();
    assertThat(bed.endpoint.postSend(bed.lmr, 0, 16, 77)).isEqualTo(Outcome.SUCCESS);
    final long receive = bed.qp().takeReceive().wrId();
    final long send = bed.qp().takeSend().wrId();
    bed.cq().add(new Wc(receive, status, WcOpcode.SEND, -7, 0xDEAD, 123));
    bed.cq().add(new Wc(send, status, null, Integer.MAX_VALUE, -1, -5));
    bed.settle();
    assertThat(events).as("what is open besides is flushed").hasSizeGreaterThanOrEqualTo(2);
    assertThat(events.get(0).operation()).isEqualTo(DtoOperation.RECEIVE);
    assertThat(events.get(0).cookie()).isZero();
    assertThat(events.get(0).transferredLength()).isZero();
    assertThat(events.get(0).vendorError()).isEqualTo(123);
    assertThat(events.get(1).operation()).isEqualTo(DtoOperation.SEND);
    assertThat(events.get(1).cookie()).isEqualTo(77);
    assertThat(events.get(1).transferredLength()).isZero();
    for (final DtoCompletion event : events) {
      assertThat(event.status()).isNotEqualTo(DtoStatus.SUCCESS);
      assertThat(event.endpoint()).isSameAs(bed.endpoint);
    }
  }

  // P04: exceptions

  static Stream<Supplier<? extends Throwable>> failures() {
    return Stream.concat(
        Stream.of(
            () -> new VerbsException("poll_cq", "cq", VerbsException.ENODEV, "as the test says")),
        Stream.of(Unexpected.values()).map(kind -> () -> kind.of("as the test says")));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void required_P04_anExceptionOutOfPollIsReportedAndNothingIsLost(
      final Supplier<? extends Throwable> failure) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 20);
    bed.enable();
    bed.complete(18);
    for (int i = 0; i < 3; i++) {
      bed.cq().failPoll(failure);
    }
    bed.settle();
    assertFault(bed);
    bed.pass(Duration.ofMillis(1));
    assertFault(bed);
    bed.pass(Duration.ofMillis(2));
    assertFault(bed);
    assertThat(bed.cookies).isEmpty();
    bed.pass(Duration.ofMillis(4));
    bed.assertDelivered(18);
    assertThat(bed.faults()).isEmpty();
    bed.complete(2);
    bed.settle();
    bed.assertDelivered(20);
  }

  @ParameterizedTest
  @MethodSource("failures")
  void required_P04_anExceptionOutOfArmIsReportedAndNothingIsLost(
      final Supplier<? extends Throwable> failure) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 20);
    bed.enable();
    bed.cq().failArm(failure);
    bed.cq().failArm(failure);
    bed.complete(3);
    bed.settle();
    bed.assertDelivered(3);
    assertFault(bed);
    bed.complete(1);
    for (int i = 0; i < 3; i++) {
      bed.pass(Duration.ofMillis(4));
    }
    bed.assertDelivered(4);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(5);
  }

  /** While it fails it leaves a thread behind that spins. */
  @Test
  void required_P04_anErrorWhileEnablingOnNewDoesNotKeepTheTurn() throws InterruptedException {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.complete(1);
    bed.cq().failPoll(() -> new UnsatisfiedLinkError("as the test says"));
    final Throwable thrown =
        catchThrowable(() -> bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW));
    if (thrown != null) {
      assertThat(thrown).isInstanceOf(UnsatisfiedLinkError.class);
    }
    final Thread user =
        new Thread(
            () -> {
              bed.evd.teardown();
              bed.pass(Duration.ofMillis(1));
              bed.evd.drain(bed, 10);
            },
            "uses it by hand");
    user.setDaemon(true);
    user.start();
    user.join(Duration.ofMinutes(1).toMillis());
    assertThat(user.isAlive()).isFalse();
    bed.assertDelivered(1);
  }

  @ParameterizedTest
  @MethodSource("failures")
  void required_P04_anExceptionInADequeueIsReportedAndNothingIsLost(
      final Supplier<? extends Throwable> failure) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.complete(1);
    bed.cq().failPoll(failure);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    assertFault(bed);
    bed.pass(Duration.ofMillis(1));
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
    bed.assertDelivered(1);
  }

  @Test
  void required_P04_faultsOfOneEvdAreCountedIntoOneEvent() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    for (int i = 0; i < 10; i++) {
      bed.cq().failPoll(() -> new IllegalStateException("as the test says"));
    }
    bed.enable();
    for (int i = 0; i < 20; i++) {
      bed.pass(Duration.ofMillis(64));
    }
    assertFault(bed);
  }

  // P04: late notifications

  @Test
  void required_P04_notificationsAfterTheCloseDoNothing() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.enable();
    close(bed, bed.endpoint);
    bed.evd.close();
    assertThat(bed.cq().isClosed()).isTrue();
    final int calls = bed.cq().calls();
    final int delivered = bed.cookies.size();
    bed.cq().add(Wc.success(0, WcOpcode.RECV, 1));
    for (int i = 0; i < 100; i++) {
      bed.cq().notifyNow();
    }
    bed.settle();
    bed.pass(Duration.ofSeconds(10));
    assertThat(bed.cq().calls()).isEqualTo(calls);
    assertThat(bed.cookies).hasSize(delivered);
    assertThatThrownBy(() -> bed.evd.dequeue(bed)).isInstanceOf(DatException.class);
    assertThat(bed.faults()).isEmpty();
  }

  @Test
  void required_P04_theTimerOfAClosedEvdDoesNothing() {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK.withHint(Hint.ALWAYS, ArmedAfterHint.NO), 1);
    bed.enable();
    close(bed, bed.endpoint);
    bed.evd.close();
    final int calls = bed.cq().calls();
    bed.pass(Duration.ofSeconds(1));
    assertThat(bed.cq().calls()).isEqualTo(calls);
  }

  // T05, M05

  private static long slot(final long wrId) {
    return (wrId >>> WorkQueue.TAG_SHIFT) & 0xFFFFF;
  }

  private static void leaveBehind(final ScriptedBed bed, final List<Wc> completions) {
    completions.forEach(bed.cq()::add);
  }

  @Test
  void required_T05_completionsOfADestroyedQueuePairNeverBlockThoseBehindThem() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 8);
    final List<Wc> old = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      old.add(Wc.success(bed.qp().receiveId(i), WcOpcode.RECV, bed.qp().number()));
    }
    final DrainReport report = close(bed, bed.endpoint);
    assertThat(reported(report, DrainReport.Status.FLUSHED)).containsExactly(ScriptedBed.upTo(8));
    leaveBehind(bed, old);

    final Endpoint next = bed.createEndpoint(bed.evd, 8);
    bed.postReceives(next, 8);
    assertThat(bed.device.qp(1).number()).as("reused").isEqualTo(bed.qp().number());
    assertThat(slot(bed.device.qp(1).receiveId(0))).as("too").isEqualTo(slot(old.get(0).wrId()));
    bed.device.qp(1).completeReceives(2);
    leaveBehind(bed, old);
    bed.device.qp(1).completeReceives(2);
    bed.enable();
    assertThat(bed.cookies).containsExactly(8L, 9L, 10L, 11L);
    assertThat(bed.evd.statistics().dropped()).isEqualTo(16);
    bed.device.qp(1).completeReceives(4);
    bed.settle();
    assertThat(bed.cookies).hasSize(8);
  }

  @Test
  void required_M05_whatADeadEndpointLeftIsNeverANewOnes() {
    for (int generation = 0; generation < 40; generation++) {
      final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutFlush(), 4);
      bed.enable();
      final List<Wc> late = new ArrayList<>();
      Endpoint endpoint = bed.endpoint;
      for (int i = 0; i < 5; i++) {
        final ScriptedQp qp = bed.device.qp(i);
        for (int open = 0; open < qp.openReceives(); open++) {
          late.add(Wc.flushed(qp.receiveId(open), qp.number()));
        }
        final DrainReport report = close(bed, endpoint);
        assertThat(reported(report, DrainReport.Status.UNKNOWN)).hasSize(4);
        leaveBehind(bed, late);
        bed.settle();
        assertThat(bed.cookies).isEmpty();
        endpoint = bed.createEndpoint(bed.evd, 4);
        bed.postReceives(endpoint, 4);
        leaveBehind(bed, late);
        bed.settle();
        assertThat(bed.cookies).isEmpty();
      }
      bed.device.qp(5).completeReceives(4);
      bed.settle();
      assertThat(bed.cookies).containsExactly(20L, 21L, 22L, 23L);
    }
  }

  @Test
  void required_T05_aCloseTakesItsOwnOutOfTheStashAndLeavesTheOthers() {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 8) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            super.onCompletion(event);
            if (cookies.size() == 2) {
              evd.disable();
            }
          }
        };
    final Endpoint other = bed.createEndpoint(bed.evd, 8);
    bed.postReceives(other, 8);
    for (int i = 0; i < 6; i++) {
      bed.complete(1);
      bed.device.qp(1).completeReceives(1);
    }
    bed.enable();
    assertThat(bed.cookies).containsExactly(0L, 8L);
    final DrainReport report = close(bed, bed.endpoint);
    assertThat(reported(report, DrainReport.Status.SUCCESS)).containsExactly(1L, 2L, 3L, 4L, 5L);
    assertThat(reported(report, DrainReport.Status.FLUSHED)).containsExactly(6L, 7L);
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(5);
    assertThat(bed.cookies).containsExactly(0L, 8L, 9L, 10L, 11L, 12L, 13L);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void required_M03_anEndThatNothingShowsTheWayIsHandedOutAtItsBoundAndCounted(
      final boolean flushes) {
    final ScriptedDevice device = new ScriptedDevice(Behavior.WEAK);
    final ScriptedBed bed = new ScriptedBed(flushes ? device : device.withoutFlush(), 1);
    final Evd shared = bed.ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
    final List<ConnectionEvent.Kind> kinds = new ArrayList<>();
    shared.upcall(
        new EventHandler() {
          @Override
          public void onConnection(final ConnectionEvent event) {
            kinds.add(event.kind());
          }

          @Override
          public void onCompletion(final DtoCompletion event) {}
        });
    final Endpoint endpoint =
        bed.ia.createEndpoint(bed.pz, shared, EndpointAttributes.defaults().withMaxDtos(4, 4));
    bed.postReceives(endpoint, 4);
    endpoint.connect(bed.ia.address(), 1, Duration.ofSeconds(1), null);
    bed.settle();
    endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
    bed.settle();
    bed.pass(Duration.ofMillis(1999));
    assertThat(kinds).hasSize(flushes ? 2 : 1);
    bed.pass(Duration.ofMillis(1));
    assertThat(kinds)
        .containsExactly(ConnectionEvent.Kind.ESTABLISHED, ConnectionEvent.Kind.DISCONNECTED);
    assertThat(shared.statistics().overdueEnds()).isEqualTo(flushes ? 0 : 1);
  }

  // M02: what a device says too late

  private static EventHandler seeing(final List<Object> seen) {
    return new EventHandler() {
      @Override
      public void onConnection(final ConnectionEvent event) {
        seen.add(event.kind());
      }

      @Override
      public void onCompletion(final DtoCompletion event) {
        seen.add(event.status() == DtoStatus.SUCCESS ? event.cookie() : event.status());
      }
    };
  }

  @Test
  void required_M02_theActiveSideHoldsCompletionsBackUntilItsBoundAndIsBrokenThen() {
    final InterceptedBed bed = new InterceptedBed();
    final List<Object> seen = new ArrayList<>();
    bed.endpoint.postReceive(bed.lmr, 0, 8, 7);
    bed.endpoint.postReceive(bed.lmr, 0, 8, 8);
    bed.evd.upcall(seeing(seen));
    bed.connect(bed.endpoint);
    bed.provider.receive(0);
    bed.settle();
    bed.clock.advance(Duration.ofMillis(1999));
    bed.settle();
    assertThat(seen).as("the answer may still come").isEmpty();

    bed.clock.advance(Duration.ofMillis(1));
    bed.settle();
    bed.provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();

    assertThat(seen)
        .startsWith(ConnectionEvent.Kind.ESTABLISHED, 7L)
        .containsOnlyOnce(ConnectionEvent.Kind.BROKEN, DtoStatus.ERR_FLUSHED)
        .hasSize(4);
  }

  /** The device's own comes after the completion, or while that is polled. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_M02_thePassiveSideHandsOutEstablishedOnceThoughACompletionComesFirst(
      final boolean whilePolling) {
    final InterceptedBed bed = new InterceptedBed();
    final List<Object> seen = new ArrayList<>();
    final List<ConnectionRequest> requests = new ArrayList<>();
    bed.ia.createPsp(1, bed.evd);
    bed.endpoint.postReceive(bed.lmr, 0, 8, 7);
    bed.evd.upcall(
        new EventHandler() {
          @Override
          public void onRequest(final ConnectionRequestEvent event) {
            requests.add(event.request());
          }
        });
    bed.provider.ask();
    bed.settle();
    requests.get(0).accept(bed.endpoint, null);
    bed.evd.upcall(seeing(seen));
    final List<String> verbs = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (verb.equals("poll_cq") && whilePolling && !verbs.contains(verb)) {
            bed.provider.tell(CmEventType.ESTABLISHED, 0);
          }
          verbs.add(verb);
        };

    bed.provider.receive(0);
    bed.settle();
    if (!whilePolling) {
      bed.provider.tell(CmEventType.ESTABLISHED, 0);
      bed.settle();
    }

    assertThat(seen).containsExactly(ConnectionEvent.Kind.ESTABLISHED, 7L);
    assertThat(verbs.contains("rdma_notify")).as("the device is told").isNotEqualTo(whilePolling);
  }

  // P04: verbs of the connection manager

  /** A completion makes ESTABLISHED be handed out ahead of it, and the device is told of that. */
  @Test
  void required_P04_anExceptionOutOfNotifyIsReportedAndNothingIsLost() {
    final InterceptedBed bed = new InterceptedBed();
    final List<Object> seen = new ArrayList<>();
    bed.ia.createPsp(1, bed.evd);
    bed.endpoint.postReceive(bed.lmr, 0, 8, 7);
    bed.evd.upcall(
        new EventHandler() {
          @Override
          public void onRequest(final ConnectionRequestEvent event) {
            event.request().accept(bed.endpoint, null);
          }

          @Override
          public void onConnection(final ConnectionEvent event) {
            seen.add(event.kind());
          }

          @Override
          public void onCompletion(final DtoCompletion event) {
            seen.add(event.cookie());
          }
        });
    bed.provider.ask();
    bed.settle();
    bed.provider.refuse("rdma_notify");

    bed.provider.receive(0);
    bed.settle();

    assertThat(seen).containsExactly(ConnectionEvent.Kind.ESTABLISHED, 7L);
    assertThat(bed.evd.statistics().faults()).isOne();
  }

  @Test
  void required_P04_aGracefulDisconnectEndsThoughItsMarkerCannotBePosted() {
    final InterceptedBed bed = new InterceptedBed();
    final List<Object> seen = new ArrayList<>();
    bed.evd.upcall(seeing(seen));
    bed.connected();
    assertThat(bed.endpoint.postSend(bed.lmr, 0, 8, 7)).isEqualTo(Outcome.SUCCESS);
    bed.provider.hook =
        verb -> {
          if (verb.equals("post_send")) {
            bed.provider.hook = next -> {};
            throw InterceptedProvider.refused(verb);
          }
        };

    bed.endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
    bed.settle();

    assertThat(seen)
        .containsExactly(ConnectionEvent.Kind.ESTABLISHED, 7L, ConnectionEvent.Kind.DISCONNECTED);
  }

  // P04: what a provider throws at the end

  @ParameterizedTest
  @EnumSource
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void required_P04_whatDestroyThrowsIsReportedAndTheCloseEnds(final Unexpected failure) {
    final InterceptedBed bed = new InterceptedBed();
    bed.provider.hook =
        verb -> {
          if (verb.startsWith("de") || verb.startsWith("close")) {
            failure.accept(verb);
          }
        };
    final CompletableFuture<DrainReport> endpointClosed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();
    final CompletableFuture<DrainReport> evdClosed =
        bed.evd.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();

    assertThat(endpointClosed).isCompleted();
    assertThat(evdClosed).isCompleted();
    assertThat(bed.evd.statistics().faults()).isEqualTo(2);
    bed.ia.closeAbruptly(Duration.ofSeconds(1)); // which has a zone, a region and the device left
  }

  @Test
  void required_P04_aPostThatThrowsIsNotOpen() {
    final InterceptedBed bed = new InterceptedBed();
    bed.provider.refuse("post_recv");
    for (int i = 0; i < 10; i++) { // more than the endpoint may have
      assertThatThrownBy(() -> bed.endpoint.postReceive(bed.lmr, 0, 8, 1))
          .isInstanceOf(DatException.class);
    }
    bed.provider.hook = verb -> {};
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 2)).isEqualTo(Outcome.SUCCESS);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::cookie)
        .containsExactly(2L);
  }
}
