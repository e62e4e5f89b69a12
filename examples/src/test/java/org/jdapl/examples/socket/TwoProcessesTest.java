package org.jdapl.examples.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.Dat;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.examples.Main;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The examples as two processes, over the provider that connects processes. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class TwoProcessesTest {

  /** More than a survivor's own bounds. */
  private static final long END_SECONDS = 60;

  private static final int BYTES = 5_000_001;
  private static final long ENDLESS = 16L << 30; // of zeros that take no room

  @TempDir private Path directory;

  private final List<Peer> peers = new ArrayList<>();

  /** One of them; its errors are in a file, and its output is read as it comes. */
  private record Peer(Process process, BufferedReader out, Path errors) {

    /** The port in its first line. */
    String port() throws IOException {
      final String line = String.valueOf(out.readLine());
      assertThat(line).as(this::toString).contains("listening at ", " port ");
      return line.replaceFirst(".* port (\\d+).*", "$1");
    }

    /** Its exit status. */
    int end() throws InterruptedException {
      assertThat(process.waitFor(END_SECONDS, TimeUnit.SECONDS)).as("ended: " + this).isTrue();
      return process.exitValue();
    }

    /** What it printed since. */
    String rest() {
      return out.lines().collect(Collectors.joining("\n"));
    }

    @Override
    public String toString() {
      try {
        return Files.readString(errors);
      } catch (final IOException e) {
        return e.toString();
      }
    }
  }

  private Peer start(final String... arguments) throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-cp", System.getProperty("java.class.path")));
    command.add(Main.class.getName());
    command.addAll(List.of(arguments));
    final Path errors = directory.resolve("errors" + peers.size());
    final Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
    final Peer peer = new Peer(process, process.inputReader(), errors);
    peers.add(peer);
    return peer;
  }

  @AfterEach
  void endAll() throws InterruptedException {
    for (final Peer peer : peers) {
      peer.process().destroyForcibly().waitFor();
    }
  }

  @Test
  void pingpongShouldMeasureRoundTripsOfTwoProcesses() throws Exception {
    final Peer server = start("pingpong", "--ia", "socket", "-s", "-p", "0");
    final Peer client =
        start(
            "pingpong",
            "--ia",
            "socket",
            "--iterations",
            "500",
            "-c",
            "-a",
            "127.0.0.1",
            "-p",
            server.port());

    assertThat(client.end()).as(client::toString).isZero();
    assertThat(client.rest()).startsWith("500 round trips of 64 bytes");
    assertThat(server.end()).as(server::toString).isZero();
    assertThat(server.rest()).matches("answered \\d+ messages");
    assertThat("" + client + server).doesNotContain("WARN");
  }

  @Test
  void copyShouldBringAllBytesToAnotherProcess() throws Exception {
    final byte[] bytes = new byte[BYTES];
    new Random(4711).nextBytes(bytes);
    final Path source = Files.write(directory.resolve("source"), bytes);
    final Path target = directory.resolve("target");

    final Peer server = start("copy", "--ia", "socket", "-s", "-p", "0", target.toString());
    final Peer client = start("copy", "--ia", "socket", "-c", "-p", server.port(), "" + source);

    assertThat(client.end()).as(client::toString).isZero();
    assertThat(client.rest()).contains("copied " + BYTES + " bytes", "SHA-256");
    assertThat(server.end()).as(server::toString).isZero();
    assertThat(server.rest()).isEqualTo("received " + BYTES + " bytes");
    assertThat(target).hasSameBinaryContentAs(source);
    assertThat("" + client + server).doesNotContain("WARN");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void copyShouldSayThatTheOtherProcessDied(final boolean isServerKilled) throws Exception {
    final Path target = directory.resolve("target");
    final Peer server = start("copy", "--ia", "socket", "-s", "-p", "0", target.toString());
    final Path source = endless();
    final Peer client = start("copy", "--ia", "socket", "-c", "-p", server.port(), "" + source);
    awaitPartial(client);

    (isServerKilled ? server : client).process().destroyForcibly().waitFor();

    final Peer survivor = isServerKilled ? client : server;
    assertThat(survivor.end()).as(survivor::toString).isEqualTo(1);
    assertThat(Files.readString(survivor.errors())).contains("the connection ended: DISCONNECTED");
    assertThat(target).doesNotExist();
  }

  @Test
  void stressShouldBalanceTheBooksOfEachProcess() throws Exception {
    final Peer server = start("stress", "--ia", "socket", "-s", "-p", "0", "--time", "4");
    final Peer client = start("stress", "--ia", "socket", "-c", "-p", server.port(), "--time", "4");

    assertBalanced(client);
    assertBalanced(server);
  }

  @Test
  @Tag("slow")
  void stressShouldBalanceTheBooksOfASurvivor() throws Exception {
    final Peer server = start("stress", "--ia", "socket", "-s", "-p", "0", "--time", "1000");
    final Peer client =
        start("stress", "--ia", "socket", "-c", "-p", server.port(), "--time", "1000");
    boolean isEnded = false;
    while (!isEnded && !("" + client).matches("(?s).* [1-9][0-9]* connections\\R.*")) {
      isEnded = client.process().waitFor(10, TimeUnit.MILLISECONDS);
    }
    assertThat(isEnded).as("ended too early: " + client).isFalse();

    server.process().destroyForcibly().waitFor();

    assertThat(assertBalanced(client)).contains("the peer said nothing for 30 s");
  }

  /** It ended well, and accounted for requests; returns what it printed. */
  private static String assertBalanced(final Peer peer) throws InterruptedException {
    assertThat(peer.end()).as(peer::toString).isZero();
    final String printed = peer.rest();
    assertThat(printed).contains("all is well").containsPattern("  DTO +[1-9][0-9]* .* 0\\R");
    return printed;
  }

  @Test
  void stressShouldNotBeWellWithoutAServer() throws Exception {
    final Peer client =
        start("stress", "--ia", "socket", "-c", "-p", abandonedPort(), "--time", "1");

    assertThat(client.end()).as(client::toString).isEqualTo(1);
    assertThat(client.rest()).doesNotContain("all is well");
    assertThat(Files.readString(client.errors()))
        .contains("no connection to ", "NON_PEER_REJECTED", "start stress -s there first");
  }

  @Test
  void stressShouldRejectStrangersAndWaitForItsClient() throws Exception {
    final Peer server = start("stress", "--ia", "socket", "-s", "-p", "0", "--time", "4");
    final String port = server.port();

    for (final int bytes : new int[] {0, 4, 23, 48}) {
      assertThat(connect(Long.parseLong(port), bytes)).isEqualTo(Kind.PEER_REJECTED);
    }

    final Peer client = start("stress", "--ia", "socket", "-c", "-p", port, "--time", "4");
    assertBalanced(client);
    assertThat(assertBalanced(server)).containsPattern("strangers that were rejected +4\\R");
  }

  /** What comes of a connect with so many zeros of private data. */
  private static Kind connect(final long port, final int bytes) throws Exception {
    final BlockingQueue<Kind> kinds = new LinkedBlockingQueue<>();
    try (InterfaceAdapter adapter = Dat.open("socket")) {
      try (Evd evd = adapter.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
          ProtectionZone pz = adapter.createPz();
          Endpoint endpoint = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults())) {
        evd.upcall(
            new EventHandler() {
              @Override
              public void onConnection(final ConnectionEvent event) {
                kinds.add(event.kind());
              }
            });
        endpoint.connect(
            adapter.address(), port, Duration.ofSeconds(END_SECONDS), ByteBuffer.allocate(bytes));
        return kinds.poll(END_SECONDS, TimeUnit.SECONDS);
      }
    }
  }

  /** A port where somebody listened. */
  private static String abandonedPort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return "" + socket.getLocalPort();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"pingpong", "copy", "rping"})
  void clientShouldSayThatNobodyListens(final String command) throws Exception {
    final String port = abandonedPort();
    final List<String> arguments = List.of(command, "--ia", "socket", "-c", "-p", port);
    final Path source = Files.createFile(directory.resolve("source"));
    final Peer client =
        start(
            Stream.concat(
                    arguments.stream(),
                    command.equals("copy") ? Stream.of(source.toString()) : Stream.empty())
                .toArray(String[]::new));

    assertThat(client.end()).as(client::toString).isEqualTo(1);
    assertThat(Files.readString(client.errors()))
        .contains(
            "no connection to 127.0.0.1 port "
                + port
                + ": NON_PEER_REJECTED; start "
                + command
                + " -s there first");
  }

  private Path endless() throws IOException {
    final Path source = directory.resolve("endless");
    try (RandomAccessFile file = new RandomAccessFile(source.toFile(), "rw")) {
      file.setLength(ENDLESS);
    }
    return source;
  }

  /** Returns when the copy is under way. */
  private void awaitPartial(final Peer client) throws IOException, InterruptedException {
    boolean isEnded = false;
    while (!isEnded && partialBytes() == 0) {
      isEnded = client.process().waitFor(1, TimeUnit.MILLISECONDS);
    }
    assertThat(isEnded).as("ended too early: " + client).isFalse();
  }

  private long partialBytes() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      long bytes = 0;
      for (final Path file : files.toList()) {
        if (file.getFileName().toString().startsWith(".copy-")) {
          bytes = Math.max(bytes, Files.size(file));
        }
      }
      return bytes;
    }
  }
}
