package org.jdapl.rdmacore;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.Assertions;
import org.jdapl.verbs.VerbsProvider;

/** Another Java process, with an environment and options of its own. */
final class Child {

  static final Path NATIVE = Path.of(System.getProperty("native.tests", "target/native-tests"));

  record Result(int status, String output) {

    /** What the program said; newer Javas warn of every program that loads a native library. */
    List<String> lines() {
      return output
          .lines()
          .filter(line -> !line.isEmpty() && !line.startsWith("WARNING: "))
          .toList();
    }
  }

  private final Map<String, String> environment = new TreeMap<>();
  private final List<String> options = new ArrayList<>();
  private List<String> prefix = List.of();

  Child() {
    environment.put("LD_LIBRARY_PATH", NATIVE.resolve("fake").toString());
  }

  Child with(final String variable, final String value) {
    environment.put(variable, value);
    return this;
  }

  /** The provider and what it needs are modules; the program is not. */
  Child onModulePath(final String module) {
    final String path = location(VerbsProvider.class) + File.pathSeparator + "target/classes";
    return option("--module-path", path, "--add-modules", module);
  }

  Child option(final String... option) {
    options.addAll(List.of(option));
    return this;
  }

  /** What starts it: a command that takes a command. */
  Child inside(final String... command) {
    prefix = List.of(command);
    return this;
  }

  Result run(final Class<?> main, final String... arguments)
      throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of("-ea", "-cp", classPath(), main.getName()));
    command.addAll(List.of(arguments));
    final ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    builder.environment().putAll(environment);
    final Process process = builder.start();
    process.getOutputStream().close();
    final String output;
    try (InputStream said = process.getInputStream()) { // else a thread of Java's closes it, later
      output = new String(said.readAllBytes(), StandardCharsets.UTF_8);
    }
    if (!process.waitFor(1, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new AssertionError("did not end: " + command + "\n" + output);
    }
    return new Result(process.exitValue(), output);
  }

  private static String classPath() {
    return String.join(
        File.pathSeparator,
        location(VerbsProvider.class),
        "target/classes",
        "target/test-classes",
        location(Assertions.class));
  }

  private static String location(final Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (final URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
