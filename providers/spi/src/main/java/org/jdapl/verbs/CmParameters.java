package org.jdapl.verbs;

import java.nio.ByteBuffer;

/**
 * How to connect or accept (rdma_conn_param).
 *
 * @param privateData what to tell the peer; read from its position to its limit, copied by the
 *     call.
 * @param readsIn RDMA reads and atomics this side answers at once.
 * @param readsOut RDMA reads and atomics this side has in flight.
 * @param retryCount how often a message is sent again, 0 to 7.
 * @param rnrRetryCount how often it is sent again when the peer had no receive, 0 to 7; 7 is for
 *     ever.
 */
public record CmParameters(
    ByteBuffer privateData, int readsIn, int readsOut, int retryCount, int rnrRetryCount) {}
