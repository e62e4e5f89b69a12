package org.jdapl.examples.rping;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jdapl.examples.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class RpingTest {

  private static Server server(final int size, final List<String> shown) {
    return new Server("sim", size, shown::add, step -> {});
  }

  private static Client client(final int size, final List<String> shown) {
    return new Client("sim", size, true, shown::add, step -> {});
  }

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

  private static byte[] ping(final int size, final long number) {
    final ByteBuffer ping = ByteBuffer.allocate(size);
    Client.fill(ping, number);
    return ping.array();
  }

  @Test
  void shouldPingBothSidesOfOneProcess() {
    final Run run = Run.of("rping", "-v", "-V", "-C", "3", "-S", "30");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out().lines())
        .containsExactly(
            "server ping data: rdma-ping-0: ABCDEFGHIJKLMNOP",
            "ping data: rdma-ping-0: ABCDEFGHIJKLMNOP",
            "server ping data: rdma-ping-1: BCDEFGHIJKLMNOPQ",
            "ping data: rdma-ping-1: BCDEFGHIJKLMNOPQ",
            "server ping data: rdma-ping-2: CDEFGHIJKLMNOPQR",
            "ping data: rdma-ping-2: CDEFGHIJKLMNOPQR",
            "answered 3 pings of 30 bytes");
  }

  @ParameterizedTest
  @ValueSource(ints = {23, 64, 65_535})
  void shouldPingWithSize(final int size) {
    final Run run = Run.of("rping", "-V", "-C", "60", "-S", "" + size);

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out().lines()).containsExactly("answered 60 pings of " + size + " bytes");
  }

  @Test
  void shouldShowEachStep() {
    final Run run = Run.of("rping", "-d", "-C", "1");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out())
        .contains("connected to ", "connected from ", "sent Advert", "received Advert");
  }

  @Test
  void shouldFillPingsAsC() {
    assertThat(new String(ping(30, 0), US_ASCII)).isEqualTo("rdma-ping-0: ABCDEFGHIJKLMNOP\0");
    assertThat(new String(ping(24, 57), US_ASCII)).isEqualTo("rdma-ping-57: zABCDEFGH\0");
    assertThat(new String(ping(24, 58), US_ASCII)).isEqualTo("rdma-ping-58: ABCDEFGHI\0");
    assertThat(new String(ping(23, Integer.MAX_VALUE), US_ASCII))
        .isEqualTo("rdma-ping-2147483647: \0");
  }

  @Test
  void shouldEncodeAdvertsInNetworkByteOrder() {
    final ByteBuffer message = ByteBuffer.allocate(Advert.BYTES);
    final Advert advert = new Advert(0x1122_3344_5566_7788L, 0x99AA_BBCC, 0x0001_0203);

    advert.encode(message);

    assertThat(message.array())
        .containsExactly(
            0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0, 1, 2, 3);
    assertThat(Advert.decode(message)).isEqualTo(advert);
  }

  @Test
  void shouldNameTheByteThatDiffers() {
    final ByteBuffer ping = ByteBuffer.wrap(ping(64, 3));
    final ByteBuffer pong = ByteBuffer.wrap(ping(64, 3)).put(17, (byte) 1);

    assertThatExceptionOfType(RpingException.class)
        .isThrownBy(() -> Client.validate(ping, pong, 3))
        .withMessage("data mismatch in ping 3: byte 17 is 1, expected " + ping.get(17));
  }

  @Test
  void shouldTellBothSidesThatTheServerHasTooLittleRoom() throws Exception {
    final List<String> shown = new ArrayList<>();
    try (Server server = server(63, shown);
        Client client = client(64, shown)) {
      final long port = server.listen(server.adapter.address(), 0);
      final FutureTask<Void> serving = serve(server);

      assertThatExceptionOfType(RpingException.class)
          .isThrownBy(() -> client.ping(server.adapter.address(), port, 1))
          .withMessageContaining("the server disconnected in the middle of ping 0");
      assertThat(serving)
          .failsWithin(1, TimeUnit.MINUTES)
          .withThrowableThat()
          .withMessageContaining("64 bytes")
          .withMessageContaining("room for 63")
          .withMessageContaining("-S");
    }
    assertThat(shown).isEmpty();
  }

  @Test
  void shouldShowAPingInOneLine() throws Exception {
    final List<String> shown = new CopyOnWriteArrayList<>();
    try (Server server = server(64, shown);
        Client client = client(64, new ArrayList<>())) {
      final long port = server.listen(server.adapter.address(), 0);
      final FutureTask<Void> serving = serve(server);
      client.connect(server.adapter.address(), port);
      client.data.buffer().put(0, "\u001b[31m\nall is well\0".getBytes(US_ASCII));
      client.send(new Advert(client.data.address(), client.data.rmrContext(), 64));
      client.receive();
      client.disconnect();

      assertThat(serving).failsWithin(1, TimeUnit.MINUTES);
    }
    assertThat(shown).containsExactly("server ping data: ?[31m?all is well");
  }

  @Test
  void shouldTellTheServerThatTheClientLeftInTheMiddle() throws Exception {
    try (Server server = server(64, new ArrayList<>());
        Client client = client(64, new ArrayList<>())) {
      final long port = server.listen(server.adapter.address(), 0);
      final FutureTask<Void> serving = serve(server);
      client.connect(server.adapter.address(), port);
      client.send(new Advert(client.data.address(), client.data.rmrContext(), 64));
      client.receive();

      client.disconnect();

      assertThat(serving)
          .failsWithin(1, TimeUnit.MINUTES)
          .withThrowableThat()
          .withMessageContaining("the client disconnected in the middle of ping 0");
    }
  }

  @Test
  void shouldReportMemoryThatMayNotBeRead() throws Exception {
    try (Server server = server(64, new ArrayList<>());
        Client client = client(64, new ArrayList<>())) {
      final long port = server.listen(server.adapter.address(), 0);
      final FutureTask<Void> serving = serve(server);
      client.connect(server.adapter.address(), port);

      client.send(new Advert(client.data.address(), client.data.rmrContext() ^ 1, 64));

      assertThat(serving)
          .failsWithin(1, TimeUnit.MINUTES)
          .withThrowableThat()
          .withMessageContaining("RDMA_READ ended with");
    }
  }

  @Test
  void shouldSayThatThereIsNoServer() {
    final Run run = Run.of("rping", "-c", "-p", "7175");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.err().lines())
        .singleElement()
        .asString()
        .contains("no connection to ", "port 7175", "NON_PEER_REJECTED");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-S 22", "-S 65536", "-S x", "-C -1", "-s -c", "-c -p 0", "-p 65536"})
  void shouldRefuseWrongUse(final String options) {
    final Run run = Run.of(("rping " + options).split(" "));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).singleElement().asString().contains("-", "rping --help");
  }
}
