package org.jdapl.rdmacore;

import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.MemoryWindow;

/** A memory window. */
final class RdmaMw extends RdmaObject implements MemoryWindow {

  private volatile int rkey;

  RdmaMw(final RdmaPd pd) {
    super(pd.device, Kind.MW, pd);
    final long result = Verbs.allocMw(pd.pointer("alloc_mw"));
    if (!opened(result)) {
      throw notCreated(result, "a memory window");
    }
    rkey = Verbs.mwRkey(result);
  }

  /** A bind was posted. Called holding its monitor. */
  void bound(final long alive) {
    rkey = Verbs.mwRkey(alive);
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
