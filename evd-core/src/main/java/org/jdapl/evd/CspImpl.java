package org.jdapl.evd;

import java.net.InetSocketAddress;
import org.jdapl.dat.CommonServicePoint;
import org.jdapl.dat.HandleType;

/** A common service point. */
final class CspImpl extends SpImpl implements CommonServicePoint {

  CspImpl(final String name, final IaImpl ia, final EvdImpl evd, final int port) {
    super(HandleType.CSP, name, ia, evd, port);
  }

  @Override
  public InetSocketAddress address() {
    return new InetSocketAddress(ia().address(), (int) connQual());
  }
}
