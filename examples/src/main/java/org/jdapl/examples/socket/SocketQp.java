package org.jdapl.examples.socket;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;

/** A queue pair. A request is copied into a frame when it is sent, so a flush needs not wait. */
final class SocketQp extends SocketObject implements QueuePair {

  private enum State {
    INIT,
    CONNECTED,
    ERROR
  }

  private final SocketPd pd;
  private final SocketCq sendCq;
  private final SocketCq recvCq;
  private final int number;
  private final QpAttributes attributes;
  private final ArrayDeque<SendRequest> waiting = new ArrayDeque<>();
  private final ArrayDeque<SendRequest> sent = new ArrayDeque<>(); // the peer is to answer
  private final ArrayDeque<RecvRequest> receives = new ArrayDeque<>();
  private State state = State.INIT;
  private SocketConnection connection;

  SocketQp(
      final SocketPd pd,
      final SocketCq sendCq,
      final SocketCq recvCq,
      final int number,
      final QpAttributes attributes) {
    super(pd.device, "qp" + number);
    this.pd = pd;
    this.sendCq = sendCq;
    this.recvCq = recvCq;
    this.number = number;
    this.attributes = attributes;
    use(1, pd, sendCq, recvCq);
    sendCq.queuePairs.add(this);
    recvCq.queuePairs.add(this);
  }

  private static void use(final int change, final SocketObject... objects) {
    for (final SocketObject object : objects) {
      object.use(change);
    }
  }

  @Override
  public int number() {
    return number;
  }

  // tag::post[]
  @Override
  public int postSend(final SendRequest request) {
    synchronized (device.lock) {
      if (closed || state == State.INIT || !isValid(request)) {
        return VerbsException.EINVAL;
      }
      if (waiting.size() + sent.size() >= attributes.maxSendWr()) {
        return VerbsException.ENOMEM;
      }
      waiting.add(copy(request));
      if (state == State.ERROR) {
        flush();
      } else {
        send();
      }
      return 0;
    }
  }

  @Override
  public int postRecv(final RecvRequest request) {
    synchronized (device.lock) {
      if (closed || !hasValidElements(request, attributes.maxRecvSge())) {
        return VerbsException.EINVAL;
      }
      if (receives.size() >= attributes.maxRecvWr()) {
        return VerbsException.ENOMEM;
      }
      receives.add(copy(request));
      if (state == State.ERROR) {
        flush();
      } else if (state == State.CONNECTED) {
        connection.serve(); // a message may wait for it
      }
      return 0;
    }
  }

  // end::post[]

  private boolean isValid(final SendRequest request) {
    final boolean isAtomic =
        request.opcode == WrOpcode.ATOMIC_CMP_AND_SWP
            || request.opcode == WrOpcode.ATOMIC_FETCH_AND_ADD;
    return !isAtomic && !request.inline && hasValidElements(request, attributes.maxSendSge());
  }

  private static boolean hasValidElements(final SgeList list, final int maxSge) {
    boolean isValid = list.sgeCount() <= maxSge;
    for (int i = 0; isValid && i < list.sgeCount(); i++) {
      isValid = list.sgeLength(i) >= 0;
    }
    return isValid;
  }

  private static SendRequest copy(final SendRequest from) {
    final SendRequest to = new SendRequest(from.sgeCount());
    to.wrId = from.wrId;
    to.opcode = from.opcode;
    to.signaled = from.signaled;
    to.solicited = from.solicited;
    to.fence = from.fence;
    to.remoteAddress = from.remoteAddress;
    to.rkey = from.rkey;
    to.immediate = from.immediate;
    copyElements(from, to);
    return to;
  }

  private static RecvRequest copy(final RecvRequest from) {
    final RecvRequest to = new RecvRequest(from.sgeCount());
    to.wrId = from.wrId;
    copyElements(from, to);
    return to;
  }

  private static void copyElements(final SgeList from, final SgeList to) {
    for (int i = 0; i < from.sgeCount(); i++) {
      to.addSge(from.sgeAddress(i), from.sgeLength(i), from.sgeLkey(i));
    }
  }

  private static long length(final SgeList list) {
    long length = 0;
    for (int i = 0; i < list.sgeCount(); i++) {
      length += list.sgeLength(i);
    }
    return length;
  }

  // tag::send[]
  /** Sends what waits, in order, as far as there is room. */
  void send() {
    while (state == State.CONNECTED && !waiting.isEmpty() && connection.hasRoom()) {
      final SendRequest next = waiting.peek();
      final boolean isRead = next.opcode == WrOpcode.RDMA_READ;
      if (next.fence && sent.stream().anyMatch(r -> r.opcode == WrOpcode.RDMA_READ)) {
        return; // it may send what the read brings
      }
      final long length = length(next);
      final ByteBuffer[] parts = device.parts(pd, next, isRead ? Access.LOCAL_WRITE : null);
      if (length > SocketDevice.MAX_MESSAGE || parts == null) {
        if (sent.isEmpty()) { // else those before it complete first
          waiting.remove();
          complete(next, parts == null ? WcStatus.LOC_PROT_ERR : WcStatus.LOC_LEN_ERR);
        }
        return;
      }
      sent.add(waiting.remove());
      connection.send(frame(next, (int) length, parts));
    }
  }

  // end::send[]

  private static Frame frame(
      final SendRequest request, final int length, final ByteBuffer... parts) {
    final ByteBuffer data = ByteBuffer.allocate(request.opcode == WrOpcode.RDMA_READ ? 0 : length);
    if (request.opcode != WrOpcode.RDMA_READ) {
      for (final ByteBuffer part : parts) {
        data.put(part);
      }
    }
    final Frame.Kind kind =
        switch (request.opcode) {
          case RDMA_READ -> Frame.Kind.READ;
          case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> Frame.Kind.WRITE;
          default -> Frame.Kind.SEND;
        };
    final boolean hasImmediate =
        request.opcode == WrOpcode.SEND_WITH_IMM || request.opcode == WrOpcode.RDMA_WRITE_WITH_IMM;
    return new Frame(
        kind,
        (request.solicited ? Frame.SOLICITED : 0) | (hasImmediate ? Frame.IMMEDIATE : 0),
        request.immediate,
        request.rkey,
        request.remoteAddress,
        length,
        data.flip());
  }

  /** The peer answers the oldest request; none is left if it was flushed meanwhile. */
  void answered(final Frame answer) {
    final SendRequest done = sent.poll();
    if (done != null) {
      WcStatus status = WcStatus.of(answer.value());
      if (status == WcStatus.SUCCESS
          && done.opcode == WrOpcode.RDMA_READ
          && !scatter(done, answer.data())) {
        status = WcStatus.LOC_PROT_ERR; // its region was closed
      }
      complete(done, status);
      send();
    }
  }

  private void complete(final SendRequest done, final WcStatus status) {
    if (done.signaled || status != WcStatus.SUCCESS) {
      final WcOpcode opcode =
          switch (done.opcode) {
            case RDMA_READ -> WcOpcode.RDMA_READ;
            case RDMA_WRITE, RDMA_WRITE_WITH_IMM -> WcOpcode.RDMA_WRITE;
            default -> WcOpcode.SEND;
          };
      final int length = (int) length(done);
      sendCq.add(new SocketCq.Completion(number, done.wrId, status, opcode, length, null, false));
    }
    if (status != WcStatus.SUCCESS) {
      fail();
    }
  }

  private boolean scatter(final SgeList list, final ByteBuffer data) {
    final ByteBuffer[] parts = device.parts(pd, list, Access.LOCAL_WRITE);
    for (int i = 0; parts != null && data.hasRemaining(); i++) {
      final int length = Math.min(parts[i].remaining(), data.remaining());
      parts[i].put(data.slice().limit(length));
      data.position(data.position() + length);
    }
    return parts != null;
  }

  // tag::respond[]
  /** A request of the peer: what to answer, or null if it needs a receive and there is none. */
  Frame respond(final Frame request) {
    if (closed || state != State.CONNECTED) {
      return answer(WcStatus.RETRY_EXC_ERR); // a device would not answer, and the peer give up
    }
    final boolean hasImmediate = (request.flags() & Frame.IMMEDIATE) != 0;
    final boolean isSend = request.kind() == Frame.Kind.SEND;
    if ((isSend || hasImmediate) && receives.isEmpty()) {
      return null;
    }
    if (isSend) {
      return receive(request);
    }
    final boolean isRead = request.kind() == Frame.Kind.READ;
    final Access right = isRead ? Access.REMOTE_READ : Access.REMOTE_WRITE;
    final ByteBuffer memory =
        device.part(pd, request.key(), request.address(), request.size(), right);
    if (memory == null) {
      fail();
      device.async(AsyncType.QP_ACCESS_ERR, this);
      return answer(WcStatus.REM_ACCESS_ERR);
    }
    if (isRead) {
      final ByteBuffer copy = ByteBuffer.allocate(request.size()).put(memory).flip();
      return new Frame(Frame.Kind.ANSWER, 0, 0, 0, 0, request.size(), copy);
    }
    memory.put(request.data());
    if (hasImmediate) {
      received(receives.remove(), WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM, request);
    }
    return answer(WcStatus.SUCCESS);
  }

  private Frame receive(final Frame request) {
    final RecvRequest receive = receives.remove();
    if (request.size() > length(receive)) {
      received(receive, WcStatus.LOC_LEN_ERR, null, request);
      return answer(WcStatus.REM_INV_REQ_ERR);
    }
    if (!scatter(receive, request.data())) {
      received(receive, WcStatus.LOC_PROT_ERR, null, request);
      return answer(WcStatus.REM_OP_ERR);
    }
    received(receive, WcStatus.SUCCESS, WcOpcode.RECV, request);
    return answer(WcStatus.SUCCESS);
  }

  // end::respond[]

  private void received(
      final RecvRequest receive,
      final WcStatus status,
      final WcOpcode opcode,
      final Frame request) {
    recvCq.add(
        new SocketCq.Completion(
            number,
            receive.wrId,
            status,
            opcode,
            request.size(),
            (request.flags() & Frame.IMMEDIATE) != 0 ? request.value() : null,
            (request.flags() & Frame.SOLICITED) != 0));
    if (status != WcStatus.SUCCESS) {
      fail();
    }
  }

  static Frame answer(final WcStatus status) {
    return Frame.of(Frame.Kind.ANSWER, status.code(), 0, new byte[0]);
  }

  // tag::flush[]
  /** Moves to the error state; all requests complete. */
  void fail() {
    if (!closed && state != State.ERROR) {
      state = State.ERROR;
      flush();
    }
  }

  private void flush() {
    sent.addAll(waiting);
    waiting.clear();
    while (!sent.isEmpty()) {
      complete(sent.remove(), WcStatus.WR_FLUSH_ERR);
    }
    while (!receives.isEmpty()) {
      final long wrId = receives.remove().wrId;
      recvCq.add(
          new SocketCq.Completion(number, wrId, WcStatus.WR_FLUSH_ERR, null, 0, null, false));
    }
  }

  // end::flush[]

  @Override
  public void modifyToError() {
    synchronized (device.lock) {
      device.checkOpen("modify_qp", this);
      fail();
    }
  }

  boolean isInit() {
    return state == State.INIT && !closed;
  }

  /** Reserves it for a connection. */
  void attach(final String verb, final SocketConnection to) {
    if (!isInit() || (connection != null && !connection.isOver())) {
      throw error(verb, VerbsException.EINVAL, "it is " + state + "; expected INIT, unconnected");
    }
    connection = to;
  }

  void connect() {
    state = State.CONNECTED;
  }

  /** Its connection is over. */
  void disconnect() {
    if (state == State.CONNECTED) {
      fail();
    }
  }

  @Override
  void release() {
    use(-1, pd, sendCq, recvCq);
    sendCq.queuePairs.remove(this);
    recvCq.queuePairs.remove(this);
  }
}
