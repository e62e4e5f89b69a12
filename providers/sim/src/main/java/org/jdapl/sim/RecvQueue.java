package org.jdapl.sim;

import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.VerbsException;

/**
 * A ring of receives: one thread at a time posts or resizes, whoever holds the wire takes. As on
 * hardware a place comes free when the completion was polled.
 */
final class RecvQueue {

  private volatile RecvRequest[] ring;
  private volatile int limit;
  private final int maxSge;
  private final AtomicLong polled = new AtomicLong();
  private volatile long posted;
  private long taken; // guarded by the wire

  RecvQueue(final int limit, final int maxSge) {
    this.limit = limit;
    this.maxSge = maxSge;
    ring = newRing(limit);
  }

  private RecvRequest[] newRing(final int atLeast) {
    final RecvRequest[] fresh = new RecvRequest[powerOfTwo(atLeast)];
    for (int i = 0; i < fresh.length; i++) {
      fresh[i] = new RecvRequest(maxSge);
    }
    return fresh;
  }

  /** Holds another number of receives; false if more are in it. Called holding the wire. */
  boolean resize(final int to) {
    if (posted - polled.get() > to) {
      return false;
    }
    final RecvRequest[] from = ring;
    final RecvRequest[] fresh = newRing(to);
    for (long i = taken; i < posted; i++) {
      fresh[(int) i & (fresh.length - 1)] = from[(int) i & (from.length - 1)];
    }
    ring = fresh;
    limit = to;
    return true;
  }

  static int powerOfTwo(final int atLeast) {
    return atLeast <= 1 ? 1 : Integer.highestOneBit(atLeast - 1) << 1;
  }

  static boolean isValid(final SgeList request, final int maxSge) {
    if (request.sgeCount() > maxSge) {
      return false;
    }
    for (int i = 0; i < request.sgeCount(); i++) {
      if (request.sgeLength(i) < 0) {
        return false;
      }
    }
    return true;
  }

  int post(final RecvRequest request) {
    if (!isValid(request, maxSge)) {
      return VerbsException.EINVAL;
    }
    final long tail = posted;
    if (tail - polled.get() >= limit) {
      return VerbsException.ENOMEM;
    }
    final RecvRequest[] to = ring;
    final RecvRequest slot = to[(int) tail & (to.length - 1)];
    slot.set(request);
    posted = tail + 1;
    return 0;
  }

  /** The next receive, not taken yet, or null. */
  RecvRequest peek() {
    final RecvRequest[] from = ring;
    return taken == posted ? null : from[(int) taken & (from.length - 1)];
  }

  void take() {
    taken++;
  }

  long left() {
    return posted - taken;
  }

  /** A completion was polled, or swept. May be called from several threads. */
  void free() {
    polled.incrementAndGet();
  }
}
