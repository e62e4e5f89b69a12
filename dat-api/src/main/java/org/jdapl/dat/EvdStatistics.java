package org.jdapl.dat;

/**
 * What an EVD counted since it was created.
 *
 * @param completions DTO completions handed out.
 * @param connections connection events handed out.
 * @param requests connection requests handed out.
 * @param software software events handed out.
 * @param async async errors handed out.
 * @param upcalls turns that called the handler: one turn hands out one event or more.
 * @param emptyTurns turns that found nothing to hand out.
 * @param providerCalls polls and arms made.
 * @param suppressed successes that were posted with SUPPRESS and so made no event.
 * @param dropped completions of closed endpoints, and others nobody knows, that were left out.
 * @param failures events whose handler threw.
 * @param unhandled events for which the consumer had no method.
 * @param spurious notifications that found no completion.
 */
public record EvdStatistics(
    long completions,
    long connections,
    long requests,
    long software,
    long async,
    long upcalls,
    long emptyTurns,
    long providerCalls,
    long suppressed,
    long dropped,
    long failures,
    long unhandled,
    long spurious) {

  /**
   * All events handed out.
   *
   * @return the sum over the streams.
   */
  public long events() {
    return completions + connections + requests + software + async;
  }
}
