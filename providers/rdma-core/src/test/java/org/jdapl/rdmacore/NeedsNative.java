package org.jdapl.rdmacore;

import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips a class where the native library was not built; the build said so. Where native parts are
 * required it is never skipped.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsNative.Condition.class)
@interface NeedsNative {

  /** Looks for the library and its fake surroundings. */
  final class Condition implements ExecutionCondition {

    /** Whether to skip is to fail. */
    static boolean isRequired() {
      return "required".equals(System.getProperty("jdapl.native"));
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context) {
      if (isRequired() || isThere()) {
        return ConditionEvaluationResult.enabled("the native library is there");
      }
      return ConditionEvaluationResult.disabled("the native library was not built");
    }

    private static boolean isThere() {
      try (InputStream platforms = Fake.class.getResourceAsStream("/native/platforms")) {
        return platforms != null
            && !new String(platforms.readAllBytes(), StandardCharsets.UTF_8).isBlank()
            && Files.exists(Path.of(System.getProperty("native.tests"), "fake"));
      } catch (final IOException e) {
        return false;
      }
    }
  }
}
