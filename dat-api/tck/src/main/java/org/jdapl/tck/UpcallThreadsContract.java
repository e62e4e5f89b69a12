package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;
import org.junit.jupiter.api.Test;

/**
 * The rules of section U that need framework threads and several threads of the test: for benches
 * of which {@link Bench#isVirtual} is false.
 */
public abstract class UpcallThreadsContract extends Contract {

  private static final int BATCH = 16;

  /** A contract; its state lives for one test. */
  protected UpcallThreadsContract() {}

  @Test
  void required_U01_oneUpcallAtATimeFromManyThreads() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);
    final Runnable poster = () -> postMany(evd, 1000);

    inParallel(poster, poster, poster, poster);
    awaitCount(seen, 4000, "all posts");

    assertThat(seen.most()).as(why("SINGLE_INSTANCE")).isEqualTo(1);
  }

  @Test
  void required_U01_consecutiveUpcallsHappenOneAfterTheOther() {
    final Evd evd = softwareEvd(4096);
    final int[] plain = {0};
    final EventHandler counter =
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            plain[0]++;
          }
        };
    evd.upcall(counter);
    final Runnable poster = () -> postMany(evd, 1000);

    inParallel(poster, poster, poster, poster);
    await(() -> evd.statistics().software() == 4000, "all posts");
    evd.teardown();

    assertThat(plain[0])
        .as(why("a plain field is safe: each upcall happens-before the next, and the teardown"))
        .isEqualTo(4000);
  }

  @Test
  void required_U01_oneNotifyUpcallAtATime() {
    final Evd evd = softwareEvd(4096);
    final AtomicInteger running = new AtomicInteger();
    final AtomicInteger most = new AtomicInteger();
    final AtomicInteger dequeued = new AtomicInteger();
    final NotifyHandler handler =
        new NotifyHandler() {
          @Override
          public void onReady(final Evd ready) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            ready.notifyOnce(this, Invoke.ON_ANY);
            dequeued.addAndGet(ready.drain(ignore(), 4096));
            running.decrementAndGet();
          }
        };
    evd.notifyOnce(handler, Invoke.ON_ANY);
    final Runnable poster = () -> postMany(evd, 1000);

    inParallel(poster, poster, poster, poster);
    await(() -> dequeued.get() == 4000, "all posts; re-enabled inside, armed before the drain");

    assertThat(most.get()).as(why("NOTIFY: at most one upcall at once")).isEqualTo(1);
  }

  @Test
  void required_U12_theGuardThatAnEvdNamesHoldsWhoeverSignals() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd);
    final Runnable poster = () -> postMany(evd, 1300);
    evd.upcall(seen);

    inParallel(
        poster,
        poster,
        poster,
        () -> {
          for (int i = 0; i < 500; i++) {
            evd.disable();
            evd.upcall(seen);
          }
        });
    awaitCount(seen, 3900, "all posts, from three threads, while another changes the policy");

    assertThat(seen.most()).as(why("one upcall at a time")).isEqualTo(1);
    assertThat(evd.guard()).as(why("three threads post to it")).isEqualTo(Evd.Guard.ATOMIC);
  }

  @Test
  void required_U03_aBurstFromSeveralThreadsNeedsNoFurtherSignal() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);

    for (int round = 1; round <= 10; round++) {
      final Runnable poster = () -> postMany(evd, 100);
      inParallel(poster, poster, poster, poster);
      awaitCount(seen, 400 * round, "the burst of round " + round);
    }

    assertThat(seen.count()).as(why("no more than posted")).isEqualTo(4000);
  }

  @Test
  void required_U05_manyRunsNoMoreThanItsLimitAtOnce() {
    for (int limit = 1; limit <= 3; limit++) {
      runsNoMoreThan(limit);
    }
  }

  @Test
  void required_U05_teardownReturnsWhenTheRunningUpcallReturned() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    final AtomicBoolean returned = new AtomicBoolean();
    seen.at(
        1,
        () -> {
          hold(release);
          returned.set(true);
        });
    evd.upcall(seen);
    post(evd, 1, 2, 3);
    awaitCount(seen, 1, "the first upcall; it is held");

    final CompletableFuture<Void> teardown =
        inBackground(
            () -> {
              evd.teardown();
              assertThat(returned.get()).as(why("the upcall ran on after teardown")).isTrue();
            });
    await(() -> evd.policy() == UpcallPolicy.DISABLED, "the teardown began");
    assertThat(teardown.isDone()).as(why("it waits for the running upcall")).isFalse();
    release.countDown();
    await(teardown, "the return of teardown");
    bench.settle();

    assertThat(seen.count()).as(why("no upcall starts afterwards")).isEqualTo(1);
    assertThat(seen.takeAll()).as(why("the rest is the consumer's")).isEqualTo(2);
  }

  @Test
  void required_U05_anInterruptedTeardownSaysAbortAndDisablesAllTheSame() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    seen.at(1, () -> hold(release));
    evd.upcall(seen);
    post(evd, 1, 2);
    awaitCount(seen, 1, "the first upcall; it is held");

    final CompletableFuture<Void> teardown =
        inBackground(
            () -> {
              Thread.currentThread().interrupt();
              refused(ReturnType.ABORT, "an interrupted teardown", evd::teardown);
            });
    await(teardown, "the end of the interrupted teardown, though the upcall is held");
    release.countDown();
    bench.settle();

    assertThat(evd.policy()).as(why("disabled")).isEqualTo(UpcallPolicy.DISABLED);
    assertThat(seen.count()).as(why("no further upcall")).isEqualTo(1);
  }

  @Test
  void required_U05_disableDoesNotWaitForTheRunningUpcall() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    seen.at(1, () -> hold(release));
    evd.upcall(seen);
    post(evd, 1, 2);
    awaitCount(seen, 1, "the first upcall; it is held");

    await(inBackground(evd::disable), "disable returns while the upcall is held");
    release.countDown();
    bench.settle();

    assertThat(seen.count()).as(why("disabled before the next event")).isEqualTo(1);
  }

  @Test
  void required_U05_teardownEndsThoughTheUpcallEnablesAgain() {
    final Evd evd = softwareEvd(16);
    final Recorder seen = recorder(evd);
    int before = 0;
    for (final Runnable enabling : enablings(evd, seen)) {
      final CountDownLatch release = new CountDownLatch(1);
      seen.at(
          before + 1,
          () -> {
            hold(release);
            enabling.run();
          });
      evd.upcall(seen);
      post(evd, 1);
      awaitCount(seen, before + 1, "the upcall; it is held");

      final CompletionStage<Void> done = evd.teardownAsync();
      release.countDown();
      await(done, "the teardown, whose upcall enables again");
      assertThat(evd.policy()).as(why("after teardown")).isEqualTo(UpcallPolicy.DISABLED);
      post(evd, 2);
      bench.settle();
      succeeds(seen.take(), "no upcall took it");
      before = seen.count();
    }
  }

  @Test
  void required_U05_nobodyElseEnablesWhileATeardownWaits() {
    final Evd evd = softwareEvd(16);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    seen.at(1, () -> hold(release));
    evd.upcall(seen);
    post(evd, 1, 2);
    awaitCount(seen, 1, "the first upcall; it is held");

    final CompletionStage<Void> done = evd.teardownAsync();
    refused(ReturnType.INVALID_STATE, "upcall during a teardown", () -> evd.upcall(seen));
    refused(
        ReturnType.INVALID_STATE,
        "notifyOnce during a teardown",
        () -> evd.notifyOnce(ready -> {}, Invoke.ON_ANY));
    release.countDown();
    await(done, "the return of the upcall");
    assertThat(seen.count()).as(why("it was the last")).isEqualTo(1);
    evd.upcall(seen);
    awaitCount(seen, 2, "the upcall that was enabled after the teardown");
  }

  @Test
  void required_U07_dequeueByAnotherThreadDuringAnUpcallIsRefused() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    seen.at(1, () -> hold(release));
    evd.upcall(seen);
    post(evd, 1, 2);
    awaitCount(seen, 1, "the first upcall; it is held");

    enabled("dequeue during an upcall of another thread", seen::take);
    evd.disable();
    enabled("dequeue after disable, while its last upcall runs", seen::take);
    enabled("drain after disable, while its last upcall runs", seen::takeAll);
    release.countDown();
    await(evd.teardownAsync(), "the return of the upcall");

    succeeds(seen.take(), "dequeue once the upcall returned");
  }

  @Test
  void required_U07_concurrentDequeuersTakeEachEventOnce() {
    final int count = 4000;
    final Evd evd = softwareEvd(count);
    final Recorder seen = recorder(evd, 4);
    postMany(evd, count);
    final Runnable consumer =
        () -> {
          Outcome outcome;
          do {
            outcome = seen.take();
          } while (outcome == Outcome.SUCCESS);
        };

    inParallel(consumer, consumer, consumer, consumer);

    assertThat(seen.payloads().stream().distinct().count())
        .as(why("each event to exactly one dequeue"))
        .isEqualTo(count);
    assertThat(seen.count()).as(why("none twice")).isEqualTo(count);
  }

  @Test
  void required_U07_concurrentDequeuersOfCompletionsTakeEachOnce() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();
    pair.arrive(0, BATCH);
    final List<Long> cookies = Collections.synchronizedList(new ArrayList<>());
    final EventHandler handler =
        new EventHandler() {
          @Override
          public void onCompletion(final DtoCompletion event) {
            cookies.add(event.cookie());
          }
        };
    final Runnable consumer =
        () -> {
          int taken;
          do {
            taken = pair.passive.evd.drain(handler, 3);
          } while (taken > 0);
        };

    inParallel(consumer, consumer, consumer, consumer);

    assertThat(cookies)
        .as(why("each completion to exactly one dequeue"))
        .containsExactlyInAnyOrderElementsOf(range(0, BATCH));
  }

  @Test
  void required_U08_twoEvdsTearDownEachOtherInsideTheirUpcalls() {
    final Evd one = softwareEvd(8);
    final Evd two = softwareEvd(8);
    final Recorder first = recorder(one);
    final Recorder second = recorder(two);
    final CountDownLatch firstDone = new CountDownLatch(1);
    final CountDownLatch secondDone = new CountDownLatch(1);
    first.at(
        1,
        () -> {
          two.teardown();
          firstDone.countDown();
        });
    second.at(
        1,
        () -> {
          one.teardown();
          secondDone.countDown();
        });
    one.upcall(first);
    two.upcall(second);

    inParallel(() -> post(one, 1), () -> post(two, 1));
    await(
        () -> firstDone.getCount() == 0 || secondDone.getCount() == 0,
        "at least one upcall runs and does not wait for the other's");
    bench.settle();

    await(
        () -> first.count() == 1 - firstDone.getCount(),
        "an upcall that started returned from its teardown");
    await(
        () -> second.count() == 1 - secondDone.getCount(),
        "an upcall that started returned from its teardown");
  }

  @Test
  void required_U09_afterCloseNothingIsDeliveredThoughThreadsGoOnPosting() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd);
    final AtomicInteger atClose = new AtomicInteger();
    final CountDownLatch someCame = new CountDownLatch(1);
    seen.at(50, someCame::countDown);
    evd.upcall(seen);
    final Runnable poster = () -> postUntilClosed(evd, 1000);

    inParallel(
        poster,
        poster,
        poster,
        () -> {
          hold(someCame);
          evd.close();
          atClose.set(seen.count());
        });
    bench.settle();

    assertThat(seen.count()).as(why("no upcall after close returned")).isEqualTo(atClose.get());
  }

  @Test
  void required_U09_closeWaitsForTheRunningUpcall() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    final AtomicBoolean returned = new AtomicBoolean();
    seen.at(
        1,
        () -> {
          hold(release);
          returned.set(true);
        });
    evd.upcall(seen);
    post(evd, 1, 2);
    awaitCount(seen, 1, "the first upcall; it is held");

    final CompletionStage<DrainReport> closing = evd.closeAsync(BOUND);
    final boolean before =
        closing.thenApply(report -> returned.get()).toCompletableFuture().isDone();
    release.countDown();
    final boolean after = await(closing.thenApply(report -> returned.get()), "the close");

    assertThat(before).as(why("not complete while the upcall is held")).isFalse();
    assertThat(after).as(why("complete when it returned")).isTrue();
    assertThat(seen.count()).as(why("no further upcall")).isEqualTo(1);
  }

  private void runsNoMoreThan(final int limit) {
    final Evd evd = softwareEvd(64);
    final Recorder seen = recorder(evd, limit);
    final CountDownLatch release = new CountDownLatch(1);
    seen.each(event -> hold(release));
    evd.upcall(seen, Concurrency.many(limit), Invoke.ON_ANY);

    postMany(evd, 40);
    awaitCount(seen, 1, "the first upcall; it is held");
    bench.settle();
    assertThat(seen.count()).as(why("those that run are held")).isBetween(1, limit);
    release.countDown();
    awaitCount(seen, 40, "all, once the held upcalls are let go");

    assertThat(seen.most()).as(why("at most the limit at once")).isLessThanOrEqualTo(limit);
  }

  private static EventHandler ignore() {
    return new EventHandler() {
      @Override
      public void onEvent(final Event event) {
        assertThat(event.evd()).isNotNull();
      }
    };
  }
}
