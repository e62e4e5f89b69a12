package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.WrOpcode;

/** A device with a domain and a region, and all that was made on it. */
final class Side {

  static final int BYTES = 4096;
  static final int WR = 16;

  /** What happened to an object. */
  record Async(AsyncType type, Object element) {}

  final Device device;
  final ProtectionDomain pd;
  final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES).order(ByteOrder.nativeOrder());
  final MemoryRegion mr;
  final List<Async> asyncs = new CopyOnWriteArrayList<>();

  /** What an asynchronous event does, beside being recorded. */
  volatile Runnable whenAsync = () -> {};

  private final VerbsTck tck;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  Side(final VerbsTck tck, final Device device) {
    this.tck = tck;
    this.device = own(device);
    device.onAsync(
        (type, element) -> {
          asyncs.add(new Async(type, element));
          whenAsync.run();
        });
    pd = own(device.allocPd());
    mr = region(buffer, all());
  }

  /** All rights that every device has. */
  static Set<Access> all() {
    return EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
  }

  MemoryRegion region(final ByteBuffer memory, final Set<Access> access) {
    return own(device.regMr(pd, memory, access));
  }

  <T extends AutoCloseable> T own(final T object) {
    open.push(object);
    return object;
  }

  Cq cq(final int entries) {
    final Cq cq = new Cq(tck, this, entries);
    own(cq.queue);
    return cq;
  }

  Cq cq() {
    return cq(4 * WR);
  }

  QueuePair qp(final Cq cq) {
    return qp(cq, cq, null, WR);
  }

  QueuePair qp(final Cq send, final Cq recv, final SharedReceiveQueue srq, final int depth) {
    return own(
        device.createQp(new QpAttributes(pd, send.queue, recv.queue, srq, depth, depth, 2, 2, 0)));
  }

  /** A queue pair in the error state: what is posted to it completes at once, flushed. */
  QueuePair flushing(final Cq cq) {
    final QueuePair qp = qp(cq);
    tck.did("create a queue pair, modify it to the error state");
    qp.modifyToError();
    return qp;
  }

  RecvRequest recv(final long wrId, final int offset, final int length) {
    final RecvRequest request = new RecvRequest(2);
    request.wrId = wrId;
    request.addSge(mr.address() + offset, length, mr.lkey());
    return request;
  }

  SendRequest send(final WrOpcode opcode, final long wrId, final int offset, final int length) {
    final SendRequest request = new SendRequest(2);
    request.opcode = opcode;
    request.wrId = wrId;
    request.addSge(mr.address() + offset, length, mr.lkey());
    return request;
  }

  /** Posts a receive, which must be taken. */
  void postRecv(final QueuePair qp, final long wrId) {
    postRecv(qp, recv(wrId, 0, 64));
  }

  void postRecv(final QueuePair qp, final RecvRequest request) {
    final int errno = tck.verb("post receive " + request.wrId, () -> qp.postRecv(request));
    tck.check(
        errno == 0,
        "receive " + request.wrId + " to be taken: there is room",
        "errno " + errno,
        "room that does not return when a completion was polled.");
  }

  /** Posts a request, which must be taken. */
  void postSend(final QueuePair qp, final SendRequest request) {
    final int errno =
        tck.verb("post " + request.opcode + " " + request.wrId, () -> qp.postSend(request));
    tck.check(
        errno == 0,
        request.opcode + " " + request.wrId + " to be taken: there is room",
        "errno " + errno,
        "room that does not return when a completion was polled; or a queue pair that is not"
            + " connected although ESTABLISHED was told.");
  }

  /** Closes an object of this side before the test's end. */
  void close(final AutoCloseable object, final String what) {
    tck.did("close " + what);
    open.remove(object);
    closeNow(object);
  }

  private static void closeNow(final AutoCloseable object) {
    try {
      object.close();
    } catch (final RuntimeException e) {
      throw e;
    } catch (final Exception e) {
      throw new IllegalStateException(e); // the SPI declares none
    }
  }

  /** Closes everything that is left, the newest first. */
  void close() {
    while (!open.isEmpty()) {
      closeNow(open.pop());
    }
  }
}
