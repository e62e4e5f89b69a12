package org.jdapl.dat;

import java.util.Set;

/**
 * What a provider supports (DAT_PROVIDER_ATTR).
 *
 * @param name the name of the provider (provider_name), such as {@code sim}.
 * @param isThreadSafe whether any thread may call any method at any time.
 * @param epCreator who creates the endpoints of connection requests.
 * @param completionFlags all of {@link CompletionFlags} that requests may have
 *     (completion_flags_supported).
 * @param maxUpcallPolicy the policy that allows most upcalls at once (upcall_policy).
 * @param mergesAllStreams whether any streams may share an EVD (each of
 *     evd_stream_merging_supported).
 * @param isSrqSupported whether there are shared receive queues (srq_supported).
 * @param isDtoAsyncReturnGuaranteed whether a post returns before its completion is handed out on
 *     the same thread (dto_async_return_guaranteed).
 * @param isLmrSyncRequired whether memory has to be synchronized with the device around RDMA
 *     (lmr_sync_req).
 * @param isPrivateDataExact whether private data arrives in the length it was given; see {@link
 *     ConnectionEvent#isPrivateDataExact}. DAT has no such attribute.
 * @param extensions the operations beyond those of DAT that there are (extension_supported, and the
 *     named attributes of {@link ExtensionOp}); none is DAT_EXTENSION_NONE. Fetch and add, and
 *     compare and swap, are atomic with those of any endpoint of the adapter that has the memory,
 *     not with its processor.
 */
public record ProviderAttributes(
    String name,
    boolean isThreadSafe,
    EpCreator epCreator,
    int completionFlags,
    UpcallPolicy maxUpcallPolicy,
    boolean mergesAllStreams,
    boolean isSrqSupported,
    boolean isDtoAsyncReturnGuaranteed,
    boolean isLmrSyncRequired,
    boolean isPrivateDataExact,
    Set<ExtensionOp> extensions) {

  /** When the provider creates an endpoint for a connection request (DAT_EP_CREATOR_FOR_PSP). */
  public enum EpCreator {
    /** Never: the consumer does. */
    NEVER,
    /** For service points that ask for it. */
    IF_ASKED,
    /** Always. */
    ALWAYS
  }
}
