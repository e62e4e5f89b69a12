package org.jdapl.verbs;

/** A listener for connection requests (a listening rdma_cm_id). */
public interface CmListener extends AutoCloseable {

  /**
   * The service it listens at.
   *
   * @return the service, also if the provider picked it.
   */
  long service();

  /**
   * Ends the listening: a barrier, no request is delivered after it returned. Requests already
   * delivered stay valid. Must not be called inside its own handler.
   */
  @Override
  void close();
}
