package org.jdapl.examples.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jdapl.examples.Main;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Signals, in a process of its own. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
@DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the signals of POSIX")
class InterruptTest {

  private static final long SIZE = 16L << 30; // of zeros that take no room; far more than is copied

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143"})
  void shouldLeaveNothingWhenInterrupted(final String signal, final int status) throws Exception {
    assumeTrue(
        new ProcessBuilder("sh", "-c", "kill -" + signal + " $$").start().waitFor() == status,
        "SIG" + signal + " is ignored where this test was started");
    final Path source = directory.resolve("source");
    try (RandomAccessFile file = new RandomAccessFile(source.toFile(), "rw")) {
      file.setLength(SIZE);
    }
    final Path errors = directory.resolve("errors");
    final Path output = directory.resolve("output");
    final Process copy =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "copy",
                source.toString(),
                directory.resolve("target").toString())
            .redirectError(errors.toFile())
            .redirectOutput(output.toFile())
            .start();
    try {
      boolean isEnded = false;
      while (!isEnded && partialBytes() == 0) {
        isEnded = copy.waitFor(1, TimeUnit.MILLISECONDS); // heeds the time-out of the test
      }
      assertThat(new ProcessBuilder("kill", "-" + signal, "" + copy.pid()).start().waitFor())
          .isZero();

      assertThat(copy.waitFor(60, TimeUnit.SECONDS)).as("ended").isTrue();
      assertThat(copy.exitValue()).isEqualTo(status);
    } finally {
      copy.destroyForcibly().waitFor();
    }
    assertThat(CopyTest.errors(Files.readAllLines(errors).stream()))
        .singleElement()
        .asString()
        .contains("interrupted");
    assertThat(output).isEmptyFile();
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).containsExactlyInAnyOrder(source, errors, output);
    }
  }

  private long partialBytes() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      final Path partial =
          files
              .filter(file -> file.getFileName().toString().startsWith(".copy-"))
              .findFirst()
              .orElse(null);
      return partial == null ? 0 : Files.size(partial);
    }
  }
}
