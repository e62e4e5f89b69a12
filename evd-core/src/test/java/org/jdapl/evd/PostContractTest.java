package org.jdapl.evd;

import org.jdapl.tck.Bench;
import org.jdapl.tck.PostContract;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

@ParameterizedClass
@MethodSource("org.jdapl.evd.SimCase#all")
class PostContractTest extends PostContract {

  @Parameter SimCase origin;

  @Override
  protected Bench bench() {
    return origin.open();
  }
}
