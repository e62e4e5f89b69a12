package org.jdapl.dat;

/**
 * An error that belongs to no request (DAT_ASYNCH_ERROR_EVENT_DATA). Its source is what it happened
 * to.
 */
public interface AsyncEvent extends Event {

  /**
   * The kinds, with DAT's event numbers. Those of shared receive queues have numbers of jDAPL: DAT
   * tells them by a reason.
   */
  enum Kind {
    /** An EVD had no room: a connection request was refused, or completions were lost. */
    EVD_OVERFLOW(0x08001),
    /**
     * The adapter's device was removed or failed; once. The adapter has let go of it, see {@link
     * InterfaceAdapter}.
     */
    IA_CATASTROPHIC(0x08002),
    /** An endpoint broke. */
    EP_BROKEN(0x08003),
    /** A time was over. */
    TIMED_OUT(0x08004),
    /** The provider failed or broke its contract. */
    PROVIDER_INTERNAL_ERROR(0x08005),
    /** Fewer receives are left than asked for by {@link SharedReceiveQueue#lowWatermark}. */
    SRQ_LOW_WATERMARK(0x08201),
    /** A shared receive queue broke: no message takes a receive of it any more. */
    SRQ_BROKEN(0x08202);

    private final int number;

    Kind(final int number) {
      this.number = number;
    }

    /**
     * The number of this event.
     *
     * @return the number.
     */
    public int number() {
      return number;
    }
  }

  /**
   * What happened.
   *
   * @return the kind.
   */
  Kind kind();

  /**
   * Why, in words.
   *
   * @return the reason.
   */
  String reason();

  /**
   * How often it happened since it was last reported.
   *
   * @return at least 1.
   */
  long count();

  @Override
  AsyncEvent copy();
}
