package org.jdapl.evd;

import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.RmrBindCompletion;

/** The completion of a bind: the flyweight, and its copies. */
final class RmrBindView extends EventBase implements RmrBindCompletion {

  private Incarnation incarnation;
  private Rmr rmr;
  private long cookie;
  private Object context;
  private DtoStatus status;
  private int vendorError;

  RmrBindView() {
    super(EventStream.RMR_BIND, null);
  }

  void set(
      final Incarnation from,
      final Rmr bound,
      final long userCookie,
      final Object userContext,
      final DtoStatus how,
      final int vendor) {
    incarnation = from;
    rmr = bound;
    cookie = userCookie;
    context = userContext;
    status = how;
    vendorError = vendor;
  }

  @Override
  EndpointDrain drain() {
    return incarnation.drain();
  }

  @Override
  public Rmr rmr() {
    assert isLive();
    return rmr;
  }

  @Override
  public Endpoint endpoint() {
    assert isLive();
    return incarnation.endpoint();
  }

  @Override
  public long cookie() {
    assert isLive();
    return cookie;
  }

  @Override
  public Object context() {
    assert isLive();
    return context;
  }

  @Override
  public DtoStatus status() {
    assert isLive();
    return status;
  }

  @Override
  public int vendorError() {
    assert isLive();
    return vendorError;
  }

  @Override
  public RmrBindCompletion copy() {
    final RmrBindView copy = new RmrBindView();
    copy.set(incarnation, rmr, cookie, context, status, vendorError);
    return copied(copy);
  }

  @Override
  String detail() {
    return "bind of " + rmr.name() + " cookie=" + cookie + " " + status;
  }
}
