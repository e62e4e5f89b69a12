package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
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
  private final int length;

  // Of the turn: the oldest events, where somebody counted them.
  private final ArrayDeque<Object> counted = new ArrayDeque<>(0);
  private int inCounted;
  private int mortals;

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
    final Object event = inCounted > 0 ? pollCounted() : queue.relaxedPoll();
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

  private Object pollCounted() {
    inCounted--;
    final Object event = counted.poll();
    if (isMortal(event)) {
      mortals--;
    }
    return event;
  }

  /**
   * How many events it holds; those that will not be handed out any more are forgotten. By the
   * holder of the turn.
   */
  int count() {
    Object event;
    while ((event = queue.relaxedPoll()) != null) {
      counted.add(event);
      if (isMortal(event)) {
        mortals++;
      }
    }
    if (mortals > 0) {
      final int before = counted.size();
      counted.removeIf(Lane::isGone);
      mortals -= before - counted.size();
    }
    inCounted = counted.size();
    return inCounted;
  }

  private static boolean isMortal(final Object event) {
    return event instanceof LaneEvent && !(event instanceof RequestEvent);
  }

  private static boolean isGone(final Object event) {
    return event instanceof LaneEvent laneEvent && laneEvent.isGone();
  }

  /** What was posted. */
  static Object payload(final Object polled) {
    return polled == NULL ? null : polled;
  }

  boolean isEmpty() {
    return inCounted == 0 && queue.isEmpty();
  }
}
