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
   * The endpoint has as many requests of this queue open as {@link EndpointAttributes} says;
   * nothing was posted. A request is open until its completion was handed out, so: stop posting,
   * keep what is to be sent in a queue of your own, and post it from {@link
   * EventHandler#onCompletion} when completions of this endpoint come, one post for one completion.
   * Do not post again in a loop inside a handler: the completions that make room come after it
   * returned. If it happens all the time, {@link EndpointAttributes#withMaxDtos} gives more room.
   */
  INSUFFICIENT_RESOURCES,
  /** The time was over first; nothing was taken. */
  TIMEOUT_EXPIRED,
  /** The thread was interrupted; nothing was taken, and the interrupt status is set. */
  INTERRUPTED_CALL,
  /** The object was closed meanwhile, or its adapter's device is lost. */
  ABORT
}
