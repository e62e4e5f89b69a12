package org.jdapl.verbs.tck;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/**
 * Arming and notifications, and what is declared of them. Completions come from receives that are
 * posted to a queue pair in the error state: no peer is needed.
 */
public abstract class ArmingTck extends VerbsTck {

  private static final int ROUNDS = 12;
  private static final int ARM_ATTEMPTS = 64;
  private static final int STEP = 250;

  private static final String LOST =
      "the arm and the arrival of a completion are not one step: the producer looks at the arm"
          + " before it publishes, or the arm is forgotten.";
  private static final String TWICE =
      "the arm is not cleared in the step that tests it, or a notification is raised for each"
          + " completion.";
  private static final String HINT =
      "the hint is computed before the arm, or from a count that the poller has not updated yet."
          + " Declare MAYBE, or NONE and return 0.";

  private Side side;
  private Cq cq;
  private QueuePair qp;
  private long next;

  /** Tests of arming. */
  protected ArmingTck() {}

  private void open() {
    side = first();
    cq = side.cq();
    qp = side.flushing(cq);
  }

  private Declaration declared() {
    return declaration(side);
  }

  /** Has a completion be added. */
  private void complete() {
    side.postRecv(qp, next++);
  }

  private void complete(final int count) {
    for (int i = 0; i < count; i++) {
      complete();
    }
  }

  private void drainAll(final String why) {
    cq.awaitPolled((int) next, why);
  }

  /** Has the queue hold a completion for sure, without looking into it. */
  private boolean holdOne() {
    if (!cq.armSurely()) {
      return false;
    }
    final int before = cq.notifications.get();
    complete();
    cq.awaitNotification(before + 1, LOST);
    return true;
  }

  @Test
  void required_A01_anArmedQueueNotifiesOfTheNextCompletion() {
    open();
    for (int round = 1; round <= ROUNDS; round++) {
      needs(cq.armSurely(), "it hints without end, and may not be armed");
      complete();
      cq.awaitNotification(round, LOST);
      drainAll("a completion that is notified of before it can be polled.");
    }
    same(0, cq.ofAnother.get(), "notifications with another queue", "handlers share a queue.");
  }

  @Test
  void required_A01_aQueueThatIsNotArmedIsSilent() {
    open();
    complete(3);
    silence();
    same(0, cq.notifications.get(), "notifications of a queue that was never armed", TWICE);
  }

  @Test
  void required_A04_oneArmGivesOneNotification() {
    open();
    for (int round = 1; round <= 4; round++) {
      needs(cq.armSurely(), "it hints without end, and may not be armed");
      complete(3);
      cq.awaitNotification(round, LOST);
      drainAll("a lost completion.");
      silence();
      checkMost(round, TWICE);
    }
  }

  @Test
  void required_A04_eachNotificationCanBeFollowedByANewArm() {
    open();
    for (int round = 1; round <= ROUNDS; round++) {
      needs(cq.armSurely(), "it hints without end, and may not be armed");
      complete();
      cq.awaitNotification(
          round,
          "an arm that is not acknowledged: the next one is taken for a second arm, and ignored.");
      drainAll("a lost completion.");
    }
  }

  @Test
  void required_P02_aStrongArmNotifiesOfWhatIsThere() {
    open();
    needs(declared().armModel() == ArmModel.STRONG, "it declares " + declared().armModel());
    for (int round = 0; round < 4; round++) {
      needs(holdOne(), "it hints without end, and may not be armed");
      final int before = cq.notifications.get();
      if (declared().isArmedAfter(cq.arm())) {
        cq.awaitNotification(
            before + 1,
            "the device notifies of what is added after the arm only: it is WEAK. So are siw, rxe"
                + " and irdma, which add a hint.");
      }
      drainAll("a lost completion.");
    }
  }

  @Test
  void required_P02_aHintOfNothingMissedIsTrue() {
    open();
    needs(declared().hint() == ArmHint.EXACT, "its hint is declared " + declared().hint());
    for (int round = 0; round < ROUNDS; round++) {
      needs(holdOne(), "it hints without end, and may not be armed");
      final int before = cq.notifications.get();
      if (cq.arm() == 0) {
        cq.awaitNotification(before + 1, HINT);
      }
      drainAll("a lost completion.");
    }
  }

  @Test
  void required_P02_aHintOfSomethingMissedIsTrue() {
    open();
    needs(declared().hint() == ArmHint.EXACT, "its hint is declared " + declared().hint());
    for (int round = 0; round < ROUNDS; round++) {
      final int hint = cq.arm();
      if (hint > 0) {
        check(!cq.poll(1).isEmpty(), "a completion: the hint was " + hint, "an empty queue", HINT);
      }
      complete();
      drainAll("a lost completion.");
    }
  }

  @Test
  void required_P02_aHintIsNeverNegativeAndZeroWhereThereIsNone() {
    open();
    for (int round = 0; round < ROUNDS; round++) {
      final int hint = cq.arm();
      check(
          declared().hint() == ArmHint.NONE ? hint == 0 : hint >= 0,
          "a hint " + (declared().hint() == ArmHint.NONE ? "of 0: it declares NONE" : ">= 0"),
          "hint " + hint,
          "what the driver's call returned is passed on.");
      complete();
      drainAll("a lost completion.");
    }
  }

  @Test
  void required_P02_aQueueIsArmedAfterAHint() {
    open();
    needs(
        declared().armedAfterHint() == ArmedAfterHint.YES && declared().hint() != ArmHint.NONE,
        "it declares " + declared().armedAfterHint() + " with hint " + declared().hint());
    boolean hinted = false;
    for (int attempt = 0; attempt < ARM_ATTEMPTS && !hinted; attempt++) {
      needs(holdOne(), "it hints without end, and may not be armed");
      final int before = cq.notifications.get();
      hinted = cq.arm() > 0;
      drainAll("a lost completion.");
      complete();
      cq.awaitNotification(
          before + 1,
          "a device that does not arm a queue that is not empty, and returns a hint instead, as"
              + " bnxt_re does: declare NO.");
      drainAll("a lost completion.");
    }
    needs(hinted, "it never hinted");
  }

  @Test
  void required_P02_whatLiesInAnArmedQueueHidesNothingThatIsAdded() {
    open();
    boolean armed = false;
    for (int round = 0; round < 4; round++) {
      needs(holdOne(), "it hints without end, and may not be armed");
      final int before = cq.notifications.get();
      if (declared().isArmedAfter(cq.arm())) {
        armed = true;
        complete();
        cq.awaitNotification(
            before + 1,
            "a producer that tells of the first completion in an empty queue only. That an arm is"
                + " silent about what was there, or hints, does not take it away.");
      }
      drainAll("a lost completion.");
    }
    needs(armed, "it is never armed while there are completions");
  }

  @Test
  void required_P02_aSecondArmDoesAsDeclared() {
    open();
    final boolean armed = cq.armSurely();
    needs(armed && cq.armSurely(), "it hints without end, and may not be armed");
    complete(4);
    cq.awaitNotification(1, "the second arm undid the first.");
    drainAll("a lost completion.");
    silence();
    checkMost(1, "arms that are counted, as irdma's user part does: declare COUNTED.");
  }

  /** No more notifications than arms; where second arms do not count, than those after one. */
  private void checkMost(final int after, final String often) {
    final SecondArm second = declared().secondArm();
    final boolean counts = second == SecondArm.COUNTED || second == SecondArm.UNKNOWN;
    final int most = counts ? cq.arms : after;
    check(
        cq.notifications.get() <= most,
        "at most " + most + " notifications after " + cq.arms + " arms: it declares " + second,
        cq.notifications + " notifications",
        often);
  }

  @Test
  void required_P02_notificationsOfAQueueAreSerial() {
    open();
    needsThreads();
    needs(
        declared().concurrency() == NotificationConcurrency.SERIAL,
        "it declares " + declared().concurrency());
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch second = new CountDownLatch(1);
    final AtomicBoolean first = new AtomicBoolean(true);
    cq.whenNotified =
        () -> {
          if (first.getAndSet(false)) {
            inside.countDown();
            hold(second, where().silence.multipliedBy(2));
          } else {
            second.countDown();
          }
        };
    needs(cq.armSurely(), "it hints without end, and may not be armed");
    final Background next =
        inBackground(
            "arm and complete again while the handler holds",
            () -> {
              if (hold(inside, where().await)) {
                cq.queue.poll(new WorkCompletions(16), 16);
                cq.queue.arm(ArmKind.NEXT);
                qp.postRecv(side.recv(1000, 0, 64));
              }
            });
    complete();
    await(
        next::isDone,
        "the notification that the other thread waits for",
        () -> cq.notifications + " notifications",
        LOST);
    await(
        () -> cq.notifications.get() >= 2 || second.getCount() == 1,
        "the second notification",
        () -> cq.notifications,
        LOST);
    silence();
    same(
        1,
        cq.deepest.get(),
        "handlers of one queue at once, it declares SERIAL",
        "two threads deliver events, as siw's producers do: declare CONCURRENT, or take a lock"
            + " around the handler.");
  }

  @Test
  void required_P02_noHandlerIsCalledInsideAVerb() {
    open();
    needs(!declared().notifiesInsideVerbs(), "it declares that it notifies inside verbs");
    for (int round = 0; round < 4; round++) {
      cq.arm();
      complete(2);
      silence();
      cq.poll(1);
      cq.pollAndRearm(Form.OWN, 4);
      complete();
      silence();
    }
    final QueuePair more = side.qp(cq);
    for (int i = 0; i < 4; i++) {
      side.postRecv(more, next++);
    }
    cq.arm();
    verb(
        "modify a queue pair to the error state",
        () -> {
          more.modifyToError();
          return null;
        });
    drainAll("a lost completion.");
    same(
        0,
        cq.insideVerbs.get(),
        "notifications on the stack of a verb",
        "a post to a queue pair in the error state that flushes it and notifies at once, as siw"
            + " does: declare notifiesInsideVerbs, or hand the call to another thread.");
  }

  @Test
  void required_A06_anUnsupportedSolicitedArmIsRefused() {
    open();
    needs(
        declared().solicited() == SolicitedSupport.UNSUPPORTED,
        "it declares " + declared().solicited());
    refused(
        "arm SOLICITED",
        () -> cq.queue.arm(ArmKind.SOLICITED),
        "the kind is ignored, and the queue armed for every completion or for none.",
        VerbsException.EOPNOTSUPP);
  }

  @Test
  void required_A06_anErrorRaisesASolicitedNotification() {
    open();
    needs(declared().solicited() == SolicitedSupport.FULL, "it declares " + declared().solicited());
    for (int round = 1; round <= 4; round++) {
      for (int i = 0; i < 16 && !declared().isArmedAfter(cq.arm(ArmKind.SOLICITED)); i++) {
        cq.pollAll();
      }
      complete();
      cq.awaitNotification(
          round,
          "a solicited arm that looks at the flag of the message only, as siw's does: declare"
              + " NO_ERRORS.");
      drainAll("a lost completion.");
    }
  }

  private void anEmptyQueueIsNotDoneAndArmed(final Form form) {
    open();
    RearmOutcome outcome = cq.pollAndRearm(form, 4);
    for (int i = 0; i < 16 && outcome == RearmOutcome.SUCCESS; i++) {
      outcome = cq.pollAndRearm(form, 4);
    }
    needs(outcome != RearmOutcome.SUCCESS, "it hints without end, and may not be armed");
    same(RearmOutcome.NOT_DONE, outcome, "an empty queue", "a look that counts what was taken.");
    complete();
    cq.awaitNotification(1, "NOT_DONE without an arm.");
  }

  @Test
  void required_A08_anEmptyQueueIsNotDoneAndArmed() {
    anEmptyQueueIsNotDoneAndArmed(Form.OWN);
  }

  @Test
  void required_A08_anEmptyQueueIsNotDoneAndArmedByPollAndArm() {
    anEmptyQueueIsNotDoneAndArmed(Form.OF_POLL_AND_ARM);
  }

  /** Whoever goes by the table misses nothing, whenever completions come. */
  private void whoStopsIsWoken(final Form form) {
    open();
    for (int round = 0; round < 3 * ROUNDS; round++) {
      final int max = 1 + round % 4;
      complete(round % 6);
      final int before = cq.notifications.get();
      if (!cq.drain(form, max)) {
        continue;
      }
      complete();
      await(
          () -> cq.notifications.get() > before,
          "a notification: the drain said stop, so the queue is armed and was empty",
          () -> "none; and the queue has these, which nobody was told of: " + cq.pollAll(),
          "COMPLETED or NOT_DONE although completions came between the last poll and the arm"
              + " (look again after it), or without an arm.");
      drainAll("a lost completion.");
    }
  }

  @Test
  void required_A08_whoStopsWhereTheTableSaysIsWoken() {
    whoStopsIsWoken(Form.OWN);
  }

  @Test
  void required_A08_whoStopsWhereTheTableSaysIsWokenByPollAndArm() {
    whoStopsIsWoken(Form.OF_POLL_AND_ARM);
  }

  private void aDrainTakesAllInOrder(final Form form) {
    open();
    for (int max = 1; max <= 5; max++) {
      complete(7);
      drainTo((int) next, form, max);
    }
    for (int i = 0; i < next; i++) {
      same((long) i, cq.polled.get(i).wrId(), "completion " + i, "two looks swap what they took.");
    }
    silence();
    same(0, cq.pollAll().size(), "completions left", "a completion that is given out twice.");
  }

  private void drainTo(final int count, final Form form, final int max) {
    await(
        () -> {
          if (cq.polled.size() < count) {
            cq.drain(form, max);
          }
          return cq.polled.size() >= count;
        },
        count + " completions",
        () -> cq.polled,
        "completions that were taken before an arm failed or fell short, and were dropped.");
  }

  @Test
  void required_A08_aDrainTakesAllInOrder() {
    aDrainTakesAllInOrder(Form.OWN);
  }

  @Test
  void required_A08_aDrainTakesAllInOrderByPollAndArm() {
    aDrainTakesAllInOrder(Form.OF_POLL_AND_ARM);
  }

  private void successIsNotArmed(final Form form) {
    open();
    complete(6);
    silence();
    final RearmOutcome outcome = cq.pollAndRearm(form, 2);
    needs(outcome == RearmOutcome.SUCCESS, "it said " + outcome + " with completions left");
    final int before = cq.notifications.get();
    complete();
    silence();
    same(
        before,
        cq.notifications.get(),
        "notifications after SUCCESS, which did not arm",
        "an arm before the look that found more: say POLL_NEEDED then.");
    drainAll("a lost completion.");
  }

  @Test
  void required_A08_successDoesNotArm() {
    successIsNotArmed(Form.OWN);
  }

  @Test
  void required_A08_successDoesNotArmByPollAndArm() {
    successIsNotArmed(Form.OF_POLL_AND_ARM);
  }

  @Test
  void required_A01_eachQueueTellsOfItsOwnCompletions() {
    side = first();
    final Cq sends = side.cq();
    final Cq receives = side.cq();
    qp = side.qp(sends, receives, null, Side.WR);
    did("create a queue pair of two completion queues, modify it to the error state");
    qp.modifyToError();
    final String often =
        "what is flushed goes to the queue of sends, and the handler of that of receives is"
            + " called, as irdma once did.";
    for (int round = 1; round <= 4; round++) {
      needs(sends.armSurely() && receives.armSurely(), "it hints without end");
      did("flush a request: both queues are armed");
      side.postSend(qp, side.send(WrOpcode.SEND, round, 0, 8));
      sends.awaitNotification(round, often);
      silence();
      same(round - 1, receives.notifications.get(), "notifications of the receives' queue", often);
      did("flush a receive");
      side.postRecv(qp, round);
      receives.awaitNotification(round, often);
      sends.awaitPolled(round, "a lost completion.");
      receives.awaitPolled(round, "a lost completion.");
    }
  }

  @Test
  void required_A06_anErrorOfASendRaisesASolicitedNotification() {
    open();
    needs(declared().solicited() == SolicitedSupport.FULL, "it declares " + declared().solicited());
    for (int i = 0; i < 16 && !declared().isArmedAfter(cq.arm(ArmKind.SOLICITED)); i++) {
      cq.pollAll();
    }
    side.postSend(qp, side.send(WrOpcode.SEND, next++, 0, 8));
    cq.awaitNotification(
        1, "errors of receives count only, as on rxe: declare NO_ERRORS, or count them all.");
    drainAll("a lost completion.");
  }

  /** The arms of one thread race the completions of another one. */
  @Test
  void required_A01_nothingIsLostWhereArmsRaceCompletions() {
    open();
    needsThreads();
    final int count = 3_000;
    final Semaphore room = new Semaphore(1); // one at once, so that no other one wakes
    final AtomicBoolean stopped = new AtomicBoolean();
    final Background producing =
        inBackground(
            "complete " + count + " receives, one at once, in the second half more",
            () -> {
              final RecvRequest request = side.recv(0, 0, 8);
              for (int i = 0; i < count && !stopped.get(); i++) {
                room.acquireUninterruptibly();
                request.wrId = i;
                final int errno = qp.postRecv(request);
                if (errno != 0) {
                  throw new IllegalStateException("receive " + i + ": errno " + errno);
                }
              }
            });
    final WorkCompletions batch = new WorkCompletions(Side.WR);
    int taken = 0;
    int sleeps = 0;
    did("poll and arm until all are taken; sleep where the table says so");
    try {
      while (taken < count) {
        final int before = cq.notifications.get();
        final RearmOutcome outcome =
            cq.queue.pollAndRearm(batch, Side.WR - batch.size(), ArmKind.NEXT);
        if (outcome == RearmOutcome.POLL_NEEDED) {
          while (batch.size() < Side.WR && cq.queue.poll(batch, Side.WR - batch.size()) > 0) {}
        }
        for (int i = 0; i < batch.size(); i++) {
          same((long) taken++, batch.wrId(i), "the next receive", "two threads in one queue.");
        }
        if (taken / STEP > (taken - batch.size()) / STEP) {
          did(taken + " are taken");
        }
        room.release(batch.size() + (isHalf(taken, batch.size(), count) ? Side.WR - 2 : 0));
        batch.clear();
        final boolean maySleep =
            taken < count
                && (outcome == RearmOutcome.NOT_DONE || outcome == RearmOutcome.COMPLETED);
        if (maySleep && !findsMore(batch, ++sleeps % 3 * 100)) {
          final int soFar = taken;
          await(
              () -> cq.notifications.get() > before || producing.failure() != null,
              "a notification: " + soFar + " are taken, and the queue was empty and armed",
              () -> "none; and the queue has these, which nobody was told of: " + cq.pollAll(),
              LOST);
          rethrow(producing);
        }
      }
    } finally {
      stopped.set(true);
      room.release(count);
    }
  }

  private static boolean isHalf(final int taken, final int now, final int count) {
    return taken >= count / 2 && taken - now < count / 2;
  }

  /** Polls some times more, although a notification will come: so it is met on its way. */
  private boolean findsMore(final WorkCompletions batch, final int looks) {
    int found = 0;
    for (int i = 0; i < looks && found == 0; i++) {
      found = cq.queue.poll(batch, 1);
    }
    return found > 0;
  }

  private void rethrow(final Background background) {
    if (background.failure() != null) {
      fail("the other thread to go on", background.failure(), "a post that fails beside a poll.");
    }
  }
}
