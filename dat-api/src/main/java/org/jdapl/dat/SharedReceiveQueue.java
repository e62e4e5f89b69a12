package org.jdapl.dat;

/**
 * A shared receive queue: receives for any number of endpoints. A message that arrives at one of
 * them takes the receive that was posted first, and completes at that endpoint's receive EVD. So
 * memory is needed for what arrives, not for each endpoint.
 *
 * <p>Posting is safe from several threads, as on an {@link Endpoint}. A receive is open from its
 * post until its completion was handed out. When an endpoint is closed, what it took and was not
 * handed out stands in the report of its close; what it did not take stays here for the others.
 * Nothing is said about the order of completions at different endpoints.
 */
public interface SharedReceiveQueue extends DatObject {

  /**
   * The zone whose memory it may use (dat_srq_query). Legal in every state.
   *
   * @return the zone.
   */
  ProtectionZone pz();

  /**
   * How many segments a receive may have (dat_srq_query). Legal in every state.
   *
   * @return at least 1.
   */
  int maxIov();

  /**
   * How many receives may be open at once (dat_srq_query). Legal in every state.
   *
   * @return at least 1.
   */
  int maxReceives();

  /**
   * How many receives are open (dat_srq_query, outstanding_dto_count): posted, and their completion
   * was not handed out. How many of those no endpoint took yet (available_dto_count), no device
   * tells. Legal in every state; after a close it stays what it was.
   *
   * @return 0 to {@link #maxReceives}.
   */
  int openReceives();

  /**
   * Posts a receive of one segment (dat_srq_post_recv).
   *
   * @param lmr the memory to receive into; of the zone of this queue.
   * @param offset where it starts in the region, in bytes.
   * @param length how much there is, in bytes.
   * @param cookie comes back in the completion.
   * @return SUCCESS, or INSUFFICIENT_RESOURCES if as many receives are open as may be: nothing was
   *     posted, post again after a completion.
   * @throws DatException INVALID_HANDLE (INVALID_HANDLE_SRQ) when it is closed,
   *     (INVALID_HANDLE_LMR) if the region is; else as {@link Endpoint#postReceive(Lmr, long, long,
   *     long)}.
   */
  Outcome postReceive(Lmr lmr, long offset, long length, long cookie);

  /**
   * Posts a receive (dat_srq_post_recv); else as {@link #postReceive(Lmr, long, long, long)}.
   *
   * @param segments the memory to receive into; may be used again when this returned.
   * @param cookie comes back in the completion.
   * @param context comes back in the completion; may be null.
   * @return as the other one.
   * @throws DatException as the other one; INVALID_PARAMETER if there are more segments than the
   *     queue was created for.
   */
  Outcome postReceive(Segments segments, long cookie, Object context);

  /**
   * Asks for one SRQ_LOW_WATERMARK at the adapter's async EVD, as soon as fewer receives are left
   * that no endpoint took (dat_srq_set_lw); at once if fewer are open. It comes once; then it is to
   * be asked for again. A new watermark replaces one that was not reached.
   *
   * @param receives the watermark, 0 for none.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if it is negative or above {@link
   *     #maxReceives}; MODEL_NOT_SUPPORTED if the device has no watermarks; INVALID_HANDLE
   *     (INVALID_HANDLE_SRQ) if closed.
   */
  void lowWatermark(int receives);

  /**
   * The low watermark that is still to be told of (dat_srq_query). Legal in every state.
   *
   * @return that of the last {@link #lowWatermark(int)}; 0 if there is none, or it was told of.
   */
  int lowWatermark();

  /**
   * Changes how many receives may be open at once (dat_srq_resize). What is open stays open, and
   * receives may be posted meanwhile. Each receive EVD of its endpoints must have room for more.
   *
   * @param receives how many, at least 1.
   * @throws DatException INVALID_PARAMETER (INVALID_ARG1) if it is below 1; INVALID_STATE if more
   *     are open, if the low watermark is above it, or if it is being resized;
   *     (INVALID_STATE_SRQ_IN_USE) if a post to it does not return; INSUFFICIENT_RESOURCES
   *     (RESOURCE_SRQ) if it is above {@link AdapterAttributes#maxReceivesPerSrq}, (RESOURCE_TEVD)
   *     if an EVD has no room, which then only endpoints at another EVD can have;
   *     MODEL_NOT_SUPPORTED if the device cannot do it; INVALID_HANDLE (INVALID_HANDLE_SRQ) if
   *     closed. Nothing was changed then.
   */
  void resize(int receives);

  /**
   * Closes the queue (dat_srq_free). The receives in it, which no endpoint took, are gone with it;
   * their memory is the consumer's again. So is an event of the queue that waits in the async EVD:
   * nobody is told of it.
   *
   * @throws DatException INVALID_STATE (INVALID_STATE_SRQ_IN_USE) while endpoints use it, or a post
   *     to it does not return.
   */
  @Override
  void close();
}
