package org.jdapl.examples.cmrate;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.examples.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class CmrateTest {

  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final byte[] LOOPBACK_6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

  private static FutureTask<Void> serve(final Server server) {
    final FutureTask<Void> serving =
        new FutureTask<>(
            () -> {
              try (server) {
                server.serve();
              }
              return null;
            });
    new Thread(serving, "server").start();
    return serving;
  }

  @ParameterizedTest
  @ValueSource(strings = {"-c 200", "-c 10 -b 3", "-c 1", "-c 5 -b 1"})
  void shouldConnectBothSidesOfOneProcess(final String options) {
    final Run run = Run.of(("cmrate " + options).split(" ", -1));

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out().lines())
        .singleElement()
        .asString()
        .startsWith(options.split(" ", -1)[1] + " connections in ")
        .containsPattern(": [0-9]+\\.[0-9] per second");
  }

  @Test
  void shouldSayThatTheServerHasFewerEndpoints() throws Exception {
    try (Server server = new Server("sim", 2);
        Client client = new Client("sim", 3)) {
      final long service = server.listen(0);
      final var unused = serve(server);

      assertThatExceptionOfType(CmrateException.class)
          .isThrownBy(() -> client.connect(server.adapter.address(), service, 1))
          .withMessageContaining("PEER_REJECTED")
          .withMessageContaining("give both sides the same -c")
          .withMessageContaining("2 of 3 connections were made");
    }
  }

  @Test
  void shouldTellTheServerThatTheClientLeft() throws Exception {
    try (Server server = new Server("sim", 2)) {
      final long service = server.listen(0);
      final FutureTask<Void> serving = serve(server);
      try (Client client = new Client("sim", 1)) {
        client.connect(server.adapter.address(), service, 1);
        client.disconnect();
      }

      assertThat(serving)
          .failsWithin(1, TimeUnit.MINUTES)
          .withThrowableThat()
          .withMessageContaining("the client ended a connection")
          .withMessageContaining("1 of 2 connections were made");
    }
  }

  @Test
  void shouldKnowThePrivateDataOfC() {
    final ByteBuffer request = Greeting.REQUEST.encode();
    final ByteBuffer padded = ByteBuffer.allocate(56).put(Greeting.REQUEST.encode()).rewind();

    assertThat(request.get(0)).isEqualTo((byte) 1);
    assertThat(request.get(47)).isEqualTo((byte) 48);
    assertThat(Greeting.REQUEST.isIn(padded)).isTrue();
    assertThat(Greeting.ANSWER.isIn(padded)).isFalse();
    assertThat(Greeting.REQUEST.isIn(padded.limit(47))).isFalse();
    assertThat(Greeting.ANSWER.encode().get(47)).isEqualTo((byte) 49);
  }

  @Test
  void shouldSayWhereItIsAsC() throws Exception {
    final Whereabouts server =
        new Whereabouts(InetAddress.getByAddress(new byte[] {10, 8, 0, 1}), "ofa-v2-ib0");

    final byte[] message = server.encode();

    assertThat(message).hasSize(128);
    // Where C prints the address as a number of a little-endian machine, or of a big-endian one.
    assertThat(new String(message, US_ASCII).replace("\0", ""))
        .isIn(
            "0000:00000000:00000000:0100080a:ofa-v2-ib0",
            "0000:00000000:00000000:0a080001:ofa-v2-ib0");
    Arrays.fill(message, 43, 128, (byte) 'x'); // C sends what was behind its string
    assertThat(Whereabouts.decode(message)).isEqualTo(server);
  }

  @Test
  void shouldTellAClientByTcp() throws Exception {
    final Whereabouts server =
        new Whereabouts(InetAddress.getByAddress(new byte[] {10, 8, 0, 1}), "my-adapter");
    try (ServerSocket socket = new ServerSocket(0)) {
      server.tell(socket);
      for (int i = 0; i < 3; i++) { // strangers, who may leave before they are told
        new Socket(socket.getInetAddress(), socket.getLocalPort()).close();
      }

      assertThat(Whereabouts.ask("127.0.0.1", socket.getLocalPort(), PATIENCE)).isEqualTo(server);
    }
  }

  @Test
  void shouldWaitForDescriptorsAndTellOn() throws Exception {
    final Whereabouts server =
        new Whereabouts(InetAddress.getByAddress(new byte[] {10, 8, 0, 1}), "my-adapter");
    final long start = System.nanoTime();
    final AtomicInteger failures = new AtomicInteger(50);
    try (ServerSocket exhausted =
        new ServerSocket(0) {
          @Override
          public Socket accept() throws IOException {
            if (failures.getAndDecrement() > 0) {
              throw new SocketException("Too many open files");
            }
            return super.accept();
          }
        }) {
      server.tell(exhausted);

      assertThat(Whereabouts.ask("127.0.0.1", exhausted.getLocalPort(), PATIENCE))
          .isEqualTo(server);
      assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(50));
    }
  }

  @Test
  void shouldNotWaitForEverForAServerThatSaysNothing() throws Exception {
    try (ServerSocket silent = new ServerSocket(0)) {
      final Duration second = Duration.ofSeconds(1);
      assertThatExceptionOfType(CmrateException.class)
          .isThrownBy(() -> Whereabouts.ask("127.0.0.1", silent.getLocalPort(), second))
          .withMessageContaining("127.0.0.1 TCP port " + silent.getLocalPort())
          .withMessageContaining("said nothing for 1 s")
          .withMessageContaining("expected the line of cmrate -s or dtestcm -s");
    }
  }

  @Test
  void shouldHaveRoomForTheLongestName() throws Exception {
    final Whereabouts server =
        new Whereabouts(
            InetAddress.getByAddress(new byte[] {10, 8, 0, 1}),
            "a".repeat(Whereabouts.MAX_PROVIDER));

    assertThat(server.encode()).hasSize(128).endsWith(0);
    assertThat(Whereabouts.decode(server.encode())).isEqualTo(server);
  }

  @Test
  void shouldShowWhatAServerSaysInOneLine() {
    assertThatExceptionOfType(CmrateException.class)
        .isThrownBy(() -> Whereabouts.decode("\u001b[31mall\nis well".getBytes(US_ASCII)))
        .withMessageContaining("'?[31mall?is well'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "hello", "0000:00000000:00000000:zz:a", "0000:0:0:1"})
  void shouldRefuseAServerThatSays(final String line) {
    assertThatExceptionOfType(CmrateException.class)
        .isThrownBy(() -> Whereabouts.decode(line.getBytes(US_ASCII)))
        .withMessageContaining("'" + line + "'")
        .withMessageContaining("dtestcm");
  }

  @Test
  void shouldRefuseAServerWithoutAnIpAddress() {
    final byte[] line = "0001:00000002:00000000:00000000:ofa-v2-ucm".getBytes(US_ASCII);

    assertThatExceptionOfType(CmrateException.class)
        .isThrownBy(() -> Whereabouts.decode(line))
        .withMessageContaining("no IP address")
        .withMessageContaining("libdaplofa");
  }

  @Test
  void shouldRefuseToSayAnAddressThatCDoesNotKnow() throws Exception {
    final Whereabouts server = new Whereabouts(InetAddress.getByAddress(LOOPBACK_6), "a");

    assertThatExceptionOfType(IOException.class)
        .isThrownBy(server::encode)
        .withMessageContaining("IPv4");
  }

  @Test
  void shouldRefuseANameThatIsTooLong() {
    final Run run = Run.of("cmrate", "-s", "-P", "a".repeat(Whereabouts.MAX_PROVIDER + 1));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err().lines()).singleElement().asString().contains("-P", "95", "96");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-c 0", "-c 100001", "-b 0", "-p 0", "-p 65536", "-s -h localhost", "-c"})
  void shouldRefuseWrongUse(final String options) {
    final Run run = Run.of(("cmrate " + options).split(" ", -1));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).singleElement().asString().contains("-", "cmrate --help");
  }
}
