package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Hint;
import org.jdapl.evd.ScriptedDevice.Notify;
import org.jdapl.evd.ScriptedDevice.Point;
import org.jdapl.evd.ScriptedDevice.ScriptedCq;
import org.jdapl.evd.ScriptedDevice.ScriptedQp;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Section A of the contract over a device that is all scripted, driven by hand. */
@ExtendWith(HandBed.Closing.class)
class ArmContractTest {

  static Stream<Behavior> behaviors() {
    final List<Behavior> all = new ArrayList<>();
    for (final SecondArm second : SecondArm.values()) {
      for (final Behavior arm :
          List.of(
              Behavior.WEAK,
              Behavior.STRONG,
              new Behavior(
                  ArmModel.UNKNOWN, false, Hint.NONE, ArmedAfterHint.UNKNOWN, SecondArm.UNKNOWN),
              new Behavior(
                  ArmModel.UNKNOWN, true, Hint.NONE, ArmedAfterHint.UNKNOWN, SecondArm.UNKNOWN))) {
        all.add(arm.withSecondArm(second));
        for (final ArmedAfterHint armed : ArmedAfterHint.values()) {
          all.add(arm.withHint(Hint.EXACT, armed).withSecondArm(second));
          all.add(arm.withHint(Hint.LYING, armed).withSecondArm(second));
        }
      }
    }
    return all.stream();
  }

  /**
   * Each with one way to notify; of those that differ only in their second arm, all ways.
   * -Djdapl.models=all takes every combination.
   */
  static Stream<Arguments> notifyingBehaviors() {
    final List<Notify> ways = List.of(Notify.AT_ONCE, Notify.TWICE, Notify.HELD);
    if ("all".equals(System.getProperty("jdapl.models"))) {
      return behaviors().flatMap(each -> ways.stream().map(way -> Arguments.of(each, way)));
    }
    final List<Behavior> all = behaviors().toList();
    final int arms = all.size() / SecondArm.values().length;
    return IntStream.range(0, all.size())
        .mapToObj(i -> Arguments.of(all.get(i), ways.get((i % arms + i / arms) % ways.size())));
  }

  /** A bed that does something when it comes by a point for the n-th time. */
  private static final class PointBed extends ScriptedBed {

    private final int first;
    private final int second;
    private int points;

    PointBed(final Behavior behavior, final Notify notify, final int first, final int second) {
      super(behavior, 3);
      this.first = first;
      this.second = second;
      cq().notifies(notify);
      cq().hook(point -> pass());
    }

    void pass() {
      final int point = points++;
      if (point == first) {
        complete(1);
      }
      if (point == second) {
        complete(1);
      }
    }

    int run() {
      complete(1);
      evd.upcall(this);
      do {
        settle();
        pass();
      } while (cq().release() > 0 || points <= second);
      settle();
      return points;
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      super.onCompletion(event);
      pass();
    }

    @Override
    public void onTurnEnd(final Evd from) {
      pass();
    }
  }

  @ParameterizedTest
  @MethodSource("notifyingBehaviors")
  void required_A01_everyCompletionIsDeliveredWhenEverItArrives(
      final Behavior behavior, final Notify notify) {
    int points = 12;
    for (int first = 0; first < points; first++) {
      for (int second = first; second < points; second++) {
        try (PointBed bed = new PointBed(behavior, notify, first, second)) {
          points = Math.max(points, Math.min(40, bed.run()));
          assertThat(bed.cookies)
              .as("%s, one more at points %d and %d of %d", notify, first, second, points)
              .containsExactly(ScriptedBed.upTo(3));
          assertThat(bed.cq().overlaps()).isZero();
        }
      }
    }
  }

  /** A bed that does something once, where it comes by. */
  private static final class OnceBed extends ScriptedBed {

    private Runnable atTurnEnd = () -> {};
    private Runnable atPoint = () -> {};
    private Point where = Point.POLL;
    private int skipped;

    OnceBed(final Behavior behavior, final int receives) {
      super(behavior, receives);
      cq().hook(this::at);
    }

    void onceAtTurnEnd(final Runnable action) {
      atTurnEnd = action;
    }

    /** At the next such point but some. */
    void onceAt(final Point point, final int skip, final Runnable action) {
      where = point;
      skipped = skip;
      atPoint = action;
    }

    private void at(final Point point) {
      if (point == where && skipped-- == 0) {
        final Runnable action = atPoint;
        atPoint = () -> {};
        action.run();
      }
    }

    @Override
    public void onTurnEnd(final Evd from) {
      final Runnable action = atTurnEnd;
      atTurnEnd = () -> {};
      action.run();
    }
  }

  /** What one notified completion costs, and one that another follows between poll and arm. */
  private record Cost(Behavior behavior, int alone, int followed) {}

  static Stream<Cost> costs() {
    return Stream.of(
        new Cost(Behavior.WEAK, 3, 3),
        new Cost(Behavior.STRONG, 2, 4),
        new Cost(Behavior.WEAK.withHint(Hint.EXACT, ArmedAfterHint.YES), 2, 3),
        new Cost(Behavior.WEAK.withHint(Hint.EXACT, ArmedAfterHint.NO), 2, 5),
        new Cost(Behavior.WEAK.withHint(Hint.ALWAYS, ArmedAfterHint.YES), 3, 3),
        new Cost(Behavior.STRONG.withHint(Hint.EXACT, ArmedAfterHint.YES), 2, 4),
        new Cost(Behavior.STRONG.withHint(Hint.ALWAYS, ArmedAfterHint.YES), 2, 4));
  }

  @ParameterizedTest
  @MethodSource("costs")
  void required_A02_noPollOrArmIsMadeButTheNecessary(final Cost cost) {
    final OnceBed bed = new OnceBed(cost.behavior(), 3);
    bed.enable();
    int before = bed.cq().calls();
    bed.complete(1);
    bed.settle();
    assertThat(bed.cq().calls() - before).as("alone").isEqualTo(cost.alone());

    before = bed.cq().calls();
    bed.onceAt(Point.ARM, 0, () -> bed.complete(1));
    bed.complete(1);
    bed.settle();
    assertThat(bed.cq().calls() - before).as("followed").isEqualTo(cost.followed());
    bed.assertDelivered(3);
    assertThat(bed.evd.statistics().spurious()).isZero();
  }

  /** The queue was armed for a waiter, and its notification does not come. */
  @ParameterizedTest
  @MethodSource("behaviors")
  void required_A02_aDequeueOfWhichNobodyIsToldTakesNoArmedQueueForEmpty(final Behavior behavior) {
    final ScriptedBed bed = new ScriptedBed(behavior, 4);
    assertThat(bed.evd.await(bed, 1, Duration.ZERO)).isEqualTo(Outcome.TIMEOUT_EXPIRED);
    final long arms = bed.evd.statistics().arms();
    final int calls = bed.cq().calls();
    bed.cq().notifies(Notify.NEVER);
    bed.complete(1);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    bed.complete(2);
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(2);
    assertThat(bed.cq().calls() - calls).as("polls: two that found something").isEqualTo(4);
    assertThat(bed.evd.statistics().arms()).isEqualTo(arms);

    bed.cq().notifies(Notify.AT_ONCE);
    bed.enable();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(4);
  }

  /** What came before it was not told of, and what comes after it is not armed for. */
  @ParameterizedTest
  @MethodSource("behaviors")
  void required_W05_aCnoThatComesInTheMiddleOfADequeueIsTold(final Behavior behavior) {
    final OnceBed bed = new OnceBed(behavior, 2);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    final Cno cno = bed.ia.createCno();
    bed.onceAt(Point.POLLED, 0, () -> bed.evd.cno(cno));
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    assertThat(bed.evd.cno()).isSameAs(cno);
    bed.complete(1);
    bed.settle();
    assertThat(cno.await(evd -> evd.drain(bed, 100), Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    bed.assertDelivered(1);
    bed.complete(1);
    bed.settle();
    assertThat(cno.await(evd -> evd.drain(bed, 100), Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    bed.assertDelivered(2);
  }

  /** They come between poll and arm, so that a weak device never tells of them. */
  @ParameterizedTest
  @MethodSource("behaviors")
  void required_A02_aLookThatFilledTheBufferIsFollowedByPlainPolls(final Behavior behavior) {
    final OnceBed bed = new OnceBed(behavior, 41);
    bed.enable();
    bed.onceAt(Point.ARM, 0, () -> bed.complete(40));
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(41);
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_A03_whatIsSignalledBetweenTheLookAndIdleIsServed(final Behavior behavior) {
    final OnceBed bed = new OnceBed(behavior, 4);
    bed.enable();
    bed.complete(1);
    bed.onceAtTurnEnd(() -> bed.complete(1));
    bed.settle();
    bed.assertDelivered(2);
    bed.complete(1);
    bed.onceAtTurnEnd(() -> bed.evd.postSoftwareEvent("at the end of the turn"));
    bed.settle();
    bed.assertDelivered(3);
    assertThat(bed.payloads).containsExactly("at the end of the turn");
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(4);
  }

  @ParameterizedTest
  @EnumSource
  void required_A03_aSoftwareEventThatComesInTheMiddleOfACallIsServed(final Point point) {
    final OnceBed bed = new OnceBed(Behavior.WEAK, 2);
    bed.enable();
    bed.onceAt(point, 0, () -> bed.evd.postSoftwareEvent(point));
    bed.complete(1);
    bed.settle();
    assertThat(bed.payloads).containsExactly(point);
    bed.onceAt(point, 0, () -> bed.evd.postSoftwareEvent("found nothing else"));
    bed.cq().notifyNow();
    bed.settle();
    assertThat(bed.payloads).containsExactly(point, "found nothing else");
    bed.assertDelivered(1);
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_A04_aNotificationThatComesLateIsFollowedByANewArm(final Behavior behavior) {
    final ScriptedBed bed = new ScriptedBed(behavior, 5);
    bed.enable();
    for (int i = 0; i < 4; i++) {
      bed.cq().notifies(Notify.HELD);
      bed.complete(1);
      bed.cq().notifyNow(); // a queue is polled for another reason, and armed a second time
      bed.settle();
      bed.assertDelivered(i + 1);
      bed.cq().notifies(Notify.AT_ONCE);
      bed.cq().release();
      bed.settle();
    }
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(5);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 15, 16, 17, 31, 32, 33, 47, 48, 63})
  void required_A05_aFullBatchIsNotTakenForEmpty(final int count) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, count);
    bed.enable();
    final int arms = bed.cq().armCalls();
    final int calls = bed.cq().calls();
    bed.complete(count);
    assertThat(bed.jdapl.round()).isTrue();
    bed.assertDelivered(count);
    assertThat(bed.cq().armCalls() - arms).isOne();
    final int fullBatches = count / CqFeed.BATCH;
    assertThat(bed.cq().calls() - calls).isEqualTo(fullBatches + 3);
    assertThat(bed.jdapl.round()).as("idle").isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 65, 80, 127, 128, 129, 200})
  void required_A05_withItsBudgetUsedUpItStaysScheduledAndUnarmed(final int count) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, count);
    bed.enable();
    final int arms = bed.cq().armCalls();
    bed.complete(count);
    int left = count;
    while (left >= 64) {
      left -= 64;
      assertThat(bed.jdapl.round()).isTrue();
      bed.assertDelivered(count - left);
      assertThat(bed.cq().armCalls()).as("not armed").isEqualTo(arms);
      assertThat(bed.cq().isArmed()).isFalse();
    }
    assertThat(bed.jdapl.round()).as("still scheduled").isTrue();
    bed.assertDelivered(count);
    assertThat(bed.cq().armCalls() - arms).isOne();
    assertThat(bed.jdapl.round()).as("idle").isFalse();
  }

  @Test
  void required_A05_whateverTheBudgetCutsItIsAllDelivered() {
    for (int completions = 0; completions <= 80; completions += 5) {
      for (int software = 0; software <= 70; software += 7) {
        try (ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 80)) {
          bed.enable();
          bed.complete(completions);
          for (int i = 0; i < software; i++) {
            assertThat(bed.evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
          }
          int turns = 0;
          while (bed.jdapl.round()) {
            turns++;
            assertThat(bed.cookies.size() + bed.payloads.size()).isLessThanOrEqualTo(64 * turns);
          }
          bed.assertDelivered(completions);
          assertThat(bed.payloads).hasSize(software);
          bed.evd.postSoftwareEvent("one more");
          bed.complete(completions == 80 ? 0 : 1);
          bed.settle();
          assertThat(bed.payloads).hasSize(software + 1);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void required_A05_theLookFillsTheBatchAndNothingIsLeft(final Point point) {
    final OnceBed bed = new OnceBed(Behavior.WEAK, 64);
    bed.enable();
    bed.onceAt(point, 0, () -> bed.complete(40));
    bed.complete(3);
    bed.settle();
    bed.assertDelivered(43);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(44);
  }

  @Test
  @Timeout(120)
  void required_A07_oneThreadAtATimePollsAQueue() throws InterruptedException {
    final int total = 20_000;
    final ScriptedDevice device =
        new ScriptedDevice(Behavior.WEAK.withSecondArm(SecondArm.COUNTED));
    try (Jdapl jdapl = Jdapl.with(device).dispatchers(2).start()) {
      final InterfaceAdapter ia = jdapl.open();
      final PollRace race = new PollRace(device, ia, total);
      race.run();
      assertThat(race.cq().overlaps()).isZero();
      assertThat(race.delivered).hasSize(total);
      assertThat(race.twice).hasValue(0);
      ia.closeAbruptly(Duration.ofSeconds(5));
    }
  }

  /**
   * Completions by one thread, notifications by three, and two consumers who dequeue whenever they
   * are let.
   */
  private static final class PollRace implements EventHandler {

    private static final int WINDOW = 128;

    private final ScriptedDevice device;
    private final int total;
    private final Evd evd;
    private final Endpoint endpoint;
    private final Lmr lmr;
    private final Set<Long> delivered = ConcurrentHashMap.newKeySet();
    private final AtomicInteger twice = new AtomicInteger();
    private final AtomicInteger handedOut = new AtomicInteger();
    private final AtomicBoolean done = new AtomicBoolean();

    PollRace(final ScriptedDevice device, final InterfaceAdapter ia, final int total) {
      this.device = device;
      this.total = total;
      final ProtectionZone pz = ia.createPz();
      lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.LOCAL_READ, Privilege.LOCAL_WRITE);
      evd = ia.createEvd(2 * WINDOW, EventStream.DTO, EventStream.CONNECTION);
      endpoint =
          ia.createEndpoint(
              pz,
              evd,
              evd,
              ia.createEvd(8, EventStream.CONNECTION),
              EndpointAttributes.defaults().withMaxDtos(WINDOW, 1));
    }

    ScriptedCq cq() {
      return device.cq(0);
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (!delivered.add(event.cookie())) {
        twice.incrementAndGet();
      }
      handedOut.incrementAndGet();
    }

    private void run() throws InterruptedException {
      evd.upcall(this);
      final List<Thread> threads = new ArrayList<>();
      final CountDownLatch finished = new CountDownLatch(6);
      threads.add(new Thread(() -> finish(this::complete, finished)));
      threads.add(new Thread(() -> finish(this::switchAndConsume, finished)));
      threads.add(new Thread(() -> finish(this::consume, finished)));
      for (int i = 0; i < 3; i++) {
        threads.add(new Thread(() -> finish(this::notifyAtWill, finished)));
      }
      threads.forEach(Thread::start);
      assertThat(finished.await(1, TimeUnit.MINUTES)).isTrue();
    }

    private void finish(final Runnable work, final CountDownLatch finished) {
      try {
        work.run();
      } finally {
        done.set(true);
        finished.countDown();
      }
    }

    private void complete() {
      for (int posted = 0; posted < total && cq().overlaps() == 0; ) {
        if (posted - handedOut.get() < WINDOW) {
          if (endpoint.postReceive(lmr, 0, 8, posted) == Outcome.SUCCESS) {
            posted++;
            device.qp(0).completeReceives(1);
          }
        } else {
          Thread.yield();
        }
      }
      while (handedOut.get() < total && cq().overlaps() == 0) {
        Thread.yield();
      }
    }

    private void notifyAtWill() {
      while (!done.get()) {
        cq().notifyNow();
        Thread.yield();
      }
    }

    private void switchAndConsume() {
      while (!done.get()) {
        evd.disable();
        consumeSome();
        evd.upcall(this);
        Thread.yield();
      }
      evd.upcall(this);
    }

    private void consume() {
      while (!done.get()) {
        if (evd.policy() == UpcallPolicy.DISABLED) {
          consumeSome();
        } else {
          Thread.yield();
        }
      }
    }

    private void consumeSome() {
      for (int i = 0; i < 200; i++) {
        try {
          final Outcome unused = evd.dequeue(this);
        } catch (final DatException e) {
          Thread.yield(); // an upcall is still running, or enabled again
        }
      }
    }
  }

  // A09

  private static ScriptedBed flooded(final Behavior behavior) {
    final ScriptedBed bed = new ScriptedBed(behavior, 8);
    bed.enable();
    for (int i = 0; i < 16; i++) {
      bed.cq().notifyNow();
      bed.settle();
    }
    return bed;
  }

  @Test
  void required_A09_after16EmptyNotificationsTheyCostNothing() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    bed.enable();
    for (int i = 1; i <= 16; i++) {
      final int calls = bed.cq().calls();
      bed.cq().notifyNow();
      bed.settle();
      assertThat(bed.cq().calls() - calls).isEqualTo(3);
      assertThat(bed.evd.statistics().spurious()).isEqualTo(i);
    }
    final int calls = bed.cq().calls();
    for (int i = 0; i < 10_000; i++) {
      bed.cq().notifyNow();
    }
    bed.settle();
    assertThat(bed.cq().calls()).isEqualTo(calls);
    assertThat(bed.cq().isArmed()).isTrue();
  }

  @Test
  void required_A09_theQueueIsPolledOnATimerFrom1To64Milliseconds() {
    final ScriptedBed bed = flooded(Behavior.WEAK);
    final List<Integer> polls = new ArrayList<>();
    for (int milli = 1; milli <= 300; milli++) {
      final int calls = bed.cq().calls();
      bed.cq().notifyNow();
      bed.pass(Duration.ofMillis(1));
      if (bed.cq().calls() > calls) {
        assertThat(bed.cq().calls() - calls).isEqualTo(3);
        polls.add(milli);
      }
    }
    assertThat(polls).containsExactly(1, 3, 7, 15, 31, 63, 127, 191, 255);
  }

  @Test
  void required_A09_aCompletionEndsTheTimer() {
    final ScriptedBed bed = flooded(Behavior.WEAK);
    bed.pass(Duration.ofMillis(1));
    bed.complete(1);
    bed.settle();
    bed.pass(Duration.ofMillis(2));
    bed.assertDelivered(1);
    for (int i = 0; i < 4; i++) {
      bed.complete(1);
      bed.settle();
      bed.assertDelivered(2 + i);
    }
    final long spurious = bed.evd.statistics().spurious();
    for (int i = 0; i < 16; i++) {
      bed.cq().notifyNow();
      bed.settle();
    }
    assertThat(bed.evd.statistics().spurious() - spurious).isEqualTo(16);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(5);
    bed.pass(Duration.ofMillis(1));
    bed.assertDelivered(6);
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_A09_aCompletionIsFoundAtTheTimersPollAtTheLatest(final Behavior behavior) {
    final ScriptedBed bed = flooded(behavior);
    for (int i = 0; i < 10; i++) {
      bed.pass(Duration.ofMillis(64));
    }
    bed.complete(1);
    bed.pass(Duration.ofMillis(64));
    bed.pass(Duration.ofMillis(64));
    bed.assertDelivered(1);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(2);
  }

  /** A queue that is armed by the timer's poll, and notifies before that poll returned. */
  @Test
  void required_A09_aNotificationDuringTheTimersPollCounts() {
    final ScriptedBed bed = flooded(Behavior.WEAK);
    final int[] polls = {0};
    bed.cq()
        .hook(
            point -> {
              if (point == Point.POLLED && ++polls[0] == 2) {
                bed.complete(1);
              }
            });
    bed.complete(1);
    bed.pass(Duration.ofMillis(1));
    bed.pass(Duration.ofSeconds(1));
    bed.assertDelivered(2);
  }

  @Test
  void required_A09_notificationsCountAgainOnceTheTimersPollFoundTheQueueSound() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 2);
    bed.cq().failPoll(() -> new VerbsException("poll_cq", "cq", VerbsException.EAGAIN, "once"));
    bed.enable();
    bed.pass(Duration.ofMillis(1));
    assertThat(bed.cq().isArmed()).isTrue();
    bed.complete(1);
    bed.pass(Duration.ofSeconds(1));
    bed.assertDelivered(1);
  }

  @Test
  void required_A09_aQueueThatHintsForEverAndWillNotArmIsPolledOnTheTimer() {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK.withHint(Hint.ALWAYS, ArmedAfterHint.NO), 4);
    bed.enable();
    final int calls = bed.cq().calls();
    assertThat(calls).isLessThan(10);
    bed.complete(1);
    bed.settle();
    assertThat(bed.cq().calls()).as("nothing until the timer").isEqualTo(calls);
    bed.pass(Duration.ofMillis(1));
    bed.assertDelivered(1);
    for (int i = 0; i < 3; i++) {
      bed.complete(1);
      bed.pass(Duration.ofMillis(64));
      bed.assertDelivered(2 + i);
    }
  }

  @Test
  void required_A09_theTimerGoesOnWhileTheEvdIsDisabled() {
    final ScriptedBed bed = flooded(Behavior.WEAK);
    bed.evd.disable();
    bed.complete(1);
    bed.pass(Duration.ofMillis(1));
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
    bed.assertDelivered(1);
    bed.enable();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(2);
  }

  // A06

  /** An EVD for solicited receives beside the other one, with an endpoint of its own. */
  private static final class SolicitedBed extends ScriptedBed {

    final Evd quiet;
    private Endpoint receiver;

    SolicitedBed(final Behavior behavior, final int receives) {
      super(behavior, 1);
      quiet = ia.createEvd(64, EventStream.DTO);
      receiver = createReceiver(CompletionFlags.SOLICITED_WAIT);
      postReceives(receiver, receives);
      cookies.clear();
    }

    private Endpoint createReceiver(final int flags) {
      return ia.createEndpoint(
          pz,
          quiet,
          evd,
          connectEvd,
          EndpointAttributes.defaults().withMaxDtos(16, 0).withReceiveFlags(flags));
    }

    /** The only endpoint of the EVD is another one from now on. */
    void renew(final int flags) {
      final CompletionStage<DrainReport> closing = receiver.closeAsync(Duration.ofSeconds(1));
      settle();
      assertThat(closing.toCompletableFuture()).isCompleted();
      cookies.clear();
      receiver = createReceiver(flags);
    }

    @Override
    ScriptedQp qp() {
      return device.lastQp();
    }

    @Override
    ScriptedCq cq() {
      return qp().recvCq();
    }

    void arrives() {
      complete(1);
    }

    void arrivesSolicited() {
      cq().add(qp().takeReceive().asSolicited());
    }

    void fails() {
      cq().add(qp().takeReceive().as(WcStatus.LOC_LEN_ERR));
    }

    void enableQuiet() {
      quiet.upcall(this);
      settle();
    }

    /** The bed's own receive has cookie 0. */
    void assertHeard(final int count) {
      assertThat(cookies)
          .containsExactly(LongStream.rangeClosed(1, count).boxed().toArray(Long[]::new));
      assertThat(quiet.statistics().rescued()).isZero();
    }
  }

  private static SolicitedBed full(final int receives) {
    return new SolicitedBed(Behavior.WEAK.withSolicited(SolicitedSupport.FULL), receives);
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_A06_aSolicitedReceiveIsToldOfAndBringsAllBeforeIt(final Behavior behavior) {
    final SolicitedBed bed = new SolicitedBed(behavior.withSolicited(SolicitedSupport.FULL), 6);
    bed.enable();
    bed.enableQuiet();
    bed.arrives();
    bed.arrives();
    bed.settle();
    bed.assertHeard(0);
    bed.arrivesSolicited();
    bed.settle();
    bed.assertHeard(3);
    bed.arrives();
    bed.settle();
    bed.assertHeard(3);
    bed.arrivesSolicited();
    bed.settle();
    bed.assertHeard(5);
    assertThat(bed.cq().armKinds()).containsExactly(ArmKind.SOLICITED);
    assertThat(bed.device.cq(0).armKinds()).as("of the other EVD").containsOnly(ArmKind.NEXT);
  }

  @ParameterizedTest
  @EnumSource
  void required_A06_anErrorIsToldOfOnEveryDevice(final SolicitedSupport support) {
    final SolicitedBed bed = new SolicitedBed(Behavior.WEAK.withSolicited(support), 4);
    bed.enableQuiet();
    bed.fails();
    bed.settle();
    bed.assertHeard(1);
    bed.arrives();
    bed.fails();
    bed.settle();
    bed.assertHeard(3);
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "FULL")
  void required_A06_whereErrorsDoNotCountEveryCompletionIsToldOf(final SolicitedSupport support) {
    final SolicitedBed bed = new SolicitedBed(Behavior.WEAK.withSolicited(support), 2);
    bed.enableQuiet();
    bed.arrives();
    bed.settle();
    bed.assertHeard(1);
    assertThat(bed.cq().armKinds()).containsExactly(ArmKind.NEXT);
  }

  /** They come when the queue is polled or armed, each two points of all. */
  @ParameterizedTest
  @MethodSource("notifyingBehaviors")
  void required_A06_aSolicitedReceiveIsToldOfWhenEverItArrives(
      final Behavior behavior, final Notify notify) {
    int points = 8;
    for (int first = 0; first < points; first++) {
      for (int second = first; second < points; second++) {
        try (SolicitedBed bed =
            new SolicitedBed(behavior.withSolicited(SolicitedSupport.FULL), 3)) {
          final int[] at = {first, second, 0};
          bed.cq().notifies(notify);
          final Runnable pass =
              () -> {
                final int point = at[2]++;
                if (point == at[0]) {
                  bed.arrives();
                }
                if (point == at[1]) {
                  bed.arrivesSolicited();
                }
              };
          bed.cq().hook(point -> pass.run());
          bed.arrivesSolicited();
          bed.quiet.upcall(bed);
          do {
            bed.settle();
            pass.run();
          } while (bed.cq().release() > 0 || at[2] <= second);
          bed.settle();
          points = Math.max(points, Math.min(14, at[2]));
          assertThat(bed.cookies)
              .as("%s, unsolicited at %d, solicited at %d of %d", notify, first, second, points)
              .containsExactly(1L, 2L, 3L);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNKNOWN")
  void required_A06_anArmForTheNextCompletionIsNeverWeakened(final SecondArm second) {
    final SolicitedBed bed =
        new SolicitedBed(
            Behavior.WEAK.withSecondArm(second).withSolicited(SolicitedSupport.FULL), 1);
    final Set<ScriptedCq> cqs = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      bed.enableQuiet();
      cqs.add(bed.cq());
      bed.renew(CompletionFlags.DEFAULT);
      final long next = 2 + 3L * i;
      bed.postReceives(bed.receiver, 1);
      bed.settle();
      cqs.add(bed.cq());
      bed.arrives();
      bed.settle();
      assertThat(bed.cookies).as("not solicited, and not to be").containsExactly(next);
      bed.renew(CompletionFlags.SOLICITED_WAIT);
      bed.postReceives(bed.receiver, 2);
      bed.arrives();
      bed.settle();
      assertThat(bed.cookies).as("armed for solicited ones again").isEmpty();
      bed.arrivesSolicited();
      bed.settle();
      assertThat(bed.cookies).containsExactly(next + 1, next + 2);
    }
    assertThat(cqs)
        .as("each queue is armed for one kind all its life")
        .hasSize(2)
        .allSatisfy(cq -> assertThat(cq.armKinds()).hasSize(1));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void required_A06_aDequeueFindsWhatIsNotToldOf(final boolean cnoIsTold) {
    final SolicitedBed bed = full(5);
    if (cnoIsTold) {
      bed.quiet.cno(bed.ia.createCno());
    }
    assertThat(bed.quiet.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    bed.arrives();
    bed.arrives();
    assertThat(bed.quiet.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
    bed.arrives();
    assertThat(bed.quiet.drain(bed, 100)).isEqualTo(2);
    bed.enableQuiet();
    bed.arrivesSolicited();
    bed.settle();
    bed.assertHeard(4);
    bed.quiet.notifyOnce(ready -> ready.drain(bed, 100), Invoke.ON_ANY);
    bed.settle();
    bed.arrivesSolicited();
    bed.settle();
    bed.assertHeard(5);
  }

  @Test
  void required_A06_anAwaitFindsWhatIsNotToldOf() {
    final SolicitedBed bed = full(5);
    assertThat(bed.quiet.await(bed, 1, Duration.ZERO)).isEqualTo(Outcome.TIMEOUT_EXPIRED);
    bed.arrives();
    bed.arrives();
    assertThat(bed.quiet.await(bed, 1, Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    assertThat(bed.quiet.remaining()).isOne();
    bed.arrives();
    assertThat(bed.quiet.await(bed, 1, Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    bed.assertHeard(2);
  }

  @Test
  void required_A06_anEnablingBringsWhatIsNotToldOf() {
    final SolicitedBed bed = full(4);
    bed.enableQuiet();
    bed.quiet.disable();
    bed.arrives();
    bed.enableQuiet();
    bed.assertHeard(1);
    bed.quiet.disable();
    bed.arrives();
    bed.quiet.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.settle();
    bed.assertHeard(1);
    bed.arrivesSolicited();
    bed.settle();
    bed.assertHeard(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void required_A06_aCloseEndsOverReceivesThatAreNotToldOf(final boolean enabled) {
    final SolicitedBed bed = full(5);
    bed.enableQuiet();
    if (!enabled) {
      bed.quiet.disable();
    }
    bed.arrives();
    bed.arrives();
    final CompletionStage<DrainReport> closing = bed.receiver.closeAsync(Duration.ofSeconds(1));
    bed.settle();
    assertThat(closing.toCompletableFuture()).as("before its bound").isCompleted();
    final DrainReport report = closing.toCompletableFuture().join();
    assertThat(bed.cookies.size() + report.requests().size()).isEqualTo(5);
    assertThat(bed.cookies).hasSize(enabled ? 5 : 0);
    if (!enabled) {
      assertThat(report.requests().subList(0, 2))
          .allSatisfy(
              request -> assertThat(request.status()).isEqualTo(DrainReport.Status.SUCCESS));
    }
  }

  @Test
  void required_A06_theWatchdogBringsWhatIsNotToldOfAndCountsErrorsOnly() {
    final SolicitedBed bed = full(4);
    bed.enableQuiet();
    bed.arrives();
    bed.pass(Duration.ofMillis(250));
    bed.assertHeard(1);
    bed.cq().notifies(Notify.NEVER);
    bed.arrives();
    bed.fails();
    bed.pass(Duration.ofMillis(250));
    assertThat(bed.cookies).containsExactly(1L, 2L, 3L);
    assertThat(bed.quiet.statistics().rescued()).as("an error should have notified").isOne();
  }

  // E11, U14

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 15, 16, 17})
  void required_E11_theStashSurvivesDisablingInTheMiddleOfABatch(final int disableAt) {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 40) {
          @Override
          public void onCompletion(final DtoCompletion event) {
            super.onCompletion(event);
            if (cookies.size() == disableAt) {
              evd.disable();
            }
          }
        };
    bed.enable();
    bed.complete(20);
    bed.settle();
    bed.assertDelivered(disableAt);
    final int stashed = Math.min(20, (disableAt + 15) / 16 * 16) - disableAt;
    final int calls = bed.cq().calls();
    for (int i = 1; i <= stashed; i++) {
      assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
      bed.assertDelivered(disableAt + i);
    }
    assertThat(bed.cq().calls()).as("all of the stash").isEqualTo(calls);
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(20 - disableAt - stashed);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    bed.complete(1);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
    bed.enable();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(22);
  }

  /**
   * Two EVDs with one dispatcher; the handler of the first one does something at its third event.
   */
  private abstract static class BesideAnother extends ScriptedBed {
    private final Endpoint second;
    private final List<Long> others = new ArrayList<>();

    BesideAnother(final Behavior behavior) {
      super(behavior, 21);
      final Evd other = createEvd(40);
      second = createEndpoint(other, 16);
      postReceives(second, 16);
      other.upcall(
          new EventHandler() {
            @Override
            public void onCompletion(final DtoCompletion event) {
              others.add(event.cookie());
            }
          });
      enable();
    }

    abstract void atThird();

    @Override
    public void onCompletion(final DtoCompletion event) {
      super.onCompletion(event);
      if (cookies.size() == 3) {
        atThird();
      }
    }

    void completeBoth(final int own) {
      complete(own);
      device.qp(1).completeReceives(16);
      settle();
      assertThat(others).as("of the endpoint " + second).hasSize(16);
    }
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_E11_theRestOfABatchOutlivesATurnOfAnotherEvd(final Behavior behavior) {
    final BesideAnother bed =
        new BesideAnother(behavior) {
          @Override
          void atThird() {
            evd.disable();
          }
        };
    bed.completeBoth(10);
    bed.assertDelivered(3);
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(7);
    bed.assertDelivered(10);
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_E11_whatOnNewHoldsBackOutlivesATurnOfAnotherEvd(final Behavior behavior) {
    final BesideAnother bed =
        new BesideAnother(behavior) {
          @Override
          void atThird() {
            evd.upcall(this, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
          }
        };
    bed.completeBoth(20);
    bed.assertDelivered(3);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(21);
  }

  /** Nobody is told of those that are not solicited, so the turn ends with them in the batch. */
  @Test
  void required_E11_whatADequeueAtATurnsEndLeavesOutlivesATurnOfAnotherEvd() {
    final SolicitedBed bed = full(5);
    final ScriptedQp qp = bed.qp();
    final Evd other = bed.createEvd(16);
    bed.postReceives(bed.createEndpoint(other, 4), 3);
    other.upcall(bed);
    bed.quiet.upcall(
        new EventHandler() {
          @Override
          public void onCompletion(final DtoCompletion event) {
            bed.onCompletion(event);
          }

          @Override
          public void onTurnEnd(final Evd from) {
            if (bed.cookies.size() == 1) {
              qp.completeReceives(3);
              assertThat(from.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
            }
          }
        });
    bed.settle();
    qp.recvCq().add(qp.takeReceive().asSolicited());
    bed.settle();
    assertThat(bed.cookies).containsExactly(1L, 2L);
    bed.device.lastQp().completeReceives(3);
    bed.settle();
    qp.recvCq().add(qp.takeReceive().asSolicited());
    bed.settle();

    assertThat(bed.cookies).containsExactly(1L, 2L, 6L, 7L, 8L, 3L, 4L, 5L);
  }

  @ParameterizedTest
  @MethodSource("behaviors")
  void required_U14_aTurnThatNoQueueStartedMakesNoProviderCall(final Behavior behavior) {
    final ScriptedBed bed = new ScriptedBed(behavior, 1);
    bed.enable();
    final int calls = bed.cq().calls();
    final long counted = bed.evd.statistics().providerCalls();
    for (int i = 0; i < 100; i++) {
      bed.evd.postSoftwareEvent(i);
      if (i % 3 == 0) {
        bed.settle();
      }
    }
    bed.settle();
    assertThat(bed.payloads).hasSize(100);
    assertThat(bed.cq().calls()).isEqualTo(calls);
    assertThat(bed.evd.statistics().providerCalls()).isEqualTo(counted);
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void required_U14_softwareEventsThatAreDequeuedMakeNoProviderCall(final boolean cnoIsTold) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    if (cnoIsTold) {
      bed.evd.cno(bed.ia.createCno());
    }
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    final int calls = bed.cq().calls();
    for (int i = 0; i < 8; i++) {
      bed.evd.postSoftwareEvent(i);
    }
    assertThat(bed.evd.drain(bed, 8)).isEqualTo(8);
    assertThat(bed.cq().calls()).isEqualTo(calls);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.QUEUE_EMPTY);
    assertThat(bed.cq().calls() - calls)
        .as("a poll, unless a notification was asked for and did not come")
        .isEqualTo(cnoIsTold ? 0 : 1);
    bed.complete(1);
    assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
    bed.assertDelivered(1);
  }
}
