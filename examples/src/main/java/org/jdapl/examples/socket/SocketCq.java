package org.jdapl.examples.socket;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.verbs.*;

/** A completion queue. It grows, and so never overflows. */
record SocketCq(
    SocketDevice device, int capacity, CqHandler handler, Queue<Wc> queue, AtomicBoolean armed)
    implements CompletionQueue {

  record Wc(long wrId, WcStatus status, WcOpcode opcode, long length, int qpNumber) {}

  // tag::arm[]
  /** Adds a completion and takes the arm away: one step, as its caller holds the lock. */
  void add(Wc completion) {
    queue.add(completion);
    if (armed.getAndSet(false)) {
      device.later(this, () -> handler.onNotification(this));
    }
  }

  @Override
  public int arm(ArmKind kind) {
    synchronized (device) {
      device.own("req_notify_cq", this);
      if (kind == ArmKind.SOLICITED) {
        throw VerbsException.unsupported("req_notify_cq SOLICITED", device.name());
      }
      armed.set(true);
      return queue.isEmpty() ? 0 : 1;
    }
  }

  // end::arm[]

  @Override
  public int poll(WorkCompletions into, int max) {
    synchronized (device) {
      device.own("poll_cq", this);
      int taken = Math.min(max, queue.size());
      for (int i = 0; i < taken; i++) {
        Wc wc = queue.remove();
        into.add(wc.wrId, wc.status, wc.opcode, (int) wc.length, wc.qpNumber, 0, false, 0);
      }
      return taken;
    }
  }

  @Override
  public void close() {
    device.close(this, queue::clear);
  }
}
