package org.jdapl.evd;

import java.util.stream.Stream;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.tck.Bench;
import org.jdapl.tck.ConnectionContract;
import org.jdapl.tck.EventContract;
import org.jdapl.tck.MergeContract;
import org.jdapl.tck.TeardownContract;
import org.jdapl.tck.UpcallContract;
import org.jdapl.tck.WaitContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract over a device whose events come late, twice, or not at all, and with a trace. */
class ContractUnderFaultsTest {

  private static final String PLANS = "org.jdapl.evd.ContractUnderFaultsTest#plans";
  private static final String ALL_PLANS = "org.jdapl.evd.ContractUnderFaultsTest#allPlans";

  /** A device, and what goes wrong there. */
  record Faulty(SimCase origin, String plan) {
    Bench open() {
      return new SimBench(origin, FaultPlan.parse(plan));
    }
  }

  /** Sparse drops: the watchdog finds what they hide, a quarter of a second later each time. */
  static Stream<Faulty> plans() {
    return cases(
        "drop notification@2; drop notification@5; drop notification@6; drop notification@20",
        "duplicate notification@1+; notify req_notify_cq@2; notify destroy_cq@1",
        "delay notification@1+=70us; delay async@1+=30us",
        "delay cm@1+=40us; blind poll_cq@2; blind poll_cq@5; blind poll_cq@9",
        "surplus poll_cq@1+=5; invent poll_cq@4; garble failed-completion@1+");
  }

  /** Delayed completions too, which a test does not expect that dequeues what must be there. */
  static Stream<Faulty> allPlans() {
    return Stream.concat(
        plans(), cases("delay completion@3=90us; delay completion@20=20us; delay cm@3=9us"));
  }

  private static Stream<Faulty> cases(final String... plans) {
    return Stream.of("push", "channel")
        .flatMap(delivery -> Stream.of(plans).map(plan -> new Faulty(origin(delivery), plan)));
  }

  private static SimCase origin(final String delivery) {
    return SimCase.everyVirtualTime()
        .filter(of -> of.toString().contains("delivery=" + delivery))
        .filter(of -> of.notification() == SimCase.Notification.ON_TIME)
        .findFirst()
        .orElseThrow();
  }

  @Nested
  @ParameterizedClass
  @MethodSource(PLANS)
  class Events extends EventContract {
    @Parameter Faulty faulty;

    @Override
    protected Bench bench() {
      return faulty.open();
    }
  }

  @Nested
  @ParameterizedClass
  @MethodSource(PLANS)
  class Upcalls extends UpcallContract {
    @Parameter Faulty faulty;

    @Override
    protected Bench bench() {
      return faulty.open();
    }
  }

  @Nested
  @ParameterizedClass
  @MethodSource(ALL_PLANS)
  class Merging extends MergeContract {
    @Parameter Faulty faulty;

    @Override
    protected Bench bench() {
      return faulty.open();
    }
  }

  @Nested
  @ParameterizedClass
  @MethodSource(ALL_PLANS)
  class Connections extends ConnectionContract {
    @Parameter Faulty faulty;

    @Override
    protected Bench bench() {
      return faulty.open();
    }
  }

  @Nested
  @ParameterizedClass
  @MethodSource(ALL_PLANS)
  class Teardown extends TeardownContract {
    @Parameter Faulty faulty;

    @Override
    protected Bench bench() {
      return faulty.open();
    }
  }

  @Nested
  @ParameterizedClass
  @MethodSource(PLANS)
  class Waiting extends WaitContract {
    @Parameter Faulty faulty;

    @Override
    protected Bench bench() {
      return faulty.open();
    }
  }
}
