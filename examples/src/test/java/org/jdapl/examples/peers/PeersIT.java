package org.jdapl.examples.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jdapl.examples.Main;
import org.jdapl.guests.Guest;
import org.jdapl.guests.NeedsGuest;
import org.jdapl.guests.Wire;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The programs of C that rping and cmrate stand for, as their peers on a wire between two guests.
 */
@NeedsGuest
@Timeout(1200)
class PeersIT {

  private static final Duration BOUND = Duration.ofMinutes(15);

  /** Debian's own dat.conf has no soft-RoCE; the name is the one that dtestcm has by default. */
  private static final String DTESTCM =
      "echo 'ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"eth0 0\" \"\"'"
          + " >/tmp/dat.conf; DAT_OVERRIDE=/tmp/dat.conf timeout 120 dtestcm ";

  private static Wire wire;
  private static Guest first;
  private static Guest second;
  private static Shell server;
  private static Shell client;

  @BeforeAll
  static void boot() {
    wire = new Wire();
    first = wire.server("peers-server", BOUND, Shell.COMMAND);
    second = wire.client("peers-client", BOUND, Shell.COMMAND);
    server = new Shell(first);
    client = new Shell(second);
  }

  @AfterAll
  static void shutDown() {
    second.close();
    first.close();
    wire.close();
  }

  /** An example, on the real device; few lines of it are worth a good compiler. */
  private static String example(final String arguments) {
    return Guest.java(Main.class.getName(), arguments) + " --ia rdma-core";
  }

  @Test
  void shouldPingTheRpingOfC() {
    final Shell.Job serving = server.serve("timeout 120 rping -s -a " + Wire.SERVER + " -v");

    final String out =
        client.start(example("rping -c -a " + Wire.SERVER + " -C 20 -v -V")).awaitSuccess();

    assertThat(out.lines().filter(line -> line.startsWith("ping data: rdma-ping-"))).hasSize(20);
    assertThat(serving.awaitSuccess()).contains("server ping data: rdma-ping-19: TUVWXYZ");
  }

  @Test
  void shouldPingTheRpingOfCWithItsLargestSize() {
    final String size = " -S 65535";
    final Shell.Job serving = server.serve("timeout 120 rping -s -a " + Wire.SERVER + size);

    client.start(example("rping -c -a " + Wire.SERVER + " -C 20 -V" + size)).awaitSuccess();

    serving.awaitSuccess();
  }

  @Test
  void shouldAnswerTheRpingOfC() {
    final Shell.Job serving = server.serve(example("rping -s -a " + Wire.SERVER + " -v"));

    final String out =
        client.start("timeout 120 rping -c -a " + Wire.SERVER + " -C 20 -v -V").awaitSuccess();

    assertThat(out.lines().filter(line -> line.startsWith("ping data: rdma-ping-"))).hasSize(20);
    assertThat(serving.awaitSuccess())
        .contains("server ping data: rdma-ping-19: TUVWXYZ", "answered 20 pings");
  }

  @Test
  void shouldConnectToDtestcm() {
    final Shell.Job serving = server.serve(DTESTCM + "-s -c 100 -b 20");

    final String out =
        client.start(example("cmrate -h " + Wire.SERVER + " -c 100 -b 20")).awaitSuccess();

    assertThat(out).startsWith("100 connections in ").contains(" per second");
    assertThat(serving.awaitSuccess())
        .contains("ALL 100 CONNECTED on Server!", "DAPL Connection Test Complete");
  }

  @Test
  void shouldAcceptTheConnectionsOfDtestcm() {
    final Shell.Job serving = server.serve(example("cmrate -s -c 100 -b 20"));

    final String out = client.start(DTESTCM + "-h " + Wire.SERVER + " -c 100 -b 20").awaitSuccess();

    assertThat(out).contains("ALL 100 CONNECTED on Client!", "DAPL Connection Test Complete");
    assertThat(serving.awaitSuccess()).contains("accepted 100 connections");
  }
}
