package org.jdapl.dat;

/** How a data transfer ended (DAT_DTO_COMPLETION_STATUS). */
public enum DtoStatus {
  /** It was done. */
  SUCCESS(0),
  /** The connection ended first. */
  ERR_FLUSHED(1),
  /** A message did not fit into the local buffer. */
  ERR_LOCAL_LENGTH(2),
  /** The endpoint was not fit for it. */
  ERR_LOCAL_EP(3),
  /** The local memory does not allow it. */
  ERR_LOCAL_PROTECTION(4),
  /** The peer's answer made no sense. */
  ERR_BAD_RESPONSE(5),
  /** The peer's memory does not allow it. */
  ERR_REMOTE_ACCESS(6),
  /** The peer could not do it. */
  ERR_REMOTE_RESPONDER(7),
  /** The peer could not be reached. */
  ERR_TRANSPORT(8),
  /** The peer had no receive posted. */
  ERR_RECEIVER_NOT_READY(9),
  /** A message came in part. */
  ERR_PARTIAL_PACKET(10),
  /** An RMR operation failed. */
  RMR_OPERATION_FAILED(11);

  private final int number;

  DtoStatus(final int number) {
    this.number = number;
  }

  /**
   * DAT's number of this status.
   *
   * @return the number.
   */
  public int number() {
    return number;
  }
}
