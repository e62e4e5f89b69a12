package org.jdapl.guests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** An Ethernet wire between two guests: one stays, the other may be another one later. */
public final class Wire implements AutoCloseable {

  /** The address of the guest that stays. */
  public static final String SERVER = "10.8.0.1";

  /** The address of its peer. */
  public static final String CLIENT = "10.8.0.2";

  private final Path folder;
  private final Path socket;
  private final Path monitor;

  /** A wire with nothing at its ends. */
  public Wire() {
    try {
      folder = Files.createTempDirectory("wire"); // short: the path of a socket may be
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
    socket = folder.resolve("wire");
    monitor = folder.resolve("monitor");
  }

  /**
   * Starts the guest that stays.
   *
   * @param name of its folder.
   * @param bound after which it is stopped.
   * @param command a line of bash.
   * @return the guest; a peer can be plugged in.
   */
  public Guest server(final String name, final Duration bound, final String command) {
    final Guest guest =
        Guest.start(name, bound, List.of("-a", SERVER, "-l", socket.toString()), command);
    try {
      guest.awaitWhileRunning(() -> Files.exists(socket), "its end of the wire");
    } catch (final AssertionError e) {
      guest.close();
      throw e;
    }
    return guest;
  }

  /**
   * Starts the peer. The one before it has ended.
   *
   * @param name of its folder.
   * @param bound after which it is stopped.
   * @param command a line of bash.
   * @return the guest.
   */
  public Guest client(final String name, final Duration bound, final String command) {
    return Guest.start(
        name,
        bound,
        List.of("-a", CLIENT, "-c", socket.toString(), "-m", monitor.toString()),
        command);
  }

  /** Cuts the wire at the peer: its port is down, and the other guest hears nothing. */
  public void cut() {
    tell("set_link wire off");
  }

  /** Mends the wire. */
  public void mend() {
    tell("set_link wire on");
  }

  /** Says something to the monitor of the peer's emulator, and waits until it did it. */
  private void tell(final String command) {
    try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      channel.connect(UnixDomainSocketAddress.of(monitor));
      awaitPrompt(channel);
      channel.write(ByteBuffer.wrap((command + "\n").getBytes(StandardCharsets.US_ASCII)));
      awaitPrompt(channel);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void awaitPrompt(final SocketChannel channel) throws IOException {
    final StringBuilder said = new StringBuilder();
    final ByteBuffer bytes = ByteBuffer.allocate(1024);
    while (said.indexOf("\n(qemu) ") < 0) {
      if (channel.read(bytes.clear()) < 0) {
        throw new IOException("the monitor ended: " + said);
      }
      said.append(StandardCharsets.US_ASCII.decode(bytes.flip()));
    }
  }

  /** Removes it. The guests have ended. */
  @Override
  public void close() {
    try (Stream<Path> files = Files.list(folder)) {
      for (final Path file : files.toList()) {
        Files.delete(file);
      }
      Files.delete(folder);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
