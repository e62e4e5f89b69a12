package org.jdapl.verbs;

/** What a second {@link CompletionQueue#arm} does before the notification of the first one came. */
public enum SecondArm {
  /** Nothing. */
  IGNORED,
  /** It is counted: two notifications may come. */
  COUNTED,
  /** It replaces the first one, and may so weaken it. */
  OVERWRITES,
  /** Not known. */
  UNKNOWN
}
