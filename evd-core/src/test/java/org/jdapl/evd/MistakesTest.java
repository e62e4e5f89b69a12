package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintStream;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants each mistake of {@link Mistakes} in a copy of the code, and expects the tests of its rule
 * to find it: a guard that nobody has seen fail is not tested. Prints the table of the evidence.
 *
 * <p>A test that hangs finds a mistake only if that says so: an assertion was to find all others.
 * Those that hang may go on to use a processor, so they come last.
 */
@Tag("mistakes")
@Execution(ExecutionMode.CONCURRENT)
class MistakesTest {

  /** How long the tests of a mistake may take. */
  private static final long SECONDS = 30;

  /** Those of one that {@link Mistake#hangs} take as long as they may. */
  private static final long SECONDS_OF_A_HANG = 5;

  /** What the broken code prints, and what found it. */
  private static final Path LOG = Path.of("target/mistakes.log");

  private static final Evidence EVIDENCE = new Evidence();

  private static PrintStream out;
  private static PrintStream err;

  @BeforeAll
  static void redirect() throws IOException {
    System.setProperty("jdapl.bound", "5");
    out = System.out;
    err = System.err;
    Files.createDirectories(LOG.getParent());
    final PrintStream log = new PrintStream(Files.newOutputStream(LOG), true, UTF_8);
    System.setOut(log);
    System.setErr(log);
  }

  @AfterAll
  static void print() throws IOException {
    System.clearProperty("jdapl.bound");
    System.setOut(out);
    System.setErr(err);
    System.out.println(EVIDENCE.write());
  }

  @ParameterizedTest(allowZeroInvocations = true)
  @MethodSource("sideBySide")
  void shouldBeFound(final Mistake mistake, @TempDir final Path classes) throws Exception {
    plant(mistake, classes);
  }

  /** By tests that look at what the JVM has once. */
  @ParameterizedTest(allowZeroInvocations = true)
  @MethodSource("isolated")
  @Execution(ExecutionMode.SAME_THREAD)
  void shouldBeFoundByTestsThatAreIsolated(final Mistake mistake, @TempDir final Path classes)
      throws Exception {
    plant(mistake, classes);
  }

  private static void plant(final Mistake mistake, final Path classes) throws Exception {
    BrokenCode.compile(mistake.toString(), mistake.edits(), Path.of(".."), classes);

    final String found = run(mistake, classes);

    EVIDENCE.add(mistake, found);
    System.out.println("===== " + mistake + "\n===== found by " + found);
    assertThat(found).as(mistake + ": survives the tests of its rule").isNotNull();
  }

  static Stream<Mistake> sideBySide() {
    return wanted().filter(mistake -> !MistakeRun.isIsolated(mistake.rule()));
  }

  static Stream<Mistake> isolated() {
    return wanted().filter(mistake -> MistakeRun.isIsolated(mistake.rule()));
  }

  /** All; -Djdapl.mistake=TEXT leaves those whose name has that text. */
  private static Stream<Mistake> wanted() {
    final String wanted = System.getProperty("jdapl.mistake", "");
    return Mistakes.all()
        .filter(mistake -> mistake.toString().contains(wanted))
        .sorted(Comparator.comparing(Mistake::hangs));
  }

  /** What found it. */
  private static String run(final Mistake mistake, final Path classes) throws Exception {
    try (URLClassLoader loader = BrokenCode.load(classes)) {
      loader.setDefaultAssertionStatus(!mistake.rule().equals("E10"));
      final Callable<?> tests =
          (Callable<?>)
              loader
                  .loadClass(MistakeRun.class.getName())
                  .getConstructor(String.class, String.class, String.class)
                  .newInstance(mistake.rule(), mistake.by(), mistake.where());
      final FutureTask<Object> task = new FutureTask<>(tests::call);
      final ThreadGroup group = new ThreadGroup(mistake.toString()); // tests look for their threads
      final Thread thread = new Thread(group, task, mistake.toString());
      thread.setContextClassLoader(loader);
      thread.setDaemon(true);
      thread.start();
      return await(task, mistake, thread);
    }
  }

  private static String await(
      final FutureTask<Object> task, final Mistake mistake, final Thread thread) throws Exception {
    try {
      return (String) task.get(mistake.hangs() ? SECONDS_OF_A_HANG : SECONDS, TimeUnit.SECONDS);
    } catch (final TimeoutException e) {
      if (mistake.hangs()) {
        return "a test that did not end";
      }
      final AssertionError failure =
          new AssertionError(mistake + ": a test hangs; have it fail instead, or mark the mistake");
      failure.setStackTrace(thread.getStackTrace());
      throw failure;
    }
  }
}
