package org.jdapl.verbs;

/** For which completions an armed completion queue raises a notification. */
public enum ArmModel {
  /** Only for a completion added after the arm; older ones that nobody polled stay silent. */
  WEAK,
  /** Also for a completion that was there, not polled, when the queue was armed. */
  STRONG,
  /** Not known; the dispatcher takes it for the weakest. */
  UNKNOWN
}
