package org.jdapl.hooks;

import java.util.ArrayDeque;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * Completions that were taken out of a queue and are not polled yet, in order. Who polls and arms
 * the queue is one thread at a time.
 */
final class HeldCompletions {

  private static final int GARBAGE = 0xDEADBEEF;

  private record Completion(
      long due,
      long wrId,
      WcStatus status,
      WcOpcode opcode,
      int byteLength,
      int qpNumber,
      int vendorError,
      boolean hasImmediate,
      int immediate) {}

  private final ArrayDeque<Completion> completions = new ArrayDeque<>();
  private WorkCompletions batch = new WorkCompletions(16);

  /** An empty batch to poll into. */
  WorkCompletions batch(final int capacity) {
    if (batch.capacity() < capacity) {
      batch = new WorkCompletions(capacity);
    }
    batch.clear();
    return batch;
  }

  /** Takes a completion of the batch in, that may be polled from a time on, behind the others. */
  void add(final int index, final long due, final boolean garbled) {
    completions.add(
        new Completion(
            due,
            batch.wrId(index),
            batch.status(index),
            garbled ? null : batch.opcode(index),
            garbled ? GARBAGE : batch.byteLength(index),
            batch.qpNumber(index),
            batch.vendorError(index),
            garbled || batch.hasImmediate(index),
            garbled ? GARBAGE : batch.immediate(index)));
  }

  /** Whether one may be polled now. */
  boolean isVisible(final long now) {
    return !completions.isEmpty() && completions.peek().due <= now;
  }

  /** Appends those that may be polled now. */
  int take(final WorkCompletions into, final int max, final long now) {
    int taken = 0;
    while (taken < max && isVisible(now)) {
      final Completion next = completions.remove();
      into.add(
          next.wrId,
          next.status,
          next.opcode,
          next.byteLength,
          next.qpNumber,
          next.vendorError,
          next.hasImmediate,
          next.immediate);
      taken++;
    }
    return taken;
  }
}
