package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Races under Fray's schedules. Classes share them, so that each processor has some; here are those
 * that no other class has.
 */
@Tag("fray")
class FrayTest {

  static final String ENDPOINT = ".*(SIGNAL|ENDPOINT_CLOSE).*";
  static final String POLICY = ".*(POLICY|ON_NEW|NOTIFY|MANY).*";

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
    final Path report = Path.of("target", "fray-report", race.replace(' ', '-')).toAbsolutePath();
    System.out.print(race + ": ");
    assertThat(Fray.run(code.race(race), report)).as("replay: %s/recording", report).isNull();
  }

  static Stream<String> races() {
    return Race.names().stream().filter(race -> !race.matches(ENDPOINT) && !race.matches(POLICY));
  }
}
