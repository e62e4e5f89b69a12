package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The contract's document says what is tested; this says whether that is so. */
class SpecTest {

  /** The sections whose tests must have been seen to fail. */
  private static final String SEEN_TO_FAIL = "EUMAW";

  @Test
  void shouldHaveATestWhereARuleIsMarkedTested() throws IOException {
    final Map<String, Map<String, Integer>> found = Spec.methods();
    final Map<String, Set<String>> missing = new TreeMap<>();
    Spec.marked()
        .forEach(
            (rule, classes) -> {
              final TreeSet<String> absent = new TreeSet<>(classes);
              absent.removeAll(found.getOrDefault(rule, Map.of()).keySet());
              if (!absent.isEmpty()) {
                missing.put(rule, absent);
              }
            });

    assertThat(missing)
        .as("rules marked tested, and the named classes that have no method required_<RULE>_...")
        .isEmpty();
  }

  @Test
  void shouldMarkARuleTestedWhereItHasATest() throws IOException {
    final Map<String, Map<String, Integer>> unmarked = Spec.methods();
    unmarked.keySet().removeAll(Spec.marked().keySet());

    assertThat(unmarked)
        .as("rules with methods required_<RULE>_... that are not marked tested in the document")
        .isEmpty();
  }

  @Test
  void shouldTestAndPlantAMistakeForEachRuleOfTheCore() throws IOException {
    final Set<String> untested = new TreeSet<>();
    final Set<String> untried = new TreeSet<>();
    for (final Spec.Rule rule : Spec.rules()) {
      if (SEEN_TO_FAIL.indexOf(rule.number().charAt(0)) >= 0) {
        untried.add(rule.number());
        if (!rule.isTested()) {
          untested.add(rule.number());
        }
      }
    }
    Mistakes.all().map(Mistake::rule).forEach(untried::remove);

    assertThat(untested).as("rules of " + SEEN_TO_FAIL + " that are not marked tested").isEmpty();
    assertThat(untried).as("rules of " + SEEN_TO_FAIL + " without one in Mistakes").isEmpty();
  }

  @Test
  void shouldMarkARuleTestedWhereAMistakeIsPlanted() throws IOException {
    assertThat(Spec.marked().keySet())
        .as("rules marked tested")
        .containsAll(Mistakes.all().map(Mistake::rule).toList());
  }

  @Test
  void shouldListEachRuleOnceAndInOrderWithAStatus() throws IOException {
    final Map<Character, Integer> last = new TreeMap<>();
    final List<String> wrong = new ArrayList<>();
    int section = 0;
    for (final Spec.Rule rule : Spec.rules()) {
      final char letter = rule.number().charAt(0);
      final int number = Integer.parseInt(rule.number().substring(1));
      final int at = Spec.SECTIONS.indexOf(letter);
      if (number != last.merge(letter, 1, Integer::sum) || at < section) {
        wrong.add(rule.number() + ": out of order");
      }
      section = at;
      if (!rule.isTested() && !rule.status().startsWith("not yet: ")) {
        wrong.add(rule.number() + ": " + rule.status());
      }
    }

    assertThat(wrong).isEmpty();
    assertThat(last).hasSize(Spec.SECTIONS.length());
  }
}
