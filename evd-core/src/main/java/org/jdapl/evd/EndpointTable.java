package org.jdapl.evd;

import java.util.ArrayDeque;
import java.util.Arrays;

/**
 * Finds the endpoint of a completion by its wr_id: a slot, and a generation so that a late
 * completion finds nothing rather than the next endpoint in that slot. A wr_id of a shared receive
 * queue names that queue, and the number of the queue pair the endpoint.
 */
final class EndpointTable {

  private static final int SLOT_BITS = 20;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
  private static final int GENERATION_MASK = (1 << (64 - WorkQueue.TAG_SHIFT - SLOT_BITS)) - 1;

  /** Whose wr_ids have a tag. */
  sealed interface Owner permits Incarnation, SrqImpl {

    /** The tag. */
    long tag();
  }

  private final ArrayDeque<Integer> free = new ArrayDeque<>();
  private int[] generations = new int[4];
  private int used;

  private volatile Owner[] slots = new Owner[4];

  /** A tag that nobody else has. */
  synchronized long allocate() {
    final int slot = free.isEmpty() ? used++ : free.pop();
    if (slot > SLOT_MASK) {
      throw new IllegalStateException(
          "more than " + SLOT_MASK + " endpoints and shared receive queues");
    }
    if (slot >= generations.length) {
      generations = Arrays.copyOf(generations, 2 * slot);
      slots = Arrays.copyOf(slots, 2 * slot);
    }
    generations[slot] = (generations[slot] + 1) & GENERATION_MASK;
    return ((long) generations[slot] << SLOT_BITS) | slot;
  }

  synchronized void put(final Owner owner) {
    set(owner.tag(), owner);
  }

  /** Forgets an owner: what completes for it later is dropped. */
  synchronized void free(final long tag) {
    set(tag, null);
    free.push((int) tag & SLOT_MASK);
  }

  private void set(final long tag, final Owner owner) {
    final Owner[] current = slots;
    current[(int) tag & SLOT_MASK] = owner;
    slots = current; // makes the element visible
  }

  /** The endpoint of a completion, or null. From any thread. */
  Incarnation find(final long wrId, final int qpNumber) {
    final Owner owner = owner(wrId);
    return owner instanceof SrqImpl srq ? srq.endpointOf(qpNumber) : (Incarnation) owner;
  }

  /** The shared receive queue of a wr_id, or null. From any thread. */
  SrqImpl findSrq(final long wrId) {
    return owner(wrId) instanceof SrqImpl srq ? srq : null;
  }

  private Owner owner(final long wrId) {
    final long tag = wrId >>> WorkQueue.TAG_SHIFT;
    final int slot = (int) tag & SLOT_MASK;
    final Owner[] current = slots;
    if (slot >= current.length) {
      return null;
    }
    final Owner owner = current[slot];
    return owner != null && owner.tag() == tag ? owner : null;
  }
}
