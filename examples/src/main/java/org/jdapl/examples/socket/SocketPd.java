package org.jdapl.examples.socket;

import org.jdapl.verbs.ProtectionDomain;

/** A protection domain. */
final class SocketPd extends SocketObject implements ProtectionDomain {

  SocketPd(final SocketDevice device) {
    super(device, "pd");
  }

  @Override
  void release() {}
}
