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
   *     the peer sent, where the transport pads.
   */
  ByteBuffer privateData();

  /**
   * Accepts (dat_cr_accept). Does not wait: ESTABLISHED or ACCEPT_COMPLETION_ERROR follows at the
   * endpoint's connect EVD.
   *
   * @param endpoint the endpoint to connect, UNCONNECTED. It becomes COMPLETION_PENDING.
   * @param privateData what to tell the peer, from position to limit; null for nothing. Copied.
   * @throws DatException INVALID_STATE if the request was answered (NO_SUBTYPE) or the endpoint is
   *     not UNCONNECTED; INVALID_HANDLE (EP) if the endpoint is closed or of another adapter;
   *     INVALID_PARAMETER (INVALID_ARG2) if the private data is longer than the provider carries.
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

  /** Rejects, without private data, if the request was not answered yet. */
  @Override
  void close();
}
