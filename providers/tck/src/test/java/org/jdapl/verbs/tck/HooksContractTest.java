package org.jdapl.verbs.tck;

import org.jdapl.hooks.FaultPlan;
import org.jdapl.hooks.Faults;
import org.jdapl.hooks.Trace;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The decorators over the simulated provider, without a fault: what is behind shows through. */
@ParameterizedClass(name = "{0}")
@ValueSource(strings = {"arm=weak", "delivery=channel", "arm=strong hint=none native-rearm=no"})
class HooksContractTest extends ProviderTck {

  @Parameter String model;

  @Override
  protected TckBed bed() {
    final SimFabric fabric = SimFabric.virtual(42);
    final VerbsProvider faults =
        Faults.over(fabric.provider(SimModel.parse(model)), FaultPlan.parse(""), fabric.clock());
    final Trace.Tail trace = new Trace.Tail(50);
    return TckBed.of(Trace.over(faults, trace)).withReplay(trace::toString);
  }
}
