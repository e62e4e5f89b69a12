package org.jdapl.dat;

import java.time.Duration;

/**
 * The sizes of an endpoint (DAT_EP_ATTR).
 *
 * @param maxReceiveDtos receives that may be open at once, 0 for none.
 * @param maxRequestDtos sends and RDMA requests that may be open at once, 0 for none.
 * @param maxReceiveIov segments of a receive.
 * @param maxRequestIov segments of a request.
 * @param rdmaReadsIn RDMA reads and atomics it answers at once, at most: the connection has the
 *     least of these, what the device can, and what the peer has in flight; see {@link
 *     Endpoint#rdmaReadsIn}.
 * @param rdmaReadsOut RDMA reads and atomics it has in flight, at most; likewise.
 * @param retryCount how often a message is sent again to a peer that does not answer, 0 to 7; some
 *     devices take 7 for ever.
 * @param rnrRetryCount how often it is sent again to a peer without a receive, 0 to 7; 7 is for
 *     ever.
 * @param ackTimeout after how long without an answer a message is sent again or, after the last
 *     retry, has failed; zero for the provider's own; see {@link #withTimers}.
 * @param rnrTimer how long its peers wait before they send again what found no receive here; zero
 *     for the provider's own.
 * @param receiveFlags which receives tell the consumer of themselves (recv_completion_flags):
 *     {@link CompletionFlags#DEFAULT} for all, or {@link CompletionFlags#SOLICITED_WAIT}; see
 *     {@link #withReceiveFlags}.
 * @param bounds how long it waits for its transport.
 */
public record EndpointAttributes(
    int maxReceiveDtos,
    int maxRequestDtos,
    int maxReceiveIov,
    int maxRequestIov,
    int rdmaReadsIn,
    int rdmaReadsOut,
    int retryCount,
    int rnrRetryCount,
    Duration ackTimeout,
    Duration rnrTimer,
    int receiveFlags,
    Bounds bounds) {

  /**
   * An endpoint with 16 receives and 16 requests of one segment, 4 reads each way, 6 retries, also
   * where the peer has no receive, and the timers of its provider.
   *
   * @return the defaults.
   */
  public static EndpointAttributes defaults() {
    return new EndpointAttributes(
        16,
        16,
        1,
        1,
        4,
        4,
        6,
        6,
        Duration.ZERO,
        Duration.ZERO,
        CompletionFlags.DEFAULT,
        Bounds.defaults());
  }

  /**
   * The same with other numbers of requests.
   *
   * @param receives receives that may be open at once.
   * @param requests sends and RDMA requests that may be open at once.
   * @return the changed attributes.
   */
  public EndpointAttributes withMaxDtos(final int receives, final int requests) {
    final Draft draft = new Draft(this);
    draft.maxReceiveDtos = receives;
    draft.maxRequestDtos = requests;
    return draft.done();
  }

  /**
   * The same with other numbers of segments.
   *
   * @param receive segments of a receive.
   * @param request segments of a request.
   * @return the changed attributes.
   */
  public EndpointAttributes withMaxIov(final int receive, final int request) {
    final Draft draft = new Draft(this);
    draft.maxReceiveIov = receive;
    draft.maxRequestIov = request;
    return draft.done();
  }

  /**
   * The same with other numbers of RDMA reads.
   *
   * @param in reads it answers at once.
   * @param out reads it has in flight.
   * @return the changed attributes.
   */
  public EndpointAttributes withRdmaReads(final int in, final int out) {
    final Draft draft = new Draft(this);
    draft.rdmaReadsIn = in;
    draft.rdmaReadsOut = out;
    return draft.done();
  }

  /**
   * The same with other retries.
   *
   * @param retries how often a message is sent again to a peer that does not answer, 0 to 7; some
   *     devices take 7 for ever.
   * @param rnrRetries how often to a peer without a receive, 0 to 7; 7 is for ever.
   * @return the changed attributes.
   */
  public EndpointAttributes withRetries(final int retries, final int rnrRetries) {
    final Draft draft = new Draft(this);
    draft.retryCount = retries;
    draft.rnrRetryCount = rnrRetries;
    return draft.done();
  }

  /**
   * The same with other timers. The wire has few values for each: the next longer one is taken.
   *
   * <p>A message that nobody answers fails after the timeout and as many more as there are retries;
   * hardware may wait up to four times as long. One that finds no receive fails after as many of
   * the peer's timers as there are {@link #rnrRetryCount}. By default the simulator takes 100
   * microseconds for both, and rdma-core 0.64 ms for the receive, and for the answer what the
   * connection manager knows of the path. Over iWARP there are no such timers.
   *
   * @param ack after how long without an answer a message is sent again: 8.192 microseconds times a
   *     power of 2, up to 8796.093 s; zero for the provider's own.
   * @param rnr how long its peers wait for a receive: 0.01 to 655.36 ms; zero for the provider's
   *     own.
   * @return the changed attributes.
   */
  public EndpointAttributes withTimers(final Duration ack, final Duration rnr) {
    final Draft draft = new Draft(this);
    draft.ackTimeout = ack;
    draft.rnrTimer = rnr;
    return draft.done();
  }

  /**
   * The same with other flags of its receives. With {@link CompletionFlags#SOLICITED_WAIT} the
   * receive EVD tells its consumer, by an upcall, to a waiter or to a CNO, only of a receive whose
   * message was sent with that flag, and of errors; all that came before it is handed out then, in
   * order. A receive that does not tell is found by each dequeue and await, and otherwise waits for
   * the next one that does, or until the framework looks for lost notifications. Where a device
   * cannot tell solicited receives and errors alone, every receive tells.
   *
   * <p>Such an EVD carries nothing but receives of endpoints with that flag: it is created for
   * {@link EventStream#DTO} alone, and gets no requests. It is so from the first of them on, until
   * the last one is closed. Its {@link Evd#await} takes a threshold of 1 only.
   *
   * @param flags DEFAULT or SOLICITED_WAIT of {@link CompletionFlags}.
   * @return the changed attributes.
   */
  public EndpointAttributes withReceiveFlags(final int flags) {
    final Draft draft = new Draft(this);
    draft.receiveFlags = flags;
    return draft.done();
  }

  /**
   * The same with other bounds.
   *
   * @param other how long it waits for its transport; each above 0.
   * @return the changed attributes.
   */
  public EndpointAttributes withBounds(final Bounds other) {
    final Draft draft = new Draft(this);
    draft.bounds = other;
    return draft.done();
  }

  /** The attributes while they are changed: each value has its name. */
  private static final class Draft {

    private int maxReceiveDtos;
    private int maxRequestDtos;
    private int maxReceiveIov;
    private int maxRequestIov;
    private int rdmaReadsIn;
    private int rdmaReadsOut;
    private int retryCount;
    private int rnrRetryCount;
    private Duration ackTimeout;
    private Duration rnrTimer;
    private int receiveFlags;
    private Bounds bounds;

    Draft(final EndpointAttributes from) {
      maxReceiveDtos = from.maxReceiveDtos;
      maxRequestDtos = from.maxRequestDtos;
      maxReceiveIov = from.maxReceiveIov;
      maxRequestIov = from.maxRequestIov;
      rdmaReadsIn = from.rdmaReadsIn;
      rdmaReadsOut = from.rdmaReadsOut;
      retryCount = from.retryCount;
      rnrRetryCount = from.rnrRetryCount;
      ackTimeout = from.ackTimeout;
      rnrTimer = from.rnrTimer;
      receiveFlags = from.receiveFlags;
      bounds = from.bounds;
    }

    EndpointAttributes done() {
      return new EndpointAttributes(
          maxReceiveDtos,
          maxRequestDtos,
          maxReceiveIov,
          maxRequestIov,
          rdmaReadsIn,
          rdmaReadsOut,
          retryCount,
          rnrRetryCount,
          ackTimeout,
          rnrTimer,
          receiveFlags,
          bounds);
    }
  }
}
