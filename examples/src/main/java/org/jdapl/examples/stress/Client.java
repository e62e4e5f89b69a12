package org.jdapl.examples.stress;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.SplittableRandom;
import org.jdapl.dat.DatException;

/** The end that asks for the connection: says which round it is, and ends it. */
final class Client extends End {

  private static final Duration CONNECT = Duration.ofSeconds(20);
  private static final int HELLO = 4 * Integer.BYTES + Long.BYTES;
  private static final int LEAST_MESSAGES = 20;
  private static final int MOST_MESSAGES = 2000;
  private static final int LONGEST_PAUSE = 10;

  private final InetAddress server;
  private final long service;

  Client(
      final int index,
      final Side side,
      final Station station,
      final SplittableRandom random,
      final InetAddress server,
      final long service) {
    super(index, side, station, random);
    this.server = server;
    this.service = service;
  }

  /** Whether private data is what a client says, and no stranger's; zeros may follow. */
  static boolean isHello(final ByteBuffer data) {
    if (data.remaining() < HELLO) {
      return false;
    }
    final ByteBuffer hello = data.duplicate();
    final int index = hello.getInt();
    final int round = hello.getInt();
    final int messages = hello.getInt();
    return index >= 0
        && index < Stress.MAX_CONNECTIONS
        && round > 0
        && messages >= LEAST_MESSAGES
        && messages < MOST_MESSAGES;
  }

  synchronized void start() {
    if (!isFree()) {
      return;
    }
    final int messages = random().nextInt(LEAST_MESSAGES, MOST_MESSAGES);
    open(round() + 1, messages);
    final ByteBuffer hello = ByteBuffer.allocate(HELLO);
    hello.putInt(index()).putInt(round()).putInt(messages);
    putMemory(hello);
    try {
      endpoint().connect(server, service, CONNECT, hello.flip());
    } catch (final DatException e) {
      side().account().breach(this + " cannot connect: " + e);
    }
  }

  @Override
  void onEstablished(final ByteBuffer privateData) {
    if (privateData.hasRemaining()) { // else it was over before the answer came, and writes flush
      getMemory(privateData);
    }
  }

  @Override
  void onAllDone() {
    part();
  }

  /** A server that said no, or is not there, is asked again soon. */
  @Override
  void onClosed(final boolean wasEstablished) {
    side().later(this::start, wasEstablished ? 0 : random().nextInt(1, LONGEST_PAUSE));
  }
}
