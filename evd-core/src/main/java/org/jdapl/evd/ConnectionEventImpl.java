package org.jdapl.evd;

import java.nio.ByteBuffer;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;

/** What happened to a connection. */
final class ConnectionEventImpl extends LaneEvent implements ConnectionEvent {

  private final Incarnation incarnation;
  private final Kind kind;
  private final ByteBuffer privateData;

  ConnectionEventImpl(
      final Incarnation incarnation, final Kind kind, final ByteBuffer privateData) {
    super(EventStream.CONNECTION, incarnation.endpoint());
    this.incarnation = incarnation;
    this.kind = kind;
    this.privateData = privateData;
  }

  Incarnation incarnation() {
    return incarnation;
  }

  @Override
  EndpointDrain drain() {
    return incarnation.drain();
  }

  /** The kind, whether the event is live or not. */
  Kind what() {
    return kind;
  }

  @Override
  public Kind kind() {
    assert isLive();
    return kind;
  }

  @Override
  public Endpoint endpoint() {
    assert isLive();
    return incarnation.endpoint();
  }

  @Override
  public ByteBuffer privateData() {
    assert isLive();
    return privateData.duplicate();
  }

  @Override
  public boolean isPrivateDataExact() {
    assert isLive();
    return incarnation.ia().limits().isExact(privateData);
  }

  @Override
  public ConnectionEvent copy() {
    return copied(new ConnectionEventImpl(incarnation, kind, privateData));
  }

  @Override
  boolean isGone() {
    return incarnation.gate().isPast(this);
  }

  @Override
  EventBase drop() {
    return null; // the close of its endpoint reports it, or did
  }

  @Override
  void deliver(final EventHandler handler) {
    handler.onConnection(this);
  }

  @Override
  String detail() {
    return kind + ", private data " + privateData.remaining() + " bytes";
  }
}
