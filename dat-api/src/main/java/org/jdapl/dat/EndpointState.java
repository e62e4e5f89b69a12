package org.jdapl.dat;

/** The states of an endpoint (DAT_EP_STATE). */
public enum EndpointState {
  /** Not connected; receives may be posted. */
  UNCONNECTED(0),
  /** A reserved service point listens for it. */
  RESERVED(2),
  /** A request came to its reserved service point, and waits for an answer. */
  PASSIVE_CONNECTION_PENDING(4),
  /** It accepted, and waits for the peer to confirm. */
  COMPLETION_PENDING(12),
  /** It asked for a connection, and waits for the answer. */
  ACTIVE_CONNECTION_PENDING(6),
  /** Connected; everything may be posted. */
  CONNECTED(9),
  /** It is being disconnected gracefully. */
  DISCONNECT_PENDING(10),
  /** The connection is over; what is posted is flushed. */
  DISCONNECTED(11),
  /** It is being closed, or was. DAT has no such state. */
  CLOSED(-1);

  private final int number;

  EndpointState(final int number) {
    this.number = number;
  }

  /**
   * DAT's number of this state.
   *
   * @return the number; -1 for {@link #CLOSED}.
   */
  public int number() {
    return number;
  }
}
