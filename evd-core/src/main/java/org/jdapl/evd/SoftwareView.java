package org.jdapl.evd;

import org.jdapl.dat.EventStream;
import org.jdapl.dat.SoftwareEvent;

/** A software event: the flyweight, and its copies. */
final class SoftwareView extends EventBase implements SoftwareEvent {

  private Object payload;

  SoftwareView(final EvdImpl evd) {
    super(EventStream.SOFTWARE, evd);
  }

  void set(final Object posted) {
    payload = posted;
  }

  @Override
  public Object payload() {
    assert isLive();
    return payload;
  }

  @Override
  public SoftwareEvent copy() {
    final SoftwareView copy = new SoftwareView(null);
    copy.set(payload);
    return copied(copy);
  }

  @Override
  String detail() {
    return "payload=" + payload;
  }
}
