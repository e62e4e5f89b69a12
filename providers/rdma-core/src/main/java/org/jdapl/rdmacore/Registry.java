package org.jdapl.rdmacore;

import java.util.Arrays;

/**
 * Names objects towards C, by a slot and how often it was used before. An event of an object that
 * is gone finds nothing: no pointer to it is followed.
 */
final class Registry {

  /** Of everything that events are about. */
  static final Registry OBJECTS = new Registry();

  private record Entry(long token, Object object) {}

  // Replaced when it grows; an entry is published by its object's creation, which precedes events.
  private volatile Entry[] entries = new Entry[64];
  private int[] generations = new int[64];
  private int[] free = new int[64];
  private int freeCount;
  private int used;

  /** Adds an object. Its token is above 0. */
  synchronized long add(final Object object) {
    final int slot = freeCount > 0 ? free[freeCount - 1] : used;
    final Entry[] old = entries;
    final Entry[] now = slot < old.length ? old : Arrays.copyOf(old, 2 * old.length);
    if (now != old) {
      generations = Arrays.copyOf(generations, now.length);
      free = Arrays.copyOf(free, now.length);
    }
    final int generation = generations[slot] + 1 & 0x7FFFFFFF;
    final Entry entry = new Entry(((long) generation << 32) + slot + 1, object);
    // All memory is there.
    if (freeCount > 0) {
      freeCount--;
    } else {
      used++;
    }
    generations[slot] = generation;
    now[slot] = entry;
    entries = now; // also publishes the entry
    return entry.token;
  }

  /** Removes an object, if it is there. */
  synchronized void remove(final long token) {
    if (entry(token) != null) {
      final int slot = (int) token - 1;
      entries[slot] = null;
      free[freeCount++] = slot;
    }
  }

  /** The object of a token; null if it is gone. */
  Object find(final long token) {
    final Entry entry = entry(token);
    return entry == null ? null : entry.object;
  }

  private Entry entry(final long token) {
    final Entry[] now = entries;
    final int slot = (int) token - 1;
    final Entry entry = slot >= 0 && slot < now.length ? now[slot] : null;
    return entry != null && entry.token == token ? entry : null;
  }
}
