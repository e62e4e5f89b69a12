package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class CompletionQueueTest {

  private final SimFabric fabric = SimFabric.virtual(31).keepTrace();
  private Side a;
  private Side b;

  private void connect(final SimModel model) {
    a = new Side(fabric);
    b = new Side(fabric, model);
    a.connect(b);
    for (int i = 0; i < Side.WR; i++) {
      b.postRecv(i, 0, 8);
    }
  }

  /** Puts a completion into b's receive queue, and lets all happen that follows. */
  private void complete() {
    a.postSend(1, 0, 8);
    a.settle();
  }

  private void completeSolicited() {
    final SendRequest send = a.request(WrOpcode.SEND, 1, 0, 8);
    send.solicited = true;
    a.post(send);
    a.settle();
  }

  private int notifications() {
    return b.recvNotifications.get();
  }

  @Test
  void shouldNotNotifyWhenNotArmed() {
    connect(SimModel.DEFAULT);
    complete();
    assertThat(notifications()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void shouldNotifyOnceWhenArmedBeforeTheCompletion(final ArmModel model) {
    connect(SimModel.DEFAULT.withArm(model));
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    complete();
    complete();
    assertThat(notifications()).isEqualTo(1);
  }

  // hint returned for an empty queue, and for one that holds a completion; notified by the latter
  @ParameterizedTest
  @CsvSource({
    "WEAK,   NONE,        0, 0, 0",
    "WEAK,   EXACT,       0, 1, 0",
    "WEAK,   WITHOUT_ARM, 0, 1, 0",
    "STRONG, NONE,        0, 0, 1",
    "STRONG, EXACT,       0, 1, 1",
    "STRONG, WITHOUT_ARM, 0, 1, 0",
  })
  void shouldDoAsTheTableSaysWhenArmed(
      final ArmModel model,
      final SimModel.Hint hint,
      final int whenEmpty,
      final int whenNot,
      final int notified) {
    connect(SimModel.DEFAULT.withArm(model).withHint(hint));
    complete();
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isEqualTo(whenNot);
    a.settle();
    assertThat(notifications()).isEqualTo(notified);
    complete();
    final boolean armed = hint != SimModel.Hint.WITHOUT_ARM;
    assertThat(notifications()).as("armed, or notified already").isEqualTo(armed ? 1 : 0);
    assertThat(b.receives()).hasSize(2);
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isEqualTo(whenEmpty);
    complete();
    assertThat(notifications()).isEqualTo(armed ? 2 : 1);
  }

  @Test
  void shouldErrBothWaysWhenTheHintIsMaybe() {
    connect(SimModel.DEFAULT.withHint(SimModel.Hint.MAYBE).withSecondArm(SecondArm.IGNORED));
    final List<Integer> whenEmpty = new ArrayList<>();
    final List<Integer> whenNot = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      whenEmpty.add(b.recvCq.arm(ArmKind.NEXT));
    }
    complete();
    assertThat(notifications()).isEqualTo(1);
    for (int i = 0; i < 64; i++) {
      whenNot.add(b.recvCq.arm(ArmKind.NEXT));
    }
    assertThat(whenEmpty).contains(0, 1);
    assertThat(whenNot).contains(0, 1);
  }

  @Test
  void shouldBeWeakOrStrongByChanceWhenUnknown() {
    connect(SimModel.DEFAULT.withArm(ArmModel.UNKNOWN).withSecondArm(SecondArm.IGNORED));
    int strong = 0;
    for (int i = 0; i < 12; i++) {
      complete();
      final int before = notifications();
      assertThat(b.recvCq.arm(ArmKind.NEXT)).isEqualTo(1);
      a.settle();
      strong += notifications() - before;
      if (notifications() == before) {
        complete(); // ends the arm
        assertThat(b.receives()).hasSize(2);
        assertThat(notifications()).isEqualTo(before + 1);
        b.postRecv(0, 0, 8);
      } else {
        assertThat(b.receives()).hasSize(1);
      }
      b.postRecv(0, 0, 8);
      assertThat(a.sends()).isNotEmpty();
    }
    assertThat(strong).isBetween(1, 11);
  }

  @ParameterizedTest
  @CsvSource({"IGNORED, 1", "COUNTED, 2", "OVERWRITES, 1"})
  void shouldDoAsDeclaredWhenArmedTwice(final SecondArm model, final int notified) {
    connect(SimModel.DEFAULT.withSecondArm(model));
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    for (int i = 0; i < 4; i++) {
      complete();
    }
    assertThat(notifications()).isEqualTo(notified);
  }

  @ParameterizedTest
  @CsvSource({"IGNORED, 1", "COUNTED, 1", "OVERWRITES, 0"})
  void shouldWeakenTheFirstOnlyWhenTheSecondOverwrites(final SecondArm model, final int notified) {
    connect(SimModel.DEFAULT.withSecondArm(model));
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    assertThat(b.recvCq.arm(ArmKind.SOLICITED)).isZero();
    complete();
    assertThat(notifications()).isEqualTo(notified);
  }

  @Test
  void shouldIgnoreTheArmWhenTheNotificationIsInFlight() {
    connect(SimModel.DEFAULT.withSecondArm(SecondArm.IGNORED).withLatency(5_000, 5_000));
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    a.postSend(1, 0, 8);
    a.until(() -> !b.receives().isEmpty());
    assertThat(notifications()).isZero();
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    a.settle();
    assertThat(notifications()).isEqualTo(1);
    complete();
    assertThat(notifications()).as("the arm in flight was nothing").isEqualTo(1);
  }

  @Test
  void shouldNotifyOfSolicitedReceivesOnlyWhenAskedForThem() {
    connect(SimModel.DEFAULT);
    assertThat(b.recvCq.arm(ArmKind.SOLICITED)).isZero();
    complete();
    assertThat(notifications()).isZero();
    completeSolicited();
    assertThat(notifications()).isEqualTo(1);
  }

  @ParameterizedTest
  @CsvSource({"FULL, 1", "NO_ERRORS, 0"})
  void shouldCountErrorsAsSolicitedWhenSupportIsFull(
      final SolicitedSupport support, final int notified) {
    connect(SimModel.DEFAULT.withSolicited(support));
    assertThat(b.recvCq.arm(ArmKind.SOLICITED)).isZero();
    b.qp.modifyToError();
    a.settle();
    assertThat(notifications()).isEqualTo(notified);
  }

  @Test
  void shouldRefuseSolicitedArmsWhenUnsupported() {
    connect(SimModel.DEFAULT.withSolicited(SolicitedSupport.UNSUPPORTED));
    assertThatThrownBy(() -> b.recvCq.arm(ArmKind.SOLICITED)).isInstanceOf(VerbsException.class);
  }

  private RearmOutcome pollAndRearm(final int max, final int found) {
    final WorkCompletions batch = new WorkCompletions(max);
    final RearmOutcome outcome = b.recvCq.pollAndRearm(batch, max, ArmKind.NEXT);
    assertThat(batch.size()).isEqualTo(found);
    return outcome;
  }

  @Test
  void shouldRearmInOneStepWhenNative() {
    connect(SimModel.DEFAULT);
    assertThat(pollAndRearm(4, 0)).isEqualTo(RearmOutcome.NOT_DONE);
    complete();
    assertThat(notifications()).isEqualTo(1);
    complete();
    complete();
    assertThat(pollAndRearm(2, 2)).isEqualTo(RearmOutcome.SUCCESS);
    complete();
    assertThat(notifications()).as("not armed").isEqualTo(1);
    assertThat(pollAndRearm(2, 2))
        .as("as many as asked for, and armed")
        .isEqualTo(RearmOutcome.COMPLETED);
    complete();
    assertThat(notifications()).isEqualTo(2);
    assertThat(pollAndRearm(2, 1)).isEqualTo(RearmOutcome.COMPLETED);
  }

  @ParameterizedTest
  @EnumSource
  void shouldObeyTheTableWhenAdapted(final SimModel.Hint hint) {
    connect(SimModel.DEFAULT.withHint(hint).withNativePollAndRearm(false));
    for (int round = 0; round < 20; round++) {
      int polled = 0;
      final int before = notifications();
      complete();
      complete();
      complete();
      RearmOutcome outcome = RearmOutcome.SUCCESS;
      while (outcome == RearmOutcome.SUCCESS) {
        final WorkCompletions batch = new WorkCompletions(2);
        outcome = b.recvCq.pollAndRearm(batch, 2, ArmKind.NEXT);
        polled += batch.size();
        switch (outcome) {
          case COMPLETED -> assertThat(batch.size()).isEqualTo(1);
          case NOT_DONE -> assertThat(batch.size()).isZero();
          case POLL_NEEDED -> assertThat(batch.size()).isPositive();
          default -> {}
        }
      }
      assertThat(polled).isEqualTo(3);
      complete();
      assertThat(notifications()).as("armed").isGreaterThan(before);
      assertThat(b.receives()).hasSize(1);
      for (int i = 0; i < 4; i++) {
        b.postRecv(i, 0, 8);
      }
      assertThat(a.sends()).hasSize(4);
    }
  }

  /** A dispatcher that believes the declaration, against every model, with nothing lost. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void shouldLoseNothingWhenTheConsumerBelievesTheDeclaration(final long seed) {
    for (final ArmModel arm : ArmModel.values()) {
      for (final SimModel.Hint hint : SimModel.Hint.values()) {
        for (final SecondArm second : SecondArm.values()) {
          for (final boolean nativeRearm : new boolean[] {true, false}) {
            final SimModel model =
                SimModel.DEFAULT
                    .withArm(arm)
                    .withHint(hint)
                    .withSecondArm(second)
                    .withNativePollAndRearm(nativeRearm)
                    .withNotifiesInsideVerbs(seed % 2 == 0);
            believe(SimFabric.virtual(seed).keepTrace(), model);
          }
        }
      }
    }
  }

  private static void believe(final SimFabric world, final SimModel model) {
    final Side from = new Side(world);
    final Side to = new Side(world, model);
    from.connect(to);
    final List<Long> seen = new ArrayList<>();
    int served = -1; // as if there had been a notification: the first arm comes before it sleeps
    for (long sent = 0, turns = 0; turns < 400; turns++) {
      if (sent < 40 && to.qp.postRecv(to.recv(sent, 0, 8)) == 0) {
        if (from.qp.postSend(from.request(WrOpcode.SEND, sent, 0, 8)) == 0) {
          sent++;
        }
      }
      from.pass(2_000);
      assertThat(from.sends()).hasSizeLessThan(40);
      if (to.recvNotifications.get() != served) {
        served = to.recvNotifications.get();
        drain(to.recvCq, seen);
      }
      if (sent == 40 && seen.size() == 40) {
        return;
      }
    }
    throw new AssertionError(model + " lost what came after " + seen + ": " + world.trace());
  }

  private static void drain(final CompletionQueue cq, final List<Long> seen) {
    final WorkCompletions batch = new WorkCompletions(3);
    RearmOutcome outcome = RearmOutcome.SUCCESS;
    while (outcome == RearmOutcome.SUCCESS) {
      batch.clear();
      outcome = cq.pollAndRearm(batch, 3, ArmKind.NEXT);
      seen.addAll(Side.wrIds(Side.completions(batch)));
    }
    if (outcome == RearmOutcome.POLL_NEEDED) {
      List<Side.Completion> more = Side.poll(cq, 3);
      while (!more.isEmpty()) {
        seen.addAll(Side.wrIds(more));
        more = Side.poll(cq, 3);
      }
    }
  }

  @Test
  void shouldNotifyOnTheStackOfTheVerbWhenTheModelSaysSo() {
    connect(SimModel.DEFAULT.withNotifiesInsideVerbs(true).withArm(ArmModel.STRONG));
    b.qp.modifyToError();
    a.settle();
    assertThat(b.receives()).hasSize(Side.WR);
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    b.postRecv(1, 0, 8);
    assertThat(notifications()).as("inside the post").isEqualTo(1);
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isEqualTo(1);
    assertThat(notifications()).as("inside the arm").isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"SERIAL, 1", "CONCURRENT, 2"})
  void shouldNestNotificationsOnlyWhenConcurrent(
      final NotificationConcurrency concurrency, final int deepest) {
    final Side c =
        new Side(
            fabric,
            SimModel.DEFAULT
                .withConcurrency(concurrency)
                .withArm(ArmModel.STRONG)
                .withNotifiesInsideVerbs(true));
    final AtomicInteger depth = new AtomicInteger();
    final AtomicInteger max = new AtomicInteger();
    final AtomicInteger calls = new AtomicInteger();
    final CompletionQueue cq =
        c.device.createCq(
            8,
            self -> {
              max.accumulateAndGet(depth.incrementAndGet(), Math::max);
              if (calls.incrementAndGet() == 1) {
                assertThat(self.arm(ArmKind.NEXT)).isEqualTo(1);
              }
              depth.decrementAndGet();
            });
    c.qp.close();
    c.qp =
        c.device.createQp(
            new org.jdapl.verbs.QpAttributes(c.pd, c.sendCq, cq, null, 4, 4, 4, 4, 0));
    c.postRecv(1, 0, 8);
    c.qp.modifyToError();
    c.settle();
    assertThat(cq.arm(ArmKind.NEXT)).isEqualTo(1);
    c.settle();
    assertThat(calls).hasValue(2);
    assertThat(max).hasValue(deepest);
    assertThat(fabric.lastHandlerFailure()).isNull();
  }

  @Test
  void shouldBreakWhenItOverflows() {
    a = new Side(fabric);
    b = new Side(fabric, SimModel.DEFAULT, null, 4);
    a.connect(b);
    for (int i = 0; i < 6; i++) {
      b.postRecv(i, 0, 8);
      a.postSend(i, 0, 8);
    }
    a.settle();
    assertThat(b.asyncs).containsExactly(AsyncType.CQ_ERR);
    assertThat(b.asyncElements).containsExactly(b.recvCq);
    assertThatThrownBy(b::receives)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("overflowed at 4");
    assertThatThrownBy(() -> b.recvCq.arm(ArmKind.NEXT)).isInstanceOf(VerbsException.class);
    assertThat(Side.statuses(a.sends())).contains(WcStatus.RETRY_EXC_ERR);
    b.qp.close();
    b.recvCq.close();
  }

  @Test
  void shouldKeepCompletionsWhenResized() {
    connect(SimModel.DEFAULT);
    for (int i = 0; i < 5; i++) {
      complete();
    }
    assertThat(Side.poll(b.recvCq, 2)).hasSize(2);
    assertThatThrownBy(() -> b.recvCq.resize(2)).isInstanceOf(VerbsException.class);
    b.recvCq.resize(3);
    assertThat(b.recvCq.capacity()).isEqualTo(3);
    assertThat(Side.wrIds(b.receives())).containsExactly(2L, 3L, 4L);
    b.recvCq.resize(100);
    for (int i = 0; i < 11; i++) {
      complete();
    }
    assertThat(b.receives()).hasSize(11);
  }

  @Test
  void shouldRefuseToCloseWhenInsideItsOwnNotification() {
    connect(SimModel.DEFAULT);
    final AtomicReference<RuntimeException> thrown = new AtomicReference<>();
    final CompletionQueue cq =
        b.device.createCq(
            4,
            self -> {
              try {
                self.close();
              } catch (final VerbsException e) {
                thrown.set(e);
              }
            });
    b.qp.close();
    b.qp =
        b.device.createQp(
            new org.jdapl.verbs.QpAttributes(b.pd, b.sendCq, cq, null, 4, 4, 4, 4, 0));
    assertThat(cq.arm(ArmKind.NEXT)).isZero();
    b.postRecv(1, 0, 8);
    b.qp.modifyToError();
    b.settle();
    assertThat(thrown.get()).hasMessageContaining("inside its own handler");
    b.qp.close();
    cq.close();
    assertThatThrownBy(() -> Side.poll(cq, 1)).hasMessageContaining("closed");
  }

  @Test
  void shouldNotNotifyWhenClosedBeforeTheNotificationRan() {
    connect(SimModel.DEFAULT.withLatency(5_000, 5_000));
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    a.postSend(1, 0, 8);
    a.until(() -> !b.receives().isEmpty());
    b.qp.close();
    b.recvCq.close();
    a.settle();
    assertThat(notifications()).isZero();
  }
}
