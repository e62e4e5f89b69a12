package org.jdapl.examples.stress;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;

/** The end that is asked for the connection. */
final class Server extends End {

  private static final int REPLY = Integer.BYTES + Long.BYTES;

  /** The rounds that it was asked for. */
  private final BitSet asked = new BitSet();

  Server(final int index, final Side side, final Station station, final SplittableRandom random) {
    super(index, side, station, random);
  }

  /** Accepts, unless its last round is not over yet, or the client had begun a later one. */
  synchronized void onRequest(final ConnectionRequest request, final ByteBuffer hello) {
    final int round = hello.getInt();
    if (asked.get(round)) {
      side().account().breach(this + ": was asked for round " + round + " again");
    }
    asked.set(round);
    if (!isFree() || round < round()) {
      request.reject(null);
      return;
    }
    open(round, hello.getInt());
    getMemory(hello);
    final ByteBuffer reply = ByteBuffer.allocate(REPLY);
    putMemory(reply);
    try {
      request.accept(endpoint(), reply.flip());
    } catch (final DatException e) {
      side().account().silence(this + " cannot accept: " + e); // the client has gone
      close();
      request.close();
    }
  }

  @Override
  void onEstablished(final ByteBuffer privateData) {
    // it has its peer's memory since it was asked
  }

  @Override
  void onAllDone() {
    // it is the client's to end the round
  }

  @Override
  void onClosed(final boolean wasEstablished) {
    // the client begins the next one
  }
}
