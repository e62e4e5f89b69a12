package org.jdapl.dat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * An endpoint: one end of a connection, with a queue of receives and a queue of requests.
 *
 * <p>Posting is safe from several threads; it takes a guard that is held for the time of the post
 * only, allocates nothing and waits for nobody. A request is open from its post until its
 * completion was handed out. What happens to a request is an event: exactly one completion for
 * each, in the order of the posts of its queue, unless it was posted with SUPPRESS and succeeded.
 */
public interface Endpoint extends DatObject {

  /** How to disconnect (DAT_CLOSE_FLAGS). */
  enum Disconnect {
    /** Let open requests finish first, within a bound. */
    GRACEFUL,
    /** At once; open requests are flushed. */
    ABRUPT
  }

  /**
   * The state (dat_ep_get_status).
   *
   * @return the state now.
   */
  EndpointState state();

  /**
   * Asks a peer for a connection (dat_ep_connect). Valid in UNCONNECTED. Does not wait: the outcome
   * is one of ESTABLISHED, PEER_REJECTED, NON_PEER_REJECTED, UNREACHABLE and TIMED_OUT at the
   * connect EVD.
   *
   * @param remote the peer's address.
   * @param connQual where the peer listens, 1 to 65535.
   * @param timeout when to give up.
   * @param privateData what to tell the peer, from position to limit; null for nothing. Copied.
   * @throws DatException INVALID_STATE with the state; INVALID_PARAMETER (INVALID_ARG1) if the
   *     address is null, (INVALID_ARG2) if the qualifier is none, (INVALID_ARG3) if the timeout is
   *     not positive, (INVALID_ARG4) if the private data is longer than the provider carries;
   *     INVALID_HANDLE if closed.
   */
  void connect(InetAddress remote, long connQual, Duration timeout, ByteBuffer privateData);

  /**
   * Asks the peer that another endpoint asked (dat_ep_dup_connect); else as {@link #connect}.
   *
   * @param other an endpoint of this adapter that connected, to whomever this one is to.
   * @param timeout when to give up.
   * @param privateData what to tell the peer, from position to limit; null for nothing. Copied.
   * @throws DatException as {@link #connect}, with the argument's number here; INVALID_PARAMETER
   *     (INVALID_ARG1) if the other one is null or of another adapter, or was not connected by
   *     {@link #connect} since its creation or last reset: of a peer that connected to it nobody
   *     knows where it listens.
   */
  void dupConnect(Endpoint other, Duration timeout, ByteBuffer privateData);

  /**
   * Asks a {@link CommonServicePoint} for a connection (dat_ep_common_connect); else as {@link
   * #connect}.
   *
   * @param remote the peer's address and port.
   * @param timeout when to give up.
   * @param privateData what to tell the peer, from position to limit; null for nothing. Copied.
   * @throws DatException as {@link #connect}, with the argument's number here.
   */
  void commonConnect(InetSocketAddress remote, Duration timeout, ByteBuffer privateData);

  /**
   * Ends the connection (dat_ep_disconnect). Valid in ACTIVE_CONNECTION_PENDING,
   * COMPLETION_PENDING, CONNECTED and DISCONNECT_PENDING; does nothing in DISCONNECTED. Does not
   * wait: DISCONNECTED follows at the connect EVD, exactly once, also if the peer is silent.
   *
   * @param how gracefully or abruptly. A graceful one turns abrupt after {@link Bounds#disconnect},
   *     two seconds by default.
   * @throws DatException INVALID_STATE in UNCONNECTED, RESERVED and PASSIVE_CONNECTION_PENDING;
   *     INVALID_HANDLE if closed.
   */
  void disconnect(Disconnect how);

  /**
   * Posts a send of one segment (dat_ep_post_send). Valid in CONNECTED; in DISCONNECTED it is
   * flushed.
   *
   * @param lmr the memory to send.
   * @param offset where it starts in the region, in bytes.
   * @param length how much, in bytes.
   * @param cookie comes back in the completion.
   * @return SUCCESS, or INSUFFICIENT_RESOURCES if as many requests are open as the endpoint may
   *     have: nothing was posted, post again after a completion.
   * @throws DatException INVALID_STATE with the state, also after close; INVALID_HANDLE if the
   *     region is closed; LENGTH_ERROR if the segment is not inside the region, or longer than
   *     {@link AdapterAttributes#maxMessageBytes}; PROTECTION_VIOLATION if the region is of another
   *     zone; PRIVILEGES_VIOLATION if it lacks LOCAL_READ.
   */
  Outcome postSend(Lmr lmr, long offset, long length, long cookie);

  /**
   * Posts a send (dat_ep_post_send); else as {@link #postSend(Lmr, long, long, long)}.
   *
   * @param segments the memory to send; may be used again when this returned.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}.
   * @return as the other one.
   * @throws DatException as the other one; INVALID_PARAMETER if there are more segments than the
   *     endpoint was created for, or the flags are not legal here.
   */
  Outcome postSend(Segments segments, long cookie, Object context, int flags);

  /**
   * Posts a send of one segment that ends a window of the peer (dat_ep_post_send_with_invalidate):
   * a remote memory region of scope EP, bound at the peer's endpoint. The peer gets a completion of
   * RECEIVE_WITH_INVALIDATE with its context. If it has no such window, the connection breaks: this
   * request ends in ERR_REMOTE_ACCESS.
   *
   * @param lmr the memory to send.
   * @param offset where it starts in the region, in bytes.
   * @param length how much, in bytes.
   * @param rmrContext the context of the peer's window.
   * @param cookie comes back in the completion.
   * @return as {@link #postSend(Lmr, long, long, long)}.
   * @throws DatException as {@link #postSend(Lmr, long, long, long)}; MODEL_NOT_SUPPORTED if the
   *     device cannot.
   */
  Outcome postSendWithInvalidate(Lmr lmr, long offset, long length, int rmrContext, long cookie);

  /**
   * Posts a send that ends a window of the peer (dat_ep_post_send_with_invalidate); else as {@link
   * #postSendWithInvalidate(Lmr, long, long, int, long)}.
   *
   * @param segments the memory to send; may be used again when this returned.
   * @param rmrContext the context of the peer's window.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}.
   * @return as the other one.
   * @throws DatException as the other one; INVALID_PARAMETER if there are more segments than the
   *     endpoint was created for, or the flags are not legal here.
   */
  Outcome postSendWithInvalidate(
      Segments segments, int rmrContext, long cookie, Object context, int flags);

  /**
   * Posts a receive of one segment (dat_ep_post_recv). Valid in every state; in DISCONNECTED it is
   * flushed.
   *
   * @param lmr the memory to receive into.
   * @param offset where it starts in the region, in bytes.
   * @param length how much there is, in bytes.
   * @param cookie comes back in the completion.
   * @return SUCCESS, or INSUFFICIENT_RESOURCES if as many receives are open as the endpoint may
   *     have: nothing was posted, post again after a completion.
   * @throws DatException INVALID_STATE when it is closed, or takes its receives from a shared
   *     receive queue; INVALID_HANDLE if the region is closed; LENGTH_ERROR if the segment is not
   *     inside the region, or longer than {@link AdapterAttributes#maxMessageBytes};
   *     PROTECTION_VIOLATION if the region is of another zone; PRIVILEGES_VIOLATION if it lacks
   *     LOCAL_WRITE.
   */
  Outcome postReceive(Lmr lmr, long offset, long length, long cookie);

  /**
   * Posts a receive (dat_ep_post_recv); else as {@link #postReceive(Lmr, long, long, long)}.
   *
   * @param segments the memory to receive into; may be used again when this returned.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @return as the other one.
   * @throws DatException as the other one; INVALID_PARAMETER if there are more segments than the
   *     endpoint was created for.
   */
  Outcome postReceive(Segments segments, long cookie, Object context);

  /**
   * Posts an RDMA write of one segment (dat_ep_post_rdma_write). Valid in CONNECTED; in
   * DISCONNECTED it is flushed. The peer gets no event; a send that is posted after it arrives
   * after it.
   *
   * @param lmr the memory to write from; needs LOCAL_READ.
   * @param offset where it starts in the region, in bytes.
   * @param length how much, in bytes.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param cookie comes back in the completion.
   * @return as {@link #postSend(Lmr, long, long, long)}.
   * @throws DatException as {@link #postSend(Lmr, long, long, long)}.
   */
  Outcome postRdmaWrite(
      Lmr lmr, long offset, long length, int rmrContext, long remoteAddress, long cookie);

  /**
   * Posts an RDMA write (dat_ep_post_rdma_write); else as {@link #postRdmaWrite(Lmr, long, long,
   * int, long, long)}.
   *
   * @param segments the memory to write from; may be used again when this returned.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}.
   * @return as the other one.
   * @throws DatException as the other one; INVALID_PARAMETER if there are more segments than the
   *     endpoint was created for, or the flags are not legal here.
   */
  Outcome postRdmaWrite(
      Segments segments,
      int rmrContext,
      long remoteAddress,
      long cookie,
      Object context,
      int flags);

  /**
   * Posts an RDMA read of one segment (dat_ep_post_rdma_read). Valid in CONNECTED; in DISCONNECTED
   * it is flushed.
   *
   * @param lmr the memory to read into; needs LOCAL_WRITE.
   * @param offset where it starts in the region, in bytes.
   * @param length how much, in bytes.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param cookie comes back in the completion.
   * @return as {@link #postSend(Lmr, long, long, long)}.
   * @throws DatException as {@link #postSend(Lmr, long, long, long)}.
   */
  Outcome postRdmaRead(
      Lmr lmr, long offset, long length, int rmrContext, long remoteAddress, long cookie);

  /**
   * Posts an RDMA read (dat_ep_post_rdma_read); else as {@link #postRdmaRead(Lmr, long, long, int,
   * long, long)}.
   *
   * @param segments the memory to read into; may be used again when this returned.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}.
   * @return as the other one.
   * @throws DatException as the other one; INVALID_PARAMETER if there are more segments than the
   *     endpoint was created for, or the flags are not legal here.
   */
  Outcome postRdmaRead(
      Segments segments,
      int rmrContext,
      long remoteAddress,
      long cookie,
      Object context,
      int flags);

  /**
   * Posts an RDMA read into a window (dat_ep_post_rdma_read_to_rmr); else as {@link
   * #postRdmaRead(Lmr, long, long, int, long, long)}.
   *
   * @param rmr the window to read into, of this side: bound, at this endpoint if its scope is EP,
   *     and with REMOTE_WRITE.
   * @param offset where it starts in the window, in bytes.
   * @param length how much, in bytes.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags SUPPRESS and BARRIER_FENCE of {@link CompletionFlags}.
   * @return as {@link #postSend(Lmr, long, long, long)}.
   * @throws DatException INVALID_STATE with the state, or if the window is not bound;
   *     INVALID_HANDLE if the window or its region is closed; LENGTH_ERROR if the part is not
   *     inside the window; PROTECTION_VIOLATION if the window is of another zone or another
   *     endpoint; PRIVILEGES_VIOLATION if it lacks REMOTE_WRITE; INVALID_PARAMETER (INVALID_ARG8)
   *     if the flags are not legal here.
   */
  Outcome postRdmaReadToRmr(
      Rmr rmr,
      long offset,
      long length,
      int rmrContext,
      long remoteAddress,
      long cookie,
      Object context,
      int flags);

  /**
   * Posts an RDMA write with immediate data (dat_ib_post_rdma_write_immed): when the data is
   * written, a receive of the peer completes, as {@link DtoOperation#RECEIVE_IMMED}. Without a
   * receive the peer makes it try again, as with a send. Else as {@link #postRdmaWrite(Segments,
   * int, long, long, Object, int)}.
   *
   * @param segments the memory to write from; may be used again when this returned.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param immediateData comes with the peer's completion.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}, SOLICITED_WAIT too.
   * @return as the other one.
   * @throws DatException as the other one; MODEL_NOT_SUPPORTED if the provider has none, see {@link
   *     ProviderAttributes#extensions}.
   */
  Outcome postRdmaWriteImmed(
      Segments segments,
      int rmrContext,
      long remoteAddress,
      int immediateData,
      long cookie,
      Object context,
      int flags);

  /**
   * Posts a fetch and add (dat_ib_post_fetch_and_add): adds to 8 bytes of the peer's memory, and
   * fetches what they were; as one step for all atomics on that memory through the peer's adapter,
   * but not for its processor. Both are numbers in the byte order of their machine. Memory whose
   * address is not a multiple of 8, or that lacks REMOTE_ATOMIC, breaks the connection. It counts
   * as an RDMA read: for read depths, and for BARRIER_FENCE. Else as {@link #postRdmaRead(Lmr,
   * long, long, int, long, long)}.
   *
   * @param lmr where what they were goes to; needs LOCAL_WRITE.
   * @param offset where it goes in the region, in bytes; 8 bytes from there.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param add what to add; it wraps around.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}.
   * @return as {@link #postSend(Lmr, long, long, long)}.
   * @throws DatException as {@link #postSend(Lmr, long, long, long)}; MODEL_NOT_SUPPORTED if the
   *     provider has none, see {@link ProviderAttributes#extensions}.
   */
  Outcome postFetchAndAdd(
      Lmr lmr,
      long offset,
      int rmrContext,
      long remoteAddress,
      long add,
      long cookie,
      Object context,
      int flags);

  /**
   * Posts a compare and swap (dat_ib_post_cmp_and_swap): replaces 8 bytes of the peer's memory if
   * they are as expected, and fetches what they were. Else as {@link #postFetchAndAdd}.
   *
   * @param lmr where what they were goes to; needs LOCAL_WRITE.
   * @param offset where it goes in the region, in bytes; 8 bytes from there.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param compare what is expected there.
   * @param swap what to put there.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}.
   * @return as {@link #postFetchAndAdd}.
   * @throws DatException as {@link #postFetchAndAdd}.
   */
  Outcome postCompareAndSwap(
      Lmr lmr,
      long offset,
      int rmrContext,
      long remoteAddress,
      long compare,
      long swap,
      long cookie,
      Object context,
      int flags);

  /**
   * Posts an operation beyond those of DAT, chosen when the program runs (dat_extension_op): does
   * what {@link #postFetchAndAdd}, {@link #postCompareAndSwap} and {@link #postRdmaWriteImmed} do.
   *
   * @param operation what to do; one of {@link ProviderAttributes#extensions}.
   * @param segments the local memory; of an atomic, 8 bytes. May be used again when this returned.
   * @param rmrContext the context of the peer's memory.
   * @param remoteAddress where in the peer's memory.
   * @param operand what to add, or what is expected there, or the immediate data, of 32 bits with
   *     or without sign.
   * @param swap what to put there; only COMPARE_AND_SWAP looks at it.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags of {@link CompletionFlags}, as the operation's own method takes them.
   * @return as the operation's own method.
   * @throws DatException as the operation's own method; INVALID_PARAMETER (INVALID_ARG1) if the
   *     operation is null, (INVALID_ARG5) if immediate data has more than 32 bits, (INVALID_ARG9)
   *     if the flags are not legal for it; LENGTH_ERROR if an atomic's segments are not 8 bytes.
   */
  Outcome extensionOp(
      ExtensionOp operation,
      Segments segments,
      int rmrContext,
      long remoteAddress,
      long operand,
      long swap,
      long cookie,
      Object context,
      int flags);

  /**
   * What it is made of (dat_ep_query). Legal in every state.
   *
   * @return the parameters of its creation, or of the last {@link #modify}.
   */
  EndpointParameters parameters();

  /**
   * Whom it is connected to, was, or asked to be (dat_ep_query, remote_ia_address_ptr). Legal in
   * every state.
   *
   * @return the address; null if there was no connect or accept since its creation or last reset.
   */
  InetAddress remoteAddress();

  /**
   * How many RDMA reads and atomics of the peer it answers at once (dat_ep_query,
   * max_rdma_read_in). Legal in every state.
   *
   * @return what the connection was negotiated to, also after its end: the least of {@link
   *     EndpointAttributes#rdmaReadsIn}, what the device can, and what the peer has in flight. What
   *     its attributes say if there was no connect or accept since its creation or last reset, or
   *     if the provider does not negotiate; and until the peer answered a connect, the least of the
   *     first two.
   */
  int rdmaReadsIn();

  /**
   * How many RDMA reads and atomics it may have in flight (dat_ep_query, max_rdma_read_out); else
   * as {@link #rdmaReadsIn}. More may be posted: they wait for those before them. Where it is 0
   * none succeeds: the peer refuses it, which is ERR_REMOTE_RESPONDER, or the device keeps it until
   * the connection ends.
   *
   * @return the least of {@link EndpointAttributes#rdmaReadsOut}, what the device can, and what the
   *     peer answers at once.
   */
  int rdmaReadsOut();

  /**
   * Whether no receive is open (dat_ep_get_status). Legal in every state.
   *
   * @return true if each receive that was posted was handed out; on a shared receive queue, always.
   */
  boolean isReceiveIdle();

  /**
   * How many receives are open (dat_ep_recv_query): those that were posted and not handed out.
   * DAT's span is the same number, because receives are taken in order. Legal in every state.
   *
   * @return 0 to {@link EndpointAttributes#maxReceiveDtos}.
   * @throws DatException MODEL_NOT_SUPPORTED on a shared receive queue: no device tells how many an
   *     endpoint took.
   */
  int openReceives();

  /**
   * Sets how many receives of its shared receive queue it may hold before an error is told of it,
   * and before its connection is broken (dat_ep_set_watermark). No device of verbs counts what one
   * endpoint holds; {@link SharedReceiveQueue#lowWatermark(int)} watches the queue as a whole.
   *
   * @param softHigh when to tell; 0 for never, as it is at first.
   * @param hardHigh when to break; 0 for never, as it is at first.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_EP) if it is closed; INVALID_PARAMETER
   *     (INVALID_ARG1, INVALID_ARG2) below 0; MODEL_NOT_SUPPORTED above 0.
   */
  void watermarks(int softHigh, int hardHigh);

  /**
   * Whether no request is open (dat_ep_get_status). Legal in every state.
   *
   * @return true if each request that was posted was handed out, or is known to have succeeded.
   */
  boolean isRequestIdle();

  /**
   * Changes what it is made of (dat_ep_modify). Read depths, retries, timers and bounds may be
   * changed in UNCONNECTED, RESERVED and PASSIVE_CONNECTION_PENDING. All else needs another queue
   * pair, and may be changed in UNCONNECTED as long as no receive was posted; then it waits, for at
   * most five seconds, but not inside an upcall: there the endpoint takes nothing until it is done.
   *
   * @param parameters what it is to be made of: {@link #parameters} with changes.
   * @throws DatException INVALID_STATE with the state, or (INVALID_STATE_EP_NOTREADY) if it is
   *     being reset or modified; INVALID_HANDLE if closed; else as the methods that create an
   *     endpoint: nothing was changed; or, if the device or an EVD had no room for another queue
   *     pair, the endpoint is DISCONNECTED, to be reset. ABORT (SUB_INTERRUPTED) if interrupted
   *     while waiting: the change goes on.
   */
  void modify(EndpointParameters parameters);

  /**
   * Makes a DISCONNECTED endpoint UNCONNECTED (dat_ep_reset), so that it can be connected again:
   * what is open is drained as by {@link #close}, and no event of before is delivered after. Does
   * nothing in UNCONNECTED, receives stay posted. Waits for at most five seconds; inside an upcall
   * it does not wait, see {@link #resetAsync}.
   *
   * @throws DatException INVALID_STATE with the state, or (INVALID_STATE_EP_NOTREADY) if it is
   *     being reset; INVALID_HANDLE if closed; INSUFFICIENT_RESOURCES or INVALID_HANDLE if it could
   *     not begin anew: it stays DISCONNECTED, to be reset again; INTERNAL_ERROR if a handler or a
   *     call of the provider is stuck: the reset goes on when that returns; ABORT (SUB_INTERRUPTED)
   *     if interrupted while waiting: the reset goes on.
   */
  void reset();

  /**
   * Resets the endpoint as {@link #reset} does; never waits. It is DISCONNECTED until done, and
   * takes nothing: calls are INVALID_STATE (INVALID_STATE_EP_NOTREADY).
   *
   * @param bound how long draining may take; what did not complete then is UNKNOWN in the report.
   * @return completes when the endpoint is UNCONNECTED, with an entry for each accepted post that
   *     was not delivered; exceptionally as {@link #reset} says, or if the endpoint is closed
   *     first: then the entries are in the report of the close. Where a handler or a call of the
   *     provider is stuck it waits for that, whatever the bound. It completes on a thread of its
   *     own, outside of all upcalls.
   * @throws DatException as {@link #reset}; INVALID_PARAMETER (INVALID_ARG1) if the bound is null
   *     or negative.
   */
  CompletionStage<DrainReport> resetAsync(Duration bound);

  /**
   * Closes the endpoint (dat_ep_free): no post is accepted any more, the connection ends, open
   * requests are drained, and no event of it is delivered after this returned. Until then
   * completions still are, where upcalls are enabled; else they are in the report of {@link
   * #closeAsync}. Valid in every state. Waits for at most five seconds; inside an upcall it does
   * not wait; see {@link #closeAsync}.
   *
   * @throws DatException ABORT (SUB_INTERRUPTED) if interrupted while waiting: the close goes on.
   */
  @Override
  void close();

  /**
   * Closes the endpoint; never waits. From now on posts are INVALID_STATE.
   *
   * @param bound how long draining may take; what did not complete then is UNKNOWN in the report.
   *     When it is closed twice, the bound that is over first counts. If a handler that is stuck
   *     keeps one of its EVDs, the report comes half a second later, empty and not {@link
   *     DrainReport#complete}.
   * @return completes when no event of this endpoint will be delivered any more; with an entry for
   *     each accepted post that was not delivered. Closing twice gives the same.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if the bound is null or negative.
   */
  CompletionStage<DrainReport> closeAsync(Duration bound);
}
