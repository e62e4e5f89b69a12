package org.jdapl.rdmacore;

import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;

/** A memory window. */
final class RdmaMw extends RdmaObject implements MemoryWindow {

  /** Its type, which says how it is bound. */
  final MwType type;

  private volatile int rkey;
  private volatile RdmaMr region;

  RdmaMw(final RdmaPd pd, final MwType type) {
    super(pd.device, Kind.MW, pd);
    this.type = type;
    final long result = Verbs.allocMw(pd.pointer("alloc_mw"), type == MwType.TYPE_1 ? 1 : 2);
    if (!opened(result)) {
      throw notCreated(result, "a memory window");
    }
    rkey = Verbs.mwRkey(result);
  }

  /** A bind was posted. Called holding its monitor. */
  void bound(final long alive, final RdmaMr to) {
    rkey = Verbs.mwRkey(alive);
    region = to;
  }

  /** The region of the last bind; null before the first. */
  RdmaMr region() {
    return region;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  @Override
  int destroy(final long alive) {
    return Verbs.deallocMw(alive);
  }
}
