package org.jdapl.verbs;

/** What a successful completion was of (ibv_wc_opcode). Not valid with an error. */
public enum WcOpcode {
  /** A send. */
  SEND,
  /** An RDMA write. */
  RDMA_WRITE,
  /** An RDMA read. */
  RDMA_READ,
  /** A compare and swap. */
  COMP_SWAP,
  /** A fetch and add. */
  FETCH_ADD,
  /** A bind of a memory window. */
  @Experimental
  BIND_MW,
  /** A receive. */
  RECV,
  /** A receive consumed by an RDMA write with immediate data. */
  RECV_RDMA_WITH_IMM
}
