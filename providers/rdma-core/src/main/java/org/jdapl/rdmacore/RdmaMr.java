package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;

/** A registered region. It keeps its buffer from being collected. */
final class RdmaMr extends RdmaObject implements MemoryRegion {

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
    final int result = Verbs.deregMr(alive);
    if (result >= 0 || Results.isGone(result)) {
      device.regions.remove(this);
    }
    return result;
  }
}
