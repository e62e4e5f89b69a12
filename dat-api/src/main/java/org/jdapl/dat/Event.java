package org.jdapl.dat;

/**
 * An event as a handler gets it: a flyweight, valid until the handler's method returns. What is to
 * be kept is copied with {@link #copy}. With assertions enabled, use after the return fails.
 */
public interface Event {

  /**
   * The dispatcher that handed it out.
   *
   * @return the EVD.
   */
  Evd evd();

  /**
   * What kind of event it is.
   *
   * @return the stream.
   */
  EventStream stream();

  /**
   * What it came from: an {@link Endpoint}; the {@link ServicePoint} of a request; for software
   * events the {@link Evd}; for asynchronous ones what they happened to: an {@link
   * InterfaceAdapter}, an {@link Endpoint}, a {@link SharedReceiveQueue} or an {@link Evd}.
   *
   * @return the source, never null.
   */
  DatObject source();

  /**
   * Its number among the events this EVD handed out: 0, 1, 2 and so on without a gap.
   *
   * @return the number.
   */
  long sequence();

  /**
   * A copy that lives for ever.
   *
   * @return the copy, of the same type.
   */
  Event copy();

  /**
   * Says that the consumer has no use for events of this kind. It is counted, and reported once for
   * each kind; {@link EventHandler#onEvent} does it where it is not overridden.
   */
  void unhandled();
}
