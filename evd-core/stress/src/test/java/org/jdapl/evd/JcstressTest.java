package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Runs the jcstress tests of this module. Each is a class with a good half, which must pass, and a
 * broken twin, which must fail at the same setting: else the setting proves nothing.
 */
@Tag("jcstress")
class JcstressTest {

  private static final Pattern FAILED =
      Pattern.compile("\\[(?:FAILED|ERROR)\\] org\\.jdapl\\.evd\\.(\\w+)\\.(Good|Twin)");
  private static final Pattern PROGRESS =
      Pattern.compile(
          "(\\d+) planned; (\\d+) passed, (\\d+) failed, (\\d+) soft errs, (\\d+) hard errs");
  private static final Path FOLDER = Path.of("target", "jcstress");

  @Test
  void shouldPassAndFindEachTwin() throws Exception {
    final Set<String> wanted = tests();

    final String output = run();

    final Set<String> goodThatFail = new TreeSet<>();
    final Set<String> twinsThatFail = new TreeSet<>();
    final Matcher failed = FAILED.matcher(output);
    while (failed.find()) {
      (failed.group(2).equals("Good") ? goodThatFail : twinsThatFail).add(failed.group(1));
    }
    final Path folder = FOLDER.toAbsolutePath();
    assertThat(isComplete(output)).as("jcstress ran to its end; see %s", folder).isTrue();
    assertThat(goodThatFail).as("good ones that fail; see %s", folder).isEmpty();
    assertThat(twinsThatFail).as("twins that fail; see %s", folder).isEqualTo(wanted);
  }

  /** Whether the last report of its progress has a verdict on each planned run. */
  private static boolean isComplete(final String output) {
    boolean complete = false;
    final Matcher progress = PROGRESS.matcher(output);
    while (progress.find()) {
      final int planned = Integer.parseInt(progress.group(1));
      final int passed = Integer.parseInt(progress.group(2));
      final int failed = Integer.parseInt(progress.group(3));
      complete =
          planned > 0
              && passed + failed == planned
              && progress.group(4).equals("0")
              && progress.group(5).equals("0");
    }
    return complete;
  }

  private static Set<String> tests() throws Exception {
    final Set<String> tests = new TreeSet<>();
    try (var classes = Files.list(Path.of("target/classes/org/jdapl/evd"))) {
      classes
          .map(path -> path.getFileName().toString())
          .filter(name -> name.endsWith("$Good.class"))
          .forEach(name -> tests.add(name.replace("$Good.class", "")));
    }
    assertThat(tests).isNotEmpty();
    return tests;
  }

  private static String run() throws Exception {
    Files.createDirectories(FOLDER);
    final File output = FOLDER.resolve("output").toFile();
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of("org.openjdk.jcstress.Main", "-m", "quick", "-sc", "false"));
    command.addAll(List.of("-t", "org\\.jdapl\\.evd\\.", "-r", FOLDER.toString()));
    final Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output).start();
    process.waitFor(); // 1, because the twins fail
    return Files.readString(output.toPath(), StandardCharsets.ISO_8859_1);
  }
}
