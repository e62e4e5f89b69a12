package org.jdapl.verbs.tck;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Shared receive queues, of a device whose limits say that there are some. */
public abstract class SharedReceiveTck extends VerbsTck {

  private static final int DEPTH = 8;

  private Side side;
  private Cq cq;
  private SharedReceiveQueue srq;
  private Link active;
  private Link passive;

  /** Tests of shared receive queues. */
  protected SharedReceiveTck() {}

  private void open() {
    side = second();
    needs(side.device.limits().maxSrq() > 0, "its limits say maxSrq 0");
    cq = side.cq();
    srq = side.own(side.device.createSrq(side.pd, DEPTH, 2));
  }

  private Link shared() {
    return new Link(this, side, cq, side.qp(cq, cq, srq, Side.WR));
  }

  private void connect() {
    open();
    active = new Link(this, first());
    passive = shared();
    active.connectTo(passive, 7);
  }

  private void post(final long wrId) {
    same(
        0,
        verb(
            "post receive " + wrId + " to the shared queue",
            () -> srq.postRecv(side.recv(wrId, 0, 64))),
        "the errno of a post",
        "room that does not return when a completion was polled.");
  }

  private long count(final AsyncType type) {
    return side.asyncs.stream().filter(async -> async.type() == type).count();
  }

  @Test
  void required_D01_messagesTakeSharedReceives() {
    connect();
    final Link other = new Link(this, active.side);
    final Link beside = shared();
    other.connectTo(beside, 7);
    for (int i = 0; i < 4; i++) {
      post(i);
    }
    for (int i = 0; i < 2; i++) {
      active.side.postSend(active.qp, active.side.send(WrOpcode.SEND, i, 0, 8));
      other.side.postSend(other.qp, other.side.send(WrOpcode.SEND, i, 0, 8));
    }
    cq.awaitPolled(4, "a receive that is taken twice, or lost.");
    final Set<Long> ids = new TreeSet<>();
    cq.polled.forEach(completion -> ids.add(completion.wrId()));
    same(Set.of(0L, 1L, 2L, 3L), ids, "each receive once", "a receive that is taken twice.");
    for (final QueuePair qp : List.of(passive.qp, beside.qp)) {
      same(
          2L,
          cq.polled.stream().filter(c -> c.qpNumber() == qp.number()).count(),
          "completions with the number " + qp.number() + " of the queue pair that took them",
          "the number of the shared queue, or of its first user.");
    }
  }

  @Test
  void required_E05_aFullSharedQueueRefusesWithEnomem() {
    open();
    int taken = 0;
    int errno = 0;
    while (errno == 0 && taken < 1024) {
      errno = srq.postRecv(side.recv(taken, 0, 8));
      taken += errno == 0 ? 1 : 0;
    }
    did("posted receives until one was refused: " + taken + " were taken");
    check(
        errno == VerbsException.ENOMEM && taken >= DEPTH,
        "ENOMEM, after at least " + DEPTH + " receives",
        "errno " + errno + " after " + taken,
        "another errno for a full queue.");
  }

  @Test
  void required_T04_aQueuePairOfASharedQueueTakesNoReceivesItself() {
    open();
    final QueuePair qp = side.qp(cq, cq, srq, Side.WR);
    refusedPost(
        "post a receive to the queue pair",
        () -> qp.postRecv(side.recv(1, 0, 8)),
        "a receive queue that is made beside the shared one.",
        VerbsException.EINVAL);
  }

  @Test
  void required_T04_receivesThatWereNotTakenStayForOthers() {
    connect();
    for (int i = 0; i < 3; i++) {
      post(i);
    }
    passive.qp.modifyToError();
    did("modified a queue pair to the error state");
    silence();
    same(
        List.of(),
        cq.pollAll(),
        "completions of receives it had not taken",
        "a flush of the" + " shared queue: what a queue pair had not taken belongs to the others.");
    final Link other = new Link(this, active.side);
    final Link beside = shared();
    other.connectTo(beside, 7);
    other.side.postSend(other.qp, other.side.send(WrOpcode.SEND, 1, 0, 8));
    cq.awaitPolled(1, "receives that went with the queue pair that died.");
    same(beside.qp.number(), cq.polled.get(0).qpNumber(), "the number", "as above.");
  }

  @Test
  void required_P02_theLastReceiveIsReportedAsDeclared() {
    connect();
    final LastWqe declared = declaration(side).lastWqe();
    needs(declared != LastWqe.UNKNOWN, "it declares UNKNOWN");
    did("modify the queue pair to the error state");
    passive.qp.modifyToError();
    if (declared == LastWqe.REPORTED) {
      await(
          () -> count(AsyncType.QP_LAST_WQE_REACHED) == 1,
          "QP_LAST_WQE_REACHED, it declares REPORTED",
          () -> side.asyncs,
          "a device that reports it for some ways into the error state only: declare UNKNOWN.");
      same(passive.qp, side.asyncs.get(0).element(), "the element", "the shared queue instead.");
    }
    silence();
    same(
        declared == LastWqe.REPORTED ? 1L : 0L,
        count(AsyncType.QP_LAST_WQE_REACHED),
        "times of QP_LAST_WQE_REACHED, it declares " + declared,
        "a report for each flush: declare UNKNOWN.");
  }

  @Test
  void required_T13_theWatermarkIsReportedOncePerArm() {
    connect();
    for (int i = 0; i < 4; i++) {
      post(i);
    }
    did("arm the limit at 3");
    try {
      srq.armLimit(3);
    } catch (final VerbsException e) {
      needs(e.errno() != VerbsException.EOPNOTSUPP, "it has no watermark");
      throw e;
    }
    for (int i = 0; i < 3; i++) {
      active.side.postSend(active.qp, active.side.send(WrOpcode.SEND, i, 0, 8));
    }
    cq.awaitPolled(3, "a receive that is lost.");
    await(
        () -> count(AsyncType.SRQ_LIMIT_REACHED) > 0,
        "SRQ_LIMIT_REACHED: 1 of 4 receives is left, the limit is 3",
        () -> side.asyncs,
        "a limit that is compared when a receive is posted only.");
    silence();
    same(
        1L,
        count(AsyncType.SRQ_LIMIT_REACHED),
        "times of SRQ_LIMIT_REACHED after one arm",
        "a limit that is not disarmed by its event.");
  }

  @Test
  void required_T13_theWatermarkIsReportedBelowItAndAgainWhenArmedAgain() {
    connect();
    for (int i = 0; i < 6; i++) {
      post(i);
    }
    long reports = 0;
    for (final int limit : List.of(4, 2)) { // 6 and 3 are left when it is armed
      arm(limit);
      while (6 - cq.polled.size() > limit) {
        send();
      }
      silence();
      same(
          reports,
          count(AsyncType.SRQ_LIMIT_REACHED),
          "times of SRQ_LIMIT_REACHED, as " + limit + " are left and the limit is " + limit,
          "a limit that is compared before the receive is taken, or that is not the one armed.");
      if (limit == 4) {
        send();
        reports++;
        await(
            () -> count(AsyncType.SRQ_LIMIT_REACHED) == 1,
            "SRQ_LIMIT_REACHED: 3 receives are left, the limit is 4",
            () -> side.asyncs,
            "a limit that is compared when a receive is posted only.");
        check(
            side.asyncs.contains(new Side.Async(AsyncType.SRQ_LIMIT_REACHED, srq)),
            "the shared queue as its element",
            side.asyncs,
            "the queue pair instead.");
      }
    }
    send();
    await(
        () -> count(AsyncType.SRQ_LIMIT_REACHED) == 2,
        "SRQ_LIMIT_REACHED once more: 1 receive is left, the limit is 2",
        () -> side.asyncs,
        "a limit that can be armed once.");
  }

  private void arm(final int limit) {
    did("arm the limit at " + limit);
    try {
      srq.armLimit(limit);
    } catch (final VerbsException e) {
      needs(e.errno() != VerbsException.EOPNOTSUPP, "it has no watermark");
      throw e;
    }
  }

  @Test
  void required_T07_theDestructionWaitsForTheHandlerOfAnAsynchronousEvent() {
    connect();
    needsThreads();
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    side.whenAsync =
        () -> {
          inside.countDown();
          hold(release, where().await);
        };
    post(0);
    post(1);
    arm(2);
    final Background destroying =
        inBackground(
            "destroy the shared queue, and what uses it, while the handler of its event holds",
            () -> {
              if (hold(inside, where().await)) {
                passive.qp.close();
                srq.close();
              }
            });
    final Background releasing =
        inBackground(
            "let go of the handler after a while",
            () -> {
              hold(inside, where().await);
              hold(release, where().silence);
              check(
                  !destroying.isDone(),
                  "the destruction to wait for the handler that runs",
                  "it returned while the handler ran",
                  "a look whether it is open, and then the call: the close is between the two.");
              release.countDown();
            });
    active.side.postSend(active.qp, active.side.send(WrOpcode.SEND, 0, 0, 8));
    await(
        () -> destroying.isDone() && releasing.isDone(),
        "the destruction to return when the handler did",
        () -> side.asyncs,
        "a limit that is not reported; or a close that waits for its own acknowledgement.");
    rethrow(releasing.failure());
    rethrow(destroying.failure());
  }

  private void send() {
    final int done = cq.polled.size();
    active.side.postSend(active.qp, active.side.send(WrOpcode.SEND, done, 0, 8));
    cq.awaitPolled(done + 1, "a receive that is lost.");
  }

  @Test
  void required_P02_aResizeDoesAsDeclared() {
    connect();
    final boolean can = side.device.capabilities().contains(Capability.SRQ_RESIZE);
    for (int i = 0; i < DEPTH; i++) {
      post(i);
    }
    did("resize to " + 4 * DEPTH + ", with " + DEPTH + " receives in it");
    try {
      srq.resize(4 * DEPTH);
    } catch (final VerbsException e) {
      check(!can, "a resize: it declares SRQ_RESIZE", e, "a flag of the driver's that lies.");
      needs(false, "it does not declare SRQ_RESIZE");
    }
    for (int i = DEPTH; i < 2 * DEPTH; i++) {
      post(i);
    }
    for (int i = 0; i < 2 * DEPTH; i++) {
      active.side.postSend(active.qp, active.side.send(WrOpcode.SEND, i, 0, 8));
      active.sends.awaitPolled(i + 1, "a receive that is lost.");
    }
    cq.awaitPolled(2 * DEPTH, "receives that are not copied to the new ring.");
    final Set<Long> ids = new TreeSet<>();
    cq.polled.forEach(completion -> ids.add(completion.wrId()));
    same(2 * DEPTH, ids.size(), "different receives", "receives that are copied twice.");
  }

  @Test
  void required_R02_aSharedQueueThatIsClosedRefuses() {
    open();
    final String often = "a closed object that is still reached.";
    side.close(srq, "the shared receive queue");
    did("close it again");
    srq.close();
    refusedPost(
        "post a receive to it",
        () -> srq.postRecv(side.recv(1, 0, 8)),
        often,
        VerbsException.EINVAL);
    refused(
        "arm its limit",
        () -> srq.armLimit(1),
        often,
        VerbsException.EINVAL,
        VerbsException.EOPNOTSUPP);
    refused(
        "resize it",
        () -> srq.resize(2 * DEPTH),
        often,
        VerbsException.EINVAL,
        VerbsException.EOPNOTSUPP);
    refused(
        "create a queue pair of it",
        () -> side.qp(cq, cq, srq, Side.WR),
        often,
        VerbsException.EINVAL);
  }
}
