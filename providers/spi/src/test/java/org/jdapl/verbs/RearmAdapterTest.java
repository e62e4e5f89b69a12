package org.jdapl.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@link CompletionQueue#pollAndRearm} as providers without the verb get it. */
class RearmAdapterTest {

  /** How many completions each call asks for. */
  private static final int ASKED = 4;

  private final VerbsException broken =
      new VerbsException("req_notify_cq", "scripted", VerbsException.ENODEV, "as the test says");

  /** A completion queue that does as it is told, and remembers what it was asked. */
  private static final class ScriptedQueue implements CompletionQueue {

    private final Deque<Long> completions = new ArrayDeque<>();
    private final List<String> calls = new ArrayList<>();
    private final Device device;
    private long added;
    private IntSupplier poll = () -> 0;
    private IntSupplier arm = () -> 0;

    ScriptedQueue(final Declaration declaration) {
      device =
          (Device)
              Proxy.newProxyInstance(
                  Device.class.getClassLoader(),
                  new Class<?>[] {Device.class},
                  (proxy, method, arguments) -> declaration);
    }

    ScriptedQueue add(final int count) {
      for (int i = 0; i < count; i++) {
        completions.add(added++);
      }
      return this;
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      calls.add("poll " + max);
      final int more = poll.getAsInt();
      int taken = 0;
      while (taken < max + more && !completions.isEmpty()) {
        into.add(completions.remove(), WcStatus.SUCCESS, WcOpcode.RECV, 0, 1, 0, false, 0);
        taken++;
      }
      return taken;
    }

    @Override
    public int arm(final ArmKind kind) {
      calls.add("arm " + kind);
      return arm.getAsInt();
    }

    @Override
    public Device device() {
      return device;
    }

    @Override
    public int capacity() {
      return 64;
    }

    @Override
    public void close() {}
  }

  /** A declaration, and what the arm returns. */
  private record Case(
      ArmModel armModel, ArmHint hint, ArmedAfterHint armedAfterHint, int returned) {

    Declaration declaration() {
      return new Declaration(
          armModel,
          hint,
          armedAfterHint,
          SecondArm.UNKNOWN,
          NotificationConcurrency.CONCURRENT,
          true,
          SolicitedSupport.UNSUPPORTED,
          LastWqe.UNKNOWN,
          PrivateDataLength.UNKNOWN);
    }

    boolean isArmed() {
      return returned == 0 || armedAfterHint == ArmedAfterHint.YES;
    }

    /** A02: strong, or an exact hint 0: no further look. */
    boolean needsNoLook() {
      return (armModel == ArmModel.STRONG && isArmed()) || (hint == ArmHint.EXACT && returned == 0);
    }
  }

  static Stream<Case> cases() {
    return Stream.of(ArmModel.values())
        .flatMap(
            arm ->
                Stream.of(ArmHint.values())
                    .flatMap(
                        hint ->
                            Stream.of(ArmedAfterHint.values())
                                .flatMap(
                                    armed ->
                                        IntStream.rangeClosed(0, hint == ArmHint.NONE ? 0 : 1)
                                            .mapToObj(
                                                returned ->
                                                    new Case(arm, hint, armed, returned)))));
  }

  private static Declaration unknown() {
    return Declaration.weakest();
  }

  private static ScriptedQueue queue(final Declaration declaration) {
    return new ScriptedQueue(declaration);
  }

  private static RearmOutcome call(final ScriptedQueue queue, final WorkCompletions into) {
    return queue.pollAndRearm(into, ASKED, ArmKind.NEXT);
  }

  private static RearmOutcome expected(final Case c, final int found, final int late) {
    if (found == ASKED) {
      return RearmOutcome.SUCCESS;
    }
    final int total = c.needsNoLook() ? found : Math.min(ASKED, found + late);
    if (!c.isArmed()) {
      return RearmOutcome.SUCCESS;
    }
    if (total == ASKED) {
      return RearmOutcome.POLL_NEEDED;
    }
    return total == 0 ? RearmOutcome.NOT_DONE : RearmOutcome.COMPLETED;
  }

  private static List<String> expectedCalls(final Case c, final int found) {
    final List<String> calls = new ArrayList<>();
    calls.add("poll " + ASKED);
    if (found < ASKED) {
      calls.add("arm NEXT");
      if (!c.needsNoLook()) {
        calls.add("poll " + (ASKED - found));
      }
    }
    return calls;
  }

  @ParameterizedTest
  @MethodSource("cases")
  void required_A08_everyOutcomeIsAsTheTableSays(final Case c) {
    for (int found = 0; found <= ASKED; found++) {
      for (int late = 0; late <= ASKED + 1; late++) {
        final int arriving = late;
        final ScriptedQueue queue = queue(c.declaration()).add(found);
        queue.arm =
            () -> {
              queue.add(arriving);
              return c.returned();
            };
        final WorkCompletions into = new WorkCompletions(2 * ASKED);
        final boolean armsAgain = found + late == 0 && !c.isArmed();
        final String what = c + " found " + found + " late " + late;

        final RearmOutcome outcome = call(queue, into);

        assertThat(outcome).as(what).isEqualTo(expected(c, found, late));
        final boolean looked = found < ASKED && !c.needsNoLook();
        assertThat(into.size()).as(what).isEqualTo(looked ? Math.min(ASKED, found + late) : found);
        for (int i = 0; i < into.size(); i++) {
          assertThat(into.wrId(i)).as(what).isEqualTo(i);
        }
        if (outcome == RearmOutcome.POLL_NEEDED) {
          assertThat(into.size()).as(what).isPositive();
        }
        if (!armsAgain) {
          assertThat(queue.calls).as(what).isEqualTo(expectedCalls(c, found));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void required_A02_theLookFollowsTheArm(final Case c) {
    final ScriptedQueue queue = queue(c.declaration());
    queue.arm =
        () -> {
          queue.add(1);
          return c.returned();
        };
    final WorkCompletions into = new WorkCompletions(ASKED);
    call(queue, into);
    if (c.needsNoLook()) {
      assertThat(queue.calls).containsExactly("poll 4", "arm NEXT");
    } else {
      assertThat(queue.calls).containsExactly("poll 4", "arm NEXT", "poll 4");
      assertThat(into.size()).as("what was added between poll and arm, or after it").isOne();
    }
  }

  /**
   * A queue that behaves as declared, and gets a completion at any point of the call: whenever it
   * may be left alone then, what it holds has raised a notification.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void required_A02_itStopsOnlyWhereNothingIsLeftInSilence(final Case c) {
    for (int point = 0; point < 4; point++) {
      for (int before = 0; before <= ASKED; before++) {
        for (final boolean strong : new boolean[] {false, true}) {
          if (strong || c.armModel() != ArmModel.STRONG) {
            final BehavingQueue behaving = new BehavingQueue(c, strong, point);
            behaving.queue.add(before);
            behaving.drain();
            assertThat(behaving.queue.completions.isEmpty() || behaving.notified)
                .as(
                    "%s, %d before, one more at point %d of a queue that is strong: %s",
                    c, before, point, strong)
                .isTrue();
          }
        }
      }
    }
  }

  private static final class BehavingQueue {

    private final Case declared;
    private final boolean strong;
    private final int last;
    private final ScriptedQueue queue;
    private int point;
    private boolean armed;
    private boolean notified;

    BehavingQueue(final Case declared, final boolean strong, final int last) {
      this.declared = declared;
      this.strong = strong;
      this.last = last;
      queue = new ScriptedQueue(declared.declaration());
      queue.poll =
          () -> {
            pass();
            return 0;
          };
      queue.arm = this::arm;
    }

    private int arm() {
      pass();
      final int hint = hint();
      if (hint == 0 || declared.armedAfterHint() == ArmedAfterHint.YES) {
        notified |= strong && !queue.completions.isEmpty();
        armed = true;
      }
      return hint;
    }

    private void drain() {
      final WorkCompletions into = new WorkCompletions(2 * ASKED);
      RearmOutcome outcome;
      do {
        into.clear();
        outcome = call(queue, into);
      } while (outcome == RearmOutcome.SUCCESS);
      if (outcome == RearmOutcome.POLL_NEEDED) {
        do {
          into.clear();
        } while (queue.poll(into, ASKED) > 0);
      }
      pass();
    }

    private int hint() {
      return switch (declared.hint()) {
        case NONE -> 0;
        case EXACT -> queue.completions.isEmpty() ? 0 : 1;
        case MAYBE -> point < last ? declared.returned() : 0;
      };
    }

    private void pass() {
      if (point++ == last) {
        queue.add(1);
        notified |= armed;
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = ArmedAfterHint.class,
      names = {"NO", "UNKNOWN"})
  void required_A02_aQueueThatIsNotSurelyArmedIsArmedAgain(final ArmedAfterHint armed) {
    final Case c = new Case(ArmModel.WEAK, ArmHint.MAYBE, armed, 1);
    final ScriptedQueue queue = queue(c.declaration());
    final Deque<Integer> hints = new ArrayDeque<>(List.of(1, 0));
    queue.arm = hints::remove;
    assertThat(call(queue, new WorkCompletions(ASKED))).isEqualTo(RearmOutcome.NOT_DONE);
    assertThat(queue.calls).containsExactly("poll 4", "arm NEXT", "poll 4", "arm NEXT", "poll 4");
  }

  @Test
  void required_A08_armingAgainIsBounded() {
    final ScriptedQueue queue =
        queue(new Case(ArmModel.UNKNOWN, ArmHint.MAYBE, ArmedAfterHint.UNKNOWN, 1).declaration());
    queue.arm = () -> 1;
    final WorkCompletions into = new WorkCompletions(ASKED);
    assertThat(call(queue, into)).as("not armed for all one knows").isEqualTo(RearmOutcome.SUCCESS);
    assertThat(into.size()).isZero();
    assertThat(queue.calls).hasSize(7);
  }

  @Test
  void required_A08_aFalseHintOfAnArmedQueueCostsOneLook() {
    final ScriptedQueue queue =
        queue(new Case(ArmModel.WEAK, ArmHint.MAYBE, ArmedAfterHint.YES, 1).declaration());
    queue.arm = () -> 1;
    assertThat(call(queue, new WorkCompletions(ASKED))).isEqualTo(RearmOutcome.NOT_DONE);
    assertThat(queue.calls).containsExactly("poll 4", "arm NEXT", "poll 4");
  }

  @Test
  void required_A08_anArmThatFailsAfterCompletionsWereTakenHandsThemOver() {
    final ScriptedQueue queue = queue(unknown()).add(3);
    queue.arm =
        () -> {
          throw broken;
        };
    final WorkCompletions into = new WorkCompletions(ASKED);
    assertThat(call(queue, into)).isEqualTo(RearmOutcome.SUCCESS);
    assertThat(into.size()).isEqualTo(3);
    into.clear();
    assertThatThrownBy(() -> call(queue, into)).isSameAs(broken);
    assertThat(into.size()).isZero();
  }

  @Test
  void required_A08_aLookThatFailsAfterCompletionsWereTakenHandsThemOver() {
    final ScriptedQueue queue = queue(unknown()).add(3);
    queue.arm =
        () -> {
          queue.poll =
              () -> {
                throw broken;
              };
          return 0;
        };
    final WorkCompletions into = new WorkCompletions(ASKED);
    assertThat(call(queue, into)).isEqualTo(RearmOutcome.SUCCESS);
    assertThat(into.size()).isEqualTo(3);
    into.clear();
    assertThatThrownBy(() -> call(queue, into)).isSameAs(broken);
    assertThat(into.size()).isZero();
  }

  @Test
  void required_A08_anArmThatFailsWithNothingTakenFails() {
    final ScriptedQueue queue = queue(unknown());
    queue.arm =
        () -> {
          throw broken;
        };
    final WorkCompletions into = new WorkCompletions(ASKED);
    assertThatThrownBy(() -> call(queue, into)).isSameAs(broken);
    assertThat(into.size()).isZero();
  }

  @Test
  void required_A08_aSecondArmThatFailsLosesNothing() {
    final ScriptedQueue queue =
        queue(new Case(ArmModel.WEAK, ArmHint.MAYBE, ArmedAfterHint.NO, 1).declaration());
    final Deque<Integer> hints = new ArrayDeque<>(List.of(1));
    queue.arm =
        () -> {
          if (hints.isEmpty()) {
            queue.add(1);
            throw broken;
          }
          return hints.remove();
        };
    final WorkCompletions into = new WorkCompletions(ASKED);
    assertThatThrownBy(() -> call(queue, into)).isSameAs(broken);
    assertThat(into.size()).isZero();
    assertThat(queue.completions).hasSize(1);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void required_A08_aDrainCostsNoCallBeyondTheOneThatEndedIt(final Case c) {
    final int completions = 3 * ASKED + 1;
    final ScriptedQueue queue = queue(c.declaration()).add(completions);
    queue.arm = () -> 0;
    final WorkCompletions into = new WorkCompletions(ASKED);
    int drained = 0;
    for (int call = 0; call < 4; call++) {
      into.clear();
      final RearmOutcome outcome = call(queue, into);
      drained += into.size();
      assertThat(outcome).isEqualTo(call < 3 ? RearmOutcome.SUCCESS : RearmOutcome.COMPLETED);
    }
    assertThat(drained).isEqualTo(completions);
    assertThat(queue.calls.stream().filter("arm NEXT"::equals)).hasSize(1);
  }

  @Test
  void required_A05_aFullBatchIsNeverEmpty() {
    final ScriptedQueue queue = queue(unknown()).add(ASKED);
    final WorkCompletions into = new WorkCompletions(ASKED);
    assertThat(call(queue, into)).isEqualTo(RearmOutcome.SUCCESS);
    assertThat(queue.calls).as("not armed").containsExactly("poll 4");
    into.clear();
    assertThat(call(queue, into)).isEqualTo(RearmOutcome.NOT_DONE);
    assertThat(queue.calls).containsExactly("poll 4", "poll 4", "arm NEXT", "poll 4");
  }

  @Test
  void required_P04_moreThanAskedForIsKept() {
    final ScriptedQueue queue = queue(unknown()).add(ASKED + 2);
    queue.poll = () -> 2;
    final WorkCompletions into = new WorkCompletions(2 * ASKED);
    assertThat(call(queue, into)).isEqualTo(RearmOutcome.SUCCESS);
    assertThat(into.size()).isEqualTo(ASKED + 2);
  }

  @ParameterizedTest
  @EnumSource
  void shouldPassOnTheKindOfArm(final ArmKind kind) {
    final ScriptedQueue queue = queue(unknown());
    queue.pollAndRearm(new WorkCompletions(ASKED), ASKED, kind);
    assertThat(queue.calls).contains("arm " + kind);
  }
}
