package org.jdapl.evd;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jdapl.sim.SimModel;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.NotificationConcurrency;

/** A model to run the contract tests over, and how. */
record SimCase(boolean virtual, SimModel model, int dispatchers, long seed) {

  private static final long LATENCY = 2_000;

  private enum Push {
    SERIAL,
    CONCURRENT,
    CHANNEL;

    SimModel of(final SimModel model) {
      return switch (this) {
        case SERIAL -> model;
        case CONCURRENT -> model.withConcurrency(NotificationConcurrency.CONCURRENT);
        case CHANNEL -> model.withDelivery(Delivery.CHANNEL);
      };
    }
  }

  /** Each arm model with each hint and each delivery, on virtual time. */
  static Stream<SimCase> virtualTime() {
    return models()
        .map(model -> model.withLatency(0, LATENCY).withCmLatency(0, 3 * LATENCY))
        .map(model -> new SimCase(true, model, 1, Long.getLong("jdapl.seed", 42)))
        .filter(SimCase::isWanted);
  }

  /** The same with threads. */
  static Stream<SimCase> realTime() {
    return models().map(model -> new SimCase(false, model, 2, 0)).filter(SimCase::isWanted);
  }

  /** All on virtual time, and with threads every fourth. */
  static Stream<SimCase> all() {
    final AtomicInteger index = new AtomicInteger();
    return Stream.concat(
        virtualTime(), realTime().filter(origin -> index.getAndIncrement() % 4 == 0));
  }

  /** -Djdapl.case=TEXT leaves those whose name has that text. */
  private boolean isWanted() {
    return toString().contains(System.getProperty("jdapl.case", ""));
  }

  private static Stream<SimModel> models() {
    return Arrays.stream(ArmModel.values())
        .flatMap(
            arm ->
                Arrays.stream(SimModel.Hint.values())
                    .flatMap(
                        hint ->
                            Arrays.stream(Push.values())
                                .map(
                                    push ->
                                        push.of(SimModel.DEFAULT.withArm(arm).withHint(hint)))));
  }

  Bench open() {
    return new SimBench(this);
  }

  @Override
  public String toString() {
    return (virtual ? "virtual time, seed " + seed : "threads") + ", " + model;
  }
}
