package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.atomic.MpscGrowableAtomicArrayQueue;

/**
 * The queue of all events of an EVD that do not come from a completion queue: software events, as
 * the consumer's own objects, and {@link LaneEvent}s. Anybody offers; the holder of the turn polls.
 *
 * <p>Software events and connection requests are bounded each on its own. Connection and async
 * events are bounded by what makes them: two for an endpoint, one of each kind for a live object.
 */
final class Lane {

  private static final int CHUNK = 16;
  private static final int UNREACHED = 1 << 24;

  /** The longest: software events, requests and all else together stay below what is unreached. */
  static final int MAX_LENGTH = 1 << 22;

  private static final Object NULL = new Object();

  /** Of a lane that never had an event: nobody offers to it. */
  private static final MessagePassingQueue<Object> NONE = newQueue();

  private static final VarHandle QUEUE;

  static {
    try {
      QUEUE = MethodHandles.lookup().findVarHandle(Lane.class, "queue", MessagePassingQueue.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** How many of a kind wait, and how many may: that, and whether it is closed, are one word. */
  @SuppressWarnings("unused") // pads
  private static final class Bound {

    private static final long CLOSED = Long.MIN_VALUE;
    private static final int LENGTH_SHIFT = 36;
    private static final long OFFERED = (1L << LENGTH_SHIFT) - 1;
    private static final VarHandle WORD;
    private static final VarHandle TAKEN;

    static {
      try {
        final MethodHandles.Lookup lookup = MethodHandles.lookup();
        WORD = lookup.findVarHandle(Bound.class, "word", long.class);
        TAKEN = lookup.findVarHandle(Bound.class, "taken", long.class);
      } catch (final ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    // Keeps what posters write for each event out of the cache line of what the turn reads.
    long pad1;
    long pad2;
    long pad3;
    long pad4;
    long pad5;
    long pad6;
    long pad7;

    private volatile long word;

    /** What had been taken when a poster looked last: it looks again when that is too little. */
    private volatile long seen;

    // And what the turn writes out of the posters'.
    long pad8;
    long pad9;
    long pad10;
    long pad11;
    long pad12;
    long pad13;
    long pad14;
    long pad15;

    private volatile long taken;

    Bound(final int length) {
      word = (long) length << LENGTH_SHIFT;
    }

    /** Below 0 if more was taken than had been offered then: the word is another by now. */
    private long waiting(final long before) {
      return between(taken, before);
    }

    private static long between(final long takenThen, final long before) {
      return (before - takenThen) << (Long.SIZE - LENGTH_SHIFT) >> (Long.SIZE - LENGTH_SHIFT);
    }

    private static int length(final long word) {
      return (int) ((word & ~CLOSED) >>> LENGTH_SHIFT);
    }

    boolean offer() {
      while (true) {
        final long before = word;
        if (before < 0) {
          return false;
        }
        if (between(seen, before) >= length(before)) {
          seen = taken;
          if (waiting(before) >= length(before)) {
            if (word == before) {
              return false;
            }
            continue; // more was offered since, and may have been taken
          }
        }
        final long after = (before & ~OFFERED) | ((before + 1) & OFFERED);
        if (WORD.compareAndSet(this, before, after)) {
          return true;
        }
      }
    }

    /** What was counted could not be offered. */
    void undo() {
      long before;
      long after;
      do {
        before = word;
        after = (before & ~OFFERED) | ((before - 1) & OFFERED);
      } while (!WORD.compareAndSet(this, before, after));
    }

    void take() {
      TAKEN.setRelease(this, taken + 1);
    }

    boolean resize(final int length) {
      while (true) {
        final long before = word;
        if (waiting(before) > length) {
          if (word == before) {
            return false;
          }
          continue; // as in offer
        }
        final long after = (before & (CLOSED | OFFERED)) | (long) length << LENGTH_SHIFT;
        if (WORD.compareAndSet(this, before, after)) {
          return true;
        }
      }
    }

    boolean isClosed() {
      return word < 0;
    }

    boolean close() {
      return waiting((long) WORD.getAndBitwiseOr(this, CLOSED)) == 0;
    }
  }

  /**
   * Comes with the first event: it is large, because what its posters write and what the turn
   * writes have cache lines of their own.
   */
  private volatile MessagePassingQueue<Object> queue = NONE;

  private final Bound software;
  private final Bound requests; // null if none will come

  // Of the turn: the oldest events, where somebody counted them.
  private ArrayDeque<Object> counted; // null until then
  private int inCounted;
  private int mortals;

  Lane(final int length, final boolean takesRequests) {
    software = new Bound(length);
    requests = takesRequests ? new Bound(length) : null;
  }

  private static MessagePassingQueue<Object> newQueue() {
    return new MpscGrowableAtomicArrayQueue<>(CHUNK, UNREACHED);
  }

  /** Where to offer. Asked for before anything is counted. */
  private MessagePassingQueue<Object> made() {
    if (queue == NONE) {
      QUEUE.compareAndSet(this, NONE, newQueue()); // another poster may have made it
    }
    return queue;
  }

  /**
   * Offers a software event. From any thread.
   *
   * @return false if as many wait as the EVD is long, or the lane {@link #isClosed}.
   */
  boolean offerSoftware(final Object payload) {
    final MessagePassingQueue<Object> to = made();
    if (!software.offer()) {
      return false;
    }
    offer(payload == null ? NULL : payload, to, software);
    return true;
  }

  /** Offers what was counted. Without memory for it, nothing was. */
  private static void offer(
      final Object event, final MessagePassingQueue<Object> to, final Bound countedBy) {
    boolean offered = false;
    try {
      to.offer(event);
      offered = true;
    } finally {
      if (!offered) {
        countedBy.undo();
      }
    }
  }

  /**
   * Changes how many software events, and how many requests, may wait. One thread at a time.
   *
   * @return false if more wait; nothing was changed then.
   */
  boolean resize(final int from, final int to) {
    if (!software.resize(to)) {
      return false;
    }
    if (requests != null && !requests.resize(to)) {
      software.resize(from);
      return false;
    }
    return true;
  }

  /** Whether software events are accepted no more. */
  boolean isClosed() {
    return software.isClosed();
  }

  /**
   * Accepts no software event any more. From any thread; what it returns is for the holder of the
   * turn.
   *
   * @return whether all accepted ones were taken; if not, their posters have not finished.
   */
  boolean close() {
    return software.close();
  }

  /**
   * Offers a connection request, to a lane that takes them. From any thread.
   *
   * @return false if as many wait as the EVD is long.
   */
  boolean offerRequest(final ConnectionRequestEventImpl event) {
    final MessagePassingQueue<Object> to = made();
    if (!requests.offer()) {
      return false;
    }
    offer(event, to, requests);
    return true;
  }

  /** Offers a connection or async event. From any thread. */
  void offer(final LaneEvent event) {
    made().offer(event);
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
    if (event instanceof ConnectionRequestEventImpl) {
      requests.take();
    } else if (!(event instanceof LaneEvent)) {
      software.take();
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

  /** How many events it holds that will be handed out. By the holder of the turn. */
  int count() {
    forgetGone();
    return inCounted;
  }

  /** Forgets the events that will not be handed out any more. By the holder of the turn. */
  void forgetGone() {
    if (counted == null) {
      counted = new ArrayDeque<>(0);
    }
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
  }

  private static boolean isMortal(final Object event) {
    return event instanceof LaneEvent && !(event instanceof ConnectionRequestEventImpl);
  }

  private static boolean isGone(final Object event) {
    return event instanceof LaneEvent laneEvent && laneEvent.isGone();
  }

  /** What was posted. */
  static Object payload(final Object polled) {
    return polled == NULL ? null : polled;
  }

  /** About how many events wait. By the holder of the turn. */
  int size() {
    return inCounted + queue.size();
  }

  /**
   * Whether {@link #poll} takes an event. Looks where the next one comes, not at the index that
   * each poster changes. By the holder of the turn.
   */
  boolean hasNext() {
    return inCounted > 0 || queue.relaxedPeek() != null;
  }

  boolean isEmpty() {
    return inCounted == 0 && queue.isEmpty();
  }
}
