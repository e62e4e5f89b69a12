package org.jdapl.dat;

import java.util.Set;

/**
 * A remote memory region: a window that a bind opens on a part of an {@link Lmr}, for the peer.
 *
 * <p>A bind is a request of an endpoint, in the order of its queue: what is posted after it finds
 * the window open. Each bind has a context of its own, and the one before is dead with it. A peer
 * whose RDMA names a dead context, or goes beyond the part or the rights, breaks the connection:
 * its request ends in ERR_REMOTE_ACCESS.
 */
public interface Rmr extends DatObject {

  /** Whose peers may use it (DAT_RMR_SCOPE). */
  enum Scope {
    /** Those of all endpoints of its zone. */
    PZ,
    /**
     * That of the endpoint which bound it. It is bound only when it is not, and closed only when it
     * is; the peer may end it by {@link Endpoint#postSendWithInvalidate}. When the endpoint has
     * ended, or was reset, it can only be closed.
     */
    EP
  }

  /**
   * The zone it belongs to (dat_rmr_query). Legal in every state.
   *
   * @return the zone.
   */
  ProtectionZone pz();

  /**
   * Whose peers may use it (dat_rmr_query). Legal in every state.
   *
   * @return the scope it was created with.
   */
  Scope scope();

  /**
   * Posts a bind to an endpoint (dat_rmr_bind), valid where a send is; in DISCONNECTED it is
   * flushed. Its outcome is a {@link RmrBindCompletion} at the endpoint's EVD for requests. A bind
   * that fails breaks the connection.
   *
   * @param lmr the region; not looked at if the length is 0.
   * @param offset where the window starts in the region, in bytes.
   * @param length how long it is, in bytes; 0 closes the window.
   * @param privileges what the peer may do: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC; all of them
   *     privileges of the region.
   * @param endpoint the endpoint, of the same zone.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @param flags SUPPRESS and BARRIER_FENCE of {@link CompletionFlags}.
   * @return SUCCESS, from then on {@link #rmrContext} is that of this bind; or
   *     INSUFFICIENT_RESOURCES if as many requests are open as the endpoint may have: nothing was
   *     posted, post again after a completion.
   * @throws DatException INVALID_STATE with the endpoint's state; or if a bind of this one is open
   *     at another endpoint; or it is not bound and the length is 0; or with scope EP it is bound,
   *     unbind it there first. INVALID_HANDLE if this or the region is closed, or not of the
   *     endpoint's adapter, or (INVALID_HANDLE_EVD_REQUEST) the endpoint's EVD for requests does
   *     not take {@link EventStream#RMR_BIND}; LENGTH_ERROR if the part is not inside the region;
   *     PROTECTION_VIOLATION if the three are not of one zone; PRIVILEGES_VIOLATION if the region
   *     lacks one of the privileges; INVALID_PARAMETER (INVALID_ARG4) if one is not for peers,
   *     (INVALID_ARG8) if the flags are not legal here.
   */
  Outcome bind(
      Lmr lmr,
      long offset,
      long length,
      Set<Privilege> privileges,
      Endpoint endpoint,
      long cookie,
      Object context,
      int flags);

  /**
   * The region of the last bind (dat_rmr_query).
   *
   * @return the region; null if none is bound: none was, the last bind closed the window or failed,
   *     or the peer's invalidation was handed out.
   */
  Lmr lmr();

  /**
   * Where the window of the last bind starts, as a peer names it in RDMA (dat_rmr_query).
   *
   * @return the address; 0 if none is bound.
   */
  long address();

  /**
   * How long the window of the last bind is (dat_rmr_query).
   *
   * @return bytes; 0 if none is bound.
   */
  long length();

  /**
   * What the peer may do in the window of the last bind (dat_rmr_query).
   *
   * @return the privileges; none if none is bound.
   */
  Set<Privilege> privileges();

  /**
   * What a peer needs beside the address in order to reach the window of the last bind
   * (DAT_RMR_CONTEXT of dat_rmr_query). Tell it in a message that is posted behind the bind.
   *
   * @return the context; of no use if none is bound.
   * @throws DatException INVALID_HANDLE if closed.
   */
  int rmrContext();

  /**
   * Closes the window for good (dat_rmr_free), bound or not.
   *
   * @throws DatException INVALID_STATE while a bind of it is open; wait for its completion, then
   *     close again.
   */
  @Override
  void close();
}
