package org.jdapl.dat;

import java.net.InetSocketAddress;

/** A common service point: a public one that is known by an address and a port. */
public interface CommonServicePoint extends ServicePoint {

  /**
   * Where it listens (dat_csp_query). Legal in every state.
   *
   * @return the address of the adapter, and the port.
   */
  InetSocketAddress address();
}
