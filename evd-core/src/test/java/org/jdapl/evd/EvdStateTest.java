package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.List;
import java.util.stream.Stream;
import org.jdapl.evd.EvdModel.Hint;
import org.jdapl.evd.EvdModel.Op;
import org.jdapl.evd.EvdModel.Rules;
import org.jdapl.evd.EvdModel.Setup;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.Declaration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The state word, explored exhaustively: every interleaving of {@link EvdModel}'s actors, on every
 * arm model and with every hint. In each state there is at most one upcall, one token and one
 * holder of the turn; where nothing more happens by itself nothing waits; after a teardown no
 * upcall starts; and nothing goes on for ever.
 */
class EvdStateTest {

  private static final Rules AS_IS = new Rules();
  private static final long MANY_2 = EvdState.MANY | EvdState.limit(2);

  private static Setup base(final ArmModel arm, final Hint hint) {
    return new Setup(arm, hint, EvdState.SINGLE, 3, 2, 2, 0, List.of());
  }

  static Stream<Setup> models() {
    return Stream.of(ArmModel.values())
        .flatMap(arm -> Stream.of(Hint.values()).map(hint -> base(arm, hint)));
  }

  private static int explore(final String what, final Setup setup) {
    final long start = System.nanoTime();
    final int states = Explorer.explore(new EvdModel(setup, AS_IS));
    final long millis = (System.nanoTime() - start) / 1_000_000;
    System.out.println(what + ": " + setup + ": " + states + " states in " + millis + " ms");
    assertThat(states).isGreaterThan(1000);
    return states;
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U03_noEventWaitsAndNoUpcallsOverlap(final Setup setup) {
    explore("U03", setup);
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U05_noUpcallStartsOnceATeardownCompleted(final Setup setup) {
    explore("U05", setup.withScript(Op.DISABLE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U09_noUpcallStartsOnceAClosedCompleted(final Setup setup) {
    explore("U09", setup.withScript(Op.CLOSE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U07_noDequeueRacesAnUpcallAndNoSwitchLosesAnEvent(final Setup setup) {
    explore("U07", setup.withEvents(2, 1).withDequeues(2).withScript(Op.DISABLE, Op.ENABLE_ANY));
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U06_onNewWaitsForTheNextEventAndThenForNone(final Setup setup) {
    explore("U06", setup.withEvents(2, 1).withDequeues(0).withScript(Op.DISABLE, Op.ENABLE_NEW));
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U05_notifyIsOneUpcallUntilItIsEnabledAgain(final Setup setup) {
    explore("NOTIFY", setup.withPolicy(EvdState.NOTIFY, 2).withDequeues(1));
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U05_manyIsNeverMoreThanItsLimit(final Setup setup) {
    explore("MANY", setup.withEvents(2, 2).withPolicy(MANY_2, 3));
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U09_noUpcallOfManyStartsOnceACloseCompleted(final Setup setup) {
    explore(
        "MANY close",
        setup
            .withEvents(2, 1)
            .withPolicy(MANY_2, 3)
            .withScript(Op.CLOSE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  /** Mistakes, and where each can be seen. */
  enum Mistake {
    END_IS_A_PLAIN_STORE {
      @Override
      Rules rules() {
        return new Rules() {
          @Override
          long next(final long s, final int operation, final long argument) {
            return operation == EvdState.END
                ? s & ~(EvdState.TURN | EvdState.UPCALL | EvdState.WORK | EvdState.CONTROL)
                : super.next(s, operation, argument);
          }

          @Override
          boolean hasEnded(final long before) {
            return true;
          }
        };
      }
    };

    abstract Rules rules();

    Setup setup() {
      return base(ArmModel.WEAK, Hint.NONE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindThePlantedMistake(final Mistake mistake) {
    final Throwable found =
        catchThrowable(() -> Explorer.explore(new EvdModel(mistake.setup(), mistake.rules())));
    assertThat(found).isInstanceOf(AssertionError.class);
    System.out.println(mistake + ": " + found.getMessage());
  }

  @Test
  void x() {
    assertThat(Declaration.weakest()).isNotNull();
  }
}
