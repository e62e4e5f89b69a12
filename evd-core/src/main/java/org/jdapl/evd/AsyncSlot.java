package org.jdapl.evd;

import java.util.List;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.Event;

/**
 * The one async error of a live object that may wait in the async EVD: more of them are counted
 * into it, so that nobody can fill that EVD.
 */
final class AsyncSlot {

  private final DatObject from;
  private AsyncEventImpl waiting;
  private boolean closed;

  AsyncSlot(final DatObject from) {
    this.from = from;
  }

  /**
   * Counts an error. From any thread.
   *
   * @return the event to be put into the lane of the async EVD; null if one waits there.
   */
  synchronized AsyncEventImpl add(final AsyncEvent.Kind kind, final String reason) {
    if (closed) {
      return null;
    }
    if (waiting != null) {
      waiting.countAnother();
      return null;
    }
    waiting = new AsyncEventImpl(this, from, kind, reason);
    return waiting;
  }

  /**
   * The event is to be handed out: the next error makes a new one.
   *
   * @return false if the event was withdrawn.
   */
  synchronized boolean take(final AsyncEventImpl event) {
    final boolean there = waiting == event;
    if (there) {
      waiting = null;
    }
    return there;
  }

  /** The object is closed: no event is made, and one that waits is not handed out any more. */
  synchronized void withdraw(final EvdImpl evd, final List<Event> into) {
    closed = true;
    if (waiting != null) {
      waiting.handOut(evd, from, -1);
      into.add(waiting);
      waiting = null;
    }
  }
}
