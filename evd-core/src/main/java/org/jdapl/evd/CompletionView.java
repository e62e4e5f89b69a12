package org.jdapl.evd;

import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EventStream;

/** A DTO completion: the flyweight, and its copies. */
final class CompletionView extends EventBase implements DtoCompletion {

  private Incarnation incarnation;
  private DtoOperation operation;
  private long cookie;
  private Object context;
  private DtoStatus status;
  private long length;
  private int vendorError;

  CompletionView() {
    super(EventStream.DTO, null);
  }

  void set(
      final Incarnation from,
      final DtoOperation what,
      final long userCookie,
      final Object userContext,
      final DtoStatus how,
      final long transferred,
      final int vendor) {
    incarnation = from;
    operation = what;
    cookie = userCookie;
    context = userContext;
    status = how;
    length = transferred;
    vendorError = vendor;
  }

  @Override
  public Endpoint endpoint() {
    assert isLive();
    return incarnation.endpoint();
  }

  @Override
  EndpointDrain drain() {
    return incarnation.drain();
  }

  @Override
  public DtoOperation operation() {
    assert isLive();
    return operation;
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
  public long transferredLength() {
    assert isLive();
    return length;
  }

  @Override
  public int vendorError() {
    assert isLive();
    return vendorError;
  }

  @Override
  public DtoCompletion copy() {
    final CompletionView copy = new CompletionView();
    copy.set(incarnation, operation, cookie, context, status, length, vendorError);
    return copied(copy);
  }

  @Override
  String detail() {
    return operation + " cookie=" + cookie + " " + status + " " + length + " bytes";
  }
}
