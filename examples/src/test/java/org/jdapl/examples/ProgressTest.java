package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProgressTest {

  private static String line(final long done, final long total, final long seconds) {
    final long nanos = TimeUnit.SECONDS.toNanos(seconds);
    return Progress.line("copying", Progress.Unit.BYTES, done, total, nanos, false);
  }

  @Test
  void shouldTellRateAndTimeLeft() {
    assertThat(line(3L << 30, 4L << 30, 6))
        .isEqualTo("copying  75%, 3.0 GiB of 4.0 GiB, 512 MiB/s, 2 s left");
  }

  @Test
  void shouldGuessNoTimeBeforeAnythingIsDone() {
    assertThat(line(0, 100, 2)).isEqualTo("copying   0%, 0 B of 100 B, 0 B/s");
  }

  @ParameterizedTest
  @CsvSource({
    "1023, 1023 B",
    "1024, 1.0 KiB",
    "1048576, 1.0 MiB",
    "9223372036854775807, 8.0 EiB",
  })
  void shouldShowBytesInMultiples(final long bytes, final String shown) {
    assertThat(line(bytes, bytes, 1)).startsWith("copying 100%, " + shown + " of " + shown);
  }

  @Test
  void shouldCountWithoutOverflow() {
    assertThat(line(Long.MAX_VALUE / 2, Long.MAX_VALUE, 3600))
        .startsWith("copying  50%, 4.0 EiB of 8.0 EiB")
        .endsWith(", 1:00 h left");
  }

  @Test
  void shouldFitABarIntoALine() {
    final String line =
        Progress.line("copying", Progress.Unit.BYTES, 1023L << 20, 1023L << 30, 900_000_000, true);

    assertThat(line).contains("[").hasSizeLessThan(80);
  }

  @Test
  void shouldOverwriteALineAndNeverMoreThanOne() {
    assertThat(Progress.overwriting("short")).isEqualTo("\rshort" + " ".repeat(74));
    assertThat(Progress.overwriting("x".repeat(200))).isEqualTo("\r" + "x".repeat(79));
  }

  @Test
  void shouldNeverSayAllBeforeAllIsDone() {
    assertThat(line(999_999, 1_000_000, 1)).startsWith("copying  99%");
  }
}
