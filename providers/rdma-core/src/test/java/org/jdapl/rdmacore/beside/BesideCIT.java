package org.jdapl.rdmacore.beside;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.jdapl.guests.Guest;
import org.jdapl.guests.NeedsGuest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs {@link BesideC} in a guest. What it measures is to be read, and fails nothing. */
@NeedsGuest
class BesideCIT {

  private static final Duration BOUND = Duration.ofMinutes(15);
  private static final int ROWS = 7;

  @Test
  @Timeout(1200)
  void shouldMeasureBothSides() throws Exception {
    final String java =
        Guest.java(
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=4", // what is measured has run long enough
            "-ea:org.jdapl.rdmacore.jni...",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            BesideC.class.getName(),
            System.getProperty("jdapl.rounds", "1"));
    // What polls needs a processor for each side, and each JVM one that it stays on.
    final List<String> options = List.of("-p", "2");
    final String command = "taskset -c 0 " + java + " >/out/figures.md";
    try (Guest guest = Guest.start("beside-c", BOUND, options, command)) {
      guest.awaitSuccess();
      final String figures = Files.readString(guest.out().resolve("figures.md"));
      assertThat(figures.lines()).hasSize(ROWS);
    }
  }
}
