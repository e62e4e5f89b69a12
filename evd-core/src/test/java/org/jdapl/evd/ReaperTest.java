package org.jdapl.evd;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReaperTest {

  private static final long LONG_SECONDS = Long.getLong("jdapl.bound", 60);

  /** How long a thread sleeps that nobody wakes. */
  private static final long SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final int TRIES = 10;
  private static final String CALLER = "reaper-calls";

  private final AtomicInteger threads = new AtomicInteger();
  private final List<Thread> callers = new CopyOnWriteArrayList<>();

  /** What happens while a thread is made. */
  private volatile Runnable whenMade = () -> {};

  /** What happens while a thread is started. */
  private volatile Runnable whenStarted = () -> {};

  private final Reaper reaper = new Reaper("reaper", System::nanoTime);
  private final CountDownLatch end = new CountDownLatch(1);

  ReaperTest() {
    reaper.start(
        body -> {
          threads.incrementAndGet();
          final Thread thread =
              new Thread(body, "reaper") {
                @Override
                public synchronized void start() {
                  whenStarted.run();
                  super.start();
                }
              };
          thread.setDaemon(true);
          if (body.toString().equals(CALLER)) {
            callers.add(thread);
          }
          whenMade.run();
          return thread;
        });
  }

  @AfterEach
  void stop() {
    end.countDown();
    reaper.stop();
  }

  /** Begins a call, which returns when it may. */
  private void call(final CountDownLatch mayReturn) {
    final CountDownLatch began = new CountDownLatch(1);
    reaper.execute(
        () -> {
          began.countDown();
          awaitIn(mayReturn);
        });
    awaitIn(began);
  }

  private static void awaitIn(final CountDownLatch latch) {
    try {
      assertThat(latch.await(LONG_SECONDS, SECONDS)).isTrue();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void required_T10_aCallThatTwoLooksFindHoldsUpNoOther() {
    call(end);
    final CountDownLatch other = new CountDownLatch(1);
    reaper.execute(other::countDown);

    reaper.watch();
    assertThat(threads).as("one look tells nothing: all may have paused").hasValue(2);
    reaper.watch();
    assertThat(threads).as("a thread for the others").hasValue(3);

    awaitIn(other);
  }

  @ParameterizedTest
  @EnumSource
  void required_P04_whatATaskThrowsEndsNoThread(final Unexpected failure) {
    for (int i = 0; i < 3; i++) {
      reaper.execute(() -> failure.accept("a task"));
      reaper.schedule(Duration.ZERO, () -> failure.accept("a timer"));
    }
    final CountDownLatch task = new CountDownLatch(1);
    final CountDownLatch timer = new CountDownLatch(1);
    reaper.execute(task::countDown);
    reaper.schedule(Duration.ofMillis(1), timer::countDown);

    awaitIn(task);
    awaitIn(timer);
    assertThat(threads).hasValue(2);
  }

  /** A time-out of years, of a connection that stands, is in front of them. */
  @Test
  void required_C06_aTimeOutThatIsNotNeededAnyMoreIsForgotten() {
    final HandClock clock = new HandClock();
    final Reaper byHand = new Reaper("by hand", clock);
    final List<Integer> due = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      final int number = i;
      final CompletableFuture<Void> done = new CompletableFuture<>();
      byHand.schedule(Duration.ofDays(1_000 + i), done, () -> due.add(number));
      byHand.round();
      if (i % 1_000 != 0) {
        done.complete(null);
      }
      assertThat(byHand.timers()).isLessThan(100);
    }

    clock.advance(Duration.ofDays(9_000));
    byHand.round();

    assertThat(due).containsExactly(0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000);
  }

  @Test
  void required_T10_aFactoryWithoutAThreadIsAskedAgainAtTheNextLook() {
    call(end);
    final CountDownLatch other = new CountDownLatch(1);
    reaper.execute(other::countDown);
    whenMade =
        () -> {
          throw new IllegalStateException("all threads are in use");
        };
    reaper.watch();
    reaper.watch();
    assertThat(other.getCount()).as("nobody does it").isOne();
    whenMade = () -> {};

    reaper.watch();

    awaitIn(other);
  }

  /** The call returns just then. */
  @Test
  void required_T10_aThreadThatCannotStartReplacesNoneThatGoesOn() {
    final CountDownLatch mayReturn = new CountDownLatch(1);
    call(mayReturn);
    final CountDownLatch next = new CountDownLatch(1);
    reaper.execute(next::countDown);
    whenStarted =
        () -> {
          mayReturn.countDown();
          awaitIn(next);
          throw new OutOfMemoryError("unable to create native thread");
        };
    reaper.watch();
    reaper.watch();

    final CountDownLatch other = new CountDownLatch(1);
    reaper.execute(other::countDown);
    awaitIn(other);
    assertThat(callers.get(0).isAlive()).isTrue();
  }

  @Test
  void required_T10_aCallAtEachLookIsNotStuckWhenItIsAnotherOne() {
    for (int i = 0; i < 4; i++) {
      final CountDownLatch mayReturn = new CountDownLatch(1);
      call(mayReturn);
      reaper.watch();
      mayReturn.countDown();
    }
    call(end);
    reaper.watch();

    assertThat(threads).as("no more").hasValue(2);
  }

  /** One that is woken by nobody is not quick even once. */
  @Test
  void required_T10_aCallThatReturnsLateLeavesTheOneThatReplacedItToBeWoken()
      throws InterruptedException {
    long quickest = Long.MAX_VALUE;
    for (int i = 0; i < TRIES && quickest >= SLEEP_NANOS; i++) {
      quickest = Math.min(quickest, nanosOfATaskBehindACallThatReturnsLate());
    }
    assertThat(quickest).isLessThan(SLEEP_NANOS);
  }

  /** It returns while its successor is made: the two announce that they sleep, and it wakes. */
  private long nanosOfATaskBehindACallThatReturnsLate() throws InterruptedException {
    final CountDownLatch mayReturn = new CountDownLatch(1);
    call(mayReturn);
    final Thread replaced = callers.get(callers.size() - 1);
    reaper.watch();
    whenMade =
        () -> {
          mayReturn.countDown();
          awaitSleep(replaced);
        };
    final long began = System.nanoTime();
    reaper.watch();
    whenMade = () -> {};
    final Thread next = callers.get(callers.size() - 1);
    assertThat(next).as("which replaced it").isNotSameAs(replaced);
    awaitSleep(next);
    LockSupport.unpark(replaced);
    replaced.join();
    final CountDownLatch done = new CountDownLatch(1);
    reaper.execute(done::countDown);
    awaitIn(done);
    return System.nanoTime() - began;
  }

  /** Until it announced that it sleeps, and does. */
  private static void awaitSleep(final Thread caller) {
    while (caller.isAlive() && !CALLER.equals(String.valueOf(LockSupport.getBlocker(caller)))) {
      Thread.onSpinWait();
    }
  }
}
