package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The races as the machine schedules them: what they are worth is seen under a scheduler only. */
class RaceTest {

  private static final int RUNS = 20;

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
  @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void shouldHold(final String race) throws Exception {
    final Runnable runnable = code.race(race);
    for (int i = 0; i < RUNS; i++) {
      runnable.run();
    }
  }

  static Stream<String> races() {
    return Race.names().stream();
  }

  /** Mistakes are texts: they must go on fitting the code. */
  @Test
  void shouldPlantEachMistake(@TempDir final Path broken) throws Exception {
    for (final RaceMistakes.Planted mistake : RaceMistakes.all().toList()) {
      new Schedules(mistake.story(), mistake.edits(), broken).close();
      assertThat(Race.names()).contains(mistake.race());
    }
  }

  @Test
  void shouldBeInTheDesign() throws Exception {
    final Matcher row =
        Pattern.compile("(?m)^\\| `([A-Z_]+)` \\|")
            .matcher(Files.readString(Path.of("../docs/design.md")));
    final Set<String> described = new TreeSet<>();
    while (row.find()) {
      described.add(row.group(1));
    }
    final Set<String> raced = new TreeSet<>();
    Race.names().forEach(race -> raced.addAll(List.of(race.split(" x ", -1))));
    assertThat(described).isEqualTo(raced);
  }
}
