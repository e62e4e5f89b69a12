package org.jdapl.examples.rping;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jdapl.examples.PeerText;

/** Reads each ping from the client's memory, and writes it back as the pong. */
final class Server extends Side {

  private final Consumer<String> show;
  private final AtomicLong pings = new AtomicLong();

  /**
   * Opens an adapter.
   *
   * @param show gets the data of each ping.
   */
  Server(
      final String ia, final int size, final Consumer<String> show, final Consumer<String> debug) {
    super(ia, size, debug);
    this.show = show;
  }

  /** Listens at an address of the adapter and a port, 0 for any; returns which. */
  long listen(final InetAddress address, final long port) {
    final InetSocketAddress at = new InetSocketAddress(address, (int) port);
    return opened(adapter.createCsp(at, evd)).connQual();
  }

  /** Serves one client until it disconnects. */
  void serve() throws RpingException, InterruptedException {
    accept();
    for (Advert source = receive(); source != null; source = receive()) {
      echo(source);
      pings.incrementAndGet();
    }
  }

  private void echo(final Advert source) throws RpingException, InterruptedException {
    if (source.size() < 1 || source.size() > data.length()) {
      throw new RpingException(
          "the client pings with "
              + Integer.toUnsignedString(source.size())
              + " bytes, and there is room for "
              + data.length()
              + ": give both sides the same -S");
    }
    expect(read(source));
    final int length = length(source.size());
    show.accept("server ping data: " + text(length));
    send(Advert.GO_AHEAD);
    final Advert sink = receive();
    expect(sink != null);
    expect(write(Math.min(length + 1, source.size()), sink));
    send(Advert.GO_AHEAD);
  }

  private void expect(final boolean isConnected) throws RpingException {
    if (!isConnected) {
      throw new RpingException("the client disconnected in the middle of ping " + pings.get());
    }
  }

  /** How long the string is that was read: C's strings end with a zero. */
  private int length(final int size) {
    int length = 0;
    while (length < size && data.buffer().get(length) != 0) {
      length++;
    }
    return length;
  }

  private String text(final int length) {
    final ByteBuffer string = data.buffer().slice(0, length);
    return PeerText.printable(ISO_8859_1.decode(string).toString());
  }

  /** How many pings were answered. From any thread. */
  long pings() {
    return pings.get();
  }
}
