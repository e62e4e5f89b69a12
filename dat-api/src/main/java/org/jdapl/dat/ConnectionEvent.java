package org.jdapl.dat;

import java.nio.ByteBuffer;

/** What happened to a connection (DAT_CONNECTION_EVENT_DATA). */
public interface ConnectionEvent extends Event {

  /** The kinds, with DAT's event numbers. */
  enum Kind {
    /** The connection stands. */
    ESTABLISHED(0x04001),
    /** The peer's consumer said no. */
    PEER_REJECTED(0x04002),
    /** Nobody listens there, or the peer had no room. */
    NON_PEER_REJECTED(0x04003),
    /** The peer was gone when this side accepted. */
    ACCEPT_COMPLETION_ERROR(0x04004),
    /** The connection was ended by one of the two sides. */
    DISCONNECTED(0x04005),
    /** The connection broke. */
    BROKEN(0x04006),
    /** The peer did not answer in time. */
    TIMED_OUT(0x04007),
    /** The peer could not be reached. */
    UNREACHABLE(0x04008);

    private final int number;

    Kind(final int number) {
      this.number = number;
    }

    /**
     * DAT's number of this event.
     *
     * @return the number.
     */
    public int number() {
      return number;
    }

    /**
     * Whether it is the last event of its connection.
     *
     * @return true for all but {@link #ESTABLISHED}.
     */
    public boolean isTerminal() {
      return this != ESTABLISHED;
    }
  }

  /**
   * What happened.
   *
   * @return the kind.
   */
  Kind kind();

  /**
   * The endpoint of the connection.
   *
   * @return the endpoint.
   */
  Endpoint endpoint();

  /**
   * What the peer sent along with its accept or reject.
   *
   * @return a read-only view of the private data, empty where there is none. Zeros may follow what
   *     the peer sent, see {@link #isPrivateDataExact}.
   */
  ByteBuffer privateData();

  /**
   * Whether {@link #privateData} is as long as what the peer gave.
   *
   * @return true if it surely is; false if zeros may follow, which the transport pads with.
   */
  boolean isPrivateDataExact();

  @Override
  ConnectionEvent copy();
}
