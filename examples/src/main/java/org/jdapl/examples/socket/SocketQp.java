package org.jdapl.examples.socket;

import java.io.IOException;
import java.util.*;
import org.jdapl.verbs.*;

/** A queue pair. One of its requests is with the peer at a time; the next follows the answer. */
final class SocketQp implements QueuePair {

  // tag::qp[]
  private static final Set<WrOpcode> OPCODES =
      Set.of(WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ);
  private static final int FOR_EVER = 7;

  SocketConnection connection;
  boolean failed; // it is in the error state
  private final SocketDevice device;
  private final QpAttributes attributes;
  private final int number;
  private final Queue<SendRequest> sends = new ArrayDeque<>();
  private final Queue<RecvRequest> receives = new ArrayDeque<>();
  private boolean asking; // the first of the sends is with the peer
  private boolean starving; // a message of the peer found no receive

  SocketQp(SocketDevice device, QpAttributes attributes, int number) {
    this.device = device;
    this.attributes = attributes;
    this.number = number;
  }

  @Override
  public int number() {
    return number;
  }

  // end::qp[]

  // tag::post[]
  @Override
  public int postSend(SendRequest request) {
    synchronized (device) {
      boolean isReady = failed || (connection != null && connection.established);
      boolean isKnown = OPCODES.contains(request.opcode) && !request.inline;
      boolean isShort = request.length() <= device.limits().maxMessageBytes();
      SendRequest copy = new SendRequest(request.sgeCount()).set(request);
      boolean isValid = isReady && isKnown && isShort;
      return post(isValid, sends, copy, attributes.maxSendWr(), attributes.maxSendSge());
    }
  }

  @Override
  public int postRecv(RecvRequest request) {
    synchronized (device) {
      RecvRequest copy = new RecvRequest(request.sgeCount()).set(request);
      return post(true, receives, copy, attributes.maxRecvWr(), attributes.maxRecvSge());
    }
  }

  private <T extends SgeList> int post(boolean ok, Queue<T> queue, T copy, int maxWr, int maxSge) {
    if (!ok || !device.objects.isOpen(this) || copy.sgeCount() > maxSge) {
      return VerbsException.EINVAL;
    }
    if (queue.size() == maxWr) {
      return VerbsException.ENOMEM;
    }
    queue.add(copy);
    proceed();
    return 0;
  }

  // end::post[]

  // tag::proceed[]
  /** Does what is due. In the error state all requests complete. */
  private void proceed() {
    while (failed && !sends.isEmpty()) {
      sent(WcStatus.WR_FLUSH_ERR);
    }
    while (failed && !receives.isEmpty()) {
      received(WcStatus.WR_FLUSH_ERR, 0);
    }
    if (starving && (failed || !receives.isEmpty())) {
      starving = false;
      connection.send(Frame.answer(Frame.AGAIN));
    }
    if (!asking && !sends.isEmpty()) {
      send(sends.peek());
    }
  }

  private void send(SendRequest next) {
    boolean isRead = next.opcode == WrOpcode.RDMA_READ;
    int value = isRead ? (int) next.length() : connection.rnrRetries;
    long length = isRead ? 0 : next.length();
    if (!device.memory.setLocal(device.regions::get, attributes.pd(), next, length, null)) {
      sent(WcStatus.LOC_PROT_ERR);
      return;
    }
    byte[] data = device.memory.get();
    asking = true;
    connection.send(new Frame(next.opcode, value, next.rkey, next.remoteAddress, data));
  }

  /** The peer did the first request; if that is a read, here are the data. */
  void answered(Frame answer) throws IOException {
    if (failed) {
      return; // it is flushed
    }
    boolean isDone = answer.value() == WcStatus.SUCCESS.code();
    boolean isRead = isDone && asking && sends.peek().opcode == WrOpcode.RDMA_READ;
    if (!asking || answer.data().length != (isRead ? sends.peek().length() : 0)) {
      throw new IOException("an answer to nothing that was asked");
    }
    asking = false;
    if (answer.value() != Frame.AGAIN) {
      WcStatus status = WcStatus.of(answer.value());
      boolean isLegal = status != WcStatus.SUCCESS || scatter(sends.peek(), answer.data());
      sent(isLegal ? status : WcStatus.LOC_PROT_ERR);
    }
    proceed();
  }

  private void sent(WcStatus status) {
    SendRequest done = sends.remove();
    if (done.signaled || status != WcStatus.SUCCESS) {
      add(attributes.sendCq(), done.wrId, status, done.opcode.completion(), done.length());
    }
  }

  private void received(WcStatus status, int length) {
    add(attributes.recvCq(), receives.remove().wrId, status, WcOpcode.RECV, length);
  }

  private void add(CompletionQueue cq, long wrId, WcStatus status, WcOpcode opcode, long length) {
    ((SocketCq) cq).add(to -> to.add(wrId, status, opcode, (int) length, number, 0, false, 0));
    if (status != WcStatus.SUCCESS) {
      fail();
    }
  }

  void fail() {
    if (!failed) {
      failed = true;
      proceed();
    }
  }

  @Override
  public void modifyToError() {
    synchronized (device) {
      device.objects.own("modify_qp", SocketQp.class, this);
      fail();
    }
  }

  @Override
  public void close() {
    device.objects.close(this, this::fail);
  }

  // end::proceed[]

  // tag::scatter[]
  private boolean scatter(SgeList list, byte[] data) {
    return device.memory.scatter(device.regions::get, attributes.pd(), list, data);
  }

  // end::scatter[]

  // tag::serve[]
  /** Does what the peer asks for, and answers; a message without a receive is sent again later. */
  void serve(Frame request) {
    boolean isRead = request.opcode() == WrOpcode.RDMA_READ;
    WcStatus status = WcStatus.RETRY_EXC_ERR; // a device would be silent, and the peer give up
    if (!failed) {
      status = request.opcode() == WrOpcode.SEND ? receive(request) : access(request, isRead);
    }
    byte[] read = isRead && status == WcStatus.SUCCESS ? device.memory.get() : new byte[0];
    if (status == null) {
      starving = true;
    } else {
      connection.send(Frame.answer(status.code(), read));
    }
  }

  private WcStatus receive(Frame message) {
    if (receives.isEmpty()) {
      return message.value() == FOR_EVER ? null : WcStatus.RNR_RETRY_EXC_ERR;
    }
    int length = message.data().length;
    boolean fits = length <= receives.peek().length();
    boolean isLegal = fits && scatter(receives.peek(), message.data());
    WcStatus error = fits ? WcStatus.LOC_PROT_ERR : WcStatus.LOC_LEN_ERR;
    received(isLegal ? WcStatus.SUCCESS : error, length);
    return isLegal ? WcStatus.SUCCESS : WcStatus.REM_OP_ERR;
  }

  private WcStatus access(Frame request, boolean isRead) {
    Access right = isRead ? Access.REMOTE_READ : Access.REMOTE_WRITE;
    int length = isRead ? request.value() : request.data().length; // of a read, not believed so far
    HostRegion region = device.regions.get(request.key());
    if (!device.memory.setRemote(region, attributes.pd(), request.address(), length, right)) {
      device.later(this, () -> device.asyncHandler().onAsync(AsyncType.QP_ACCESS_ERR, this));
      fail();
      return WcStatus.REM_ACCESS_ERR;
    }
    if (!isRead) {
      device.memory.put(request.data());
    }
    return WcStatus.SUCCESS;
  }

  // end::serve[]
}
