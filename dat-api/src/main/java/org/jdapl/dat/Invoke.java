package org.jdapl.dat;

/** What enabling an upcall does about events that are there already (DAT_UPCALL_FLAG). */
public enum Invoke {
  /**
   * They cause no upcall; the next event that arrives does, and its upcalls cover them all in
   * order.
   */
  ON_NEW,
  /** If there are any, an upcall follows at once. */
  ON_ANY
}
