package org.jdapl.verbs;

/** A connection of the connection manager (rdma_cm_id). It does not own the queue pair. */
public interface CmId extends AutoCloseable {

  /** In place of a number of reads: the provider does not tell. */
  int NOT_TOLD = -1;

  /**
   * Ends the connection (rdma_disconnect): moves the queue pair to the error state and tells the
   * peer. Both sides get DISCONNECTED if the peer answers. Legal in every state and twice.
   *
   * <p>Without effect where there is no connection: after its end, after {@link #close}, and on the
   * active side before ESTABLISHED. An attempt under way is not called back: its outcome comes, and
   * {@link #close} is what drops it.
   */
  void disconnect();

  /**
   * Tells the connection manager that a message arrived before ESTABLISHED (rdma_notify), which
   * makes ESTABLISHED come. Without effect once it came. The default is for a provider whose
   * ESTABLISHED comes with the accept.
   */
  default void notifyEstablished() {}

  /**
   * How many RDMA reads and atomics of the peer this side answers at once (responder_resources).
   * May be asked at any time, also after {@link #close}.
   *
   * @return what was negotiated, since ESTABLISHED and on the passive side since the accept: the
   *     least of what this side asked for, its device can, and the peer has in flight; before that,
   *     of the first two. {@link #NOT_TOLD} if the provider does not negotiate: then the core tells
   *     what this side asked for.
   */
  default int readsIn() {
    return NOT_TOLD;
  }

  /**
   * How many RDMA reads and atomics this side may have in flight (initiator_depth); else as {@link
   * #readsIn}. Those posted beyond wait for the ones before them. Where it is 0 none succeeds: the
   * peer refuses it, {@link WcStatus#REM_INV_REQ_ERR}, or it waits until the queue pair is in the
   * error state.
   *
   * @return the least of what this side asked for, its device can, and the peer answers at once; or
   *     {@link #NOT_TOLD}.
   */
  default int readsOut() {
    return NOT_TOLD;
  }

  /**
   * Destroys the id (rdma_destroy_id): a barrier, when it returned no event of it is delivered and
   * none will be. Must not be called inside an event of this id.
   */
  @Override
  void close();
}
