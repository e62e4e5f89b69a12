package org.jdapl.verbs.tck;

import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;

class SimOnVirtualTimeTest extends ProviderTck {

  @Override
  protected TckBed bed() {
    final SimFabric fabric = SimFabric.virtual(42).keepTrace();
    return TckBed.of(fabric.provider(SimModel.DEFAULT)).withReplay(fabric::toString);
  }
}
