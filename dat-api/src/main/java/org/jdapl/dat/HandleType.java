package org.jdapl.dat;

/** The types of DAT objects, with DAT's numbers (DAT_HANDLE_TYPE of uDAPL; kDAPL has no CNO). */
public enum HandleType {
  /** A {@link ConnectionRequest}. */
  CR(0),
  /** An {@link Endpoint}. */
  EP(1),
  /** An {@link Evd}. */
  EVD(2),
  /** An {@link InterfaceAdapter}. */
  IA(3),
  /** An {@link Lmr}. */
  LMR(4),
  /** A {@link PublicServicePoint}. */
  PSP(5),
  /** A {@link ProtectionZone}. */
  PZ(6),
  /** A remote memory region; none in this version. */
  RMR(7),
  /** A {@link ReservedServicePoint}. */
  RSP(8),
  /** A {@link Cno}. */
  CNO(9),
  /** A {@link SharedReceiveQueue}. */
  SRQ(10),
  /** A {@link CommonServicePoint}. */
  CSP(11);

  private final int number;

  HandleType(final int number) {
    this.number = number;
  }

  /**
   * DAT's number of this type.
   *
   * @return the number.
   */
  public int number() {
    return number;
  }
}
