package org.jdapl.evd;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ReaperTest {

  private static final long LONG_SECONDS = 60;

  private final AtomicInteger threads = new AtomicInteger();
  private final Reaper reaper = new Reaper("reaper", System::nanoTime);
  private final CountDownLatch end = new CountDownLatch(1);

  ReaperTest() {
    reaper.start(
        body -> {
          threads.incrementAndGet();
          final Thread thread = new Thread(body, "reaper");
          thread.setDaemon(true);
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
}
