package org.jdapl.evd;

import java.nio.ByteBuffer;

/** What travels with a connect, an accept or a reject. */
final class PrivateData {

  static final ByteBuffer NONE = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private PrivateData() {}

  /** What the consumer gave, from position to limit; null is nothing. */
  static ByteBuffer checked(
      final ByteBuffer given, final int limit, final int argument, final String call) {
    final ByteBuffer data = given == null ? NONE : given.duplicate();
    if (data.remaining() > limit) {
      throw Misuse.argument(
          argument,
          call
              + ": private data of "
              + data.remaining()
              + " bytes is longer than the "
              + limit
              + " the provider carries");
    }
    return data;
  }

  /** A copy of what the provider shows during a call. */
  static ByteBuffer copy(final ByteBuffer shown) {
    return ByteBuffer.allocate(shown.remaining()).put(shown.duplicate()).flip().asReadOnlyBuffer();
  }
}
