package org.jdapl.verbs;

/** A connection of the connection manager (rdma_cm_id). It does not own the queue pair. */
public interface CmId extends AutoCloseable {

  /**
   * Ends the connection (rdma_disconnect): moves the queue pair to the error state and tells the
   * peer. Both sides get DISCONNECTED if the peer answers. Legal in every state; without effect
   * where there is no connection.
   */
  void disconnect();

  /**
   * Tells the connection manager that a message arrived before ESTABLISHED (rdma_notify), which
   * makes ESTABLISHED come.
   */
  void notifyEstablished();

  /**
   * Destroys the id (rdma_destroy_id): a barrier, when it returned no event of it is delivered and
   * none will be. Must not be called inside an event of this id.
   */
  @Override
  void close();
}
