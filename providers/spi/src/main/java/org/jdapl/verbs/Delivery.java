package org.jdapl.verbs;

/** How a provider delivers notifications, connection-manager events and asynchronous events. */
public enum Delivery {
  /** The provider calls the handlers from threads of its own. */
  PUSH,
  /**
   * The provider calls the handlers only inside {@link EventChannel#await}, on the caller's thread.
   */
  CHANNEL
}
