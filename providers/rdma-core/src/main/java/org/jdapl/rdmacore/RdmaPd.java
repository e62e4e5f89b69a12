package org.jdapl.rdmacore;

import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.ProtectionDomain;

/** A protection domain. */
final class RdmaPd extends RdmaObject implements ProtectionDomain {

  RdmaPd(final RdmaDevice device) {
    super(device, Kind.PD);
    final long result = Verbs.allocPd(device.context());
    if (!opened(result)) {
      throw notCreated(result, "a protection domain");
    }
  }

  @Override
  int destroy(final long alive) {
    return Verbs.deallocPd(alive);
  }
}
