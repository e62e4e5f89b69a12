package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Layout.SendWr;
import org.jdapl.rdmacore.jni.Layout.Sge;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WrOpcode;

/** Room for a list of send requests, as C wants them. Confined to one thread at a time. */
final class SendArea {

  /** How many requests cross at once at most. */
  static final int LIST = 32;

  static final int FENCE = 1;
  static final int SIGNALED = 2;
  static final int SOLICITED = 4;
  static final int INLINE = 8;

  private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private final int maxSge;
  private final ByteBuffer area;
  private final long address;

  SendArea(final int maxSge) {
    this.maxSge = maxSge;
    area = Layout.allocate(LIST * (SendWr.SIZE + maxSge * Sge.SIZE));
    address = Verbs.address(area);
    for (int i = 0; i < LIST; i++) {
      area.putLong(i * SendWr.SIZE + SendWr.SG_LIST, address + elements(i));
    }
  }

  private int elements(final int index) {
    return LIST * SendWr.SIZE + index * maxSge * Sge.SIZE;
  }

  /** Where the list starts. */
  long address() {
    return address;
  }

  /** Writes a request. */
  void put(final int index, final SendRequest request) {
    final int at = index * SendWr.SIZE;
    area.putLong(at + SendWr.WR_ID, request.wrId);
    area.putInt(at + SendWr.NUM_SGE, request.sgeCount());
    area.putInt(at + SendWr.OPCODE, opcode(request));
    area.putInt(
        at + SendWr.SEND_FLAGS,
        (request.fence ? FENCE : 0)
            | (request.signaled ? SIGNALED : 0)
            | (request.solicited ? SOLICITED : 0)
            | (request.inline ? INLINE : 0));
    area.putInt(at + SendWr.IMM_DATA, immediateOrKey(request));
    switch (request.opcode) {
      case ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> {
        area.putLong(at + SendWr.ATOMIC_REMOTE_ADDR, request.remoteAddress);
        area.putLong(at + SendWr.ATOMIC_COMPARE_ADD, request.compareAdd);
        area.putLong(at + SendWr.ATOMIC_SWAP, request.swap);
        area.putInt(at + SendWr.ATOMIC_RKEY, request.rkey);
      }
      default -> {
        area.putLong(at + SendWr.RDMA_REMOTE_ADDR, request.remoteAddress);
        area.putInt(at + SendWr.RDMA_RKEY, request.rkey);
      }
    }
    RecvArea.putElements(area, elements(index), request);
  }

  /** Has a request send what is in one place, and that inline, instead of its elements. */
  void putInline(final int index, final long data, final int length) {
    area.putInt(index * SendWr.SIZE + SendWr.NUM_SGE, length == 0 ? 0 : 1);
    if (length > 0) {
      area.putLong(elements(index) + Sge.ADDR, data);
      area.putInt(elements(index) + Sge.LENGTH, length);
    }
  }

  /** Immediate data in network order, or the key of the window to end: they share a place. */
  private static int immediateOrKey(final SendRequest request) {
    if (request.opcode == WrOpcode.SEND_WITH_INV) {
      return request.invalidateRkey;
    }
    return SWAP ? Integer.reverseBytes(request.immediate) : request.immediate;
  }

  /** The number of an ibv_wr_opcode. */
  private static int opcode(final SendRequest request) {
    return switch (request.opcode) {
      case RDMA_WRITE -> 0;
      case RDMA_WRITE_WITH_IMM -> 1;
      case SEND -> 2;
      case SEND_WITH_IMM -> 3;
      case RDMA_READ -> 4;
      case ATOMIC_CMP_AND_SWP -> 5;
      case ATOMIC_FETCH_AND_ADD -> 6;
      case SEND_WITH_INV -> 9;
    };
  }

  /** Makes a list of the first requests. */
  void link(final int count) {
    for (int i = 0; i < count; i++) {
      final long next = i + 1 < count ? address + (i + 1L) * SendWr.SIZE : 0;
      area.putLong(i * SendWr.SIZE + SendWr.NEXT, next);
    }
  }
}
