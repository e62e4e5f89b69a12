package org.jdapl.evd;

import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.EventStream;

/** A DTO completion: the flyweight, and its copies. */
final class CompletionView extends RequestView implements DtoCompletion {

  private DtoOperation operation;
  private int immediateData;
  private long length;
  private int rmrContext;

  CompletionView() {
    super(EventStream.DTO);
  }

  void set(final DtoOperation what, final int immediate, final long transferred) {
    operation = what;
    immediateData = immediate;
    length = transferred;
    rmrContext = 0;
  }

  /** It is of a receive whose message ended a window. */
  void setInvalidated(final int ended) {
    operation = DtoOperation.RECEIVE_WITH_INVALIDATE;
    rmrContext = ended;
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
  public DtoCompletion copy() {
    final CompletionView copy = new CompletionView();
    copy.setRequest(this);
    copy.set(operation, immediateData, length);
    copy.rmrContext = rmrContext;
    return copied(copy);
  }

  @Override
  String detail() {
    return operation + " " + super.detail() + " " + length + " bytes";
  }
}
