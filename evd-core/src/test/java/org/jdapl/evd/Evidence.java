package org.jdapl.evd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The table that says why a rule may be believed: its tests, the mistakes that were planted, and
 * what found them.
 */
final class Evidence {

  private static final Path TABLE = Path.of("target/evidence.md");

  /** What found each mistake that was planted; null if nothing did. */
  private final Map<Mistake, String> found = new HashMap<>();

  /**
   * A mistake was planted.
   *
   * @param by the test that found it, and how; null if none did.
   */
  synchronized void add(final Mistake mistake, final String by) {
    found.put(mistake, by);
  }

  /** Writes the table to a file of the build, and returns what there is to print. */
  synchronized String write() throws IOException {
    final StringBuilder table =
        new StringBuilder("| rule | tests | planted mistake | found by | result |\n")
            .append("|---|---|---|---|---|\n");
    final Map<String, Map<String, Integer>> methods = Spec.methods();
    for (final Spec.Rule rule : Spec.rules()) {
      if (rule.isTested()) {
        final String tests =
            methods.getOrDefault(rule.number(), Map.of()).entrySet().stream()
                .map(entry -> entry.getValue() + " in " + entry.getKey())
                .collect(Collectors.joining(", "));
        final List<Mistake> planted =
            Mistakes.all().filter(mistake -> mistake.rule().equals(rule.number())).toList();
        if (planted.isEmpty()) {
          row(table, rule.number(), tests, "none", "", "");
        }
        for (final Mistake mistake : planted) {
          final String by = found.get(mistake);
          final String result =
              by != null ? "found" : found.containsKey(mistake) ? "SURVIVES" : "not planted";
          row(table, rule.number(), tests, mistake.story(), by == null ? "" : testOf(by), result);
        }
      }
    }
    Files.createDirectories(TABLE.getParent());
    Files.writeString(TABLE, table);
    return "The evidence, in " + TABLE.toAbsolutePath() + ":\n" + table;
  }

  private static void row(
      final StringBuilder table,
      final String rule,
      final String tests,
      final String mistake,
      final String by,
      final String result) {
    table.append("| ").append(String.join(" | ", rule, tests, mistake, by, result)).append(" |\n");
  }

  /** The test's name, without what it said. */
  private static String testOf(final String by) {
    final int colon = by.indexOf(": ");
    return colon < 0 ? by : by.substring(0, colon);
  }
}
