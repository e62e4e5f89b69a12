package org.jdapl.dat;

/** How a request completes (DAT_COMPLETION_FLAGS); combined with {@code |}. */
public final class CompletionFlags {

  /** It makes an event. */
  public static final int DEFAULT = 0x00;

  /** It makes an event only if it fails. Not for receives. */
  public static final int SUPPRESS = 0x01;

  /**
   * Of a send, or of an RDMA write with immediate data: it completes as a solicited one at the
   * peer. Of an endpoint's receives: only solicited ones tell the consumer, see {@link
   * EndpointAttributes#withReceiveFlags}.
   */
  public static final int SOLICITED_WAIT = 0x02;

  /**
   * If it succeeds, it makes an event that tells nobody of itself: no upcall or notification is
   * made for it, and no wait ends. It is handed out in its order with the next event that tells, or
   * that a dequeue takes, or when upcalls are enabled again, and counts for a threshold. A CNO may
   * be triggered all the same. Not for receives.
   */
  public static final int UNSIGNALLED = 0x04;

  /** It starts only when the RDMA reads and atomics posted before it are done. Not for receives. */
  public static final int BARRIER_FENCE = 0x08;

  private CompletionFlags() {}
}
