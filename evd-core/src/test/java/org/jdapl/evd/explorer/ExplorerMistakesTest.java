package org.jdapl.evd.explorer;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jdapl.evd.BrokenCode;
import org.jdapl.evd.Mistake;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Plants each mistake of {@link ExplorerMistakes}, and expects random consumers to find it. */
@Tag("explorer")
@Execution(ExecutionMode.CONCURRENT)
class ExplorerMistakesTest {

  /** How many seeds may be needed. */
  private static final long SEEDS = 20_000;

  @ParameterizedTest
  @MethodSource("wanted")
  void shouldBeFound(final Mistake mistake, @TempDir final Path classes) throws Exception {
    BrokenCode.compile(mistake.toString(), mistake.edits(), Path.of(".."), classes);

    Object found = null;
    try (URLClassLoader loader = BrokenCode.load(classes)) {
      loader.setDefaultAssertionStatus(true);
      if (!mistake.by().isEmpty()) {
        found = explore(loader, Long.parseLong(mistake.by()), 1);
      }
      if (found == null) {
        found = explore(loader, 0, SEEDS);
      }
    }

    System.out.println("===== " + mistake + "\n===== found by seed " + found);
    assertThat(found).as(mistake + ": survives " + SEEDS + " seeds").isNotNull();
  }

  private static Object explore(final ClassLoader loader, final long first, final long count)
      throws Exception {
    return ((Callable<?>)
            loader
                .loadClass(Exploration.class.getName())
                .getConstructor(long.class, long.class, int.class)
                .newInstance(first, count, 1))
        .call();
  }

  /** All; -Djdapl.mistake=TEXT leaves those whose name has that text. */
  static Stream<Mistake> wanted() {
    final String wanted = System.getProperty("jdapl.mistake", "");
    return ExplorerMistakes.all().filter(mistake -> mistake.toString().contains(wanted));
  }
}
