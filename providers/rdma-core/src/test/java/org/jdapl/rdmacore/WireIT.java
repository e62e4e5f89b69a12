package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two guests on one wire, and programs of C that others know to work. */
@NeedsGuest
class WireIT {

  private static final Duration BOUND = Duration.ofMinutes(5);
  private static final String SERVER = "10.8.0.1";
  private static final String CLIENT = "10.8.0.2";

  @Test
  @Timeout(900)
  void shouldCarryRdmaBetweenTwoGuests(@TempDir final Path folder) throws Exception {
    final Path wire = folder.resolve("wire");
    try (Guest server =
        Guest.start(
            "wire-server",
            BOUND,
            List.of("-a", SERVER, "-l", wire.toString()),
            "timeout 240 rping -s -a " + SERVER + " -C 10 -v")) {
      while (!Files.exists(wire)) {
        assertThat(server.isRunning()).as(server.output()).isTrue();
        LockSupport.parkNanos(1_000_000);
      }
      // A server that still boots refuses, or does not answer.
      try (Guest client =
          Guest.start(
              "wire-client",
              BOUND,
              List.of("-a", CLIENT, "-c", wire.toString()),
              "for ((i = 0; i < 60; i++)); do timeout 20 rping -c -a "
                  + SERVER
                  + " -C 10 -v && exit 0; sleep 1; done; exit 1")) {
        final Guest.Result result = client.await();
        assertThat(result.status()).as(result.output()).isZero();
      }
      final Guest.Result result = server.await();
      assertThat(result.status()).as(result.output()).isZero();
      assertThat(result.output()).contains("server ping data");
    }
  }
}
