package org.jdapl.verbs;

import java.nio.ByteBuffer;
import java.util.function.IntFunction;

/**
 * Pieces of registered memory that were checked, in order: what a work request is gathered from or
 * scattered into, for a provider that is software. Reused: it allocates nothing but what {@link
 * #get} returns. Confined to one thread at a time.
 */
public final class ScatterGather {

  private final ByteBuffer[] buffers;
  private final int[] offsets;
  private final int[] lengths;
  private int count;

  /**
   * No pieces.
   *
   * @param maxSge how many it has room for.
   */
  public ScatterGather(final int maxSge) {
    buffers = new ByteBuffer[maxSge];
    offsets = new int[maxSge];
    lengths = new int[maxSge];
  }

  /**
   * Becomes one piece of a buffer that needs no check.
   *
   * @param buffer the buffer, whose position does not count.
   * @param offset where the piece starts.
   * @param length its bytes.
   */
  public void set(final ByteBuffer buffer, final int offset, final int length) {
    count = 0;
    append(buffer, offset, length);
  }

  /**
   * Becomes a range of a region, as the peer names it.
   *
   * @param region the region; null if the key is of none.
   * @param pd the domain of the queue pair.
   * @param address where the range starts.
   * @param length its bytes; with 0 nothing is checked, as the key does not count then.
   * @param right what the region must allow.
   * @return whether the peer may; if not, there are no pieces.
   */
  public boolean setRemote(
      final HostRegion region,
      final ProtectionDomain pd,
      final long address,
      final long length,
      final Access right) {
    count = 0;
    return length == 0 || append(region, pd, address, length, right);
  }

  /**
   * Becomes the first bytes of a request's elements.
   *
   * @param regions the open region of a local key, or null.
   * @param pd the domain of the queue pair.
   * @param list the elements; those that have no part in the bytes are not checked.
   * @param length how many bytes; no more than the elements have.
   * @param right what the regions must allow: {@link Access#LOCAL_WRITE}, or null to read.
   * @return whether the queue pair may; if not, the pieces must not be used.
   */
  public boolean setLocal(
      final IntFunction<? extends HostRegion> regions,
      final ProtectionDomain pd,
      final SgeList list,
      final long length,
      final Access right) {
    count = 0;
    long left = length;
    boolean may = true;
    for (int i = 0; i < list.sgeCount() && left > 0 && may; i++) {
      final int part = (int) Math.min(left, list.sgeLength(i));
      left -= part;
      may =
          part == 0 || append(regions.apply(list.sgeLkey(i)), pd, list.sgeAddress(i), part, right);
    }
    return may;
  }

  private boolean append(
      final HostRegion region,
      final ProtectionDomain pd,
      final long address,
      final long length,
      final Access right) {
    final boolean may =
        region != null
            && region.pd() == pd
            && (right == null || region.access().contains(right))
            && region.holds(address, length);
    if (may) {
      append(region.buffer(), (int) (address - region.address()), (int) length);
    }
    return may;
  }

  private void append(final ByteBuffer buffer, final int offset, final int length) {
    if (length > 0) {
      buffers[count] = buffer;
      offsets[count] = offset;
      lengths[count] = length;
      count++;
    }
  }

  /**
   * The eight bytes of an atomic's target.
   *
   * @return the value at the start of the first piece, in the order of its buffer.
   */
  public long getLong() {
    return buffers[0].getLong(offsets[0]);
  }

  /**
   * Changes the eight bytes of an atomic's target.
   *
   * @param value put at the start of the first piece, in the order of its buffer.
   */
  public void putLong(final long value) {
    buffers[0].putLong(offsets[0], value);
  }

  /**
   * Gathers all pieces.
   *
   * @return their bytes, in an array of its own.
   */
  public byte[] get() {
    int length = 0;
    for (int i = 0; i < count; i++) {
      length += lengths[i];
    }
    final byte[] all = new byte[length];
    int done = 0;
    for (int i = 0; i < count; i++) {
      buffers[i].get(offsets[i], all, done, lengths[i]);
      done += lengths[i];
    }
    return all;
  }

  /**
   * Scatters into all pieces.
   *
   * @param from the bytes, from its first on; at least as long.
   */
  public void put(final byte[] from) {
    int done = 0;
    for (int i = 0; i < count; i++) {
      buffers[i].put(offsets[i], from, done, lengths[i]);
      done += lengths[i];
    }
  }

  /**
   * Scatters bytes into the elements of a request: {@link #setLocal} for them, and {@link #put}.
   *
   * @param regions the open region of a local key, or null.
   * @param pd the domain of the queue pair.
   * @param list the elements, which have room for all.
   * @param from the bytes.
   * @return whether the queue pair may; if not, nothing is changed.
   */
  public boolean scatter(
      final IntFunction<? extends HostRegion> regions,
      final ProtectionDomain pd,
      final SgeList list,
      final byte[] from) {
    final boolean may = setLocal(regions, pd, list, from.length, Access.LOCAL_WRITE);
    if (may) {
      put(from);
    }
    return may;
  }

  /**
   * Copies all pieces to the beginning of others.
   *
   * @param to at least as long.
   */
  public void copyTo(final ScatterGather to) {
    int toIndex = 0;
    int toDone = 0;
    for (int i = 0; i < count; i++) {
      int done = 0;
      while (done < lengths[i]) {
        final int part = Math.min(lengths[i] - done, to.lengths[toIndex] - toDone);
        to.buffers[toIndex].put(to.offsets[toIndex] + toDone, buffers[i], offsets[i] + done, part);
        done += part;
        toDone += part;
        if (toDone == to.lengths[toIndex]) {
          toIndex++;
          toDone = 0;
        }
      }
    }
  }
}
