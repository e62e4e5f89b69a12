package org.jdapl.evd;

import static org.jdapl.dat.EndpointState.ACTIVE_CONNECTION_PENDING;
import static org.jdapl.dat.EndpointState.CLOSED;
import static org.jdapl.dat.EndpointState.COMPLETION_PENDING;
import static org.jdapl.dat.EndpointState.CONNECTED;
import static org.jdapl.dat.EndpointState.DISCONNECTED;
import static org.jdapl.dat.EndpointState.DISCONNECT_PENDING;
import static org.jdapl.dat.EndpointState.PASSIVE_CONNECTION_PENDING;
import static org.jdapl.dat.EndpointState.RESERVED;
import static org.jdapl.dat.EndpointState.UNCONNECTED;

import org.jdapl.dat.EndpointState;

/** How the states of an endpoint follow each other, between two resets. */
final class EndpointStates {

  /** What moves an endpoint. */
  enum Trigger {
    /** The consumer connects. */
    CONNECT,
    /** The connect could not be sent. */
    CONNECT_FAILED,
    /** A reserved service point takes it. */
    RESERVE,
    /** Its reserved service point is closed. */
    UNRESERVE,
    /** A request came to its reserved service point. */
    REQUEST,
    /** That request found no room in its EVD. */
    REQUEST_LOST,
    /** The consumer rejects that request. */
    REJECT,
    /** The consumer accepts a request that came to a public service point. */
    ACCEPT,
    /** The accept could not be sent. */
    ACCEPT_FAILED,
    /** The consumer accepts the request that came to its reserved service point. */
    RESERVED_ACCEPT,
    /** That accept could not be sent. */
    RESERVED_ACCEPT_FAILED,
    /** The connection stands. */
    ESTABLISH,
    /** The consumer disconnects gracefully. */
    DISCONNECT,
    /** The connection is over, or did not come about. */
    END,
    /** The bound of what it waits for is over. */
    TIME_OUT,
    /** The consumer resets it: this incarnation ends. */
    RESET,
    /** The consumer changes what needs another queue pair: this incarnation ends. */
    MODIFY,
    /** The consumer closes the endpoint. */
    CLOSE
  }

  static final StateTable<EndpointState, Trigger> TABLE =
      new StateTable<>(EndpointState.class, Trigger.class)
          .on(UNCONNECTED, Trigger.CONNECT, ACTIVE_CONNECTION_PENDING)
          .on(UNCONNECTED, Trigger.RESERVE, RESERVED)
          .on(UNCONNECTED, Trigger.ACCEPT, COMPLETION_PENDING)
          .on(UNCONNECTED, Trigger.MODIFY, CLOSED)
          .on(UNCONNECTED, Trigger.CLOSE, CLOSED)
          .on(RESERVED, Trigger.UNRESERVE, UNCONNECTED)
          .on(RESERVED, Trigger.REQUEST, PASSIVE_CONNECTION_PENDING)
          .on(RESERVED, Trigger.CLOSE, CLOSED)
          .on(PASSIVE_CONNECTION_PENDING, Trigger.REQUEST_LOST, RESERVED)
          .on(PASSIVE_CONNECTION_PENDING, Trigger.REJECT, UNCONNECTED)
          .on(PASSIVE_CONNECTION_PENDING, Trigger.RESERVED_ACCEPT, COMPLETION_PENDING)
          .on(PASSIVE_CONNECTION_PENDING, Trigger.CLOSE, CLOSED)
          .on(ACTIVE_CONNECTION_PENDING, Trigger.CONNECT_FAILED, UNCONNECTED)
          .on(ACTIVE_CONNECTION_PENDING, Trigger.ESTABLISH, CONNECTED)
          .on(ACTIVE_CONNECTION_PENDING, Trigger.END, DISCONNECTED)
          .on(ACTIVE_CONNECTION_PENDING, Trigger.TIME_OUT, DISCONNECTED)
          .on(ACTIVE_CONNECTION_PENDING, Trigger.CLOSE, CLOSED)
          .on(COMPLETION_PENDING, Trigger.ACCEPT_FAILED, UNCONNECTED)
          .on(COMPLETION_PENDING, Trigger.RESERVED_ACCEPT_FAILED, PASSIVE_CONNECTION_PENDING)
          .on(COMPLETION_PENDING, Trigger.ESTABLISH, CONNECTED)
          .on(COMPLETION_PENDING, Trigger.END, DISCONNECTED)
          .on(COMPLETION_PENDING, Trigger.TIME_OUT, DISCONNECTED)
          .on(COMPLETION_PENDING, Trigger.CLOSE, CLOSED)
          .on(CONNECTED, Trigger.DISCONNECT, DISCONNECT_PENDING)
          .on(CONNECTED, Trigger.END, DISCONNECTED)
          .on(CONNECTED, Trigger.CLOSE, CLOSED)
          .on(DISCONNECT_PENDING, Trigger.END, DISCONNECTED)
          .on(DISCONNECT_PENDING, Trigger.CLOSE, CLOSED)
          .on(DISCONNECTED, Trigger.RESET, CLOSED)
          .on(DISCONNECTED, Trigger.CLOSE, CLOSED);

  private EndpointStates() {}
}
