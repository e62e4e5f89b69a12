package org.jdapl.dat;

import java.util.List;

/**
 * What a close left undelivered, so that every accepted post and every queued event is accounted
 * for.
 *
 * @param requests posts of an endpoint whose completion was not handed out, each queue in its
 *     order.
 * @param suppressed posts with SUPPRESS that succeeded and so made no event, over the endpoint's
 *     life.
 * @param events other events that were queued and are dropped now; their sequence is -1.
 * @param complete whether everything is accounted for; false if an upcall was still running when
 *     the bound was over: what it holds, and what waits behind it, is not in the report.
 */
public record DrainReport(
    List<Request> requests, long suppressed, List<Event> events, boolean complete) {

  /** Of a close that found nothing. */
  public static final DrainReport EMPTY = new DrainReport(List.of(), 0, List.of(), true);

  /** Of a close that could not look. */
  public static final DrainReport INCOMPLETE = new DrainReport(List.of(), 0, List.of(), false);

  /** The queue a request was posted to. */
  public enum Queue {
    /** Receives. */
    RECEIVE,
    /** Sends, RDMA and binds. */
    REQUEST
  }

  /** How far a request is known to have come. */
  public enum Status {
    /** It was done. */
    SUCCESS,
    /** It failed or was flushed. */
    FLUSHED,
    /** Nobody can say: the device is gone or did not answer. */
    UNKNOWN
  }

  /**
   * A request that was not handed out.
   *
   * @param queue where it was posted.
   * @param cookie the cookie it was posted with.
   * @param context the object it was posted with, or null.
   * @param status how far it came.
   */
  public record Request(Queue queue, long cookie, Object context, Status status) {}

  /**
   * Makes the lists unmodifiable.
   *
   * @param requests posts whose completion was not handed out.
   * @param suppressed suppressed successes.
   * @param events other events that are dropped.
   * @param complete whether everything is accounted for.
   */
  public DrainReport {
    requests = List.copyOf(requests);
    events = List.copyOf(events);
  }
}
