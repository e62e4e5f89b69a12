package org.jdapl.sim;

import org.jdapl.verbs.ProtectionDomain;

/** A protection domain. */
final class SimPd extends SimObject implements ProtectionDomain {

  SimPd(final SimDevice device, final long number) {
    super(device, "pd" + number);
  }
}
