package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SteppedClock;
import org.junit.jupiter.api.Test;

class VirtualTimeTest {

  private static List<String> run(final long seed) {
    final SimFabric fabric = SimFabric.virtual(seed).keepTrace();
    final SimModel model =
        SimModel.DEFAULT
            .withArm(ArmModel.UNKNOWN)
            .withSecondArm(SecondArm.UNKNOWN)
            .withHint(SimModel.Hint.MAYBE);
    final Side a = new Side(fabric, model);
    final Side b = new Side(fabric, model);
    a.connect(b);
    for (int i = 0; i < Side.WR; i++) {
      b.postRecv(i, 0, 8);
      a.postSend(i, 0, 8);
      b.recvCq.arm(ArmKind.NEXT);
    }
    a.pass(20_000);
    b.id.disconnect();
    a.settle();
    return fabric.trace();
  }

  @Test
  void required_S02_aSeedReplaysARunExactly() {
    assertThat(run(7)).isEqualTo(run(7)).hasSizeGreaterThan(30).hasSizeLessThanOrEqualTo(200);
    assertThat(run(7)).isNotEqualTo(run(8));
  }

  @Test
  void shouldKeepNoTraceUnlessAsked() {
    final SimFabric fabric = SimFabric.virtual(5);
    new Side(fabric).connect(new Side(fabric));
    assertThat(fabric.trace()).isEmpty();
    assertThat(fabric.toString()).contains("seed=5").contains("time=" + fabric.now());
  }

  @Test
  void shouldNotPassTheLimitWhenStepping() {
    final SimFabric fabric = SimFabric.virtual(5);
    final SteppedClock clock = (SteppedClock) fabric.clock();
    final AtomicInteger done = new AtomicInteger();
    assertThat(clock.step(Long.MAX_VALUE)).isFalse();
    assertThat(clock.nanoTime()).isZero();
    fabric.later(100, done::incrementAndGet);
    assertThat(clock.step(99)).isFalse();
    assertThat(clock.nanoTime()).isEqualTo(99);
    assertThat(clock.step(50)).isFalse();
    assertThat(clock.nanoTime()).isEqualTo(99);
    assertThat(clock.step(500)).isTrue();
    assertThat(clock.nanoTime()).isEqualTo(100);
    assertThat(done).hasValue(1);
  }

  @Test
  void shouldRefuseToStepWhenInsideAStep() {
    final SimFabric fabric = SimFabric.virtual(5);
    final AtomicBoolean refused = new AtomicBoolean();
    fabric.later(
        1,
        () -> {
          assertThatThrownBy(() -> fabric.runUntil(() -> false))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("inside a step");
          refused.set(true);
        });
    fabric.later(2, () -> {});
    assertThat(fabric.runUntil(() -> false)).isFalse();
    assertThat(refused).isTrue();
    assertThat(fabric.now()).isEqualTo(2);
  }

  @Test
  void shouldDoWhatIsDueAtOnceInAnyOrder() {
    boolean swapped = false;
    boolean kept = false;
    for (long seed = 0; seed < 20; seed++) {
      final SimFabric fabric = SimFabric.virtual(seed);
      final StringBuilder order = new StringBuilder();
      fabric.later(1, () -> order.append('a'));
      fabric.later(1, () -> order.append('b'));
      assertThat(fabric.runUntil(() -> false)).isFalse();
      kept |= order.toString().equals("ab");
      swapped |= order.toString().equals("ba");
    }
    assertThat(kept).isTrue();
    assertThat(swapped).isTrue();
  }

  @Test
  void shouldGoOnWhenAHandlerThrows() {
    final SimFabric fabric = SimFabric.virtual(5);
    final Side a = new Side(fabric);
    a.device.connect(
        a.qp,
        a.device.address(),
        1,
        Side.PARAMETERS,
        (id, type, status, data) -> {
          throw new IllegalStateException("planted");
        });
    a.settle();
    assertThat(fabric.handlerFailures()).isEqualTo(1);
    assertThat(fabric.lastHandlerFailure()).hasMessage("planted");
  }
}
