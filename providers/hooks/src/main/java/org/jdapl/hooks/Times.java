package org.jdapl.hooks;

import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Times as text, such as {@code 5ms}. */
final class Times {

  private static final Pattern TIME = Pattern.compile("([0-9]{1,9})(ns|us|ms|s)");

  private Times() {}

  static boolean isTime(final String text) {
    return TIME.matcher(text).matches();
  }

  static long nanos(final String text) {
    final Matcher matcher = TIME.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("'" + text + "': expected a time such as 5ms");
    }
    return unit(matcher.group(2)).toNanos(Long.parseLong(matcher.group(1)));
  }

  private static TimeUnit unit(final String text) {
    return switch (text) {
      case "ns" -> TimeUnit.NANOSECONDS;
      case "us" -> TimeUnit.MICROSECONDS;
      case "ms" -> TimeUnit.MILLISECONDS;
      default -> TimeUnit.SECONDS;
    };
  }
}
