package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The races under Lincheck's schedules, on any Java runtime. Lincheck does not control sleeps. */
@Tag("lincheck")
class LincheckTest {

  @TempDir static Path classes;
  private static Schedules code;

  @BeforeAll
  static void compile() throws Exception {
    code = new Schedules("the code", List.of(), classes);
  }

  @AfterAll
  static void close() throws Exception {
    code.close();
  }

  @ParameterizedTest
  @MethodSource("races")
  void shouldHoldUnderEverySchedule(final String race) throws Exception {
    final Runnable runnable = code.race(race);
    final Throwable found =
        catchThrowable(() -> Lincheck.runConcurrentTest(Schedules.COUNT, runnable));
    assertThat(found).isNull();
  }

  static Stream<String> races() {
    return Race.names().stream().filter(race -> !race.endsWith("SLEEP"));
  }
}
