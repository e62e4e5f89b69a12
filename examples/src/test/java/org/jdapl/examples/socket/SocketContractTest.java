package org.jdapl.examples.socket;

import java.lang.reflect.Method;
import java.util.Set;
import org.jdapl.tck.Bench;
import org.jdapl.tck.ConnectionContract;
import org.jdapl.tck.ErrorContract;
import org.jdapl.tck.EventContract;
import org.jdapl.tck.EventThreadsContract;
import org.jdapl.tck.MergeContract;
import org.jdapl.tck.PrivateDataContract;
import org.jdapl.tck.TeardownContract;
import org.jdapl.tck.TeardownThreadsContract;
import org.jdapl.tck.UpcallContract;
import org.jdapl.tck.WaitContract;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The contract of the API over the socket provider, which has no shared receive queues. */
@ExtendWith(SocketContractTest.WithoutSharedReceives.class)
class SocketContractTest {

  /** Tests of other contracts that need a shared receive queue all the same. */
  private static final Set<String> SHARED =
      Set.of(
          "required_E05_severalThreadsRefillASharedQueueWhileItsReceivesComplete",
          "required_C01_modifyAddsASharedReceiveQueue",
          "required_C01_aResetKeepsWhatIsShared");

  static final class WithoutSharedReceives implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context) {
      return context.getTestMethod().map(Method::getName).filter(SHARED::contains).isPresent()
          ? ConditionEvaluationResult.disabled("the provider has no shared receive queues")
          : ConditionEvaluationResult.enabled("");
    }
  }

  @Nested
  class Connection extends ConnectionContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Errors extends ErrorContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Event extends EventContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class EventThreads extends EventThreadsContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Merge extends MergeContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class PrivateData extends PrivateDataContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Teardown extends TeardownContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class TeardownThreads extends TeardownThreadsContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Upcall extends UpcallContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }

  @Nested
  class Wait extends WaitContract {
    @Override
    protected Bench bench() {
      return new SocketBench();
    }
  }
}
