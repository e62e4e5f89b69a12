package org.jdapl.evd;

import org.jdapl.dat.DatObject;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;

/**
 * One event on its way from the queue to a handler: filled by the holder of the turn, delivered by
 * the same thread. With assertions on, each event gets an object of its own, so that every use
 * after the return is found.
 */
final class Handout {

  private static final boolean FRESH = Handout.class.desiredAssertionStatus();

  // Made with the first event of a kind: most EVDs see few kinds.
  private CompletionView completion;
  private RmrBindView bind;
  private SoftwareView software;
  private EventBase event;

  /** The flyweight for a completion. */
  CompletionView completion() {
    if (FRESH || completion == null) {
      completion = new CompletionView();
    }
    return completion;
  }

  /** The flyweight for the completion of a bind. */
  RmrBindView bind() {
    if (FRESH || bind == null) {
      bind = new RmrBindView();
    }
    return bind;
  }

  /** The flyweight for a software event. */
  SoftwareView software() {
    if (FRESH || software == null) {
      software = new SoftwareView(null);
    }
    return software;
  }

  /** The event is handed out: it gets its number. */
  void set(final EventBase handedOut, final EvdImpl evd, final DatObject source) {
    handedOut.handOut(evd, source, evd.merger().nextSequence());
    evd.counters().increment(counter(handedOut.stream()));
    event = handedOut;
  }

  EventBase event() {
    return event;
  }

  /** The drain of the event's endpoint; null if it came from another source. */
  EndpointDrain drain() {
    return event.drain();
  }

  /** The event's upcall will run outside of the turn: a close of its endpoint waits for that. */
  EndpointDrain beginUpcall() {
    final EndpointDrain drain = drain();
    if (drain != null) {
      drain.upcallStarts();
    }
    return drain;
  }

  /** Calls the handler's method for the event. */
  void deliver(final EventHandler handler) {
    if (event == completion) {
      handler.onCompletion(completion);
    } else if (event == bind) {
      handler.onRmrBind(bind);
    } else if (event == software) {
      handler.onSoftware(software);
    } else {
      ((LaneEvent) event).deliver(handler);
    }
  }

  /** Nobody is to use the event any more. */
  void release() {
    event.release();
  }

  private static int counter(final EventStream stream) {
    return switch (stream) {
      case DTO -> Counters.COMPLETIONS;
      case RMR_BIND -> Counters.BINDS;
      case CONNECTION -> Counters.CONNECTIONS;
      case CONNECTION_REQUEST -> Counters.REQUESTS;
      case SOFTWARE -> Counters.SOFTWARE;
      case ASYNC -> Counters.ASYNC;
    };
  }
}
