package org.jdapl.evd;

import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;

/** An async error; while it waits, its {@link AsyncSlot} counts more into it. */
final class AsyncEventImpl extends LaneEvent implements AsyncEvent {

  private final AsyncSlot slot;
  private final Kind kind;
  private final String reason;
  private final EvdImpl waitsIn;
  private long count = 1;
  private boolean inUpcall;

  AsyncEventImpl(
      final AsyncSlot slot,
      final DatObject from,
      final Kind kind,
      final String reason,
      final EvdImpl waitsIn) {
    super(EventStream.ASYNC, from);
    this.waitsIn = waitsIn;
    this.slot = slot;
    this.kind = kind;
    this.reason = reason;
  }

  boolean waitsIn(final EvdImpl evd, final Kind of) {
    return waitsIn == evd && kind == of;
  }

  /** It goes into a report, and its lane forgets it: nobody may ever take events there. */
  void withdraw() {
    report(waitsIn, from());
    waitsIn.control(waitsIn.merger()::forgetGone);
  }

  /** Under the slot's lock. */
  void countAnother() {
    count++;
  }

  /**
   * It leaves its lane to be handed out, and counts no more: from before that until its handler
   * returned, a close of its endpoint waits.
   *
   * @return false if it was withdrawn.
   */
  boolean takeForUpcall() {
    final EndpointDrain drain = drain();
    if (drain == null) {
      return slot.take(this);
    }
    drain.upcallStarts();
    inUpcall = slot.take(this);
    if (!inUpcall) {
      drain.upcallReturns();
    }
    return inUpcall;
  }

  @Override
  EndpointDrain drain() {
    return slot.drain();
  }

  @Override
  void release() {
    super.release();
    if (inUpcall) {
      inUpcall = false;
      drain().upcallReturns();
    }
  }

  @Override
  public Kind kind() {
    assert isLive();
    return kind;
  }

  @Override
  public String reason() {
    assert isLive();
    return reason;
  }

  @Override
  public long count() {
    assert isLive();
    return count;
  }

  @Override
  public AsyncEvent copy() {
    final AsyncEventImpl copy = new AsyncEventImpl(slot, from(), kind, reason, waitsIn);
    copy.count = count;
    return copied(copy);
  }

  @Override
  boolean isGone() {
    return !slot.hasWaiting(this);
  }

  @Override
  EventBase drop() {
    return slot.take(this) ? this : null;
  }

  @Override
  void deliver(final EventHandler handler) {
    handler.onAsync(this);
  }

  @Override
  String detail() {
    return kind + " (" + count + "): " + reason;
  }
}
