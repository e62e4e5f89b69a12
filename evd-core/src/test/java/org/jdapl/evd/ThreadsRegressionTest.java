package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Defects between threads, each as a test. */
class ThreadsRegressionTest {

  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final int DISPATCHERS = 4;
  private static final int CLOSES = 2000;
  private static final int EVENTS = 20;

  private final InterceptedProvider provider = new InterceptedProvider();
  private final Jdapl jdapl = Jdapl.with(provider).dispatchers(DISPATCHERS).start();
  private final InterfaceAdapter ia = jdapl.open();
  private final ProtectionZone pz = ia.createPz();
  private final CountDownLatch go = new CountDownLatch(1);

  @AfterEach
  void close() {
    go.countDown();
    ia.closeAbruptly(BOUND);
    jdapl.close();
  }

  private Evd createEvd() {
    return ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.SOFTWARE);
  }

  private Endpoint createEndpoint(final Evd evd) {
    return ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
  }

  /** Stays until the test lets go. */
  private static void hold(final CountDownLatch latch) {
    try {
      latch.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void shouldKeepItsTimersWhenAProvidersConnectBlocks() throws InterruptedException {
    final Endpoint endpoint = createEndpoint(createEvd());
    final CountDownLatch connecting = new CountDownLatch(1);
    provider.hook =
        verb -> {
          if (verb.equals("connect")) {
            connecting.countDown();
            hold(go);
          }
        };
    final Thread connect =
        new Thread(() -> endpoint.connect(ia.address(), 1, BOUND, null), "connects");
    connect.start();
    assertThat(connecting.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    final Reaper reaper = ((IaImpl) ia).reaper();
    final CompletableFuture<DrainReport> closed =
        endpoint.closeAsync(Duration.ofMillis(1)).toCompletableFuture();
    final CountDownLatch fired = new CountDownLatch(1);
    reaper.schedule(
        Duration.ofMillis(50), () -> reaper.schedule(Duration.ofMillis(1), fired::countDown));

    assertThat(fired.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(closed)
        .as("at its bound, though the connect has not returned")
        .succeedsWithin(BOUND);
    go.countDown();
    connect.join();
  }

  @Test
  @Timeout(60)
  void required_T10_everyWaiterIsWokenThoughACallDoesNotReturn() throws InterruptedException {
    final Evd evd = createEvd();
    final Endpoint endpoint = createEndpoint(evd);
    final CountDownLatch connecting = new CountDownLatch(1);
    final AtomicInteger queuePairs = new AtomicInteger(1);
    final AtomicInteger queues = new AtomicInteger(1);
    final CountDownLatch deviceClosed = new CountDownLatch(1);
    provider.hook =
        verb -> {
          switch (verb) {
            case "connect" -> {
              connecting.countDown();
              hold(go);
            }
            case "destroy_qp" -> queuePairs.decrementAndGet();
            case "destroy_cq" -> {
              checkUnused(verb, queuePairs);
              queues.decrementAndGet();
            }
            case "close_device" -> {
              checkUnused(verb, queues);
              deviceClosed.countDown();
            }
            default -> {}
          }
        };
    final Thread connect =
        new Thread(() -> endpoint.connect(ia.address(), 1, BOUND, null), "connects");
    connect.start();
    assertThat(connecting.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    final CompletableFuture<Outcome> waited =
        CompletableFuture.supplyAsync(
            () -> evd.await(InterceptedBed.on(event -> {}), 64, BOUND.multipliedBy(2)),
            task -> new Thread(task, "waits").start()); // the common pool may have no thread left
    while (!((EvdImpl) evd).hasWaiter()) {
      Thread.onSpinWait();
    }

    ia.closeAbruptly(Duration.ofMillis(100));
    assertThat(waited).succeedsWithin(BOUND).isEqualTo(Outcome.ABORT);
    go.countDown();
    connect.join();
    assertThat(deviceClosed.await(BOUND.toSeconds(), TimeUnit.SECONDS))
        .as("the device is closed when the call returned")
        .isTrue();
  }

  private static void checkUnused(final String verb, final AtomicInteger users) {
    if (users.get() > 0) {
      throw new VerbsException(verb, "hooked", VerbsException.EBUSY, "it is in use");
    }
  }

  @Test
  void shouldRunNoConsumerCodeOnItsThreadsWhenAStageCompletes()
      throws ExecutionException, InterruptedException, TimeoutException {
    final Evd evd = createEvd();
    final Endpoint endpoint = createEndpoint(evd);
    final CompletableFuture<Boolean> tornDown = new CompletableFuture<>();
    final CompletableFuture<Boolean> closed = new CompletableFuture<>();
    evd.upcall(
        InterceptedBed.on(
            event -> {
              final var unused =
                  endpoint
                      .closeAsync(BOUND)
                      .thenAccept(report -> closed.complete(Reaper.isCurrent()));
              final var unusedToo =
                  evd.teardownAsync()
                      .thenAccept(nothing -> tornDown.complete(Dispatcher.isCurrent()));
            }));
    assertThat(evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);

    assertThat(tornDown.get(BOUND.toSeconds(), TimeUnit.SECONDS)).as("on a dispatcher").isFalse();
    assertThat(closed.get(BOUND.toSeconds(), TimeUnit.SECONDS)).as("on the reaper").isFalse();
  }

  /** Is stuck at its first event, and counts the others. */
  private static final class Stuck implements EventHandler {
    private final AtomicBoolean stuck = new AtomicBoolean();
    private final CountDownLatch others = new CountDownLatch(EVENTS - 1);
    private final CountDownLatch end = new CountDownLatch(1);

    @Override
    public void onSoftware(final SoftwareEvent event) {
      if (stuck.compareAndSet(false, true)) {
        hold(end);
      } else {
        others.countDown();
      }
    }
  }

  @Test
  void shouldDeliverTheOthersWhenOneHandlerOfManyIsStuck() throws InterruptedException {
    for (int i = 0; i < DISPATCHERS; i++) {
      final Evd evd = createEvd();
      final Stuck handler = new Stuck();
      evd.upcall(handler, Concurrency.many(DISPATCHERS), Invoke.ON_ANY);
      for (int event = 0; event < EVENTS; event++) {
        assertThat(evd.postSoftwareEvent(event)).isEqualTo(Outcome.SUCCESS);
      }
      try {
        assertThat(handler.others.await(BOUND.toSeconds(), TimeUnit.SECONDS))
            .as("at %s", evd)
            .isTrue();
      } finally {
        handler.end.countDown();
      }
    }
  }

  /** Without upcalls the end of a connection is delivered or reported, whoever comes first. */
  @Test
  void shouldAccountForTheEndWhenAConnectionEndsWhileItIsClosed()
      throws BrokenBarrierException, InterruptedException {
    final Evd evd = createEvd();
    final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
    final CyclicBarrier barrier = new CyclicBarrier(2);
    final Thread network =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < CLOSES; i++) {
                  barrier.await();
                  provider.tell(CmEventType.DISCONNECTED, 0);
                  barrier.await();
                }
              } catch (final InterruptedException | BrokenBarrierException e) {
                throw new AssertionError(e);
              }
            },
            "network");
    network.start();
    for (int i = 0; i < CLOSES; i++) {
      final Endpoint endpoint = createEndpoint(evd);
      assertThat(endpoint.postReceive(lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
      endpoint.connect(ia.address(), 1, BOUND, null);
      barrier.await();
      final DrainReport report = endpoint.closeAsync(BOUND).toCompletableFuture().join();
      barrier.await();
      assertThat(report.events()).hasSize(1).allMatch(ThreadsRegressionTest::isEnd);
      assertThat(report.requests()).hasSize(1);
      assertThat(evd.dequeue(InterceptedBed.on(event -> {}))).isEqualTo(Outcome.QUEUE_EMPTY);
    }
    network.join();
  }

  private static boolean isEnd(final Event event) {
    return event instanceof ConnectionEvent connection && connection.kind().isTerminal();
  }
}
