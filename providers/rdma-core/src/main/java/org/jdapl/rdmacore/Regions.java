package org.jdapl.rdmacore;

import java.util.Arrays;

/**
 * The regions of a device by local key. Inline data is read by this process and not by the device,
 * which would check the key: so the key is checked here.
 */
final class Regions {

  private static final RdmaMr[] NONE = {};

  private volatile RdmaMr[] sorted = NONE;

  synchronized void add(final RdmaMr region) {
    final RdmaMr[] old = sorted;
    final int found = search(old, region.lkey());
    if (found >= 0) { // the device gave the key away again: the older region is gone
      final RdmaMr[] next = old.clone();
      next[found] = region;
      sorted = next;
      return;
    }
    final int at = -1 - found;
    final RdmaMr[] next = Arrays.copyOf(old, old.length + 1);
    System.arraycopy(old, at, next, at + 1, old.length - at);
    next[at] = region;
    sorted = next;
  }

  synchronized void remove(final RdmaMr region) {
    final RdmaMr[] old = sorted;
    final int at = search(old, region.lkey());
    if (at < 0 || old[at] != region) {
      return;
    }
    final RdmaMr[] next = Arrays.copyOf(old, old.length - 1);
    System.arraycopy(old, at + 1, next, at, next.length - at);
    sorted = next;
  }

  /** The region of a key; null if there is none. */
  RdmaMr find(final int lkey) {
    final RdmaMr[] now = sorted;
    final int at = search(now, lkey);
    return at < 0 ? null : now[at];
  }

  private static int search(final RdmaMr[] in, final int lkey) {
    int low = 0;
    int high = in.length - 1;
    while (low <= high) {
      final int middle = (low + high) >>> 1;
      final int key = in[middle].lkey();
      if (key == lkey) {
        return middle;
      }
      if (key < lkey) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    return -1 - low;
  }
}
