package org.jdapl.examples.rping;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jdapl.examples.PeerText;

/** Offers each ping in its memory, and the room for the pong beside it. */
final class Client extends Side {

  private static final char FIRST = 'A';
  private static final int LETTERS = 'z' - 'A' + 1;

  private final int size;
  private final boolean isValidated;
  private final Consumer<String> show;

  /**
   * Opens an adapter.
   *
   * @param isValidated whether pongs are compared with their pings.
   * @param show gets the data of each pong.
   */
  Client(
      final String ia,
      final int size,
      final boolean isValidated,
      final Consumer<String> show,
      final Consumer<String> debug) {
    super(ia, 2 * size, debug);
    this.size = size;
    this.isValidated = isValidated;
    this.show = show;
  }

  /**
   * Connects, pings, and disconnects.
   *
   * @param count how many pings; 0 for no end.
   */
  void ping(final InetAddress server, final long port, final long count)
      throws RpingException, InterruptedException {
    connect(server, port);
    for (long number = 0; count == 0 || number < count; number++) {
      ping(number);
    }
    disconnect();
  }

  private void ping(final long number) throws RpingException, InterruptedException {
    final ByteBuffer ping = data.buffer().slice(0, size);
    fill(ping, number);
    send(advert(0));
    expect(receive(), number);
    send(advert(size));
    expect(receive(), number);
    final ByteBuffer pong = data.buffer().slice(size, size);
    if (isValidated) {
      validate(ping, pong, number);
    }
    show.accept("ping data: " + text(pong));
  }

  private Advert advert(final int offset) {
    return new Advert(data.address() + offset, data.rmrContext(), size);
  }

  private static void expect(final Advert goAhead, final long number) throws RpingException {
    if (goAhead == null) {
      throw new RpingException("the server disconnected in the middle of ping " + number);
    }
  }

  /** As rping of C does: its number, letters that start with another one each time, and a zero. */
  static void fill(final ByteBuffer ping, final long number) {
    final byte[] head = ("rdma-ping-" + number + ": ").getBytes(ISO_8859_1);
    for (int i = 0; i < ping.limit() - 1; i++) {
      final long letter = FIRST + (number + i - head.length) % LETTERS;
      ping.put(i, i < head.length ? head[i] : (byte) letter);
    }
    ping.put(ping.limit() - 1, (byte) 0);
  }

  static void validate(final ByteBuffer ping, final ByteBuffer pong, final long number)
      throws RpingException {
    final int mismatch = ping.mismatch(pong);
    if (mismatch >= 0) {
      throw new RpingException(
          "data mismatch in ping "
              + number
              + ": byte "
              + mismatch
              + " is "
              + pong.get(mismatch)
              + ", expected "
              + ping.get(mismatch));
    }
  }

  private static String text(final ByteBuffer pong) {
    final String all = ISO_8859_1.decode(pong.duplicate()).toString();
    final int end = all.indexOf(0);
    return PeerText.printable(end < 0 ? all : all.substring(0, end));
  }
}
