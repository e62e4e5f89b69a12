package org.jdapl.dat;

/**
 * Consumer code that gets events, one method a stream; the order of the calls over all methods is
 * the order of {@link Event#sequence}. A method not overridden ends in {@link #onEvent}.
 *
 * <p>Inside a method everything is allowed: posting, posting software events to any EVD, accepting,
 * changing policies, closing. If a method throws, its event counts as consumed, the next events are
 * delivered, and the error is reported.
 */
public interface EventHandler {

  /**
   * A data transfer completed.
   *
   * @param event valid until the method returns.
   */
  default void onCompletion(final DtoCompletion event) {
    onEvent(event);
  }

  /**
   * A bind of a remote memory region completed.
   *
   * @param event valid until the method returns.
   */
  default void onRmrBind(final RmrBindCompletion event) {
    onEvent(event);
  }

  /**
   * Something happened to a connection.
   *
   * @param event valid until the method returns.
   */
  default void onConnection(final ConnectionEvent event) {
    onEvent(event);
  }

  /**
   * A peer asks for a connection.
   *
   * @param event valid until the method returns; its request lives on.
   */
  default void onRequest(final ConnectionRequestEvent event) {
    onEvent(event);
  }

  /**
   * A software event.
   *
   * @param event valid until the method returns.
   */
  default void onSoftware(final SoftwareEvent event) {
    onEvent(event);
  }

  /**
   * An error that belongs to no request.
   *
   * @param event valid until the method returns.
   */
  default void onAsync(final AsyncEvent event) {
    onEvent(event);
  }

  /**
   * An event whose own method is not overridden. The default calls {@link Event#unhandled}, so that
   * nothing is lost in silence.
   *
   * @param event valid until the method returns.
   */
  default void onEvent(final Event event) {
    event.unhandled();
  }

  /**
   * The last event of a turn was delivered: a good place to flush what was batched. Not called by
   * dequeue and drain. With MANY each event is followed by one, on its own thread, as concurrent as
   * the events. It is still called when the events of the turn ended because upcalls were disabled.
   *
   * @param evd the EVD.
   */
  default void onTurnEnd(final Evd evd) {}
}
