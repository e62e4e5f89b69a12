package org.jdapl.examples.cmrate;

import java.nio.ByteBuffer;

/**
 * The private data of dtestcm: bytes that count up. The answer starts one higher than the request.
 */
enum Greeting {
  REQUEST(1),
  ANSWER(2);

  private static final int BYTES = 48;

  private final int first;

  Greeting(final int first) {
    this.first = first;
  }

  ByteBuffer encode() {
    final ByteBuffer data = ByteBuffer.allocate(BYTES);
    for (int i = 0; i < BYTES; i++) {
      data.put(i, (byte) (first + i));
    }
    return data;
  }

  /** Whether private data that came is this; the transport may have put zeros behind it. */
  boolean isIn(final ByteBuffer data) {
    return data.remaining() >= BYTES && data.slice(data.position(), BYTES).equals(encode());
  }
}
