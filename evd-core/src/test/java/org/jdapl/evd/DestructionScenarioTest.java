package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Notify;
import org.jdapl.evd.ScriptedDevice.Point;
import org.jdapl.evd.ScriptedDevice.ScriptedCq;
import org.jdapl.evd.ScriptedDevice.ScriptedQp;
import org.jdapl.verbs.AsyncType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bugs that other RDMA libraries had when queues and queue pairs were destroyed, each as the
 * scenario that showed it. By hand.
 */
@ExtendWith(HandBed.Closing.class)
class DestructionScenarioTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  private static CompletableFuture<DrainReport> close(final Endpoint endpoint) {
    return endpoint.closeAsync(LONG).toCompletableFuture();
  }

  private static List<Long> cookies(final DrainReport report) {
    return report.requests().stream().map(DrainReport.Request::cookie).toList();
  }

  /** A completion queue was destroyed while the thread for its events polled it. */
  @ParameterizedTest
  @EnumSource
  void required_T07_aQueueIsNotDestroyedInTheMiddleOfAPoll(final Point where) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    bed.endpoint.close();
    bed.enable();
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    final List<Boolean> destroyed = new ArrayList<>();
    bed.cq()
        .hook(
            point -> {
              if (point == where) {
                closes.add(bed.evd.closeAsync(LONG).toCompletableFuture());
              }
              destroyed.add(bed.cq().isClosed());
            });

    bed.cq().notifyNow();
    bed.settle();

    assertThat(closes).isNotEmpty().allMatch(CompletableFuture::isDone);
    assertThat(destroyed).as("while somebody was in it").isNotEmpty().containsOnly(false);
    assertThat(bed.cq().isClosed()).isTrue();
  }

  /** An asynchronous event found its queue pair while that was destroyed, or after it. */
  @Test
  void required_M05_anAsyncErrorThatComesWhileItsQueuePairIsDestroyedIsNotHandedOutAfterTheClose() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    final List<Boolean> afterTheClose = new ArrayList<>();
    bed.ia.asyncEvd().upcall(InterceptedBed.on(event -> afterTheClose.add(closes.get(0).isDone())));
    bed.provider.hook = verb -> bed.provider.fail(0, AsyncType.QP_FATAL);

    closes.add(close(bed.endpoint));
    bed.settle();
    bed.provider.fail(0, AsyncType.QP_FATAL);
    bed.settle();

    assertThat(closes.get(0)).isCompleted();
    assertThat(afterTheClose).isNotEmpty().containsOnly(false);
  }

  /** A completion queue was destroyed before the last queue pair that used it. */
  @Test
  void required_T09_anEvdIsInUseUntilTheCloseOfItsEndpointIsComplete() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    final List<String> refusals = new ArrayList<>();
    final List<String> destroyed = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (verb.startsWith("destroy")) {
            destroyed.add(verb);
          }
          if (destroyed.size() < 2) {
            assertThatThrownBy(bed.evd::close)
                .isInstanceOfSatisfying(
                    DatException.class,
                    e -> {
                      assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_STATE_EVD_IN_USE);
                      assertThat(e)
                          .hasMessageContaining("in use by [" + bed.endpoint + "]")
                          .hasMessageContaining("wait for its closeAsync");
                      refusals.add(verb);
                    });
          }
        };

    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();
    assertThat(closed).isCompleted();
    bed.evd.close();

    assertThat(refusals).contains("disconnect", "modify_qp", "post_recv", "poll_cq", "destroy_qp");
    assertThat(destroyed).containsExactly("destroy_qp", "destroy_id", "destroy_cq");
  }

  /** A queue was swept before its queue pair was destroyed, and a completion slipped in between. */
  @Test
  void required_T05_aCompletionThatComesWhileItsQueuePairIsDestroyedIsLeftOut() {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutFlush(), 4);
    bed.qp().whileDestroyed(bed.device::flushNow);
    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.pass(LONG);
    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::status)
        .containsOnly(DrainReport.Status.UNKNOWN);

    final Endpoint next = bed.createEndpoint(bed.evd, 4);
    bed.postReceives(next, 4);
    bed.device.lastQp().completeReceives(2);
    bed.enable();

    assertThat(bed.cookies).containsExactly(4L, 5L);
    assertThat(bed.evd.statistics().dropped()).as("four receives, two markers").isEqualTo(6);
  }

  /** The poll of a queue made progress for an endpoint that was closed meanwhile. */
  @ParameterizedTest
  @CsvSource({
    "POLL, true",
    "POLLED, true",
    "ARM, true",
    "ARMED, true",
    "POLL, false",
    "POLLED, false"
  })
  void required_T02_aCloseInTheMiddleOfAPollAccountsForEachPost(
      final Point where, final boolean enabled) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 6);
    bed.complete(3);
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.cq()
        .hook(
            point -> {
              if (point == where) {
                closes.add(close(bed.endpoint));
              }
            });

    if (enabled) {
      bed.enable();
    } else {
      bed.evd.drain(bed, 2);
    }
    bed.settle();

    assertThat(closes).isNotEmpty().allMatch(CompletableFuture::isDone);
    final List<Long> outcomes = new ArrayList<>(bed.cookies);
    outcomes.addAll(cookies(closes.get(0).join()));
    assertThat(outcomes).containsExactly(ScriptedBed.upTo(6));
  }

  /** The flushes of the send queue were told of by the receive queue: a drain hung for minutes. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void required_T01_aDrainEndsThoughItsFlushesAreToldOfByAnotherQueue(final boolean enabled) {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutFlush(), 1);
    final Evd sends = bed.createEvd(16);
    final Evd receives = bed.createEvd(16);
    final Endpoint endpoint =
        bed.ia.createEndpoint(
            bed.pz,
            receives,
            sends,
            bed.connectEvd,
            EndpointAttributes.defaults().withMaxDtos(4, 4));
    endpoint.connect(bed.ia.address(), 1, LONG, null);
    for (int cookie = 0; cookie < 3; cookie++) {
      assertThat(endpoint.postSend(bed.lmr, 0, 8, cookie)).isEqualTo(Outcome.SUCCESS);
    }
    final ScriptedQp qp = bed.device.lastQp();
    final ScriptedCq sendCq = qp.sendCq();
    if (enabled) {
      sends.upcall(bed);
      receives.upcall(bed);
    }
    bed.settle();
    sendCq.notifies(Notify.NEVER);

    final CompletableFuture<DrainReport> closed = close(endpoint);
    bed.settle();
    assertThat(closed).isNotDone();
    bed.device.flushNow();
    qp.recvCq().notifyNow();
    for (int i = 0; i < 4; i++) {
      bed.pass(Duration.ofMillis(250));
    }

    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .as("each is known")
        .extracting(DrainReport.Request::status)
        .doesNotContain(DrainReport.Status.UNKNOWN)
        .hasSize(enabled ? 0 : 3);
    assertThat(bed.cookies).containsExactly(ScriptedBed.upTo(enabled ? 3 : 0));
    assertThat(sends.statistics().rescued()).as("it is counted").isEqualTo(4);
  }

  /** A work request was posted after the one that marks the end of its queue. */
  @Test
  void required_T03_aPostIsBeforeTheMarkerOrRefused() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    final List<String> refused = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (!verb.startsWith("post")) {
            try {
              bed.endpoint.postReceive(bed.lmr, 0, 8, 2);
            } catch (final DatException e) {
              refused.add(verb);
            }
          }
        };

    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(refused).contains("disconnect", "modify_qp", "poll_cq", "destroy_qp");
    assertThat(cookies(closed.join())).containsExactly(1L);
  }

  /**
   * The queue pair of a connection was freed while its upper layer still handled an event of it.
   */
  @Test
  void required_M05_aQueuePairIsNotDestroyedWhileADequeuedEventOfItIsHandled() {
    final InterceptedBed bed = new InterceptedBed();
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    bed.connected();
    bed.evd.drain(bed.recording(), 1);
    bed.provider.receive(0);
    final List<String> verbs = new ArrayList<>();
    bed.provider.hook = verbs::add;
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    final Reaper reaper = ((IaImpl) bed.ia).reaper();
    final Dispatcher dispatcher = bed.jdapl.nextDispatcher();

    bed.evd.dequeue(
        InterceptedBed.on(
            event -> {
              closes.add(close(bed.endpoint));
              while (reaper.round() || dispatcher.round()) {
                assertThat(closes.get(0)).as("while the handler runs").isNotDone();
              }
              assertThat(verbs).contains("modify_qp").doesNotContain("destroy_qp");
            }));
    bed.settle();

    assertThat(closes).hasSize(1).allMatch(CompletableFuture::isDone);
    assertThat(verbs).endsWith("destroy_qp", "destroy_id");
  }

  /** What a queue that failed holds was given up, though it could be polled. */
  @Test
  void required_T02_whatCanBePolledIsNotUnknownThoughItsQueueIsLeftAloneForAWhile() {
    final InterceptedBed bed = new InterceptedBed();
    bed.evd.upcall(bed.recording());
    bed.connected();
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    bed.provider.refuse("poll_cq");
    bed.provider.receive(0);
    bed.settle();
    bed.evd.disable();
    bed.provider.refuse("modify_qp");

    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::status)
        .containsExactly(DrainReport.Status.SUCCESS);
  }
}
