package org.jdapl.dat;

import java.time.Duration;

/**
 * How long an endpoint waits at most for what a transport may never send. At a bound it goes on
 * without: nothing waits for ever. Its close has the bound that it is given, {@link
 * Endpoint#closeAsync}.
 *
 * @param accept for the connection to stand after an accept; then it ends with
 *     ACCEPT_COMPLETION_ERROR. 5 s by default.
 * @param disconnect for the requests that are open at a graceful disconnect; then it is abrupt. 2 s
 *     by default.
 * @param order for an event that is to be handed out before one that came: ESTABLISHED before a
 *     completion, the last completions before the end of the connection, and that end after a
 *     request was flushed. Then what came is handed out, and a connection of which nobody said that
 *     it stands, or that it ended, is BROKEN. 2 s by default.
 * @param lastReceive for the device to say that a queue pair took its last receive of a shared
 *     queue; then the completion queue is looked through without. 10 s by default, but 2 s at most
 *     as long as the device never said so.
 */
public record Bounds(Duration accept, Duration disconnect, Duration order, Duration lastReceive) {

  private static final Bounds DEFAULTS =
      new Bounds(
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofSeconds(2),
          Duration.ofSeconds(10));

  /**
   * The defaults.
   *
   * @return 5 s, 2 s, 2 s and 10 s.
   */
  public static Bounds defaults() {
    return DEFAULTS;
  }

  /**
   * The same with another wait for a connection to stand.
   *
   * @param other how long, above 0.
   * @return the changed bounds.
   */
  public Bounds withAccept(final Duration other) {
    return new Bounds(other, disconnect, order, lastReceive);
  }

  /**
   * The same with another wait for the requests of a graceful disconnect.
   *
   * @param other how long, above 0.
   * @return the changed bounds.
   */
  public Bounds withDisconnect(final Duration other) {
    return new Bounds(accept, other, order, lastReceive);
  }

  /**
   * The same with another wait for an event that is to come first.
   *
   * @param other how long, above 0.
   * @return the changed bounds.
   */
  public Bounds withOrder(final Duration other) {
    return new Bounds(accept, disconnect, other, lastReceive);
  }

  /**
   * The same with another wait for the last receive of a shared queue.
   *
   * @param other how long, above 0.
   * @return the changed bounds.
   */
  public Bounds withLastReceive(final Duration other) {
    return new Bounds(accept, disconnect, order, other);
  }
}
