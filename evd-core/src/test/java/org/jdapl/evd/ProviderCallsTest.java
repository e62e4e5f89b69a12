package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.stream.Stream;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Counts what is done for a burst of events: calls of the provider, turns of the dispatcher. */
class ProviderCallsTest {

  private static final int MOST = 64;

  /** With the calls after the last full batch: a poll and an arm, and a look where it is needed. */
  static Stream<Arguments> armModels() {
    return Stream.of(
        Arguments.of(ArmModel.UNKNOWN, ArmHint.NONE, 3),
        Arguments.of(ArmModel.WEAK, ArmHint.NONE, 3),
        Arguments.of(ArmModel.WEAK, ArmHint.MAYBE, 3),
        Arguments.of(ArmModel.WEAK, ArmHint.EXACT, 2),
        Arguments.of(ArmModel.STRONG, ArmHint.NONE, 2),
        Arguments.of(ArmModel.STRONG, ArmHint.EXACT, 2));
  }

  @ParameterizedTest
  @MethodSource("armModels")
  void shouldCallTheProviderNoMoreThanItsArmModelAsksFor(
      final ArmModel model, final ArmHint hint, final int afterFullBatches) {
    final Loopback device = new Loopback(model, hint);
    try (Jdapl jdapl = Jdapl.with(device).byHand().clock(new HandClock()).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(2 * MOST, EventStream.DTO, EventStream.CONNECTION);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        Endpoint endpoint =
            ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(MOST, MOST))) {
      final int[] handled = new int[1];
      evd.upcall(
          new EventHandler() {
            @Override
            public void onCompletion(final DtoCompletion event) {
              handled[0]++;
            }
          });
      endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      runAll(jdapl);

      for (int completions = 1; completions <= MOST; completions++) {
        final int callsBefore = device.calls();
        final long crossingsBefore = evd.statistics().providerCalls();
        handled[0] = 0;
        for (int i = 0; i < completions; i++) {
          assertThat(endpoint.postSend(lmr, 0, 1, i)).isEqualTo(Outcome.SUCCESS);
        }
        runAll(jdapl);

        final int full = completions / CqFeed.BATCH;
        assertThat(handled[0]).isEqualTo(completions);
        assertThat(device.calls() - callsBefore)
            .as("polls and arms for " + completions + " completions")
            .isEqualTo(full + afterFullBatches);
        assertThat(evd.statistics().providerCalls() - crossingsBefore)
            .as("crossings, where poll and rearm is one, for " + completions + " completions")
            .isEqualTo(full + 1);
      }
    }
  }

  /** Of which nobody is told: each batch is polled for, and then that there is no more. */
  @ParameterizedTest
  @MethodSource("armModels")
  void shouldPollAndNotArmForWhoDequeues(final ArmModel model, final ArmHint hint) {
    final Loopback device = new Loopback(model, hint);
    try (Jdapl jdapl = Jdapl.with(device).byHand().clock(new HandClock()).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(2 * MOST, EventStream.DTO, EventStream.CONNECTION);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        Endpoint endpoint =
            ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(MOST, MOST))) {
      final EventHandler ignoring = new EventHandler() {};
      endpoint.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      runAll(jdapl);
      assertThat(evd.drain(ignoring, MOST)).as("ESTABLISHED").isOne();

      for (int completions = 0; completions <= MOST; completions++) {
        final int callsBefore = device.calls();
        final long crossingsBefore = evd.statistics().providerCalls();
        for (int i = 0; i < completions; i++) {
          assertThat(endpoint.postSend(lmr, 0, 1, i)).isEqualTo(Outcome.SUCCESS);
        }
        runAll(jdapl);

        final int batches = (completions + CqFeed.BATCH - 1) / CqFeed.BATCH;
        assertThat(evd.drain(ignoring, 2 * MOST)).isEqualTo(completions);
        assertThat(device.calls() - callsBefore)
            .as("polls for " + completions + " completions")
            .isEqualTo(batches + 1);
        assertThat(evd.statistics().providerCalls() - crossingsBefore)
            .as("crossings for " + completions + " completions")
            .isEqualTo(batches + 1);
      }
      assertThat(evd.statistics().arms()).isZero();
      assertThat(evd.statistics().wakes()).as("notifications that woke a dispatcher").isZero();
    }
  }

  @Test
  void shouldWakeTheDispatcherOnceForABurst() {
    try (Jdapl jdapl = Jdapl.with(new Loopback()).byHand().clock(new HandClock()).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(MOST, EventStream.SOFTWARE)) {
      final int[] handled = new int[1];
      evd.upcall(
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              handled[0]++;
            }
          });
      runAll(jdapl);

      for (int events = 1; events < MOST; events++) {
        final long before = jdapl.dispatcherStatistics().get(0).turns();
        handled[0] = 0;
        for (int i = 0; i < events; i++) {
          assertThat(evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
        }
        runAll(jdapl);

        assertThat(handled[0]).isEqualTo(events);
        assertThat(jdapl.dispatcherStatistics().get(0).turns() - before)
            .as("turns, and so wake-ups, for " + events + " events")
            .isOne();
      }
    }
  }

  private static void runAll(final Jdapl jdapl) {
    while (jdapl.round()) {
      Thread.onSpinWait();
    }
  }
}
