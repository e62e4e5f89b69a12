package org.jdapl.sim;

import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MwType;

/**
 * The registered regions and the windows of a fabric, found by key. Changed holding the wire, read
 * holding the wire or, for inline data, without.
 *
 * <p>A key is (slot, generation, which key), scrambled by a multiplication that can be undone.
 */
final class Memory {

  private static final int SCRAMBLE = 0x9E3779B9;
  private static final int UNSCRAMBLE = 0x144CBC89; // its inverse modulo 2^32
  private static final int SLOT_SHIFT = 12;
  private static final int MAX_SLOTS = 1 << (Integer.SIZE - SLOT_SHIFT);
  private static final int KEY_MASK = (1 << SLOT_SHIFT) - 1;
  private static final int PAGE = 4096;

  private final SimFabric fabric;
  private final BitSet used = new BitSet();
  private volatile AtomicReferenceArray<SimObject> slots = new AtomicReferenceArray<>(64);
  private int generation;
  private long nextAddress = 0x7f00_0000_0000L;

  /** The region of a local key, or null. */
  final IntFunction<SimMr> local = this::local;

  Memory(final SimFabric fabric) {
    this.fabric = fabric;
  }

  /** Registers a buffer; null if there is no room. */
  SimMr add(final SimPd pd, final ByteBuffer buffer, final Set<Access> access) {
    final int slot = used.nextClearBit(0);
    if (slot >= MAX_SLOTS) {
      return null;
    }
    final int plain = newKey(slot);
    final long address = nextAddress;
    final long pages = buffer.capacity() / PAGE + fabric.random(2, 16); // never adjacent
    nextAddress += pages * PAGE;
    final SimMr region = new SimMr(pd, buffer, access, address, scramble(plain), remoteKey(plain));
    put(slot, region);
    return region;
  }

  /** Makes a window; null if there is no room. */
  SimMw add(final SimPd pd, final MwType type) {
    final int slot = used.nextClearBit(0);
    if (slot >= MAX_SLOTS) {
      return null;
    }
    final SimMw window = new SimMw(pd, type, slot, newKey(slot) | 1);
    put(slot, window);
    return window;
  }

  private int newKey(final int slot) {
    return (slot << SLOT_SHIFT) | ((generation++ << 1) & KEY_MASK);
  }

  /** The next key of the same slot, before it is scrambled. */
  static int nextGeneration(final int plain) {
    return (plain & ~KEY_MASK) | ((plain + 2) & KEY_MASK);
  }

  static int scramble(final int plain) {
    return plain * SCRAMBLE;
  }

  private static int remoteKey(final int plain) {
    return scramble(plain | 1);
  }

  private void put(final int slot, final SimObject object) {
    used.set(slot);
    if (slot >= slots.length()) {
      final AtomicReferenceArray<SimObject> larger = new AtomicReferenceArray<>(2 * slots.length());
      for (int i = 0; i < slots.length(); i++) {
        larger.set(i, slots.get(i));
      }
      slots = larger;
    }
    slots.set(slot, object);
  }

  void remove(final int slot) {
    slots.set(slot, null);
    used.clear(slot);
  }

  private SimMr local(final int lkey) {
    return at(lkey) instanceof SimMr region && region.lkey() == lkey ? region : null;
  }

  /** The region of a remote key, or null. */
  SimMr remote(final int rkey) {
    return at(rkey) instanceof SimMr region && region.rkey() == rkey ? region : null;
  }

  /** The window that is bound with a key, or null. Called holding the wire. */
  SimMw window(final int rkey) {
    return at(rkey) instanceof SimMw window && window.isBound(rkey) ? window : null;
  }

  private SimObject at(final int key) {
    final AtomicReferenceArray<SimObject> current = slots;
    final int slot = slot(key);
    return slot < current.length() ? current.get(slot) : null;
  }

  static int slot(final int key) {
    return (key * UNSCRAMBLE) >>> SLOT_SHIFT;
  }
}
