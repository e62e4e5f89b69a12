package org.jdapl.evd;

import org.jdapl.dat.DatObject;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;

/** An event that waits in a lane as itself: of the connection manager, or async. */
abstract class LaneEvent extends EventBase {

  LaneEvent(final EventStream stream, final DatObject source) {
    super(stream, source);
  }

  /** Whether it will not be handed out any more. Of the turn. */
  abstract boolean isGone();

  /**
   * Takes it out of the lane for a report. Of the turn.
   *
   * @return what to report for it; null if another report has it.
   */
  abstract EventBase drop();

  /** Calls the handler's method for this type. */
  abstract void deliver(EventHandler handler);
}
