package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Layout.RecvWr;
import org.jdapl.rdmacore.jni.Layout.Sge;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SgeList;

/** Room for a list of receive requests, as C wants them. Confined to one thread at a time. */
final class RecvArea {

  private final int maxSge;
  private final ByteBuffer area;
  private final long address;

  RecvArea(final int maxSge) {
    this.maxSge = maxSge;
    area = Layout.allocate(SendArea.LIST * (RecvWr.SIZE + maxSge * Sge.SIZE));
    address = Verbs.address(area);
    for (int i = 0; i < SendArea.LIST; i++) {
      area.putLong(i * RecvWr.SIZE + RecvWr.SG_LIST, address + elements(i));
    }
  }

  private int elements(final int index) {
    return SendArea.LIST * RecvWr.SIZE + index * maxSge * Sge.SIZE;
  }

  /** Where the list starts. */
  long address() {
    return address;
  }

  /** Whether a request has no more elements than there is room for. */
  boolean isValid(final RecvRequest request) {
    return request.sgeCount() <= maxSge;
  }

  /** Writes a request. */
  void put(final int index, final RecvRequest request) {
    final int at = index * RecvWr.SIZE;
    area.putLong(at + RecvWr.WR_ID, request.wrId);
    area.putInt(at + RecvWr.NUM_SGE, request.sgeCount());
    putElements(area, elements(index), request);
  }

  static void putElements(final ByteBuffer area, final int first, final SgeList list) {
    for (int i = 0; i < list.sgeCount(); i++) {
      final int at = first + i * Sge.SIZE;
      area.putLong(at + Sge.ADDR, list.sgeAddress(i));
      area.putInt(at + Sge.LENGTH, list.sgeLength(i));
      area.putInt(at + Sge.LKEY, list.sgeLkey(i));
    }
  }

  /** Makes a list of the first requests. */
  void link(final int count) {
    for (int i = 0; i < count; i++) {
      final long next = i + 1 < count ? address + (i + 1L) * RecvWr.SIZE : 0;
      area.putLong(i * RecvWr.SIZE + RecvWr.NEXT, next);
    }
  }
}
