package org.jdapl.examples.socket;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * What goes through a socket: a header, and data.
 *
 * @param kind what it is.
 * @param flags of a message: {@link #SOLICITED}, {@link #IMMEDIATE}.
 * @param value immediate data; of an answer its status; of CONNECT {@link #MAGIC}.
 * @param key of the peer's memory; of CONNECT and ACCEPT how often to wait for a receive.
 * @param address in the peer's memory.
 * @param size of the data, or of that which a READ asks for.
 * @param data from its position to its limit.
 */
record Frame(Kind kind, int flags, int value, int key, long address, int size, ByteBuffer data) {

  /** Of connections, requests, and answers. */
  enum Kind {
    CONNECT,
    ACCEPT,
    REJECT,
    READY,
    SEND,
    WRITE,
    READ,
    ANSWER
  }

  static final int HEADER_BYTES = 2 * Byte.BYTES + 3 * Integer.BYTES + Long.BYTES;
  static final int MAGIC = 0x6a444131;
  static final int SOLICITED = 1;
  static final int IMMEDIATE = 2;
  private static final List<Kind> KINDS = List.of(Kind.values());

  /** Of a connection. */
  static Frame of(final Kind kind, final int value, final int key, final byte[] data) {
    return new Frame(kind, 0, value, key, 0, data.length, ByteBuffer.wrap(data));
  }

  /** Header and data, to be written. */
  ByteBuffer encode() {
    final ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + data.remaining());
    bytes.put((byte) KINDS.indexOf(kind)).put((byte) flags).putInt(value).putInt(key);
    return bytes.putLong(address).putInt(size).put(data).flip();
  }

  /** A header that came, with room for the data. */
  static Frame decode(final ByteBuffer header) throws ProtocolException {
    final int kind = header.get();
    final int flags = header.get();
    final int value = header.getInt();
    final int key = header.getInt();
    final long address = header.getLong();
    final int size = header.getInt();
    if (kind < 0 || kind >= KINDS.size() || size < 0 || size > SocketDevice.MAX_MESSAGE) {
      throw new ProtocolException("a header of kind " + kind + ", size " + size);
    }
    final int bytes = KINDS.get(kind) == Kind.READ ? 0 : size;
    return new Frame(KINDS.get(kind), flags, value, key, address, size, ByteBuffer.allocate(bytes));
  }
}
