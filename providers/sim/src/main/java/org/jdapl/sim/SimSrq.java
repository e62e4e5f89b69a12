package org.jdapl.sim;

import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;

/** A shared receive queue. */
final class SimSrq extends SimObject implements SharedReceiveQueue {

  final SimPd pd;
  final RecvQueue queue;
  private int watermark; // guarded by the wire

  SimSrq(final SimPd pd, final long number, final int maxWr, final int maxSge) {
    super(pd.device, "srq" + number, pd);
    this.pd = pd;
    queue = new RecvQueue(maxWr, maxSge);
  }

  @Override
  public synchronized int postRecv(final RecvRequest request) {
    if (device.isRemoved()) {
      return VerbsException.EIO;
    }
    return isClosed() ? VerbsException.EINVAL : queue.post(request);
  }

  @Override
  public synchronized void resize(final int maxWr) {
    if (maxWr < 1 || maxWr > SimDevice.LIMITS.maxSrqWr()) {
      throw invalid("modify_srq", maxWr + " receives of at most " + SimDevice.LIMITS.maxSrqWr());
    }
    synchronized (fabric.wire) {
      checkOpen();
      if (!queue.resize(maxWr)) {
        throw invalid("modify_srq", "more than " + maxWr + " receives are in it");
      }
    }
  }

  @Override
  public void armLimit(final int limit) {
    synchronized (fabric.wire) {
      checkOpen();
      watermark = limit;
      checkWatermark();
    }
  }

  private void checkOpen() {
    if (isClosed()) {
      throw invalid("modify_srq", "it is closed");
    }
  }

  /** Called holding the wire after a receive was taken. */
  void checkWatermark() {
    if (queue.left() < watermark) {
      watermark = 0;
      device.async(AsyncType.SRQ_LIMIT_REACHED, this);
    }
  }
}
