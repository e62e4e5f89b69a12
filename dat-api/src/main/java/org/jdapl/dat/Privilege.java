package org.jdapl.dat;

/** What may be done to memory (DAT_MEM_PRIV_FLAGS). */
public enum Privilege {
  /** Sends and RDMA writes may read it. */
  LOCAL_READ(0x01),
  /** The peer may read it. */
  REMOTE_READ(0x02),
  /** Receives and RDMA reads may write it. */
  LOCAL_WRITE(0x10),
  /** The peer may write it. */
  REMOTE_WRITE(0x20),
  /** The peer may do atomics on it, which write it (DAT_IB_MEM_PRIV_REMOTE_ATOMIC). */
  REMOTE_ATOMIC(0x40);

  private final int flag;

  Privilege(final int flag) {
    this.flag = flag;
  }

  /**
   * DAT's flag of this privilege.
   *
   * @return one bit.
   */
  public int flag() {
    return flag;
  }
}
