package org.jdapl.verbs;

/** Whether a device reports {@link AsyncType#QP_LAST_WQE_REACHED}. */
public enum LastWqe {
  /** It does. */
  REPORTED,
  /** It never does. */
  NEVER,
  /** Not known. */
  UNKNOWN
}
