package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/**
 * Memory windows of a type, of a device whose limits say that there are some. The device that
 * listens has the memory and binds; the one that connects reaches through the window.
 */
public abstract class WindowTck extends VerbsTck {

  private static final int START = 128;
  private static final int LENGTH = 64;
  private static final int BYTES = 8;
  private static final byte UNTOUCHED = 0x11;
  private static final byte WRITTEN = 0x77;
  private static final String OPEN =
      "a bind that is carried out after its completion, or with the key the window had before.";
  private static final String SHUT =
      "the window's own bounds, rights and state are not looked at, only those of its region.";
  private static final String KEY =
      "the key is taken from the window when it is used, not the one that the bind was given.";
  private static final String UNBIND =
      "the region that the window was bound to is needed for an unbind, and there is none.";
  private static final String BAD_BIND =
      "a bind that is carried out before it is checked; one that cannot be done ends in"
          + " MW_BIND_ERR, or its post is refused.";

  private final MwType type;
  private Link peer;
  private Link owner;
  private ByteBuffer memory;
  private MemoryRegion region;

  /**
   * Tests of memory windows.
   *
   * @param type of this type.
   */
  protected WindowTck(final MwType type) {
    this.type = type;
  }

  private void connect() {
    final Side side = second();
    needs(side.device.limits().maxMw() > 0, "its limits say maxMw 0");
    try {
      side.device.allocMw(side.pd, type).close();
    } catch (final VerbsException e) {
      needs(e.errno() != VerbsException.EOPNOTSUPP, "it has no windows of " + type);
      throw e;
    }
    peer = new Link(this, first());
    owner = new Link(this, side);
    region = region(Access.MW_BIND, Access.LOCAL_WRITE);
    peer.connectTo(owner, 7);
  }

  /** A region of the owner; the peer has no right to it but through windows. */
  private MemoryRegion region(final Access... rights) {
    memory = ByteBuffer.allocateDirect(1024);
    for (int i = 0; i < memory.capacity(); i++) {
      memory.put(i, UNTOUCHED);
    }
    final Set<Access> access = EnumSet.noneOf(Access.class);
    access.addAll(Set.of(rights));
    return owner.side.region(memory, access);
  }

  private void needsType(final MwType of) {
    needs(type == of, "for windows of " + of);
  }

  private MemoryWindow window() {
    did("allocate a window of " + type);
    return owner.side.own(owner.side.device.allocMw(owner.side.pd, type));
  }

  private MemoryWindow bound() {
    final MemoryWindow window = window();
    bind(window);
    return window;
  }

  private BindRequest request(final MemoryWindow window) {
    final BindRequest request = new BindRequest();
    request.wrId = 70L + owner.sends.polled.size();
    request.window = window;
    request.region = region;
    request.address = region.address() + START;
    request.length = LENGTH;
    request.access = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE);
    return request;
  }

  private int post(final BindRequest request) {
    return verb(
        request.length == 0
            ? "post an unbind (length 0)"
            : "post a bind of " + request.length + " bytes at " + START + ", " + request.access,
        () -> owner.qp.postBind(request));
  }

  private void bind(final MemoryWindow window) {
    bind(request(window));
  }

  /** Binds, and waits until it is done. */
  private void bind(final BindRequest request) {
    same(0, post(request), "the errno of a bind", "room that does not return.");
    owner.sends.awaitPolled(
        owner.sends.polled.size() + 1, "a bind that makes no completion, or waits for its peer.");
    final Completion done = owner.sends.polled.get(owner.sends.polled.size() - 1);
    check(
        done.isSuccess()
            && done.wrId() == request.wrId
            && done.opcode() == WcOpcode.BIND_MW
            && done.qpNumber() == owner.qp.number(),
        "wr_id "
            + request.wrId
            + " SUCCESS of qp "
            + owner.qp.number()
            + " "
            + WcOpcode.BIND_MW
            + ", after what was done",
        done,
        "the bits of a bind that are sent on as another opcode; or a window that is taken for"
            + " bound, or not, as its last bind left it.");
  }

  private BindRequest unbindRequest(final MemoryWindow window) {
    final BindRequest request = request(window);
    request.region = null;
    request.address = 0;
    request.length = 0;
    request.access = Set.of();
    return request;
  }

  private void unbind(final MemoryWindow window) {
    bind(unbindRequest(window));
  }

  /** Of a window that is not bound: done, failed or refused, but not thrown. */
  private void unbindsNothing(final MemoryWindow window) {
    final BindRequest request = unbindRequest(window);
    final int number = owner.sends.polled.size() + 1;
    final int errno;
    try {
      errno = post(request);
    } catch (final VerbsException e) {
      check(false, "0, or errno EINVAL", e, UNBIND);
      return;
    }
    if (errno != 0) {
      same(VerbsException.EINVAL, errno, "the errno of an unbind that is refused", UNBIND);
      return;
    }
    owner.sends.awaitPolled(number, "an unbind that makes no completion.");
    final Completion done = owner.sends.polled.get(number - 1);
    check(
        (done.isSuccess() || done.status() == WcStatus.MW_BIND_ERR) && done.wrId() == request.wrId,
        "wr_id " + request.wrId + ", SUCCESS or " + WcStatus.MW_BIND_ERR,
        done,
        UNBIND);
  }

  private void isNotBound(final BindRequest request) {
    final int number = owner.sends.polled.size() + 1;
    final int errno = post(request);
    if (errno != 0) {
      did("it was refused with errno " + errno);
      check(
          errno != VerbsException.EOPNOTSUPP && errno != VerbsException.ENOMEM,
          "another errno, EINVAL say: there are windows, and there is room",
          "errno " + errno,
          BAD_BIND);
      return;
    }
    owner.sends.awaitPolled(number, "an error that is kept silent.");
    final Completion done = owner.sends.polled.get(number - 1);
    check(
        done.status() == WcStatus.MW_BIND_ERR && done.wrId() == request.wrId,
        "wr_id " + request.wrId + " " + WcStatus.MW_BIND_ERR,
        done,
        BAD_BIND);
    owner.side.postSend(owner.qp, owner.side.send(WrOpcode.SEND, 2, 0, BYTES));
    owner.sends.awaitPolled(number + 1, "a bind that failed and left the queue pair as it was.");
    same(
        WcStatus.WR_FLUSH_ERR,
        owner.sends.polled.get(number).status(),
        "the status of what is posted after a bind that failed",
        "a bind that failed and left the queue pair as it was.");
  }

  private SendRequest through(
      final Link from, final WrOpcode opcode, final int rkey, final int offset) {
    final SendRequest request = from.side.send(opcode, from.sends.polled.size(), 0, BYTES);
    request.remoteAddress = region.address() + offset;
    request.rkey = rkey;
    for (int i = 0; i < BYTES; i++) {
      from.side.buffer.put(i, WRITTEN);
    }
    return request;
  }

  private Completion carriedOut(final Link from, final SendRequest request) {
    from.side.postSend(from.qp, request);
    from.sends.awaitPolled(
        from.sends.polled.size() + 1, "a request of the peer that is not answered.");
    return from.sends.polled.get(from.sends.polled.size() - 1);
  }

  private void writes(final Link from, final int rkey, final int offset) {
    final Completion seen = carriedOut(from, through(from, WrOpcode.RDMA_WRITE, rkey, offset));
    check(seen.isSuccess(), "a write through the window to be done", seen, OPEN);
    for (int i = 0; i < BYTES; i++) {
      same(WRITTEN, memory.get(offset + i), "byte " + (offset + i) + " of the region", OPEN);
      memory.put(offset + i, UNTOUCHED);
    }
  }

  private void reads(final int rkey, final int offset) {
    final Completion seen = carriedOut(peer, through(peer, WrOpcode.RDMA_READ, rkey, offset));
    check(seen.isSuccess(), "a read through the window to be done", seen, OPEN);
    for (int i = 0; i < BYTES; i++) {
      same(UNTOUCHED, peer.side.buffer.get(i), "byte " + i + " that was read", OPEN);
    }
  }

  private void isRefused(
      final Link from,
      final WrOpcode opcode,
      final int rkey,
      final int offset,
      final String often) {
    final Completion seen = carriedOut(from, through(from, opcode, rkey, offset));
    same(WcStatus.REM_ACCESS_ERR, seen.status(), "the status of a " + opcode, often);
    for (int i = 0; i < memory.capacity(); i++) {
      same(UNTOUCHED, memory.get(i), "byte " + i + " of the region", often);
    }
    for (int i = 0; i < BYTES; i++) {
      same(WRITTEN, from.side.buffer.get(i), "byte " + i + " of who asked", often);
    }
  }

  private void isRefused(final int rkey, final int offset, final String often) {
    isRefused(peer, WrOpcode.RDMA_WRITE, rkey, offset, often);
  }

  @Test
  void required_P02_thereAreWindowsAsTheLimitsSay() {
    final Side side = second();
    int types = 0;
    for (final MwType each : MwType.values()) {
      try {
        side.device.allocMw(side.pd, each).close();
        types++;
      } catch (final VerbsException e) {
        did("allocate a window of " + each + ": " + e.getMessage());
        same(VerbsException.EOPNOTSUPP, e.errno(), "the errno", "a type that is not looked at.");
      }
    }
    check(
        (side.device.limits().maxMw() > 0) == (types > 0),
        "windows of some type if, and only if, maxMw is above 0",
        types + " types, and maxMw " + side.device.limits().maxMw(),
        "a limit of the driver's that is told although its windows are not offered.");
    if (types == 0) {
      refusedPost(
          "post a bind",
          () -> side.qp(side.cq()).postBind(new BindRequest()),
          "a bind that is not the default of the SPI.",
          VerbsException.EOPNOTSUPP);
    }
  }

  @Test
  void required_P02_moreWindowsThanThereIsRoomForAreRefused() {
    connect();
    final Device device = owner.side.device;
    final int most = device.limits().maxMw();
    needs(
        fill(owner.side, "windows", 0, most, () -> device.allocMw(owner.side.pd, type)),
        "there may be " + most + " windows, more than are tried");
  }

  @Test
  void required_D01_aBindOpensItsPart() {
    connect();
    final MemoryWindow window = bound();
    writes(peer, window.rkey(), START);
    writes(peer, window.rkey(), START + LENGTH - BYTES);
    reads(window.rkey(), START);
    reads(window.rkey(), START + LENGTH - BYTES);
  }

  @Test
  void required_D01_aRequestBehindABindFindsItDone() {
    connect();
    final MemoryWindow window = window();
    peer.side.postRecv(peer.qp, 1);
    same(0, post(request(window)), "the errno of a bind", "room that does not return.");
    final int rkey = window.rkey();
    owner.side.postSend(owner.qp, owner.side.send(WrOpcode.SEND, 2, 0, BYTES));
    peer.receives.awaitPolled(1, "a message that does not arrive.");
    writes(peer, rkey, START);
    owner.sends.awaitPolled(2, "a completion of one of the two.");
    same(WcOpcode.BIND_MW, owner.sends.polled.get(0).opcode(), "the first completion", OPEN);
  }

  @Test
  void required_D05_anUnsignaledBindIsSilent() {
    connect();
    final MemoryWindow window = window();
    final BindRequest request = request(window);
    request.signaled = false;
    same(0, post(request), "the errno of a bind", "room that does not return.");
    peer.side.postRecv(peer.qp, 1);
    owner.side.postSend(owner.qp, owner.side.send(WrOpcode.SEND, 5, 0, BYTES));
    owner.sends.awaitPolled(1, "a message whose completion is lost.");
    silence();
    owner.sends.pollAll();
    same(1, owner.sends.polled.size(), "completions of one signaled request", "a flag of sends.");
    same(5L, owner.sends.polled.get(0).wrId(), "its wr_id", "a flag of sends.");
    writes(peer, window.rkey(), START);
  }

  @Test
  void required_E01_aBindThatIsFlushedCompletesOnce() {
    connect();
    final MemoryWindow window = window();
    did("modify the owner's queue pair to the error state");
    owner.qp.modifyToError();
    final BindRequest request = request(window);
    same(0, post(request), "the errno of a bind in the error state", "a state that is refused.");
    owner.sends.awaitPolled(1, "a bind that is not flushed.");
    silence();
    owner.sends.pollAll();
    same(1, owner.sends.polled.size(), "completions of one bind", "a bind that is carried out.");
    final Completion done = owner.sends.polled.get(0);
    check(
        done.wrId() == request.wrId && done.status() == WcStatus.WR_FLUSH_ERR,
        "wr_id " + request.wrId + " " + WcStatus.WR_FLUSH_ERR,
        done,
        "a bind that is carried out although the queue pair is in the error state.");
  }

  @Test
  void required_D02_aWriteBehindTheEndOfAWindowIsRefused() {
    connect();
    isRefused(bound().rkey(), START + LENGTH - BYTES + 1, SHUT);
  }

  @Test
  void required_D02_aWriteBeforeTheStartOfAWindowIsRefused() {
    connect();
    isRefused(bound().rkey(), START - 1, SHUT);
  }

  private void onlyWith(final Access right, final WrOpcode refused) {
    connect();
    final MemoryWindow window = window();
    final BindRequest request = request(window);
    request.access = EnumSet.of(right);
    bind(request);
    if (right == Access.REMOTE_READ) {
      reads(window.rkey(), START);
    } else {
      writes(peer, window.rkey(), START);
    }
    isRefused(peer, refused, window.rkey(), START, SHUT);
  }

  @Test
  void required_D02_aWindowToReadIsNotWritten() {
    onlyWith(Access.REMOTE_READ, WrOpcode.RDMA_WRITE);
  }

  @Test
  void required_D02_aWindowToWriteIsNotRead() {
    onlyWith(Access.REMOTE_WRITE, WrOpcode.RDMA_READ);
  }

  @Test
  void required_D02_aWindowThatWasNeverBoundIsShut() {
    connect();
    isRefused(window().rkey(), START, SHUT);
  }

  @Test
  void required_D02_anUnbindShutsTheWindow() {
    connect();
    final MemoryWindow window = bound();
    final int rkey = window.rkey();
    writes(peer, rkey, START);
    unbind(window);
    isRefused(rkey, START, "a bind of length 0 that leaves the window as it was.");
  }

  @Test
  void required_D01_anUnbindOfAWindowThatWasNeverBoundDoesNotThrow() {
    connect();
    unbindsNothing(window());
  }

  @Test
  void required_D01_anUnbindOfAWindowWhoseRegionIsClosedDoesNotThrow() {
    connect();
    final MemoryWindow window = bound();
    unbind(window);
    owner.side.close(region, "the region that it was bound to");
    unbindsNothing(window);
  }

  @Test
  void required_D01_aWindowIsBoundAgainWithANewKey() {
    connect();
    final MemoryWindow window = bound();
    final int before = window.rkey();
    unbind(window);
    bind(window);
    check(
        window.rkey() != before,
        "another key than that of the last bind, " + before,
        window.rkey(),
        "a key that is made when the window is allocated.");
    writes(peer, window.rkey(), START);
    isRefused(before, START, KEY);
  }

  @Test
  void required_D02_aBindOfType1EndsTheOneBefore() {
    needsType(MwType.TYPE_1);
    connect();
    final MemoryWindow window = bound();
    final int before = window.rkey();
    bind(window);
    writes(peer, window.rkey(), START);
    isRefused(before, START, KEY);
  }

  @Test
  void required_D02_anotherQueuePairOfTheDomainReachesThroughAWindowOfType1() {
    needsType(MwType.TYPE_1);
    connect();
    final Link other = new Link(this, peer.side);
    other.connectTo(new Link(this, owner.side), 7);
    writes(other, bound().rkey(), START);
  }

  @Test
  void required_D02_anotherQueuePairDoesNotReachThroughAWindowOfType2() {
    needsType(MwType.TYPE_2);
    connect();
    final Link other = new Link(this, peer.side);
    other.connectTo(new Link(this, owner.side), 7);
    final MemoryWindow window = bound();
    writes(peer, window.rkey(), START);
    isRefused(
        other,
        WrOpcode.RDMA_WRITE,
        window.rkey(),
        START,
        "the domain is compared, and not the queue pair that bound the window.");
  }

  @Test
  void required_D01_aWindowOfType2ThatIsBoundIsNotBoundAgain() {
    needsType(MwType.TYPE_2);
    connect();
    isNotBound(request(bound()));
  }

  private Completion invalidate(final int rkey) {
    owner.side.postRecv(owner.qp, 9);
    final SendRequest request = peer.side.send(WrOpcode.SEND_WITH_INV, 3, 0, BYTES);
    request.invalidateRkey = rkey;
    final int errno = verb("post SEND_WITH_INV 3", () -> peer.qp.postSend(request));
    needs(
        type == MwType.TYPE_2
            || (errno != VerbsException.EINVAL && errno != VerbsException.EOPNOTSUPP),
        "the peer has no SEND_WITH_INV: errno " + errno);
    same(0, errno, "the errno of SEND_WITH_INV", "an opcode that is not known.");
    peer.sends.awaitPolled(
        peer.sends.polled.size() + 1, "a request of the peer that is not answered.");
    return peer.sends.polled.get(peer.sends.polled.size() - 1);
  }

  @Test
  void required_D01_aMessageEndsAWindowOfType2() {
    needsType(MwType.TYPE_2);
    connect();
    final MemoryWindow window = bound();
    final int rkey = window.rkey();
    final Completion sent = invalidate(rkey);
    check(sent.isSuccess(), "the message to be sent", sent, "an opcode that is not known.");
    owner.receives.awaitPolled(1, "a message that does not arrive.");
    final Completion received = owner.receives.polled.get(0);
    check(
        received.isSuccess()
            && received.opcode() == WcOpcode.RECV
            && received.hasInvalidated()
            && received.invalidatedRkey() == rkey
            && !received.hasImmediate(),
        "a RECV that ended key " + rkey + ", without immediate data",
        received,
        "the flag is not passed on; or it is taken for that of immediate data, whose place the"
            + " key has.");
    bind(window);
    writes(peer, window.rkey(), START);
    isRefused(rkey, START, "a message that tells of the end of the window, and does not end it.");
  }

  @Test
  void required_D02_aMessageDoesNotEndAWindowOfType1() {
    needsType(MwType.TYPE_1);
    connect();
    final Completion sent = invalidate(bound().rkey());
    check(
        !sent.isSuccess(),
        "the message to fail: only windows of type 2 are ended so",
        sent,
        "a type that is not looked at.");
  }

  @Test
  void required_D02_theKeyOfAClosedWindowIsDead() {
    connect();
    final MemoryWindow window = bound();
    final int rkey = window.rkey();
    owner.side.close(window, "the window, which is bound");
    isRefused(rkey, START, "a window that is freed, and stays in the table of keys.");
  }

  @Test
  void required_D02_aRegionWithoutTheRightIsNotBound() {
    connect();
    region = region(Access.LOCAL_WRITE);
    isNotBound(request(window()));
  }

  @Test
  void required_D02_aRegionThatIsNotWrittenIsNotBoundToWrite() {
    connect();
    region = region(Access.MW_BIND);
    isNotBound(request(window()));
  }

  @Test
  void required_D02_aBindBehindTheEndOfTheRegionIsNotDone() {
    connect();
    final BindRequest request = request(window());
    request.address = region.address() + memory.capacity() - LENGTH + 1;
    isNotBound(request);
  }

  @Test
  void required_D02_aWindowOfAnotherDomainIsNotBound() {
    connect();
    final ProtectionDomain other = owner.side.own(owner.side.device.allocPd());
    isNotBound(request(owner.side.own(owner.side.device.allocMw(other, type))));
  }

  @Test
  void required_T11_noWindowReachesAClosedRegion() {
    connect();
    final MemoryWindow window = bound();
    did("close the region that the window is bound to");
    try {
      region.close();
    } catch (final VerbsException e) {
      did("it was refused: " + e.getMessage());
      writes(peer, window.rkey(), START);
      unbind(window);
      owner.side.close(region, "the region");
      return;
    }
    isRefused(
        window.rkey(), START, "a window that keeps the address of a region, and not the region.");
  }

  @Test
  void required_R02_windowsThatAreClosedOrNotOursAreRefused() {
    connect();
    final MemoryWindow window = window();
    final QueuePair qp = peer.qp;
    final String often = "handles that are taken as numbers, or a closed one that is reached.";
    refusedPost(
        "post a bind of a window of another device",
        () -> qp.postBind(request(window)),
        often,
        VerbsException.EINVAL);
    final BindRequest foreign = request(window);
    foreign.region = peer.side.mr;
    foreign.address = peer.side.mr.address();
    refusedPost(
        "post a bind to a region of another device",
        () -> owner.qp.postBind(foreign),
        often,
        VerbsException.EINVAL);
    owner.side.close(window, "the window");
    did("close it again");
    window.close();
    refusedPost(
        "post a bind of the closed window",
        () -> owner.qp.postBind(request(window)),
        often,
        VerbsException.EINVAL);
  }

  @Test
  void required_T09_aDomainWithAWindowIsInUse() {
    connect();
    final ProtectionDomain pd = owner.side.own(owner.side.device.allocPd());
    final MemoryWindow window = owner.side.own(owner.side.device.allocMw(pd, type));
    refused(
        "release the domain of a window",
        pd::close,
        "users that are not counted.",
        VerbsException.EBUSY);
    owner.side.close(window, "the window");
    owner.side.close(pd, "the domain");
  }
}
