package org.jdapl.verbs;

/** What may be done to a memory region (ibv_access_flags). Local reads are always allowed. */
public enum Access {
  /** Receives and reads may write into it. */
  LOCAL_WRITE,
  /** The peer may write into it. Needs {@link #LOCAL_WRITE}. */
  REMOTE_WRITE,
  /** The peer may read from it. */
  REMOTE_READ,
  /** The peer may do atomics on it. Needs {@link #LOCAL_WRITE}. */
  REMOTE_ATOMIC,

  /** Memory windows may be bound to it. */
  @Experimental
  MW_BIND
}
