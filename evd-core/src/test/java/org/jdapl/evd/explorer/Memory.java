package org.jdapl.evd.explorer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/**
 * The memory of a run's transfers. Each request has a place of its own, at which there is a pattern
 * that follows from its number, so that each byte that arrives tells whose it is.
 */
final class Memory {

  /** Bytes of a place. */
  static final int PLACE = 64;

  /** The least that is sent: a number. */
  static final int LEAST = Long.BYTES;

  private static final int PLACES = 256;
  private static final int AREA = PLACES * PLACE;

  /** Bytes of all of it. */
  static final int LENGTH = 3 * AREA + PLACE;

  private static final ThreadLocal<ByteBuffer> BYTES =
      ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(LENGTH));

  /**
   * A message that was posted.
   *
   * @param immediate whether it is the immediate data of a write, which takes a receive.
   * @param ends what it ends at its receiver; null if nothing.
   */
  record Message(EndpointBook by, int length, boolean immediate, RmrBook.Bind ends) {}

  private final ByteBuffer bytes = BYTES.get(); // runs of a thread come one after the other
  private final ByteBuffer counters = bytes.duplicate().order(ByteOrder.nativeOrder());
  private final Map<Long, Message> messages = new HashMap<>();

  Memory() {
    for (int i = 0; i < 2 * AREA; i += Long.BYTES) {
      bytes.putLong(i, 0);
    }
    for (long number = 0; number < PLACES; number++) {
      fill(source(number), number, PLACE);
    }
    for (int i = 3 * AREA; i < LENGTH; i += Long.BYTES) {
      counters.putLong(i, Cell.FIRST);
    }
  }

  ByteBuffer bytes() {
    return bytes;
  }

  /** Whether a request has its place for itself. */
  static boolean isKnown(final long number) {
    return number < PLACES;
  }

  /** Where a request is sent from or received to. */
  static int local(final long number) {
    return place(number);
  }

  /** Where an RDMA write goes. */
  static int target(final long number) {
    return AREA + place(number);
  }

  /** Where an RDMA read comes from. */
  static int source(final long number) {
    return 2 * AREA + place(number);
  }

  /** Where the atomics of an adapter change something. */
  static int cell(final int adapter) {
    return 3 * AREA + adapter * Long.BYTES;
  }

  private static int place(final long number) {
    return (int) (number % PLACES) * PLACE;
  }

  /** Writes what a request is to send. */
  void fill(final int at, final long number, final int length) {
    bytes.putLong(at, number);
    for (int i = LEAST; i < length; i++) {
      bytes.put(at + i, pattern(number, i));
    }
  }

  /** Whether something is exactly what a request sends, and nothing behind it was written. */
  boolean holds(final int at, final long number, final int length) {
    if (numberAt(at) != number) {
      return false;
    }
    for (int i = LEAST; i < PLACE; i++) {
      final byte expected = i < length ? pattern(number, i) : 0;
      if (bytes.get(at + i) != expected) {
        return false;
      }
    }
    return true;
  }

  /** Whether nothing was written to a place. */
  boolean isBlank(final int at) {
    for (int i = 0; i < PLACE; i += Long.BYTES) {
      if (bytes.getLong(at + i) != 0) {
        return false;
      }
    }
    return true;
  }

  /** The number of the request whose bytes are somewhere. */
  long numberAt(final int at) {
    return bytes.getLong(at);
  }

  private static byte pattern(final long number, final int index) {
    return (byte) (number * 31 + index * 7L + 1);
  }

  /** What an atomic sees, or has fetched. */
  long counterAt(final int at) {
    return counters.getLong(at);
  }

  void posted(final long number, final Message message) {
    messages.put(number, message);
  }

  /** A message that was posted; null if there is none of that number. */
  Message message(final long number) {
    return messages.get(number);
  }
}
