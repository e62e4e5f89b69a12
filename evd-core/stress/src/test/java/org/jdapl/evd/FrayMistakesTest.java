package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each planted race is found, within as many schedules as the code must hold. */
@Tag("fray")
class FrayMistakesTest {

  @TempDir Path classes;
  @TempDir Path report;

  @ParameterizedTest
  @MethodSource("mistakes")
  void shouldBeFound(final RaceMistakes.Planted mistake) throws Exception {
    System.out.print(mistake + ", " + mistake.race() + ": ");
    try (Schedules code = new Schedules(mistake.story(), mistake.edits(), classes)) {
      final Throwable found = Fray.run(code.race(mistake.race()), report);
      assertThat(found).as("%s survives %d schedules", mistake, Schedules.COUNT).isNotNull();
    }
  }

  static Stream<RaceMistakes.Planted> mistakes() {
    return RaceMistakes.all();
  }

  @ParameterizedTest
  @MethodSource("byPriorities")
  void shouldBeFoundByPriorities(final RaceMistakes.Planted mistake) throws Exception {
    System.out.print(mistake + ", " + mistake.race() + ": ");
    try (Schedules code = new Schedules(mistake.story(), mistake.edits(), classes)) {
      final Throwable found = Fray.runByPriorities(code.race(mistake.race()), report);
      assertThat(found).as("%s survives %d schedules", mistake, Schedules.COUNT).isNotNull();
    }
  }

  @ParameterizedTest
  @MethodSource("byPriorities")
  void shouldHoldByPrioritiesWithoutTheMistake(final RaceMistakes.Planted mistake)
      throws Exception {
    try (Schedules code = new Schedules("none", List.of(), classes)) {
      assertThat(Fray.runByPriorities(code.race(mistake.race()), report)).isNull();
    }
  }

  static Stream<RaceMistakes.Planted> byPriorities() {
    return RaceMistakes.byPriorities();
  }
}
