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
  RECEIVE(3);

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
