package org.jdapl.sim;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.HostRegion;
import org.jdapl.verbs.VerbsException;

/** A registered region. */
final class SimMr extends SimObject implements HostRegion {

  private final SimPd pd;
  private final ByteBuffer buffer;
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
    super(pd.device, "mr@" + Long.toHexString(address), pd);
    this.pd = pd;
    this.buffer = buffer;
    this.access = access.isEmpty() ? EnumSet.noneOf(Access.class) : EnumSet.copyOf(access);
    this.address = address;
    this.lkey = lkey;
    this.rkey = rkey;
  }

  @Override
  public SimPd pd() {
    return pd;
  }

  @Override
  public ByteBuffer buffer() {
    return buffer;
  }

  @Override
  public Set<Access> access() {
    return access;
  }

  @Override
  public long address() {
    return address;
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
  public void close() {
    synchronized (fabric.wire) {
      if (windows > 0) {
        throw new VerbsException(
            "dereg_mr",
            toString(),
            VerbsException.EBUSY,
            windows + " memory windows are bound to it; close those first");
      }
      super.close();
    }
  }

  @Override
  void release() {
    fabric.memory.remove(Memory.slot(lkey));
  }
}
