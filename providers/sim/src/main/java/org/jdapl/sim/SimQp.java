package org.jdapl.sim;

import java.util.Objects;
import java.util.stream.Stream;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.Timers;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;

/**
 * A queue pair. Posting publishes a request in a ring and submits a task; everything else happens
 * in three tasks that hold the wire: requests reach the peer, answers come back, a dead queue is
 * flushed.
 */
final class SimQp extends SimObject implements QueuePair {

  private enum State {
    INIT,
    CONNECTED,
    ERROR
  }

  /** Both timers, unless the consumer says otherwise: short, and no code of the wire. */
  private static final long OWN_TIMER_NANOS = 100_000;

  private static final int RNR_FOR_EVER = 7;
  private static final int BATCH = 64;
  private static final int ATOMIC_BYTES = Long.BYTES;
  private static final int NO_IMMEDIATE = 0xDEADBEEF;

  private final SimPd pd;
  private final SimCq sendCq;
  private final SimCq recvCq;
  private final SimSrq srq;
  private final RecvQueue receives;
  private final int number;
  private final int maxSendWr;
  private final int maxSendSge;
  private final Latency latency;
  private final SendWqe[] sends;
  private final Task arrivals = fabric.task(this::arrive);
  private final Task answers = fabric.task(this::answer);
  private final Task flush = fabric.task(this::flushAll);

  // A post publishes, then reads the state; an error sets the state, then reads what was posted.
  private volatile State state = State.INIT;
  private volatile long posted;
  private volatile long polled;

  // Guarded by the wire.
  private long arrived;
  private long answered;
  private long lastAnswer;
  private boolean refused; // a request failed at the peer, nothing more goes out
  private SimQp peer;
  private SimCmId id;
  private int retryCount;
  private int rnrRetryCount;
  private long ackTimeoutNanos;
  private long rnrTimerNanos; // of the peer's requests
  private int readsIn;
  private int readsOut;
  private int reads; // on their way: sent, and not answered
  private boolean holdsRead; // the next request is one too many, until an answer is back
  private boolean saidEstablished;

  SimQp(
      final SimPd pd,
      final SimCq sendCq,
      final SimCq recvCq,
      final SimSrq srq,
      final int number,
      final QpAttributes attributes) {
    super(pd.device, "qp" + number, uses(pd, sendCq, recvCq, srq));
    this.pd = pd;
    this.sendCq = sendCq;
    this.recvCq = recvCq;
    this.srq = srq;
    this.number = number;
    maxSendWr = attributes.maxSendWr();
    maxSendSge = attributes.maxSendSge();
    latency = device.latency();
    sends = new SendWqe[RecvQueue.powerOfTwo(maxSendWr)];
    for (int i = 0; i < sends.length; i++) {
      sends[i] = new SendWqe(maxSendSge);
    }
    receives =
        srq != null ? srq.queue : new RecvQueue(attributes.maxRecvWr(), attributes.maxRecvSge());
    sendCq.attach(this);
    recvCq.attach(this);
  }

  private static Object[] uses(final Object... some) {
    return Stream.of(some).filter(Objects::nonNull).toArray();
  }

  @Override
  public int number() {
    return number;
  }

  /** Data is always copied when a request is posted. */
  @Override
  public int maxInline() {
    return (int) SimDevice.LIMITS.maxMessageBytes();
  }

  SimPd domain() {
    return pd;
  }

  RecvQueue receives() {
    return receives;
  }

  /** The completion of a send was polled, which also covers silent ones before it. */
  void sent(final long position) {
    polled = position + 1;
  }

  @Override
  public int postSend(final SendRequest request) {
    if (state == State.INIT || isClosed() || !isValid(request)) {
      return VerbsException.EINVAL;
    }
    if (device.isRemoved()) {
      return VerbsException.EIO;
    }
    final long tail = posted;
    if (tail - polled >= maxSendWr) {
      return VerbsException.ENOMEM;
    }
    final SendWqe wqe = send(tail);
    if (!wqe.load(request, fabric.memory)) {
      return VerbsException.EINVAL;
    }
    posted(tail, wqe);
    return 0;
  }

  @Override
  public int postBind(final BindRequest request) {
    if (state == State.INIT
        || isClosed()
        || !(request.window instanceof SimMw window)
        || window.device != device
        || window.isClosed()
        || request.length < 0
        || (request.length > 0
            && (!(request.region instanceof SimMr region)
                || region.device != device
                || region.isClosed()))) {
      return VerbsException.EINVAL;
    }
    if (device.isRemoved()) {
      return VerbsException.EIO;
    }
    final long tail = posted;
    if (tail - polled >= maxSendWr) {
      return VerbsException.ENOMEM;
    }
    final SendWqe wqe = send(tail);
    wqe.load(request);
    posted(tail, wqe);
    return 0;
  }

  /** The next request is there. */
  private void posted(final long tail, final SendWqe wqe) {
    final long delay = setOff(wqe);
    posted = tail + 1;
    if (state == State.ERROR) {
      flushSoon();
    } else {
      fabric.lane().submit(arrivals, delay);
    }
  }

  /** A request sets off to the peer. Returns how long it takes. */
  private long setOff(final SendWqe wqe) {
    final long delay = latency.draw();
    if (!latency.isZero()) {
      wqe.arrival = fabric.now() + delay;
    }
    return delay;
  }

  private boolean isValid(final SendRequest request) {
    if (!RecvQueue.isValid(request, maxSendSge)) {
      return false;
    }
    return switch (request.opcode) {
      case SEND, SEND_WITH_IMM, SEND_WITH_INV, RDMA_WRITE, RDMA_WRITE_WITH_IMM ->
          !request.inline || request.length() <= SimDevice.LIMITS.maxMessageBytes();
      case RDMA_READ -> !request.inline;
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD ->
          !request.inline && request.length() == ATOMIC_BYTES;
    };
  }

  @Override
  public int postRecv(final RecvRequest request) {
    if (srq != null || isClosed()) {
      return VerbsException.EINVAL;
    }
    if (device.isRemoved()) {
      return VerbsException.EIO;
    }
    final int errno = receives.post(request);
    if (errno == 0 && state == State.ERROR) {
      flushSoon();
    }
    return errno;
  }

  private void flushSoon() {
    if (device.model().notifiesInsideVerbs()) {
      synchronized (fabric.wire) {
        flushAll();
      }
      sendCq.notifyInsideVerb();
      recvCq.notifyInsideVerb();
    } else {
      fabric.lane().submit(flush, latency.draw());
    }
  }

  private SendWqe send(final long position) {
    return sends[(int) position & (sends.length - 1)];
  }

  /** Lets requests reach the peer: in virtual time one, so that others can come between. */
  private void arrive() {
    if (device.isRemoved()) {
      return;
    }
    if (state == State.ERROR) {
      flushAll(); // posted while it died
      return;
    }
    for (int left = fabric.isVirtual() ? 1 : BATCH; ; left--) {
      if (state != State.CONNECTED || isClosed() || refused || arrived == posted) {
        return;
      }
      final SendWqe wqe = send(arrived);
      final long early = wqe.arrival == 0 ? 0 : wqe.arrival - fabric.now();
      if (early > 0 || left == 0) {
        fabric.lane().submit(arrivals, Math.max(0, early));
        return;
      }
      if (wqe.isRead() && reads >= readsOut) {
        holdsRead = true;
        return;
      }
      final long again = transfer(wqe);
      if (again > 0) {
        fabric.lane().submit(arrivals, again);
        return;
      }
      arrived++;
      reads += wqe.isRead() ? 1 : 0;
      refused = wqe.status != WcStatus.SUCCESS;
      final boolean unanswered = wqe.status == WcStatus.RETRY_EXC_ERR;
      if (latency.isZero() && !fabric.isVirtual() && !unanswered) {
        answer();
      } else {
        final long drawn = latency.draw();
        final long delay = unanswered ? ackTimeoutNanos : drawn;
        wqe.answer = fabric.now() + delay;
        if (!unanswered) {
          lastAnswer = Math.max(lastAnswer, wqe.answer);
        }
        fabric.lane().submit(answers, delay);
      }
    }
  }

  /**
   * Carries out a request. Returns 0 when its status is known, else after how long to try again.
   */
  private long transfer(final SendWqe wqe) {
    wqe.status = null;
    if (wqe.window != null) {
      wqe.status = wqe.bind(this);
    } else if (wqe.request.length() > SimDevice.LIMITS.maxMessageBytes()) {
      wqe.status = WcStatus.LOC_LEN_ERR;
    } else if (!wqe.setLocal(pd, fabric.local)) {
      wqe.status = WcStatus.LOC_PROT_ERR;
    } else if (peer.isConnecting() && device.reaches(peer.device)) {
      return ackTimeoutNanos; // it drops what comes before it knows of us
    } else if (!device.reaches(peer.device)
        || peer.peer != this
        || peer.state != State.CONNECTED
        || peer.isClosed()) {
      if (wqe.retries++ < retryCount) {
        return ackTimeoutNanos;
      }
      wqe.status = WcStatus.RETRY_EXC_ERR;
    } else {
      wqe.status = peer.respond(wqe);
      if (wqe.status == null) {
        if (rnrRetryCount == RNR_FOR_EVER || wqe.rnrRetries++ < rnrRetryCount) {
          return peer.rnrTimerNanos;
        }
        wqe.status = WcStatus.RNR_RETRY_EXC_ERR;
      }
    }
    return 0;
  }

  /** When the last answer that is under way arrives: no message of the peer overtakes it. */
  long lastAnswer() {
    return lastAnswer;
  }

  /** Lets answers come back, in order; in virtual time one. */
  private void answer() {
    while (state == State.CONNECTED && !isClosed() && !device.isRemoved() && answered < arrived) {
      final SendWqe wqe = send(answered);
      final long early = wqe.answer == 0 ? 0 : wqe.answer - fabric.now();
      if (early > 0) {
        fabric.lane().submit(answers, early);
        return;
      }
      final boolean failed = wqe.status != WcStatus.SUCCESS;
      final boolean isRead = wqe.isRead(); // before it completes: then the slot is the poster's
      if (failed || wqe.request.signaled) {
        sendCq.addSend(
            this,
            answered,
            wqe.request.wrId,
            wqe.status,
            wqe.opcode(),
            (int) Math.min(Integer.MAX_VALUE, wqe.request.length()));
      }
      answered++;
      reads -= isRead ? 1 : 0;
      if (failed) {
        fail();
      } else if (holdsRead) {
        holdsRead = false;
        fabric.lane().submit(arrivals, setOff(send(arrived)));
      }
      if (fabric.isVirtual()) {
        if (answered < arrived) {
          fabric.lane().submit(answers, Math.max(0, send(answered).answer - fabric.now()));
        }
        return;
      }
    }
  }

  /** A request of the peer arrives here. Returns what to tell it; null for "no receive yet". */
  private WcStatus respond(final SendWqe wqe) {
    if (!saidEstablished && id.isWaitingForEstablished()) {
      saidEstablished = true;
      device.async(AsyncType.COMM_EST, this);
    }
    if (wqe.isRead() && readsIn == 0) {
      return refuseRequest();
    }
    return switch (wqe.request.opcode) {
      case SEND, SEND_WITH_IMM, SEND_WITH_INV -> receive(wqe);
      case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> write(wqe);
      case RDMA_READ -> {
        if (!setRemote(wqe, Access.REMOTE_READ)) {
          yield refuseAccess();
        }
        fabric.remote.copyTo(fabric.local);
        yield WcStatus.SUCCESS;
      }
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> atomic(wqe);
    };
  }

  private WcStatus receive(final SendWqe wqe) {
    final RecvRequest receive = take();
    if (receive == null) {
      return null;
    }
    final long length = wqe.request.length();
    if (length > receive.length()) {
      failReceive(receive, WcStatus.LOC_LEN_ERR);
      return WcStatus.REM_INV_REQ_ERR;
    }
    if (!setReceive(receive, length)) {
      failReceive(receive, WcStatus.LOC_PROT_ERR);
      return WcStatus.REM_OP_ERR;
    }
    if (wqe.request.opcode == WrOpcode.SEND_WITH_INV) {
      final SimMw window = fabric.memory.window(wqe.request.invalidateRkey);
      if (window == null || !window.invalidate(this)) {
        failReceive(receive, WcStatus.LOC_ACCESS_ERR);
        device.async(AsyncType.QP_ACCESS_ERR, this);
        return WcStatus.REM_ACCESS_ERR;
      }
    }
    fabric.local.copyTo(fabric.remote);
    complete(receive, WcOpcode.RECV, wqe);
    return WcStatus.SUCCESS;
  }

  private WcStatus write(final SendWqe wqe) {
    if (wqe.hasImmediate() && receives.peek() == null) {
      return null;
    }
    if (!setRemote(wqe, Access.REMOTE_WRITE)) {
      return refuseAccess();
    }
    fabric.local.copyTo(fabric.remote);
    if (wqe.hasImmediate()) {
      complete(take(), WcOpcode.RECV_RDMA_WITH_IMM, wqe);
    }
    return WcStatus.SUCCESS;
  }

  private WcStatus atomic(final SendWqe wqe) {
    final SendRequest request = wqe.request;
    if (request.remoteAddress % ATOMIC_BYTES != 0) {
      return refuseRequest();
    }
    if (!setRemote(wqe, Access.REMOTE_ATOMIC)) {
      return refuseAccess();
    }
    final long old = fabric.remote.getLong();
    switch (request.opcode) {
      case ATOMIC_FETCH_AND_ADD -> fabric.remote.putLong(old + request.compareAdd);
      default -> fabric.remote.putLong(old == request.compareAdd ? request.swap : old);
    }
    fabric.scratch.putLong(0, old);
    fabric.remote.set(fabric.scratch, 0, ATOMIC_BYTES); // the elements may split it
    fabric.remote.copyTo(fabric.local);
    return WcStatus.SUCCESS;
  }

  private boolean setReceive(final RecvRequest receive, final long length) {
    final SimPd domain = srq != null ? srq.pd : pd;
    return fabric.remote.setLocal(fabric.memory.local, domain, receive, length, Access.LOCAL_WRITE);
  }

  /** Has what a remote key names; false if that does not grant it to this queue pair. */
  private boolean setRemote(final SendWqe wqe, final Access right) {
    final SendRequest request = wqe.request;
    final SimMw window = fabric.memory.window(request.rkey);
    if (window != null) {
      return window.setRemote(fabric.remote, this, request.remoteAddress, request.length(), right);
    }
    return fabric.remote.setRemote(
        fabric.memory.remote(request.rkey), pd, request.remoteAddress, request.length(), right);
  }

  private WcStatus refuseRequest() {
    fail();
    device.async(AsyncType.QP_REQ_ERR, this);
    return WcStatus.REM_INV_REQ_ERR;
  }

  private WcStatus refuseAccess() {
    fail();
    device.async(AsyncType.QP_ACCESS_ERR, this);
    return WcStatus.REM_ACCESS_ERR;
  }

  private RecvRequest take() {
    final RecvRequest receive = receives.peek();
    if (receive != null) {
      receives.take();
      if (srq != null) {
        srq.checkWatermark();
      }
    }
    return receive;
  }

  private void complete(final RecvRequest receive, final WcOpcode opcode, final SendWqe wqe) {
    final SendRequest request = wqe.request;
    final boolean invalidated = request.opcode == WrOpcode.SEND_WITH_INV;
    recvCq.addReceive(
        this,
        receive.wrId,
        opcode,
        (int) wqe.request.length(),
        wqe.hasImmediate(),
        invalidated,
        wqe.hasImmediate()
            ? request.immediate
            : invalidated ? request.invalidateRkey : NO_IMMEDIATE,
        request.solicited);
  }

  private void failReceive(final RecvRequest receive, final WcStatus status) {
    recvCq.addFailedReceive(this, receive.wrId, status);
    fail();
  }

  /** Moves to the error state; the flush follows. Called holding the wire. */
  void fail() {
    if (state == State.ERROR || isClosed()) {
      return;
    }
    state = State.ERROR;
    if (fabric.isTracing()) {
      fabric.note(this + " to error");
    }
    fabric.lane().submit(flush, latency.draw());
    if (srq != null && saysLastWqe()) {
      device.async(AsyncType.QP_LAST_WQE_REACHED, this);
    }
  }

  private boolean saysLastWqe() {
    final LastWqe model = device.model().lastWqe();
    return model == LastWqe.REPORTED || (model == LastWqe.UNKNOWN && fabric.chance(50));
  }

  private void flushAll() {
    if (state != State.ERROR || isClosed() || device.isRemoved()) {
      return;
    }
    if (fabric.isVirtual() && fabric.chance(50)) { // no order between the two
      flushReceives();
      flushSends();
    } else {
      flushSends();
      flushReceives();
    }
  }

  private void flushSends() {
    for (; answered < posted; answered++) {
      final long wrId = send(answered).request.wrId;
      sendCq.addSend(this, answered, wrId, WcStatus.WR_FLUSH_ERR, null, 0);
    }
    arrived = answered;
  }

  private void flushReceives() {
    if (srq != null) {
      return; // what it had not taken belongs to the others
    }
    for (RecvRequest receive = take(); receive != null; receive = take()) {
      recvCq.addFailedReceive(this, receive.wrId, WcStatus.WR_FLUSH_ERR);
    }
  }

  @Override
  public void modifyToError() {
    if (device.isRemoved()) {
      throw new VerbsException(
          "modify_qp", toString(), VerbsException.EIO, "the device was removed");
    }
    synchronized (fabric.wire) {
      if (isClosed()) {
        throw invalid("modify_qp", "it is closed");
      }
      fail();
    }
  }

  /** Reserves it for a connection. Called holding the wire. */
  void attach(final String verb, final SimCmId newId) {
    if (state != State.INIT || (id != null && !id.isOver())) {
      throw invalid(verb, "it is " + state + ", with " + id + "; expected INIT and no connection");
    }
    id = newId;
  }

  /** Connects it, with so many reads as were negotiated. Called holding the wire. */
  void connect(final SimQp to, final CmParameters parameters, final int in, final int out) {
    peer = to;
    readsIn = in;
    readsOut = Math.max(1, out); // devices count in powers of two: the peer refuses the first
    retryCount = parameters.retryCount();
    rnrRetryCount = parameters.rnrRetryCount();
    final int ack = parameters.ackTimeout();
    ackTimeoutNanos = ack == Timers.PROVIDERS_OWN ? OWN_TIMER_NANOS : Timers.ackNanos(ack);
    final int rnr = parameters.rnrTimer();
    rnrTimerNanos = rnr == Timers.PROVIDERS_OWN ? OWN_TIMER_NANOS : Timers.rnrNanos(rnr);
    state = State.CONNECTED;
  }

  boolean isInit() {
    return state == State.INIT && !isClosed();
  }

  private boolean isConnecting() {
    return isInit() && !id.isOver();
  }

  @Override
  void release() {
    sendCq.detach(this);
    recvCq.detach(this);
    if (device.model().sweepsDestroyed()) {
      sendCq.sweep(this);
      recvCq.sweep(this);
    }
    device.freeNumber(number);
  }
}
