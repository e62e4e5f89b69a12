package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/**
 * Completions: each request completes once, in order, and what is valid of it is right. They come
 * from requests that are flushed: no peer is needed.
 */
public abstract class CompletionTck extends VerbsTck {

  private static final String DROPPED =
      "a flush that stops early, or that is raced by a post: who posts must look at the state"
          + " after it published the request.";
  private static final String DOUBLED =
      "a flush that does not take a request out of its queue, or runs on two threads at once.";

  private Side side;
  private Cq cq;

  /** Tests of completions. */
  protected CompletionTck() {}

  private void open() {
    side = first();
    cq = side.cq();
  }

  private List<Long> ids() {
    return cq.polled.stream().map(Completion::wrId).toList();
  }

  /** Posts receives with ids from a number on. */
  private void post(final QueuePair qp, final long from, final int count) {
    for (int i = 0; i < count; i++) {
      side.postRecv(qp, from + i);
    }
  }

  private static List<Long> range(final long from, final int count) {
    final List<Long> range = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      range.add(from + i);
    }
    return range;
  }

  @Test
  void required_E01_eachRequestCompletesExactlyOnce() {
    open();
    final QueuePair qp = side.qp(cq);
    post(qp, 100, 8);
    did("modify the queue pair to the error state");
    qp.modifyToError();
    cq.awaitPolled(8, DROPPED);
    silence();
    cq.pollAll();
    same(
        range(100, 8),
        ids().stream().sorted().toList(),
        "every request, in the order of their ids",
        DOUBLED);
  }

  @Test
  void required_E02_receivesCompleteInTheirOrder() {
    open();
    final QueuePair qp = side.qp(cq);
    post(qp, 100, 8);
    did("modify the queue pair to the error state");
    qp.modifyToError();
    post(qp, 108, 4);
    cq.awaitPolled(12, DROPPED);
    same(range(100, 12), ids(), "receives in the order of their posts", "a flush from the end.");
  }

  @Test
  void required_E02_sendsCompleteInTheirOrder() {
    open();
    final QueuePair qp = side.flushing(cq);
    for (int i = 0; i < 8; i++) {
      side.postSend(qp, side.send(WrOpcode.SEND, 200 + i, 0, 8));
    }
    cq.awaitPolled(8, DROPPED);
    same(range(200, 8), ids(), "requests in the order of their posts", "a flush from the end.");
  }

  @Test
  void required_E01_anUnsignaledRequestThatIsFlushedCompletes() {
    open();
    final QueuePair qp = side.flushing(cq);
    final SendRequest request = side.send(WrOpcode.SEND, 7, 0, 8);
    request.signaled = false;
    side.postSend(qp, request);
    cq.awaitPolled(1, "an error of an unsignaled request that is kept silent as a success is.");
  }

  @Test
  void required_T06_wrIdStatusAndQpNumberAreValidOfAnError() {
    open();
    final QueuePair other = side.qp(cq);
    final QueuePair qp = side.flushing(cq);
    final List<Long> posted = List.of(Long.MIN_VALUE, -1L, 0L, Long.MAX_VALUE, 0x1_0000_0001L);
    posted.forEach(wrId -> side.postRecv(qp, wrId));
    cq.awaitPolled(posted.size(), DROPPED);
    same(
        posted,
        ids(),
        "wr_ids, all 64 bits of them",
        "wr_ids kept in an int, or looked up by opcode, which is not valid of an error.");
    for (final Completion completion : cq.polled) {
      same(WcStatus.WR_FLUSH_ERR, completion.status(), "the status", "a status that is made up.");
      same(
          qp.number(),
          completion.qpNumber(),
          "the number of the queue pair (there is " + other.number() + " too)",
          "the number is left out with errors: it is one of the four fields that are valid.");
    }
  }

  @Test
  void required_P04_pollAppendsNoMoreThanAskedFor() {
    open();
    final QueuePair qp = side.flushing(cq);
    post(qp, 1, 6);
    for (int asked = 1; cq.polled.size() < 6; asked = 1 + asked % 2) {
      final int most = asked;
      await(
          () -> {
            final WorkCompletions batch = new WorkCompletions(16);
            final int returned = cq.queue.poll(batch, most);
            check(
                returned == batch.size() && returned <= most,
                "at most " + most + " completions, and their number returned",
                "returned " + returned + ", appended " + batch.size(),
                "a batch that is filled to its own capacity, not to what was asked for.");
            for (int i = 0; i < returned; i++) {
              cq.polled.add(Completion.of(batch, i));
            }
            return returned > 0;
          },
          "a completion",
          () -> cq.polled,
          DROPPED);
    }
    same(range(1, 6), ids(), "all of them", "completions that are dropped when the batch is full.");
  }

  @Test
  void required_P04_pollKeepsWhatIsInTheBatch() {
    open();
    final QueuePair qp = side.flushing(cq);
    post(qp, 5, 1);
    final WorkCompletions batch = new WorkCompletions(8);
    batch.add(77, WcStatus.SUCCESS, WcOpcode.SEND, 3, 9, 0, false, 0);
    await(() -> cq.queue.poll(batch, 4) == 1, "a completion", batch::size, DROPPED);
    same(2, batch.size(), "completions in the batch", "a batch that is cleared: poll appends.");
    same(77L, batch.wrId(0), "the one that was there", "a batch that is filled from its start.");
    same(5L, batch.wrId(1), "the one that was polled", "a batch that is filled from its start.");
  }

  @Test
  void required_T03_postsAfterTheErrorAreFlushed() {
    open();
    final QueuePair qp = side.flushing(cq);
    for (int round = 0; round < 5; round++) {
      side.postRecv(qp, 2L * round);
      cq.awaitPolled(2 * round + 1, DROPPED);
      side.postSend(qp, side.send(WrOpcode.SEND, 2 * round + 1, 0, 8));
      cq.awaitPolled(2 * round + 2, DROPPED);
    }
    same(range(0, 10), ids(), "each post flushed", DOUBLED);
  }

  @Test
  void required_T01_theErrorStateMayBeEnteredTwice() {
    open();
    final QueuePair qp = side.flushing(cq);
    did("modify it to the error state twice more");
    qp.modifyToError();
    qp.modifyToError();
    post(qp, 1, 2);
    cq.awaitPolled(2, DROPPED);
    silence();
    cq.pollAll();
    same(range(1, 2), ids(), "each request once", DOUBLED);
  }

  @Test
  void required_E05_aQueueHoldsWhatWasAskedFor() {
    side = first();
    final int entries = 2 * Side.WR;
    cq = side.cq(entries);
    check(
        cq.queue.capacity() >= entries,
        "a capacity of at least " + entries,
        cq.queue.capacity(),
        "a capacity one less than the ring.");
    final List<QueuePair> qps = List.of(side.qp(cq), side.qp(cq));
    for (int i = 0; i < qps.size(); i++) {
      post(qps.get(i), 100L * i, Side.WR);
    }
    did("modify both to the error state, poll nothing for a while");
    qps.forEach(QueuePair::modifyToError);
    silence();
    cq.awaitPolled(entries, "a ring that overflows one entry early.");
    same(List.of(), side.asyncs, "asynchronous events", "an overflow that is none.");
  }

  @Test
  void required_E05_aFullReceiveQueueRefusesWithEnomem() {
    open();
    final int depth = 4;
    final Cq wide = side.cq(Math.min(4096, side.device.limits().maxCqe()));
    final QueuePair qp = side.qp(wide, wide, null, depth);
    final RecvRequest request = side.recv(0, 0, 8);
    int taken = 0;
    int errno = 0;
    while (errno == 0 && taken < 1024) {
      request.wrId = taken;
      errno = qp.postRecv(request);
      taken += errno == 0 ? 1 : 0;
    }
    did("posted receives until one was refused: " + taken + " were taken");
    check(
        errno == VerbsException.ENOMEM && taken >= depth,
        "ENOMEM, after at least " + depth + " receives",
        "errno " + errno + " after " + taken,
        "another errno for a full queue; or no bound at all, so that the completion queue"
            + " overflows.");
    qp.modifyToError();
    wide.awaitPolled(taken, DROPPED);
    silence();
    wide.pollAll();
    same(
        range(0, taken),
        wide.polled.stream().map(Completion::wrId).toList(),
        "what was taken, and not what was refused",
        "a request that is queued although the post was refused.");
  }

  @Test
  void required_E05_roomReturnsWithTheCompletion() {
    open();
    final QueuePair qp = side.flushing(cq);
    for (int round = 0; round < 6; round++) {
      post(qp, (long) Side.WR * round, Side.WR);
      cq.awaitPolled(Side.WR * (round + 1), DROPPED);
    }
    same(range(0, 6 * Side.WR), ids(), "all of them in order", "a ring that wraps wrongly.");
  }

  @Test
  void required_N04_aListIsPostedInItsOrder() {
    open();
    final QueuePair qp = side.flushing(cq);
    final RecvRequest[] receives = new RecvRequest[5];
    final SendRequest[] sends = new SendRequest[5];
    for (int i = 0; i < 5; i++) {
      receives[i] = side.recv(i, 0, 8);
      sends[i] = side.send(WrOpcode.SEND, 10 + i, 0, 8);
    }
    same(
        4,
        verb("post a list of 4 receives", () -> qp.postRecvs(receives, 4)),
        "receives posted",
        "the count is ignored, and the whole array posted.");
    cq.awaitPolled(4, DROPPED);
    same(
        4,
        verb("post a list of 4 requests", () -> qp.postSends(sends, 4)),
        "requests posted",
        "the count is ignored, and the whole array posted.");
    cq.awaitPolled(8, DROPPED);
    silence();
    cq.pollAll();
    final List<Long> expected = new ArrayList<>(range(0, 4));
    expected.addAll(range(10, 4));
    same(expected, ids(), "both lists in their order", "a list that is linked from its end.");
  }

  @Test
  void required_E08_aResizeKeepsCompletionsAndOrder() {
    open();
    final QueuePair qp = side.flushing(cq);
    post(qp, 0, 8);
    silence();
    cq.poll(3);
    did("resize to " + 8 * Side.WR);
    try {
      cq.queue.resize(8 * Side.WR);
    } catch (final VerbsException e) {
      needs(e.errno() != VerbsException.EOPNOTSUPP, "it has no resize");
      throw e;
    }
    check(
        cq.queue.capacity() >= 8 * Side.WR,
        "a capacity of at least " + 8 * Side.WR,
        cq.queue.capacity(),
        "a capacity that is kept from the creation.");
    post(qp, 8, 4);
    cq.awaitPolled(12, "entries that are not copied to the new ring.");
    same(range(0, 12), ids(), "all in order", "entries that are copied from the ring's start.");
  }

  @Test
  void required_E08_aResizeLosesNoneWhereTheyDoNotFit() {
    open();
    final QueuePair qp = side.flushing(cq);
    post(qp, 0, 8);
    silence();
    did("resize to 1, with 8 completions in it");
    try {
      cq.queue.resize(1);
    } catch (final VerbsException e) {
      needs(e.errno() != VerbsException.EOPNOTSUPP, "it has no resize");
    }
    try {
      cq.awaitPolled(8, "a new ring that gets as many as it holds: refuse it, or make it larger.");
    } catch (final VerbsException e) { // legal if they came when it was small already
      needs(!isInTime(this::hasOverflowed), "completions came late, and overflowed the queue of 1");
      throw e;
    }
    same(range(0, 8), ids(), "all in order", "entries that are copied from the ring's start.");
  }

  private boolean hasOverflowed() {
    return side.asyncs.contains(new Side.Async(AsyncType.CQ_ERR, cq.queue));
  }

  @Test
  void required_N04_aListIsPostedAsFarAsThereIsRoom() {
    open();
    final Cq wide = side.cq(Math.min(4096, side.device.limits().maxCqe()));
    final QueuePair qp = side.qp(wide, wide, null, 4);
    final RecvRequest[] list = new RecvRequest[1024];
    for (int i = 0; i < list.length; i++) {
      list[i] = side.recv(i, 0, 8);
    }
    final int posted = verb("post a list of 1024 receives", () -> qp.postRecvs(list, list.length));
    check(
        posted >= 4 && posted < list.length,
        "at least 4 to be posted, which there is room for, and not all",
        posted,
        "a list that is posted as a whole or not at all; or one that is said to be, although its"
            + " end was refused.");
    refusedPost(
        "post the next of the list alone",
        () -> qp.postRecv(list[posted]),
        "a count of those posted that is one too small, or too large.",
        VerbsException.ENOMEM);
    did("modify the queue pair to the error state");
    qp.modifyToError();
    wide.awaitPolled(posted, DROPPED);
    silence();
    wide.pollAll();
    same(
        range(0, posted),
        wide.polled.stream().map(Completion::wrId).toList(),
        "those that were posted",
        "a request that is queued although it is not counted.");
  }

  @Test
  void required_C01_aQueuePairThatIsNotConnectedTakesNoSends() {
    open();
    final QueuePair qp = side.qp(cq);
    refusedPost(
        "post a SEND before there is a connection",
        () -> qp.postSend(side.send(WrOpcode.SEND, 1, 0, 8)),
        "requests that wait for the connection, and are nobody's when it fails.",
        VerbsException.EINVAL);
    did("modify the queue pair to the error state");
    qp.modifyToError();
    silence();
    same(List.of(), cq.pollAll(), "completions", "a request that is queued although refused.");
  }

  @Test
  void required_E01_nothingIsLostWhereSeveralQueuePairsComplete() {
    open();
    needsThreads();
    final int each = 400;
    final List<QueuePair> qps = List.of(side.flushing(cq), side.flushing(cq));
    final List<Semaphore> room = List.of(new Semaphore(Side.WR), new Semaphore(Side.WR));
    final List<Background> posting = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      final QueuePair qp = qps.get(i);
      final Semaphore places = room.get(i);
      posting.add(
          inBackground(
              "post " + each + " receives to queue pair " + qp.number(),
              () -> {
                for (int wrId = 0; wrId < each; wrId++) {
                  places.acquireUninterruptibly();
                  final int errno = qp.postRecv(side.recv(wrId, 0, 8));
                  same(0, errno, "the errno of receive " + wrId, "room that does not return.");
                }
              }));
    }
    await(
        () -> {
          posting.forEach(of -> rethrow(of.failure()));
          cq.pollAll()
              .forEach(c -> room.get(c.qpNumber() == qps.get(0).number() ? 0 : 1).release());
          return cq.polled.size() >= 2 * each;
        },
        2 * each + " completions",
        cq.polled::size,
        "two producers that take the same place in the queue.");
    for (final QueuePair qp : qps) {
      same(
          range(0, each),
          cq.polled.stream().filter(c -> c.qpNumber() == qp.number()).map(c -> c.wrId()).toList(),
          "the receives of queue pair " + qp.number() + " in their order",
          "two producers that take the same place in the queue.");
    }
  }

  @Test
  void required_P02_whatIsAboveALimitIsRefused() {
    open();
    final DeviceLimits limits = side.device.limits();
    check(
        limits.maxQp() > 0
            && limits.maxQpWr() > 0
            && limits.maxSge() > 0
            && limits.maxCq() > 0
            && limits.maxCqe() > 0
            && limits.maxMr() > 0
            && limits.maxPd() > 0
            && limits.maxMessageBytes() > 0,
        "limits above 0",
        limits,
        "a limit that was not said, or that the driver leaves out, and 0 was passed on.");
    check(
        limits.maxSrq() == 0 || (limits.maxSrqWr() > 0 && limits.maxSrqSge() > 0),
        "maxSrqWr and maxSrqSge above 0, as maxSrq is",
        limits,
        "shared receive queues that have room for nothing.");
    final String often = "a limit that is told, and not kept.";
    if (limits.maxCqe() < Integer.MAX_VALUE) {
      refused(
          "a completion queue of " + (limits.maxCqe() + 1) + " entries",
          () -> side.cq(limits.maxCqe() + 1),
          often);
    }
    refusedQp("requests", limits.maxQpWr(), most -> attributes(most, 1, 1, 1));
    refusedQp("receives", limits.maxQpWr(), most -> attributes(1, most, 1, 1));
    refusedQp("elements of a request", limits.maxSge(), most -> attributes(1, 1, most, 1));
    refusedQp("elements of a receive", limits.maxSge(), most -> attributes(1, 1, 1, most));
    if (limits.maxSrq() > 0 && limits.maxSrqWr() < Integer.MAX_VALUE) {
      refused(
          "a shared receive queue of " + (limits.maxSrqWr() + 1) + " receives",
          () -> side.own(side.device.createSrq(side.pd, limits.maxSrqWr() + 1, 1)),
          often);
    }
    if (limits.maxSrq() > 0 && limits.maxSrqSge() < Integer.MAX_VALUE) {
      refused(
          "a shared receive queue of " + (limits.maxSrqSge() + 1) + " elements of a receive",
          () -> side.own(side.device.createSrq(side.pd, 1, limits.maxSrqSge() + 1)),
          often);
    }
  }

  private QpAttributes attributes(
      final int sends, final int receives, final int sendElements, final int receiveElements) {
    return new QpAttributes(
        side.pd, cq.queue, cq.queue, null, sends, receives, sendElements, receiveElements, 0);
  }

  private void refusedQp(
      final String what, final int limit, final IntFunction<QpAttributes> attributes) {
    if (limit < Integer.MAX_VALUE) {
      refused(
          "a queue pair of " + (limit + 1) + " " + what,
          () -> side.own(side.device.createQp(attributes.apply(limit + 1))),
          "a limit that is told, and not kept: each of the four numbers has one.");
    }
  }

  @Test
  void required_P02_moreObjectsThanThereIsRoomForAreRefused() {
    open();
    final Device device = side.device;
    final DeviceLimits limits = device.limits();
    final ByteBuffer memory = ByteBuffer.allocateDirect(8);
    final Set<Access> all = Side.all();
    final QpAttributes smallest = attributes(1, 1, 1, 1);
    boolean tried = fill(side, "domains", 1, limits.maxPd(), device::allocPd);
    tried |= fill(side, "regions", 1, limits.maxMr(), () -> device.regMr(side.pd, memory, all));
    tried |= fill(side, "queues", 1, limits.maxCq(), () -> device.createCq(1, queue -> {}));
    tried |= fill(side, "shared queues", 0, limits.maxSrq(), () -> device.createSrq(side.pd, 1, 1));
    tried |= fill(side, "queue pairs", 0, limits.maxQp(), () -> device.createQp(smallest));
    needs(tried, "there may be more objects of each kind than are tried: " + limits);
  }

  @Test
  void required_P02_anUnknownParameterIsRefused() {
    final String unknown = "tck-unknown=1";
    final VerbsException refusal =
        refused(
            "open with the parameter " + unknown,
            () -> where().provider.open(unknown, channel()).close(),
            "a parameter with a spelling mistake, which is passed over.");
    check(
        refusal.getMessage().contains("tck-unknown"),
        "a message with the parameter",
        refusal,
        "a message that leaves out what was read.");
  }

  @Test
  void required_P02_declarationAndLimitsStayTheSame() {
    open();
    same(
        declaration(side),
        declaration(side),
        "the declaration at a second look",
        "a declaration that is guessed anew from what happened.");
    same(side.device.limits(), side.device.limits(), "the limits at a second look", "as above.");
    same(
        side.device.capabilities(),
        side.device.capabilities(),
        "the capabilities at a second look",
        "as above.");
    check(
        declaration(side).armModel() != null
            && declaration(side).hint() != null
            && declaration(side).armedAfterHint() != null
            && declaration(side).secondArm() != null
            && declaration(side).concurrency() != null
            && declaration(side).solicited() != null
            && declaration(side).lastWqe() != null
            && declaration(side).privateData() != null,
        "a declaration of everything",
        declaration(side),
        "a null where Declaration.weakest() has a value.");
  }

  @Test
  void required_P04_moreScatterElementsThanTheQueueHasAreRefused() {
    open();
    final QueuePair qp = side.flushing(cq);
    final int most = side.device.limits().maxSge();
    needs(most < 1024, "it takes " + most + " elements");
    final RecvRequest request = new RecvRequest(most + 1);
    for (int i = 0; i <= most; i++) {
      request.addSge(side.mr.address(), 1, side.mr.lkey());
    }
    refusedPost(
        "a receive of " + (most + 1) + " elements",
        () -> qp.postRecv(request),
        "elements that are copied into an array of fixed size.",
        VerbsException.EINVAL);
  }
}
