package org.jdapl.rdmacore;

import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;

/** A shared receive queue. */
final class RdmaSrq extends RdmaObject implements SharedReceiveQueue {

  private final RecvArea area;

  RdmaSrq(final RdmaPd pd, final int maxWr, final int maxSge) {
    this(pd, maxWr, maxSge, new RecvArea(maxSge));
  }

  /** All memory is there before the device counts it. */
  private RdmaSrq(final RdmaPd pd, final int maxWr, final int maxSge, final RecvArea area) {
    super(pd.device, Kind.SRQ, pd);
    this.area = area;
    final long result = Verbs.createSrq(pd.pointer("create_srq"), token, maxWr, maxSge);
    if (!opened(result)) {
      throw notCreated(result, maxWr + " receives of " + maxSge + " elements");
    }
  }

  @Override
  public synchronized int postRecv(final RecvRequest request) {
    final long alive = pointerOrNull();
    if (alive == 0 || !area.isValid(request)) {
      return VerbsException.EINVAL;
    }
    area.put(0, request);
    area.link(1);
    return (int) Verbs.postSrqRecv(alive, area.address());
  }

  @Override
  public synchronized void armLimit(final int limit) {
    final int result = Verbs.armSrqLimit(pointer("modify_srq"), limit);
    Results.check(result, "modify_srq", this, "limit " + limit);
  }

  @Override
  public synchronized void resize(final int maxWr) {
    final int result = Verbs.resizeSrq(pointer("modify_srq"), maxWr);
    Results.check(result, "modify_srq", this, maxWr + " receives");
  }

  @Override
  int destroy(final long alive) {
    return Verbs.destroySrq(alive);
  }
}
