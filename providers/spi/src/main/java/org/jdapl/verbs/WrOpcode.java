package org.jdapl.verbs;

/** What a send request asks for (ibv_wr_opcode). */
public enum WrOpcode {
  /** Send a message. */
  SEND,
  /** Send a message with immediate data. */
  SEND_WITH_IMM,
  /** Send a message, and end a window of type 2 that the peer's queue pair has bound. */
  @Experimental
  SEND_WITH_INV,
  /** Write into the peer's memory. */
  RDMA_WRITE,
  /** Write into the peer's memory, and complete a receive there with immediate data. */
  RDMA_WRITE_WITH_IMM,
  /** Read from the peer's memory. */
  RDMA_READ,
  /** Compare and swap 8 bytes of the peer's memory. */
  ATOMIC_CMP_AND_SWP,
  /** Fetch 8 bytes of the peer's memory and add to them. */
  ATOMIC_FETCH_AND_ADD
}
