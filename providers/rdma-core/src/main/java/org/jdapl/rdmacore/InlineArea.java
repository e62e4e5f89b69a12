package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.SendRequest;

/**
 * Room for the inline data of a list of send requests. A post reads inline data in this process;
 * what it reads is a copy in here, made through the buffers of the regions: they know whether their
 * memory is still there. Confined to one thread at a time.
 */
final class InlineArea {

  private final int max;
  private final ByteBuffer area;
  private final long address;

  InlineArea(final int max) {
    this.max = max;
    area = Layout.allocate(SendArea.LIST * max);
    address = Verbs.address(area);
  }

  /** How many bytes a request may have. */
  int max() {
    return max;
  }

  /** Where the data of a request is. */
  long address(final int index) {
    return address + (long) index * max;
  }

  /** Copies the data of a request; false if it lies in no region, or in memory that is gone. */
  boolean copy(final int index, final SendRequest request, final Regions regions) {
    int at = index * max;
    for (int i = 0; i < request.sgeCount(); i++) {
      final RdmaMr region = regions.find(request.sgeLkey(i));
      final int length = request.sgeLength(i);
      if (region == null || !region.copy(request.sgeAddress(i), length, area, at)) {
        return false;
      }
      at += length;
    }
    return true;
  }
}
