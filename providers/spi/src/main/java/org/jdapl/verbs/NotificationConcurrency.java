package org.jdapl.verbs;

/** Whether a provider may run two notifications of one completion queue at once. */
public enum NotificationConcurrency {
  /** At most one at any time. */
  SERIAL,
  /** Several may run at once. */
  CONCURRENT
}
