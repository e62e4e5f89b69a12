package org.jdapl.verbs.tck;

import java.util.stream.Stream;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The simulated provider on virtual time, in the ways a device may behave. */
@ParameterizedClass(name = "{0}")
@MethodSource("models")
class SimContractTest extends ProviderTck {

  private static final long SEED = Long.getLong("jdapl.seed", 42);

  @Parameter SimModel model;

  static Stream<SimModel> models() {
    return Models.wanted();
  }

  @Override
  protected TckBed bed() {
    final SimFabric fabric = SimFabric.virtual(SEED);
    return TckBed.of(fabric.provider(model))
        .withReplay(() -> "-Djdapl.seed=" + SEED + " -Djdapl.case='" + model + "'");
  }
}
