package org.jdapl.rdmacore;

import java.util.EnumSet;
import java.util.Set;
import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;

/**
 * A queue pair. Three monitors guard its pointer: one for each queue, so that the two do not wait
 * for each other, and its own for its state. Who needs several takes its own first.
 */
final class RdmaQp extends RdmaObject implements QueuePair {

  private enum State {
    INIT,
    CONNECTED,
    ERROR
  }

  private static final int ATOMIC_BYTES = Long.BYTES;

  private final Object sendLock = new Object();
  private final Object recvLock = new Object();
  private final RdmaSrq srq;
  private final int number;
  private final int maxSendSge;
  private final SendArea sends;
  private final InlineArea inlined;
  private final RecvArea recvs;
  private volatile State state = State.INIT;
  private RdmaCmId id; // under its own monitor

  RdmaQp(
      final RdmaPd pd,
      final RdmaCq sendCq,
      final RdmaCq recvCq,
      final RdmaSrq srq,
      final QpAttributes attributes) {
    this(
        pd,
        sendCq,
        recvCq,
        srq,
        attributes,
        new SendArea(attributes.maxSendSge()),
        srq == null ? new RecvArea(attributes.maxRecvSge()) : null,
        new int[1]);
  }

  /**
   * All memory is there before the device counts it, but that of which the device says how much.
   */
  private RdmaQp(
      final RdmaPd pd,
      final RdmaCq sendCq,
      final RdmaCq recvCq,
      final RdmaSrq srq,
      final QpAttributes attributes,
      final SendArea sends,
      final RecvArea recvs,
      final int[] inline) {
    super(
        pd.device,
        Kind.QP,
        srq == null
            ? new RdmaObject[] {pd, sendCq, recvCq}
            : new RdmaObject[] {pd, sendCq, recvCq, srq});
    this.srq = srq;
    maxSendSge = attributes.maxSendSge();
    this.sends = sends;
    this.recvs = recvs;
    final long result =
        Verbs.createQp(
            pd.pointer("create_qp"),
            sendCq.pointer("create_qp"),
            recvCq.pointer("create_qp"),
            srq == null ? 0 : srq.pointer("create_qp"),
            token,
            attributes.maxSendWr(),
            attributes.maxRecvWr(),
            maxSendSge,
            attributes.maxRecvSge(),
            attributes.maxInline(),
            inline);
    if (!opened(result)) {
      throw notCreated(result, attributes + Memlock.hint(result, 0));
    }
    number = Verbs.qpNumber(result);
    try {
      inlined = new InlineArea(attributes.maxInline() == 0 ? 0 : inline[0]);
      Results.check(device.initQp(result, access()), "modify_qp", this, "to INIT");
    } catch (final Throwable e) {
      close();
      throw e;
    }
  }

  /** What a peer may do as far as the queue pair has a say: all that a region allows. */
  private int access() {
    final Set<Access> access = EnumSet.of(Access.REMOTE_WRITE, Access.REMOTE_READ);
    if (device.hasAtomics()) {
      access.add(Access.REMOTE_ATOMIC);
    }
    return RdmaMr.bits(access);
  }

  @Override
  public int number() {
    return number;
  }

  @Override
  public int maxInline() {
    return inlined.max();
  }

  boolean hasSrq() {
    return srq != null;
  }

  @Override
  void guard(final long value) {
    synchronized (this) {
      synchronized (sendLock) {
        synchronized (recvLock) {
          set(value);
        }
      }
    }
  }

  // Posting.

  @Override
  public int postSend(final SendRequest request) {
    if (request.opcode == WrOpcode.SEND_WITH_INV && !device.hasWindowsOfType2()) {
      return VerbsException.EOPNOTSUPP;
    }
    synchronized (sendLock) {
      final long alive = pointerOrNull();
      return alive != 0 && put(0, request) ? (int) postSends(alive, 1) : VerbsException.EINVAL;
    }
  }

  @Override
  public int postSends(final SendRequest[] requests, final int count) {
    synchronized (sendLock) {
      final long alive = pointerOrNull();
      int posted = 0;
      while (alive != 0 && posted < count) {
        final int list = putList(requests, posted, count);
        if (list == 0) {
          return posted;
        }
        final long result = postSends(alive, list);
        if (result != 0) {
          return posted + (int) (result >>> 32);
        }
        posted += list;
      }
      return posted;
    }
  }

  private int putList(final SendRequest[] requests, final int first, final int end) {
    int list = 0;
    while (list < SendArea.LIST && first + list < end && put(list, requests[first + list])) {
      list++;
    }
    return list;
  }

  private long postSends(final long alive, final int list) {
    sends.link(list);
    return Verbs.postSend(alive, sends.address());
  }

  private boolean put(final int index, final SendRequest request) {
    if (!isValid(request)) {
      return false;
    }
    sends.put(index, request);
    if (request.inline) {
      sends.putInline(index, inlined.address(index), (int) length(request));
      return inlined.copy(index, request, device.regions);
    }
    return true;
  }

  private boolean isValid(final SendRequest request) {
    final long length = length(request);
    if (state == State.INIT
        || request.sgeCount() > maxSendSge
        || length > device.limits().maxMessageBytes()) {
      return false;
    }
    return switch (request.opcode) {
      case SEND_WITH_INV ->
          device.hasWindowsOfType2() && (!request.inline || length <= inlined.max());
      case SEND, SEND_WITH_IMM, RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
          !request.inline || length <= inlined.max();
      case RDMA_READ -> !request.inline;
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
          !request.inline && length == ATOMIC_BYTES && device.hasAtomics();
    };
  }

  private static long length(final SendRequest request) {
    long length = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      length += Integer.toUnsignedLong(request.sgeLength(i));
    }
    return length;
  }

  @Override
  public int postRecv(final RecvRequest request) {
    synchronized (recvLock) {
      final long alive = pointerOrNull();
      if (alive == 0 || srq != null || !recvs.isValid(request)) {
        return VerbsException.EINVAL;
      }
      recvs.put(0, request);
      return (int) postRecvs(alive, 1);
    }
  }

  /**
   * Posts the first requests. What is posted in the error state is flushed by some devices when
   * they are told of that state only; so they are told again.
   */
  private long postRecvs(final long alive, final int list) {
    recvs.link(list);
    final long result = Verbs.postRecv(alive, recvs.address());
    if (state == State.ERROR) {
      Verbs.modifyQpToError(alive);
    }
    return result;
  }

  @Override
  public int postRecvs(final RecvRequest[] requests, final int count) {
    synchronized (recvLock) {
      final long alive = pointerOrNull();
      int posted = 0;
      while (alive != 0 && posted < count) {
        final int list = putList(requests, posted, count);
        if (list == 0) {
          return posted;
        }
        final long result = postRecvs(alive, list);
        if (result != 0) {
          return posted + (int) (result >>> 32);
        }
        posted += list;
      }
      return posted;
    }
  }

  private int putList(final RecvRequest[] requests, final int first, final int end) {
    int list = 0;
    while (srq == null
        && list < SendArea.LIST
        && first + list < end
        && recvs.isValid(requests[first + list])) {
      recvs.put(list, requests[first + list]);
      list++;
    }
    return list;
  }

  @Override
  public int postBind(final BindRequest request) {
    synchronized (sendLock) {
      final long alive = pointerOrNull();
      if (alive == 0
          || state == State.INIT
          || !(request.window instanceof RdmaMw window)
          || window.device != device) {
        return VerbsException.EINVAL;
      }
      if (request.length != 0) {
        return request.region instanceof RdmaMr region
                && region.device == device
                && region.holds(request.address, request.length)
            ? bind(alive, window, region, request.address, request)
            : VerbsException.EINVAL;
      }
      // Some drivers read the key of the region of an unbind too, and crash without one.
      final RdmaMr last = window.region();
      if (last == null) {
        return VerbsException.EINVAL;
      }
      synchronized (last) { // closed, it is not bound to it any more
        return last.isClosed()
            ? VerbsException.EINVAL
            : bind(alive, window, last, last.address(), request);
      }
    }
  }

  private static int bind(
      final long alive,
      final RdmaMw window,
      final RdmaMr region,
      final long address,
      final BindRequest request) {
    synchronized (region) {
      final long mr = region.pointerOrNull();
      synchronized (window) {
        final long mw = window.pointerOrNull();
        if (mr == 0 || mw == 0) {
          return VerbsException.EINVAL;
        }
        final int access = RdmaMr.bits(request.access);
        final int flags =
            (request.signaled ? SendArea.SIGNALED : 0) | (request.fence ? SendArea.FENCE : 0);
        final int result =
            window.type == MwType.TYPE_1
                ? Verbs.bindMw(alive, mw, mr, address, request.length, access, request.wrId, flags)
                : Verbs.bindMw2(
                    alive, mw, mr, address, request.length, access, request.wrId, flags);
        if (result == 0) {
          window.bound(mw, region);
        }
        return -result;
      }
    }
  }

  // Its state.

  @Override
  public synchronized void modifyToError() {
    final long alive = pointer("modify_qp");
    Results.check(toError(alive), "modify_qp", this, "to ERR");
  }

  private int toError(final long alive) {
    final State before = state;
    state = State.ERROR; // before it is: what is posted from here on is told again
    final int result = Verbs.modifyQpToError(alive);
    if (result < 0) {
      state = before;
    }
    return result;
  }

  /** The connection is over: as {@link #modifyToError}, if there is anything to do. */
  synchronized void fail() {
    if (!isClosed() && state != State.ERROR) {
      toError(pointer("modify_qp"));
    }
  }

  /** Reserves it for a connection. */
  synchronized void attach(final String verb, final RdmaCmId to) {
    pointer(verb);
    if (state != State.INIT || (id != null && !id.isOver())) {
      throw new VerbsException(
          verb,
          toString(),
          VerbsException.EINVAL,
          "it is " + state + (id == null ? "" : ", with " + id) + "; expected INIT, not connected");
    }
    id = to;
  }

  /**
   * Connects it with what an id knows of the peer.
   *
   * @param as its connection, which negotiated the reads.
   * @param parameters its retries and timers.
   * @return 0, or an errno, negated.
   */
  synchronized int connect(final long cmId, final CmId as, final CmParameters parameters) {
    if (isClosed() || state != State.INIT) {
      return -VerbsException.EINVAL;
    }
    final long alive = pointer("modify_qp");
    final int ready = Cm.readyToReceive(cmId, alive, as.readsIn(), parameters.rnrTimer(), access());
    if (ready < 0) {
      return ready;
    }
    final int result =
        Cm.readyToSend(
            cmId,
            alive,
            as.readsOut(),
            parameters.ackTimeout(),
            parameters.retryCount(),
            parameters.rnrRetryCount(),
            access());
    if (result == 0) {
      state = State.CONNECTED;
    } else {
      fail(); // there is no way back to INIT
    }
    return result;
  }

  /** The transport connected it by itself. */
  synchronized void connected() {
    if (state == State.INIT) {
      state = State.CONNECTED;
    }
  }

  @Override
  int destroy(final long alive) {
    return Verbs.destroyQp(alive);
  }
}
