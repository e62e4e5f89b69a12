package org.jdapl.verbs;

/**
 * What a queue pair is made of (ibv_qp_init_attr).
 *
 * @param pd its domain.
 * @param sendCq where completions of its send queue go.
 * @param recvCq where completions of its receive queue go.
 * @param srq where it takes receives from, or null for a receive queue of its own.
 * @param maxSendWr requests its send queue holds.
 * @param maxRecvWr requests its receive queue holds; not used with an srq.
 * @param maxSendSge scatter-gather elements of a send request.
 * @param maxRecvSge scatter-gather elements of a receive request.
 * @param maxInline bytes a send request may carry inline; see {@link QueuePair#maxInline}.
 */
public record QpAttributes(
    ProtectionDomain pd,
    CompletionQueue sendCq,
    CompletionQueue recvCq,
    SharedReceiveQueue srq,
    int maxSendWr,
    int maxRecvWr,
    int maxSendSge,
    int maxRecvSge,
    int maxInline) {}
