package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs a main class of the tests in a JVM of its own. */
final class OwnJvm {

  private OwnJvm() {}

  /**
   * Runs it until it ends.
   *
   * @param environment what its environment has beside this one's.
   * @return what it printed, errors too.
   */
  static String run(
      final Class<?> main,
      final List<String> options,
      final Map<String, String> environment,
      final String... arguments)
      throws IOException {
    final List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.add("-XX:+UseSerialGC");
    command.add("-cp");
    command.add(
        String.join(
            File.pathSeparator,
            "target/classes",
            "target/test-classes",
            System.getProperty("jdk.module.path", ""),
            System.getProperty("java.class.path")));
    command.addAll(options);
    command.add(main.getName());
    command.addAll(List.of(arguments));
    final ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    final Process process = builder.start();
    try {
      return new String(process.getInputStream().readAllBytes(), UTF_8);
    } finally {
      process.destroyForcibly(); // where the test's time is over
    }
  }
}
