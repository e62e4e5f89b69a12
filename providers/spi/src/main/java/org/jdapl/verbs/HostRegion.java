package org.jdapl.verbs;

import java.nio.ByteBuffer;
import java.util.Set;

/**
 * A memory region whose provider is software: it looks at the keys, the range and the rights
 * itself, and moves the bytes through the buffer. See {@link ScatterGather}.
 */
public interface HostRegion extends MemoryRegion {

  /**
   * The domain it belongs to.
   *
   * @return the domain.
   */
  ProtectionDomain pd();

  /**
   * Its memory.
   *
   * @return the buffer: its limit is its capacity, and its position does not count.
   */
  ByteBuffer buffer();

  /**
   * What may be done to it.
   *
   * @return the rights.
   */
  Set<Access> access();

  @Override
  default long length() {
    return buffer().capacity();
  }

  /** {@inheritDoc} The local key, unless it has two. */
  @Override
  default int rkey() {
    return lkey();
  }

  /**
   * Whether a range lies in it, and this thread may touch it: the memory of an arena that is
   * closed, or of another thread only, is out of reach.
   *
   * @param from its address.
   * @param bytes its length.
   * @return false also if the length is negative.
   */
  default boolean holds(final long from, final long bytes) {
    final long offset = from - address();
    final boolean lies = offset >= 0 && bytes >= 0 && offset <= length() - bytes;
    return lies && (bytes == 0 || isWithinReach((int) offset));
  }

  private boolean isWithinReach(final int offset) {
    try {
      buffer().get(offset);
      return true;
    } catch (final RuntimeException e) { // as many as there are kinds of scopes
      return false;
    }
  }
}
