package org.jdapl.dat;

import java.net.InetAddress;

/**
 * What an interface adapter has room for (DAT_IA_ATTR). A call that asks for more is refused,
 * except that an endpoint which asks for more RDMA reads gets as many as there are. The device may
 * run out of something before, which is INSUFFICIENT_RESOURCES as well.
 *
 * @param name the name of the adapter (adapter_name).
 * @param address where peers connect to (ia_address_ptr).
 * @param maxEps endpoints.
 * @param maxDtosPerEp receives that an endpoint may have open, and requests as well
 *     (max_dto_per_ep).
 * @param maxIovPerDto segments of a receive or request (max_iov_segments_per_dto).
 * @param maxRdmaReadsPerEpIn RDMA reads that an endpoint answers at once (max_rdma_read_per_ep_in).
 * @param maxRdmaReadsPerEpOut RDMA reads that an endpoint has in flight (max_rdma_read_per_ep_out).
 * @param maxEvds EVDs; all adapters that share dispatchers share them, and each has an async EVD of
 *     its own.
 * @param maxEvdLength how long an EVD may be (max_evd_qlen).
 * @param maxLmrs memory regions.
 * @param maxPzs protection zones.
 * @param maxMessageBytes bytes of a message (max_message_size) or an RDMA transfer (max_rdma_size).
 * @param maxSrqs shared receive queues; 0 if there are none.
 * @param maxReceivesPerSrq receives that may be open in one (max_recv_per_srq); 0 if there are
 *     none.
 * @param maxIovPerSrqReceive segments of a receive there; 0 if there are none.
 * @param maxConnectPrivateData bytes of private data that a connect carries. DAT has one size for
 *     all (max_private_data_size of DAT_PROVIDER_ATTR): the least of the three.
 * @param maxAcceptPrivateData bytes of private data that an accept carries.
 * @param maxRejectPrivateData bytes of private data that a reject carries.
 */
public record AdapterAttributes(
    String name,
    InetAddress address,
    int maxEps,
    int maxDtosPerEp,
    int maxIovPerDto,
    int maxRdmaReadsPerEpIn,
    int maxRdmaReadsPerEpOut,
    int maxEvds,
    int maxEvdLength,
    int maxLmrs,
    int maxPzs,
    long maxMessageBytes,
    int maxSrqs,
    int maxReceivesPerSrq,
    int maxIovPerSrqReceive,
    int maxConnectPrivateData,
    int maxAcceptPrivateData,
    int maxRejectPrivateData) {}
