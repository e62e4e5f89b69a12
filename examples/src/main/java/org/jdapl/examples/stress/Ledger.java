package org.jdapl.examples.stress;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Checks the order of an EVD's events, whoever gets them and when: each receiver records the
 * sequence number of its event and what it was, and the entries are checked in the order of the
 * numbers. So a gap, a number used twice, and disorder are found under every policy.
 */
final class Ledger {

  // What an entry is.

  /** Not checked but for its sequence. */
  static final int OTHER = 0;

  /** A number of a flow. */
  static final int NUMBER = 1;

  /** A number of a flow, of a request that succeeded. */
  static final int SUCCESS = 2;

  /** The connection of a flow stands. */
  static final int ESTABLISHED = 3;

  /** The connection of a flow ended. */
  static final int TERMINAL = 4;

  private static final int SLOTS = 1 << 14;
  private static final int FLOW_SHIFT = 48;
  private static final int ROUND_SHIFT = 35;
  private static final int KIND_SHIFT = 32;
  private static final int ROUND_MASK = (1 << (FLOW_SHIFT - ROUND_SHIFT)) - 1;
  private static final int KIND_MASK = (1 << (ROUND_SHIFT - KIND_SHIFT)) - 1;
  private static final long NUMBER_MASK = (1L << KIND_SHIFT) - 1;

  private final String name;
  private final Account account;
  private final int posters;
  private final AtomicLongArray entries = new AtomicLongArray(SLOTS);
  private final AtomicLongArray recorded = new AtomicLongArray(SLOTS);
  private final ReentrantLock checker = new ReentrantLock();

  // Changed under the lock.
  private volatile long cursor;
  private final int[] rounds;
  private final long[] next;
  private final int[] establishedRounds;
  private final int[] endedRounds;

  /**
   * A ledger.
   *
   * @param posters the first flows are those of the posters of software events.
   * @param ends then comes for each end a flow of receives and a flow of requests.
   */
  Ledger(final String name, final Account account, final int posters, final int ends) {
    this.name = name;
    this.account = account;
    this.posters = posters;
    rounds = new int[posters + 2 * ends];
    next = new long[rounds.length];
    establishedRounds = new int[ends];
    endedRounds = new int[ends];
  }

  int receivesOf(final int end) {
    return posters + 2 * end;
  }

  int requestsOf(final int end) {
    return posters + 2 * end + 1;
  }

  /**
   * An event came.
   *
   * @param sequence its number.
   * @param flow what it belongs to.
   * @param round which life of the flow; each begins with the number 0. The first one is 1.
   * @param number its number in the flow.
   */
  void record(
      final long sequence, final int kind, final int flow, final int round, final long number) {
    while (sequence - cursor >= SLOTS) {
      check(); // somebody took a number long ago, and has not recorded it yet
      Thread.onSpinWait();
    }
    if (sequence < cursor) {
      account.breach(name + ": sequence " + sequence + " came again");
      return;
    }
    final int slot = (int) (sequence % SLOTS);
    entries.setPlain(
        slot,
        (long) flow << FLOW_SHIFT
            | (long) (round & ROUND_MASK) << ROUND_SHIFT
            | (long) kind << KIND_SHIFT
            | (number & NUMBER_MASK));
    if (recorded.getAndSet(slot, sequence + 1) == sequence + 1) {
      account.breach(name + ": sequence " + sequence + " came twice");
    }
    check();
  }

  /**
   * Checks what can be checked now.
   *
   * @return how many events came without a gap.
   */
  long check() {
    if (checker.tryLock()) {
      try {
        long at = cursor;
        while (recorded.get((int) (at % SLOTS)) == at + 1) {
          check(entries.getPlain((int) (at % SLOTS)), at);
          at++;
        }
        cursor = at;
      } finally {
        checker.unlock();
      }
    }
    return cursor;
  }

  private void check(final long entry, final long sequence) {
    final int flow = (int) (entry >>> FLOW_SHIFT);
    final int round = (int) (entry >>> ROUND_SHIFT) & ROUND_MASK;
    final int kind = (int) (entry >>> KIND_SHIFT) & KIND_MASK;
    if (kind == OTHER) {
      return;
    }
    if (round != rounds[flow]) {
      if (((round - rounds[flow]) & ROUND_MASK) > ROUND_MASK / 2) {
        breach("an event of a closed endpoint: life " + round, sequence, flow);
      }
      rounds[flow] = round;
      next[flow] = 0;
    }
    final int end = (flow - posters) / 2;
    switch (kind) {
      case ESTABLISHED -> {
        if (establishedRounds[end] == round) {
          breach("established twice", sequence, flow);
        }
        establishedRounds[end] = round;
      }
      case TERMINAL -> {
        if (endedRounds[end] == round) {
          breach("ended twice", sequence, flow);
        }
        endedRounds[end] = round;
      }
      case SUCCESS -> {
        if (establishedRounds[end] != round || endedRounds[end] == round) {
          breach("a success outside of its connection", sequence, flow);
        }
        checkNumber(entry & NUMBER_MASK, flow, sequence);
      }
      default -> checkNumber(entry & NUMBER_MASK, flow, sequence);
    }
  }

  private void checkNumber(final long number, final int flow, final long sequence) {
    final boolean isRequest = flow >= posters && (flow - posters) % 2 == 1;
    long due = next[flow];
    while (isRequest && due != number && End.isSuppressed(due)) {
      due++;
    }
    if (number != due) {
      breach("number " + number + " where " + due + " was due", sequence, flow);
    }
    next[flow] = (number + 1) & NUMBER_MASK;
  }

  private void breach(final String what, final long sequence, final int flow) {
    account.breach(
        name + ": sequence " + sequence + ", flow " + flow + " life " + rounds[flow] + ": " + what);
  }
}
