package org.jdapl.rdmacore;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips a test where the compiler has no sanitizers; see {@link NeedsNative}. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsSanitizers.Condition.class)
@interface NeedsSanitizers {

  /** Looks for what is built with them. */
  final class Condition implements ExecutionCondition {

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context) {
      return NeedsNative.Condition.isRequired()
              || Files.exists(Child.NATIVE.resolve("sanitized/libasan"))
          ? ConditionEvaluationResult.enabled("there are sanitizers")
          : ConditionEvaluationResult.disabled("the compiler has no sanitizers");
    }
  }
}
