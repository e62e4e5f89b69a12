package org.jdapl.sim;

import org.jdapl.verbs.ProtectionDomain;

/** A protection domain: counts its users. */
final class SimPd extends SimObject implements ProtectionDomain {

  private int users; // guarded by the wire

  SimPd(final SimDevice device, final long number) {
    super(device, Kind.PD, "pd" + number);
  }

  void attach() {
    users++;
  }

  void detach() {
    users--;
  }

  @Override
  String user() {
    return users == 0 ? null : "one of " + users + " objects that belong to it";
  }
}
