package org.jdapl.dat;

/** The completion of a bind (DAT_RMR_BIND_COMPLETION_EVENT_DATA). */
public interface RmrBindCompletion extends Event {

  /**
   * The window that was bound, or closed.
   *
   * @return the remote memory region.
   */
  Rmr rmr();

  /**
   * The endpoint the bind was posted to.
   *
   * @return the endpoint.
   */
  Endpoint endpoint();

  /**
   * The cookie the bind was posted with.
   *
   * @return the cookie, unchanged.
   */
  long cookie();

  /**
   * The context object the bind was posted with.
   *
   * @return the object, or null.
   */
  Object context();

  /**
   * How it ended.
   *
   * @return the status.
   */
  DtoStatus status();

  /**
   * The provider's own error code.
   *
   * @return the code; 0 with a success.
   */
  int vendorError();

  @Override
  RmrBindCompletion copy();
}
