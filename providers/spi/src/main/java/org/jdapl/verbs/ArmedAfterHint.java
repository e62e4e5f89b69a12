package org.jdapl.verbs;

/** Whether {@link CompletionQueue#arm} armed the queue although it returned a hint above 0. */
public enum ArmedAfterHint {
  /** It did. */
  YES,
  /** It did not: poll, then arm again. */
  NO,
  /** Not known: poll, then arm again. */
  UNKNOWN
}
