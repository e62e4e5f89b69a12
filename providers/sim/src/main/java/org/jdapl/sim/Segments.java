package org.jdapl.sim;

import java.nio.ByteBuffer;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.SgeList;

/** Pieces of memory that were checked, in order. Reused; guarded by the wire. */
final class Segments {

  private final ByteBuffer[] buffers = new ByteBuffer[SimDevice.MAX_SGE];
  private final int[] offsets = new int[SimDevice.MAX_SGE];
  private final int[] lengths = new int[SimDevice.MAX_SGE];
  private int count;

  /** Becomes one piece of a buffer. */
  void set(final ByteBuffer buffer, final int offset, final int length) {
    count = 0;
    append(buffer, offset, length);
  }

  private void append(final ByteBuffer buffer, final int offset, final int length) {
    if (length > 0) {
      buffers[count] = buffer;
      offsets[count] = offset;
      lengths[count] = length;
      count++;
    }
  }

  /** Becomes the first bytes of a request's elements; false if its domain may not use them so. */
  boolean setLocal(final SimPd pd, final SgeList list, final long length, final boolean write) {
    count = 0;
    long left = length;
    for (int i = 0; i < list.sgeCount() && left > 0; i++) {
      final int part = (int) Math.min(left, list.sgeLength(i));
      left -= part;
      if (part > 0) {
        final SimMr region = pd.fabric.memory.local(list.sgeLkey(i));
        final long address = list.sgeAddress(i);
        if (region == null
            || region.pd != pd
            || (write && !region.allows(Access.LOCAL_WRITE))
            || !region.holds(address, part)) {
          return false;
        }
        append(region.buffer, (int) (address - region.address()), part);
      }
    }
    return true;
  }

  /** Becomes a range named by a remote key; false if that does not grant it to a queue pair. */
  boolean setRemote(
      final SimQp qp, final int rkey, final long address, final long length, final Access right) {
    count = 0;
    if (length == 0) {
      return true; // the key does not count then
    }
    final SimMr region = behind(qp, rkey, address, length, right);
    if (region == null) {
      return false;
    }
    append(region.buffer, (int) (address - region.address()), (int) length);
    return true;
  }

  private static SimMr behind(
      final SimQp qp, final int rkey, final long address, final long length, final Access right) {
    final Memory memory = qp.fabric.memory;
    final SimMr region = memory.remote(rkey);
    if (region != null) {
      final boolean granted =
          region.pd == qp.domain() && region.allows(right) && region.holds(address, length);
      return granted ? region : null;
    }
    final SimMw window = memory.window(rkey);
    return window == null ? null : window.behind(qp, address, length, right);
  }

  /** The eight bytes of an atomic's target. */
  long getLong() {
    return buffers[0].getLong(offsets[0]);
  }

  void putLong(final long value) {
    buffers[0].putLong(offsets[0], value);
  }

  /** Copies all of this to the beginning of others, which are long enough. */
  void copyTo(final Segments to) {
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
