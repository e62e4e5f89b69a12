package org.jdapl.examples.socket;

import org.jdapl.verbs.tck.ProviderTck;
import org.jdapl.verbs.tck.TckBed;

/** The contract of providers over this one. */
class SocketTckTest extends ProviderTck {

  @Override
  protected TckBed bed() {
    return TckBed.of(new SocketProvider());
  }
}
