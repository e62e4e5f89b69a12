package org.jdapl.examples.socket;

import java.io.*;
import java.nio.ByteBuffer;
import java.util.List;
import org.jdapl.verbs.WrOpcode;

/**
 * What goes through a socket: a request; or without an opcode the answer to one, whose value is its
 * status. The value of a SEND is how often to try it again, that of a READ its length. The first
 * frame each way is the request for the connection and its answer.
 */
record Frame(WrOpcode opcode, int value, int key, long address, ByteBuffer data) {

  /** In place of a status: there is a receive now, so the message is to be sent again. */
  static final int AGAIN = -1;

  static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final List<WrOpcode> OPCODES = List.of(WrOpcode.values());
  private static final int MAGIC = 0x6a444132;
  private static final int HEADER_BYTES = 28;

  static Frame answer(int status, ByteBuffer data) {
    return new Frame(null, status, 0, 0, data);
  }

  byte[] encode() {
    ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + data.remaining());
    bytes.putInt(MAGIC).putInt(data.remaining());
    bytes.putInt(opcode == null ? -1 : OPCODES.indexOf(opcode)).putInt(value);
    return bytes.putInt(key).putLong(address).put(data).array();
  }

  static Frame read(InputStream stream) throws IOException {
    DataInputStream in = new DataInputStream(stream);
    ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
    in.readFully(header.array());
    if (header.getInt() != MAGIC) {
      throw new IOException("whoever it is, it is not a peer");
    }
    ByteBuffer data = ByteBuffer.allocate(header.getInt());
    in.readFully(data.array());
    int code = header.getInt();
    WrOpcode opcode = code < 0 ? null : OPCODES.get(code);
    return new Frame(opcode, header.getInt(), header.getInt(), header.getLong(), data);
  }
}
