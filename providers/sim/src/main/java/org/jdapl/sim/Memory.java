package org.jdapl.sim;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jdapl.verbs.Access;

/**
 * The registered regions of a fabric, found by key. Changed holding the wire, read holding the wire
 * or, for inline data, without.
 *
 * <p>A key is (slot, generation, which key), scrambled by a multiplication that can be undone.
 */
final class Memory {

  private static final int SCRAMBLE = 0x9E3779B9;
  private static final int UNSCRAMBLE = 0x144CBC89; // its inverse modulo 2^32
  private static final int SLOT_SHIFT = 12;
  private static final int MAX_REGIONS = 1 << (Integer.SIZE - SLOT_SHIFT);
  private static final int PAGE = 4096;

  private final SimFabric fabric;
  private final BitSet used = new BitSet();
  private volatile AtomicReferenceArray<SimMr> slots = new AtomicReferenceArray<>(64);
  private int generation;
  private long nextAddress = 0x7f00_0000_0000L;

  Memory(final SimFabric fabric) {
    this.fabric = fabric;
  }

  /** Registers a buffer; null if there is no room. */
  SimMr add(final SimPd pd, final ByteBuffer buffer, final Set<Access> access) {
    final int slot = used.nextClearBit(0);
    if (slot >= MAX_REGIONS) {
      return null;
    }
    final int plain = (slot << SLOT_SHIFT) | ((generation++ << 1) & ((1 << SLOT_SHIFT) - 1));
    final long address = nextAddress;
    final long pages = buffer.capacity() / PAGE + fabric.random(2, 16); // never adjacent
    nextAddress += pages * PAGE;
    final SimMr region =
        new SimMr(pd, buffer, access, address, plain * SCRAMBLE, (plain | 1) * SCRAMBLE);
    used.set(slot);
    if (slot >= slots.length()) {
      final AtomicReferenceArray<SimMr> larger = new AtomicReferenceArray<>(2 * slots.length());
      for (int i = 0; i < slots.length(); i++) {
        larger.set(i, slots.get(i));
      }
      slots = larger;
    }
    slots.set(slot, region);
    return region;
  }

  void remove(final SimMr region) {
    final int slot = slot(region.lkey());
    slots.set(slot, null);
    used.clear(slot);
  }

  /** The region of a local key, or null. */
  SimMr local(final int lkey) {
    final SimMr region = at(lkey);
    return region != null && region.lkey() == lkey ? region : null;
  }

  /** The region of a remote key, or null. */
  SimMr remote(final int rkey) {
    final SimMr region = at(rkey);
    return region != null && region.rkey() == rkey ? region : null;
  }

  private SimMr at(final int key) {
    final AtomicReferenceArray<SimMr> current = slots;
    final int slot = slot(key);
    return slot < current.length() ? current.get(slot) : null;
  }

  private static int slot(final int key) {
    return (key * UNSCRAMBLE) >>> SLOT_SHIFT;
  }
}
