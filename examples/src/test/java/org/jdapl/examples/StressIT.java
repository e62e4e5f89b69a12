package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jdapl.guests.Guest;
import org.jdapl.guests.NeedsGuest;
import org.jdapl.guests.Wire;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Everything at once between two machines, over the kernel's own RDMA stack. */
@NeedsGuest
@Timeout(1200)
class StressIT {

  private static final Duration BOUND = Duration.ofMinutes(8);

  private static String stress(final String arguments) {
    return Guest.java(
        Main.class.getName(), "stress --ia rdma-core --posters 1 --connections 4", arguments);
  }

  private static void assertBalanced(final Guest guest) {
    assertThat(guest.output())
        .contains("all is well")
        .containsPattern("connections, each end +[1-9]");
  }

  @Test
  void shouldBalanceTheBooksOfTwoMachines() throws Exception {
    try (Wire wire = new Wire();
        Guest server = wire.server("stress-server", BOUND, stress("-s --time 10"));
        Guest client =
            wire.client("stress-client", BOUND, stress("-c --time 10 -a " + Wire.SERVER))) {
      client.awaitSuccess();
      server.awaitSuccess();
      assertBalanced(client);
      assertBalanced(server);
    }
  }

  @Test
  void shouldBalanceTheBooksOfOneThatLostItsPeer() throws Exception {
    try (Wire wire = new Wire();
        Guest survivor = wire.server("stress-survivor", BOUND, stress("-s --time 1000"))) {
      try (Guest lost =
          wire.client("stress-lost", BOUND, stress("-c --time 1000 -a " + Wire.SERVER))) {
        survivor.awaitOutput(" wakes, ", 2); // ten seconds after its first line
        assertThat(lost.isRunning()).isTrue();
      } // without a word
      survivor.awaitSuccess();
      survivor.awaitOutput("the peer said nothing for 30 s", 1);
      assertBalanced(survivor);
    }
  }
}
