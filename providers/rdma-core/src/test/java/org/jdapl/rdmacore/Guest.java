package org.jdapl.rdmacore;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A machine with a real RDMA stack, emulated by {@code providers/rdma-core/guest}, that runs one
 * command. The machine ends with it, or after its bound; closing it earlier cuts its power.
 */
final class Guest implements AutoCloseable {

  /** How a guest and its command ended, and what they said. */
  record Result(int status, String output) {}

  private static final Path SCRIPT = Path.of("guest");
  private static final Path FOLDERS = Path.of("target", "guests");

  private final Process process;
  private final Duration bound;
  private final Path log;

  /** What the command has as {@code /out}. */
  final Path out;

  private Guest(final Process process, final Duration bound, final Path out, final Path log) {
    this.process = process;
    this.bound = bound;
    this.out = out;
    this.log = log;
  }

  /**
   * Starts a machine.
   *
   * @param name of the folder below {@code target/guests} that keeps what it said.
   * @param options of the script, but the bound and the folder.
   * @param command a line of bash.
   */
  static Guest start(
      final String name, final Duration bound, final List<String> options, final String command) {
    try {
      final Path folder = FOLDERS.resolve(name);
      final Path out = folder.resolve("out");
      final Path log = folder.resolve("log");
      Files.createDirectories(out);
      final List<String> line = new ArrayList<>();
      line.addAll(List.of(SCRIPT.toAbsolutePath().toString(), "-t", "" + bound.toSeconds()));
      line.addAll(List.of("-o", out.toAbsolutePath().toString()));
      line.addAll(options);
      line.addAll(List.of("bash", "-c", command));
      final ProcessBuilder builder =
          new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(log.toFile());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      return new Guest(builder.start(), bound, out.toAbsolutePath(), log);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A java with the class path of this test, as a line of bash. */
  static String java(final String... arguments) {
    return "\"$JAVA_HOME/bin/java\" -cp '%s' %s"
        .formatted(absolute(System.getProperty("java.class.path")), String.join(" ", arguments));
  }

  private static String absolute(final String classPath) {
    final List<String> entries = new ArrayList<>();
    for (final String entry : classPath.split(File.pathSeparator, -1)) {
      entries.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, entries);
  }

  /** What it said until now. */
  String output() {
    try {
      return Files.readString(log);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  boolean isRunning() {
    return process.isAlive();
  }

  /** Waits for its end, which comes within its bound. */
  Result await() throws InterruptedException {
    // The script ends it; this is for a script that is stuck.
    if (!process.waitFor(bound.toSeconds() + 60, TimeUnit.SECONDS)) {
      close();
      throw new AssertionError("the guest did not end within " + bound + ": " + output());
    }
    return new Result(process.exitValue(), output());
  }

  /** Cuts its power if it runs. */
  @Override
  public void close() {
    process.destroy(); // the script, which ends the emulator
    try {
      process.waitFor(1, TimeUnit.MINUTES);
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
