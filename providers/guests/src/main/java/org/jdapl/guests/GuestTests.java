package org.jdapl.guests;

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
import java.util.LinkedHashSet;
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
import org.junit.jupiter.api.Nested;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.console.ConsoleLauncher;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * Test classes inside of guests, a JVM for each. What came of each test there is what comes of it
 * here. A test that did not run there is in a list with the reason, {@code not-on-soft-roce.txt}
 * beside the class that runs them, or it is a failure.
 */
public final class GuestTests {

  private static final String LIST = "not-on-soft-roce.txt";
  private static final String SKIPPED = "skipped"; // an element of a report
  private static final Duration BOUND = Duration.ofMinutes(20);
  private static final int CLASS_SECONDS = 600;
  private static final int SHOWN = 8000;

  /** What a JVM says that checks how native code uses JNI. */
  private static final Pattern COMPLAINT =
      Pattern.compile("WARNING in native method|WARNING: JNI|FATAL ERROR in native method");

  private final String name;
  private final List<String> guestOptions;
  private final Map<String, String> left;

  /**
   * Tests that did not run yet.
   *
   * @param owner of the list, which is in its package.
   * @param name of the guests.
   * @param guestOptions options of {@code providers/guests/guest}.
   */
  public GuestTests(final Class<?> owner, final String name, final List<String> guestOptions) {
    this.name = name;
    this.guestOptions = List.copyOf(guestOptions);
    left = leftOut(owner);
  }

  /**
   * Runs classes in two guests at once, in one of them with {@code -Xcheck:jni}, and tells what
   * came of them.
   *
   * @param fewest how many tests there are at least.
   * @param tests the classes; one that is left out as a whole does not run.
   * @return the outcomes.
   * @throws Exception if it breaks down.
   */
  public Stream<DynamicNode> run(final int fewest, final Class<?>... tests) throws Exception {
    final List<Class<?>> kept =
        Stream.of(tests).filter(test -> !left.containsKey(contract(test).getName())).toList();
    try (Guest plain = start(name, kept, "");
        Guest checked = start(name + "-jni", kept, "-Xcheck:jni ")) {
      return Stream.of(
          dynamicContainer("soft-RoCE", outcomes(plain, fewest, kept)),
          dynamicContainer("soft-RoCE, -Xcheck:jni", outcomes(checked, fewest, kept)));
    }
  }

  private Guest start(final String guest, final List<Class<?>> tests, final String options) {
    final String script =
        tests.stream().map(test -> line(test, options)).collect(Collectors.joining());
    return Guest.start(guest, BOUND, guestOptions, script + "true");
  }

  private List<DynamicNode> outcomes(
      final Guest guest, final int fewest, final List<Class<?>> tests) throws Exception {
    final int status = guest.await();
    final List<DynamicNode> nodes = new ArrayList<>();
    nodes.add(dynamicTest("the guest", () -> assertThat(status).as(guest::lastWords).isZero()));
    int ran = 0;
    for (final Class<?> test : tests) {
      final Path out = guest.out().resolve(test.getSimpleName());
      final NodeList cases = cases(out);
      ran += cases == null ? 0 : cases.getLength();
      nodes.add(dynamicContainer(test.getSimpleName(), outcomes(out, test, cases)));
    }
    final int count = ran;
    nodes.add(
        dynamicTest(
            "at least %d tests".formatted(fewest),
            () -> assertThat(count).isGreaterThanOrEqualTo(fewest)));
    return nodes;
  }

  /**
   * Each test that is left out, skipped for its reason; one that there is not is a failure.
   *
   * @param owner of the list.
   * @return the tests.
   */
  public static Stream<DynamicNode> left(final Class<?> owner) {
    return leftOut(owner).entrySet().stream()
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
    final String[] names = entry.split("#", 2);
    final Class<?> contract = Class.forName(names[0]);
    if (names.length > 1) {
      assertThat(contract.getDeclaredMethods())
          .as(entry + " in " + LIST)
          .anyMatch(method -> method.getName().equals(names[1]));
    }
  }

  /** What runs a class: some lines of bash. */
  private String line(final Class<?> test, final String options) {
    final List<String> line = new ArrayList<>();
    line.addAll(
        List.of(options + "-ea", "-Xmx1g", "-XX:+UseSerialGC", "-XX:ErrorFile=$out/hs_err.log"));
    line.add("-Djunit.jupiter.extensions.autodetection.enabled=true");
    line.add("-Djdapl.leakDetection=every");
    line.add("-Djdapl.native=required");
    line.addAll(List.of(ConsoleLauncher.class.getName(), "execute", "--disable-banner"));
    line.addAll(List.of("--disable-ansi-colors", "--details=testfeed", "--reports-dir=$out"));
    line.add("-c '" + test.getName() + "'");
    methods(test)
        .filter(this::isLeft)
        .map(method -> "--exclude-methodname='.*#" + method.getName() + "'")
        .forEach(line::add);
    // A JVM that hangs says where.
    return """
        out=/out/%s; mkdir -p $out
        timeout -s QUIT -k 20 %d %s >$out/log 2>&1
        echo $? >$out/status
        """
        .formatted(test.getSimpleName(), CLASS_SECONDS, Guest.java(line.toArray(String[]::new)));
  }

  /** The tests of a class, of those it extends, and of those nested in any of them. */
  private static Stream<Method> methods(final Class<?> test) {
    final Set<Method> methods = new LinkedHashSet<>();
    for (Class<?> type = test; type != null; type = type.getSuperclass()) {
      Arrays.stream(type.getDeclaredMethods())
          .filter(method -> AnnotationSupport.isAnnotated(method, Testable.class))
          .forEach(methods::add);
      Arrays.stream(type.getDeclaredClasses())
          .filter(nested -> nested.isAnnotationPresent(Nested.class))
          .flatMap(GuestTests::methods)
          .forEach(methods::add);
    }
    return methods.stream();
  }

  private boolean isLeft(final Method method) {
    final String type = method.getDeclaringClass().getName();
    return left.containsKey(type) || left.containsKey(type + "#" + method.getName());
  }

  /** What the list names it by: its contract, if it is one. */
  private static Class<?> contract(final Class<?> test) {
    return test.getSuperclass() == Object.class ? test : test.getSuperclass();
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
    final List<DynamicNode> outcomes = new ArrayList<>();
    final String log = read(out.resolve("log"));
    final String end = log.substring(Math.max(0, log.length() - SHOWN));
    final String crash = read(out.resolve("hs_err.log"));
    final String said = end + crash.substring(0, Math.min(crash.length(), SHOWN));
    if (cases == null) {
      outcomes.add(dynamicTest("the report", () -> fail(test + " did not end; it said:\n" + said)));
      return outcomes;
    }
    final Set<String> expected =
        methods(test)
            .filter(method -> !isLeft(method))
            .map(Method::getName)
            .collect(Collectors.toCollection(TreeSet::new));
    final Set<String> ran = new TreeSet<>();
    for (int i = 0; i < cases.getLength(); i++) {
      final Element outcome = (Element) cases.item(i);
      final String title = outcome.getAttribute("name");
      expected.remove(title.replaceFirst("\\(.*", ""));
      if (outcome.getElementsByTagName(SKIPPED).getLength() == 0) {
        ran.add(title);
      }
      outcomes.add(dynamicTest(title, () -> repeat(outcome, ran)));
    }
    outcomes.add(
        dynamicTest("all have a result or a reason", () -> assertThat(expected).isEmpty()));
    outcomes.add(
        dynamicTest(
            "no complaint of the JVM", () -> assertThat(log).doesNotContainPattern(COMPLAINT)));
    final String status = read(out.resolve("status")).strip();
    // A class that leaves objects open has no failed test.
    outcomes.add(dynamicTest("ended well", () -> assertThat(status).as(said).isEqualTo("0")));
    return outcomes;
  }

  private static String read(final Path file) throws IOException {
    return Files.exists(file) ? Files.readString(file) : "";
  }

  /**
   * Ends as the test did in the guest. One that was skipped must have run in another nested class,
   * for which it is meant.
   */
  private static void repeat(final Element outcome, final Set<String> ran) {
    final String title = outcome.getAttribute("name");
    for (final String kind : List.of("failure", "error", SKIPPED)) {
      final NodeList found = outcome.getElementsByTagName(kind);
      if (found.getLength() > 0) {
        final String said = found.item(0).getTextContent();
        if (kind.equals(SKIPPED) && ran.contains(title)) {
          abort(said);
        }
        final String reason = kind.equals(SKIPPED) ? ", and is not in " + LIST : "";
        fail(title + " in the guest: " + kind + reason + ": " + said);
      }
    }
  }

  /**
   * The tests that are left out, and why.
   *
   * @param owner of the list.
   * @return the reason of each class or {@code CLASS#TEST}.
   */
  public static Map<String, String> leftOut(final Class<?> owner) {
    try (InputStream list = owner.getResourceAsStream(LIST)) {
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
}
