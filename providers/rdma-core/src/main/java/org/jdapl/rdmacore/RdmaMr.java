package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;

/** A registered region. It keeps its buffer from being collected. */
final class RdmaMr extends RdmaObject implements MemoryRegion {

  /**
   * Buffers of regions whose device is said to be gone: nobody knows that it does not write to them
   * any more, so they are never collected.
   */
  private static final Queue<ByteBuffer> STILL_PINNED = new ConcurrentLinkedQueue<>();

  private final ByteBuffer buffer;
  private final long address;
  private final int lkey;
  private final int rkey;

  RdmaMr(final RdmaPd pd, final ByteBuffer buffer, final Set<Access> access) {
    super(pd.device, Kind.MR, pd);
    this.buffer = buffer;
    address = Verbs.address(buffer);
    final long result = Verbs.regMr(pd.pointer("reg_mr"), address, buffer.capacity(), bits(access));
    opened(
        result, "reg_mr", buffer.capacity() + " bytes" + Memlock.hint(result, buffer.capacity()));
    lkey = Verbs.mrLkey(result);
    rkey = Verbs.mrRkey(result);
    device.regions.add(this);
  }

  /** The bits of ibv_access_flags. */
  static int bits(final Set<Access> access) {
    int bits = 0;
    for (final Access right : access) {
      bits |=
          switch (right) {
            case LOCAL_WRITE -> 1;
            case REMOTE_WRITE -> 2;
            case REMOTE_READ -> 4;
            case REMOTE_ATOMIC -> 8;
            case MW_BIND -> 16;
          };
    }
    return bits;
  }

  /** Whether a range lies in it. */
  boolean holds(final long from, final long length) {
    final long offset = from - address;
    return offset >= 0 && length >= 0 && offset <= buffer.capacity() - length;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long length() {
    return buffer.capacity();
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  int destroy(final long alive) {
    device.regions.remove(this); // before another thread's region can get the key
    final int result = Verbs.deregMr(alive);
    if (Results.isGone(result)) {
      STILL_PINNED.add(buffer);
    } else if (result < 0) {
      device.regions.add(this);
    }
    return result;
  }
}
