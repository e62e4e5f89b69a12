package org.jdapl.dat;

/** The completion of a data transfer (DAT_DTO_COMPLETION_EVENT_DATA). */
public interface DtoCompletion extends Event {

  /**
   * The endpoint the request was posted to.
   *
   * @return the endpoint.
   */
  Endpoint endpoint();

  /**
   * What the request was.
   *
   * @return the operation, also with an error; of a receive, {@link DtoOperation#RECEIVE} with an
   *     error, and else one that tells whether there is immediate data.
   */
  DtoOperation operation();

  /**
   * The immediate data that the peer's message carried.
   *
   * @return the data with {@link DtoOperation#RECEIVE_IMMED} and {@link
   *     DtoOperation#RECEIVE_MESSAGE_IMMED}; else 0.
   */
  int immediateData();

  /**
   * The cookie the request was posted with.
   *
   * @return the cookie, unchanged.
   */
  long cookie();

  /**
   * The context object the request was posted with.
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
   * How much was transferred.
   *
   * @return bytes, those of the write with {@link DtoOperation#RECEIVE_IMMED}; 0 with an error.
   */
  long transferredLength();

  /**
   * The context that the peer's message ended, by {@link Endpoint#postSendWithInvalidate}.
   *
   * @return the context of a bind of one of this side's remote memory regions; 0 unless {@link
   *     #operation} is RECEIVE_WITH_INVALIDATE.
   */
  int rmrContext();

  /**
   * The provider's own error code.
   *
   * @return the code; 0 with a success.
   */
  int vendorError();

  @Override
  DtoCompletion copy();
}
