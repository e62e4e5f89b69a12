package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Bounds;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Status;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Notify;
import org.jdapl.evd.ScriptedDevice.ScriptedQp;
import org.jdapl.evd.ScriptedDevice.Wc;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What devices and consumers of shared receive queues got wrong, each as the scenario that showed
 * it. By hand, on a device where the test takes the receives.
 */
@ExtendWith(HandBed.Closing.class)
class SharedReceiveScenarioTest {

  private static final int DEPTH = 8;
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration A_SECOND = Duration.ofSeconds(1);

  /** One EVD for everything, a shared receive queue that is full, and a connected endpoint. */
  private static final class Bed extends HandBed implements EventHandler {

    private static final int CAPACITY = 8;

    final ScriptedDevice device;
    final ProtectionZone pz;
    final Lmr lmr;
    final Evd evd;
    final SharedReceiveQueue srq;
    final Endpoint endpoint;

    /** What was handed out: a cookie, or the kind of a connection event. */
    final List<Object> seen = new ArrayList<>();

    final List<Endpoint> sources = new ArrayList<>();
    private long posted;

    Bed(final ScriptedDevice device) {
      super(device, CAPACITY);
      this.device = device;
      pz = ia.createPz();
      lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      evd = ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
      srq = ia.createSrq(pz, DEPTH, 1);
      endpoint = connected();
      post(DEPTH);
    }

    Endpoint create() {
      return ia.createEndpoint(
          pz, evd, evd, evd, srq, EndpointAttributes.defaults().withMaxDtos(0, 4));
    }

    Endpoint connected() {
      final Endpoint created = create();
      created.connect(ia.address(), 1, LONG, null);
      return created;
    }

    void post(final int count) {
      for (int i = 0; i < count; i++) {
        assertThat(srq.postReceive(lmr, 0, 8, posted++)).isEqualTo(Outcome.SUCCESS);
      }
    }

    ScriptedQp qp() {
      return device.qp(0);
    }

    /** Messages arrive. */
    void receive(final ScriptedQp to, final int count) {
      for (int i = 0; i < count; i++) {
        to.recvCq().add(to.takeShared());
      }
    }

    Bed enabled() {
      evd.upcall(this);
      settle();
      seen.clear();
      sources.clear();
      return this;
    }

    CompletableFuture<DrainReport> close(final Duration bound) {
      final CompletableFuture<DrainReport> closing =
          endpoint.closeAsync(bound).toCompletableFuture();
      settle();
      return closing;
    }

    /** As many receives can be posted as are not open, and no more. */
    void assertOpen(final int receives) {
      assertThat(srq.openReceives()).as("open receives").isEqualTo(receives);
      post(DEPTH - receives);
      assertThat(srq.postReceive(lmr, 0, 8, 99))
          .as("when it is full")
          .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    }

    List<AsyncEvent.Kind> asyncs() {
      final List<AsyncEvent.Kind> kinds = new ArrayList<>();
      ia.asyncEvd()
          .drain(
              new EventHandler() {
                @Override
                public void onAsync(final AsyncEvent event) {
                  kinds.add(event.kind());
                }
              },
              100);
      return kinds;
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      seen.add(event.cookie());
      sources.add(event.endpoint());
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      seen.add(event.kind());
    }

    @Override
    public void onEvent(final Event event) {
      throw new AssertionError("not expected: " + event);
    }
  }

  private static Bed bed(final LastWqe declared) {
    return new Bed(new ScriptedDevice(Behavior.WEAK).withLastWqe(declared));
  }

  private static void assertReport(
      final CompletableFuture<DrainReport> closing, final Status... statuses) {
    assertThat(closing).as("the close").isCompleted();
    assertThat(closing.join().complete()).as("complete").isTrue();
    assertThat(closing.join().requests())
        .extracting(DrainReport.Request::status)
        .containsExactly(statuses);
  }

  // Last WQE reached.

  /** SPDK #903: the event says that receives were flushed, not that their completions were seen. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_T04_completionsBehindTheLastWqeEventAreNotLost(final boolean enabled) {
    final Bed bed = bed(LastWqe.REPORTED);
    if (enabled) {
      bed.enabled();
    }
    bed.qp().recvCq().notifies(Notify.NEVER);
    bed.receive(bed.qp(), 3);
    bed.device.lastWqe(bed.qp());

    final CompletableFuture<DrainReport> closing = bed.close(LONG);

    assertThat(bed.qp().isClosed()).as("destroyed").isTrue();
    if (enabled) {
      assertReport(closing);
      assertThat(bed.seen).containsExactly(0L, 1L, 2L, ConnectionEvent.Kind.DISCONNECTED);
    } else {
      assertReport(closing, Status.SUCCESS, Status.SUCCESS, Status.SUCCESS);
    }
    bed.assertOpen(DEPTH - 3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_T04_aQueuePairIsNotDestroyedBeforeItsLastReceiveIsReported(final boolean enabled) {
    final Bed bed = bed(LastWqe.REPORTED);
    if (enabled) {
      bed.enabled();
    }
    final Wc taken = bed.qp().takeShared();
    final CompletableFuture<DrainReport> closing = bed.close(LONG);
    bed.pass(A_SECOND);
    assertThat(bed.qp().isInError()).as("in the error state").isTrue();
    assertThat(bed.qp().isClosed()).as("destroyed, with a receive in its hands").isFalse();
    assertThat(closing).isNotCompleted();

    bed.qp().recvCq().add(taken.as(WcStatus.WR_FLUSH_ERR));
    bed.settle();
    assertThat(bed.qp().isClosed()).as("destroyed, though more may come").isFalse();
    bed.device.lastWqe(bed.qp());
    bed.settle();

    assertThat(bed.qp().isClosed()).isTrue();
    if (enabled) {
      assertReport(closing);
    } else {
      assertReport(closing, Status.FLUSHED);
    }
    bed.assertOpen(DEPTH - 1);
  }

  /** Ceph and iWARP: devices that never say so. */
  @Test
  void required_T04_aDeviceThatNeverReportsIsNotWaitedFor() {
    final Bed bed = bed(LastWqe.NEVER);
    bed.receive(bed.qp(), 2);

    final CompletableFuture<DrainReport> closing = bed.close(LONG);

    assertReport(closing, Status.SUCCESS, Status.SUCCESS);
    bed.assertOpen(DEPTH - 2);
  }

  /** The marker of the requests says that the queue pair reached the error state. */
  @Test
  void required_T04_whereNothingIsReportedTheMarkerOfTheRequestsIsWaitedFor() {
    final Bed bed =
        new Bed(new ScriptedDevice(Behavior.WEAK).withLastWqe(LastWqe.NEVER).withoutFlush());
    final Wc taken = bed.qp().takeShared();

    final CompletableFuture<DrainReport> closing = bed.close(LONG);
    assertThat(bed.qp().isClosed()).as("destroyed before it was in the error state").isFalse();
    bed.qp().recvCq().add(taken);
    bed.qp().sendCq().add(bed.qp().takeSend().as(WcStatus.WR_FLUSH_ERR));
    bed.settle();

    assertReport(closing, Status.SUCCESS);
    bed.assertOpen(DEPTH - 1);
  }

  @ParameterizedTest
  @EnumSource(names = {"REPORTED", "UNKNOWN"})
  void required_T04_theWaitEndsAfterTwoSecondsWhereNoneWasEverReported(final LastWqe declared) {
    final Bed bed = bed(declared);
    final CompletableFuture<DrainReport> closing = bed.close(LONG);

    bed.pass(Duration.ofMillis(1999));
    assertThat(closing).isNotCompleted();
    bed.pass(Duration.ofMillis(1));

    assertReport(closing);
    bed.assertOpen(DEPTH);
  }

  @Test
  void required_T04_theWaitEndsAfterTenSecondsWhereOneWasReportedBefore() {
    final Bed bed = bed(LastWqe.UNKNOWN);
    final Endpoint other = bed.connected();
    bed.device.lastWqe(bed.device.qp(1));
    other.closeAsync(LONG);
    bed.settle();
    assertThat(bed.device.qp(1).isClosed()).as("the other one is closed").isTrue();

    final CompletableFuture<DrainReport> closing = bed.close(LONG);
    bed.pass(Duration.ofMillis(9999));
    assertThat(closing).isNotCompleted();
    bed.pass(Duration.ofMillis(1));

    assertReport(closing);
  }

  @Test
  void required_C05_theWaitForTheLastReceiveCanBeSet() {
    final Bed bed = bed(LastWqe.UNKNOWN);
    final Bounds bounds = new Bounds(LONG, LONG, LONG, Duration.ofMillis(50));
    final CompletableFuture<DrainReport> closing =
        bed.ia
            .createEndpoint(
                bed.pz,
                bed.evd,
                bed.evd,
                bed.evd,
                bed.srq,
                EndpointAttributes.defaults().withMaxDtos(0, 4).withBounds(bounds))
            .closeAsync(LONG)
            .toCompletableFuture();
    bed.settle();

    bed.pass(Duration.ofMillis(49));
    assertThat(closing).isNotCompleted();
    bed.pass(Duration.ofMillis(1));

    assertReport(closing);
  }

  /** Ceph PR 33852: the event handler took a lock that its caller held. */
  @Test
  void required_T04_theLastWqeEventMayComeInsideTheVerbThatCausesIt() {
    final Bed bed =
        new Bed(
            new ScriptedDevice(Behavior.WEAK).withLastWqe(LastWqe.REPORTED).sayingLastWqeAtOnce());
    bed.receive(bed.qp(), 1);

    assertReport(bed.close(LONG), Status.SUCCESS);
  }

  @Test
  void required_T04_whatComesAfterTheBoundGivesItsReceiveBack() {
    final Bed bed =
        new Bed(new ScriptedDevice(Behavior.WEAK).withLastWqe(LastWqe.REPORTED).withoutFlush());
    final ScriptedQp qp = bed.qp();
    final Wc first = qp.takeShared();
    final Wc second = qp.takeShared();
    final CompletableFuture<DrainReport> closing = bed.close(A_SECOND);
    qp.recvCq().add(first);
    bed.pass(A_SECOND);
    assertThat(qp.isClosed()).isTrue();
    assertThat(closing.join().requests())
        .as("what was heard of")
        .containsExactly(
            new DrainReport.Request(DrainReport.Queue.RECEIVE, 0, null, Status.SUCCESS));

    final long dropped = bed.evd.statistics().dropped();
    qp.recvCq().add(second);
    bed.enabled();

    assertThat(bed.seen).isEmpty();
    assertThat(bed.evd.statistics().dropped()).isEqualTo(dropped + 1);
    bed.assertOpen(DEPTH - 2);
  }

  /** SPDK #730: a buffer that was posted again still pointed to the dead queue pair. */
  @Test
  void required_T05_aReceiveThatIsPostedAgainIsOfWhoeverTakesIt() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    bed.receive(bed.qp(), DEPTH);
    assertThat(bed.close(LONG)).isCompleted();
    assertThat(bed.sources).hasSize(DEPTH).containsOnly(bed.endpoint);
    bed.post(DEPTH);

    final Endpoint next = bed.connected();
    bed.enabled();
    bed.receive(bed.device.lastQp(), DEPTH);
    bed.settle();

    assertThat(bed.sources).hasSize(DEPTH).containsOnly(next);
    assertThat(bed.seen).first().isEqualTo((long) DEPTH);
  }

  /** Ceph PR 18053: queue pairs that died with completions in flight drained the pool. */
  @Test
  void required_T05_theQueueIsFullAgainHoweverItsQueuePairsDied() {
    final Bed bed = bed(LastWqe.UNKNOWN);
    final CompletableFuture<DrainReport> first = bed.close(LONG);
    bed.pass(Duration.ofSeconds(2));
    assertThat(first).isCompleted();
    for (int round = 0; round < 20; round++) {
      final Endpoint dying = bed.connected();
      final ScriptedQp qp = bed.device.lastQp();
      bed.receive(qp, 2);
      final Wc late = qp.takeShared();
      final CompletableFuture<DrainReport> closing =
          dying.closeAsync(A_SECOND).toCompletableFuture();
      bed.settle();
      if (round % 2 == 0) {
        bed.device.lastWqe(qp);
        qp.recvCq().addSilently(late);
      }
      bed.pass(A_SECOND);
      if (round % 2 == 1) {
        qp.recvCq().add(late);
      }
      bed.pass(Duration.ofSeconds(2));
      assertThat(closing).as("close " + round).isCompleted();
      bed.evd.drain(bed, 100);
      bed.assertOpen(DEPTH - 3);
    }
  }

  @Test
  void required_T05_aCompletionOfNoQueuePairGivesItsReceiveBackOnce() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    final Wc stray = bed.qp().takeShared();
    final Wc nobodys = new Wc(stray.wrId(), stray.status(), stray.opcode(), 8, 4711, 0);

    bed.qp().recvCq().add(nobodys);
    bed.settle();
    bed.qp().recvCq().add(nobodys);
    bed.qp().recvCq().add(stray);
    bed.settle();

    assertThat(bed.seen).as("the receive is not open any more").isEmpty();
    bed.assertOpen(DEPTH - 1);
    bed.receive(bed.qp(), DEPTH);
    bed.settle();
    assertThat(bed.seen).hasSize(DEPTH).doesNotHaveDuplicates();
  }

  // Numbers.

  /**
   * The device gives the number away at once, while a completion of the old one is in the queue.
   */
  @Test
  void required_T06_whatIsLeftUnderANumberIsNotGivenToItsNextBearer() {
    final Bed bed = bed(LastWqe.NEVER);
    final ScriptedQp old = bed.qp();
    final Wc stale = old.takeShared();
    final Endpoint[] next = new Endpoint[1];
    bed.device.atDestruction(
        () -> {
          old.recvCq().addSilently(stale);
          next[0] = bed.create();
        });

    final CompletableFuture<DrainReport> closing = bed.close(LONG);
    next[0].connect(bed.ia.address(), 1, LONG, null);
    bed.enabled();

    assertReport(closing, Status.SUCCESS);
    assertThat(bed.device.lastQp().number()).as("its number").isNotEqualTo(old.number());
    assertThat(bed.sources).as("receives of the next one").isEmpty();
    bed.receive(bed.device.lastQp(), 2);
    bed.settle();
    assertThat(bed.sources).hasSize(2).containsOnly(next[0]);
    final Endpoint third = bed.create();
    assertThat(bed.device.lastQp().number()).as("free again").isEqualTo(old.number());
    third.close();
    bed.assertOpen(DEPTH - 3);
  }

  /** With an error only id, status, number and vendor code are valid. */
  @Test
  void required_T06_aFlushedSharedReceiveIsKnownByIdAndNumber() {
    final Bed bed = bed(LastWqe.REPORTED);
    final CompletableFuture<DrainReport> closing = bed.close(LONG);
    bed.qp().recvCq().add(bed.qp().takeShared().as(WcStatus.WR_FLUSH_ERR));
    bed.device.lastWqe(bed.qp());
    bed.settle();

    assertThat(closing.join().requests())
        .containsExactly(
            new DrainReport.Request(DrainReport.Queue.RECEIVE, 0, null, Status.FLUSHED));
    bed.assertOpen(DEPTH - 1);
  }

  // The end of a connection.

  @Test
  void required_M03_theEndWaitsForTheLastSharedReceive() {
    final Bed bed = bed(LastWqe.REPORTED).enabled();
    final ScriptedQp qp = bed.qp();
    qp.recvCq().notifies(Notify.NEVER);
    bed.receive(qp, 2);
    bed.device.cmId(0).event(CmEventType.DISCONNECTED);
    bed.settle();
    assertThat(bed.seen).as("flushes of requests may precede the end").isEmpty();

    bed.receive(qp, 1);
    bed.device.lastWqe(qp);
    bed.settle();

    assertThat(bed.seen).containsExactly(0L, 1L, 2L, ConnectionEvent.Kind.DISCONNECTED);
    assertReport(bed.close(LONG));
  }

  /** Each poll that was tried at once had its own timer, and each timer polled for ever. */
  @Test
  void required_T04_aCompletionQueueThatCannotBePolledIsPolledLessAndLessOften() {
    final Bed bed = bed(LastWqe.REPORTED).enabled();
    final int failures = 20_000;
    for (int i = 0; i < failures; i++) {
      bed.qp().recvCq().failPoll(() -> new VerbsException("poll_cq", "cq", VerbsException.EIO, ""));
    }
    bed.device.cmId(0).event(CmEventType.DISCONNECTED);
    bed.device.lastWqe(bed.qp());
    final long before = bed.evd.statistics().providerCalls();

    for (int millis = 0; millis < 10_000; millis++) {
      bed.pass(Duration.ofMillis(1));
    }

    assertThat(bed.evd.statistics().providerCalls() - before).isBetween(100L, 400L);
  }

  @Test
  void required_M03_theEndComesAtItsBoundThoughNoLastReceiveIsReported() {
    final Bed bed = bed(LastWqe.UNKNOWN).enabled();
    bed.device.cmId(0).event(CmEventType.DISCONNECTED);
    bed.settle();
    assertThat(bed.seen).isEmpty();

    bed.pass(Duration.ofSeconds(2));

    assertThat(bed.seen).containsExactly(ConnectionEvent.Kind.DISCONNECTED);
  }

  @Test
  void required_M03_aSharedReceiveThatFailsBreaksTheConnectionBehindTheSuccesses() {
    final Bed bed = bed(LastWqe.REPORTED).enabled();
    final ScriptedQp qp = bed.qp();
    final Wc success = qp.takeShared();
    qp.recvCq().add(qp.takeShared().as(WcStatus.LOC_LEN_ERR));
    qp.recvCq().add(success);
    bed.settle();
    bed.device.lastWqe(qp);
    bed.settle();

    assertThat(bed.seen).containsExactly(1L, 0L, ConnectionEvent.Kind.BROKEN);
  }

  // The low watermark.

  @Test
  void required_T13_aDeviceThatSaysSoTwiceIsHeardOnce() {
    final Bed bed = bed(LastWqe.NEVER);
    final var element = bed.qp().srq();
    bed.srq.lowWatermark(4);

    bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, element);
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
    bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, element);
    assertThat(bed.asyncs()).isEmpty();
    bed.srq.lowWatermark(4);
    bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, element);
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
  }

  @Test
  void required_T13_aWatermarkThatIsRefusedLeavesTheOneBefore() {
    final Bed bed = bed(LastWqe.NEVER);
    bed.srq.lowWatermark(4);
    bed.device.refuseLimits(() -> {});
    assertThatThrownBy(() -> bed.srq.lowWatermark(2)).isInstanceOf(DatException.class);

    assertThat(bed.srq.lowWatermark()).isEqualTo(4);
    bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, bed.qp().srq());
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
  }

  /** It comes after the completions were handed out, and so after the event. */
  @Test
  void required_T13_theDevicesOwnWordDoesNotCountForTheNextWatermark() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    for (int i = 0; i < 2; i++) {
      bed.srq.lowWatermark(4);
      bed.receive(bed.qp(), DEPTH - 3);
      bed.settle();
      assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
      bed.post(DEPTH - 3);
    }
    bed.srq.lowWatermark(4);

    for (int i = 0; i < 2; i++) {
      bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, bed.qp().srq());
    }
    assertThat(bed.asyncs()).as("all are open").isEmpty();
    bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, bed.qp().srq());
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
  }

  /** It stands for the word of the first watermark, which never came. */
  @Test
  void required_T13_aWordThatIsDroppedIsMadeUpForWhenTheReceivesAreHandedOut() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    bed.srq.lowWatermark(4);
    bed.receive(bed.qp(), DEPTH - 3);
    bed.settle();
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
    bed.post(DEPTH - 3);
    bed.srq.lowWatermark(4);

    bed.receive(bed.qp(), DEPTH - 3);
    bed.device.async().onAsync(AsyncType.SRQ_LIMIT_REACHED, bed.qp().srq());
    assertThat(bed.asyncs()).as("dropped").isEmpty();
    bed.settle();
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
  }

  /** What completed meanwhile was compared with the one that is refused. */
  @Test
  void required_T13_aWatermarkThatIsPassedWhileAnotherIsRefusedIsToldOf() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    bed.srq.lowWatermark(4);
    bed.device.refuseLimits(
        () -> {
          bed.receive(bed.qp(), DEPTH - 3);
          bed.settle();
        });
    assertThatThrownBy(() -> bed.srq.lowWatermark(2)).isInstanceOf(DatException.class);

    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
    assertThat(bed.srq.lowWatermark()).isZero();
  }

  /** Some devices look at the limit only when a receive is taken. */
  @Test
  void required_T13_aWatermarkAboveWhatIsPostedIsToldOfThoughTheDeviceIsSilent() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    bed.receive(bed.qp(), 5);
    bed.settle();

    bed.srq.lowWatermark(4);

    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
  }

  /** What was taken before the watermark was set, such a device tells of never. */
  @Test
  void required_T13_aWatermarkThatWasPassedBeforeIsToldOfWhenThatIsHandedOut() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    bed.receive(bed.qp(), DEPTH);

    bed.srq.lowWatermark(4);
    assertThat(bed.asyncs()).as("all are open").isEmpty();
    bed.settle();

    assertThat(bed.seen).hasSize(DEPTH);
    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_LOW_WATERMARK);
    assertThat(bed.srq.lowWatermark()).isZero();
  }

  // Faults.

  /** Each of its receives is flushed, and none says that the others were. */
  @Test
  void required_C05_flushesOfSharedReceivesSetOneTimer() {
    final Bed bed = bed(LastWqe.NEVER).enabled();
    final CompletableFuture<DrainReport> closed =
        ((EndpointImpl) bed.endpoint).now().drain().closed();
    final int before = closed.getNumberOfDependents();

    for (int i = 0; i < DEPTH; i++) {
      bed.qp().recvCq().add(Wc.flushed(bed.qp().takeShared().wrId(), bed.qp().number()));
    }
    bed.settle();

    assertThat(bed.seen).hasSize(DEPTH);
    assertThat(closed.getNumberOfDependents() - before).as("timers").isOne();
    bed.pass(LONG);
    assertThat(bed.seen).endsWith(ConnectionEvent.Kind.BROKEN);
  }

  @Test
  void shouldReportThatASharedQueueBroke() {
    final Bed bed = bed(LastWqe.NEVER);

    bed.device.async().onAsync(AsyncType.SRQ_ERR, bed.qp().srq());

    assertThat(bed.asyncs()).containsExactly(AsyncEvent.Kind.SRQ_BROKEN);
  }

  /** Nobody may ever take events there, and objects come and go. */
  @Test
  void required_E07_anErrorOfAClosedObjectLeavesTheAsyncEvd() {
    final Bed bed = bed(LastWqe.NEVER);
    final EvdImpl asyncEvd = (EvdImpl) bed.ia.asyncEvd();
    bed.device.async().onAsync(AsyncType.SRQ_ERR, bed.qp().srq());
    assertThat(asyncEvd.merger().hasMoreInMemory()).as("it waits there").isTrue();

    bed.endpoint.closeAsync(LONG);
    bed.settle();
    bed.srq.close();
    bed.settle();

    assertThat(asyncEvd.merger().hasMoreInMemory()).as("it still does").isFalse();
  }

  @Test
  void shouldSayWhereTheDeviceHasNoSharedQueues() {
    final ScriptedBed bed = new ScriptedBed(new ScriptedDevice(Behavior.WEAK).withoutOptions(), 1);

    assertThatThrownBy(() -> bed.ia.createSrq(bed.pz, 1, 1))
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.MODEL_NOT_SUPPORTED))
        .hasMessageContaining("create_srq");
    bed.ia.closeAbruptly(LONG);
  }

  @Test
  void required_T12_aLostDeviceTakesItsSharedQueuesAlong() {
    final Bed bed = bed(LastWqe.REPORTED).enabled();
    final var queue = bed.qp().srq();

    bed.device.async().onAsync(AsyncType.DEVICE_FATAL, bed.device);
    bed.settle();
    for (int i = 0; i < 5; i++) {
      bed.pass(A_SECOND);
    }

    assertThat(bed.qp().isClosed()).as("queue pair destroyed").isTrue();
    assertThat(queue.isClosed()).as("shared queue destroyed").isTrue();
    assertThatThrownBy(() -> bed.post(1)).hasMessageContaining("closed");
    assertThat(bed.seen).containsExactly(ConnectionEvent.Kind.BROKEN);
  }
}
