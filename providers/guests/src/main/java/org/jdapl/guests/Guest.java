package org.jdapl.guests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A machine with a real RDMA stack, emulated by {@code providers/guests/guest}, that runs one
 * command. The machine ends with it, or after its bound; closing it earlier cuts its power.
 */
public final class Guest implements AutoCloseable {

  private static final Path FOLDERS = Path.of("target", "guests");
  private static final long NAP = TimeUnit.MILLISECONDS.toNanos(5);
  private static final int SHOWN = 8000;

  private final String name;
  private final Process process;
  private final Duration bound;
  private final Path out;
  private final Path log;

  private Guest(
      final String name,
      final Process process,
      final Duration bound,
      final Path out,
      final Path log) {
    this.name = name;
    this.process = process;
    this.bound = bound;
    this.out = out;
    this.log = log;
  }

  /**
   * Starts a machine.
   *
   * @param name of the folder below {@code target/guests} that keeps what it said.
   * @param bound after which it is stopped.
   * @param options of the script, but the bound and the folder.
   * @param command a line of bash.
   * @return the machine, which boots now.
   */
  public static Guest start(
      final String name, final Duration bound, final List<String> options, final String command) {
    try {
      final Path folder = FOLDERS.resolve(name);
      final Path out = folder.resolve("out").toAbsolutePath();
      final Path log = folder.resolve("log");
      deleteAll(folder); // what an earlier run said is no result of this one
      Files.createDirectories(out);
      final List<String> line = new ArrayList<>();
      line.addAll(List.of(script().toString(), "-t", "" + bound.toSeconds()));
      line.addAll(List.of("-o", out.toString()));
      line.addAll(options);
      line.addAll(List.of("bash", "-c", command));
      final ProcessBuilder builder =
          new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(log.toFile());
      builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
      return new Guest(name, builder.start(), bound, out, log);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The script of this checkout, whichever module is tested. */
  private static Path script() {
    final Path script = Path.of("providers", "guests", "guest");
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      if (Files.exists(folder.resolve(script))) {
        return folder.resolve(script);
      }
    }
    throw new IllegalStateException(
        "no " + script + " above " + Path.of("").toAbsolutePath() + "; expected a checkout");
  }

  private static void deleteAll(final Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (final Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /**
   * What runs a java with the class path of the caller. It compiles with C1 only: what the second
   * compiler does costs more there than it saves. If it crashes, {@code hs_err.log} in {@link
   * #out()} tells of it.
   *
   * @param arguments more of its options, class and arguments, as bash takes them.
   * @return a line of bash.
   */
  public static String java(final String... arguments) {
    final String classPath =
        Pattern.compile(File.pathSeparator, Pattern.LITERAL)
            .splitAsStream(System.getProperty("java.class.path"))
            .map(entry -> Path.of(entry).toAbsolutePath().toString())
            .collect(Collectors.joining(File.pathSeparator));
    return "\"$JAVA_HOME/bin/java\" -XX:TieredStopAtLevel=1 -XX:ErrorFile=/out/hs_err.log -cp '%s' %s"
        .formatted(classPath, String.join(" ", arguments));
  }

  /**
   * The folder that the command has as {@code /out}.
   *
   * @return its absolute path.
   */
  public Path out() {
    return out;
  }

  /**
   * What the machine and the command said until now.
   *
   * @return all of it.
   */
  public String output() {
    try {
      return Files.readString(log);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * What it said last, for a message.
   *
   * @return its name and the last lines.
   */
  public String lastWords() {
    final String all = output();
    return "guest " + name + " said:\n" + all.substring(Math.max(0, all.length() - SHOWN)) + "\n";
  }

  /**
   * Whether its power is on.
   *
   * @return false when it ended.
   */
  public boolean isRunning() {
    return process.isAlive();
  }

  /**
   * Waits until it says something; it fails if it ended, or does not within its bound.
   *
   * @param text what it says.
   * @param times how often.
   */
  public void awaitOutput(final String text, final int times) {
    final Pattern pattern = Pattern.compile(text, Pattern.LITERAL);
    awaitWhileRunning(
        () -> pattern.matcher(output()).results().count() >= times, text + ", " + times + " times");
  }

  /** Waits for a condition; it fails if the machine ended, or after its bound. */
  void awaitWhileRunning(final BooleanSupplier condition, final String what) {
    final long deadline = System.nanoTime() + bound.toNanos();
    while (!condition.getAsBoolean()) {
      final boolean isRunning = isRunning() && System.nanoTime() - deadline < 0;
      assertThat(isRunning || condition.getAsBoolean())
          .as(() -> "expected: " + what + "; " + lastWords())
          .isTrue();
      LockSupport.parkNanos(NAP);
    }
  }

  /**
   * Waits for its end, which comes within its bound.
   *
   * @return the exit status of the command; others are the script's.
   * @throws InterruptedException if interrupted.
   */
  public int await() throws InterruptedException {
    // The script ends it; this is for a script that is stuck.
    if (!process.waitFor(bound.toSeconds() + 60, TimeUnit.SECONDS)) {
      close();
      throw new AssertionError("the guest did not end within " + bound + "; " + lastWords());
    }
    return process.exitValue();
  }

  /**
   * Waits for its end, and fails if the command failed.
   *
   * @throws InterruptedException if interrupted.
   */
  public void awaitSuccess() throws InterruptedException {
    assertThat(await()).as(this::lastWords).isZero();
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
