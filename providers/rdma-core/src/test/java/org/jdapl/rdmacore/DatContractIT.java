package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;
import org.junit.platform.console.ConsoleLauncher;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/**
 * The contract of the API on soft-RoCE: {@link DatContractTest} inside a guest, a JVM for each
 * contract. What came of each test there is what comes of it here. A test that did not run there is
 * in {@code not-on-soft-roce.txt} with the reason, or it is a failure.
 */
@NeedsGuest
class DatContractIT {

  private static final Duration BOUND = Duration.ofMinutes(20);
  private static final int CONTRACT_SECONDS = 300;
  private static final int FEWEST = 60;

  /** What a JVM says that checks how native code uses JNI. */
  private static final Pattern COMPLAINT =
      Pattern.compile("WARNING in native method|WARNING: JNI|FATAL ERROR in native method");

  @TestFactory
  Stream<DynamicNode> onSoftRoce() throws Exception {
    return run("contract");
  }

  @TestFactory
  Stream<DynamicNode> onSoftRoceWithJniChecked() throws Exception {
    return run("contract-jni", "-Xcheck:jni");
  }

  private static Stream<DynamicNode> run(final String name, final String... options)
      throws Exception {
    final Map<String, String> left = notOnSoftRoce();
    final List<Class<?>> contracts = new ArrayList<>();
    contracts.addAll(List.of(DatContractTest.class.getDeclaredClasses()));
    contracts.removeIf(contract -> left.containsKey(contract.getSuperclass().getSimpleName()));
    contracts.sort(Comparator.comparing(Class::getSimpleName));
    final StringBuilder script = new StringBuilder();
    for (final Class<?> contract : contracts) {
      script.append(inGuest(contract, left.keySet(), options));
    }
    final Path out;
    final Guest.Result result;
    // The address is the one at which DatContractTest looks for its device.
    try (Guest guest =
        Guest.start(name, BOUND, List.of("-a", Side.ADDRESS), script.append("true").toString())) {
      out = guest.out;
      result = guest.await();
    }
    final List<DynamicNode> nodes = new ArrayList<>();
    nodes.add(
        dynamicTest("the guest", () -> assertThat(result.status()).as(result.output()).isZero()));
    int ran = 0;
    for (final Class<?> contract : contracts) {
      final List<DynamicNode> tests = outcomes(out, contract, left.keySet());
      ran += tests.size();
      nodes.add(dynamicContainer(contract.getSimpleName(), tests));
    }
    final int count = ran;
    nodes.add(
        dynamicTest(
            "at least " + FEWEST + " tests", () -> assertThat(count).isGreaterThan(FEWEST)));
    nodes.add(dynamicContainer("not on soft-RoCE", left(left)));
    return nodes.stream();
  }

  private static String inGuest(
      final Class<?> contract, final Set<String> left, final String... options) {
    final List<String> line = new ArrayList<>();
    line.addAll(List.of(options));
    line.addAll(List.of("-ea", "-Xmx1g", "-XX:+UseSerialGC", "-XX:ErrorFile=$out/hs_err.log"));
    line.add("-Djunit.jupiter.extensions.autodetection.enabled=true");
    line.add("-Djdapl.leakDetection=every");
    line.add("-Dnative.tests=" + Child.NATIVE.toAbsolutePath());
    line.addAll(List.of(ConsoleLauncher.class.getName(), "execute", "--disable-banner"));
    line.addAll(List.of("--disable-ansi-colors", "--details=testfeed", "--reports-dir=$out"));
    line.add("-c '" + contract.getName() + "'");
    final String prefix = contract.getSuperclass().getSimpleName() + ".";
    left.stream()
        .filter(test -> test.startsWith(prefix))
        .map(test -> "--exclude-methodname='.*#" + test.substring(prefix.length()) + ".*'")
        .forEach(line::add);
    // A JVM that hangs says where.
    return """
        out=/out/%s; mkdir -p $out
        timeout -s QUIT -k 20 %d %s >$out/log 2>&1
        echo $? >$out/status
        """
        .formatted(
            contract.getSimpleName(), CONTRACT_SECONDS, Guest.java(line.toArray(String[]::new)));
  }

  private static List<DynamicNode> outcomes(
      final Path guest, final Class<?> contract, final Set<String> left) throws Exception {
    final Path out = guest.resolve(contract.getSimpleName());
    final String log = Files.exists(out.resolve("log")) ? Files.readString(out.resolve("log")) : "";
    final List<DynamicNode> tests = new ArrayList<>();
    final Path report = out.resolve("TEST-junit-jupiter.xml");
    if (!Files.exists(report)) {
      tests.add(dynamicTest("the report", () -> fail(contract + " did not end:\n" + tail(log))));
      return tests;
    }
    final Set<String> expected = testsOf(contract);
    expected.removeIf(test -> left.contains(contract.getSuperclass().getSimpleName() + "." + test));
    final NodeList cases =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(report.toFile())
            .getElementsByTagName("testcase");
    for (int i = 0; i < cases.getLength(); i++) {
      final Element test = (Element) cases.item(i);
      final String name = test.getAttribute("name");
      expected.remove(name.replaceFirst("\\(.*", ""));
      tests.add(dynamicTest(name, () -> repeat(test)));
    }
    tests.add(
        dynamicTest("all have a result or a reason", () -> assertThat(expected).isEmpty()));
    tests.add(
        dynamicTest(
            "no complaint of the JVM", () -> assertThat(log).doesNotContainPattern(COMPLAINT)));
    tests.add(
        dynamicTest(
            "ended well",
            () -> {
              final String status = Files.readString(out.resolve("status")).strip();
              // With 1 a test failed, which is told above, or a class left objects open.
              assertThat(status).as(tail(log)).isEqualTo("0");
            }));
    return tests;
  }

  private static Set<String> testsOf(final Class<?> contract) {
    return Arrays.stream(contract.getSuperclass().getDeclaredMethods())
        .map(method -> method.getName())
        .filter(name -> name.startsWith("required_"))
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** Ends as the test did in the guest. */
  private static void repeat(final Element test) {
    for (final String kind : List.of("failure", "error", "skipped")) {
      final NodeList found = test.getElementsByTagName(kind);
      if (found.getLength() > 0) {
        final String text = found.item(0).getTextContent();
        fail("in the guest: " + kind + ": " + text);
      }
    }
  }

  private static List<DynamicNode> left(final Map<String, String> left) {
    return left.entrySet().stream()
        .map(
            entry ->
                (DynamicNode)
                    dynamicTest(
                        entry.getKey(),
                        () -> {
                          isThere(entry.getKey());
                          abort(entry.getValue());
                        }))
        .toList();
  }

  /** An entry whose test is gone is a failure. */
  private static void isThere(final String entry) throws ClassNotFoundException {
    final String[] names = entry.split("\\.", 2);
    final Class<?> contract = Class.forName("org.jdapl.tck." + names[0]);
    if (names.length > 1) {
      assertThat(contract.getDeclaredMethods())
          .as(entry + " in not-on-soft-roce.txt")
          .anyMatch(method -> method.getName().equals(names[1]));
    }
  }

  private static Map<String, String> notOnSoftRoce() throws IOException {
    try (InputStream list = DatContractIT.class.getResourceAsStream("not-on-soft-roce.txt")) {
      final Map<String, String> left = new TreeMap<>();
      new String(list.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> line.split(": ", 2))
          .forEach(entry -> left.put(entry[0], entry[1]));
      return left;
    }
  }

  private static String tail(final String log) {
    return log.substring(Math.max(0, log.length() - 8000));
  }
}
