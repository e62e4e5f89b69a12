package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MonitorInfo;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A verb that does not return before the test lets it. */
@Isolated
@Timeout(60)
class StuckVerbTest {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** {@link MistakesTest} has it shorter: there, it is waited for. */
  private static final Duration LONG = Duration.ofSeconds(Long.getLong("jdapl.bound", 60));

  private static final Duration SHORT = Duration.ofMillis(500);

  /** What a busy machine may add. */
  private static final Duration SLACK = Duration.ofSeconds(10);

  private final InterceptedProvider provider = new InterceptedProvider();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();
  private final ThreadFactory factory =
      loop -> {
        final Thread thread = new Thread(loop, loop.toString());
        threads.add(thread);
        return thread;
      };
  private final Jdapl jdapl = Jdapl.with(provider).threads(factory).dispatchers(2).start();
  private final InterfaceAdapter ia = jdapl.open();
  private final ProtectionZone pz = ia.createPz();
  private final Evd evd = createEvd();
  private final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
  private final LinkedBlockingQueue<Kind> kinds = new LinkedBlockingQueue<>();

  private final CountDownLatch stuck = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);
  private final AtomicInteger destroyed = new AtomicInteger();

  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private PrintStream standardError;

  @BeforeEach
  void readTheLog() {
    standardError = System.err;
    System.setErr(new PrintStream(log, true, UTF_8));
    evd.upcall(
        InterceptedBed.on(
            event -> {
              if (event instanceof ConnectionEvent connection) {
                kinds.add(connection.kind());
              }
            }));
  }

  @AfterEach
  void end() throws InterruptedException {
    try {
      go.countDown();
      ia.closeAbruptly(LONG);
      jdapl.close();
      for (final Thread thread : new ArrayList<>(threads)) {
        thread.join(1_000); // while a test fails they go on
      }
    } finally {
      System.setErr(standardError);
    }
  }

  private Evd createEvd() {
    return ia.createEvd(
        64,
        EventStream.DTO,
        EventStream.CONNECTION,
        EventStream.CONNECTION_REQUEST,
        EventStream.SOFTWARE);
  }

  private Endpoint createConnected() throws InterruptedException {
    final Endpoint endpoint =
        ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
    endpoint.connect(ia.address(), 1, LONG, null);
    provider.tell(CmEventType.ESTABLISHED, 0);
    assertThat(kinds.take()).isEqualTo(Kind.ESTABLISHED);
    return endpoint;
  }

  /** On a thread of its own: a common pool may have one, which is stuck. */
  private static void start(final Runnable task) {
    final Thread thread = new Thread(task, "consumer");
    thread.setDaemon(true);
    thread.start();
  }

  private static void await(final CountDownLatch latch) {
    try {
      latch.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** From here on the first call of a verb does not return. */
  private void hang(final String stuckVerb) {
    final AtomicBoolean first = new AtomicBoolean(true);
    provider.hook =
        verb -> {
          if (verb.equals(stuckVerb) && first.getAndSet(false)) {
            stuck.countDown();
            await(go);
          }
          if (verb.equals("destroy_qp")) {
            destroyed.incrementAndGet();
          }
        };
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "close_listener",
        "reject",
        "disconnect",
        "modify_qp",
        "post_recv",
        "post_send",
        "destroy_qp",
        "destroy_id",
        "dereg_mr",
        "dealloc_pd",
        "destroy_cq",
        "close_device"
      })
  void required_T10_anAbruptCloseEndsAtItsBoundWhateverVerbDoesNotReturn(final String verb)
      throws InterruptedException {
    createConnected();
    createConnected();
    ia.createPsp(1, evd);
    provider.ask();
    final Evd waitedFor = createEvd();
    final CompletableFuture<Outcome> waits =
        CompletableFuture.supplyAsync(
            () -> waitedFor.await(InterceptedBed.on(event -> {}), 1, LONG), StuckVerbTest::start);
    while (!((EvdImpl) waitedFor).hasWaiter()) {
      Thread.onSpinWait();
    }
    hang(verb);

    final long began = System.nanoTime();
    ia.closeAbruptly(SHORT);
    final Duration took = Duration.ofNanos(System.nanoTime() - began);

    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).as("it was called").isTrue();
    assertThat(go.getCount()).as("and did not return").isOne();
    assertThat(took).isLessThan(SHORT.plus(SLACK));
    assertThat(waits).as("the wait ends").succeedsWithin(LONG);
    assertThat(destroyed)
        .as("queue pairs that the verb may still reach")
        .hasValueLessThan(verb.matches("disconnect|modify_qp|post_.*|destroy_qp") ? 2 : 3);
  }

  /** It takes a moment to see that a call is stuck; then others are made. */
  @Test
  void required_T10_aVerbThatDoesNotReturnHoldsUpNothingElse() throws InterruptedException {
    final Endpoint one = createConnected();
    final Endpoint other = createConnected();
    hang("modify_qp");
    final CompletableFuture<DrainReport> stuckClose = one.closeAsync(LONG).toCompletableFuture();
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    final Endpoint pending =
        ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
    pending.connect(ia.address(), 1, Duration.ofMillis(1), null);
    assertThat(kinds.take()).as("of the one that is stuck").isEqualTo(Kind.DISCONNECTED);
    assertThat(kinds.take()).as("a timer").isEqualTo(Kind.TIMED_OUT);
    assertThat(other.closeAsync(LONG)).succeedsWithin(LONG);
    assertThat(pending.closeAsync(LONG)).succeedsWithin(LONG);
    assertThat(stuckClose).as("the one that is stuck").isNotDone();
    assertThat(destroyed).as("its queue pair is not").hasValue(2);
    assertThat(log.toString(UTF_8))
        .as("where it is stuck")
        .contains("a call of the provider has not returned")
        .contains("modifyToError");

    go.countDown();
    assertThat(stuckClose).succeedsWithin(LONG);
    assertThat(destroyed).hasValue(3);
  }

  /** All requests are accounted for; that the queue pair lives is no reason to say less. */
  @Test
  void required_T10_aCloseIsReportedAtItsBoundThoughTheQueuePairIsNotDestroyed()
      throws InterruptedException {
    final Endpoint endpoint = createConnected();
    assertThat(endpoint.postReceive(lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    evd.teardown();
    hang("destroy_qp");

    final CompletableFuture<DrainReport> close = endpoint.closeAsync(SHORT).toCompletableFuture();

    assertThat(close).succeedsWithin(LONG.toNanos(), NANOSECONDS);
    assertThat(close.join().complete()).isTrue();
    assertThat(close.join().requests()).extracting(DrainReport.Request::cookie).containsExactly(1L);
    assertThat(go.getCount()).isOne();
    assertThat(destroyed).hasValue(0);
  }

  static Stream<Arguments> verbsThatFail() {
    return Stream.of(
            "destroy_qp",
            "destroy_id",
            "destroy_srq",
            "close_listener",
            "dealloc_mw",
            "dereg_mr",
            "dealloc_pd",
            "destroy_cq")
        .flatMap(
            verb ->
                Stream.concat(
                        Stream.of(Unexpected.values()),
                        Stream.of(Named.<Consumer<String>>of("refused", StuckVerbTest::refuse)))
                    .map(failure -> Arguments.of(verb, failure)));
  }

  private static void refuse(final String verb) {
    throw InterceptedProvider.refused(verb);
  }

  /** A verb that could not be done is done again, before the device is closed. */
  @ParameterizedTest
  @MethodSource("verbsThatFail")
  void required_T10_whatCouldNotBeDestroyedIsDestroyedBeforeTheDeviceIsClosed(
      final String verb, final Consumer<String> failure) throws InterruptedException {
    createConnected();
    ia.createSrq(pz, 4, 1);
    ia.createPsp(1, evd);
    pz.createRmr();
    final List<String> done = Collections.synchronizedList(new ArrayList<>());
    final AtomicBoolean first = new AtomicBoolean(true);
    provider.hook =
        called -> {
          if (called.equals(verb) && first.getAndSet(false)) {
            failure.accept(verb);
          }
          done.add(called);
        };
    ia.closeAbruptly(LONG);
    assertThat(done).endsWith("close_device").contains(verb);
  }

  @ParameterizedTest
  @ValueSource(strings = {"destroy_qp", "destroy_cq", "dealloc_pd", "close_device"})
  void required_T10_theDeviceIsClosedWhenAVerbReturnsThoughTheRuntimeIsClosed(final String verb)
      throws InterruptedException {
    createConnected();
    hang(verb);
    ia.closeAbruptly(SHORT);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    jdapl.close();
    assertThat(provider.isClosed()).isFalse();
    go.countDown();

    assertEnded();
  }

  /** Nothing has begun yet when its bound is over. */
  @Test
  void required_T10_theDeviceIsClosedThoughTheRuntimeIsClosedAtOnce() throws InterruptedException {
    createConnected();
    ia.closeAbruptly(Duration.ZERO);
    jdapl.close();

    assertEnded();
  }

  /** What would close it comes too late: the device is closed already, and the runtime ends. */
  @Test
  void required_T10_anEvdOfALostDeviceIsClosedThoughTheRuntimeStopped() throws Exception {
    final CountDownLatch deviceClosed = new CountDownLatch(1);
    final InterceptedProvider lost = new InterceptedProvider();
    lost.hook =
        verb -> {
          if (verb.equals("close_device")) {
            deviceClosed.countDown();
          }
        };
    final Jdapl runtime = Jdapl.with(lost).threads(factory).start();
    final InterfaceAdapter adapter = runtime.open();
    final EvdImpl evd = (EvdImpl) adapter.createEvd(64, EventStream.SOFTWARE);
    lost.lose();
    await(deviceClosed);
    ((IaImpl) adapter).reaper().execute(() -> await(go));
    adapter.closeAbruptly(Duration.ZERO);
    runtime.close();

    for (final EvdImpl closed : List.of(evd, (EvdImpl) adapter.asyncEvd())) {
      assertThat(closed.closing().closed().get(LONG.toSeconds(), SECONDS)).isNotNull();
      assertThat(closed.isClosed()).as("%s takes nothing more", closed).isTrue();
    }
  }

  /** Its timers ended with it. */
  @Test
  void required_T10_aCloseBehindAStuckHandlerEndsThoughTheRuntimeStopped() throws Exception {
    final CountDownLatch closed = new CountDownLatch(1);
    final InterceptedProvider slow = new InterceptedProvider();
    slow.hook =
        verb -> {
          if (verb.equals("close_listener")) { // the EVDs are closed behind that
            await(closed);
          }
        };
    final Jdapl runtime = Jdapl.with(slow).threads(factory).start();
    final InterfaceAdapter adapter = runtime.open();
    adapter.createPsp(1, adapter.createEvd(8, EventStream.CONNECTION_REQUEST));
    final Evd held = adapter.createEvd(64, EventStream.SOFTWARE);
    final Evd behind = adapter.createEvd(64, EventStream.SOFTWARE);
    held.upcall(
        InterceptedBed.on(
            event -> {
              stuck.countDown();
              await(go);
            }));
    assertThat(held.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    await(stuck);
    adapter.closeAbruptly(Duration.ZERO);
    runtime.close();
    closed.countDown();

    final DrainReport report =
        behind.closeAsync(SHORT).toCompletableFuture().get(LONG.toSeconds(), SECONDS);
    assertThat(report.complete()).isFalse();
  }

  @Test
  void shouldOpenNothingInARuntimeThatIsClosedMeanwhile() {
    final InterceptedProvider slow = new InterceptedProvider();
    slow.hook =
        verb -> {
          if (verb.equals("open_device")) {
            stuck.countDown();
            await(go);
          }
        };
    final Jdapl runtime = Jdapl.with(slow).threads(factory).start();
    final CompletableFuture<InterfaceAdapter> opens =
        CompletableFuture.supplyAsync(runtime::open, StuckVerbTest::start);
    await(stuck);
    runtime.close();
    go.countDown();

    assertThatThrownBy(() -> opens.get(LONG.toSeconds(), SECONDS))
        .hasMessageContaining("this runtime is closed");
    assertThat(slow.isClosed()).isTrue();
  }

  private void assertEnded() throws InterruptedException {
    for (int i = 0; i < threads.size(); i++) { // who ends may have started another one
      threads.get(i).join(LONG.toMillis());
      assertThat(threads.get(i).isAlive()).as("%s is alive", threads.get(i)).isFalse();
    }
    assertThat(provider.isClosed()).as("the device is closed").isTrue();
    assertThatThrownBy(jdapl::open).hasMessageContaining("closed");
  }

  /** A call that creates something returns when all is over. */
  @ParameterizedTest
  @ValueSource(strings = {"create_cq", "create_qp", "reg_mr", "alloc_pd"})
  void required_T10_whatIsCreatedTooLateIsDestroyed(final String verb) throws InterruptedException {
    final Evd other = createEvd();
    final List<String> done = Collections.synchronizedList(new ArrayList<>());
    hang(verb);
    final Consumer<String> hanging = provider.hook;
    provider.hook =
        called -> {
          hanging.accept(called);
          done.add(called);
        };
    final CompletableFuture<Void> creates =
        CompletableFuture.runAsync(
            () -> {
              final ProtectionZone zone = verb.equals("alloc_pd") ? ia.createPz() : pz;
              if (verb.equals("reg_mr")) {
                zone.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
              } else {
                ia.createEndpoint(zone, other, EndpointAttributes.defaults());
              }
            },
            StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();
    ia.closeAbruptly(SHORT);

    go.countDown();

    assertThat(creates).failsWithin(LONG);
    final String destroys =
        verb.replace("create_", "destroy_")
            .replace("reg_mr", "dereg_mr")
            .replace("alloc_", "dealloc_");
    final long created = done.stream().filter(verb::equals).count();
    assertThat(done.stream().filter(destroys::equals).count())
        .as("%s in %s", destroys, done)
        .isEqualTo(created + (verb.equals("reg_mr") || verb.equals("alloc_pd") ? 1 : 0));
  }

  /**
   * What was posted is accepted, so it is an outcome of the close; or that says that it is not all.
   */
  @Test
  void required_T02_aPostThatIsInProgressAtTheBoundIsNotLost() throws InterruptedException {
    final Endpoint endpoint = createConnected();
    evd.teardown();
    hang("post_recv");
    final CompletableFuture<Outcome> post =
        CompletableFuture.supplyAsync(
            () -> endpoint.postReceive(lmr, 0, 8, 7), StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    final DrainReport report = endpoint.closeAsync(SHORT).toCompletableFuture().join();
    go.countDown();

    assertThat(post.join()).isEqualTo(Outcome.SUCCESS);
    assertThat(report.complete() && report.requests().isEmpty()).isFalse();
  }

  @Test
  void required_T10_aPostThatDoesNotReturnHoldsUpNoOtherRegionOfItsZone()
      throws InterruptedException {
    final Endpoint endpoint = createConnected();
    final Endpoint other = createConnected();
    final Lmr used = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
    hang("post_recv");
    final CompletableFuture<Outcome> post =
        CompletableFuture.supplyAsync(
            () -> endpoint.postReceive(lmr, 0, 8, 7), StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();
    ThreadInfo waiting = null;
    while (waiting == null) {
      final Thread closes =
          factory.newThread(
              () -> {
                final var unused = catchThrowable(used::close);
              });
      closes.start();
      waiting = whenItWaits(closes);
    }

    assertThat(waiting.getLockedMonitors())
        .extracting(MonitorInfo::getClassName)
        .doesNotContain(PzImpl.class.getName());
    assertThat(other.closeAsync(LONG)).succeedsWithin(LONG);
    pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values()).buffer();

    go.countDown();
    assertThat(post.join()).isEqualTo(Outcome.SUCCESS);
  }

  @Test
  void required_T10_aSharedQueueIsClosedByTheAdapterThoughAPostDoesNotReturn()
      throws InterruptedException {
    final SharedReceiveQueue srq = ia.createSrq(pz, 4, 1);
    hang("post_srq_recv");
    final CompletableFuture<Outcome> post =
        CompletableFuture.supplyAsync(() -> srq.postReceive(lmr, 0, 8, 7), StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    assertThat(CompletableFuture.runAsync(srq::close, StuckVerbTest::start))
        .failsWithin(LONG)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("does not return");
    ia.closeAbruptly(SHORT);

    go.countDown();
    assertThat(post.join()).isEqualTo(Outcome.SUCCESS);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 8})
  void required_T10_aSharedQueueIsNotResizedWhileAPostDoesNotReturn(final int receives)
      throws InterruptedException {
    final SharedReceiveQueue srq = ia.createSrq(pz, 4, 1);
    hang("post_srq_recv");
    final CompletableFuture<Outcome> post =
        CompletableFuture.supplyAsync(() -> srq.postReceive(lmr, 0, 8, 7), StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    assertThat(CompletableFuture.runAsync(() -> srq.resize(receives), StuckVerbTest::start))
        .failsWithin(LONG)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining("does not return");
    assertThat(srq.maxReceives()).isEqualTo(4);

    go.countDown();
    assertThat(post.join()).isEqualTo(Outcome.SUCCESS);
    srq.resize(receives);
    assertThat(srq.maxReceives()).isEqualTo(receives);
  }

  /** A thread that waits for the post; null if it did so for long enough. */
  private static ThreadInfo whenItWaits(final Thread thread) {
    while (thread.isAlive()) {
      final ThreadInfo now = THREADS.getThreadInfo(new long[] {thread.getId()}, true, false)[0];
      if (now != null && now.getThreadState() == Thread.State.TIMED_WAITING) {
        return now;
      }
    }
    return null;
  }

  /** Whether the post uses it nobody can say before it returns. */
  @ParameterizedTest
  @ValueSource(strings = {"post_recv", "post_srq_recv"})
  void required_T11_aRegionIsInUseWhileAPostDoesNotReturn(final String verb)
      throws InterruptedException {
    final Endpoint endpoint = createConnected();
    final SharedReceiveQueue srq = ia.createSrq(pz, 4, 1);
    final Lmr unused = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
    hang(verb);
    final CompletableFuture<Outcome> post =
        CompletableFuture.supplyAsync(
            () ->
                verb.equals("post_recv")
                    ? endpoint.postReceive(lmr, 0, 8, 7)
                    : srq.postReceive(lmr, 0, 8, 7),
            StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    assertThat(CompletableFuture.runAsync(unused::close, StuckVerbTest::start))
        .failsWithin(LONG)
        .withThrowableOfType(ExecutionException.class)
        .withMessageContaining((verb.equals("post_recv") ? endpoint : srq).name());

    go.countDown();
    assertThat(post.join()).isEqualTo(Outcome.SUCCESS);
    unused.close();
  }

  /** The peer may still write as long as the queue pair is not in the error state. */
  @Test
  void required_T10_aRegionStaysRegisteredWhileAQueuePairReachesIt() throws InterruptedException {
    createConnected();
    final List<String> done = new CopyOnWriteArrayList<>();
    provider.hook =
        called -> {
          if (called.equals("modify_qp")) { // each time
            await(go);
          } else if (called.equals("close_device") && !done.contains("dereg_mr")) {
            throw new VerbsException(called, "hooked", VerbsException.EBUSY, "a region is there");
          }
          done.add(called);
        };
    ia.closeAbruptly(SHORT);
    while (!log.toString(UTF_8).contains("could not be stopped yet")
        && !done.contains("dereg_mr")) {
      Thread.onSpinWait();
    }
    assertThat(done).doesNotContain("dereg_mr");

    go.countDown();

    while (!done.contains("close_device")) {
      Thread.onSpinWait();
    }
    assertThat(done).containsSubsequence("modify_qp", "dereg_mr", "close_device");
  }

  /** That it stands is news too late, while its queue pair is being destroyed. */
  @Test
  void required_T09_noCallOfAnIdBeginsThatIsAboutToBeDestroyed() throws InterruptedException {
    final Endpoint endpoint = createConnected();
    hang("destroy_qp");
    final Consumer<String> hanging = provider.hook;
    final List<String> done = Collections.synchronizedList(new ArrayList<>());
    provider.hook =
        called -> {
          hanging.accept(called);
          done.add(called);
        };
    final CompletableFuture<DrainReport> close = endpoint.closeAsync(SHORT).toCompletableFuture();
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();
    done.clear();
    provider.tell(CmEventType.ESTABLISHED, 0);
    assertThat(close).succeedsWithin(LONG);
    final CountDownLatch later = new CountDownLatch(1);
    jdapl.reaper().execute(later::countDown); // behind what was asked for, by the next thread
    assertThat(later.await(LONG.toSeconds(), SECONDS)).isTrue();
    assertThat(done).doesNotContain("disconnect");
  }

  /** It stops its queue pair itself, because the reaper has not come to that yet. */
  @Test
  void required_U13_aPostThatStopsItsQueuePairHoldsNoGuardMeanwhile() throws InterruptedException {
    final Endpoint endpoint =
        ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
    final Lmr unused = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
    provider.hook =
        verb -> {
          if (verb.equals("modify_qp") && Reaper.isCurrent()) {
            await(stuck); // the post is first
          } else if (verb.equals("modify_qp")) {
            stuck.countDown();
            await(go);
          }
        };
    endpoint.connect(ia.address(), 1, Duration.ofMillis(1), null);
    assertThat(kinds.take()).isEqualTo(Kind.TIMED_OUT);
    final CompletableFuture<Outcome> post =
        CompletableFuture.supplyAsync(() -> endpoint.postSend(lmr, 0, 8, 7), StuckVerbTest::start);
    assertThat(stuck.await(LONG.toSeconds(), SECONDS)).isTrue();

    unused.close();
    final DrainReport report = endpoint.closeAsync(SHORT).toCompletableFuture().join();

    assertThat(report.complete()).as("nothing was posted").isTrue();
    assertThat(report.requests()).isEmpty();
    go.countDown();
    assertThat(post)
        .as("it was closed meanwhile")
        .failsWithin(LONG)
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(DatException.class)
        .withMessageContaining("the endpoint is closed");
  }
}
