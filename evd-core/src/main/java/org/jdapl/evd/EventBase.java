package org.jdapl.evd;

import org.jdapl.dat.DatObject;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;

/**
 * What all events have in common. Confined to the thread that delivers it. One that is called a
 * view is a flyweight, filled when it is handed out.
 */
abstract class EventBase implements Event {

  private final EventStream stream;
  private DatObject source;
  private EvdImpl evd;
  private long sequence;
  private boolean live;

  EventBase(final EventStream stream, final DatObject source) {
    this.stream = stream;
    this.source = source;
  }

  /** The event is handed out: it lives until {@link #release}. */
  final void handOut(final EvdImpl by, final DatObject from, final long number) {
    evd = by;
    source = from;
    sequence = number;
    live = true;
  }

  /** The event goes into a report: it is not handed out, and has no number. */
  final void report(final EvdImpl by, final DatObject from) {
    handOut(by, from, -1);
  }

  /** The source, whether the event is live or not. */
  final DatObject from() {
    return source;
  }

  /** The drain of the endpoint it came from; null if it came from another source. */
  EndpointDrain drain() {
    return null;
  }

  /** The handler returned. */
  void release() {
    live = false;
  }

  /** Makes a copy live for ever. */
  final <E extends EventBase> E copied(final E copy) {
    assert isLive();
    copy.handOut(evd, source, sequence);
    return copy;
  }

  final boolean isLive() {
    if (!live) {
      throw new AssertionError(
          stream
              + " event used after its handler returned: it is valid inside the call only;"
              + " keep what copy() returns instead");
    }
    return true;
  }

  @Override
  public final Evd evd() {
    assert isLive();
    return evd;
  }

  @Override
  public final EventStream stream() {
    return stream;
  }

  @Override
  public final DatObject source() {
    assert isLive();
    return source;
  }

  @Override
  public final long sequence() {
    assert isLive();
    return sequence;
  }

  @Override
  public final void unhandled() {
    assert isLive();
    evd.faults().onUnhandled(this);
  }

  /** What is particular to this event, for messages. */
  abstract String detail();

  @Override
  public final String toString() {
    return live
        ? evd.name() + " #" + sequence + " " + stream + " from " + source.name() + ": " + detail()
        : stream + " that is not handed out now (keep what copy() returns): " + detail();
  }
}
