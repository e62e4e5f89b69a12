package org.jdapl.verbs;

/**
 * What a device has room for (ibv_device_attr and the connection manager's limits).
 *
 * @param maxQp queue pairs.
 * @param maxQpWr work requests of one work queue.
 * @param maxSge scatter-gather elements of one work request.
 * @param maxCq completion queues.
 * @param maxCqe entries of one completion queue.
 * @param maxMr memory regions.
 * @param maxPd protection domains.
 * @param maxSrq shared receive queues; 0 where there are none.
 * @param maxSrqWr receives of one shared receive queue.
 * @param maxSrqSge scatter-gather elements of a receive of a shared receive queue.
 * @param maxMw memory windows; 0 where there are none.
 * @param maxMessageBytes bytes of one message or RDMA transfer.
 * @param maxReadsIn RDMA reads a queue pair answers at once.
 * @param maxReadsOut RDMA reads a queue pair has in flight.
 * @param connectPrivateData bytes of private data a connect carries.
 * @param acceptPrivateData bytes of private data an accept carries.
 * @param rejectPrivateData bytes of private data a reject carries.
 */
public record DeviceLimits(
    int maxQp,
    int maxQpWr,
    int maxSge,
    int maxCq,
    int maxCqe,
    int maxMr,
    int maxPd,
    int maxSrq,
    int maxSrqWr,
    int maxSrqSge,
    int maxMw,
    long maxMessageBytes,
    int maxReadsIn,
    int maxReadsOut,
    int connectPrivateData,
    int acceptPrivateData,
    int rejectPrivateData) {}
