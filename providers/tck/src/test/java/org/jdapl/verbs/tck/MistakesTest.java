package org.jdapl.verbs.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jdapl.hooks.ProviderMistakes;
import org.jdapl.hooks.ProviderMistakes.Mistake;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Each wrong provider fails the test it should, with words that help. */
class MistakesTest {

  private static final String NO_MISTAKE = "nothing is wrong";

  /** On threads: who does not wait must have done so by then, and the machine may be busy. */
  private static final Duration SHOWS_WITHIN = Duration.ofMillis(200);

  /** A part of the name of those that are planted; empty for all. */
  private static final String WANTED = System.getProperty("jdapl.mistake", "");

  /** The tests that failed because of a mistake. */
  private static final Set<String> SEEN = new TreeSet<>();

  private static volatile Mistake planted;

  /** The TCK over the provider with the mistake; not found by its name. */
  static final class Subject extends ProviderTck {

    @Override
    protected TckBed bed() {
      final SimModel model = SimModel.parse(planted.model());
      final SimFabric fabric = planted.threads() ? SimFabric.realTime() : SimFabric.virtual(42);
      final TckBed bed =
          TckBed.of(planted.over().apply(fabric.provider(model))).withReplay(fabric::toString);
      return planted.threads()
          ? bed.withEnd(fabric::close)
              .withTimes(Duration.ofSeconds(2), SHOWS_WITHIN, Duration.ofSeconds(10))
          : bed.withTimes(Duration.ofSeconds(1), Duration.ofMillis(30), giveUp());
    }

    /** What is right ends, however busy the machine is; of what is wrong, some is stuck. */
    private static Duration giveUp() {
      return Duration.ofSeconds(planted.finds().isEmpty() ? 60 : 3);
    }
  }

  /** What happened in a run. */
  private static final class Outcome implements TestExecutionListener {

    final Map<String, Throwable> failed = new TreeMap<>();
    final AtomicInteger run = new AtomicInteger();
    final Set<String> tests = new TreeSet<>();

    @Override
    public void executionFinished(final TestIdentifier test, final TestExecutionResult result) {
      if (test.isTest()) {
        run.incrementAndGet();
        tests.add(name(test.getLegacyReportingName()));
        if (result.getStatus() == TestExecutionResult.Status.FAILED) {
          failed.put(name(test.getLegacyReportingName()), result.getThrowable().orElseThrow());
        }
      }
    }
  }

  private static String name(final String method) {
    return method.replaceFirst("\\(.*", "");
  }

  private static Outcome run(final Mistake mistake) {
    planted = mistake;
    final Outcome outcome = new Outcome();
    final PostDiscoveryFilter filter =
        test ->
            FilterResult.includedIf(
                !test.isTest()
                    || !mistake.threads()
                    || name(test.getLegacyReportingName()).equals(mistake.finds()));
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(Subject.class))
                .filters(filter)
                .build(),
            outcome);
    return outcome;
  }

  /** All; -Djdapl.mistake=TEXT leaves those whose name has that text. */
  static Stream<Mistake> mistakes() {
    return ProviderMistakes.all().filter(mistake -> mistake.name().contains(WANTED));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("mistakes")
  void shouldFindTheMistake(final Mistake mistake) {
    final Outcome outcome = run(mistake);
    System.out.printf(
        "%-70s %d of %d tests fail, %s%n",
        mistake, outcome.failed.size(), outcome.run.get(), mistake.finds());
    assertThat(outcome.failed.keySet())
        .as("%s: the tests that fail, of %s", mistake, outcome.run)
        .contains(mistake.finds());
    SEEN.addAll(outcome.failed.keySet());
    final Throwable failure = outcome.failed.get(mistake.finds());
    System.out.println(failure.getMessage());
    assertThat(failure)
        .isInstanceOf(AssertionError.class)
        .hasMessageContainingAll("expected: ", "seen: ", "done: ", "often: ", "device: ");
  }

  /** A test that nobody has seen fail may be one that cannot. */
  @AfterAll
  static void eachTestShouldHaveBeenSeenToFail() {
    final Set<String> tests =
        run(new Mistake(NO_MISTAKE, "", "", false, ProviderMistakes::none)).tests;
    tests.removeAll(SEEN);
    if (WANTED.isEmpty()) {
      assertThat(tests).as("tests that no mistake makes fail: plant one for each").isEmpty();
    }
  }

  /** The same decorator without a mistake. */
  @Test
  void shouldFindNothingWhereNothingIsWrong() {
    shouldFindNothing(ProviderMistakes::none);
  }

  @Test
  void shouldFindNothingWhereThereIsRoomForFewObjects() {
    shouldFindNothing(ProviderMistakes::narrow);
  }

  @Test
  void shouldCountTheArmsThatItTookToBeSure() {
    final String model = "arm=unknown hint=maybe second-arm=counted";
    shouldFindNothing(new Mistake(NO_MISTAKE, "", model, false, ProviderMistakes::reticent));
  }

  private static void shouldFindNothing(final UnaryOperator<VerbsProvider> over) {
    shouldFindNothing(new Mistake(NO_MISTAKE, "", "", false, over));
  }

  private static void shouldFindNothing(final Mistake none) {
    final Outcome outcome = run(none);
    assertThat(outcome.failed).isEmpty();
    assertThat(outcome.run.get()).isGreaterThan(100);
  }
}
