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
  REMOTE_WRITE(0x20);

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
