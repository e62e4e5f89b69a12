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

  private static final Pattern VERDICT =
      Pattern.compile("\\[(OK|FAILED|ERROR)\\] org\\.jdapl\\.evd\\.(\\w+)\\.(Good|Twin)");
  private static final Path FOLDER = Path.of("target", "jcstress");

  @Test
  void shouldPassAndFindEachTwin() throws Exception {
    final Set<String> wanted = tests();

    final String output = run();

    final Set<String> good = new TreeSet<>(wanted);
    final Set<String> found = new TreeSet<>();
    final Matcher verdict = VERDICT.matcher(output);
    while (verdict.find()) {
      if (!verdict.group(1).equals("OK")) {
        (verdict.group(3).equals("Good") ? good : new TreeSet<>()).remove(verdict.group(2));
        if (verdict.group(3).equals("Twin") && verdict.group(1).equals("FAILED")) {
          found.add(verdict.group(2));
        }
      }
    }
    assertThat(output).as("jcstress ran").contains("RUN COMPLETE");
    assertThat(good).as("good ones that pass; see %s", FOLDER.toAbsolutePath()).isEqualTo(wanted);
    assertThat(found).as("twins that fail; see %s", FOLDER.toAbsolutePath()).isEqualTo(wanted);
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
