package org.jdapl.examples.cmrate;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.examples.PeerText;

/**
 * What a server of dtestcm tells its client first, by TCP: 128 bytes with a line of text.
 *
 * @param address of the server's adapter.
 * @param provider the adapter that the client opens, by its name in dat.conf, if it is dtestcm.
 */
record Whereabouts(InetAddress address, String provider) {

  static final int PORT = 15_828;

  /** How long the name of a provider is at most. */
  static final int MAX_PROVIDER = 95;

  private static final int BYTES = 128;
  private static final int FIELDS = 5;
  private static final int ADDRESS = 3;
  private static final int TRIES = 10;
  private static final int HEX = 16;

  /** Tells all who ask, also those who are no clients, until the socket is closed. */
  void tell(final ServerSocket socket) throws IOException {
    final byte[] message = encode();
    final Thread teller = new Thread(() -> tell(socket, message), "cmrate-whereabouts");
    teller.setDaemon(true);
    teller.start();
  }

  private static void tell(final ServerSocket socket, final byte[] message) {
    while (!socket.isClosed()) {
      try (Socket client = socket.accept()) {
        client.getOutputStream().write(message);
      } catch (final IOException e) {
        LockSupport.parkNanos(1_000_000); // that one is gone, or no descriptor is left so far
      }
    }
  }

  /**
   * Asks a server, which may come a little later.
   *
   * @param patience how long one that is there may say nothing.
   */
  static Whereabouts ask(final String host, final int port, final Duration patience)
      throws CmrateException, InterruptedException {
    String why = "";
    for (int i = 0; i < TRIES; i++) {
      try (Socket server = new Socket()) {
        server.connect(new InetSocketAddress(host, port), (int) patience.toMillis());
        server.setSoTimeout((int) patience.toMillis());
        return decode(server.getInputStream().readNBytes(BYTES));
      } catch (final SocketTimeoutException e) {
        throw new CmrateException(
            host
                + " TCP port "
                + port
                + " said nothing for "
                + patience.toSeconds()
                + " s; expected the line of cmrate -s or dtestcm -s");
      } catch (final IOException e) {
        why = e.toString();
        TimeUnit.SECONDS.sleep(1);
      }
    }
    throw new CmrateException(
        "no server at "
            + host
            + " TCP port "
            + port
            + ": "
            + why
            + "; start cmrate -s or dtestcm -s there first");
  }

  /** In dtestcm's format: LID, QPN, scope and IPv4 address, the latter as C has it in memory. */
  byte[] encode() throws IOException {
    final byte[] bytes = address.getAddress();
    if (bytes.length != Integer.BYTES) {
      throw new IOException("dtestcm knows IPv4 addresses only, and this is " + address);
    }
    final int inMemory = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getInt();
    final String line =
        String.format(Locale.ROOT, "%04x:%08x:%08x:%08x:%s", 0, 0, 0, inMemory, provider);
    return ByteBuffer.allocate(BYTES).put(line.getBytes(US_ASCII)).array();
  }

  static Whereabouts decode(final byte[] message) throws CmrateException {
    final String text = US_ASCII.decode(ByteBuffer.wrap(message)).toString();
    final int end = text.indexOf(0);
    final String line = PeerText.printable(end < 0 ? text : text.substring(0, end));
    final String[] fields = line.split(":", FIELDS);
    try {
      final int inMemory = Integer.parseUnsignedInt(fields[ADDRESS], HEX);
      if (inMemory == 0) {
        throw new CmrateException(
            "the server has no IP address: '"
                + line
                + "'; start dtestcm with a provider over"
                + " rdma_cm, libdaplofa in its dat.conf");
      }
      final ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder());
      return new Whereabouts(
          InetAddress.getByAddress(bytes.putInt(inMemory).array()), fields[ADDRESS + 1]);
    } catch (final ArrayIndexOutOfBoundsException | IllegalArgumentException | IOException e) {
      throw new CmrateException(
          "the server says '"
              + line
              + "'; expected LID:QPN:SCOPE:ADDRESS:PROVIDER of dtestcm: "
              + e.getMessage());
    }
  }
}
