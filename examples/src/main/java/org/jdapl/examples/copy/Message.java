package org.jdapl.examples.copy;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import org.jdapl.examples.PeerText;

/**
 * What sender and receiver tell each other beside the bytes of the file.
 *
 * @param kind what it is.
 * @param slot of CHUNK and CREDIT: which slot of the receiver's ring.
 * @param length of CHUNK: how many bytes are in the slot.
 * @param position of CHUNK: where in the file they belong; of END: how long the file is.
 * @param text of END and DONE: the digest; of FAILED: the reason. Cut off where it does not fit.
 */
record Message(Kind kind, int slot, int length, long position, String text) {

  /** The kinds. */
  enum Kind {
    /** From the sender: a slot was filled. */
    CHUNK(1),
    /** From the receiver: a slot may be filled again. */
    CREDIT(2),
    /** From the sender: that was all. */
    END(3),
    /** From the receiver: the file is in its place. */
    DONE(4),
    /** From either: it will not be. */
    FAILED(5);

    private final int number;

    Kind(final int number) {
      this.number = number;
    }

    private static Kind of(final int number) throws CopyException {
      for (final Kind kind : values()) {
        if (kind.number == number) {
          return kind;
        }
      }
      throw new CopyException("the peer sent a message of the unknown kind " + number);
    }
  }

  /** How long a message is at most. */
  static final int MAX_BYTES = 1024;

  private static final int HEADER_BYTES = 3 * Integer.BYTES + Long.BYTES;

  static Message chunk(final int slot, final int length, final long position) {
    return new Message(Kind.CHUNK, slot, length, position, "");
  }

  static Message credit(final int slot) {
    return new Message(Kind.CREDIT, slot, 0, 0, "");
  }

  static Message end(final long size, final String digest) {
    return new Message(Kind.END, 0, 0, size, digest);
  }

  static Message done(final String digest) {
    return new Message(Kind.DONE, 0, 0, 0, digest);
  }

  static Message failed(final String reason) {
    return new Message(Kind.FAILED, 0, 0, 0, reason);
  }

  /** Writes it at the position of a buffer, which has room for {@link #MAX_BYTES}. */
  void encode(final ByteBuffer to) {
    final byte[] bytes = text.getBytes(UTF_8);
    to.putInt(kind.number).putInt(slot).putInt(length).putLong(position);
    to.put(bytes, 0, Math.min(bytes.length, MAX_BYTES - HEADER_BYTES));
  }

  /** Reads it from position to limit of a buffer. */
  static Message decode(final ByteBuffer from) throws CopyException {
    if (from.remaining() < HEADER_BYTES) {
      throw new CopyException("the peer sent a message of only " + from.remaining() + " bytes");
    }
    return new Message(
        Kind.of(from.getInt()),
        from.getInt(),
        from.getInt(),
        from.getLong(),
        PeerText.printable(UTF_8.decode(from).toString()));
  }
}
