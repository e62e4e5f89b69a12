package org.jdapl.evd;

import java.nio.file.Path;
import kotlin.Unit;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.randomness.ControlledRandomProvider;
import org.pastalab.fray.core.scheduler.PCTScheduler;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;

/** Runs a race under Fray's schedules, on a Java runtime that Fray has instrumented. */
final class Fray {

  private static final int SECONDS = 300;

  private Fray() {}

  /**
   * Runs a race {@link Schedules#COUNT} times, or until it throws.
   *
   * @param report where the schedule goes that made it throw; a replay reads it from there.
   * @return what it threw; null if it held.
   */
  static Throwable run(final Runnable race, final Path report) {
    return run(race, report, new POSScheduler());
  }

  /**
   * The same, but each thread has a priority that changes now and then: for mistakes that need one
   * thread to stand still for long in the right place.
   */
  static Throwable runByPriorities(final Runnable race, final Path report) {
    return run(race, report, new PCTScheduler());
  }

  private static Throwable run(final Runnable race, final Path report, final Scheduler scheduler) {
    final ExecutionInfo what =
        new ExecutionInfo(
            new LambdaExecutor(
                () -> {
                  race.run();
                  return Unit.INSTANCE;
                }),
            false, // ignoreUnhandledExceptions
            false, // interleaveMemoryOps
            -1); // maxScheduledStep
    final Configuration how =
        new Configuration(
            what,
            report,
            Schedules.COUNT,
            SECONDS,
            scheduler,
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
    if (found == null && how.getCurrentIteration() < Schedules.COUNT) {
      return new AssertionError(
          "only " + how.getCurrentIteration() + " schedules in " + SECONDS + " seconds");
    }
    System.out.printf("%s after %d schedules%n", found, how.getCurrentIteration());
    return found;
  }
}
