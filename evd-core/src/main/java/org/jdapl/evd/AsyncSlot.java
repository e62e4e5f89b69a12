package org.jdapl.evd;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.Event;

/**
 * The async errors of a live object that may wait in the async EVD, one of each kind: more of them
 * are counted into it, so that nobody can fill that EVD.
 */
final class AsyncSlot {

  private final DatObject from;
  private final Map<AsyncEvent.Kind, AsyncEventImpl> waiting = new EnumMap<>(AsyncEvent.Kind.class);
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
    final AsyncEventImpl same = waiting.get(kind);
    if (same != null) {
      same.countAnother();
      return null;
    }
    final AsyncEventImpl event = new AsyncEventImpl(this, from, kind, reason);
    waiting.put(kind, event);
    return event;
  }

  /**
   * The event is to be handed out: the next error makes a new one.
   *
   * @return false if the event was withdrawn.
   */
  synchronized boolean take(final AsyncEventImpl event) {
    return waiting.values().remove(event);
  }

  synchronized boolean hasWaiting(final AsyncEventImpl event) {
    return waiting.containsValue(event);
  }

  /** The object is closed: no event is made, and one that waits is not handed out any more. */
  synchronized void withdraw(final EvdImpl evd, final List<Event> into) {
    closed = true;
    for (final AsyncEventImpl event : waiting.values()) {
      event.handOut(evd, from, -1);
      into.add(event);
    }
    waiting.clear();
  }
}
