package org.jdapl.sim;

import java.util.ArrayList;
import java.util.List;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/** A completion queue: a ring of exactly the capacity asked for, and the state of its arms. */
final class SimCq extends SimObject implements CompletionQueue {

  private static final int GARBAGE = 0xDEADBEEF;

  private static final class Entry {
    SimQp qp;
    boolean receive;
    long position;
    boolean solicited;
    long wrId;
    WcStatus status;
    WcOpcode opcode;
    int byteLength;
    boolean hasImmediate;
    boolean hasInvalidated;
    int immediate; // or the key of the window that the message ended

    /** Makes room in the work queue it came from. */
    void retire() {
      if (receive) {
        qp.receives().free();
      } else {
        qp.sent(position);
      }
      qp = null;
    }
  }

  private final SimModel model;
  private final Upcalls upcalls;
  private final Runnable notification;
  private final List<SimQp> users = new ArrayList<>(); // guarded by the wire

  // Taken after the wire. Test, clear and publish of an arm are one step under it.
  private final Object lock = new Object();
  private Entry[] ring;
  private int head;
  private volatile int count; // written under the lock, so that a busy poller need not take it
  private int armedNext;
  private int armedSolicited;
  private volatile boolean broken;

  SimCq(final SimDevice device, final long number, final int entries, final CqHandler handler) {
    super(device, "cq" + number);
    model = device.model();
    upcalls = device.notifications(toString());
    notification =
        () -> {
          if (fabric.isTracing()) {
            fabric.note(this + " notification");
          }
          handler.onNotification(this);
        };
    ring = entries(entries);
  }

  private static Entry[] entries(final int size) {
    final Entry[] entries = new Entry[size];
    for (int i = 0; i < size; i++) {
      entries[i] = new Entry();
    }
    return entries;
  }

  void attach(final SimQp qp) {
    users.add(qp);
  }

  void detach(final SimQp qp) {
    users.remove(qp);
  }

  /** Adds the completion of a send. Called holding the wire. */
  void addSend(
      final SimQp qp,
      final long position,
      final long wrId,
      final WcStatus status,
      final WcOpcode opcode,
      final int byteLength) {
    add(qp, false, position, wrId, status, opcode, byteLength, false, false, GARBAGE, false);
  }

  /** Adds the completion of a receive. Called holding the wire. */
  void addReceive(
      final SimQp qp,
      final long wrId,
      final WcOpcode opcode,
      final int byteLength,
      final boolean hasImmediate,
      final boolean hasInvalidated,
      final int immediate,
      final boolean solicited) {
    add(
        qp,
        true,
        0,
        wrId,
        WcStatus.SUCCESS,
        opcode,
        byteLength,
        hasImmediate,
        hasInvalidated,
        immediate,
        solicited);
  }

  /** Adds a receive that failed. Called holding the wire. */
  void addFailedReceive(final SimQp qp, final long wrId, final WcStatus status) {
    add(qp, true, 0, wrId, status, null, 0, false, false, 0, false);
  }

  private void add(
      final SimQp qp,
      final boolean receive,
      final long position,
      final long wrId,
      final WcStatus status,
      final WcOpcode opcode,
      final int byteLength,
      final boolean hasImmediate,
      final boolean hasInvalidated,
      final int immediate,
      final boolean solicited) {
    if (fabric.isTracing()) {
      fabric.note(
          this + (receive ? " receive of " : " send of ") + qp + " wrId=" + wrId + " " + status);
    }
    final boolean failed = status != WcStatus.SUCCESS;
    final boolean overflow;
    synchronized (lock) {
      overflow = !broken && count == ring.length;
      broken |= overflow;
      if (!broken) {
        final Entry entry = ring[(head + count) % ring.length];
        entry.qp = qp;
        entry.receive = receive;
        entry.position = position;
        entry.solicited = failed ? model.solicited() == SolicitedSupport.FULL : solicited;
        entry.wrId = wrId;
        entry.status = status;
        // Not valid with an error, so it is something that misleads.
        entry.opcode = failed ? (receive ? WcOpcode.BIND_MW : WcOpcode.RECV) : opcode;
        entry.byteLength = failed ? GARBAGE : byteLength;
        entry.hasImmediate = failed || hasImmediate;
        entry.hasInvalidated = failed || hasInvalidated;
        entry.immediate = failed ? GARBAGE : immediate;
        count++;
        if (armedNext > 0) {
          armedNext--;
          upcalls.post(notification);
        } else if (armedSolicited > 0 && entry.solicited) {
          armedSolicited--;
          upcalls.post(notification);
        }
      }
    }
    if (overflow) {
      device.async(AsyncType.CQ_ERR, this);
      users.forEach(SimQp::fail);
    }
  }

  /** Calls the handler on the stack of a verb, where the model does that. Called with no lock. */
  void notifyInsideVerb() {
    if (model.notifiesInsideVerbs()) {
      final int made = upcalls.deliver();
      if (made > 0 && fabric.isTracing()) {
        fabric.note(this + " notified inside a verb");
      }
    }
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public int capacity() {
    synchronized (lock) {
      return ring.length;
    }
  }

  @Override
  public int poll(final WorkCompletions into, final int max) {
    int taken = 0;
    check("poll_cq");
    if (count > 0) {
      synchronized (lock) {
        check("poll_cq");
        taken = take(into, max);
      }
    }
    notifyInsideVerb();
    return taken;
  }

  private int take(final WorkCompletions into, final int max) {
    if (max < 1) {
      throw invalid("poll_cq", "max " + max + "; expected at least 1");
    }
    int taken = 0;
    int left = count;
    while (taken < max && left > 0) {
      final Entry entry = ring[head];
      into.add(
          entry.wrId,
          entry.status,
          entry.opcode,
          entry.byteLength,
          entry.qp.number(),
          entry.status.code(),
          entry.hasImmediate,
          entry.immediate);
      if (entry.hasInvalidated) {
        into.setInvalidated(entry.immediate);
      }
      entry.retire();
      head = (head + 1) % ring.length;
      left--;
      count = left;
      taken++;
    }
    return taken;
  }

  @Override
  public int arm(final ArmKind kind) {
    final int hint;
    synchronized (lock) {
      check("req_notify_cq");
      hint = armAndHint(kind);
    }
    notifyInsideVerb();
    return hint;
  }

  @Override
  public RearmOutcome pollAndRearm(final WorkCompletions into, final int max, final ArmKind kind) {
    if (!model.nativePollAndRearm()) {
      return CompletionQueue.super.pollAndRearm(into, max, kind);
    }
    final RearmOutcome outcome;
    synchronized (lock) {
      check("poll_and_rearm_cq");
      device.declaration().checkArm(toString(), kind);
      final int taken = take(into, max);
      if (count > 0) {
        outcome = RearmOutcome.SUCCESS;
      } else {
        request(kind);
        outcome = taken > 0 ? RearmOutcome.COMPLETED : RearmOutcome.NOT_DONE;
      }
    }
    notifyInsideVerb();
    return outcome;
  }

  private int armAndHint(final ArmKind kind) {
    device.declaration().checkArm(toString(), kind);
    final boolean hinted =
        switch (model.hint()) {
          case NONE -> false;
          case EXACT, WITHOUT_ARM -> count > 0;
          case MAYBE -> count > 0 != fabric.chance(25);
        };
    if (!hinted || model.hint() != SimModel.Hint.WITHOUT_ARM) {
      request(kind);
    }
    return hinted ? 1 : 0;
  }

  private void request(final ArmKind kind) {
    // In flight counts as armed: so does the hardware that numbers its arms by the events read.
    if (armedNext + armedSolicited + upcalls.pending() > 0) {
      switch (secondArm()) {
        case IGNORED -> {
          return;
        }
        case OVERWRITES -> {
          armedNext = 0;
          armedSolicited = 0;
        }
        default -> {} // counted
      }
    }
    if (isStrong() && holds(kind)) {
      upcalls.post(notification);
    } else if (kind == ArmKind.NEXT) {
      armedNext++;
    } else {
      armedSolicited++;
    }
  }

  private SecondArm secondArm() {
    if (model.secondArm() != SecondArm.UNKNOWN) {
      return model.secondArm();
    }
    return switch ((int) fabric.random(0, 3)) {
      case 0 -> SecondArm.IGNORED;
      case 1 -> SecondArm.COUNTED;
      default -> SecondArm.OVERWRITES;
    };
  }

  private boolean isStrong() {
    return switch (model.arm()) {
      case WEAK -> false;
      case STRONG -> true;
      case UNKNOWN -> fabric.chance(50);
    };
  }

  private boolean holds(final ArmKind kind) {
    for (int i = 0; i < count; i++) {
      if (kind == ArmKind.NEXT || ring[(head + i) % ring.length].solicited) {
        return true;
      }
    }
    return false;
  }

  private void check(final String verb) {
    if (isClosed()) {
      throw invalid(verb, "the queue is closed");
    }
    if (broken) {
      throw invalid(verb, "the queue overflowed at " + ring.length + " completions; see CQ_ERR");
    }
  }

  @Override
  public void resize(final int entries) {
    SimDevice.LIMITS.checkCq("resize_cq", toString(), entries);
    final Entry[] larger = entries(entries);
    synchronized (lock) {
      check("resize_cq");
      if (count > entries) {
        throw invalid("resize_cq", entries + " entries, but it holds " + count);
      }
      for (int i = 0; i < count; i++) {
        larger[i] = ring[(head + i) % ring.length];
      }
      ring = larger;
      head = 0;
    }
  }

  /** Drops the completions of a queue pair; the others keep their order. */
  void sweep(final SimQp qp) {
    synchronized (lock) {
      int kept = 0;
      for (int i = 0; i < count; i++) {
        final int from = (head + i) % ring.length;
        final int to = (head + kept) % ring.length;
        final Entry entry = ring[from];
        if (entry.qp == qp) {
          entry.retire();
        } else {
          ring[from] = ring[to];
          ring[to] = entry;
          kept++;
        }
      }
      count = kept;
    }
  }

  @Override
  public void close() {
    upcalls.refuseInside("destroy_cq");
    super.close();
    upcalls.close();
  }
}
