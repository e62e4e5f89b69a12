package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jdapl.guests.Guest;
import org.jdapl.guests.NeedsGuest;
import org.jdapl.guests.Wire;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two guests on a wire, of which one survives: its peer loses power, the wire is cut, a device is
 * removed under traffic. It accounts for every request, and serves the next peer.
 */
@NeedsGuest
@Timeout(1200)
class WireIT {

  private static final Duration BOUND = Duration.ofMinutes(8);

  /** How long the end of a connection and its close may take, with the slowness of a guest. */
  private static final String SECONDS = "90";

  private static final String AWAIT_WIRE =
      " && until grep -q 1 /sys/class/net/eth0/carrier; do sleep 0.1; done && ";

  private Wire wire;

  @BeforeEach
  void lay() {
    wire = new Wire();
  }

  @AfterEach
  void remove() {
    wire.close();
  }

  /** Serves so many connections, and fails if one of them was not as it should be. */
  private static String serve(final int connections) {
    return Guest.java(Traffic.class.getName(), Wire.SERVER, SECONDS, "serve", "" + connections);
  }

  /** Connects, and ends the connection after so many messages; 0 for never. */
  private static String connect(final int messages) {
    return Guest.java(
        Traffic.class.getName(), Wire.CLIENT, SECONDS, "connect", Wire.SERVER, "" + messages);
  }

  @Test
  void shouldServeTheNextPeerAfterOneThatLostItsPower() throws Exception {
    try (Guest survivor = wire.server("power-survivor", BOUND, serve(2))) {
      try (Guest lost = wire.client("power-lost", BOUND, connect(0))) {
        survivor.awaitOutput("has traffic", 1);
        assertThat(lost.isRunning()).isTrue();
      } // without a word
      // Before the next one has its address: the connection manager would tell of a stale
      // connection.
      survivor.awaitOutput("connection 1 is BROKEN and accounted for", 1);
      try (Guest next = wire.client("power-next", BOUND, connect(200))) {
        next.awaitSuccess();
      }
      survivor.awaitOutput("connection 2 is DISCONNECTED and accounted for", 1);
      survivor.awaitSuccess();
    }
  }

  @Test
  void shouldServeTheNextPeerAfterACutWire() throws Exception {
    try (Guest survivor = wire.server("cut-survivor", BOUND, serve(2));
        Guest peer = wire.client("cut-peer", BOUND, connect(0) + AWAIT_WIRE + connect(200))) {
      survivor.awaitOutput("has traffic", 1);
      peer.awaitOutput("has traffic", 1);
      wire.cut();
      survivor.awaitOutput("connection 1 is BROKEN and accounted for", 1);
      peer.awaitOutput("connection 1 is BROKEN and accounted for", 1);
      wire.mend();
      peer.awaitSuccess();
      survivor.awaitOutput("connection 2 is DISCONNECTED and accounted for", 1);
      survivor.awaitSuccess();
    }
  }

  @Test
  void shouldLetGoOfADeviceThatIsRemovedUnderTraffic() throws Exception {
    final String removeUnderTraffic =
        """
        %s >/tmp/traffic &
        until grep -q 'has traffic' /tmp/traffic; do sleep 0.1; kill -0 $! || break; done
        timeout 90 rdma link delete rxe0 || { echo "rdma link delete did not return"; exit 1; }
        echo "rdma link delete returned"
        wait $! || { cat /tmp/traffic; exit 1; }
        cat /tmp/traffic
        rdma link add rxe0 type rxe netdev eth0
        until rdma link show rxe0/1 | grep -q ACTIVE; do sleep 0.1; done
        %s
        """
            .formatted(connect(0), connect(200));
    try (Guest survivor = wire.server("remove-survivor", BOUND, serve(2));
        Guest peer = wire.client("remove-peer", BOUND, removeUnderTraffic)) {
      peer.awaitSuccess();
      survivor.awaitOutput("connection 1", 1);
      survivor.awaitOutput("connection 2 is DISCONNECTED and accounted for", 1);
      survivor.awaitSuccess();
      peer.awaitOutput("rdma link delete returned", 1);
    }
  }
}
