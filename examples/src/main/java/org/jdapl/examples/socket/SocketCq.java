package org.jdapl.examples.socket;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jdapl.verbs.*;

// tag::cq[]
/** A completion queue. It grows, and so never overflows. */
record SocketCq(
    SocketDevice device, int capacity, CqHandler handler, Queue<Wc> queue, AtomicBoolean armed)
    implements CompletionQueue {

  /** A completion: puts itself into a batch. */
  interface Wc extends Consumer<WorkCompletions> {}

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
      device.objects.own("req_notify_cq", SocketCq.class, this);
      device.declaration().checkArm("cq", kind);
      armed.set(true);
      return queue.isEmpty() ? 0 : 1;
    }
  }

  @Override
  public int poll(WorkCompletions into, int max) {
    synchronized (device) {
      device.objects.own("poll_cq", SocketCq.class, this);
      int taken = Math.min(max, queue.size());
      for (int i = 0; i < taken; i++) {
        queue.remove().accept(into);
      }
      return taken;
    }
  }

  @Override
  public void close() {
    device.objects.close(this, queue::clear);
  }
}
// end::cq[]
