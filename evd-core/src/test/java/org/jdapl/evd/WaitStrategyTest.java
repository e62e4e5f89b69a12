package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.lmax.disruptor.Sequence;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.EventChannel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each wait strategy over each kind of delivery. */
@Timeout(60)
class WaitStrategyTest {

  private static final Duration BOUND = Duration.ofSeconds(Long.getLong("jdapl.bound", 20));
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final long BUSY_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  static Stream<Arguments> all() {
    return Stream.of(WaitStrategy.values())
        .flatMap(
            strategy ->
                Stream.of(Delivery.values()).map(delivery -> Arguments.of(strategy, delivery)));
  }

  /** A runtime with one dispatcher, whose thread is known by its first upcall. */
  private static final class Waiter implements AutoCloseable {

    private final SimFabric fabric = SimFabric.realTime();
    private final Jdapl jdapl;
    private final InterfaceAdapter ia;
    private final Evd evd;
    private final Semaphore upcalls = new Semaphore(0);
    private final AtomicReference<Thread> dispatcher = new AtomicReference<>();

    Waiter(final WaitStrategy strategy, final Delivery delivery) {
      jdapl =
          Jdapl.with(fabric.provider(SimModel.DEFAULT.withDelivery(delivery)))
              .waitStrategy(strategy)
              .start();
      ia = jdapl.open();
      evd = ia.createEvd(8, EventStream.SOFTWARE);
      evd.upcall(
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              dispatcher.set(Thread.currentThread());
              upcalls.release();
            }
          });
    }

    void postAndAwaitUpcall() throws InterruptedException {
      evd.postSoftwareEvent("work");
      assertThat(upcalls.tryAcquire(BOUND.toSeconds(), TimeUnit.SECONDS)).as("upcall").isTrue();
    }

    private boolean sleeps() {
      return dispatcher.get().getState() == Thread.State.TIMED_WAITING;
    }

    @Override
    public void close() {
      ia.closeAbruptly(BOUND);
      jdapl.close();
      fabric.close();
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void shouldMakeAnUpcallForEachEventOfAnIdleEvd(
      final WaitStrategy strategy, final Delivery delivery) throws InterruptedException {
    try (Waiter waiter = new Waiter(strategy, delivery)) {
      for (int i = 0; i < 1_000; i++) {
        waiter.postAndAwaitUpcall();
      }
    }
  }

  @Test
  void shouldSleepWhileOldEventsAreHeldBack() throws InterruptedException {
    try (Waiter waiter = new Waiter(WaitStrategy.SPIN_THEN_BLOCK, Delivery.PUSH)) {
      final EventHandler forNewOnes =
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              waiter.dispatcher.set(Thread.currentThread());
              waiter.evd.upcall(this, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
              waiter.upcalls.release();
            }
          };
      waiter.evd.teardown();
      waiter.evd.postSoftwareEvent("first");
      waiter.evd.postSoftwareEvent("held back");
      waiter.evd.upcall(forNewOnes);
      assertThat(waiter.upcalls.tryAcquire(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();

      final long end = System.nanoTime() + BOUND.toNanos();
      while (!waiter.sleeps()) {
        assertThat(System.nanoTime()).as("asleep in time, and does not spin").isLessThan(end);
        Thread.onSpinWait();
      }
      assertThat(waiter.upcalls.availablePermits()).as("it is held back").isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void shouldTakeWhatTheProviderDelivers(final WaitStrategy strategy, final Delivery delivery)
      throws InterruptedException {
    try (Waiter waiter = new Waiter(strategy, delivery)) {
      final CountDownLatch refused = new CountDownLatch(1);
      final Evd evd = waiter.ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
      evd.upcall(
          new EventHandler() {
            @Override
            public void onConnection(final ConnectionEvent event) {
              refused.countDown();
            }
          });
      waiter
          .ia
          .createEndpoint(waiter.ia.createPz(), evd, EndpointAttributes.defaults())
          .connect(waiter.ia.address(), 1, BOUND, null); // nobody listens
      assertThat(refused.await(BOUND.toSeconds(), TimeUnit.SECONDS)).as("refused").isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldNeverSleepWhenSpinning(final Delivery delivery) throws InterruptedException {
    try (Waiter waiter = new Waiter(WaitStrategy.BUSY_SPIN, delivery)) {
      waiter.postAndAwaitUpcall();
      final long id = waiter.dispatcher.get().getId();
      final long enough = THREADS.getThreadCpuTime(id) + BUSY_NANOS;
      while (THREADS.getThreadCpuTime(id) < enough) {
        assertThat(waiter.sleeps()).as("asleep").isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldSleepWhenBlocking(final Delivery delivery) throws InterruptedException {
    try (Waiter waiter = new Waiter(WaitStrategy.SPIN_THEN_BLOCK, delivery)) {
      waiter.postAndAwaitUpcall();
      while (!waiter.sleeps()) { // bounded by the time-out of the test
        Thread.onSpinWait();
      }
      waiter.postAndAwaitUpcall();
    }
  }

  /** An interrupt that a handler left would end each sleep at once: a spin for ever. */
  @ParameterizedTest
  @EnumSource
  void shouldSleepAgainAfterAnInterrupt(final Delivery delivery) throws InterruptedException {
    try (Waiter waiter = new Waiter(WaitStrategy.SPIN_THEN_BLOCK, delivery)) {
      waiter.postAndAwaitUpcall();
      final Thread dispatcher = waiter.dispatcher.get();
      dispatcher.interrupt();
      final long deadline = System.nanoTime() + BOUND.toNanos();
      while (dispatcher.isInterrupted() || !waiter.sleeps()) {
        assertThat(System.nanoTime() - deadline).as("it spins").isNegative();
        Thread.onSpinWait();
      }
      waiter.postAndAwaitUpcall();
      assertThat(waiter.dispatcher.get()).as("the same thread").isSameAs(dispatcher);
    }
  }

  @ParameterizedTest
  @EnumSource
  void shouldEndTheThreadOfEachStrategy(final WaitStrategy strategy) throws InterruptedException {
    final Waiter waiter = new Waiter(strategy, Delivery.PUSH);
    waiter.postAndAwaitUpcall();
    waiter.close();
    waiter.dispatcher.get().join(BOUND.toMillis());
    assertThat(waiter.dispatcher.get().isAlive()).isFalse();
  }

  @Test
  void shouldNotReadAChannelThatIsToBeClosed() {
    final int[] reads = {0};
    final EventChannel channel =
        new EventChannel() {
          @Override
          public int await(final long timeoutNanos) {
            reads[0]++;
            return 0;
          }

          @Override
          public void wakeup() {}

          @Override
          public void close() {}
        };
    final IdleWait idle = new IdleWait(WaitStrategy.SPIN_THEN_BLOCK, channel, new ArrayDeque<>());
    assertThat(idle.lookInstead()).as("the dispatcher may have looked").isFalse();
    assertThat(idle.lookInstead()).as("it has not").isTrue();
    idle.endReading();
    idle.endReading();
    assertThat(idle.lookInstead()).isFalse();
    assertThat(idle.look()).isZero();
    assertThat(reads[0]).isEqualTo(2);
  }

  @Test
  void shouldEndReadingWhenTheReadOfAnotherThreadHasReturned() throws InterruptedException {
    final List<String> order = new CopyOnWriteArrayList<>();
    final CountDownLatch began = new CountDownLatch(1);
    final AtomicReference<IdleWait> idle = new AtomicReference<>();
    final Thread closer =
        new Thread(
            () -> {
              began.countDown();
              idle.get().endReading();
              order.add("closed");
            },
            "closer");
    final EventChannel channel =
        new EventChannel() {
          @Override
          public int await(final long timeoutNanos) {
            closer.start();
            try {
              assertThat(began.await(BOUND.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
            } catch (final InterruptedException e) {
              throw new AssertionError(e);
            }
            for (int i = 0; i < 1000 && order.isEmpty(); i++) { // every chance to be too early
              Thread.yield();
            }
            order.add("read");
            return 0;
          }

          @Override
          public void wakeup() {}

          @Override
          public void close() {}
        };
    idle.set(new IdleWait(WaitStrategy.SPIN_THEN_BLOCK, channel, new ArrayDeque<>()));
    idle.get().lookInstead();
    closer.join(BOUND.toMillis());
    assertThat(order).containsExactly("read", "closed");
  }

  @ParameterizedTest
  @EnumSource
  void required_U10_whatAChannelThrowsIsBorne(final Unexpected failure) {
    final List<String> called = new ArrayList<>();
    final EventChannel channel =
        new EventChannel() {
          @Override
          public int await(final long timeoutNanos) {
            called.add("await");
            failure.accept("await");
            return 0;
          }

          @Override
          public void wakeup() {
            called.add("wakeup");
          }

          @Override
          public void close() {}
        };
    final IdleWait idle = new IdleWait(WaitStrategy.SPIN_THEN_BLOCK, channel, new ArrayDeque<>());

    assertThat(idle.waitFor(0, new Sequence(), null, null)).as("nothing came").isNegative();
    assertThat(idle.look()).as("handlers called").isZero();
    assertThat(called).containsExactly("await", "await");
  }

  /** That thread may be over: another one is woken. */
  @Test
  void required_P04_nobodySleepsWhoseSleepAnErrorOfTheMachineEnded() {
    final List<String> called = new ArrayList<>();
    final EventChannel channel =
        new EventChannel() {
          @Override
          public int await(final long timeoutNanos) {
            called.add("await");
            throw new OutOfMemoryError("the test says so");
          }

          @Override
          public void wakeup() {
            called.add("wakeup");
          }

          @Override
          public void close() {}
        };
    final IdleWait idle = new IdleWait(WaitStrategy.SPIN_THEN_BLOCK, channel, new ArrayDeque<>());
    assertThatThrownBy(() -> idle.waitFor(0, new Sequence(), null, null))
        .hasMessage("the test says so");

    assertThat(idle.wake()).as("whether there is a sleep that ends").isFalse();
    assertThat(called).containsExactly("await");
  }

  @Test
  void required_U10_aDispatcherWhoseChannelCannotBeClosedEndsAllTheSame()
      throws InterruptedException {
    final InterceptedProvider provider = new InterceptedProvider(Delivery.CHANNEL);
    final AtomicInteger failures = new AtomicInteger();
    provider.hook =
        verb -> {
          if (verb.equals("close_channel") && failures.incrementAndGet() < 4) {
            throw new LinkageError("the test says so");
          }
        };
    final List<Thread> threads = new CopyOnWriteArrayList<>();
    final Jdapl jdapl =
        Jdapl.with(provider)
            .threads(
                loop -> {
                  final Thread thread = new Thread(loop, loop.toString());
                  threads.add(thread);
                  return thread;
                })
            .start();
    jdapl.close();

    for (int i = 0; i < threads.size(); i++) { // who ends may have started another one
      threads.get(i).join(BOUND.toMillis());
      assertThat(threads.get(i).isAlive()).as(threads.get(i).getName()).isFalse();
    }
    assertThat(failures).hasValue(1);
  }

  /** Its dispatcher could not be woken, for want of memory. */
  @Test
  void required_T09_anErrorInADisconnectDoesNotKeepItsEndpointOpen() throws Exception {
    final InterceptedProvider provider = new InterceptedProvider(Delivery.CHANNEL);
    final AtomicReference<Thread> failing = new AtomicReference<>();
    final AtomicBoolean destroyed = new AtomicBoolean();
    provider.hook =
        verb -> {
          if (verb.equals("destroy_qp")) {
            destroyed.set(true);
          }
          if (verb.equals("wakeup") && Thread.currentThread() == failing.get()) {
            throw new OutOfMemoryError("the test says so");
          }
        };
    final Jdapl jdapl = Jdapl.with(provider).start();
    final InterfaceAdapter ia = jdapl.open();
    final Evd evd = ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
    final Semaphore events = new Semaphore(0);
    evd.upcall(InterceptedBed.on(event -> events.release()));
    final ProtectionZone pz = ia.createPz();
    boolean failed = false;
    while (!failed) { // until its dispatcher slept; bounded by the time-out of the test
      destroyed.set(false);
      final Endpoint endpoint = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      endpoint.connect(ia.address(), 1, BOUND, null);
      provider.tell(CmEventType.ESTABLISHED, 0);
      assertThat(events.tryAcquire(BOUND.toSeconds(), TimeUnit.SECONDS)).as("upcall").isTrue();
      failing.set(Thread.currentThread());
      try {
        endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
      } catch (final OutOfMemoryError e) {
        failed = true;
      }
      failing.set(null);
      assertThat(events.tryAcquire(BOUND.toSeconds(), TimeUnit.SECONDS)).as("upcall").isTrue();
      endpoint.closeAsync(Duration.ofSeconds(2)).toCompletableFuture().get();
      assertThat(destroyed).as("its queue pair is destroyed").isTrue();
    }
    ia.closeAbruptly(BOUND);
    jdapl.close();
  }

  /** Events of others are in there, as long as a handler keeps the dispatcher that reads it. */
  @Test
  void required_P05_anErrorOfAChannelDoesNotEndThatItIsReadWhileAHandlerKeepsItsReader()
      throws InterruptedException {
    final InterceptedProvider provider = new InterceptedProvider(Delivery.CHANNEL);
    final AtomicBoolean failed = new AtomicBoolean();
    final CountDownLatch readAgain = new CountDownLatch(1);
    final CountDownLatch letGo = new CountDownLatch(1);
    provider.hook =
        verb -> {
          if (verb.equals("await") && Reaper.isCurrent()) {
            if (!failed.getAndSet(true)) {
              throw new OutOfMemoryError("the test says so");
            }
            readAgain.countDown();
          }
        };
    final Jdapl jdapl = Jdapl.with(provider).start();
    final InterfaceAdapter ia = jdapl.open();
    final Evd evd = ia.createEvd(8, EventStream.SOFTWARE);
    evd.upcall(
        InterceptedBed.on(
            event -> {
              try {
                letGo.await();
              } catch (final InterruptedException e) {
                throw new AssertionError(e);
              }
            }));
    evd.postSoftwareEvent("stay");

    final boolean wasRead = readAgain.await(BOUND.toSeconds(), TimeUnit.SECONDS);
    letGo.countDown();
    ia.closeAbruptly(BOUND);
    jdapl.close();

    assertThat(failed).as("once").isTrue();
    assertThat(wasRead).as("and again").isTrue();
  }

  /** Its events are there: who sleeps finds them when the time of its sleep is over. */
  @ParameterizedTest
  @EnumSource
  void required_P04_aChannelThatFailsToWakeItsReaderFailsNoPoster(final Unexpected failure)
      throws InterruptedException {
    final CountDownLatch asleep = new CountDownLatch(1);
    final CountDownLatch over = new CountDownLatch(1);
    final EventChannel channel =
        new EventChannel() {
          @Override
          public int await(final long timeoutNanos) {
            asleep.countDown();
            try {
              over.await();
            } catch (final InterruptedException e) {
              throw new AssertionError(e);
            }
            return 0;
          }

          @Override
          public void wakeup() {
            failure.accept("wakeup");
          }

          @Override
          public void close() {}
        };
    final IdleWait idle = new IdleWait(WaitStrategy.SPIN_THEN_BLOCK, channel, new ArrayDeque<>());
    final Thread reader = new Thread(() -> idle.waitFor(0, new Sequence(), null, null), "reader");
    reader.setDaemon(true);
    reader.start();
    asleep.await();

    final boolean woken = idle.wake();
    over.countDown();
    reader.join();

    assertThat(woken).as("so another one is woken where any will do").isFalse();
  }
}
