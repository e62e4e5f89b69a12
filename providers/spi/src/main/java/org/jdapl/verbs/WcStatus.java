package org.jdapl.verbs;

/** The status of a completion (ibv_wc_status). */
public enum WcStatus {
  /** It was done. */
  SUCCESS(0),
  /** A message was longer than the local buffer. */
  LOC_LEN_ERR(1),
  /** The queue pair was not fit for the request. */
  LOC_QP_OP_ERR(2),
  /** A local end-to-end context error. */
  LOC_EEC_OP_ERR(3),
  /** A local key, address or right was wrong. */
  LOC_PROT_ERR(4),
  /** The queue pair was in the error state: the request was flushed. */
  WR_FLUSH_ERR(5),
  /** A memory window could not be bound. */
  MW_BIND_ERR(6),
  /** The peer sent something that cannot be. */
  BAD_RESP_ERR(7),
  /** A local buffer refused an access of the peer. */
  LOC_ACCESS_ERR(8),
  /** The peer refused the request as invalid. */
  REM_INV_REQ_ERR(9),
  /** The peer's memory refused the access. */
  REM_ACCESS_ERR(10),
  /** The peer could not do it. */
  REM_OP_ERR(11),
  /** The peer did not answer. */
  RETRY_EXC_ERR(12),
  /** The peer had no receive posted. */
  RNR_RETRY_EXC_ERR(13),
  /** A reliable-datagram domain violation. */
  LOC_RDD_VIOL_ERR(14),
  /** An invalid reliable-datagram request. */
  REM_INV_RD_REQ_ERR(15),
  /** The peer aborted. */
  REM_ABORT_ERR(16),
  /** An invalid end-to-end context. */
  INV_EECN_ERR(17),
  /** An end-to-end context in a wrong state. */
  INV_EEC_STATE_ERR(18),
  /** The transport failed for good. */
  FATAL_ERR(19),
  /** The answer took too long. */
  RESP_TIMEOUT_ERR(20),
  /** Any other error. */
  GENERAL_ERR(21);

  private static final WcStatus[] VALUES = values();

  private final int code;

  WcStatus(final int code) {
    this.code = code;
  }

  /**
   * The number of ibv_wc_status.
   *
   * @return the number.
   */
  public int code() {
    return code;
  }

  /**
   * The status of a number.
   *
   * @param code a number of ibv_wc_status.
   * @return the status; {@link #GENERAL_ERR} for an unknown number.
   */
  public static WcStatus of(final int code) {
    return code >= 0 && code < VALUES.length ? VALUES[code] : GENERAL_ERR;
  }
}
