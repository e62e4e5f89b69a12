package org.jdapl.examples.socket;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/** A completion queue. */
final class SocketCq extends SocketObject implements CompletionQueue {

  /** A completion; opcode, length and immediate are valid with success only. */
  record Completion(
      int qpNumber,
      long wrId,
      WcStatus status,
      WcOpcode opcode,
      int length,
      Integer immediate,
      boolean solicited) {}

  final List<SocketQp> queuePairs = new ArrayList<>();
  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private final int capacity;
  private final CqHandler handler;
  private ArmKind armed; // null: it is not
  private boolean broken;

  SocketCq(final SocketDevice device, final int capacity, final CqHandler handler) {
    super(device, "cq");
    this.capacity = capacity;
    this.handler = handler;
  }

  // tag::arm[]
  /** Adds a completion, and takes the arm away if it counts: one step, as the lock is held. */
  void add(final Completion completion) {
    if (closed || broken) {
      return;
    }
    if (completions.size() == capacity) {
      broken = true;
      device.async(AsyncType.CQ_ERR, this);
      List.copyOf(queuePairs).forEach(SocketQp::fail);
      return;
    }
    completions.add(completion);
    final boolean isSolicited = completion.solicited() || completion.status() != WcStatus.SUCCESS;
    if (armed == ArmKind.NEXT || (armed == ArmKind.SOLICITED && isSolicited)) {
      armed = null;
      device.later(this, () -> handler.onNotification(this));
    }
  }

  @Override
  public int arm(final ArmKind kind) {
    synchronized (device.lock) {
      check("req_notify_cq");
      if (armed != ArmKind.NEXT) { // which must not be weakened
        armed = kind;
      }
      return completions.isEmpty() ? 0 : 1;
    }
  }

  // end::arm[]

  @Override
  public int poll(final WorkCompletions into, final int max) {
    synchronized (device.lock) {
      check("poll_cq");
      if (max < 1) {
        throw error("poll_cq", VerbsException.EINVAL, "max " + max + "; expected at least 1");
      }
      int taken = 0;
      for (; taken < max && !completions.isEmpty(); taken++) {
        final Completion next = completions.remove();
        final boolean hasImmediate = next.immediate() != null;
        into.add(
            next.wrId(),
            next.status(),
            next.opcode(),
            next.length(),
            next.qpNumber(),
            0,
            hasImmediate,
            hasImmediate ? next.immediate() : 0);
      }
      return taken;
    }
  }

  private void check(final String verb) {
    device.checkOpen(verb, this);
    if (broken) {
      throw error(verb, VerbsException.EINVAL, "it overflowed at " + capacity + " completions");
    }
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  void release() {
    completions.clear();
  }
}
