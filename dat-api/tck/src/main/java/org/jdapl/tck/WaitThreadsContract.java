package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.dat.Cno;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.UpcallPolicy;
import org.junit.jupiter.api.Test;

/**
 * The rules of section W that need a thread that waits, and others: for benches of which {@link
 * Bench#isVirtual} is false.
 */
public abstract class WaitThreadsContract extends Contract {

  /** Longer than the bench waits for anything. */
  private static final Duration LONG = Duration.ofMinutes(2);

  /** So long that a trickle which extends it is not held up for as much. */
  private static final Duration SHORT = Duration.ofMillis(500);

  /** So slow that a wait which does not heed its deadline goes on for long. */
  private static final long TRICKLE = TimeUnit.MILLISECONDS.toNanos(10);

  private static final EventHandler NOBODY = new EventHandler() {};

  /** A contract; its state lives for one test. */
  protected WaitThreadsContract() {}

  // W01: the threshold

  @Test
  void required_W01_severalPostersReachTheThreshold() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd);
    final CompletableFuture<Object> waiter = waiter(evd, seen, 4000);
    final Runnable poster = () -> postMany(evd, 1000);

    inParallel(poster, poster, poster);
    bench.settle();
    assertThat(waiter.isDone()).as(why("3000 of 4000 are there")).isFalse();
    postMany(evd, 1000);

    ends(waiter, Outcome.SUCCESS, "a wait for all posts");
    assertThat(evd.remaining()).as(why("all others")).isEqualTo(3999);
    assertThat(seen.takeAll()).as(why("all others")).isEqualTo(3999);
  }

  // W02: the deadline

  @Test
  void required_W02_aTrickleDoesNotExtendTheDeadline() {
    final int enough = 4096;
    final Evd evd = softwareEvd(enough);
    final Recorder seen = recorder(evd);
    final AtomicReference<Object> end = new AtomicReference<>();
    final AtomicInteger posted = new AtomicInteger();

    inParallel(
        () -> end.set(endOf(() -> seen.await(enough, SHORT))),
        () -> {
          while (end.get() == null && posted.get() < enough - 1) {
            post(evd, posted.incrementAndGet());
            LockSupport.parkNanos(TRICKLE);
          }
        });

    assertThat(end.get()).as(why("too few came")).isEqualTo(Outcome.TIMEOUT_EXPIRED);
    assertThat(posted.get()).as(why("it ended while events came")).isLessThan(enough - 1);
    assertThat(seen.takeAll()).as(why("nothing was taken")).isEqualTo(posted.get());
  }

  // W03: one waiter

  @Test
  void required_W03_nobodyElseTakesWhileAThreadWaits() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CompletableFuture<Object> waiter = waiter(evd, seen, 2);

    post(evd, "a");
    waited("a second wait", () -> seen.await(1, LONG));
    waited("a second wait that does not wait", () -> seen.await(1, Duration.ZERO));
    waited("a dequeue", seen::take);
    waited("a drain", () -> evd.drain(NOBODY, 1));
    post(evd, "b");

    ends(waiter, Outcome.SUCCESS, "the first wait");
    succeeds(seen.await(1, LONG), "a wait after the first one");
    assertThat(seen.payloads()).as(why("each once")).containsExactly("a", "b");
  }

  // W04: what ends a wait

  @Test
  void required_W04_aPostToAWaiterThatJustFallsAsleepWakesIt() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final int rounds = 2000;

    inParallel(
        () -> {
          for (int round = 0; round < rounds; round++) {
            succeeds(seen.await(1, LONG), "the wait of round " + round);
          }
        },
        () -> {
          for (int round = 0; round < rounds; round++) {
            while (evd.postSoftwareEvent(round) != Outcome.SUCCESS || seen.count() < round - 1) {
              Thread.yield();
            }
          }
        });

    assertThat(seen.count()).as(why("each post ended a wait")).isEqualTo(rounds);
  }

  @Test
  void required_W04_aCompletionWakesAWaiterThoughSoftwareEventsDoToo() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    final int rounds = 100;
    final CompletableFuture<Void> waiting =
        inBackground(
            () -> {
              for (int event = 0; event < 2 * rounds; event++) {
                succeeds(side.seen.await(1, LONG), "wait " + event);
              }
            });

    for (int round = 0; round < rounds; round++) {
      side.receives(round, 1);
      succeeds(pair.active.send(round), "a send");
      post(side.evd, round);
      final long due = round + 1L;
      await(
          () -> side.successes(Queue.RECEIVE) == due && side.seen.payloads().size() == due,
          "both events of round " + round);
      await(() -> pair.active.successes(Queue.REQUEST) == due, "the send of round " + round);
    }

    await(waiting, "the end of the last wait");
  }

  @Test
  void required_W04_setUnwaitableMakesTheWaiterReturnThoughItIsTakenBackAtOnce() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);

    for (int round = 0; round < 100; round++) {
      final CompletableFuture<Object> waiter = waiter(evd, seen, 8);
      evd.setUnwaitable();
      evd.clearUnwaitable();
      ends(waiter, ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE, "a wait that was ended");
    }
    post(evd, "a");

    succeeds(seen.await(1, LONG), "the EVD is usable");
  }

  @Test
  void required_W04_aCloseEndsTheWaitWithAbort() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CompletableFuture<Object> waiter = waiter(evd, seen, 2);
    post(evd, "a");

    final DrainReport report = await(evd.closeAsync(BOUND), "the close");

    ends(waiter, Outcome.ABORT, "a wait whose EVD was closed");
    assertThat(report.complete()).as(why("nothing is stuck")).isTrue();
    assertThat(report.events()).as(why("the event is in the report")).hasSize(1);
    assertThat(seen.count()).as(why("and nowhere else")).isZero();
    refused(
        ReturnType.INVALID_HANDLE, "a wait for a closed EVD", () -> seen.await(1, Duration.ZERO));
  }

  @Test
  void required_W04_anAbruptCloseOfTheAdapterEndsEveryWait() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(8, EventStream.SOFTWARE);
    final CompletableFuture<Object> one = waiter(evd, recorder(evd), 1);
    final Evd async = adapter.asyncEvd();
    final CompletableFuture<Object> two = waiter(async, recorder(async), 1);

    adapter.closeAbruptly(BOUND);

    ends(one, Outcome.ABORT, "a wait for one of its EVDs");
    ends(two, Outcome.ABORT, "a wait for its async EVD");
  }

  @Test
  void required_W04_anInterruptEndsTheWaitAndTheEvdIsUsable() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicReference<Thread> thread = new AtomicReference<>();
    final AtomicReference<Object> end = new AtomicReference<>();
    final CompletableFuture<Void> waiting =
        inBackground(
            () -> {
              thread.set(Thread.currentThread());
              end.set(endOf(() -> seen.await(2, LONG)));
              assertThat(Thread.interrupted()).as(why("the status is set")).isTrue();
            });
    await(() -> isWaitedFor(evd), "the wait begins");
    post(evd, "a");

    thread.get().interrupt();
    await(waiting, "the end of the wait");

    assertThat(end.get()).as(why("interrupted")).isEqualTo(Outcome.INTERRUPTED_CALL);
    assertThat(evd.remaining()).as(why("nothing was taken")).isEqualTo(1);
    succeeds(seen.await(1, LONG), "the EVD is usable");
  }

  // W05: the CNO

  @Test
  void required_W05_eachTriggerReleasesOneThread() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = adapter.createEvd(64, EventStream.SOFTWARE);
    evd.cno(cno);
    final int threads = 3;
    final AtomicInteger began = new AtomicInteger();
    final AtomicInteger released = new AtomicInteger();
    final CompletableFuture<?>[] all = new CompletableFuture<?>[threads];
    for (int i = 0; i < threads; i++) {
      all[i] =
          inBackground(
              () -> {
                began.incrementAndGet();
                succeeds(cno.await(hint -> released.incrementAndGet(), LONG), "a wait");
              });
    }
    await(() -> began.get() == threads, "the threads run");
    bench.settle(); // so that they wait by now; if one does not, its trigger sticks

    for (int i = 1; i <= threads; i++) {
      post(evd, i);
      final int due = i;
      await(() -> released.get() == due, "the release of thread " + i);
      bench.settle();
      assertThat(released.get()).as(why("one thread for a trigger")).isEqualTo(due);
    }
    await(CompletableFuture.allOf(all), "the end of all waits");

    assertThat(cno.await(hint -> {}, Duration.ZERO))
        .as(why("all triggers were used up"))
        .isEqualTo(Outcome.TIMEOUT_EXPIRED);
  }

  @Test
  void required_W05_aTriggerThatRacesATimeoutIsNotLost() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = adapter.createEvd(64, EventStream.SOFTWARE);
    final Recorder seen = recorder(evd);
    evd.cno(cno);
    final int rounds = 2000;
    final AtomicInteger timeouts = new AtomicInteger();

    inParallel(
        () -> {
          for (int round = 0; round < rounds; round++) {
            while (seen.count() < round) {
              Thread.yield();
            }
            LockSupport.parkNanos(20_000 + 37L * round % 20_000);
            post(evd, round);
          }
        },
        () -> {
          while (seen.count() < rounds) {
            final Outcome outcome = cno.await(hint -> seen.takeAll(), Duration.ofNanos(60_000));
            timeouts.addAndGet(outcome == Outcome.TIMEOUT_EXPIRED ? 1 : 0);
          }
        });

    assertThat(seen.count())
        .as(why("each trigger was told, %s waits timed out".formatted(timeouts)))
        .isEqualTo(rounds);
  }

  @Test
  void required_W05_manyThreadsOnManyEvdsGetEachEventOnce() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final int count = 1000;
    final List<Recorder> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      final Evd evd = adapter.createEvd(count, EventStream.SOFTWARE);
      all.add(recorder(evd, 3));
      evd.cno(cno);
    }
    final Runnable consumer =
        () -> {
          Object end;
          do {
            end = endOf(() -> cno.await(hint -> all.forEach(Recorder::takeAll), LONG));
          } while (end == Outcome.SUCCESS); // not if it is closed, or an EVD is
        };
    final CompletableFuture<?>[] consumers = new CompletableFuture<?>[3];
    for (int i = 0; i < consumers.length; i++) {
      consumers[i] = inBackground(consumer);
    }

    inParallel(
        () -> postMany(cno.evds().get(0), count),
        () -> postMany(cno.evds().get(1), count),
        () -> postMany(cno.evds().get(2), count));
    await(() -> all.stream().allMatch(seen -> seen.count() == count), "all events");
    adapter.closeAbruptly(BOUND);

    await(CompletableFuture.allOf(consumers), "the end of every wait");
  }

  // W06: one way to tell

  @Test
  void required_W06_upcallsAreNotEnabledWhileAThreadWaits() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd, 2);
    final CompletableFuture<Object> waiter = waiter(evd, seen, 1);

    for (final Runnable enabling : enablings(evd, seen)) {
      waited("enabling an upcall", enabling::run);
      assertThat(evd.policy()).as(why("as before")).isEqualTo(UpcallPolicy.DISABLED);
    }
    evd.disable();
    evd.teardown();
    post(evd, "a");
    ends(waiter, Outcome.SUCCESS, "the wait goes on");
    evd.upcall(seen);
    post(evd, "b");

    awaitCount(seen, 2, "an upcall, after the wait");
  }

  @Test
  void required_W06_waitsAndUpcallsInTurnGetEachEventOnce() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd, 2);
    final int count = 3000;
    final AtomicInteger waits = new AtomicInteger();

    inParallel(
        () -> postMany(evd, count),
        () -> {
          while (seen.count() < count) {
            final Object end = endOf(() -> seen.await(1, Duration.ofMillis(1)));
            waits.addAndGet(end == Outcome.SUCCESS ? 1 : 0);
          }
        },
        () -> {
          while (seen.count() < count) {
            endOf(
                () -> {
                  evd.upcall(seen);
                  evd.teardown();
                  return Outcome.SUCCESS;
                });
          }
        });

    assertThat(seen.payloads().stream().distinct().count()).as(why("none lost")).isEqualTo(count);
    assertThat(seen.count()).as(why("none twice, by %s waits".formatted(waits))).isEqualTo(count);
  }

  // What the tests share.

  /** A thread that waits for an empty EVD; completes with {@link #endOf} its wait. */
  private CompletableFuture<Object> waiter(
      final Evd evd, final Recorder seen, final int threshold) {
    final CompletableFuture<Object> end = new CompletableFuture<>();
    final var unused = inBackground(() -> end.complete(endOf(() -> seen.await(threshold, LONG))));
    await(() -> isWaitedFor(evd), "the wait begins");
    return end;
  }

  /** An outcome, or the subtype of a refusal. */
  private static Object endOf(final Supplier<Outcome> call) {
    try {
      return call.get();
    } catch (final DatException e) {
      return e.subtype();
    }
  }

  private void ends(final CompletableFuture<Object> wait, final Object with, final String what) {
    assertThat(await(wait, "the end of " + what)).as(why(what)).isEqualTo(with);
  }

  private void waited(final String what, final ThrowingCallable call) {
    refused(ReturnType.INVALID_STATE, ReturnSubtype.INVALID_STATE_EVD_WAITER, what, call);
  }

  /** Whether a thread waits for an empty EVD. */
  private static boolean isWaitedFor(final Evd evd) {
    return endOf(() -> evd.dequeue(NOBODY)) == ReturnSubtype.INVALID_STATE_EVD_WAITER;
  }
}
