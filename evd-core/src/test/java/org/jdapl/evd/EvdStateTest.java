package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.Stream;
import org.jdapl.evd.EvdModel.Hint;
import org.jdapl.evd.EvdModel.Op;
import org.jdapl.evd.EvdModel.Rules;
import org.jdapl.evd.EvdModel.Setup;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.Declaration;
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

  private static final Rules AS_IT_IS = new Rules() {};
  private static final long MANY = EvdState.MANY | EvdState.limit(2);

  static Stream<Setup> models() {
    return Stream.of(ArmModel.values())
        .flatMap(
            arm ->
                Stream.of(Hint.values())
                    .filter(hint -> hint != Hint.LYING)
                    .map(hint -> new Setup(arm, hint)));
  }

  /** A false hint of an armed queue has the states of no hint: once is enough. */
  static Stream<Setup> distinctModels() {
    return models().filter(setup -> setup.hint() != Hint.FALSE);
  }

  private static void explore(final Setup setup) {
    final long start = System.nanoTime();
    final int states = StateWalk.explore(new EvdModel(setup, AS_IT_IS));
    System.out.printf(
        "%s: %d states, %d ms%n", setup, states, (System.nanoTime() - start) / 1_000_000);
    assertThat(states).isGreaterThan(1_000);
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_U03_noEventIsLeftWaitingAndNoUpcallsOverlap(final Setup setup) {
    explore(setup);
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U05_noUpcallStartsAfterATeardown(final Setup setup) {
    explore(setup.withEvents(2, 2).withScript(Op.DISABLE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U05_notifyIsOneUpcallUntilItIsEnabledAgain(final Setup setup) {
    explore(setup.withPolicy(EvdState.NOTIFY, 2).withDequeues(1));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U05_manyIsNeverMoreThanItsLimitAndLeavesNothing(final Setup setup) {
    explore(setup.withEvents(2, 2).withPolicy(MANY, 3));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U08_upcallsOfManyMayDequeue(final Setup setup) {
    explore(setup.withEvents(2, 2).withPolicy(MANY, 3).withDequeuesInside());
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U06_onNewCoversAllWithTheNextEvent(final Setup setup) {
    explore(setup.withEvents(2, 1).withScript(Op.DISABLE, Op.ENABLE_NEW));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U07_noDequeueRacesAnUpcallAndNoSwitchLosesAnEvent(final Setup setup) {
    explore(setup.withEvents(2, 1).withDequeues(2).withScript(Op.DISABLE, Op.ENABLE_ANY));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U07_twoMayDequeueAtOnce(final Setup setup) {
    explore(setup.withEvents(2, 1).withDequeues(1).withScript(Op.DISABLE, Op.DEQUEUE));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U09_noUpcallStartsAfterAClose(final Setup setup) {
    explore(setup.withEvents(2, 2).withScript(Op.CLOSE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U09_noUpcallOfManyStartsAfterAClose(final Setup setup) {
    explore(
        setup
            .withEvents(2, 1)
            .withPolicy(MANY, 3)
            .withScript(Op.CLOSE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  @ParameterizedTest
  @EnumSource
  void required_A09_noCompletionIsLostWhileAQueueIsPolledOnATimer(final ArmModel arm) {
    explore(new Setup(arm, Hint.LYING).withEvents(1, 1));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W01_aWaiterSleepsOnlyWhileTheThresholdIsNotReached(final Setup setup) {
    explore(setup.withEvents(2, 2).withWaits(2, 2).withDequeues(1));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W04_aWaiterReturnsWhenNoThreadMayWait(final Setup setup) {
    explore(
        setup.withEvents(2, 1).withWaits(2, 2).withScript(Op.SET_UNWAITABLE, Op.CLEAR_UNWAITABLE));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W04_aWaiterReturnsWhenTheEvdIsClosed(final Setup setup) {
    explore(
        setup.withEvents(2, 1).withWaits(2, 2).withScript(Op.CLOSE, Op.WHEN_QUIET, Op.CHECK_QUIET));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W06_noUpcallAndWaiterMeetAndNoSwitchLosesAnEvent(final Setup setup) {
    explore(
        setup
            .withEvents(1, 1)
            .withWaits(2, 2)
            .withScript(Op.ENABLE_ANY, Op.DISABLE, Op.ENABLE_NEW));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W05_whoDrainsAtEachTriggerGetsEverything(final Setup setup) {
    explore(setup.withEvents(3, 2).withPolicy(EvdState.DISABLED, 1).withCno());
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W06_noSwitchFromUpcallsToACnoLosesAnEvent(final Setup setup) {
    explore(
        setup
            .withEvents(2, 1)
            .withPolicy(EvdState.SINGLE, 1)
            .withCno()
            .withScript(Op.DISABLE, Op.ENABLE_NEW));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W06_noSwitchFromAWaitToACnoLosesAnEvent(final Setup setup) {
    explore(setup.withEvents(2, 1).withWaits(1, 3).withCno().withScript(Op.SET_UNWAITABLE));
  }

  /**
   * A dequeue of which nobody is told makes no arm, and who is told from then on misses nothing.
   */
  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W05_aCnoThatComesToWhoDequeuesIsTold(final Setup setup) {
    explore(
        setup
            .withEvents(3, 1)
            .withPolicy(EvdState.DISABLED, 1)
            .withDequeues(2)
            .withScript(Op.SET_CNO));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W05_aCnoThatComesDuringABriefTurnIsTold(final Setup setup) {
    final Setup dequeued = setup.withEvents(3, 1).withPolicy(EvdState.DISABLED, 1).withDequeues(1);
    explore(dequeued.withScript(Op.CONTROL, Op.SET_CNO));
    explore(dequeued.withScript(Op.SET_CNO, Op.CONTROL));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_U06_whoDequeuedAndEnablesMissesNothing(final Setup setup) {
    final Setup dequeued = setup.withEvents(3, 1).withPolicy(EvdState.DISABLED, 1).withDequeues(2);
    explore(dequeued.withScript(Op.ENABLE_ANY));
    explore(dequeued.withScript(Op.ENABLE_NEW));
  }

  @ParameterizedTest
  @MethodSource("distinctModels")
  void required_W01_whoDequeuedAndWaitsMissesNothing(final Setup setup) {
    explore(setup.withEvents(3, 1).withWaits(1, 1).withDequeues(2));
  }

  @ParameterizedTest
  @EnumSource
  void required_A09_whoDequeuesWhileAQueueIsPolledOnATimerLosesNothing(final ArmModel arm) {
    explore(
        new Setup(arm, Hint.LYING)
            .withEvents(2, 0)
            .withPolicy(EvdState.DISABLED, 1)
            .withDequeues(2)
            .withScript(Op.ENABLE_ANY));
  }

  /** Mistakes in the state function and in the program around it. */
  enum Planted implements Rules {
    END_IS_A_PLAIN_STORE("it sleeps with work") {
      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.END
            ? s & ~(EvdState.TURN | EvdState.UPCALL | EvdState.WORK | EvdState.CONTROL)
            : EvdState.next(s, operation, argument);
      }

      @Override
      public boolean hasEnded(final long before) {
        return true;
      }
    },

    END_DOES_NOT_LOOK_FOR_BITS("it sleeps with") {
      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.END
            ? s & ~(EvdState.TURN | EvdState.UPCALL)
            : EvdState.next(s, operation, argument);
      }

      @Override
      public boolean hasEnded(final long before) {
        return true;
      }
    },

    SIGNAL_IS_IGNORED_IN_A_TURN("it sleeps with work") {
      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.SIGNAL && (s & EvdState.TURN) != 0
            ? s
            : EvdState.next(s, operation, argument);
      }
    },

    NO_LOOK_AFTER_THE_ARM("it sleeps with work") {
      @Override
      public boolean mustLook(final Declaration declaration, final int hint) {
        return false;
      }
    },

    LOOKS_ONLY_WHERE_A_HINT_SAYS_SO("it sleeps with work") {
      @Override
      public boolean mustLook(final Declaration declaration, final int hint) {
        return hint > 0;
      }
    },

    POP_TAKES_A_HELD_TURN("the turn is held twice") {
      @Override
      Setup where() {
        return super.where().withDequeues(1).withScript(Op.DISABLE, Op.ENABLE_ANY);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.POP
            ? EvdState.next(s & ~EvdState.TURN, operation, argument) | (s & EvdState.TURN)
            : EvdState.next(s, operation, argument);
      }

      @Override
      public boolean gotTurn(final long before, final long now) {
        return (now & ~before & (EvdState.TURN | EvdState.UPCALL)) != 0;
      }
    },

    TAKE_TAKES_A_HELD_TURN("the turn is held twice") {
      @Override
      Setup where() {
        return super.where().withDequeues(1).withScript(Op.DISABLE, Op.DEQUEUE);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.TAKE
            ? EvdState.next(s & ~EvdState.TURN, operation, argument)
            : EvdState.next(s, operation, argument);
      }
    },

    TAKE_DOES_NOT_WAIT_FOR_UPCALLS_OF_MANY("a dequeue races an upcall") {
      @Override
      Setup where() {
        return super.where().withPolicy(MANY, 2).withDequeues(1).withScript(Op.DISABLE);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.TAKE && (s & EvdState.RUNNING) != 0
            ? EvdState.next(s, EvdState.TAKE_INSIDE, argument)
            : EvdState.next(s, operation, argument);
      }
    },

    BUDGET_EXHAUSTED_GOES_IDLE("it sleeps with work") {
      @Override
      public long leftAtBudget(final long left) {
        return 0;
      }
    },

    LEAVE_DOES_NOT_SCHEDULE("it sleeps with") {
      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.LEAVE
            ? (s & ~(EvdState.TURN | EvdState.UPCALL)) | argument
            : EvdState.next(s, operation, argument);
      }
    },

    DISABLED_IS_SEEN_ONLY_AT_THE_END_OF_THE_TURN("a second upcall starts after DISABLE") {
      @Override
      Setup where() {
        return super.where().withScript(Op.DISABLE);
      }

      @Override
      public boolean hasChanged(final long policy, final long expected) {
        return false;
      }
    },

    ENABLING_DOES_NOT_SCHEDULE("it sleeps with") {
      @Override
      Setup where() {
        return super.where().withScript(Op.DISABLE, Op.ENABLE_ANY);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.SET_POLICY
            ? (s & ~(EvdState.POLICY | EvdState.LIMIT)) | argument
            : EvdState.next(s, operation, argument);
      }
    },

    QUIET_DOES_NOT_WAIT_FOR_THE_UPCALL("an upcall starts after the teardown") {
      @Override
      Setup where() {
        return super.where().withScript(Op.DISABLE, Op.WHEN_QUIET, Op.CHECK_QUIET);
      }

      @Override
      public boolean isQuiet(final long s) {
        return (s & EvdState.POLICY) == 0;
      }
    },

    NOBODY_LOOKS_FOR_WHO_WAITS_FOR_QUIET("the teardown never ends") {
      @Override
      Setup where() {
        return super.where().withScript(Op.DISABLE, Op.WHEN_QUIET, Op.CHECK_QUIET);
      }

      @Override
      public boolean checksQuiet() {
        return false;
      }
    },

    CLOSE_LEAVES_THE_POLICY("POLICY of a closed EVD") {
      @Override
      Setup where() {
        return super.where().withScript(Op.CLOSE, Op.WHEN_QUIET, Op.CHECK_QUIET);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.CLOSE
            ? s | EvdState.CLOSED
            : EvdState.next(s, operation, argument);
      }
    },

    MANY_COUNTS_ONE_SHORT("3 upcalls at once") {
      @Override
      Setup where() {
        return super.where().withPolicy(MANY, 3);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        final long more = operation == EvdState.SET_POLICY ? 0 : EvdState.limit(1);
        return EvdState.next(s + more, operation, argument) - more;
      }
    },

    MANY_DOES_NOT_SCHEDULE_WHEN_ONE_RETURNS("it sleeps with") {
      @Override
      Setup where() {
        return super.where().withPolicy(MANY, 3);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.DONE
            ? s - EvdState.ONE_RUNNING
            : EvdState.next(s, operation, argument);
      }
    },

    ON_NEW_ARMS_OVER_OLD_COMPLETIONS("it sleeps with work") {
      @Override
      Setup where() {
        return super.where().withScript(Op.DISABLE, Op.ENABLE_NEW);
      }

      @Override
      public boolean collects() {
        return false;
      }
    },

    A_SIGNAL_DOES_NOT_WAKE("the waiter sleeps with enough events") {
      @Override
      Setup where() {
        return super.where().withWaits(1, 1);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        final long after = EvdState.next(s, operation, argument);
        return operation == EvdState.SIGNAL ? after | (s & EvdState.ASLEEP) : after;
      }
    },

    A_WAITER_FALLS_ASLEEP_BY_A_PLAIN_STORE("the waiter sleeps with enough events") {
      @Override
      Setup where() {
        return super.where().withWaits(1, 1);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        return operation == EvdState.SLEEP
            ? s | EvdState.ASLEEP
            : EvdState.next(s, operation, argument);
      }
    },

    A_WAITER_IS_NOT_EVICTED_IF_THE_MARK_IS_GONE_WHEN_IT_LOOKS("the waiter is not told to return") {
      @Override
      Setup where() {
        return super.where()
            .withWaits(1, 3)
            .withEvents(1, 0)
            .withScript(Op.SET_UNWAITABLE, Op.CLEAR_UNWAITABLE);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        final long after = EvdState.next(s, operation, argument);
        return operation == EvdState.SET_UNWAITABLE ? after | (s & EvdState.WAITER) : after;
      }
    },

    UPCALLS_ARE_ENABLED_WHILE_A_THREAD_WAITS("POLICY while a thread waits") {
      @Override
      Setup where() {
        return super.where().withWaits(1, 2).withScript(Op.ENABLE_ANY);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        final long waiter = operation == EvdState.SET_POLICY ? s & EvdState.WAITER : 0;
        return EvdState.next(s & ~waiter, operation, argument) | waiter;
      }
    },

    THE_CNO_IS_TOLD_ONLY_OF_SIGNALS("the CNO is not told") {
      @Override
      Setup where() {
        return super.where().withCno().withScript(Op.DISABLE);
      }

      @Override
      public boolean tells(final long before, final long after, final int operation) {
        return operation == EvdState.SIGNAL && EvdState.tells(before, after, operation);
      }
    },

    THE_CNO_IS_NOT_TOLD_OF_WHAT_A_WAITER_LEAVES("the CNO is not told") {
      @Override
      Setup where() {
        return super.where().withWaits(1, 3).withCno().withScript(Op.SET_UNWAITABLE);
      }

      @Override
      public boolean tells(final long before, final long after, final int operation) {
        return operation != EvdState.RETURN && EvdState.tells(before, after, operation);
      }
    },

    A_CNO_THAT_COMES_DURING_A_BRIEF_TURN_IS_NOT_TOLD("the CNO is not told") {
      @Override
      Setup where() {
        return super.where()
            .withEvents(2, 0)
            .withPolicy(EvdState.DISABLED, 1)
            .withDequeues(1)
            .withScript(Op.CONTROL, Op.SET_CNO);
      }

      @Override
      public long next(final long s, final int operation, final long argument) {
        final long after = EvdState.next(s, operation, argument);
        return operation == EvdState.SET_CNO && after >= 0 ? s | argument : after;
      }
    },

    NOTIFICATIONS_ARE_MUTED_UNTIL_A_COMPLETION_IS_FOUND("it sleeps with work") {
      @Override
      Setup where() {
        return new Setup(ArmModel.WEAK, Hint.LYING).withEvents(1, 1);
      }

      @Override
      public boolean unmutesForThePoll() {
        return false;
      }
    };

    private final String effect;

    Planted(final String effect) {
      this.effect = effect;
    }

    Setup where() {
      return new Setup(ArmModel.WEAK, Hint.NONE);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldFindThePlantedMistake(final Planted mistake) {
    assertThatThrownBy(() -> StateWalk.explore(new EvdModel(mistake.where(), mistake)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(mistake.effect)
        .satisfies(found -> System.out.println(mistake + ": " + found.getMessage()));
  }
}
