package org.jdapl.examples.socket;

import java.io.*;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jdapl.verbs.WrOpcode;

/**
 * What goes through a socket: a request; or without an opcode the answer to one, whose value is its
 * status. The value of a SEND is how often to try it again, that of a READ its length. The first
 * frame each way is the request for the connection and its answer.
 */
record Frame(WrOpcode opcode, int value, int key, long address, ByteBuffer data) {

  /** What may be asked for; null is an answer. */
  static final List<WrOpcode> OPCODES =
      Arrays.asList(null, WrOpcode.SEND, WrOpcode.RDMA_WRITE, WrOpcode.RDMA_READ);

  /** In place of a status: there is a receive now, so the message is to be sent again. */
  static final int AGAIN = -1;

  static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
  private static final int MAGIC = 0x6a444132;
  private static final int HEADER_BYTES = 28;

  static Frame answer(int status, ByteBuffer data) {
    return new Frame(null, status, 0, 0, data);
  }

  byte[] encode() {
    ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES + data.remaining());
    bytes.putInt(MAGIC).putInt(data.remaining()).putInt(OPCODES.indexOf(opcode));
    return bytes.putInt(value).putInt(key).putLong(address).put(data).array();
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
    WrOpcode opcode = OPCODES.get(header.getInt());
    return new Frame(opcode, header.getInt(), header.getInt(), header.getLong(), data);
  }
}
