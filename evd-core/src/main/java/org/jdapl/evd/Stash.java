package org.jdapl.evd;

import java.util.Arrays;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * The completions of an EVD that were polled and not handed out yet. They stand in {@link #ready},
 * in the order they were polled, or in the list of an endpoint that holds its own back. Entries are
 * indices into preallocated arrays. Confined to the holder of the EVD's turn.
 */
final class Stash {

  /** No entry. */
  static final int NONE = -1;

  /** A list of entries. */
  static final class Fifo {
    private int head = NONE;
    private int tail = NONE;

    boolean isEmpty() {
      return head == NONE;
    }
  }

  /** What is to be handed out next. */
  final Fifo ready = new Fifo();

  private long[] wrIds = new long[0];
  private WcStatus[] statuses = new WcStatus[0];
  private int[] byteLengths = new int[0];
  private int[] qpNumbers = new int[0];
  private int[] vendorErrors = new int[0];
  private int[] next = new int[0];
  private int free = NONE;

  // How many are events. Those up to the last one that was looked at are known.
  private boolean[] silent = new boolean[0];
  private int lastLooked = NONE;
  private int silents;
  private int used;

  /** Makes room for that many entries in all. */
  void reserve(final int capacity) {
    final int old = next.length;
    if (capacity <= old) {
      return;
    }
    wrIds = Arrays.copyOf(wrIds, capacity);
    statuses = Arrays.copyOf(statuses, capacity);
    byteLengths = Arrays.copyOf(byteLengths, capacity);
    qpNumbers = Arrays.copyOf(qpNumbers, capacity);
    vendorErrors = Arrays.copyOf(vendorErrors, capacity);
    next = Arrays.copyOf(next, capacity);
    silent = Arrays.copyOf(silent, capacity);
    for (int entry = capacity - 1; entry >= old; entry--) {
      next[entry] = free;
      free = entry;
    }
  }

  /** Appends completions to {@link #ready}. More than there is room for are taken all the same. */
  void append(final WorkCompletions completions) {
    final int size = completions.size();
    for (int i = 0; i < size; i++) {
      final int entry = take();
      wrIds[entry] = completions.wrId(i);
      statuses[entry] = completions.status(i);
      byteLengths[entry] = completions.byteLength(i);
      qpNumbers[entry] = completions.qpNumber(i);
      vendorErrors[entry] = completions.vendorError(i);
      append(ready, entry);
    }
  }

  /** Appends to {@link #ready} what no completion queue holds: that a request was flushed. */
  void appendFlush(final long wrId, final int qpNumber) {
    final int entry = take();
    wrIds[entry] = wrId;
    statuses[entry] = WcStatus.WR_FLUSH_ERR;
    qpNumbers[entry] = qpNumber;
    append(ready, entry);
  }

  private int take() {
    if (free == NONE) {
      reserve(Math.max(16, 2 * next.length));
    }
    final int entry = free;
    free = next[entry];
    used++;
    return entry;
  }

  void append(final Fifo list, final int entry) {
    next[entry] = NONE;
    if (list.tail == NONE) {
      list.head = entry;
    } else {
      next[list.tail] = entry;
    }
    list.tail = entry;
  }

  void prepend(final Fifo list, final int entry) {
    next[entry] = list.head;
    list.head = entry;
    if (list.tail == NONE) {
      list.tail = entry;
    }
  }

  /** Moves all entries of another list, in order, to the front of {@link #ready}. */
  void prependAll(final Fifo from) {
    if (from.isEmpty()) {
      return;
    }
    lastLooked = NONE;
    next[from.tail] = ready.head;
    ready.head = from.head;
    if (ready.tail == NONE) {
      ready.tail = from.tail;
    }
    from.head = NONE;
    from.tail = NONE;
  }

  /** Takes the first entry; to be {@link #release}d or put into a list. */
  int pop(final Fifo list) {
    final int entry = list.head;
    if (entry != NONE) {
      if (entry == lastLooked) {
        lastLooked = NONE;
      }
      list.head = next[entry];
      if (list.head == NONE) {
        list.tail = NONE;
      }
    }
    return entry;
  }

  void release(final int entry) {
    next[entry] = free;
    free = entry;
    used--;
    if (silents > 0 && silent[entry]) {
      silent[entry] = false;
      silents--;
    }
  }

  // Counting.

  /** The first entry of {@link #ready}, or {@link #NONE}. */
  int first() {
    return ready.head;
  }

  /** The first entry of {@link #ready} that was not looked at, or {@link #NONE}. */
  int firstUnknown() {
    return lastLooked == NONE ? ready.head : next[lastLooked];
  }

  /** An entry is {@link #firstUnknown}, and was looked at: whether it will make no event. */
  void look(final int entry, final boolean isSilent) {
    lastLooked = entry;
    if (isSilent && !silent[entry]) {
      silent[entry] = true;
      silents++;
    }
  }

  /** Whether an entry was looked at, and will make no event. */
  boolean isSilent(final int entry) {
    return silent[entry];
  }

  /** How many events the entries will make. All were looked at. */
  int events() {
    return used - silents;
  }

  long wrId(final int entry) {
    return wrIds[entry];
  }

  WcStatus status(final int entry) {
    return statuses[entry];
  }

  int byteLength(final int entry) {
    return byteLengths[entry];
  }

  int qpNumber(final int entry) {
    return qpNumbers[entry];
  }

  int vendorError(final int entry) {
    return vendorErrors[entry];
  }
}
