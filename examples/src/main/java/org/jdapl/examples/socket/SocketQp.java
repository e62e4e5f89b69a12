package org.jdapl.examples.socket;

import java.nio.ByteBuffer;
import java.util.*;
import org.jdapl.verbs.*;

/** A queue pair. One of its requests is with the peer at a time; the next follows the answer. */
final class SocketQp implements QueuePair {

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

  // tag::post[]
  @Override
  public int postSend(SendRequest request) {
    synchronized (device) {
      boolean isReady = failed || (connection != null && connection.established);
      boolean isFit = !request.inline && request.length() <= SocketDevice.MAX_BYTES;
      if (!isReady || !isFit || !OPCODES.contains(request.opcode)) {
        return VerbsException.EINVAL;
      }
      SendRequest copy = new SendRequest(request.sgeCount()).set(request);
      return post(sends, copy, attributes.maxSendWr(), attributes.maxSendSge());
    }
  }

  @Override
  public int postRecv(RecvRequest request) {
    synchronized (device) {
      RecvRequest copy = new RecvRequest(request.sgeCount()).set(request);
      return post(receives, copy, attributes.maxRecvWr(), attributes.maxRecvSge());
    }
  }

  private <T extends SgeList> int post(Queue<T> queue, T copy, int maxWr, int maxSge) {
    if (!device.open.containsKey(this) || copy.sgeCount() > maxSge) {
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
    int length = (int) next.length();
    byte[] data = new byte[isRead ? 0 : length];
    if (!copy(next, data, null)) {
      sent(WcStatus.LOC_PROT_ERR);
      return;
    }
    asking = true;
    int value = isRead ? length : connection.rnrRetries;
    connection.send(new Frame(next.opcode, value, next.rkey, next.remoteAddress, data));
  }

  /** The peer did the first request; if that is a read, here are the data. */
  void answered(Frame answer) {
    if (failed) {
      return; // it is flushed
    }
    asking = false;
    if (answer.value() != Frame.AGAIN) {
      WcStatus status = WcStatus.of(answer.value());
      boolean isLegal =
          status != WcStatus.SUCCESS || copy(sends.peek(), answer.data(), Access.LOCAL_WRITE);
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
    ((SocketCq) cq).add(new SocketCq.Wc(wrId, status, opcode, length, number));
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

  // end::proceed[]

  /** Copies from the elements; with the right to write, into them. False if it may not. */
  private boolean copy(SgeList list, byte[] data, Access right) {
    int done = 0;
    for (int i = 0; i < list.sgeCount() && done < data.length; i++) {
      int length = Math.min(list.sgeLength(i), data.length - done);
      ByteBuffer part = memory(list.sgeLkey(i), list.sgeAddress(i), length, right);
      if (part == null) {
        return false;
      }
      if (right == null) {
        part.get(data, done, length);
      } else {
        part.put(data, done, length);
      }
      done += length;
    }
    return true;
  }

  private ByteBuffer memory(int key, long address, int length, Access right) {
    return device.memory(attributes.pd(), key, address, length, right);
  }

  // tag::serve[]
  /** Does what the peer asks for, and answers; a message without a receive is sent again later. */
  void serve(Frame request) {
    byte[] read = new byte[request.opcode() == WrOpcode.RDMA_READ ? request.value() : 0];
    WcStatus status = WcStatus.RETRY_EXC_ERR; // a device would be silent, and the peer give up
    if (!failed) {
      status = request.opcode() == WrOpcode.SEND ? receive(request) : access(request, read);
    }
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
    boolean isLegal = fits && copy(receives.peek(), message.data(), Access.LOCAL_WRITE);
    WcStatus error = fits ? WcStatus.LOC_PROT_ERR : WcStatus.LOC_LEN_ERR;
    received(isLegal ? WcStatus.SUCCESS : error, length);
    return isLegal ? WcStatus.SUCCESS : WcStatus.REM_OP_ERR;
  }

  private WcStatus access(Frame request, byte[] read) {
    boolean isRead = request.opcode() == WrOpcode.RDMA_READ;
    byte[] bytes = isRead ? read : request.data();
    Access right = isRead ? Access.REMOTE_READ : Access.REMOTE_WRITE;
    ByteBuffer memory = memory(request.key(), request.address(), bytes.length, right);
    if (memory == null) {
      device.later(this, () -> device.async.onAsync(AsyncType.QP_ACCESS_ERR, this));
      fail();
      return WcStatus.REM_ACCESS_ERR;
    }
    if (isRead) {
      memory.get(bytes);
    } else {
      memory.put(bytes);
    }
    return WcStatus.SUCCESS;
  }

  // end::serve[]

  @Override
  public void modifyToError() {
    synchronized (device) {
      device.own("modify_qp", this);
      fail();
    }
  }

  @Override
  public void close() {
    device.close(this, this::fail);
  }
}
