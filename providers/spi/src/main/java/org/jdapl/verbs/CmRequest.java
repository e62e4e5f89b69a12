package org.jdapl.verbs;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/** A connection request that waits for an answer (the new rdma_cm_id of CONNECT_REQUEST). */
public interface CmRequest {

  /**
   * Who asks.
   *
   * @return the peer's address.
   */
  InetAddress remoteAddress();

  /**
   * What the peer sent along.
   *
   * @return a read-only view of the data, valid as long as the request; empty, never null.
   */
  ByteBuffer privateData();

  /**
   * Accepts (rdma_accept). The outcome is an event: ESTABLISHED, or one of UNREACHABLE,
   * CONNECT_ERROR and REJECTED if the peer is gone, which is never an exception. An accept that
   * threw has answered nothing.
   *
   * @param qp the queue pair to connect.
   * @param parameters how to connect, and the private data.
   * @param handler told of each event; it may be called before this method returns.
   * @return the id of the connection.
   * @throws VerbsException with EINVAL if an answer was given already, the queue pair is closed,
   *     connected or in the error state, or the private data too long; with ENODEV if the device is
   *     closed; never because the peer is gone.
   */
  CmId accept(QueuePair qp, CmParameters parameters, CmHandler handler);

  /**
   * Says no (rdma_reject); the peer gets REJECTED. Without effect if the peer is gone. When an
   * answer was given already it changes nothing, and may throw.
   *
   * @param status {@link CmHandler#CONSUMER_REJECT} if the consumer says no, or another reason.
   * @param privateData what to tell the peer; copied by the call; null for nothing.
   * @throws VerbsException with EINVAL if the private data is too long, or it was answered.
   */
  void reject(int status, ByteBuffer privateData);
}
