package org.jdapl.verbs;

/** The type of a memory window (ibv_mw_type). */
@Experimental
public enum MwType {
  /** Of a domain: any queue pair of it may bind it and reach through it. A bind ends the last. */
  TYPE_1,
  /**
   * Of the queue pair that bound it, which alone reaches through it; its peer may end it with
   * {@link WrOpcode#SEND_WITH_INV}. It is bound only when it is not, and closed only when it is.
   */
  TYPE_2
}
