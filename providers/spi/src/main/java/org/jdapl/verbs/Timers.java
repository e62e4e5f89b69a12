package org.jdapl.verbs;

/**
 * The timers of a reliable connection as the wire and the verbs code them, in five bits: how long a
 * sender waits for an acknowledgement (timeout of ibv_qp_attr), and how long it is made to wait by
 * a peer that had no receive (min_rnr_timer).
 */
public final class Timers {

  /** In place of a code: what the provider takes by itself. */
  public static final int PROVIDERS_OWN = -1;

  /** The longest ack timeout, about 2 hours and 26 minutes. */
  public static final long MAX_ACK_NANOS = 4096L << 31;

  /** The longest wait for a receive, 655.36 ms. */
  public static final long MAX_RNR_NANOS = 655_360_000;

  private static final int LAST = 31;

  /** In units of 10 microseconds, by code: of the IBTA's table of RNR NAK timers. */
  private static final int[] RNR = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
    2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152
  };

  private Timers() {}

  /**
   * How long an ack timeout is.
   *
   * @param code 1 to 31.
   * @return 4.096 microseconds times 2 to the power of the code, in nanoseconds.
   */
  public static long ackNanos(final int code) {
    return 4096L << code;
  }

  /**
   * The shortest ack timeout of at least so long.
   *
   * @param nanos above 0, up to {@link #MAX_ACK_NANOS}.
   * @return its code, 1 to 31. The code 0 is never taken: it stands for no timeout at all.
   */
  public static int ackCode(final long nanos) {
    int code = 1;
    while (code < LAST && ackNanos(code) < nanos) {
      code++;
    }
    return code;
  }

  /**
   * How long a wait for a receive is.
   *
   * @param code 0 to 31; 0 is the longest.
   * @return the time, in nanoseconds.
   */
  public static long rnrNanos(final int code) {
    return RNR[code] * 10_000L;
  }

  /**
   * The shortest wait for a receive of at least so long.
   *
   * @param nanos above 0, up to {@link #MAX_RNR_NANOS}.
   * @return its code, 0 to 31.
   */
  public static int rnrCode(final long nanos) {
    int code = 1;
    while (code <= LAST && rnrNanos(code) < nanos) {
      code++;
    }
    return code > LAST ? 0 : code;
  }

  static void check(final String what, final int code, final int min) {
    if (code != PROVIDERS_OWN && (code < min || code > LAST)) {
      throw new IllegalArgumentException(
          what + " " + code + "; expected a code, " + min + " to 31, or Timers.PROVIDERS_OWN");
    }
  }
}
