package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contract's document says what is tested; this says whether that is so. */
class SpecTest {

  private static final Path SPEC = Path.of("../dat-api/docs/spec.md");
  private static final Path PROVIDERS = Path.of("../providers");
  private static final Pattern ROW =
      Pattern.compile("^\\| ([EUMAWCTDRPSN]\\d\\d) \\|.*\\| (.*) \\|$");
  private static final Pattern TESTED = Pattern.compile("tested: (\\w+(?:, \\w+)*)(?:\\. .*)?");
  private static final Pattern METHOD =
      Pattern.compile("\\bvoid required_([EUMAWCTDRPSN]\\d\\d)_\\w+\\(");
  private static final String SEQUENCE = "EUMAWCTDRPSN";

  @Test
  void shouldHaveATestWhereARuleIsMarkedTested() throws IOException {
    final Map<String, Set<String>> found = methods();
    final Map<String, Set<String>> missing = new TreeMap<>();
    marked()
        .forEach(
            (rule, classes) -> {
              final TreeSet<String> absent = new TreeSet<>(classes);
              absent.removeAll(found.getOrDefault(rule, new TreeSet<>()));
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
    final Map<String, Set<String>> unmarked = methods();
    unmarked.keySet().removeAll(marked().keySet());

    assertThat(unmarked)
        .as("rules with methods required_<RULE>_... that are not marked tested in the document")
        .isEmpty();
  }

  @Test
  void shouldListEachRuleOnceAndInOrderWithAStatus() throws IOException {
    final Map<Character, Integer> last = new TreeMap<>();
    final List<String> wrong = new ArrayList<>();
    int section = 0;
    for (final String[] row : rows()) {
      final String rule = row[0];
      final int number = Integer.parseInt(rule.substring(1));
      final int at = SEQUENCE.indexOf(rule.charAt(0));
      if (number != last.merge(rule.charAt(0), 1, Integer::sum) || at < section) {
        wrong.add(rule + ": out of order");
      }
      section = at;
      if (!TESTED.matcher(row[1]).matches()
          && !row[1].startsWith("not yet: ")
          && !row[1].startsWith("untested_: ")) {
        wrong.add(rule + ": " + row[1]);
      }
    }

    assertThat(wrong).isEmpty();
    assertThat(last).hasSize(SEQUENCE.length());
  }

  /** The rules marked tested, each with the classes its row names. */
  private static Map<String, Set<String>> marked() throws IOException {
    final Map<String, Set<String>> marked = new TreeMap<>();
    for (final String[] row : rows()) {
      final Matcher status = TESTED.matcher(row[1]);
      if (status.matches()) {
        marked.put(row[0], new TreeSet<>(List.of(status.group(1).split(", "))));
      }
    }
    return marked;
  }

  /** Each rule's number and status. */
  private static List<String[]> rows() throws IOException {
    final List<String[]> rows = new ArrayList<>();
    for (final String line : Files.readAllLines(SPEC)) {
      final Matcher row = ROW.matcher(line);
      if (row.matches()) {
        rows.add(new String[] {row.group(1), row.group(2)});
      }
    }
    assertThat(rows).as("rules in " + SPEC.toAbsolutePath().normalize()).isNotEmpty();
    return rows;
  }

  /** The rules that have required_ methods, each with the classes they are in. */
  private static Map<String, Set<String>> methods() throws IOException {
    final Map<String, Set<String>> methods = new TreeMap<>();
    for (final Path root : roots()) {
      try (Stream<Path> files = Files.walk(root)) {
        for (final Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
          final String name = file.getFileName().toString().replace(".java", "");
          final Matcher method = METHOD.matcher(Files.readString(file));
          while (method.find()) {
            methods.computeIfAbsent(method.group(1), rule -> new TreeSet<>()).add(name);
          }
        }
      }
    }
    assertThat(methods).as("methods required_<RULE>_... below " + roots()).isNotEmpty();
    return methods;
  }

  private static List<Path> roots() throws IOException {
    final List<Path> roots = new ArrayList<>();
    roots.add(Path.of("../dat-api/tck/src/main"));
    roots.add(Path.of("src/test"));
    try (DirectoryStream<Path> providers = Files.newDirectoryStream(PROVIDERS)) {
      for (final Path provider : providers) {
        final Path tests = provider.resolve("src/test");
        if (Files.isDirectory(tests)) {
          roots.add(tests);
        }
      }
    }
    return roots;
  }
}
