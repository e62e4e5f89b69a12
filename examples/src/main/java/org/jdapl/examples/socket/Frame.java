package org.jdapl.examples.socket;

import java.io.*;
import java.util.*;
import java.util.function.LongSupplier;
import org.jdapl.verbs.WrOpcode;

/**
 * What goes through a socket: a request; or without an opcode the answer to one, whose value is its
 * status. The value of a SEND is how often to try it again, that of a READ its length. The first
 * frame each way is the request for the connection and its answer.
 */
@SuppressWarnings("ArrayRecordComponent") // two frames never have one array
record Frame(WrOpcode opcode, int value, int key, long address, byte[] data) {

  /** In place of a status: there is a receive now, so the message is to be sent again. */
  static final int AGAIN = -1;

  private static final List<WrOpcode> OPCODES = Arrays.asList(WrOpcode.values());
  private static final int MAGIC = 0x6a444132; // and the opcode, or -1

  static Frame answer(int status, byte... data) {
    return new Frame(null, status, 0, 0, data);
  }

  /** Reads a frame; what is longer than the limit, as of when its length came, is no peer's. */
  static Frame read(DataInputStream in, LongSupplier limit) throws IOException {
    int code = in.readInt() - MAGIC;
    int length = in.readInt();
    if (code < -1 || code >= OPCODES.size() || length < 0 || length > limit.getAsLong()) {
      throw new IOException("whoever it is, it is not a peer");
    }
    WrOpcode opcode = code < 0 ? null : OPCODES.get(code);
    // memory is taken as the bytes come: the length may be a lie
    Frame it = new Frame(opcode, in.readInt(), in.readInt(), in.readLong(), in.readNBytes(length));
    if (it.data.length < length) {
      throw new EOFException();
    }
    return it;
  }

  void write(DataOutputStream out) throws IOException {
    out.writeInt(MAGIC + OPCODES.indexOf(opcode));
    out.writeInt(data.length);
    out.writeInt(value);
    out.writeInt(key);
    out.writeLong(address);
    out.write(data);
    out.flush();
  }
}
