package org.jdapl.evd;

/** The state word with the mistake of all mistakes: it reads, computes, and writes. */
final class BrokenWord {

  private volatile long word;

  long get() {
    return word;
  }

  /** As {@link EvdState#apply}, but what comes between its read and its write is lost. */
  long apply(final int operation, final long argument) {
    final long before = word;
    final long after = EvdState.next(before, operation, argument);
    if (after < 0) {
      return after;
    }
    word = after;
    return before;
  }
}
