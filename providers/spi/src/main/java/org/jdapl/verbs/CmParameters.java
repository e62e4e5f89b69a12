package org.jdapl.verbs;

import java.nio.ByteBuffer;

/**
 * How to connect or accept (rdma_conn_param, and the timers of ibv_qp_attr). Retries and timers are
 * of the queue pair that is connected, whatever the peer says of its own.
 *
 * @param privateData what to tell the peer; read from its position to its limit, copied by the
 *     call.
 * @param readsIn RDMA reads and atomics this side answers at once; negotiated down to those that
 *     the peer has in flight, see {@link CmId#readsIn}.
 * @param readsOut RDMA reads and atomics this side has in flight; negotiated down to those that the
 *     peer answers at once.
 * @param retryCount how often a message is sent again, 0 to 7.
 * @param rnrRetryCount how often it is sent again when the peer had no receive, 0 to 7; 7 is for
 *     ever.
 * @param ackTimeout after how long without an answer a message is sent again, or given up: a code
 *     of {@link Timers#ackNanos}, 1 to 31, or {@link Timers#PROVIDERS_OWN}.
 * @param rnrTimer how long the peer waits before it sends again what found no receive here: a code
 *     of {@link Timers#rnrNanos}, 0 to 31, or {@link Timers#PROVIDERS_OWN}.
 */
public record CmParameters(
    ByteBuffer privateData,
    int readsIn,
    int readsOut,
    int retryCount,
    int rnrRetryCount,
    int ackTimeout,
    int rnrTimer) {

  /**
   * With given timers.
   *
   * @param privateData what to tell the peer.
   * @param readsIn RDMA reads and atomics this side answers at once.
   * @param readsOut RDMA reads and atomics this side has in flight.
   * @param retryCount how often a message is sent again, 0 to 7.
   * @param rnrRetryCount how often it is sent again when the peer had no receive.
   * @param ackTimeout a code, or {@link Timers#PROVIDERS_OWN}.
   * @param rnrTimer a code, or {@link Timers#PROVIDERS_OWN}.
   * @throws IllegalArgumentException if a timer is no code.
   */
  public CmParameters {
    Timers.check("ackTimeout", ackTimeout, 1);
    Timers.check("rnrTimer", rnrTimer, 0);
  }

  /**
   * With the timers that the provider takes by itself.
   *
   * @param privateData what to tell the peer.
   * @param readsIn RDMA reads and atomics this side answers at once.
   * @param readsOut RDMA reads and atomics this side has in flight.
   * @param retryCount how often a message is sent again, 0 to 7.
   * @param rnrRetryCount how often it is sent again when the peer had no receive.
   */
  public CmParameters(
      final ByteBuffer privateData,
      final int readsIn,
      final int readsOut,
      final int retryCount,
      final int rnrRetryCount) {
    this(
        privateData,
        readsIn,
        readsOut,
        retryCount,
        rnrRetryCount,
        Timers.PROVIDERS_OWN,
        Timers.PROVIDERS_OWN);
  }
}
