package org.jdapl.examples.socket;

import java.nio.ByteBuffer;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;

/** A memory region; its address is made up. The local key is even, the remote one follows. */
final class SocketMr extends SocketObject implements MemoryRegion {

  private final SocketPd pd;
  private final ByteBuffer buffer;
  private final Set<Access> access;
  private final long address;
  private final int lkey;

  SocketMr(
      final SocketPd pd,
      final ByteBuffer buffer,
      final Set<Access> access,
      final long address,
      final int lkey) {
    super(pd.device, "mr" + lkey);
    this.pd = pd;
    this.buffer = buffer.duplicate().clear();
    this.access = Set.copyOf(access);
    this.address = address;
    this.lkey = lkey;
    pd.use(1);
  }

  // tag::protection[]
  /** A part of it, or null if it is not to be used so; local reads need no right. */
  ByteBuffer part(
      final SocketPd user, final int key, final long from, final int length, final Access right) {
    final boolean isRemote = right != null && right != Access.LOCAL_WRITE;
    final long offset = from - address;
    if (user != pd
        || key != (isRemote ? rkey() : lkey)
        || (right != null && !access.contains(right))
        || offset < 0
        || offset > buffer.capacity() - length) {
      return null;
    }
    return buffer.slice((int) offset, length);
  }

  // end::protection[]

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
    return lkey + 1;
  }

  @Override
  void release() {
    pd.use(-1);
    device.forget(this);
  }
}
