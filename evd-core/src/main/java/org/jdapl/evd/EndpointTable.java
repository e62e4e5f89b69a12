package org.jdapl.evd;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Finds the endpoint of a work request by its wr_id: a slot, and a generation so that a late
 * completion finds nothing rather than the next endpoint in that slot.
 */
final class EndpointTable {

  private static final int SLOT_BITS = 20;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
  private static final int GENERATION_MASK = (1 << (64 - WorkQueue.TAG_SHIFT - SLOT_BITS)) - 1;

  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private int[] generations = new int[4];
  private int used;

  private volatile EndpointImpl[] slots = new EndpointImpl[4];

  /** A tag that no other endpoint has. */
  synchronized long allocate() {
    final int slot = free.isEmpty() ? used++ : free.pop();
    if (slot > SLOT_MASK) {
      throw new IllegalStateException("more than " + SLOT_MASK + " endpoints");
    }
    if (slot >= generations.length) {
      generations = Arrays.copyOf(generations, 2 * slot);
      slots = Arrays.copyOf(slots, 2 * slot);
    }
    generations[slot] = (generations[slot] + 1) & GENERATION_MASK;
    return ((long) generations[slot] << SLOT_BITS) | slot;
  }

  synchronized void put(final EndpointImpl endpoint) {
    set(endpoint.tag(), endpoint);
  }

  /** Forgets an endpoint: what completes for it later is dropped. */
  synchronized void free(final long tag) {
    set(tag, null);
    free.push((int) tag & SLOT_MASK);
  }

  private void set(final long tag, final EndpointImpl endpoint) {
    final EndpointImpl[] current = slots;
    current[(int) tag & SLOT_MASK] = endpoint;
    slots = current; // makes the element visible
  }

  /** The endpoint of a wr_id, or null. From any thread. */
  EndpointImpl find(final long wrId) {
    final long tag = wrId >>> WorkQueue.TAG_SHIFT;
    final int slot = (int) tag & SLOT_MASK;
    final EndpointImpl[] current = slots;
    if (slot >= current.length) {
      return null;
    }
    final EndpointImpl endpoint = current[slot];
    return endpoint != null && endpoint.tag() == tag ? endpoint : null;
  }
}
