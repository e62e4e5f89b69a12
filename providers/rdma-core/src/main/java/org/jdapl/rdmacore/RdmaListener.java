package org.jdapl.rdmacore;

import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;

/** A listening id, and how many of its requests wait for an answer. */
final class RdmaListener extends CmObject implements CmListener {

  private final int backlog;
  private final CmListenHandler handler;
  private long service;
  private int waiting; // under its own monitor

  RdmaListener(
      final RdmaDevice device,
      final long service,
      final int backlog,
      final CmListenHandler handler) {
    super(device, "listener " + service);
    this.service = service;
    this.backlog = backlog;
    this.handler = handler;
  }

  /** Listens; on a failure the caller ends it. */
  synchronized void listen() {
    create();
    final int bound = device.bind(pointer(), (int) service);
    Results.check(bound, "bind_addr", this, "service " + service + " of " + device.address());
    // The kernel's own backlog cannot say to the peer that it was full; the one here can.
    Results.check(Cm.listen(pointer(), 0), "listen", this, "service " + service);
    if (service == 0) {
      service = Cm.sourcePort(pointer());
    }
  }

  /** Whether one more request may wait. */
  synchronized boolean admit() {
    if (isEnded() || waiting >= backlog) {
      return false;
    }
    waiting++;
    return true;
  }

  /** A request does not wait any more. */
  synchronized void left() {
    waiting--;
  }

  /** Hands a request to the handler, unless it is closed. */
  boolean deliver(final RdmaRequest request) {
    if (!upcalls.enter()) {
      return false;
    }
    try {
      handler.onRequest(request);
    } finally {
      upcalls.exit();
    }
    return true;
  }

  @Override
  int onEvent(final CmEvents event) {
    if (event.type() == CmEvents.DEVICE_REMOVAL) {
      device.onDeviceEvent(AsyncType.DEVICE_FATAL, 0);
    }
    return 0;
  }

  @Override
  public synchronized long service() {
    return service;
  }

  @Override
  public void close() {
    end();
  }
}
