package org.jdapl.evd;

import org.jdapl.dat.Endpoint;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.ReservedServicePoint;

/** A reserved service point: it listens for one request, for one endpoint. */
final class RspImpl extends SpImpl implements ReservedServicePoint {

  private final EndpointImpl endpoint;
  private final Connection connection;

  RspImpl(
      final String name,
      final IaImpl ia,
      final EvdImpl evd,
      final long connQual,
      final EndpointImpl endpoint) {
    super(HandleType.RSP, name, ia, evd, connQual);
    this.endpoint = endpoint;
    connection = endpoint.now().connection();
  }

  @Override
  void open() {
    connection.reserve(this);
    try {
      super.open();
    } catch (final Throwable e) {
      connection.unreserve(this);
      throw e;
    }
  }

  @Override
  void take(final CrImpl request) {
    if (!move(Trigger.TAKE) || !connection.request(this, request)) {
      ia().reaper().execute(() -> refuse(request)); // it was for another one, or is being closed
      return;
    }
    request.isFor(endpoint);
    if (offer(request)) {
      ia().reaper().execute(this::withdraw);
    }
  }

  @Override
  void lose(final CrImpl request) {
    waitForAnother();
    super.lose(request); // the endpoint waits for another one before this one is refused
  }

  /** Its request found the EVD full, or no memory. */
  void waitForAnother() {
    if (!connection.requestLost()) { // its endpoint was closed meanwhile
      ia().reaper().execute(this::withdraw);
    } else if (!move(Trigger.UNTAKE)) { // it was closed, and found the endpoint not reserved
      connection.unreserve(this);
    }
  }

  @Override
  public void close() {
    try {
      super.close();
    } finally {
      connection.unreserve(this);
    }
  }

  /** It got its request, or its endpoint is being closed. By the reaper. */
  void withdraw() {
    if (move(Trigger.CLOSE)) {
      destroy();
    }
  }

  @Override
  public Endpoint endpoint() {
    return endpoint;
  }
}
