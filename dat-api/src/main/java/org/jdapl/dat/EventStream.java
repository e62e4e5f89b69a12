package org.jdapl.dat;

/** The kinds of events an {@link Evd} takes, with DAT's flags (DAT_EVD_FLAGS). */
public enum EventStream {
  /** Events that software posts itself. */
  SOFTWARE(0x001),
  /** Connection requests at service points. */
  CONNECTION_REQUEST(0x010),
  /** Completions of data transfers. */
  DTO(0x020),
  /** What happens to connections of endpoints. */
  CONNECTION(0x040),
  /** Completions of binds of remote memory regions. */
  RMR_BIND(0x080),
  /** Errors that belong to no request. */
  ASYNC(0x100);

  private final int flag;

  EventStream(final int flag) {
    this.flag = flag;
  }

  /**
   * DAT's flag of this stream.
   *
   * @return one bit.
   */
  public int flag() {
    return flag;
  }
}
