package org.jdapl.evd;

import java.util.Arrays;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * The completions of an EVD that were polled and not handed out yet. They stand in {@link #ready},
 * in the order they were polled, or in the list of an endpoint that holds its own back. Entries are
 * indices into preallocated arrays. Those of the last poll, behind all in {@link #ready}, stay in
 * the batch that it filled until somebody {@link #keep}s them: most are handed out before. Confined
 * to the holder of the EVD's turn.
 */
final class Stash {

  /** No entry. */
  static final int NONE = -1;

  // Many EVDs never see a completion.
  private static final long[] NO_LONGS = {};
  private static final int[] NO_INTS = {};
  private static final boolean[] NO_BOOLEANS = {};
  private static final WcStatus[] NO_STATUSES = {};
  private static final WcOpcode[] NO_OPCODES = {};

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

  // The rest of the last poll. An entry of it is below NONE: it is in no list.
  private WorkCompletions polled;
  private int at;
  private int end;

  private long[] wrIds = NO_LONGS;
  private WcStatus[] statuses = NO_STATUSES;
  private int[] byteLengths = NO_INTS;
  private int[] qpNumbers = NO_INTS;
  private int[] vendorErrors = NO_INTS;
  private boolean[] invalidating = NO_BOOLEANS;
  private int[] invalidated = NO_INTS;
  private WcOpcode[] opcodes = NO_OPCODES;
  private boolean[] withImmediate = NO_BOOLEANS;
  private int[] immediates = NO_INTS;
  private int[] next = NO_INTS;
  private int free = NONE;

  // How many are events. Those up to the last one that was looked at are known.
  private boolean[] silent = NO_BOOLEANS;
  private boolean[] unsignalled = NO_BOOLEANS;
  private int lastLooked = NONE;
  private int silents;
  private int unsignalleds;
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
    invalidating = Arrays.copyOf(invalidating, capacity);
    invalidated = Arrays.copyOf(invalidated, capacity);
    opcodes = Arrays.copyOf(opcodes, capacity);
    withImmediate = Arrays.copyOf(withImmediate, capacity);
    immediates = Arrays.copyOf(immediates, capacity);
    next = Arrays.copyOf(next, capacity);
    silent = Arrays.copyOf(silent, capacity);
    unsignalled = Arrays.copyOf(unsignalled, capacity);
    for (int entry = capacity - 1; entry >= old; entry--) {
      next[entry] = free;
      free = entry;
    }
  }

  /**
   * A poll, for which there is {@link #reserve}d room, filled a batch. Nothing else may use it
   * until it was handed out, or is {@link #keep}t. What the last one left was.
   */
  void add(final WorkCompletions batch) {
    polled = batch;
    at = 0;
    end = batch.size();
  }

  /**
   * Moves what is left of the last poll to the end of {@link #ready}: its batch is free. More than
   * there is room for are taken all the same.
   */
  void keep() {
    while (at < end) {
      append(ready, keep(at++));
    }
  }

  private int keep(final int i) {
    final int entry = take();
    wrIds[entry] = polled.wrId(i);
    statuses[entry] = polled.status(i);
    byteLengths[entry] = polled.byteLength(i);
    qpNumbers[entry] = polled.qpNumber(i);
    vendorErrors[entry] = polled.vendorError(i);
    invalidating[entry] = polled.hasInvalidated(i);
    invalidated[entry] = polled.invalidatedRkey(i);
    opcodes[entry] = polled.opcode(i);
    withImmediate[entry] = polled.hasImmediate(i);
    immediates[entry] = polled.immediate(i);
    return entry;
  }

  private static int index(final int entry) {
    return NONE - 1 - entry;
  }

  /** Appends to {@link #ready} what no completion queue holds: that a request was flushed. */
  void appendFlush(final long wrId, final int qpNumber) {
    keep(); // they came before it
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

  void append(final Fifo list, final int popped) {
    final int entry = popped < NONE ? keep(index(popped)) : popped;
    next[entry] = NONE;
    if (list.tail == NONE) {
      list.head = entry;
    } else {
      next[list.tail] = entry;
    }
    list.tail = entry;
  }

  void prepend(final Fifo list, final int popped) {
    final int entry = popped < NONE ? keep(index(popped)) : popped;
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

  /** Whether nothing is to be handed out. */
  boolean isEmpty() {
    return ready.isEmpty() && at == end;
  }

  /** Takes the first entry; to be {@link #release}d or put into a list. */
  int pop() {
    final int entry = ready.head;
    if (entry == NONE) {
      return at < end ? NONE - 1 - at++ : NONE;
    }
    if (entry == lastLooked) {
      lastLooked = NONE;
    }
    ready.head = next[entry];
    if (ready.head == NONE) {
      ready.tail = NONE;
    }
    return entry;
  }

  void release(final int entry) {
    if (entry < NONE) {
      return;
    }
    next[entry] = free;
    free = entry;
    used--;
    if (silents > 0 && silent[entry]) {
      silent[entry] = false;
      silents--;
    }
    forgetUnsignalled(entry);
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

  private void forgetUnsignalled(final int entry) {
    if (unsignalleds > 0 && unsignalled[entry]) {
      unsignalled[entry] = false;
      unsignalleds--;
    }
  }

  /**
   * An entry is {@link #firstUnknown}, and was looked at.
   *
   * @param isSilent whether it will make no event.
   * @param isUnsignalled whether it will make one that does not tell.
   */
  void look(final int entry, final boolean isSilent, final boolean isUnsignalled) {
    lastLooked = entry;
    if (isSilent && !silent[entry]) {
      silent[entry] = true;
      silents++;
      forgetUnsignalled(entry); // its queue may have been swept since
    } else if (isUnsignalled && !isSilent && !unsignalled[entry]) {
      unsignalled[entry] = true;
      unsignalleds++;
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

  /** How many of the events tell of themselves. All were looked at. */
  int tellingEvents() {
    return events() - unsignalleds;
  }

  long wrId(final int entry) {
    return entry < NONE ? polled.wrId(index(entry)) : wrIds[entry];
  }

  WcStatus status(final int entry) {
    return entry < NONE ? polled.status(index(entry)) : statuses[entry];
  }

  int byteLength(final int entry) {
    return entry < NONE ? polled.byteLength(index(entry)) : byteLengths[entry];
  }

  int qpNumber(final int entry) {
    return entry < NONE ? polled.qpNumber(index(entry)) : qpNumbers[entry];
  }

  int vendorError(final int entry) {
    return entry < NONE ? polled.vendorError(index(entry)) : vendorErrors[entry];
  }

  /** Whether the message of a receive ended a window. */
  boolean hasInvalidated(final int entry) {
    return entry < NONE ? polled.hasInvalidated(index(entry)) : invalidating[entry];
  }

  /** The key of that window. */
  int invalidatedRkey(final int entry) {
    return entry < NONE ? polled.invalidatedRkey(index(entry)) : invalidated[entry];
  }

  /** Of a success. */
  WcOpcode opcode(final int entry) {
    return entry < NONE ? polled.opcode(index(entry)) : opcodes[entry];
  }

  /** Of a success. */
  boolean hasImmediate(final int entry) {
    return entry < NONE ? polled.hasImmediate(index(entry)) : withImmediate[entry];
  }

  int immediate(final int entry) {
    return entry < NONE ? polled.immediate(index(entry)) : immediates[entry];
  }
}
