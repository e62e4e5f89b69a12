package org.jdapl.sim;

import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.ScatterGather;
import org.jdapl.verbs.WcStatus;

/**
 * A memory window. A key is made when a bind is posted, and is the window's when the bind is
 * carried out.
 */
final class SimMw extends SimObject implements MemoryWindow {

  final SimPd pd;
  final int slot;
  private final MwType type;
  private final AtomicInteger lastKey; // as Memory makes keys, before it scrambles them

  // What it is bound to, guarded by the wire.
  private int key;
  private SimMr region;
  private long address;
  private long length;
  private boolean reads;
  private boolean writes;
  private boolean atomics;
  private SimQp qp; // of type 2

  SimMw(final SimPd pd, final MwType type, final int slot, final int firstKey) {
    super(pd.device, "mw" + slot, pd);
    this.pd = pd;
    this.type = type;
    this.slot = slot;
    lastKey = new AtomicInteger(firstKey);
  }

  @Override
  public int rkey() {
    return Memory.scramble(lastKey.get());
  }

  /** The key of a bind that is posted now. */
  int nextKey() {
    return Memory.scramble(lastKey.updateAndGet(Memory::nextGeneration));
  }

  /** Whether it is bound, with that key. Called holding the wire, as are the next. */
  boolean isBound(final int by) {
    return region != null && key == by;
  }

  /** Carries a bind out, for a queue pair. */
  WcStatus bind(
      final SimQp by,
      final SimMr to,
      final long from,
      final long bytes,
      final Set<Access> access,
      final int newKey) {
    final boolean own = by.domain() == pd && (type == MwType.TYPE_1 || qp == null || qp == by);
    if (isClosed() || !own) {
      return WcStatus.MW_BIND_ERR;
    }
    if (bytes == 0) {
      final boolean may = type == MwType.TYPE_1 || region != null;
      unbind();
      return may ? WcStatus.SUCCESS : WcStatus.MW_BIND_ERR;
    }
    final boolean willWrite = access.contains(Access.REMOTE_WRITE);
    final boolean willChange = access.contains(Access.REMOTE_ATOMIC);
    if (to.isClosed()
        || to.pd() != pd
        || (type == MwType.TYPE_2 && region != null)
        || !to.access().contains(Access.MW_BIND)
        || ((willWrite || willChange) && !to.access().contains(Access.LOCAL_WRITE))
        || !to.holds(from, bytes)) {
      return WcStatus.MW_BIND_ERR;
    }
    unbind();
    key = newKey;
    region = to;
    region.windows++;
    address = from;
    length = bytes;
    reads = access.contains(Access.REMOTE_READ);
    writes = willWrite;
    atomics = willChange;
    qp = type == MwType.TYPE_2 ? by : null;
    return WcStatus.SUCCESS;
  }

  /** A message of the peer ends it; false if it may not. */
  boolean invalidate(final SimQp by) {
    if (type != MwType.TYPE_2 || qp != by) {
      return false;
    }
    unbind();
    return true;
  }

  private void unbind() {
    if (region != null) {
      region.windows--;
      region = null;
      qp = null;
    }
  }

  /** Has a range of it, for a request that came to a queue pair; false if it may not. */
  boolean setRemote(
      final ScatterGather to,
      final SimQp by,
      final long from,
      final long bytes,
      final Access right) {
    final boolean mine = type == MwType.TYPE_1 ? by.domain() == pd : qp == by;
    final long offset = from - address;
    final boolean lies = offset >= 0 && offset <= length - bytes;
    final boolean may = mine && allows(right) && lies && region.holds(from, bytes);
    if (may || bytes == 0) { // without bytes the key does not count
      to.set(region.buffer(), (int) (from - region.address()), (int) bytes);
    }
    return may || bytes == 0;
  }

  private boolean allows(final Access right) {
    return switch (right) {
      case REMOTE_READ -> reads;
      case REMOTE_WRITE -> writes;
      case REMOTE_ATOMIC -> atomics;
      case LOCAL_WRITE, MW_BIND -> false;
    };
  }

  @Override
  void release() {
    unbind();
    fabric.memory.remove(slot);
  }
}
