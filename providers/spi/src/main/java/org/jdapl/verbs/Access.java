package org.jdapl.verbs;

import java.nio.ByteBuffer;
import java.util.Set;

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
  MW_BIND;

  /**
   * What {@link Device#regMr} checks first.
   *
   * @param device its name.
   * @param buffer what is to be registered.
   * @param access what may be done to it.
   * @throws VerbsException with EINVAL if the buffer is not direct, or read-only and to be written,
   *     or if the peer is to write and {@link #LOCAL_WRITE} is missing.
   */
  public static void check(final String device, final ByteBuffer buffer, final Set<Access> access) {
    final boolean writable = access.contains(LOCAL_WRITE);
    if (!buffer.isDirect()) {
      throw VerbsException.invalid(
          "reg_mr", device, "a heap buffer of " + buffer.capacity() + " bytes; expected direct");
    }
    if (writable && buffer.isReadOnly()) {
      throw VerbsException.invalid("reg_mr", device, "LOCAL_WRITE to a read-only buffer");
    }
    if (!writable && (access.contains(REMOTE_WRITE) || access.contains(REMOTE_ATOMIC))) {
      throw VerbsException.invalid(
          "reg_mr", device, access + "; writes of the peer need LOCAL_WRITE too");
    }
  }
}
