package org.jdapl.evd;

import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatObject;

/**
 * The one async error of a live object that may wait in the async EVD: more of them are counted
 * into it, so that nobody can fill that EVD.
 */
final class AsyncSlot {

  private final DatObject from;
  private AsyncEventImpl waiting;

  AsyncSlot(final DatObject from) {
    this.from = from;
  }

  /**
   * Counts an error. From any thread.
   *
   * @return the event to be put into the lane of the async EVD; null if one waits there.
   */
  synchronized AsyncEventImpl add(final AsyncEvent.Kind kind, final String reason) {
    if (waiting != null) {
      waiting.countAnother();
      return null;
    }
    waiting = new AsyncEventImpl(this, from, kind, reason);
    return waiting;
  }

  /** The event is handed out: the next error makes a new one. */
  synchronized void free() {
    waiting = null;
  }
}
