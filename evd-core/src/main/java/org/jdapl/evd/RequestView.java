package org.jdapl.evd;

import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EventStream;

/** The completion of a request that was posted on an endpoint. */
abstract class RequestView extends EventBase {

  private Incarnation incarnation;
  private long cookie;
  private Object context;
  private DtoStatus status;
  private int vendorError;

  RequestView(final EventStream stream) {
    super(stream, null);
  }

  final void setRequest(
      final Incarnation from,
      final long userCookie,
      final Object userContext,
      final DtoStatus how,
      final int vendor) {
    incarnation = from;
    cookie = userCookie;
    context = userContext;
    status = how;
    vendorError = vendor;
  }

  /** It becomes a copy of another. */
  final void setRequest(final RequestView other) {
    setRequest(other.incarnation, other.cookie, other.context, other.status, other.vendorError);
  }

  @Override
  final EndpointDrain drain() {
    return incarnation.drain();
  }

  public final Endpoint endpoint() {
    assert isLive();
    return incarnation.endpoint();
  }

  public final long cookie() {
    assert isLive();
    return cookie;
  }

  public final Object context() {
    assert isLive();
    return context;
  }

  public final DtoStatus status() {
    assert isLive();
    return status;
  }

  public final int vendorError() {
    assert isLive();
    return vendorError;
  }

  @Override
  String detail() {
    return "cookie=" + cookie + " " + status;
  }
}
