package org.jdapl.sim;

import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;

/** A listener. Its state is guarded by the wire. */
final class SimListener implements CmListener {

  /** The status of a REJECTED where the backlog is full (IB_CM_REJ_NO_RESOURCES). */
  static final int NO_ROOM = 3;

  /** The status of a REJECTED where nobody listens (IB_CM_REJ_INVALID_SERVICE_ID). */
  static final int NOBODY_LISTENS = 8;

  private final SimDevice device;
  private final long service;
  private final int backlog;
  private final CmListenHandler handler;
  private final Upcalls upcalls;
  private int waiting;
  private boolean closed;

  SimListener(
      final SimDevice device,
      final long service,
      final int backlog,
      final CmListenHandler handler) {
    this.device = device;
    this.service = service;
    this.backlog = backlog;
    this.handler = handler;
    upcalls = device.upcalls("listener " + service);
  }

  SimDevice device() {
    return device;
  }

  /** A request arrives. Called holding the wire. */
  void arrive(final SimCmId from, final byte[] data) {
    if (from.isClosed()) {
      return;
    }
    if (waiting >= backlog) {
      from.reject(device, NO_ROOM, new byte[0]);
      return;
    }
    waiting++;
    final SimRequest request = new SimRequest(this, from, data);
    from.waitsIn(request);
    upcalls.post(() -> deliver(request));
  }

  private void deliver(final SimRequest request) {
    synchronized (device.fabric().wire) {
      if (!request.deliver()) {
        return;
      }
    }
    if (device.fabric().isTracing()) {
      device.fabric().note(this + " request");
    }
    handler.onRequest(request);
  }

  /** A request does not wait any more. */
  void left() {
    waiting--;
  }

  @Override
  public long service() {
    return service;
  }

  void refuseInside() {
    upcalls.refuseInside("destroy_id");
  }

  @Override
  public void close() {
    refuseInside();
    synchronized (device.fabric().wire) {
      if (!closed) {
        closed = true;
        device.remove(this);
        device.dropUndelivered(this);
      }
    }
    upcalls.close();
  }

  @Override
  public String toString() {
    return device.name() + "/listener " + service;
  }
}
