package org.jdapl.dat;

/**
 * What an EVD counted since it was created: a snapshot. {@link #toString} is made to be printed:
 * one line, without what is zero.
 */
@Experimental
public interface EvdStatistics {

  /**
   * The name of the EVD.
   *
   * @return the name.
   */
  String evd();

  // Events.

  /**
   * DTO completions handed out.
   *
   * @return how many.
   */
  long completions();

  /**
   * Completions of binds handed out.
   *
   * @return how many.
   */
  long binds();

  /**
   * Connection events handed out.
   *
   * @return how many.
   */
  long connections();

  /**
   * Connection requests handed out.
   *
   * @return how many.
   */
  long requests();

  /**
   * Software events handed out.
   *
   * @return how many.
   */
  long software();

  /**
   * Async errors handed out.
   *
   * @return how many.
   */
  long async();

  /**
   * All events handed out.
   *
   * @return the sum over the streams.
   */
  default long events() {
    return completions() + binds() + connections() + requests() + software() + async();
  }

  /**
   * Those of the events that {@link Evd#dequeue}, {@link Evd#drain} and {@link Evd#await} handed
   * out.
   *
   * @return how many.
   */
  long dequeued();

  /**
   * Successes that were posted with SUPPRESS and so made no event.
   *
   * @return how many.
   */
  long suppressed();

  /**
   * Completions of endpoints that are closed, and others nobody knows, that were left out.
   *
   * @return how many.
   */
  long dropped();

  // Upcalls.

  /**
   * Turns that called the handler. One turn hands out one event or more; with MANY one, with NOTIFY
   * none.
   *
   * @return how many.
   */
  long upcalls();

  /**
   * How many events an upcall hands out on average; what a handler dequeues itself does not count.
   *
   * @return the average; 0 before the first upcall.
   */
  default double eventsPerUpcall() {
    return upcalls() == 0 ? 0 : (double) (events() - dequeued()) / upcalls();
  }

  /**
   * Turns under an enabled policy that called no handler: after a notification without a
   * completion, a change of policy, or completions that were only left out.
   *
   * @return how many.
   */
  long emptyTurns();

  /**
   * Upcalls that were due, and were dropped because upcalls were disabled or the EVD was closed.
   *
   * @return how many.
   */
  long droppedUpcalls();

  /**
   * How often consumer code threw in an upcall: at an event, in onTurnEnd, in onReady.
   *
   * @return how often.
   */
  long failures();

  /**
   * Events for which the consumer had no method.
   *
   * @return how many.
   */
  long unhandled();

  /**
   * Turns that took longer than {@link Evd#slowAfter}.
   *
   * @return how many.
   */
  long slowTurns();

  /**
   * How long the longest turn took, of those that were timed: not while {@link Evd#slowAfter} is
   * zero.
   *
   * @return the time.
   */
  long longestTurnNanos();

  // The provider.

  /**
   * How often a completion queue made an idle EVD ready.
   *
   * @return how often.
   */
  long wakes();

  /**
   * Calls that poll, or poll and arm; the looks of the watchdog are not counted.
   *
   * @return how many.
   */
  long providerCalls();

  /**
   * How often a completion queue was armed.
   *
   * @return how often.
   */
  long arms();

  /**
   * Notifications, and looks of the timer that follows many of them, that found no completion.
   *
   * @return how many.
   */
  long spurious();

  /**
   * Completions that came without a notification, and that the watchdog found.
   *
   * @return how many.
   */
  long rescued();

  /**
   * Ends of connections that were handed out at their bound, because a queue of the endpoint showed
   * that it is empty too late, or not at all.
   *
   * @return how many.
   */
  long overdueEnds();

  /**
   * How often the provider failed, or broke its contract.
   *
   * @return how often.
   */
  long faults();

  // High-water marks.

  /**
   * The most events other than completions that waited when a turn or a dequeue began.
   *
   * @return how many.
   */
  long mostInLane();

  /**
   * The most completions that were polled in a row before a completion queue was found empty.
   *
   * @return how many.
   */
  long mostCompletions();

  /**
   * What was counted, in one line; without what is zero.
   *
   * @return a line such as {@code sim0/evd-1: 9 completions, 2 connections, 4 upcalls}.
   */
  @Override
  String toString();
}
