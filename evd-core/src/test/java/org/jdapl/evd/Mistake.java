package org.jdapl.evd;

import java.util.ArrayList;
import java.util.List;

/**
 * A mistake to plant: the code broken so that a rule does not hold any more. The rule's tests must
 * find it.
 *
 * @param rule the rule, such as U03.
 * @param story what is wrong.
 * @param edits how the code is broken.
 * @param where the cases the rule's tests run over; see {@link SimCase#all}.
 * @param by what finds it, where to look for that takes long: part of the name of a test, or a seed
 *     of the explorer.
 * @param hangs whether the test that finds it does not end.
 */
public record Mistake(
    String rule, String story, List<Edit> edits, String where, String by, boolean hangs) {

  private static final String VIRTUAL =
      "virtual time, seed 42, arm=weak hint=none second-arm=ignored delivery=push concurrency=serial";
  private static final String THREADS =
      "threads, arm=weak hint=none second-arm=ignored delivery=push concurrency=serial";

  /**
   * A change of a source file.
   *
   * @param file its name.
   * @param right the text to replace; it stands there exactly once.
   * @param wrong what replaces it.
   */
  public record Edit(String file, String right, String wrong) {}

  /**
   * A mistake of one edit.
   *
   * @param rule the rule.
   * @param story what is wrong.
   * @param file the name of the source file.
   * @param right the text to replace; it stands there exactly once.
   * @param wrong what replaces it.
   * @return the mistake.
   */
  public static Mistake of(
      final String rule,
      final String story,
      final String file,
      final String right,
      final String wrong) {
    return new Mistake(rule, story, List.of(new Edit(file, right, wrong)), VIRTUAL, "", false);
  }

  /** The same with one more change. */
  public Mistake with(final String file, final String right, final String wrong) {
    final List<Edit> more = new ArrayList<>(edits);
    more.add(new Edit(file, right, wrong));
    return new Mistake(rule, story, more, where, by, hangs);
  }

  /** The same, to be found by tests that need threads. */
  Mistake withThreads() {
    return new Mistake(rule, story, edits, THREADS, by, hangs);
  }

  /** The same, to be found by a test that does not end. */
  Mistake thatHangs() {
    return new Mistake(rule, story, edits, where, by, true);
  }

  /** The same, to be found by one test, or by that seed first. */
  public Mistake foundBy(final String what) {
    return new Mistake(rule, story, edits, where, what, hangs);
  }

  @Override
  public String toString() {
    return rule + ": " + story;
  }
}
