package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;

/** A registered region. It keeps its buffer from being collected. */
final class RdmaMr extends RdmaObject implements MemoryRegion {

  /**
   * Regions that a device may write to, with their buffers. When a device is said to be gone nobody
   * knows that it does not write any more: its regions stay here, and are never collected.
   */
  private static final Set<RdmaMr> PINNED = ConcurrentHashMap.newKeySet();

  private final ByteBuffer buffer;
  private final long address;
  private final int lkey;
  private final int rkey;

  RdmaMr(final RdmaPd pd, final ByteBuffer buffer, final Set<Access> access) {
    this(pd, buffer.duplicate().clear(), bits(withReads(access, pd.device.isIwarp())));
  }

  /** All memory is there before the device counts it. */
  private RdmaMr(final RdmaPd pd, final ByteBuffer buffer, final int access) {
    super(pd.device, Kind.MR, pd);
    this.buffer = buffer;
    address = Verbs.address(buffer);
    final int length = buffer.capacity();
    final long result = Verbs.regMr(pd.pointer("reg_mr"), address, length, access);
    if (!opened(result)) {
      throw notCreated(result, length + " bytes" + Memlock.hint(result, length));
    }
    lkey = Verbs.mrLkey(result);
    rkey = Verbs.mrRkey(result);
    try {
      PINNED.add(this);
      device.regions.add(this);
    } catch (final Throwable e) {
      close();
      throw e;
    }
  }

  /**
   * Over iWARP a region that a read is to fill must be one that the peer may write to. One that
   * peers are told of gets no more rights than its owner asked for.
   */
  private static Set<Access> withReads(final Set<Access> access, final boolean isIwarp) {
    if (!isIwarp
        || !access.contains(Access.LOCAL_WRITE)
        || access.contains(Access.REMOTE_READ)
        || access.contains(Access.REMOTE_ATOMIC)) {
      return access;
    }
    final Set<Access> more = EnumSet.copyOf(access);
    more.add(Access.REMOTE_WRITE);
    return more;
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

  /** Copies a range; false if it does not lie in it, or if its memory may not be read any more. */
  boolean copy(final long from, final int length, final ByteBuffer to, final int at) {
    if (!holds(from, length)) {
      return false;
    }
    try {
      to.put(at, buffer, (int) (from - address), length);
      return true;
    } catch (final RuntimeException e) { // its arena is closed, or another thread's
      return false;
    }
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
    if (result == 0) {
      PINNED.remove(this);
    } else if (!Results.isGone(result)) {
      device.regions.add(this);
    }
    return result;
  }
}
