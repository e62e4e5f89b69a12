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
  private int immediateData;
  private long cookie;
  private Object context;
  private DtoStatus status;
  private long length;
  private int vendorError;
  private int rmrContext;

  CompletionView() {
    super(EventStream.DTO, null);
  }

  void set(
      final Incarnation from,
      final DtoOperation what,
      final int immediate,
      final long userCookie,
      final Object userContext,
      final DtoStatus how,
      final long transferred,
      final int vendor) {
    incarnation = from;
    operation = what;
    immediateData = immediate;
    cookie = userCookie;
    context = userContext;
    status = how;
    length = transferred;
    vendorError = vendor;
    rmrContext = 0;
  }

  /** It is of a receive whose message ended a window. */
  void setInvalidated(final int ended) {
    operation = DtoOperation.RECEIVE_WITH_INVALIDATE;
    rmrContext = ended;
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
  public int immediateData() {
    assert isLive();
    return immediateData;
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
  public int rmrContext() {
    assert isLive();
    return rmrContext;
  }

  @Override
  public int vendorError() {
    assert isLive();
    return vendorError;
  }

  @Override
  public DtoCompletion copy() {
    final CompletionView copy = new CompletionView();
    copy.set(incarnation, operation, immediateData, cookie, context, status, length, vendorError);
    copy.rmrContext = rmrContext;
    return copied(copy);
  }

  @Override
  String detail() {
    return operation + " cookie=" + cookie + " " + status + " " + length + " bytes";
  }
}
