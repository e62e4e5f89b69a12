package org.jdapl.evd;

import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Where it is wanted, nothing is run after a test failed: one is enough to find a mistake. */
@SuppressWarnings("exports") // public for the service loader only
public final class StopAtFirstFailure implements ExecutionCondition, TestWatcher {

  private static volatile boolean wanted;
  private static volatile boolean failed;

  /** For the service loader. */
  public StopAtFirstFailure() {}

  /** From here on; in this class loader. */
  static void want() {
    wanted = true;
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context) {
    return wanted && failed
        ? ConditionEvaluationResult.disabled("a test failed")
        : ConditionEvaluationResult.enabled("no test failed");
  }

  @Override
  public void testFailed(final ExtensionContext context, final Throwable cause) {
    failed = true;
  }
}
