package org.jdapl.dat;

/** What a data transfer was (DAT_DTOS). */
public enum DtoOperation {
  /** A send. */
  SEND(0),
  /** An RDMA write. */
  RDMA_WRITE(1),
  /** An RDMA read. */
  RDMA_READ(2),
  /** A receive. */
  RECEIVE(3),
  /** A receive whose message ended a remote memory region, see {@link DtoCompletion#rmrContext}. */
  RECEIVE_WITH_INVALIDATE(4),
  /** A bind; its completion is a {@link RmrBindCompletion}. */
  BIND_MW(5);

  private final int number;

  DtoOperation(final int number) {
    this.number = number;
  }

  /**
   * DAT's number of this operation.
   *
   * @return the number.
   */
  public int number() {
    return number;
  }
}
