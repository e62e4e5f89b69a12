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
  BIND_MW(5),
  /** An RDMA write with immediate data (DAT_IB_DTO_RDMA_WRITE_IMMED). */
  RDMA_WRITE_IMMED(8),
  /**
   * A receive that an RDMA write with immediate data took; its memory was not touched
   * (DAT_IB_DTO_RECV_IMMED).
   */
  RECEIVE_IMMED(9),
  /** A fetch and add (DAT_IB_DTO_FETCH_ADD). */
  FETCH_AND_ADD(10),
  /** A compare and swap (DAT_IB_DTO_CMP_SWAP). */
  COMPARE_AND_SWAP(11),
  /**
   * A receive of a message with immediate data (DAT_IB_DTO_RECV_MSG_IMMED): of a peer that sends
   * such, an endpoint does not.
   */
  RECEIVE_MESSAGE_IMMED(12);

  private final int number;

  DtoOperation(final int number) {
    this.number = number;
  }

  /**
   * Whether it is of the queue of receives.
   *
   * @return false if it is a request.
   */
  public boolean isReceive() {
    return switch (this) {
      case RECEIVE, RECEIVE_WITH_INVALIDATE, RECEIVE_IMMED, RECEIVE_MESSAGE_IMMED -> true;
      default -> false;
    };
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
