package org.jdapl.verbs;

/** {@link CompletionQueue#pollAndRearm} over poll and arm, for providers without the verb. */
final class RearmAdapter {

  private static final int ARM_ATTEMPTS = 3;

  private RearmAdapter() {}

  static RearmOutcome pollAndRearm(
      final CompletionQueue cq, final WorkCompletions into, final int max, final ArmKind kind) {
    final int found = cq.poll(into, max);
    if (found >= max) {
      return RearmOutcome.SUCCESS;
    }
    try {
      return armAndLook(cq, into, max, found, kind);
    } catch (final VerbsException e) {
      if (found > 0) {
        return RearmOutcome.SUCCESS; // what was taken is handed over; the next call fails
      }
      throw e;
    }
  }

  private static RearmOutcome armAndLook(
      final CompletionQueue cq,
      final WorkCompletions into,
      final int max,
      final int found,
      final ArmKind kind) {
    final Declaration declaration = cq.device().declaration();
    for (int attempt = 0; attempt < ARM_ATTEMPTS; attempt++) {
      final int hint = cq.arm(kind);
      if (declaration.maySleepAfter(hint)) {
        return found > 0 ? RearmOutcome.COMPLETED : RearmOutcome.NOT_DONE;
      }
      final int late = cq.poll(into, max - found);
      final int total = found + late;
      if (declaration.isArmedAfter(hint)) {
        if (total >= max) {
          return RearmOutcome.POLL_NEEDED;
        }
        return total > 0 ? RearmOutcome.COMPLETED : RearmOutcome.NOT_DONE;
      }
      if (total > 0) {
        return RearmOutcome.SUCCESS;
      }
    }
    return RearmOutcome.SUCCESS; // it hints at completions nobody finds, and may not be armed
  }
}
