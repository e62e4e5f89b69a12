package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Data between two connected queue pairs, its completions at both ends, and protection. */
public abstract class TransferTck extends VerbsTck {

  private static final String NO_COMPLETION =
      "an answer of the peer that is not awaited, or that is not matched with its request.";
  private static final String DATA = "an offset that counts from the buffer, not from the element.";
  private static final String PROTECTION =
      "an access that is not checked in full: key, domain, right, first and last byte.";
  private static final int RETRY_FOR_EVER = 7;

  /** More memory is not asked for. */
  private static final int LARGEST_PART = 1 << 27;

  private Link a;
  private Link b;

  /** Tests of transfers. */
  protected TransferTck() {}

  private void connect() {
    connect(RETRY_FOR_EVER);
  }

  private void connect(final int rnrRetries) {
    a = new Link(this, first());
    b = new Link(this, second());
    a.connectTo(b, rnrRetries);
  }

  private void fill(final Side side, final int offset, final int length, final int seed) {
    for (int i = 0; i < length; i++) {
      side.buffer.put(offset + i, (byte) (seed + 31 * i));
    }
  }

  private void checkBytes(final Side side, final int offset, final int length, final int seed) {
    for (int i = 0; i < length; i++) {
      final byte expected = (byte) (seed + 31 * i);
      final byte seen = side.buffer.get(offset + i);
      check(seen == expected, "byte " + i + " to be " + expected, seen, DATA);
    }
  }

  private SendRequest remote(
      final WrOpcode opcode, final long wrId, final int length, final int offset) {
    final SendRequest request = a.side.send(opcode, wrId, 0, length);
    request.remoteAddress = b.side.mr.address() + offset;
    request.rkey = b.side.mr.rkey();
    return request;
  }

  private Completion sent(final int number) {
    a.sends.awaitPolled(number, NO_COMPLETION);
    return a.sends.polled.get(number - 1);
  }

  private Completion received(final int number) {
    b.receives.awaitPolled(number, "a message that does not arrive, or whose receive is lost.");
    return b.receives.polled.get(number - 1);
  }

  private void checkSuccess(
      final Completion seen, final long wrId, final WcOpcode opcode, final QueuePair qp) {
    check(
        seen.isSuccess()
            && seen.wrId() == wrId
            && seen.opcode() == opcode
            && seen.qpNumber() == qp.number(),
        "wr_id " + wrId + " SUCCESS of qp " + qp.number() + " " + opcode,
        seen,
        "the opcode of the request is passed on as that of the completion; or the number is the"
            + " peer's.");
  }

  @Test
  void required_D01_aMessageArrives() {
    connect();
    fill(a.side, 0, 100, 5);
    b.side.postRecv(b.qp, b.side.recv(11, 1000, 128));
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 10, 0, 100));
    checkSuccess(sent(1), 10, WcOpcode.SEND, a.qp);
    final Completion received = received(1);
    checkSuccess(received, 11, WcOpcode.RECV, b.qp);
    same(100, received.byteLength(), "the length", "the length of the receive, not the message's.");
    same(false, received.hasImmediate(), "immediate data", "a flag that is not set back.");
    checkBytes(b.side, 1000, 100, 5);
  }

  @Test
  void required_D01_anEmptyMessageArrives() {
    connect();
    b.side.postRecv(b.qp, b.side.recv(1, 0, 8));
    final SendRequest request = new SendRequest(1);
    request.wrId = 2;
    a.side.postSend(a.qp, request);
    checkSuccess(sent(1), 2, WcOpcode.SEND, a.qp);
    same(0, received(1).byteLength(), "the length", "a length that is left from the last one.");
  }

  @Test
  void required_D01_immediateDataArrivesUnchanged() {
    connect();
    for (final int immediate : List.of(0x01020304, -1, 0)) {
      b.side.postRecv(b.qp, 1);
      final SendRequest request = a.side.send(WrOpcode.SEND_WITH_IMM, 2, 0, 8);
      request.immediate = immediate;
      final int errno = a.qp.postSend(request);
      needs(errno == 0, "it takes no immediate data: errno " + errno);
      final Completion received = received(b.receives.polled.size() + 1);
      check(
          received.isSuccess() && received.hasImmediate() && received.immediate() == immediate,
          "immediate data " + immediate,
          received,
          "a byte order of the network's that is turned at one end only.");
    }
  }

  @Test
  void required_D01_aWriteWithImmediateTakesAReceive() {
    connect();
    fill(a.side, 0, 32, 9);
    b.side.postRecv(b.qp, 1);
    final SendRequest request = remote(WrOpcode.RDMA_WRITE_WITH_IMM, 2, 32, 500);
    request.immediate = 77;
    needs(
        a.side.device.capabilities().contains(Capability.RDMA_WRITE_WITH_IMM),
        "it does not declare RDMA_WRITE_WITH_IMM");
    a.side.postSend(a.qp, request);
    checkSuccess(sent(1), 2, WcOpcode.RDMA_WRITE, a.qp);
    final Completion received = received(1);
    checkSuccess(received, 1, WcOpcode.RECV_RDMA_WITH_IMM, b.qp);
    same(77, received.immediate(), "immediate data", "data of the last message.");
    checkBytes(b.side, 500, 32, 9);
  }

  @Test
  void required_D01_aWriteArrives() {
    connect();
    fill(a.side, 0, 200, 3);
    b.side.postRecv(b.qp, 5);
    a.side.postSend(a.qp, remote(WrOpcode.RDMA_WRITE, 1, 200, 700));
    checkSuccess(sent(1), 1, WcOpcode.RDMA_WRITE, a.qp);
    checkBytes(b.side, 700, 200, 3);
    silence();
    same(List.of(), b.receives.pollAll(), "receives of the peer", "a write that takes a receive.");
  }

  @Test
  void required_D01_aWriteOfNoBytesNeedsNoMemory() {
    connect();
    final SendRequest write = new SendRequest(1);
    write.wrId = 1;
    write.opcode = WrOpcode.RDMA_WRITE;
    write.signaled = true;
    a.side.postSend(a.qp, write);
    checkSuccess(sent(1), 1, WcOpcode.RDMA_WRITE, a.qp);
  }

  @Test
  void required_D01_aMessageBehindAWriteFindsItDone() {
    connect();
    for (int round = 0; round < 4; round++) {
      fill(a.side, 0, 512, 3 + round);
      b.side.postRecv(b.qp, round);
      a.side.postSend(a.qp, remote(WrOpcode.RDMA_WRITE, 2L * round, 512, 700));
      a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 2L * round + 1, 600, 8));
      received(round + 1);
      did("looked at what was written: its message is here");
      checkBytes(b.side, 700, 512, 3 + round);
      sent(2 * round + 2);
    }
  }

  @Test
  void required_D01_aReadBringsThePeersBytes() {
    connect();
    fill(b.side, 700, 200, 4);
    a.side.postSend(a.qp, remote(WrOpcode.RDMA_READ, 1, 200, 700));
    final Completion completion = sent(1);
    checkSuccess(completion, 1, WcOpcode.RDMA_READ, a.qp);
    checkBytes(a.side, 0, 200, 4);
  }

  @Test
  void required_D01_elementsAreGatheredAndScattered() {
    connect();
    needs(a.side.device.limits().maxSge() >= 2, "it takes one element");
    fill(a.side, 0, 10, 1);
    fill(a.side, 100, 20, 2);
    final SendRequest request = a.side.send(WrOpcode.SEND, 1, 0, 10);
    request.addSge(a.side.mr.address() + 100, 20, a.side.mr.lkey());
    final RecvRequest receive = b.side.recv(2, 2000, 10);
    receive.addSge(b.side.mr.address() + 3000, 64, b.side.mr.lkey());
    b.side.postRecv(b.qp, receive);
    a.side.postSend(a.qp, request);
    same(30, received(1).byteLength(), "the length", "the first element's.");
    checkBytes(b.side, 2000, 10, 1);
    checkBytes(b.side, 3000, 20, 2);
  }

  @Test
  void required_E02_messagesAndCompletionsKeepTheirOrder() {
    connect();
    final int messages = 200;
    int posted = 0;
    for (int i = 0; i < Side.WR / 2; i++) {
      b.side.postRecv(b.qp, b.side.recv(i, 0, 8));
    }
    int provided = Side.WR / 2;
    while (b.receives.polled.size() < messages || a.sends.polled.size() < messages) {
      while (posted < messages && posted - a.sends.polled.size() < Side.WR / 2) {
        a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, posted++, 0, 8));
      }
      final int before = b.receives.polled.size() + a.sends.polled.size();
      await(
          () -> {
            b.receives.pollAll();
            a.sends.pollAll();
            return b.receives.polled.size() + a.sends.polled.size() > before;
          },
          "a completion",
          () -> posted(b.receives.polled.size(), a.sends.polled.size()),
          "a wake-up of the provider's own thread that is lost.");
      while (provided < messages && provided - b.receives.polled.size() < Side.WR / 2) {
        b.side.postRecv(b.qp, b.side.recv(provided++, 0, 8));
      }
    }
    for (int i = 0; i < messages; i++) {
      checkSuccess(a.sends.polled.get(i), i, WcOpcode.SEND, a.qp);
      checkSuccess(b.receives.polled.get(i), i, WcOpcode.RECV, b.qp);
    }
  }

  private static String posted(final int receives, final int sends) {
    return receives + " receives and " + sends + " sends completed";
  }

  @Test
  void required_D05_anUnsignaledSuccessIsSilent() {
    connect();
    for (int i = 0; i < 4; i++) {
      b.side.postRecv(b.qp, i);
      final SendRequest request = a.side.send(WrOpcode.SEND, i, 0, 8);
      request.signaled = i == 3;
      a.side.postSend(a.qp, request);
    }
    received(4);
    checkSuccess(sent(1), 3, WcOpcode.SEND, a.qp);
    silence();
    a.sends.pollAll();
    same(1, a.sends.polled.size(), "completions of one signaled request", "a flag of the queue's.");
  }

  @Test
  void required_D05_aSignaledCompletionFreesTheRoomOfThoseBefore() {
    connect();
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < Side.WR; i++) {
        final SendRequest request = remote(WrOpcode.RDMA_WRITE, i, 8, 0);
        request.signaled = i == Side.WR - 1;
        a.side.postSend(a.qp, request);
      }
      sent(round + 1);
    }
  }

  @Test
  void required_T11_aPostCopiesTheRequest() {
    connect();
    final RecvRequest receive = b.side.recv(4, 0, 8);
    b.side.postRecv(b.qp, receive);
    receive.wrId = 98;
    receive.clearSge();
    final SendRequest request = a.side.send(WrOpcode.SEND, 3, 0, 8);
    a.side.postSend(a.qp, request);
    request.wrId = 99;
    request.clearSge();
    checkSuccess(sent(1), 3, WcOpcode.SEND, a.qp);
    final Completion received = received(1);
    checkSuccess(received, 4, WcOpcode.RECV, b.qp);
    same(8, received.byteLength(), "the length", "a request that is kept, not copied.");
  }

  @Test
  void required_T11_moreInlineDataThanItTakesIsRefused() {
    connect();
    final int most = a.qp.maxInline();
    needs(most < Side.BYTES, "it takes " + most + " bytes inline");
    b.side.postRecv(b.qp, 1);
    final SendRequest request = a.side.send(WrOpcode.SEND, 2, 0, most + 1);
    request.inline = true;
    refusedPost(
        "post " + (most + 1) + " bytes inline, it takes " + most,
        () -> a.qp.postSend(request),
        "data that is cut, or written behind the end of a queue's entry; or read later, when its"
            + " owner has changed it.",
        VerbsException.EINVAL);
    did("post it again, not inline");
    request.inline = false;
    a.side.postSend(a.qp, request);
    checkSuccess(received(1), 1, WcOpcode.RECV, b.qp);
  }

  @Test
  void required_E05_aFullSendQueueRefusesWithEnomem() {
    connect();
    int taken = 0;
    int errno = 0;
    while (errno == 0 && taken < 1024) {
      final SendRequest request = a.side.send(WrOpcode.SEND, taken, 0, 8);
      request.signaled = false;
      errno = a.qp.postSend(request);
      taken += errno == 0 ? 1 : 0;
    }
    did("posted messages, which the peer has no receive for, until one was refused: " + taken);
    check(
        errno == VerbsException.ENOMEM && taken >= Side.WR,
        "ENOMEM, after at least " + Side.WR + " requests",
        "errno " + errno + " after " + taken,
        "another errno for a full queue; or requests that were sent but not answered, and are"
            + " not counted.");
  }

  @Test
  void required_C01_receivesPostedBeforeTheConnectionServeIt() {
    a = new Link(this, first());
    b = new Link(this, second());
    for (int i = 0; i < 4; i++) {
      b.side.postRecv(b.qp, i);
    }
    a.connectTo(b, 0);
    for (int i = 0; i < 4; i++) {
      a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, i, 0, 8));
      checkSuccess(sent(i + 1), i, WcOpcode.SEND, a.qp);
      checkSuccess(received(i + 1), i, WcOpcode.RECV, b.qp);
    }
  }

  @Test
  void required_M04_theEndOfAConnectionIsNotThatOfAnother() {
    connect();
    final Link from = new Link(this, a.side);
    final Link to = new Link(this, b.side);
    from.connectTo(to, RETRY_FOR_EVER);
    did("disconnect the first of two connections");
    a.id.disconnect();
    a.awaitEvent(2, "DISCONNECTED", "an answer that is not sent.");
    b.awaitEvent(2, "DISCONNECTED at the peer", "an end that is not told.");
    final String often = "connections that are told apart by the address of the peer.";
    to.side.postRecv(to.qp, 7);
    from.side.postSend(from.qp, from.side.send(WrOpcode.SEND, 8, 0, 8));
    to.receives.awaitPolled(1, often);
    checkSuccess(to.receives.polled.get(0), 7, WcOpcode.RECV, to.qp);
    silence();
    same(1, from.events.size(), "events of the other one: " + from.events, often);
    same(1, to.events.size(), "events of its peer: " + to.events, often);
  }

  @Test
  void required_T07_noAsynchronousEventComesAfterTheEndOfItsObject() {
    for (int round = 0; round < 8; round++) {
      connect();
      final SendRequest wrong = remote(WrOpcode.RDMA_WRITE, 1, 8, 0);
      wrong.rkey ^= 0x5a5a5a;
      a.side.postSend(a.qp, wrong);
      sent(1);
      pass(10L * round);
      b.side.close(b.qp, "the queue pair that the peer's wrong request broke");
      final int before = b.side.asyncs.size();
      silence();
      same(
          before,
          b.side.asyncs.size(),
          "asynchronous events after the end of what they are of: " + b.side.asyncs,
          "an event that was on its way: drop what is pending, under the lock that starts calls.");
    }
  }

  @Test
  void required_T11_inlineDataIsCopiedByThePost() {
    final Side from = first();
    final Cq cq = from.cq();
    final QueuePair inline =
        from.own(
            from.device.createQp(
                new QpAttributes(from.pd, cq.queue, cq.queue, null, 8, 8, 1, 1, 16)));
    needs(inline.maxInline() > 0, "it takes no inline data");
    check(
        inline.maxInline() >= 16,
        "at least the 16 bytes asked for",
        inline.maxInline(),
        "a" + " value of the driver's that was not asked back.");
    a = new Link(this, from, cq, inline);
    b = new Link(this, second());
    a.connectTo(b, RETRY_FOR_EVER);
    fill(from, 0, 16, 6);
    b.side.postRecv(b.qp, b.side.recv(1, 0, 16));
    final SendRequest request = from.send(WrOpcode.SEND, 2, 0, 16);
    request.inline = true;
    from.postSend(inline, request);
    fill(from, 0, 16, 100);
    received(1);
    checkBytes(b.side, 0, 16, 6);
  }

  @Test
  void required_C06_aMessageWithoutAReceiveFailsAfterItsRetries() {
    connect(0);
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 1, 0, 8));
    same(
        WcStatus.RNR_RETRY_EXC_ERR,
        sent(1).status(),
        "the status of a message that found no receive, with 0 retries",
        "a retry count of the provider's own.");
  }

  @Test
  void required_C06_aMessageWaitsForAReceiveWhereItIsRetriedForEver() {
    connect();
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 1, 0, 8));
    silence();
    b.side.postRecv(b.qp, 2);
    checkSuccess(sent(1), 1, WcOpcode.SEND, a.qp);
    checkSuccess(received(1), 2, WcOpcode.RECV, b.qp);
  }

  @Test
  void required_C06_aMessageThatNobodyTookIsNotComplete() {
    connect();
    b.side.postRecv(b.qp, 2);
    for (int i = 1; i <= 2; i++) {
      a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, i, 0, 8));
    }
    checkSuccess(sent(1), 1, WcOpcode.SEND, a.qp);
    silence();
    a.sends.pollAll();
    same(
        1,
        a.sends.polled.size(),
        "completions of 2 messages for 1 receive",
        "a send that completes when it is sent, not when the peer has answered.");
    b.side.postRecv(b.qp, 3);
    checkSuccess(sent(2), 2, WcOpcode.SEND, a.qp);
  }

  private void checkError(final Completion seen, final long wrId, final WcStatus... statuses) {
    check(
        seen.wrId() == wrId
            && seen.qpNumber() == a.qp.number()
            && List.of(statuses).contains(seen.status()),
        "wr_id " + wrId + " of qp " + a.qp.number() + " with " + List.of(statuses),
        seen,
        PROTECTION);
  }

  private void refusedByPeer(final WrOpcode opcode, final long address, final int rkey) {
    fill(b.side, 0, Side.BYTES, 50);
    fill(a.side, 0, 64, 70);
    final SendRequest request = a.side.send(opcode, 1, 0, 64);
    request.remoteAddress = address;
    request.rkey = rkey;
    a.side.postSend(a.qp, request);
    checkError(sent(1), 1, WcStatus.REM_ACCESS_ERR);
    checkBytes(b.side, 0, Side.BYTES, 50);
    checkBytes(a.side, 0, 64, 70);
    did("post another one: the queue pair is in the error state");
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 2, 0, 8));
    same(
        WcStatus.WR_FLUSH_ERR,
        sent(2).status(),
        "the status of what is posted after an error",
        "an error that leaves the queue pair as it was.");
  }

  @Test
  void required_D02_aWriteWithAWrongKeyIsRefused() {
    connect();
    refusedByPeer(WrOpcode.RDMA_WRITE, b.side.mr.address(), b.side.mr.rkey() ^ 0x5a5a5a);
  }

  @Test
  void required_D02_aReadWithAWrongKeyIsRefused() {
    connect();
    refusedByPeer(WrOpcode.RDMA_READ, b.side.mr.address(), b.side.mr.rkey() ^ 0x5a5a5a);
  }

  @Test
  void required_D02_aWritePastTheEndIsRefused() {
    connect();
    refusedByPeer(WrOpcode.RDMA_WRITE, b.side.mr.address() + Side.BYTES - 63, b.side.mr.rkey());
  }

  @Test
  void required_D02_aWriteBeforeTheStartIsRefused() {
    connect();
    refusedByPeer(WrOpcode.RDMA_WRITE, b.side.mr.address() - 1, b.side.mr.rkey());
  }

  private MemoryRegion withRights(final Side side, final Access... rights) {
    final Set<Access> access = EnumSet.noneOf(Access.class);
    access.addAll(List.of(rights));
    return side.region(ByteBuffer.allocateDirect(64), access);
  }

  @Test
  void required_D02_aWriteWithoutTheRightIsRefused() {
    connect();
    final MemoryRegion region = withRights(b.side, Access.LOCAL_WRITE, Access.REMOTE_READ);
    refusedByPeer(WrOpcode.RDMA_WRITE, region.address(), region.rkey());
  }

  @Test
  void required_D02_aReadWithoutTheRightIsRefused() {
    connect();
    final MemoryRegion region = withRights(b.side, Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    refusedByPeer(WrOpcode.RDMA_READ, region.address(), region.rkey());
  }

  @Test
  void required_D02_theKeyOfAClosedRegionIsDead() {
    connect();
    final MemoryRegion region = b.side.region(ByteBuffer.allocateDirect(64), Side.all());
    final long address = region.address();
    final int rkey = region.rkey();
    b.side.close(region, "the peer's region");
    refusedByPeer(WrOpcode.RDMA_WRITE, address, rkey);
  }

  @Test
  void required_D02_memoryOfAnotherDomainIsRefused() {
    connect();
    final ProtectionDomain other = b.side.own(b.side.device.allocPd());
    final MemoryRegion region =
        b.side.own(b.side.device.regMr(other, ByteBuffer.allocateDirect(64), Side.all()));
    refusedByPeer(WrOpcode.RDMA_WRITE, region.address(), region.rkey());
  }

  private void refusedHere(final long address, final int length, final int lkey) {
    b.side.postRecv(b.qp, 9);
    final SendRequest request = new SendRequest(1);
    request.wrId = 1;
    request.addSge(address, length, lkey);
    final int errno = verb("post a send of memory that is not ours", () -> a.qp.postSend(request));
    if (errno == 0) {
      checkError(sent(1), 1, WcStatus.LOC_PROT_ERR, WcStatus.LOC_LEN_ERR, WcStatus.LOC_QP_OP_ERR);
    } else {
      same(VerbsException.EINVAL, errno, "the errno", PROTECTION);
    }
    silence();
    final List<Completion> arrived = b.receives.pollAll();
    check(
        arrived.stream().noneMatch(Completion::isSuccess),
        "nothing to arrive",
        arrived,
        PROTECTION);
  }

  @Test
  void required_D02_aSendWithAWrongKeyFailsHere() {
    connect();
    refusedHere(a.side.mr.address(), 8, a.side.mr.lkey() ^ 0x5a5a5a);
  }

  @Test
  void required_D02_aSendPastTheEndFailsHere() {
    connect();
    refusedHere(a.side.mr.address() + Side.BYTES - 7, 8, a.side.mr.lkey());
  }

  @Test
  void required_D02_aSendOfAClosedRegionFailsHere() {
    connect();
    final MemoryRegion region = a.side.region(ByteBuffer.allocateDirect(64), Side.all());
    final long address = region.address();
    final int lkey = region.lkey();
    a.side.close(region, "the region");
    refusedHere(address, 8, lkey);
  }

  @Test
  void required_D02_aMessageThatIsTooLongFailsAtBothEnds() {
    connect();
    fill(b.side, 0, Side.BYTES, 50);
    b.side.postRecv(b.qp, b.side.recv(5, 0, 32));
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 1, 1000, 64));
    checkError(sent(1), 1, WcStatus.REM_INV_REQ_ERR, WcStatus.REM_OP_ERR);
    final Completion received = received(1);
    check(
        received.wrId() == 5 && received.status() == WcStatus.LOC_LEN_ERR,
        "wr_id 5 LOC_LEN_ERR",
        received,
        "a message that is cut to the length of the receive.");
    checkBytes(b.side, 32, Side.BYTES - 32, 50 + 31 * 32);
  }

  @Test
  void required_A06_anUnsolicitedSuccessIsNoSolicitedNotification() {
    connect();
    needs(
        declaration(b.side).solicited() != SolicitedSupport.UNSUPPORTED,
        "it declares that it has no solicited arms");
    for (int i = 0; i < 4; i++) {
      b.side.postRecv(b.qp, i);
    }
    final boolean armed = declaration(b.side).isArmedAfter(b.receives.arm(ArmKind.SOLICITED));
    needs(armed, "it hints of an empty queue");
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 1, 0, 8));
    received(1);
    silence();
    same(0, b.receives.notifications.get(), "notifications", "the kind of the arm is ignored.");
    final SendRequest solicited = a.side.send(WrOpcode.SEND, 2, 0, 8);
    solicited.solicited = true;
    a.side.postSend(a.qp, solicited);
    b.receives.awaitNotification(1, "a solicited flag that is not sent along.");
  }

  @Test
  void required_A06_aPendingArmIsNotWeakened() {
    connect();
    final SecondArm second = declaration(b.side).secondArm();
    needs(
        declaration(b.side).solicited() != SolicitedSupport.UNSUPPORTED
            && (second == SecondArm.IGNORED || second == SecondArm.COUNTED),
        "it declares " + declaration(b.side).solicited() + ", and of a second arm " + second);
    b.side.postRecv(b.qp, 1);
    needs(b.receives.armSurely(), "it hints of an empty queue");
    b.receives.arm(ArmKind.SOLICITED);
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 1, 0, 8));
    b.receives.awaitNotification(
        1, "a second arm that replaces the first one, as siw's does: declare OVERWRITES.");
  }

  /** Fills a buffer of its own, larger than any packet. */
  private static ByteBuffer large(final int bytes, final int seed) {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(bytes);
    for (int i = 0; i < bytes; i++) {
      buffer.put(i, (byte) (seed + i + (i >> 8)));
    }
    return buffer;
  }

  @Test
  void required_D01_longMessagesArriveWhole() {
    connect();
    final int bytes = (int) Math.min(300_001, a.side.device.limits().maxMessageBytes());
    final ByteBuffer from = large(bytes, 3);
    final ByteBuffer into = large(bytes, 90);
    final MemoryRegion source = a.side.region(from, Side.all());
    final MemoryRegion target = b.side.region(into, Side.all());
    final String often = "a message of several packets, one of which is lost or put elsewhere.";
    int done = 0;
    for (final WrOpcode opcode : List.of(WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ)) {
      final boolean isRead = opcode == WrOpcode.RDMA_READ;
      final SendRequest request = new SendRequest(1);
      request.opcode = opcode;
      request.addSge(source.address(), bytes, source.lkey());
      request.remoteAddress = target.address();
      request.rkey = target.rkey();
      if (opcode == WrOpcode.SEND) {
        final RecvRequest receive = new RecvRequest(1);
        receive.addSge(target.address(), bytes, target.lkey());
        b.side.postRecv(b.qp, receive);
      }
      did("of " + bytes + " bytes");
      a.side.postSend(a.qp, request);
      final Completion seen = sent(++done);
      check(seen.isSuccess(), "a long " + opcode + " to be done", seen, often);
      if (opcode == WrOpcode.SEND) {
        same(bytes, received(1).byteLength(), "the length", "a length of 16 bits.");
      }
      check(
          from.mismatch(into) < 0,
          "all bytes of a long " + opcode + " to be the same at both ends",
          "byte " + from.mismatch(into) + " differs",
          often);
      final ByteBuffer next = isRead ? from : into;
      next.put(0, large(bytes, 100 + done), 0, bytes);
    }
  }

  @Test
  void required_P02_aMessageAboveTheLimitReachesNobody() {
    a = new Link(this, first());
    b = new Link(this, second());
    final DeviceLimits limits = a.side.device.limits();
    final long part = limits.maxMessageBytes() / limits.maxSge() + 1;
    needs(part <= LARGEST_PART, "it takes elements of " + part + " bytes to be above the limit");
    final MemoryRegion memory =
        a.side.region(ByteBuffer.allocateDirect((int) part), EnumSet.of(Access.LOCAL_WRITE));
    for (final WrOpcode opcode : List.of(WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ)) {
      refusedOrTooLong(opcode, memory, limits);
    }
  }

  private void refusedOrTooLong(
      final WrOpcode opcode, final MemoryRegion memory, final DeviceLimits limits) {
    a = new Link(this, a.side, limits.maxSge());
    b = new Link(this, b.side);
    a.connectTo(b, RETRY_FOR_EVER);
    b.side.postRecv(b.qp, 1);
    final SendRequest request = new SendRequest(limits.maxSge());
    request.opcode = opcode;
    request.remoteAddress = b.side.mr.address();
    request.rkey = b.side.mr.rkey();
    for (long left = limits.maxMessageBytes() + 1; left > 0; left -= memory.length()) {
      request.addSge(memory.address(), (int) Math.min(left, memory.length()), memory.lkey());
    }
    final String what = "a " + opcode + " of " + request.length() + " bytes, above the limit";
    final String often = "a length that is cut to 32 bits, or left to the peer to refuse.";
    did("post " + what);
    final int errno = a.qp.postSend(request);
    if (errno == 0) {
      same(WcStatus.LOC_LEN_ERR, sent(1).status(), "the status of " + what, often);
    } else {
      same(VerbsException.EINVAL, errno, "the errno of " + what, often);
    }
    silence();
    b.receives.pollAll();
    check(
        b.receives.polled.stream().noneMatch(Completion::isSuccess) && b.side.asyncs.isEmpty(),
        what + " to reach nobody",
        b.receives.polled + " and " + b.side.asyncs,
        often);
  }

  @Test
  void required_E02_completionsOfAllKindsKeepTheOrderOfTheirPosts() {
    connect();
    final List<WrOpcode> kinds =
        List.of(WrOpcode.RDMA_READ, WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ);
    for (int i = 0; i < 4; i++) {
      b.side.postRecv(b.qp, i);
    }
    for (int i = 0; i < 12; i++) {
      a.side.postSend(a.qp, remote(kinds.get(i % 4), i, i % 4 == 0 ? 1024 : 8, 2048));
    }
    for (int i = 0; i < 12; i++) {
      final Completion seen = sent(i + 1);
      check(
          seen.isSuccess() && seen.wrId() == i,
          "wr_id " + i + " SUCCESS next, of " + kinds.get(i % 4),
          seen,
          "answers that are told as they come: a read's comes later than that of what is behind"
              + " it.");
    }
  }

  @Test
  void required_D01_aFencedMessageSendsWhatAReadBrought() {
    connect();
    for (int round = 0; round < 4; round++) {
      fill(b.side, 700, 512, 4 + round);
      fill(a.side, 0, 512, 90);
      b.side.postRecv(b.qp, b.side.recv(round, 2000, 512));
      final SendRequest read = remote(WrOpcode.RDMA_READ, 2L * round, 512, 700);
      a.side.postSend(a.qp, read);
      final SendRequest fenced = a.side.send(WrOpcode.SEND, 2L * round + 1, 0, 512);
      fenced.fence = true;
      a.side.postSend(a.qp, fenced);
      received(round + 1);
      checkBytes(b.side, 2000, 512, 4 + round);
      sent(2 * round + 2);
    }
  }

  @Test
  void required_D02_aReceiveIntoMemoryThatMayNotBeWrittenFails() {
    connect();
    final ByteBuffer memory = large(64, 7);
    final MemoryRegion region = b.side.region(memory, EnumSet.of(Access.REMOTE_READ));
    final RecvRequest receive = new RecvRequest(1);
    receive.wrId = 5;
    receive.addSge(region.address(), 64, region.lkey());
    final int errno = verb("post a receive without LOCAL_WRITE", () -> b.qp.postRecv(receive));
    if (errno == 0) {
      a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 1, 0, 8));
      checkError(sent(1), 1, WcStatus.REM_OP_ERR, WcStatus.REM_ACCESS_ERR);
      final Completion received = received(1);
      check(
          received.status() == WcStatus.LOC_PROT_ERR
              || received.status() == WcStatus.LOC_QP_OP_ERR, // as soft-RoCE has it
          "the receive to fail with LOC_PROT_ERR or LOC_QP_OP_ERR",
          received,
          PROTECTION);
    }
    check(memory.equals(large(64, 7)), "the memory as it was", "it was written", PROTECTION);
  }

  @Test
  void required_D02_aReadIntoMemoryThatMayNotBeWrittenFailsHere() {
    connect();
    final ByteBuffer memory = large(64, 7);
    final MemoryRegion region = a.side.region(memory, EnumSet.of(Access.REMOTE_READ));
    final SendRequest read = new SendRequest(1);
    read.wrId = 1;
    read.opcode = WrOpcode.RDMA_READ;
    read.addSge(region.address(), 64, region.lkey());
    read.remoteAddress = b.side.mr.address();
    read.rkey = b.side.mr.rkey();
    if (verb("post a read without LOCAL_WRITE", () -> a.qp.postSend(read)) == 0) {
      checkError(sent(1), 1, WcStatus.LOC_PROT_ERR, WcStatus.LOC_QP_OP_ERR);
    }
    check(memory.equals(large(64, 7)), "the memory as it was", "it was written", PROTECTION);
  }

  @Test
  void required_D02_aSendOfAnotherDomainFailsHere() {
    connect();
    final ProtectionDomain other = a.side.own(a.side.device.allocPd());
    final MemoryRegion region =
        a.side.own(a.side.device.regMr(other, ByteBuffer.allocateDirect(64), Side.all()));
    refusedHere(region.address(), 8, region.lkey());
  }

  @Test
  void required_E02_nothingBehindAFailureIsCarriedOut() {
    connect();
    fill(b.side, 0, Side.BYTES, 50);
    b.side.postRecv(b.qp, b.side.recv(9, 1000, 64));
    final SendRequest failing = remote(WrOpcode.RDMA_WRITE, 61, 8, 0);
    failing.rkey ^= 0x5a5a5a;
    a.side.postSend(a.qp, failing);
    a.side.postSend(a.qp, remote(WrOpcode.RDMA_WRITE, 62, 8, 0));
    a.side.postSend(a.qp, a.side.send(WrOpcode.SEND, 63, 0, 8));
    final String often = "requests that are sent without a look at the answers of those before.";
    checkError(sent(1), 61, WcStatus.REM_ACCESS_ERR);
    checkError(sent(2), 62, WcStatus.WR_FLUSH_ERR);
    checkError(sent(3), 63, WcStatus.WR_FLUSH_ERR);
    silence();
    final List<Completion> arrived = b.receives.pollAll();
    check(arrived.stream().noneMatch(Completion::isSuccess), "nothing to arrive", arrived, often);
    for (int i = 0; i < Side.BYTES; i++) {
      same((byte) (50 + 31 * i), b.side.buffer.get(i), "byte " + i + " of the peer", often);
    }
  }

  @Test
  void required_T03_whatWaitsForThePeerIsFlushed() {
    connect();
    for (int i = 0; i < 4; i++) {
      final SendRequest request = a.side.send(WrOpcode.SEND, 51 + i, 0, 8);
      request.signaled = i % 2 == 0;
      a.side.postSend(a.qp, request);
    }
    silence();
    did("modify the queue pair to the error state: the peer has no receive for 4 messages");
    a.qp.modifyToError();
    for (int i = 0; i < 4; i++) {
      checkError(sent(i + 1), 51 + i, WcStatus.WR_FLUSH_ERR);
    }
    b.side.postRecv(b.qp, 7);
    silence();
    final List<Completion> arrived = b.receives.pollAll();
    check(
        arrived.stream().noneMatch(Completion::isSuccess),
        "no message to arrive that was flushed",
        arrived,
        "a message that is on its way, or waits at the peer, and is flushed as well.");
  }
}
