package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The races of an EVD without endpoint, under Fray's schedules. */
@Tag("fray")
class FrayTest {

  @TempDir Path classes;

  @ParameterizedTest
  @MethodSource("races")
  void shouldHoldUnderEverySchedule(final String race) throws Exception {
    final Path report = Path.of("target", "fray-report", race.replace(' ', '-')).toAbsolutePath();
    System.out.print(race + ": ");
    try (Schedules code = new Schedules("the code", List.of(), classes)) {
      assertThat(Fray.run(code.race(race), report)).as("replay: %s/recording", report).isNull();
    }
  }

  static Stream<String> races() {
    return Race.names().stream().filter(race -> !Race.hasEndpoint(race));
  }
}
