package org.jdapl.rdmacore;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Layout.CmEvent;
import org.jdapl.rdmacore.jni.Verbs;

/**
 * A batch of events of the connection manager, as C wrote them. Confined to the thread that awaits.
 */
final class CmEvents {

  static final int ADDR_RESOLVED = 0;
  static final int ADDR_ERROR = 1;
  static final int ROUTE_RESOLVED = 2;
  static final int ROUTE_ERROR = 3;
  static final int CONNECT_REQUEST = 4;
  static final int CONNECT_RESPONSE = 5;
  static final int CONNECT_ERROR = 6;
  static final int UNREACHABLE = 7;
  static final int REJECTED = 8;
  static final int ESTABLISHED = 9;
  static final int DISCONNECTED = 10;
  static final int DEVICE_REMOVAL = 11;
  static final int TIMEWAIT_EXIT = 15;

  static final int BATCH = 16;

  private final ByteBuffer records = Layout.allocate(BATCH * CmEvent.SIZE);
  private final long address = Verbs.address(records);
  private int at;

  long address() {
    return address;
  }

  /** The other methods are of this event from now on. */
  void select(final int index) {
    at = index * CmEvent.SIZE;
  }

  long token() {
    return records.getLong(at + CmEvent.TOKEN);
  }

  long newId() {
    return records.getLong(at + CmEvent.NEW_ID);
  }

  int type() {
    return records.getInt(at + CmEvent.TYPE);
  }

  /** The reason of a reject, or an errno, above 0 unless all is well. */
  int status() {
    return Math.abs(records.getInt(at + CmEvent.STATUS));
  }

  /** How many reads this side is asked to answer at once. */
  int readsIn() {
    return records.getInt(at + CmEvent.READS_IN);
  }

  /** How many reads this side may have in flight. */
  int readsOut() {
    return records.getInt(at + CmEvent.READS_OUT);
  }

  InetAddress peer() {
    final byte[] bytes = new byte[records.getInt(at + CmEvent.ADDRESS_LENGTH)];
    records.get(at + CmEvent.ADDRESS, bytes);
    try {
      return bytes.length == 16
          ? Inet6Address.getByAddress(null, bytes, records.getInt(at + CmEvent.SCOPE))
          : InetAddress.getByAddress(bytes);
    } catch (final UnknownHostException e) {
      throw new IllegalStateException("an address of " + bytes.length + " bytes", e);
    }
  }

  /** What the peer sent along; a copy. */
  byte[] privateData() {
    final byte[] data = new byte[records.getInt(at + CmEvent.PRIVATE_LENGTH)];
    records.get(at + CmEvent.PRIVATE_DATA, data);
    return data;
  }
}
