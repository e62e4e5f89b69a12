package org.jdapl.evd;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.EndpointState;

/**
 * The state machine of an endpoint: one table. Each move is one compare-and-set, so that of two
 * things that would end a connection only one does.
 */
final class EndpointMachine {

  /** What moves an endpoint. */
  enum Trigger {
    /** The consumer connects. */
    CONNECT,
    /** The connect could not be sent. */
    CONNECT_FAILED,
    /** The consumer accepts a request. */
    ACCEPT,
    /** The accept could not be sent. */
    ACCEPT_FAILED,
    /** The connection stands. */
    ESTABLISH,
    /** The consumer disconnects gracefully. */
    DISCONNECT,
    /** The connection is over, or did not come about. */
    END,
    /** The consumer closes the endpoint. */
    CLOSE
  }

  private static final Map<EndpointState, Map<Trigger, EndpointState>> TABLE =
      new EnumMap<>(EndpointState.class);

  static {
    for (final EndpointState state : EndpointState.values()) {
      TABLE.put(state, new EnumMap<>(Trigger.class));
      if (state != EndpointState.CLOSED) {
        on(state, Trigger.CLOSE, EndpointState.CLOSED);
      }
    }
    on(EndpointState.UNCONNECTED, Trigger.CONNECT, EndpointState.ACTIVE_CONNECTION_PENDING);
    on(EndpointState.UNCONNECTED, Trigger.ACCEPT, EndpointState.COMPLETION_PENDING);
    on(EndpointState.ACTIVE_CONNECTION_PENDING, Trigger.ESTABLISH, EndpointState.CONNECTED);
    on(EndpointState.ACTIVE_CONNECTION_PENDING, Trigger.END, EndpointState.DISCONNECTED);
    on(EndpointState.ACTIVE_CONNECTION_PENDING, Trigger.CONNECT_FAILED, EndpointState.UNCONNECTED);
    on(EndpointState.COMPLETION_PENDING, Trigger.ESTABLISH, EndpointState.CONNECTED);
    on(EndpointState.COMPLETION_PENDING, Trigger.END, EndpointState.DISCONNECTED);
    on(EndpointState.COMPLETION_PENDING, Trigger.ACCEPT_FAILED, EndpointState.UNCONNECTED);
    on(EndpointState.CONNECTED, Trigger.DISCONNECT, EndpointState.DISCONNECT_PENDING);
    on(EndpointState.CONNECTED, Trigger.END, EndpointState.DISCONNECTED);
    on(EndpointState.DISCONNECT_PENDING, Trigger.END, EndpointState.DISCONNECTED);
  }

  private final AtomicReference<EndpointState> state =
      new AtomicReference<>(EndpointState.UNCONNECTED);

  private static void on(final EndpointState from, final Trigger trigger, final EndpointState to) {
    TABLE.get(from).put(trigger, to);
  }

  /** Where a trigger leads to, or null if it is not legal there. */
  static EndpointState next(final EndpointState from, final Trigger trigger) {
    return TABLE.get(from).get(trigger);
  }

  EndpointState state() {
    return state.get();
  }

  /**
   * Moves.
   *
   * @return the state before; null if the trigger is not legal in it, and nothing changed.
   */
  EndpointState move(final Trigger trigger) {
    while (true) {
      final EndpointState from = state.get();
      final EndpointState to = next(from, trigger);
      if (to == null) {
        return null;
      }
      if (state.compareAndSet(from, to)) {
        return from;
      }
    }
  }
}
