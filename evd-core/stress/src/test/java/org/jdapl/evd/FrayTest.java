package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import kotlin.Unit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.randomness.ControlledRandomProvider;
import org.pastalab.fray.core.scheduler.POSScheduler;

/** The races under Fray's schedules, on a Java runtime that Fray has instrumented. */
@Tag("fray")
class FrayTest {

  private static final int SECONDS = 300;

  @TempDir Path classes;

  @ParameterizedTest
  @MethodSource("races")
  void shouldHoldUnderEverySchedule(final String race) throws Exception {
    assertThat(run(race, "the code", List.of())).isNull();
  }

  static Stream<String> races() {
    return Race.names().stream();
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void shouldFindThePlantedMistake(final RaceMistakes.Planted mistake) throws Exception {
    assertThat(run(mistake.race(), mistake.story(), mistake.edits()))
        .as("%s: what %s shows in %s schedules", mistake, mistake.race(), Schedules.COUNT)
        .isNotNull();
  }

  static Stream<RaceMistakes.Planted> mistakes() {
    return RaceMistakes.all();
  }

  private Throwable run(final String race, final String story, final List<Mistake.Edit> mistakes)
      throws Exception {
    try (Schedules code = new Schedules(story, mistakes, classes)) {
      final Runnable runnable = code.race(race);
      final Path report =
          Files.createDirectories(Path.of("target", "fray-report", race.replace(' ', '-')));
      final ExecutionInfo what =
          new ExecutionInfo(
              new LambdaExecutor(
                  () -> {
                    runnable.run();
                    return Unit.INSTANCE;
                  }),
              false,
              false,
              -1);
      final Configuration how =
          new Configuration(
              what,
              report,
              Schedules.COUNT,
              SECONDS,
              new POSScheduler(),
              new ControlledRandomProvider(),
              false, // fullSchedule
              false, // exploreMode
              true, // noExitWhenBugFound
              false, // isReplay
              false, // noFray
              false, // dummyRun
              NetworkDelegateType.NONE,
              SystemTimeDelegateType.NONE,
              1, // virtualTimeDelta
              true, // ignoreTimedBlock
              false, // sleepAsYield
              false, // resetClassLoader
              false, // redirectStdout
              false, // abortThreadExecutionAfterMainExit
              false, // resolveRacingOperationStackTraceHash
              null); // timelineCoverageType
      final Throwable found = new TestRunner(how).run();
      System.out.printf(
          "%s, %s: %s after %d schedules%n", race, story, found, how.getCurrentIteration());
      return found;
    }
  }
}
