package org.jdapl.dat;

/** The ordinary outcomes of calls: neither an error nor an exception. Each says what to do next. */
public enum Outcome {
  /** Done. */
  SUCCESS,
  /** There was no event: wait for an upcall, or ask again later. */
  QUEUE_EMPTY,
  /** The queue has no room; nothing was queued: post again after the consumer caught up. */
  QUEUE_FULL,
  /**
   * The endpoint has as many requests open as it may; nothing was posted: post again after
   * completions.
   */
  INSUFFICIENT_RESOURCES,
  /** The time was over first; nothing was taken. */
  TIMEOUT_EXPIRED,
  /** The thread was interrupted; nothing was taken, and the interrupt status is set. */
  INTERRUPTED_CALL,
  /** The object was closed meanwhile. */
  ABORT
}
