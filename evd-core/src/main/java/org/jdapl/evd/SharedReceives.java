package org.jdapl.evd;

import java.time.Duration;
import org.jdapl.dat.DtoOperation;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.QueuePair;

/**
 * The receives of an endpoint on a shared receive queue. They stand in the slots of that queue;
 * what stands in the ring of this one are markers.
 *
 * <p>A marker cannot be posted, for any queue pair would take it. So it passes by without the
 * device: when the queue pair in the error state has taken its last receive, its completion queue
 * is polled once up to its capacity, and behind what was found the marker is put into the stash.
 * Some devices say when the last receive was taken, others never do: there the marker of the
 * requests must do, and where it is not known the wait has a bound.
 */
final class SharedReceives extends WorkQueue {

  private static final Duration BOUND_WHERE_NEVER_REPORTED = Duration.ofSeconds(2);
  private static final Duration FIRST_RETRY = Duration.ofMillis(1);
  private static final Duration LAST_RETRY = Duration.ofSeconds(1);

  /** In a slot: it is the shared queue's. */
  private static final int SHARED = 1 << 30;

  private final Incarnation incarnation;
  private final EvdImpl evd;
  private final SrqImpl srq;

  private volatile boolean waiting;
  private volatile boolean lastTaken;

  // Of the turn.
  private boolean polled;
  private final Backoff retry = new Backoff(FIRST_RETRY, LAST_RETRY);
  private long passed;

  SharedReceives(
      final Incarnation incarnation, final EvdImpl evd, final SrqImpl srq, final long tag) {
    super(false, evd.counters(), tag, 0, 1);
    this.incarnation = incarnation;
    this.evd = evd;
    this.srq = srq;
  }

  // Markers.

  /** The queue pair is in the error state. */
  @Override
  int postMarker(final QueuePair qp, final boolean closing) {
    final int errno = super.postMarker(qp, closing);
    if (!waiting) {
      waiting = true;
      waitForLast();
    }
    evd.control(this::passMarkers); // not under the guard: it may wake a dispatcher
    return errno;
  }

  @Override
  int postReceiveMarker(final QueuePair qp) {
    return 0; // it is none of the device's
  }

  private void waitForLast() {
    final IaImpl ia = incarnation.ia();
    final Duration bound = incarnation.attributes().bounds().lastReceive();
    final boolean isShortened =
        !ia.asyncErrors().reportsLastWqe() && bound.compareTo(BOUND_WHERE_NEVER_REPORTED) > 0;
    ia.reaper()
        .schedule(
            isShortened ? BOUND_WHERE_NEVER_REPORTED : bound,
            incarnation.drain().closed(),
            this::onLastTaken);
  }

  /** A marker of the endpoint's requests came by. */
  void onRequestsMarker() {
    if (waiting && incarnation.ia().device().declaration().lastWqe() == LastWqe.NEVER) {
      onLastTaken();
    }
  }

  /** The queue pair takes no receive any more, and flushed those it took. From any thread. */
  void onLastTaken() {
    lastTaken = true;
    evd.control(this::passMarkers);
  }

  /** In a turn. */
  private void passMarkers() {
    if (!lastTaken || isDrained()) {
      return;
    }
    polled = polled || evd.merger().passOver(incarnation.receiveFeed());
    if (!polled) {
      incarnation
          .ia()
          .reaper()
          .schedule(
              retry.next(), incarnation.drain().closed(), () -> evd.control(this::passMarkers));
      return;
    }
    while (passed < posted()) {
      evd.merger().addMarker(idOf(passed), incarnation.qpNumber());
      passed++;
    }
  }

  // Completions.

  private static boolean isShared(final int slot) {
    return slot >= SHARED;
  }

  private static int shared(final int slot) {
    return slot < 0 ? slot : slot | SHARED;
  }

  @Override
  int locate(final long wrId) {
    return isOwn(wrId) ? super.locate(wrId) : shared(srq.slotOf(wrId));
  }

  @Override
  int slotOf(final long wrId) {
    return isOwn(wrId) ? super.slotOf(wrId) : shared(srq.slotOf(wrId));
  }

  @Override
  boolean isMarker(final int slot) {
    return !isShared(slot);
  }

  @Override
  boolean isSuppressed(final int slot) {
    return false;
  }

  @Override
  boolean isUnsignalled(final int slot) {
    return false;
  }

  @Override
  DtoOperation operation(final int slot) {
    return DtoOperation.RECEIVE;
  }

  @Override
  long cookie(final int slot) {
    return srq.cookie(slot ^ SHARED);
  }

  @Override
  Object context(final int slot) {
    return srq.context(slot ^ SHARED);
  }

  @Override
  void complete(final int slot) {
    if (isShared(slot)) {
      srq.complete(slot ^ SHARED);
    } else {
      super.complete(slot);
    }
  }

  /** A message may be in a receive that was taken before the one that failed. */
  @Override
  void onError() {}

  /** Behind the close's marker nothing is handed out. */
  @Override
  boolean isSwept() {
    return super.isSwept() || isDrained();
  }
}
