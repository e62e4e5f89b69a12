package org.jdapl.evd;

import java.util.List;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Event;

/**
 * The gate of a connection: it orders its events against the endpoint's completions on an EVD that
 * they share. ESTABLISHED goes first, and the end of the connection last, each within a bound.
 *
 * <p>Confined to the holder of the connect EVD's turn. The turns of other EVDs may read it, and do
 * not use what they read.
 */
final class ConnectionGate {

  private final Connection connection;
  private final Incarnation incarnation;
  private final EvdImpl evd;
  private final Stash.Fifo heldBack = new Stash.Fifo();
  private boolean established;
  private boolean establishBound;
  private boolean endTimed;
  private boolean ended;
  private ConnectionEventImpl heldEnd;

  ConnectionGate(final Connection connection, final Incarnation incarnation, final EvdImpl evd) {
    this.connection = connection;
    this.incarnation = incarnation;
    this.evd = evd;
  }

  /** Completions that wait for ESTABLISHED. */
  Stash.Fifo heldBack() {
    return heldBack;
  }

  private boolean shares(final WorkQueue queue) {
    return incarnation.evdOf(queue) == evd;
  }

  /** Whether ESTABLISHED must be handed out before a successful completion of a queue. */
  boolean mustBeEstablished(final WorkQueue queue) {
    return !established && !ended && shares(queue);
  }

  /**
   * ESTABLISHED ahead of its time, because a completion came first: the passive side knows by that
   * that the connection stands. On the active side the answer, with its private data, must come,
   * unless the connection is over: then it does not count any more.
   *
   * @return the event; null if the completion must wait.
   */
  ConnectionEventImpl establishEarly() {
    if (!connection.isPassive() && !establishBound && !connection.isOver()) {
      if (heldBack.isEmpty()) {
        connection.schedule(connection.bounds().order(), () -> evd.control(this::establishBound));
      }
      return null;
    }
    final ConnectionEventImpl waiting = connection.establishedEvent();
    connection.establish();
    established = true;
    return waiting != null
        ? waiting
        : new ConnectionEventImpl(incarnation, ConnectionEvent.Kind.ESTABLISHED, PrivateData.NONE);
  }

  private void establishBound() {
    if (!established && !ended) {
      unhold();
      connection.onBroken();
    }
  }

  /** ESTABLISHED will not come: what waits for it is handed out all the same, behind one. */
  private void unhold() {
    establishBound = true;
    evd.merger().unhold(this);
  }

  /** ESTABLISHED came out of the lane: whether it is still to be handed out. */
  boolean handOutEstablished() {
    if (established || ended) {
      return false;
    }
    established = true;
    return true;
  }

  /** The end of the connection came out of the lane: whether it is to be handed out now. */
  boolean handOutEnd(final ConnectionEventImpl event) {
    if (ended) {
      return false;
    }
    if (!endTimed) {
      endTimed = true;
      connection.schedule(connection.bounds().order(), () -> evd.control(this::endBound));
    }
    if (!heldBack.isEmpty()) {
      unhold();
    }
    if (!isOpen()) {
      holdEnd(event);
      return false;
    }
    ended = true;
    return true;
  }

  /** Sets or clears the end that waits at the gate: it counts as an event of the EVD. */
  private void holdEnd(final ConnectionEventImpl event) {
    evd.merger().countHeldEnd((event == null ? 0 : 1) - (heldEnd == null ? 0 : 1));
    heldEnd = event;
  }

  /** Whether an event of the lane will not be handed out any more. */
  boolean isPast(final ConnectionEventImpl event) {
    return ended || (established && event.what() == ConnectionEvent.Kind.ESTABLISHED);
  }

  /** A marker passed the gate without being handed out to anybody: the end may follow now. */
  void offerEndIfOpen() {
    if (heldEnd != null && isOpen()) {
      offerHeldEnd();
    }
  }

  /**
   * Something passed the gate: the end of the connection, if it waits and may be handed out now.
   */
  ConnectionEventImpl release(final EvdImpl by) {
    if (by != evd) {
      return null;
    }
    final ConnectionEventImpl event = heldEnd;
    if (event == null || !isOpen()) {
      return null;
    }
    holdEnd(null);
    ended = true;
    return event;
  }

  private boolean isOpen() {
    return (!shares(incarnation.receives()) || incarnation.receives().isFlushing())
        && (!shares(incarnation.requests()) || incarnation.requests().isFlushing());
  }

  private void endBound() {
    if (heldEnd != null) {
      evd.counters().increment(Counters.OVERDUE_ENDS);
    }
    open();
  }

  /** No success follows any more: what waits at the gate may pass. */
  void open() {
    if (shares(incarnation.receives())) {
      incarnation.receives().markFlushing();
    }
    if (shares(incarnation.requests())) {
      incarnation.requests().markFlushing();
    }
    offerHeldEnd();
  }

  private void offerHeldEnd() {
    final ConnectionEventImpl event = heldEnd;
    if (event != null) {
      holdEnd(null);
      evd.offer(event);
    }
  }

  boolean isEstablished() {
    return established;
  }

  boolean hasEnded() {
    return ended;
  }

  /**
   * The events that were not handed out are not to be. Of the connect EVD's turn.
   *
   * @param forced whether not to wait for what is in progress.
   * @return whether all are accounted for; if not, one is still on its way into the lane.
   */
  boolean dropEvents(final List<Event> into, final boolean forced) {
    if (connection.isBusy() && !forced) {
      return false;
    }
    if (!established) {
      drop(connection.establishedEvent(), into);
    }
    if (!ended) {
      drop(connection.endEvent(), into);
    }
    established = true;
    ended = true;
    holdEnd(null);
    evd.merger().forgetGone();
    return true;
  }

  private void drop(final ConnectionEventImpl waiting, final List<Event> into) {
    if (waiting != null) {
      final ConnectionEventImpl event = connection.revised(waiting);
      event.report(evd, incarnation.endpoint());
      into.add(event);
    }
  }
}
