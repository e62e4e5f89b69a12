package org.jdapl.evd;

import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.ServicePoint;

/** A connection request that arrived. */
final class ConnectionRequestEventImpl extends LaneEvent implements ConnectionRequestEvent {

  private final SpImpl servicePoint;
  private final CrImpl request;

  ConnectionRequestEventImpl(final SpImpl servicePoint, final CrImpl request) {
    super(EventStream.CONNECTION_REQUEST, servicePoint);
    this.servicePoint = servicePoint;
    this.request = request;
  }

  @Override
  public ServicePoint servicePoint() {
    assert isLive();
    return servicePoint;
  }

  @Override
  public ConnectionRequest request() {
    assert isLive();
    return request;
  }

  /** The request, whether the event is live or not. */
  CrImpl impl() {
    return request;
  }

  @Override
  public ConnectionRequestEvent copy() {
    return copied(new ConnectionRequestEventImpl(servicePoint, request));
  }

  @Override
  boolean isGone() {
    return false;
  }

  @Override
  EventBase drop() {
    return this;
  }

  @Override
  void deliver(final EventHandler handler) {
    handler.onRequest(this);
  }

  @Override
  String detail() {
    return request.toString();
  }
}
