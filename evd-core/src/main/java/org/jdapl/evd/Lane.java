package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.atomic.unpadded.MpscGrowableAtomicUnpaddedArrayQueue;

/**
 * The queue of all events of an EVD that do not come from a completion queue: software events, as
 * the consumer's own objects, and {@link LaneEvent}s. Anybody offers; the holder of the turn polls.
 *
 * <p>Software events and connection requests are bounded each on its own. Connection and async
 * events are bounded by what makes them: two for an endpoint, one for a live object.
 */
final class Lane {

  private static final int CHUNK = 16;
  private static final int UNREACHED = 1 << 24;
  private static final Object NULL = new Object();
  private static final long CLOSED = Long.MIN_VALUE;

  private static final VarHandle SOFTWARE_OFFERED;
  private static final VarHandle SOFTWARE_TAKEN;
  private static final VarHandle REQUESTS_OFFERED;

  static {
    try {
      final MethodHandles.Lookup lookup = MethodHandles.lookup();
      SOFTWARE_OFFERED = lookup.findVarHandle(Lane.class, "softwareOffered", long.class);
      SOFTWARE_TAKEN = lookup.findVarHandle(Lane.class, "softwareTaken", long.class);
      REQUESTS_OFFERED = lookup.findVarHandle(Lane.class, "requestsOffered", long.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final MessagePassingQueue<Object> queue =
      new MpscGrowableAtomicUnpaddedArrayQueue<>(CHUNK, UNREACHED);
  private volatile int length;

  private volatile long softwareOffered;
  private volatile long softwareTaken;
  private volatile long requestsOffered;
  private volatile long requestsTaken;

  Lane(final int length) {
    this.length = length;
  }

  /**
   * Offers a software event. From any thread.
   *
   * @return false if as many wait as the EVD is long, or the lane {@link #isClosed}.
   */
  boolean offerSoftware(final Object payload) {
    long offered;
    do {
      offered = softwareOffered;
      if (offered < 0 || offered - softwareTaken >= length) {
        return false;
      }
    } while (!SOFTWARE_OFFERED.compareAndSet(this, offered, offered + 1));
    queue.offer(payload == null ? NULL : payload);
    return true;
  }

  /**
   * Changes how many software events, and how many requests, may wait. One thread at a time.
   *
   * @return false if more wait; nothing was changed then.
   */
  boolean resize(final int to) {
    final int before = length;
    length = to; // first, so that no more come than there is room for
    if (softwareWaiting() > to || requestsOffered - requestsTaken > to) {
      length = before;
      return false;
    }
    return true;
  }

  private long softwareWaiting() {
    final long taken = softwareTaken; // first, so that the difference is not below 0
    return (softwareOffered & ~CLOSED) - taken;
  }

  /** Whether software events are accepted no more. */
  boolean isClosed() {
    return softwareOffered < 0;
  }

  /**
   * Accepts no software event any more. From any thread; what it returns is for the holder of the
   * turn.
   *
   * @return whether all accepted ones were taken; if not, their posters have not finished.
   */
  boolean close() {
    final long offered = (long) SOFTWARE_OFFERED.getAndBitwiseOr(this, CLOSED);
    return (offered & ~CLOSED) == softwareTaken;
  }

  /**
   * Offers a connection request. From any thread.
   *
   * @return false if as many wait as the EVD is long.
   */
  boolean offerRequest(final RequestEvent event) {
    long offered;
    do {
      offered = requestsOffered;
      if (offered - requestsTaken >= length) {
        return false;
      }
    } while (!REQUESTS_OFFERED.compareAndSet(this, offered, offered + 1));
    queue.offer(event);
    return true;
  }

  /** Offers a connection or async event. From any thread. */
  void offer(final LaneEvent event) {
    queue.offer(event);
  }

  /**
   * Takes the oldest event; to be given to {@link #payload} if it is no {@link LaneEvent}. By the
   * holder of the turn.
   *
   * @return null if there is none, or its poster has not finished: the poster signals then.
   */
  Object poll() {
    final Object event = queue.relaxedPoll();
    if (event == null) {
      return null;
    }
    if (event instanceof RequestEvent) {
      final long taken = requestsTaken;
      requestsTaken = taken + 1;
    } else if (!(event instanceof LaneEvent)) {
      SOFTWARE_TAKEN.setRelease(this, softwareTaken + 1);
    }
    return event;
  }

  /** What was posted. */
  static Object payload(final Object polled) {
    return polled == NULL ? null : polled;
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }
}
