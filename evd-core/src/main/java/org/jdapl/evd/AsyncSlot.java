package org.jdapl.evd;

import java.util.ArrayList;
import java.util.List;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.Event;

/**
 * The async errors of a live object that wait in an async EVD, one of each kind: more of them are
 * counted into it, so that nobody can fill that EVD.
 */
final class AsyncSlot {

  private final DatObject from;
  private final EndpointDrain drain;
  private final List<AsyncEventImpl> waiting = new ArrayList<>(0);
  private boolean closed;

  AsyncSlot(final DatObject from) {
    this(from, null);
  }

  /** Of an endpoint. */
  AsyncSlot(final DatObject from, final EndpointDrain drain) {
    this.from = from;
    this.drain = drain;
  }

  /** The drain of the endpoint; null if it is not one's. */
  EndpointDrain drain() {
    return drain;
  }

  /**
   * Counts an error. From any thread.
   *
   * @param evd the async EVD.
   * @return the event to be put into its lane; null if one of that kind waits there.
   */
  synchronized AsyncEventImpl add(
      final AsyncEvent.Kind kind, final String reason, final EvdImpl evd) {
    if (closed) {
      return null;
    }
    for (final AsyncEventImpl event : waiting) {
      if (event.waitsIn(evd, kind)) {
        event.countAnother();
        return null;
      }
    }
    final AsyncEventImpl event = new AsyncEventImpl(this, from, kind, reason, evd);
    waiting.add(event);
    return event;
  }

  /**
   * The event is to be handed out: the next error makes a new one.
   *
   * @return false if the event was withdrawn.
   */
  synchronized boolean take(final AsyncEventImpl event) {
    return waiting.remove(event);
  }

  synchronized boolean hasWaiting(final AsyncEventImpl event) {
    return waiting.contains(event);
  }

  /** The object is closed: no event is made, and one that waits goes into its report. */
  void withdraw(final List<Event> into) {
    final List<AsyncEventImpl> withdrawn;
    synchronized (this) {
      closed = true;
      withdrawn = List.copyOf(waiting);
      waiting.clear();
    }
    for (final AsyncEventImpl event : withdrawn) {
      event.withdraw();
      into.add(event);
    }
  }
}
