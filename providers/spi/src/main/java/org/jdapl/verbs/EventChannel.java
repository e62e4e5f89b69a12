package org.jdapl.verbs;

/**
 * Where an idle dispatcher sleeps so that an event reaches its handler without a hop between
 * threads (ibv_comp_channel and rdma_event_channel in one).
 *
 * <p>One thread at a time calls {@link #await}, not always the same; {@link #wakeup} may be called
 * from any thread.
 */
public interface EventChannel extends AutoCloseable {

  /**
   * Waits until something happened on a device of this channel, {@link #wakeup} was called, or the
   * time is over; then calls the handlers of all that happened, on the caller's thread. Each event
   * is acknowledged by then, so that a handler may close any object but its own. May return early
   * for no reason.
   *
   * @param timeoutNanos how long to wait at most; 0 looks and returns at once.
   * @return the number of handler calls made.
   */
  int await(long timeoutNanos);

  /**
   * Makes the current {@link #await}, or else the next one, return soon. Wake-ups do not add up.
   * May be called from any thread, also after {@link #close}.
   */
  void wakeup();

  /** Releases the channel. Its devices must be closed before. */
  @Override
  void close();
}
