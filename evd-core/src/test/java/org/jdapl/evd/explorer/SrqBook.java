package org.jdapl.evd.explorer;

import java.util.HashMap;
import java.util.Map;
import org.jdapl.dat.SharedReceiveQueue;

/**
 * What is known of a shared receive queue, and must be so: each receive has one fate, at one
 * endpoint, and what has none is open.
 */
final class SrqBook {

  /** A receive that was posted and not accounted for. */
  private record Receive(Object lmr, long index, long wrId) {}

  final SharedReceiveQueue srq;
  final AdapterBook adapter;
  private final ScriptRun run;
  private final AuditedProvider.Shared shared;
  private final Map<Long, Receive> open = new HashMap<>();
  private long posted;
  private long lastCookie;
  private int watermarks;
  private int limits;
  private boolean closed;

  /**
   * Whether the close of an endpoint had no time to wait for what it took: that comes back here
   * without an outcome.
   */
  private boolean isUnknown;

  SrqBook(final ScriptRun run, final AdapterBook adapter, final SharedReceiveQueue srq) {
    this.run = run;
    this.adapter = adapter;
    this.srq = srq;
    shared = adapter.device.lastShared();
  }

  boolean isClosed() {
    return closed;
  }

  // What the consumer did.

  void posted(final Object lmr, final long cookie) {
    if (closed) {
      run.fail("T03", srq + ": a receive was accepted after its close");
    }
    if (open() >= srq.maxReceives() && !run.isUnsettled(this)) {
      run.fail("E05", srq + ": more than " + srq.maxReceives() + " receives");
    }
    open.put(cookie, new Receive(lmr, posted++, shared.lastPosted()));
    lastCookie = cookie;
  }

  /** A post was refused because the queue is full. */
  void refused() {
    if (open.size() < srq.maxReceives()) {
      run.fail(
          "O10",
          srq
              + ": a receive was refused, though only "
              + open.size()
              + " of "
              + srq.maxReceives()
              + " are open");
    }
  }

  /** Whether an open receive uses a region, for sure. */
  boolean uses(final Object lmr) {
    return !closed
        && !run.isUnsettled(this)
        && open.values().stream()
            .anyMatch(receive -> receive.lmr == lmr && !shared.wasLate(receive.wrId));
  }

  /** How many receives have no outcome, and may have one. */
  private long open() {
    return open.values().stream().filter(receive -> !shared.wasLate(receive.wrId)).count();
  }

  void watermark() {
    watermarks++;
  }

  void closes() {
    closed = true;
  }

  // What it is told.

  /**
   * A receive was accounted for at an endpoint. When its device is lost an endpoint is closed by
   * the core, as is its queue; the report is kept until the consumer closes the endpoint.
   *
   * @return its place among those that were posted; -1 if it is not open.
   */
  long settle(
      final long cookie,
      final AuditedProvider.Pair pair,
      final boolean delivered,
      final String how) {
    final Receive receive = open.remove(cookie);
    if (receive == null) {
      run.fail(
          cookie > lastCookie ? "O1" : "O2",
          how + ": it is not open at " + srq + ", " + open.keySet());
      return -1;
    }
    final boolean isKeptReport = !delivered && adapter.device.isLost();
    if (closed && !isKeptReport) {
      run.fail("O3", how + ": " + srq + " is closed");
    }
    if (delivered && !shared.wasTakenBy(pair, receive.wrId)) {
      run.fail("M05", how + ": no completion says that this endpoint took it");
    }
    return receive.index;
  }

  void onLateReport() {
    isUnknown = true;
  }

  void onLimit(final int count) {
    limits += count;
    if (limits > watermarks) {
      run.fail("T13", srq + ": said " + limits + " times that few are left, not " + watermarks);
    }
  }

  /** Nothing more happens: what has no outcome is open. */
  void onRest() {
    if (closed || adapter.closed) {
      return;
    }
    final int left = srq.openReceives();
    final boolean excused = isUnknown || run.isUnsettled(this) || run.losesCompletions();
    if (left < srq.lowWatermark()) {
      run.fail(
          "T13", srq + ": " + left + " are left, and nobody was told of " + srq.lowWatermark());
    }
    if (left > open.size() || (left < open.size() && !excused)) {
      run.fail(
          "O10", srq + ": " + left + " receives are open, and " + open.size() + " have no outcome");
    }
  }

  /** All its endpoints are closed: what is open, the device has. */
  void onUnused() {
    if (closed || adapter.closed || isUnknown || run.isExcused(adapter)) {
      return;
    }
    final int left = srq.openReceives();
    if (left != shared.left()) {
      run.fail(
          "O10",
          srq + ": " + left + " receives are open, and no device has taken " + shared.left());
    }
    if (left > 0) {
      final int before = shared.limits();
      watermark();
      srq.lowWatermark(left);
      run.rest();
      if (shared.limits() > before) {
        run.fail("O10", srq + ": the device has less than the " + left + " receives that are open");
      }
    }
  }

  @Override
  public String toString() {
    return srq.toString();
  }
}
