package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What all contracts share: a bench for each test, and how to wait, refuse, and explain. */
public abstract class Contract {

  /** How long a close may take; no test needs as much, however busy the machine is. */
  static final Duration BOUND = Duration.ofSeconds(30);

  /** Longer than the bench waits for anything. */
  private static final long UPCALL_HELD_SECONDS = 120;

  private final List<Recorder> recorders = new ArrayList<>();
  private long lastConnQual = 7000;

  /** Where the running test runs. */
  Bench bench;

  /** A contract; its state lives for one test. */
  protected Contract() {}

  /**
   * Opens where the next test runs.
   *
   * @return a fresh bench; the contract closes it after the test.
   */
  protected abstract Bench bench();

  @BeforeEach
  final void openBench() {
    bench = bench();
  }

  @AfterEach
  final void checkRecordersAndCloseBench() {
    try (Bench closing = bench) {
      for (final Recorder recorder : recorders) {
        assertThat(recorder.problems())
            .as(why("E03/U01/U02: every event is named and numbered, upcalls do not overlap"))
            .isEmpty();
      }
      assertThat(closing).isNotNull();
    }
  }

  /** A handler that records and checks; its EVD runs at most one upcall at once. */
  final Recorder recorder(final Evd evd) {
    return recorder(evd, 1);
  }

  /** A recorder of which several methods may run at once: MANY, or several dequeuing threads. */
  final Recorder recorder(final Evd evd, final int atOnce) {
    final Recorder recorder = new Recorder(evd, atOnce);
    recorders.add(recorder);
    return recorder;
  }

  final long connQual() {
    return ++lastConnQual;
  }

  final Evd softwareEvd(final int length) {
    return bench.open().createEvd(length, EventStream.SOFTWARE);
  }

  /** An assertion's description: what was expected and how to get the run again. */
  final Supplier<String> why(final String expected) {
    return () -> expected + " [" + bench.replay() + "]";
  }

  final void await(final BooleanSupplier condition, final String expected) {
    assertThat(bench.runUntil(condition)).as(why("in time: " + expected)).isTrue();
  }

  final void awaitCount(final Recorder recorder, final int count, final String expected) {
    final boolean there = bench.runUntil(() -> recorder.count() >= count);
    assertThat(there)
        .as(why("%d events: %s; a lost wake-up? got %s".formatted(count, expected, recorder)))
        .isTrue();
  }

  /** Dequeues until the condition holds. */
  final void awaitTaking(
      final Recorder recorder, final BooleanSupplier condition, final String expected) {
    await(() -> recorder.takeAll() >= 0 && condition.getAsBoolean(), expected);
  }

  /** Waits for a stage and returns its result. */
  final <T> T await(final CompletionStage<T> stage, final String expected) {
    final CompletableFuture<T> future = stage.toCompletableFuture();
    await(future::isDone, expected);
    return future.join();
  }

  final void post(final Evd evd, final Object... payloads) {
    for (final Object payload : payloads) {
      succeeds(evd.postSoftwareEvent(payload), "posting to an EVD with room");
    }
  }

  final void postMany(final Evd evd, final int count) {
    for (int i = 0; i < count; i++) {
      post(evd, i);
    }
  }

  /** Posts until the EVD is closed or the limit is reached; returns how many were accepted. */
  final int postUntilClosed(final Evd evd, final int limit) {
    int accepted = 0;
    try {
      for (int i = 0; i < limit; i++) {
        if (evd.postSoftwareEvent(i) == Outcome.SUCCESS) {
          accepted++;
        }
      }
    } catch (final DatException e) {
      assertThat(e.type()).as(why("closed")).isEqualTo(ReturnType.INVALID_HANDLE);
    }
    return accepted;
  }

  /** Waits for the first request of a side that fails. */
  final DtoCompletion failure(final Side side) {
    await(
        () -> side.seen.completions().stream().anyMatch(c -> c.status() != DtoStatus.SUCCESS),
        "an error completion");
    return side.seen.completions().stream()
        .filter(c -> c.status() != DtoStatus.SUCCESS)
        .findFirst()
        .orElseThrow();
  }

  final void succeeds(final Outcome outcome, final String what) {
    assertThat(outcome).as(why(what)).isEqualTo(Outcome.SUCCESS);
  }

  final DatException refused(
      final ReturnType type, final String what, final ThrowingCallable misuse) {
    final Throwable thrown = catchThrowable(misuse);
    assertThat(thrown)
        .as(why(what + " is misuse: a DatException with " + type))
        .isInstanceOf(DatException.class);
    final DatException exception = (DatException) thrown;
    assertThat(exception.type()).as(why(what + ": " + exception)).isEqualTo(type);
    return exception;
  }

  final DatException refused(
      final ReturnType type,
      final ReturnSubtype subtype,
      final String what,
      final ThrowingCallable misuse) {
    final DatException exception = refused(type, what, misuse);
    assertThat(exception.subtype()).as(why(what + ": " + exception)).isEqualTo(subtype);
    return exception;
  }

  /** Runs the bodies on threads of their own, all at the same moment, and waits for their ends. */
  final void inParallel(final Runnable... bodies) {
    final CyclicBarrier start = new CyclicBarrier(bodies.length);
    final CompletableFuture<?>[] all =
        Arrays.stream(bodies)
            .map(body -> inBackground(() -> startTogether(start, body)))
            .toArray(CompletableFuture<?>[]::new);
    await(CompletableFuture.allOf(all), "the end of all threads of the test");
  }

  final CompletableFuture<Void> inBackground(final Runnable body) {
    return CompletableFuture.runAsync(body, Contract::startThread);
  }

  /** An upcall may start or is running. */
  final void enabled(final String what, final ThrowingCallable dequeue) {
    refused(ReturnType.INVALID_STATE, ReturnSubtype.INVALID_STATE_EVD_ENABLED, what, dequeue);
  }

  /** Each post was delivered or is in the report. */
  final void everyPostHasOneOutcome(
      final Side side, final DrainReport report, final Queue queue, final List<Long> posted) {
    assertThat(outcomes(side, report, queue))
        .as(why("delivered, then reported: each post once, in order: " + side.seen + report))
        .containsExactlyElementsOf(posted);
  }

  static List<Long> outcomes(final Side side, final DrainReport report, final Queue queue) {
    final List<Long> outcomes = new ArrayList<>(side.seen.cookies(side.endpoint, queue));
    outcomes.addAll(cookies(report, queue));
    return outcomes;
  }

  static List<DrainReport.Request> requests(final DrainReport report, final Queue queue) {
    return report.requests().stream().filter(request -> request.queue() == queue).toList();
  }

  static List<Long> cookies(final DrainReport report, final Queue queue) {
    return requests(report, queue).stream().map(DrainReport.Request::cookie).toList();
  }

  /** The cookies of posts in their order. */
  static List<Long> range(final long first, final long count) {
    return LongStream.range(first, first + count).boxed().toList();
  }

  /** Blocks an upcall until the test lets it go. */
  static void hold(final CountDownLatch release) {
    try {
      if (!release.await(UPCALL_HELD_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the test never let go of this upcall");
      }
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void startThread(final Runnable body) {
    final Thread thread = new Thread(body, "tck");
    thread.setDaemon(true);
    thread.start();
  }

  private static void startTogether(final CyclicBarrier start, final Runnable body) {
    try {
      start.await(UPCALL_HELD_SECONDS, TimeUnit.SECONDS);
    } catch (final InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException("the threads of the test did not start together", e);
    }
    body.run();
  }

  /** All ways to enable an upcall. */
  static List<Runnable> enablings(final Evd evd, final Recorder seen) {
    return List.of(
        () -> evd.upcall(seen),
        () -> evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW),
        () -> evd.upcall(seen, Concurrency.many(2), Invoke.ON_ANY),
        () -> evd.notifyOnce(ready -> {}, Invoke.ON_ANY),
        () -> evd.notifyOnce(ready -> {}, Invoke.ON_NEW));
  }
}
