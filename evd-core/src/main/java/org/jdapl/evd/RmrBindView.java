package org.jdapl.evd;

import org.jdapl.dat.EventStream;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.RmrBindCompletion;

/** The completion of a bind: the flyweight, and its copies. */
final class RmrBindView extends RequestView implements RmrBindCompletion {

  private Rmr rmr;

  RmrBindView() {
    super(EventStream.RMR_BIND);
  }

  void set(final Rmr bound) {
    rmr = bound;
  }

  @Override
  public Rmr rmr() {
    assert isLive();
    return rmr;
  }

  @Override
  public RmrBindCompletion copy() {
    final RmrBindView copy = new RmrBindView();
    copy.setRequest(this);
    copy.set(rmr);
    return copied(copy);
  }

  @Override
  String detail() {
    return "bind of " + rmr.name() + " " + super.detail();
  }
}
