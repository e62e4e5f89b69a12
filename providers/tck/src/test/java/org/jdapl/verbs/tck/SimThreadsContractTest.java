package org.jdapl.verbs.tck;

import java.time.Duration;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The simulated provider on threads. */
@ParameterizedClass(name = "{0}")
@ValueSource(
    strings = {
      "arm=weak",
      "delivery=channel",
      "arm=strong hint=none concurrency=concurrent second-arm=counted native-rearm=no",
      "inside-verbs=yes hint=without-arm latency=0..20000 cm-latency=0..20000"
    })
class SimThreadsContractTest extends ProviderTck {

  @Parameter String model;

  @Override
  protected TckBed bed() {
    final SimFabric fabric = SimFabric.realTime();
    return TckBed.of(fabric.provider(SimModel.parse(model)))
        .withTimes(Duration.ofSeconds(20), Duration.ofMillis(10), Duration.ofSeconds(60))
        .withReplay(fabric::toString)
        .withEnd(fabric::close);
  }
}
