package org.jdapl.rdmacore;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips a class where no guest can run, and says what is missing; where {@code jdapl.guest} is
 * required it is never skipped.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsGuest.Condition.class)
@NeedsNative
@interface NeedsGuest {

  /** Asks the script. */
  final class Condition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context) {
      final String mode = System.getProperty("jdapl.guest", "auto");
      if (mode.equals("off")) {
        return ConditionEvaluationResult.disabled("-Djdapl.guest=off");
      }
      if (mode.equals("required")) {
        return ConditionEvaluationResult.enabled("guests are required");
      }
      try {
        final String missing = Guest.missing();
        return missing.isEmpty()
            ? ConditionEvaluationResult.enabled("guests run here")
            : ConditionEvaluationResult.disabled(missing);
      } catch (final IOException e) {
        return ConditionEvaluationResult.disabled(e.toString());
      } catch (final InterruptedException e) {
        Thread.currentThread().interrupt();
        return ConditionEvaluationResult.disabled("interrupted");
      }
    }
  }
}
