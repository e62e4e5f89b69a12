package org.jdapl.examples.socket;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.verbs.*;

/** A completion queue. It grows, and so never overflows. */
record SocketCq(
    SocketDevice device,
    int capacity,
    CqHandler handler,
    Queue<Wc> completions,
    AtomicBoolean armed)
    implements CompletionQueue {

  record Wc(long wrId, WcStatus status, WcOpcode opcode, long length, int qpNumber) {}

  // tag::arm[]
  /** Adds a completion and takes the arm away: one step, as its caller holds the lock. */
  void add(Wc completion) {
    completions.add(completion);
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
      return completions.isEmpty() ? 0 : 1;
    }
  }

  // end::arm[]

  @Override
  public int poll(WorkCompletions into, int max) {
    synchronized (device) {
      device.own("poll_cq", this);
      int taken = 0;
      for (; taken < max && !completions.isEmpty(); taken++) {
        Wc c = completions.remove();
        into.add(c.wrId, c.status, c.opcode, (int) c.length, c.qpNumber, 0, false, 0);
      }
      return taken;
    }
  }

  @Override
  public void close() {
    device.close(this, completions::clear);
  }
}
