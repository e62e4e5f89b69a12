package org.jdapl.evd;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.DatException;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;

/**
 * A consumer's thread takes an event itself: it dequeues, or waits. The turn is its own meanwhile,
 * as it is a dispatcher's for upcalls; its handler is called after it.
 */
final class ConsumerTurn implements BooleanSupplier {

  private final EvdImpl evd;
  private final IaImpl ia;
  private final EvdState state;
  private final Merger merger;
  private final EvdRoom room;
  private final Counters counters;
  private final AtomicReference<Handout> spare = new AtomicReference<>();
  private volatile Thread waiter;
  private volatile int remaining;

  ConsumerTurn(final EvdImpl evd, final EvdState state) {
    this.evd = evd;
    ia = evd.ia();
    this.state = state;
    merger = evd.merger();
    room = evd.room();
    counters = evd.counters();
  }

  Outcome dequeue(final EventHandler to) {
    if (to == null) {
      throw Misuse.argument(1, evd.name() + ".dequeue: the handler is null");
    }
    final Handout own = borrow();
    try {
      if (!take(own, "dequeue")) {
        return Outcome.QUEUE_EMPTY;
      }
      deliver(own, to);
      return Outcome.SUCCESS;
    } finally {
      spare.set(own);
    }
  }

  /**
   * A close of the event's endpoint waits for the handler, and the handler does not wait for it.
   */
  private void deliver(final Handout event, final EventHandler to) {
    final EndpointDrain drain = event.drain();
    Dispatcher.enterDequeue();
    try {
      event.deliver(to);
    } finally {
      event.release();
      Dispatcher.exitDequeue();
      if (drain != null) {
        drain.upcallReturns();
      }
    }
  }

  int drain(final EventHandler to, final int limit) {
    if (limit < 1) {
      throw Misuse.argument(2, evd.name() + ".drain: limit " + limit + " is below 1");
    }
    int drained = 0;
    while (drained < limit && dequeue(to) == Outcome.SUCCESS) {
      drained++;
    }
    return drained;
  }

  private Handout borrow() {
    final Handout own = spare.getAndSet(null);
    return own != null ? own : new Handout();
  }

  private boolean take(final Handout to, final String call) {
    final boolean isInside = Dispatcher.isInUpcallOf(evd);
    if (isInside) {
      evd.checkOpen(call);
      if (Dispatcher.isInTurnOf(evd)) {
        return next(to, true);
      }
    }
    final long before = evd.takeTurn(isInside ? EvdState.TAKE_INSIDE : EvdState.TAKE);
    checkTaken(before, call);
    try {
      return next(to, !EvdState.tellsNobody(before));
    } finally {
      evd.leave();
      evd.checkQuiet();
    }
  }

  /** Throws if the turn was refused. */
  private void checkTaken(final long before, final String call) {
    if (before >= 0) {
      return;
    }
    if (before == EvdState.WAITED) {
      throw evd.waited(call);
    }
    evd.checkOpen(call);
    if (before == EvdState.NOT_WAITABLE) {
      throw unwaitable(call);
    }
    throw Misuse.state(
        ReturnSubtype.INVALID_STATE_EVD_ENABLED,
        evd.name()
            + "."
            + call
            + ": an upcall may start or is running ("
            + state
            + "); disable it,"
            + " and let the running upcall return, first");
  }

  private DatException unwaitable(final String call) {
    return Misuse.state(
        ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE,
        evd.name() + "." + call + ": no thread may wait; clearUnwaitable allows it again");
  }

  /** Takes the next event; what is left out on the way does not make it look empty. */
  private boolean next(final Handout to, final boolean arms) {
    merger.lookAgain();
    for (int turns = 0; turns < EvdImpl.BUDGET; turns++) {
      if (merger.next(to, arms)) {
        counters.increment(Counters.DEQUEUED);
        to.beginUpcall();
        return true;
      }
      if (!merger.isTired()) {
        return false;
      }
      merger.rest();
    }
    return false;
  }

  Outcome await(final EventHandler to, final int threshold, final Duration timeout) {
    checkAwait(to, threshold, timeout);
    final long deadline = ia.runtime().deadline(timeout);
    final Handout own = borrow();
    try {
      checkTaken(evd.takeTurn(EvdState.AWAIT), "await");
      final Outcome outcome;
      try {
        checkThreshold(threshold); // it may have been resized
        outcome = waitInTurn(own, threshold, deadline);
      } finally {
        waiter = null;
        evd.leaveWait();
        evd.checkQuiet();
      }
      if (outcome == null) {
        throw unwaitable("await");
      }
      if (outcome == Outcome.SUCCESS) {
        deliver(own, to);
      }
      return outcome;
    } finally {
      spare.set(own);
    }
  }

  private void checkAwait(final EventHandler to, final int threshold, final Duration timeout) {
    if (to == null) {
      throw Misuse.argument(1, evd.name() + ".await: the handler is null");
    }
    checkThreshold(threshold);
    if (timeout == null || timeout.isNegative()) {
      throw Misuse.argument(3, evd.name() + ".await: timeout " + timeout + " is not a time");
    }
    Misuse.checkMayWait(evd.name());
  }

  private void checkThreshold(final int threshold) {
    final int most = room.length();
    if (threshold < 1 || threshold > most) {
      throw Misuse.argument(
          2, evd.name() + ".await: threshold " + threshold + " is not within 1.." + most);
    }
  }

  /**
   * A waiter is a dispatcher of one EVD: it does all that is to be done in turns, until it may take
   * an event.
   *
   * @return what came of it; null if no thread may wait any more.
   */
  private Outcome waitInTurn(final Handout own, final int threshold, final long deadline) {
    if (threshold > 1 && room.isSolicited()) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
          evd.name()
              + ".await: threshold "
              + threshold
              + ", but its receives notify only if they are solicited; the threshold must be 1");
    }
    waiter = Thread.currentThread();
    evd.letGo(); // it is the consumer's, old or new
    boolean isEntering = true;
    while (!evd.isClosed()) {
      evd.advanceDrains();
      remaining = merger.count();
      if ((isEntering || merger.hasTelling()) && remaining >= threshold && takeOne(own)) {
        remaining = merger.count();
        return Outcome.SUCCESS;
      }
      if (evd.closing().isDeviceLost()) {
        return Outcome.ABORT;
      }
      if ((state.get() & EvdState.WAITER) == 0) {
        return null;
      }
      if (Thread.currentThread().isInterrupted()) {
        return Outcome.INTERRUPTED_CALL;
      }
      if (ia.runtime().isOver(deadline)) {
        return Outcome.TIMEOUT_EXPIRED;
      }
      state.apply(EvdState.SLEEP, 0);
      ia.runtime().block(this, deadline);
      evd.resume();
      isEntering = false;
    }
    return Outcome.ABORT;
  }

  /** Takes the next event if the order of the streams allows one. */
  private boolean takeOne(final Handout to) {
    do {
      merger.rest();
      if (merger.next(to)) {
        counters.increment(Counters.DEQUEUED);
        to.beginUpcall();
        return true;
      }
    } while (merger.isTired());
    return false;
  }

  /** Whether the thread that waits is to go on. */
  @Override
  public boolean getAsBoolean() {
    return (state.get() & EvdState.ASLEEP) == 0;
  }

  /** Whether it is this thread that waits. */
  boolean isWaitingHere() {
    return waiter == Thread.currentThread();
  }

  /** Wakes the thread that waits. */
  void wake() {
    LockSupport.unpark(waiter);
  }

  /** How many events the last wait left. */
  int remaining() {
    return remaining;
  }
}
