package org.jdapl.sim;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;

/** A registered region. */
final class SimMr extends SimObject implements MemoryRegion {

  final SimPd pd;
  final ByteBuffer buffer;
  private final Set<Access> access;
  private final long address;
  private final int lkey;
  private final int rkey;

  /** How many windows are bound to it. Guarded by the wire. */
  int windows;

  SimMr(
      final SimPd pd,
      final ByteBuffer buffer,
      final Set<Access> access,
      final long address,
      final int lkey,
      final int rkey) {
    super(pd.device, Kind.MR, "mr@" + Long.toHexString(address));
    this.pd = pd;
    this.buffer = buffer;
    this.access = access.isEmpty() ? EnumSet.noneOf(Access.class) : EnumSet.copyOf(access);
    this.address = address;
    this.lkey = lkey;
    this.rkey = rkey;
    pd.attach();
  }

  boolean allows(final Access right) {
    return access.contains(right);
  }

  /** Whether a range lies in it. */
  boolean holds(final long from, final long length) {
    final long offset = from - address;
    return offset >= 0 && offset <= buffer.capacity() - length;
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
  String user() {
    return windows == 0 ? null : "one of " + windows + " memory windows that are bound to it";
  }

  @Override
  void release() {
    fabric.memory.remove(Memory.slot(lkey));
    pd.detach();
  }
}
