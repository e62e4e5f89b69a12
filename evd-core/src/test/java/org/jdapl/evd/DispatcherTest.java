package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The loops that give turns and keep time, on threads and by hand. */
@Timeout(120)
@ExtendWith(HandBed.Closing.class)
class DispatcherTest {

  private static final Duration BOUND = Duration.ofSeconds(Long.getLong("jdapl.bound", 20));

  /** Ends the thread it is thrown on, as an OutOfMemoryError would. */
  private static final class Fatal extends VirtualMachineError {
    private static final long serialVersionUID = 1L;

    Fatal() {
      super("as the test says");
    }
  }

  /** The policies that make upcalls. */
  enum Policy {
    SINGLE,
    MANY,
    NOTIFY;

    void enable(final Evd evd, final EventHandler handler) {
      switch (this) {
        case SINGLE -> evd.upcall(handler);
        case MANY -> evd.upcall(handler, Concurrency.many(2), Invoke.ON_ANY);
        case NOTIFY -> evd.notifyOnce(drainingInto(handler), Invoke.ON_ANY);
      }
    }

    private static NotifyHandler drainingInto(final EventHandler handler) {
      return new NotifyHandler() {
        @Override
        public void onReady(final Evd evd) {
          evd.notifyOnce(this, Invoke.ON_ANY);
          evd.drain(handler, 100);
        }
      };
    }
  }

  static java.util.stream.Stream<Supplier<? extends Throwable>> failures() {
    return java.util.stream.Stream.of(
        () -> new IllegalStateException("as the test says"),
        () -> new AssertionError("as the test says"),
        () -> new Exception("as the test says"),
        Fatal::new);
  }

  /** Notes payloads, and throws at some. */
  private static final class Failing implements EventHandler {

    private final List<Object> seen = new CopyOnWriteArrayList<>();
    private final List<Integer> failAt;
    private final Supplier<? extends Throwable> failure;
    private final CountDownLatch done;

    Failing(
        final int events, final Supplier<? extends Throwable> failure, final Integer... failAt) {
      this.failAt = List.of(failAt);
      this.failure = failure;
      done = new CountDownLatch(events);
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      final Object payload = event.payload();
      seen.add(payload);
      done.countDown();
      if (payload instanceof Integer number && failAt.contains(number)) {
        Unexpected.throwUnchecked(failure.get());
      }
    }
  }

  private static List<Object> numbers(final int count) {
    final List<Object> numbers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      numbers.add(i);
    }
    return numbers;
  }

  /** A runtime with threads that are remembered. */
  private static final class Threads implements AutoCloseable {

    private final List<Thread> started = new CopyOnWriteArrayList<>();
    private final Jdapl jdapl;
    private final InterfaceAdapter ia;

    /** What the next thread is instead; null if it is one. */
    private volatile Refusal refusal;

    Threads(final int dispatchers) {
      jdapl =
          Jdapl.with(new ScriptedDevice(Behavior.WEAK))
              .threads(this::thread)
              .dispatchers(dispatchers)
              .start();
      ia = jdapl.open();
    }

    private Thread thread(final Runnable loop) {
      final Refusal instead = refusal;
      if (instead != null) {
        refusal = null;
        return instead.thread();
      }
      final Thread thread = new Thread(loop, "tested-" + started.size());
      thread.setDaemon(true);
      started.add(thread);
      return thread;
    }

    @Override
    public void close() {
      ia.closeAbruptly(BOUND);
      jdapl.close();
      for (final Thread thread : started) {
        try {
          thread.join(BOUND.toMillis());
        } catch (final InterruptedException e) {
          throw new IllegalStateException(e);
        }
        assertThat(thread.isAlive()).as("%s is alive", thread).isFalse();
      }
    }
  }

  // U10 on threads

  @ParameterizedTest
  @EnumSource
  void required_U10_aVirtualMachineErrorEndsTheThreadAndAnotherTakesOver(final Policy policy)
      throws InterruptedException {
    try (Threads threads = new Threads(1)) {
      final int before = threads.started.size();
      final Evd evd = threads.ia.createEvd(200, EventStream.SOFTWARE);
      final Evd other = threads.ia.createEvd(200, EventStream.SOFTWARE);
      final Failing handler = new Failing(100, Fatal::new, 10, 11, 50);
      final Failing bystander = new Failing(100, Fatal::new);
      other.upcall(bystander);
      for (int i = 0; i < 100; i++) {
        evd.postSoftwareEvent(i);
        other.postSoftwareEvent(i);
      }
      policy.enable(evd, handler);
      assertThat(handler.done.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(bystander.done.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(handler.seen).isEqualTo(numbers(100));
      assertThat(bystander.seen).isEqualTo(numbers(100));
      assertThat(threads.started).as("a thread for each that ended").hasSize(before + 3);
      evd.teardown();
      assertThat(evd.statistics().software()).isEqualTo(100);
    }
  }

  /** How there is no thread. */
  enum Refusal {
    /** As when a handler found that no thread can be made: the next one cannot either. */
    NO_MEMORY {
      @Override
      Thread thread() {
        throw new OutOfMemoryError("unable to create native thread");
      }
    },
    /** A factory may say that it makes none. */
    NULL {
      @Override
      Thread thread() {
        return null;
      }
    },
    EXCEPTION {
      @Override
      Thread thread() {
        throw new IllegalStateException("all threads are in use");
      }
    },
    CLASS_THAT_IS_NOT_THERE {
      @Override
      Thread thread() {
        throw new NoClassDefFoundError("of the factory's");
      }
    };

    abstract Thread thread();
  }

  @ParameterizedTest
  @EnumSource
  void required_U10_itGoesOnThoughNoOtherThreadCanTakeOver(final Refusal refusal)
      throws InterruptedException {
    try (Threads threads = new Threads(1)) {
      final int before = threads.started.size();
      final Evd evd = threads.ia.createEvd(200, EventStream.SOFTWARE);
      final Failing handler = new Failing(100, Fatal::new, 10, 50);
      threads.refusal = refusal;
      evd.upcall(handler);
      for (int i = 0; i < 100; i++) {
        evd.postSoftwareEvent(i);
      }
      assertThat(handler.done.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(handler.seen).isEqualTo(numbers(100));
      assertThat(threads.started).as("at the second error there is one").hasSize(before + 1);
      evd.teardown();
    }
  }

  @ParameterizedTest
  @EnumSource
  void required_U10_noOtherErrorEndsTheThread(final Policy policy) throws InterruptedException {
    try (Threads threads = new Threads(1)) {
      final int before = threads.started.size();
      final Evd evd = threads.ia.createEvd(200, EventStream.SOFTWARE);
      final Failing handler = new Failing(30, () -> new AssertionError("as the test says"), 3, 29);
      policy.enable(evd, handler);
      for (int i = 0; i < 30; i++) {
        evd.postSoftwareEvent(i);
      }
      assertThat(handler.done.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(handler.seen).isEqualTo(numbers(30));
      evd.teardown();
      assertThat(evd.statistics().failures()).isEqualTo(2);
      assertThat(threads.started).hasSize(before);
    }
  }

  // U10 by hand

  private static int turnAll(final ScriptedBed bed, final List<Throwable> thrown) {
    int turns = 0;
    boolean more = true;
    while (more) {
      assertThat(turns++).isLessThan(1000);
      final boolean[] worked = {true};
      final Throwable failure = catchThrowable(() -> worked[0] = bed.jdapl.round());
      if (failure != null) {
        thrown.add(failure);
      }
      more = worked[0];
    }
    return turns;
  }

  @ParameterizedTest
  @MethodSource("failures")
  void required_U10_byHandWhatAHandlerThrowsIsThrownOnAndNothingIsLost(
      final Supplier<? extends Throwable> failure) {
    for (final Policy policy : Policy.values()) {
      final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 20);
      final Failing handler = new Failing(20, failure, 0, 3, 7);
      for (int i = 0; i < 8; i++) {
        bed.evd.postSoftwareEvent(i);
      }
      policy.enable(bed.evd, handler);
      final List<Throwable> thrown = new ArrayList<>();
      turnAll(bed, thrown);
      assertThat(thrown).as("%s", policy).hasSize(3);
      assertThat(thrown.get(0)).isInstanceOf(failure.get().getClass());
      assertThat(handler.seen).as("%s", policy).isEqualTo(numbers(8));
      assertThat(Dispatcher.isCurrent()).isFalse();
      assertThat(bed.evd.statistics().failures()).isEqualTo(3);
      bed.evd.postSoftwareEvent("goes on");
      bed.settle();
      assertThat(handler.seen).last().isEqualTo("goes on");
      bed.evd.teardown();
      assertThat(bed.evd.dequeue(handler)).isEqualTo(Outcome.QUEUE_EMPTY);
    }
  }

  @ParameterizedTest
  @EnumSource
  void required_U10_aTeardownEndsThoughItsLastUpcallThrows(final Policy policy) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final List<CompletableFuture<Void>> teardown = new ArrayList<>();
    policy.enable(
        bed.evd,
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            teardown.add(bed.evd.teardownAsync().toCompletableFuture());
            throw new IllegalStateException("as the test says");
          }
        });
    bed.settle();
    bed.evd.postSoftwareEvent("once");
    assertThatThrownBy(bed.jdapl::round).isInstanceOf(IllegalStateException.class);
    assertThat(teardown).hasSize(1);
    bed.settle();
    assertThat(teardown.get(0)).isCompleted();
  }

  @Test
  void required_U10_aHandlerThatThrowsAtTheEndOfATurnLosesNothing() {
    final int[] ends = {0};
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 20) {
          @Override
          public void onTurnEnd(final Evd from) {
            ends[0]++;
            throw new IllegalStateException("as the test says");
          }
        };
    bed.evd.upcall(bed);
    final List<Throwable> thrown = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      bed.complete(5);
      turnAll(bed, thrown);
    }
    bed.assertDelivered(20);
    assertThat(thrown).hasSize(ends[0]);
    assertThat(ends[0]).isBetween(4, 8);
  }

  @Test
  void required_U10_theRestOfAPolledBatchIsDelivered() {
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 16) {
          @Override
          public void onCompletion(final org.jdapl.dat.DtoCompletion event) {
            super.onCompletion(event);
            if (cookies.size() % 5 == 0) {
              throw new Fatal();
            }
          }
        };
    bed.complete(16);
    bed.evd.upcall(bed);
    final List<Throwable> thrown = new ArrayList<>();
    turnAll(bed, thrown);
    assertThat(thrown).hasSize(3).allMatch(Fatal.class::isInstance);
    bed.assertDelivered(16);
  }

  // U11

  /** An EVD that never runs dry: each event it hands out posts the next one. */
  private static final class Endless implements EventHandler {

    private final Evd evd;
    private final List<Endless> order;

    Endless(final Evd evd, final List<Endless> order) {
      this.evd = evd;
      this.order = order;
      for (int i = 0; i < 100; i++) {
        assertThat(evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
      }
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      order.add(this);
      assertThat(evd.postSoftwareEvent(event.payload())).isEqualTo(Outcome.SUCCESS);
    }
  }

  /** How many events of others came between two of one. */
  private static int longestWait(final List<Endless> order, final Endless of) {
    int longest = 0;
    int last = 0;
    for (int i = 0; i < order.size(); i++) {
      if (order.get(i) == of) {
        longest = Math.max(longest, i - last);
        last = i + 1;
      }
    }
    return Math.max(longest, order.size() - last);
  }

  @ParameterizedTest
  @CsvSource({"2, 0", "5, 0", "0, 2", "1, 1", "1, 4", "4, 1", "3, 2"})
  void required_U11_eachReadyEvdWaitsForABudgetOfEachOtherAtMost(final int single, final int many) {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final List<Endless> order = new ArrayList<>();
    final List<Endless> all = new ArrayList<>();
    for (int i = 0; i < single + many; i++) {
      final Endless endless = new Endless(bed.ia.createEvd(200, EventStream.SOFTWARE), order);
      (i < single ? Policy.SINGLE : Policy.MANY).enable(endless.evd, endless);
      all.add(endless);
    }
    for (int round = 0; round < 100; round++) {
      assertThat(bed.jdapl.round()).isTrue();
    }
    for (final Endless endless : all) {
      assertThat(longestWait(order, endless))
          .as("%d SINGLE_INSTANCE and %d MANY, number %d", single, many, all.indexOf(endless))
          .isBetween(1, (all.size() - 1) * 64);
    }
  }

  @Test
  void required_U11_anEvdThatBecomesReadyGoesToTheTail() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    final List<Endless> order = new ArrayList<>();
    final Evd late = bed.ia.createEvd(8, EventStream.SOFTWARE);
    final List<Integer> came = new ArrayList<>();
    late.upcall(InterceptedBed.on(event -> came.add(order.size())));
    final int others = 3;
    for (int i = 0; i < others; i++) {
      final Endless endless = new Endless(bed.ia.createEvd(200, EventStream.SOFTWARE), order);
      endless.evd.upcall(endless);
    }
    bed.jdapl.round();
    final int before = order.size();
    assertThat(late.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    for (int round = 0; round < 10; round++) {
      assertThat(bed.jdapl.round()).isTrue();
    }
    assertThat(came).singleElement().isEqualTo(before + others * 64);
  }

  @Test
  void shouldRefuseToBeDrivenByAnUpcall() {
    final List<Throwable> thrown = new ArrayList<>();
    final ScriptedBed bed =
        new ScriptedBed(Behavior.WEAK, 1) {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            thrown.add(catchThrowable(jdapl::round));
          }
        };
    bed.enable();
    bed.evd.postSoftwareEvent("nested");
    bed.settle();
    assertThat(thrown).singleElement().isInstanceOf(IllegalStateException.class);
  }

  // Waiting

  /** Looks whether something goes on. A dispatcher that was not woken sleeps for a second. */
  private static final class Progress {

    private static final long LATE = TimeUnit.MILLISECONDS.toNanos(500);

    /** The most that a look adds: nobody is late while this thread does not run either. */
    private static final long LOOK = TimeUnit.MILLISECONDS.toNanos(10);

    private long seen = -1;
    private long last;
    private long late;

    void look(final long count) {
      final long now = System.nanoTime();
      late = count == seen ? late + Math.min(now - last, LOOK) : 0;
      seen = count;
      last = now;
      if (late > LATE) {
        throw new AssertionError("a lost wake-up after " + count);
      }
    }
  }

  /** Hands a token to and fro between two dispatchers; each is idle while the other has it. */
  private static final class PingPong {

    private final int hops;
    private final CountDownLatch done = new CountDownLatch(1);
    private final AtomicLong count = new AtomicLong();
    private final Evd ping;
    private final Evd pong;

    PingPong(final InterfaceAdapter ia, final Policy policy, final int hops) {
      this.hops = hops;
      ping = ia.createEvd(4, EventStream.SOFTWARE);
      pong = ia.createEvd(4, EventStream.SOFTWARE);
      policy.enable(ping, answerTo(pong));
      policy.enable(pong, answerTo(ping));
    }

    private EventHandler answerTo(final Evd other) {
      return new EventHandler() {
        @Override
        public void onSoftware(final SoftwareEvent event) {
          hop(other);
        }
      };
    }

    /** Lets some time pass, so that the other is met spinning, falling asleep, and asleep. */
    private static void dawdle(final long number) {
      final long start = System.nanoTime();
      final long nanos = number % 2 == 0 ? 0 : number * 7919 % (1 << 14);
      while (System.nanoTime() - start < nanos) {
        Thread.onSpinWait();
      }
    }

    private void hop(final Evd other) {
      final long number = count.incrementAndGet();
      if (number == hops) {
        done.countDown();
        return;
      }
      dawdle(number);
      other.postSoftwareEvent(other);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldLoseNoWakeUpWhenIdleEachTime(final Policy policy) throws InterruptedException {
    try (Threads threads = new Threads(2)) {
      final int hops = policy == Policy.SINGLE ? 200_000 : 50_000;
      final PingPong pingPong = new PingPong(threads.ia, policy, hops);
      pingPong.ping.postSoftwareEvent("first");
      final Progress progress = new Progress();
      while (!pingPong.done.await(1, TimeUnit.MILLISECONDS)) {
        progress.look(pingPong.count.get());
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldLoseNoWakeUpOfAPosterThatWaits(final Policy policy) {
    try (Threads threads = new Threads(2)) {
      final AtomicLong answered = new AtomicLong();
      final Progress progress = new Progress();
      final Evd evd = threads.ia.createEvd(4, EventStream.SOFTWARE);
      policy.enable(
          evd,
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              answered.incrementAndGet();
            }
          });
      for (int posts = 1; posts <= 50_000; posts++) {
        PingPong.dawdle(posts);
        assertThat(evd.postSoftwareEvent(posts)).isEqualTo(Outcome.SUCCESS);
        while (answered.get() < posts) {
          progress.look(answered.get());
          Thread.yield();
        }
      }
    }
  }

  @Test
  void shouldEndItsThreadsWhenStopped() {
    for (int i = 0; i < 20; i++) {
      new Threads(3).close();
    }
  }

  @Test
  void shouldEndItsThreadsWhenStoppedInTheMiddleOfWork() throws InterruptedException {
    for (int i = 0; i < 20; i++) {
      try (Threads threads = new Threads(1)) {
        final Evd evd = threads.ia.createEvd(4, EventStream.SOFTWARE);
        final CountDownLatch begun = new CountDownLatch(50);
        evd.upcall(
            new EventHandler() {
              @Override
              public void onSoftware(final SoftwareEvent event) {
                begun.countDown();
                try {
                  evd.postSoftwareEvent(event.payload());
                } catch (final org.jdapl.dat.DatException e) {
                  begun.countDown(); // closed
                }
              }
            });
        evd.postSoftwareEvent("for ever");
        assertThat(begun.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      }
    }
  }

  // Placing

  private static void await(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("time is over").isNegative();
      Thread.yield();
    }
  }

  @Test
  void shouldMoveAnEvdWhileEventsStreamIn() throws Exception {
    final int events = 20_000;
    try (Threads threads = new Threads(3)) {
      final Evd evd = threads.ia.createEvd(256, EventStream.SOFTWARE);
      final List<Integer> seen = new ArrayList<>();
      final Set<Thread> by = ConcurrentHashMap.newKeySet();
      final AtomicInteger running = new AtomicInteger();
      final AtomicInteger most = new AtomicInteger();
      evd.upcall(
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              by.add(Thread.currentThread());
              seen.add(
                  (Integer) event.payload()); // a plain list: one upcall happens before the next
              running.decrementAndGet();
            }
          });
      int posted = 0;
      for (; posted < events || by.size() < 3; posted++) { // until all have served it
        while (evd.postSoftwareEvent(posted) == Outcome.QUEUE_FULL) {
          Thread.yield();
        }
        if (posted % 50 == 0) {
          threads.jdapl.place(evd, posted / 50 % 3);
        }
      }
      final int all = posted;
      await(() -> evd.statistics().software() == all);
      evd.teardown();

      assertThat(seen).containsExactlyElementsOf(IntStream.range(0, all).boxed().toList());
      assertThat(most).hasValue(1);
    }
  }

  @Test
  void shouldServeAnEvdWhereItWasPlaced() {
    try (Threads threads = new Threads(2)) {
      final Evd evd = threads.ia.createEvd(16, EventStream.SOFTWARE);
      final Set<Thread> by = ConcurrentHashMap.newKeySet();
      final AtomicInteger seen = new AtomicInteger();
      final EventHandler handler =
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              by.add(Thread.currentThread());
              seen.incrementAndGet();
            }
          };
      final Set<Thread> all = new HashSet<>();
      for (int dispatcher = 0; dispatcher < 2; dispatcher++) {
        threads.jdapl.place(evd, dispatcher);
        evd.upcall(handler);
        final int moved = seen.get() + 1;
        evd.postSoftwareEvent("it may still be served where it was");
        await(() -> seen.get() >= moved);
        evd.teardown(); // the turn that moved it is over
        by.clear();
        evd.upcall(handler);
        for (int i = 0; i < 10; i++) {
          final int due = seen.get() + 1;
          evd.postSoftwareEvent(i);
          await(() -> seen.get() == due);
        }
        assertThat(by).hasSize(1);
        all.addAll(by);
        evd.teardown();
      }
      assertThat(all).as("each dispatcher served it").hasSize(2);
      assertThatThrownBy(() -> threads.jdapl.place(evd, 2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("0 to 1");
      evd.close();
      assertThatThrownBy(() -> threads.jdapl.place(evd, 0)).isInstanceOf(DatException.class);
    }
  }

  // Timers

  @Test
  void shouldRunTimersInTheOrderOfTheirTimes() {
    final HandClock clock = new HandClock();
    final Reaper reaper = new Reaper("reaper", clock);
    final List<String> ran = new ArrayList<>();
    reaper.schedule(3_000, () -> ran.add("3"));
    reaper.schedule(1_000, () -> ran.add("1 a"));
    reaper.schedule(2_000, () -> ran.add("2"));
    reaper.schedule(1_000, () -> ran.add("1 b"));
    reaper.execute(() -> ran.add("now"));
    assertThat(reaper.round()).isTrue();
    assertThat(ran).containsExactly("now");
    assertThat(reaper.nextTimerNanos()).isEqualTo(1_000);
    assertThat(reaper.round()).isFalse();
    clock.advance(Duration.ofNanos(999));
    assertThat(reaper.round()).isFalse();
    clock.advance(Duration.ofNanos(1));
    assertThat(reaper.round()).isTrue();
    assertThat(ran).containsExactly("now", "1 a", "1 b");
    clock.advance(Duration.ofNanos(5_000));
    assertThat(reaper.round()).isTrue();
    assertThat(ran).containsExactly("now", "1 a", "1 b", "2", "3");
    assertThat(reaper.nextTimerNanos()).isEqualTo(Long.MAX_VALUE);
    assertThat(reaper.round()).isFalse();
  }

  @Test
  void shouldTakeTimersThatTimersMake() {
    final HandClock clock = new HandClock();
    final Reaper reaper = new Reaper("reaper", clock);
    final List<Long> ran = new ArrayList<>();
    final long start = clock.nanoTime();
    final Runnable[] again = {null};
    again[0] =
        () -> {
          ran.add(clock.nanoTime() - start);
          if (ran.size() < 3) {
            reaper.schedule(10, again[0]);
          }
        };
    reaper.schedule(10, again[0]);
    for (int i = 0; i < 50; i++) {
      clock.advance(Duration.ofNanos(1));
      while (reaper.round()) {
        assertThat(ran.size()).isLessThan(4);
      }
    }
    assertThat(ran).containsExactly(10L, 20L, 30L);
  }

  @Test
  void shouldForgetATimerWhenWhatItGuardsIsComplete() {
    final HandClock clock = new HandClock();
    final Reaper reaper = new Reaper("reaper", clock);
    final List<String> ran = new ArrayList<>();
    final CompletableFuture<Void> done = new CompletableFuture<>();
    final CompletableFuture<Void> open = new CompletableFuture<>();
    byte[] large = new byte[1 << 20];
    final WeakReference<byte[]> held = new WeakReference<>(large);
    reaper.schedule(Duration.ofDays(1), done, holding(large, ran));
    reaper.schedule(Duration.ofDays(1), open, () -> ran.add("open"));
    large = null;
    reaper.round();

    done.complete(null);
    while (held.get() != null) {
      System.gc();
    }
    clock.advance(Duration.ofDays(2));
    assertThat(reaper.round()).isTrue();
    assertThat(ran).containsExactly("open");
  }

  private static Runnable holding(final byte[] bytes, final List<String> ran) {
    return () -> ran.add("done " + bytes.length);
  }

  @Test
  void shouldGoOnWhenATaskFails() {
    final HandClock clock = new HandClock();
    final Reaper reaper = new Reaper("reaper", clock);
    final List<String> ran = new ArrayList<>();
    reaper.execute(
        () -> {
          throw new IllegalStateException("as the test says");
        });
    reaper.execute(() -> ran.add("next"));
    assertThat(reaper.round()).isTrue();
    assertThat(ran).containsExactly("next");
    assertThat(Reaper.isCurrent()).isFalse();
  }

  @Test
  void required_U10_anErrorInATaskOfTheFrameworkDoesNotEndTheReaper() throws InterruptedException {
    try (Threads threads = new Threads(1)) {
      final Reaper reaper = threads.jdapl.reaper();
      final CountDownLatch next = new CountDownLatch(1);
      reaper.execute(
          () -> {
            throw new UnsatisfiedLinkError("as the test says");
          });
      reaper.execute(next::countDown);
      assertThat(next.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }
}
