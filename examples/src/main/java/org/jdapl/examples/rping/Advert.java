package org.jdapl.examples.rping;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where memory is that the peer may read or write: rping's one message, in network byte order. To
 * say "go ahead", the server sends one whose contents do not count.
 *
 * @param address where the memory starts.
 * @param rmrContext its key.
 * @param size its length in bytes; not negative.
 */
record Advert(long address, int rmrContext, int size) {

  static final int BYTES = Long.BYTES + Integer.BYTES + Integer.BYTES;

  static final Advert GO_AHEAD = new Advert(0, 0, 0);

  void encode(final ByteBuffer to) {
    final ByteBuffer message = to.duplicate().order(ByteOrder.BIG_ENDIAN);
    message.putLong(address).putInt(rmrContext).putInt(size);
  }

  static Advert decode(final ByteBuffer from) {
    final ByteBuffer message = from.duplicate().order(ByteOrder.BIG_ENDIAN);
    return new Advert(message.getLong(), message.getInt(), message.getInt());
  }
}
