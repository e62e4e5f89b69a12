package org.jdapl.examples;

import java.time.Duration;
import org.jdapl.guests.Guest;
import org.jdapl.guests.NeedsGuest;
import org.jdapl.guests.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A file goes from one machine to another, over the kernel's own RDMA stack. */
@NeedsGuest
@Timeout(900)
class CopyIT {

  private static final Duration BOUND = Duration.ofMinutes(8);

  /** Some MiB that both machines can make. */
  private static final String FILE = "seq 1 700000";

  private static String copy(final String arguments) {
    return Guest.java(Main.class.getName(), "copy --ia rdma-core", arguments);
  }

  @Test
  void shouldCopyBetweenTwoMachines() throws Exception {
    final String receive =
        copy("-s /tmp/target") + " && " + FILE + " | cmp - /tmp/target && echo they are the same";
    // A server that boots still refuses, or does not answer.
    final String send =
        FILE
            + " >/tmp/source; for ((i = 0; i < 30; i++)); do "
            + copy("-c -a " + Wire.SERVER + " /tmp/source")
            + " && exit 0; sleep 1; done; exit 1";
    try (Wire wire = new Wire();
        Guest server = wire.server("copy-receiver", BOUND, receive);
        Guest client = wire.client("copy-sender", BOUND, send)) {
      client.awaitSuccess();
      server.awaitSuccess();
      server.awaitOutput("they are the same", 1);
    }
  }
}
