package org.jdapl.evd;

import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.verbs.AsyncType;

/** The async errors of an adapter: whose they are, and the async EVD that gets them. */
final class AsyncErrors {

  private final IaImpl ia;
  private final EvdImpl own;
  private final AsyncSlot slot;
  private final Object lock = new Object();

  /** Where they go. Under the lock. */
  private EvdImpl target;

  private volatile boolean reportsLastWqe;

  /**
   * Those of an adapter.
   *
   * @param own the async EVD that the adapter has by itself.
   */
  AsyncErrors(final IaImpl ia, final EvdImpl own) {
    this.ia = ia;
    this.own = own;
    slot = new AsyncSlot(ia);
    target = own;
  }

  /** The async EVD that the adapter has by itself. */
  EvdImpl own() {
    return own;
  }

  /** Where they go. */
  EvdImpl target() {
    synchronized (lock) {
      return target;
    }
  }

  /** Sends them to another EVD. */
  void target(final EvdImpl to) {
    synchronized (lock) {
      to.checkOpen(ReturnSubtype.INVALID_HANDLE_EVD_ASYNC, "use by " + ia.name());
      target = to; // whoever closes it comes to leave after this
    }
  }

  /** Puts an async error into the async EVD; from any thread. */
  void report(final AsyncSlot slot, final AsyncEvent.Kind kind, final String reason) {
    final EvdImpl to;
    final AsyncEventImpl event;
    synchronized (lock) {
      to = target;
      event = slot.add(kind, reason, to);
      if (event != null) {
        to.enqueue(event);
      }
    }
    if (event != null) {
      to.signalLane();
    }
  }

  /** An error of the adapter itself. */
  void report(final AsyncEvent.Kind kind, final String reason) {
    report(slot, kind, reason);
  }

  /** An EVD is being closed: what it has of async errors is in its lane when this returned. */
  void leave(final EvdImpl evd) {
    synchronized (lock) {
      if (target == evd) {
        target = own;
      }
    }
  }

  /** Called by the provider. */
  void on(final AsyncType type, final Object element) {
    switch (type) {
      case COMM_EST -> {
        final Incarnation endpoint = endpointOf(element);
        if (endpoint != null) {
          endpoint.connection().onMessage();
        }
      }
      case QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR -> {
        final Incarnation endpoint = endpointOf(element);
        if (endpoint != null) {
          report(endpoint.asyncSlot(), AsyncEvent.Kind.EP_BROKEN, endpoint.name() + ": " + type);
          endpoint.connection().onBroken();
        }
      }
      case CQ_ERR -> {
        final EvdImpl evd = evdOf(element);
        if (evd != null) {
          report(evd.asyncSlot(), AsyncEvent.Kind.EVD_OVERFLOW, evd.name() + ": " + type);
        }
      }
      case DEVICE_FATAL -> ia.onDeviceLost(type);
      case PORT_ERR -> report(AsyncEvent.Kind.PROVIDER_INTERNAL_ERROR, ia.name() + ": " + type);
      case QP_LAST_WQE_REACHED -> {
        reportsLastWqe = true;
        final Incarnation endpoint = endpointOf(element);
        if (endpoint != null) {
          endpoint.onLastReceiveTaken();
        }
      }
      case SRQ_LIMIT_REACHED -> {
        final SrqImpl srq = srqOf(element);
        if (srq != null) {
          srq.onLowWatermark();
        }
      }
      case SRQ_ERR -> {
        final SrqImpl srq = srqOf(element);
        if (srq != null) {
          report(srq.asyncSlot(), AsyncEvent.Kind.SRQ_BROKEN, srq.name() + ": " + type);
        }
      }
      case PORT_ACTIVE -> {}
    }
  }

  private Incarnation endpointOf(final Object qp) {
    return ia.first(
        EndpointImpl.class,
        endpoint -> {
          final Incarnation now = endpoint.now(); // once: a reset may end it meanwhile
          return now.qp() == qp ? now : null;
        });
  }

  private SrqImpl srqOf(final Object queue) {
    return ia.first(SrqImpl.class, srq -> srq.queue() == queue ? srq : null);
  }

  private EvdImpl evdOf(final Object cq) {
    return ia.first(EvdImpl.class, evd -> evd.room().has(cq) ? evd : null);
  }

  /** Whether the device ever said that a queue pair took its last receive of a shared queue. */
  boolean reportsLastWqe() {
    return reportsLastWqe;
  }
}
