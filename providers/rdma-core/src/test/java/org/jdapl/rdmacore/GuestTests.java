package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DynamicNode;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.console.ConsoleLauncher;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Test classes inside a guest, a JVM for each. What came of each test there is what comes of it
 * here. A test that did not run there is in {@code not-on-soft-roce.txt} with the reason, or it is
 * a failure.
 */
final class GuestTests {

  private static final Duration BOUND = Duration.ofMinutes(20);
  private static final int CLASS_SECONDS = 300;

  /** What a JVM says that checks how native code uses JNI. */
  private static final Pattern COMPLAINT =
      Pattern.compile("WARNING in native method|WARNING: JNI|FATAL ERROR in native method");

  private final Map<String, String> left = readLeft();
  private final String name;
  private final int fewest;
  private final List<String> options;

  /**
   * Tests that did not run yet.
   *
   * @param name of the guest.
   * @param fewest how many tests there are at least.
   * @param options of the JVMs.
   */
  GuestTests(final String name, final int fewest, final String... options) {
    this.name = name;
    this.fewest = fewest;
    this.options = List.of(options);
  }

  /**
   * Runs classes and tells what came of them; those whose whole contract is left out do not run.
   */
  Stream<DynamicNode> run(final Class<?>... classes) throws Exception {
    final List<Class<?>> tests =
        Stream.of(classes).filter(test -> !left.containsKey(contract(test))).toList();
    final String script = tests.stream().map(this::line).collect(Collectors.joining()) + "true";
    final Path out;
    final Guest.Result result;
    // The address is the one at which the tests look for their device.
    try (Guest guest = Guest.start(name, BOUND, List.of("-a", Side.ADDRESS), script)) {
      out = guest.out;
      result = guest.await();
    }
    final List<DynamicNode> nodes = new ArrayList<>();
    nodes.add(
        dynamicTest("the guest", () -> assertThat(result.status()).as(result.output()).isZero()));
    int ran = 0;
    for (final Class<?> test : tests) {
      final NodeList cases = cases(out.resolve(test.getSimpleName()));
      ran += cases == null ? 0 : cases.getLength();
      nodes.add(
          dynamicContainer(
              test.getSimpleName(), outcomes(out.resolve(test.getSimpleName()), test, cases)));
    }
    final int count = ran;
    nodes.add(
        dynamicTest(
            "at least %d tests".formatted(fewest),
            () -> assertThat(count).isGreaterThanOrEqualTo(fewest)));
    return nodes.stream();
  }

  /** Each test that is left out, skipped for its reason; one that there is not is a failure. */
  static Stream<DynamicNode> left() {
    return readLeft().entrySet().stream()
        .map(
            entry ->
                dynamicTest(
                    entry.getKey(),
                    () -> {
                      isThere(entry.getKey());
                      abort(entry.getValue());
                    }));
  }

  private static void isThere(final String entry) throws ClassNotFoundException {
    final String[] names = entry.split("\\.", 2);
    final Class<?> contract = Class.forName("org.jdapl.tck." + names[0]);
    if (names.length > 1) {
      assertThat(contract.getDeclaredMethods())
          .as(entry + " in not-on-soft-roce.txt")
          .anyMatch(method -> method.getName().equals(names[1]));
    }
  }

  /** What runs a class: a line of bash. */
  private String line(final Class<?> test) {
    final List<String> line = new ArrayList<>(options);
    line.addAll(List.of("-ea", "-Xmx1g", "-XX:+UseSerialGC", "-XX:ErrorFile=$out/hs_err.log"));
    line.add("-Djunit.jupiter.extensions.autodetection.enabled=true");
    line.add("-Djdapl.leakDetection=every");
    line.add("-Dnative.tests=" + Child.NATIVE.toAbsolutePath());
    line.addAll(List.of(ConsoleLauncher.class.getName(), "execute", "--disable-banner"));
    line.addAll(List.of("--disable-ansi-colors", "--details=testfeed", "--reports-dir=$out"));
    line.add("-c '" + test.getName() + "'");
    final String prefix = contract(test) + ".";
    left.keySet().stream()
        .filter(entry -> entry.startsWith(prefix))
        .map(entry -> "--exclude-methodname='.*#" + entry.substring(prefix.length()) + "'")
        .forEach(line::add);
    // A JVM that hangs says where.
    return """
        out=/out/%s; mkdir -p $out
        timeout -s QUIT -k 20 %d %s >$out/log 2>&1
        echo $? >$out/status
        """
        .formatted(test.getSimpleName(), CLASS_SECONDS, Guest.java(line.toArray(String[]::new)));
  }

  /** The cases in a report; null if there is none. */
  private static NodeList cases(final Path out) throws Exception {
    final Path report = out.resolve("TEST-junit-jupiter.xml");
    return Files.exists(report)
        ? DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(report.toFile())
            .getElementsByTagName("testcase")
        : null;
  }

  private List<DynamicNode> outcomes(final Path out, final Class<?> test, final NodeList cases)
      throws IOException {
    final String log = Files.exists(out.resolve("log")) ? Files.readString(out.resolve("log")) : "";
    final List<DynamicNode> outcomes = new ArrayList<>();
    if (cases == null) {
      outcomes.add(dynamicTest("the report", () -> fail(test + " did not end:\n" + tail(log))));
      return outcomes;
    }
    final Set<String> expected = expected(test);
    for (int i = 0; i < cases.getLength(); i++) {
      final Element outcome = (Element) cases.item(i);
      final String title = outcome.getAttribute("name");
      expected.remove(title.replaceFirst("\\(.*", ""));
      outcomes.add(dynamicTest(title, () -> repeat(outcome)));
    }
    outcomes.add(
        dynamicTest("all have a result or a reason", () -> assertThat(expected).isEmpty()));
    outcomes.add(
        dynamicTest(
            "no complaint of the JVM", () -> assertThat(log).doesNotContainPattern(COMPLAINT)));
    outcomes.add(
        dynamicTest(
            "ended well",
            () -> {
              final String status = Files.readString(out.resolve("status")).strip();
              // A class that leaves objects open has no failed test.
              assertThat(status).as(tail(log)).isEqualTo("0");
            }));
    return outcomes;
  }

  /** The names of the tests that must have an outcome. */
  private Set<String> expected(final Class<?> test) {
    return Stream.of(test, test.getSuperclass())
        .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
        .filter(method -> AnnotationSupport.isAnnotated(method, Testable.class))
        .map(Method::getName)
        .filter(method -> !left.containsKey(contract(test) + "." + method))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Ends as the test did in the guest. */
  private static void repeat(final Element outcome) {
    for (final String kind : List.of("failure", "error", "skipped")) {
      final NodeList found = outcome.getElementsByTagName(kind);
      if (found.getLength() > 0) {
        fail("in the guest: " + kind + ": " + found.item(0).getTextContent());
      }
    }
  }

  /** What the list names it by: its contract, if it is one. */
  private static String contract(final Class<?> test) {
    return (test.getSuperclass() == Object.class ? test : test.getSuperclass()).getSimpleName();
  }

  private static Map<String, String> readLeft() {
    try (InputStream list = GuestTests.class.getResourceAsStream("not-on-soft-roce.txt")) {
      final Map<String, String> left = new TreeMap<>();
      new String(list.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split(": ", 2))
          .forEach(entry -> left.put(entry[0], entry[1]));
      return left;
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String tail(final String log) {
    return log.substring(Math.max(0, log.length() - 8000));
  }
}
