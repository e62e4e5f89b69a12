package org.jdapl.evd;

/**
 * A mistake to plant: the code broken in one place, so that a rule does not hold any more. The
 * rule's tests must find it.
 *
 * @param rule the rule, such as U03.
 * @param story what is wrong.
 * @param file the file of org.jdapl.evd it is planted in.
 * @param right the text to replace; it stands there exactly once.
 * @param wrong what replaces it.
 * @param where the cases the rule's tests run over; see {@link SimCase#all}.
 */
record Mistake(String rule, String story, String file, String right, String wrong, String where) {

  private static final String VIRTUAL =
      "virtual time, seed 42, arm=weak hint=none second-arm=ignored delivery=push concurrency=serial";
  private static final String THREADS =
      "threads, arm=weak hint=none second-arm=ignored delivery=push concurrency=serial";

  static Mistake of(
      final String rule,
      final String story,
      final String file,
      final String right,
      final String wrong) {
    return new Mistake(rule, story, file, right, wrong, VIRTUAL);
  }

  /** The same, to be found by tests that need threads. */
  Mistake withThreads() {
    return new Mistake(rule, story, file, right, wrong, THREADS);
  }

  @Override
  public String toString() {
    return rule + ": " + story;
  }
}
