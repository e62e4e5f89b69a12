package org.jdapl.verbs;

/** What a send request asks for (ibv_wr_opcode). */
public enum WrOpcode {
  /** Send a message. */
  SEND(WcOpcode.SEND),
  /** Send a message with immediate data. */
  SEND_WITH_IMM(WcOpcode.SEND),
  /** Send a message, and end a window of type 2 that the peer's queue pair has bound. */
  @Experimental
  SEND_WITH_INV(WcOpcode.SEND),
  /** Write into the peer's memory. */
  RDMA_WRITE(WcOpcode.RDMA_WRITE),
  /** Write into the peer's memory, and complete a receive there with immediate data. */
  RDMA_WRITE_WITH_IMM(WcOpcode.RDMA_WRITE),
  /** Read from the peer's memory. */
  RDMA_READ(WcOpcode.RDMA_READ),
  /** Compare and swap 8 bytes of the peer's memory. */
  ATOMIC_CMP_AND_SWP(WcOpcode.COMP_SWAP),
  /** Fetch 8 bytes of the peer's memory and add to them. */
  ATOMIC_FETCH_AND_ADD(WcOpcode.FETCH_ADD);

  private final WcOpcode completion;

  WrOpcode(final WcOpcode completion) {
    this.completion = completion;
  }

  /**
   * What a successful completion of it says.
   *
   * @return the operation.
   */
  public WcOpcode completion() {
    return completion;
  }
}
