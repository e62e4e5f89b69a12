package org.jdapl.dat;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * A connection request; to be answered once, by accept or reject, now or later, from any thread.
 */
public interface ConnectionRequest extends DatObject {

  /**
   * Who asks (dat_cr_query).
   *
   * @return the peer's address.
   */
  InetAddress remoteAddress();

  /**
   * What the peer sent along (dat_cr_query).
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

  /**
   * For whom it came (dat_cr_query).
   *
   * @return the endpoint of the {@link ReservedServicePoint} it came to; null if it came to another
   *     service point.
   */
  Endpoint endpoint();

  /**
   * Accepts (dat_cr_accept). Does not wait: ESTABLISHED or ACCEPT_COMPLETION_ERROR follows at the
   * endpoint's connect EVD.
   *
   * @param endpoint the endpoint to connect, UNCONNECTED; null or {@link #endpoint} if it came to a
   *     reserved service point. It becomes COMPLETION_PENDING.
   * @param privateData what to tell the peer, from position to limit; null for nothing. Copied.
   * @throws DatException INVALID_STATE if the request was answered (NO_SUBTYPE) or the endpoint is
   *     not UNCONNECTED; INVALID_HANDLE (INVALID_HANDLE_EP) if the endpoint is closed or of another
   *     adapter; INVALID_PARAMETER (INVALID_ARG2) if the private data is longer than the provider
   *     carries.
   */
  void accept(Endpoint endpoint, ByteBuffer privateData);

  /**
   * Says no (dat_cr_reject); the peer gets PEER_REJECTED.
   *
   * @param privateData what to tell the peer, from position to limit; null for nothing. Copied.
   * @throws DatException INVALID_STATE if the request was answered; INVALID_PARAMETER
   *     (INVALID_ARG1) if the private data is longer than the provider carries.
   */
  void reject(ByteBuffer privateData);

  /**
   * Hands the request to another service point of the adapter, as if it had come there
   * (dat_cr_handoff). The endpoint it came for, if any, is UNCONNECTED again.
   *
   * @param connQual where that one listens.
   * @throws DatException CONN_QUAL_UNAVAILABLE if none listens there, the request still waits for
   *     an answer; INVALID_STATE if the request was answered.
   */
  void handoff(long connQual);

  /** Rejects, without private data, if the request was not answered yet. */
  @Override
  void close();
}
