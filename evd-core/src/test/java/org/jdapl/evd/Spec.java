package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The rules of the contract's document, and the tests there are for them. */
final class Spec {

  /** The sections in the order of the document. */
  static final String SECTIONS = "EUMAWCTDRPSN";

  /** A row of the document: a rule's number and its status. */
  record Rule(String number, String status) {

    boolean isTested() {
      return TESTED.matcher(status).matches();
    }

    /** The classes that the row names; none unless it is tested. */
    Set<String> classes() {
      final Matcher tested = TESTED.matcher(status);
      return tested.matches()
          ? new TreeSet<>(List.of(tested.group(1).split(", ")))
          : new TreeSet<>();
    }
  }

  private static final Path DOCUMENT = Path.of("../dat-api/docs/spec.md");
  private static final Path PROVIDERS = Path.of("../providers");

  /** The contract of providers. It has the numbers of all rules; those of P are its own. */
  private static final Path PROVIDER_TCK = PROVIDERS.resolve("tck/src/main");

  private static final Pattern ROW =
      Pattern.compile("^\\| ([" + SECTIONS + "]\\d\\d) \\|.*\\| (.*) \\|$");
  private static final Pattern TESTED = Pattern.compile("tested: (\\w+(?:, \\w+)*)(?:\\. .*)?");
  private static final Pattern METHOD =
      Pattern.compile("\\bvoid required_([" + SECTIONS + "]\\d\\d)_\\w+\\(");

  private Spec() {}

  static List<Rule> rules() throws IOException {
    final List<Rule> rules = new ArrayList<>();
    for (final String line : Files.readAllLines(DOCUMENT)) {
      final Matcher row = ROW.matcher(line);
      if (row.matches()) {
        rules.add(new Rule(row.group(1), row.group(2)));
      }
    }
    assertThat(rules).as("rules in " + DOCUMENT.toAbsolutePath().normalize()).isNotEmpty();
    return rules;
  }

  /** The rules marked tested, each with the classes its row names. */
  static Map<String, Set<String>> marked() throws IOException {
    final Map<String, Set<String>> marked = new TreeMap<>();
    for (final Rule rule : rules()) {
      if (rule.isTested()) {
        marked.put(rule.number(), rule.classes());
      }
    }
    return marked;
  }

  /** The rules that have required_ methods, each with its classes and how many are in each. */
  static Map<String, Map<String, Integer>> methods() throws IOException {
    final Map<String, Map<String, Integer>> methods = new TreeMap<>();
    for (final Path root : roots()) {
      try (Stream<Path> files = Files.walk(root)) {
        for (final Path file :
            files.filter(path -> path.toString().endsWith(".java")).sorted().toList()) {
          final String name = file.getFileName().toString().replace(".java", "");
          final Matcher method = METHOD.matcher(Files.readString(file));
          while (method.find()) {
            if (root.equals(PROVIDER_TCK) && method.group(1).charAt(0) != 'P') {
              continue;
            }
            methods
                .computeIfAbsent(method.group(1), rule -> new LinkedHashMap<>())
                .merge(name, 1, Integer::sum);
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
    roots.add(PROVIDER_TCK);
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
