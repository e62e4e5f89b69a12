package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A handler does not return, and what it uses is closed. By hand: meanwhile the others go on. */
@ExtendWith(HandBed.Closing.class)
class StuckHandlerTest {

  private static final Duration BOUND = Duration.ofSeconds(1);

  /** {@link MistakesTest} has it shorter: there, it is waited for. */
  private static final long LONG_SECONDS = Long.getLong("jdapl.bound", 60);

  private final InterceptedBed bed = new InterceptedBed();
  private final Reaper reaper = ((IaImpl) bed.ia).reaper();
  private final Dispatcher dispatcher = bed.jdapl.nextDispatcher();
  private final List<String> destroyed = new ArrayList<>();

  /** Has a completion to be handled. What others use cannot be destroyed, as with real devices. */
  private void connected() {
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 7)).isEqualTo(Outcome.SUCCESS);
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 8)).isEqualTo(Outcome.SUCCESS);
    bed.connected();
    assertThat(bed.evd.drain(bed.recording(), 9)).isOne();
    bed.provider.hook =
        verb -> {
          final String user =
              switch (verb) {
                case "close_device" -> "destroy_cq";
                case "destroy_cq", "dealloc_pd" -> "destroy_qp";
                default -> verb;
              };
          if (!user.equals(verb) && !destroyed.contains(user)) {
            throw new VerbsException(verb, "hooked", VerbsException.EBUSY, "objects left");
          }
          if (verb.startsWith("destroy") || verb.startsWith("de") || verb.equals("close_device")) {
            destroyed.add(verb);
          }
        };
    bed.provider.receive(0);
  }

  private void goOn() {
    boolean worked = true;
    while (worked) {
      worked = reaper.round();
      worked |= dispatcher.round();
    }
  }

  /** A handler that is stuck at its first event until time has passed, and goes on then. */
  private EventHandler stuck(final Runnable close, final Duration time, final Runnable then) {
    final List<Event> events = new ArrayList<>();
    return InterceptedBed.on(
        event -> {
          events.add(event.copy());
          if (events.size() == 1) {
            close.run();
            for (long ms = 0; ms <= time.toMillis(); ms += 100) {
              reaper.round();
              bed.clock.advance(Duration.ofMillis(100));
            }
            then.run();
          }
        });
  }

  @Test
  void required_T01_theCloseOfAnEndpointSaysThatAHandlerIsStuckAndDestroysNothingBeforeItReturns() {
    connected();
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> closes.add(bed.endpoint.closeAsync(BOUND).toCompletableFuture()),
            BOUND.plusMillis(600),
            () -> {
              assertThat(closes.get(0)).as("at its bound").isDone();
              assertThat(closes.get(0).join().complete()).isFalse();
              assertThat(destroyed).as("what the handler can reach").isEmpty();
              assertThatThrownBy(() -> bed.endpoint.postReceive(bed.lmr, 0, 8, 9))
                  .isInstanceOfSatisfying(
                      DatException.class,
                      e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_STATE));
            }));
    bed.settle();

    assertThat(closes).hasSize(1);
    assertThat(destroyed).as("when it returned").containsExactly("destroy_qp", "destroy_id");
  }

  /** What its connect EVD dropped nobody gets any more, though another one of its EVDs is stuck. */
  @Test
  void required_E01_whatWasDroppedIsInTheReportOfACloseThatAHandlerKeepsFromItsEnd() {
    final EvdImpl ofConnections = bed.createEvd();
    final Endpoint endpoint =
        bed.ia.createEndpoint(
            bed.pz, bed.evd, bed.evd, ofConnections, EndpointAttributes.defaults());
    bed.connect(endpoint);
    bed.provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();
    assertThat(bed.evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    ofConnections.control(() -> {}); // its turn comes first
    final CompletableFuture<DrainReport> closed = endpoint.closeAsync(BOUND).toCompletableFuture();
    reaper.round();
    bed.evd.upcall(
        stuck(
            () -> {}, BOUND.plusMillis(600), () -> assertThat(closed).as("at its bound").isDone()));
    bed.settle();

    assertThat(closed.join().complete()).isFalse();
    assertThat(closed.join().events())
        .extracting(event -> ((ConnectionEvent) event).kind())
        .containsExactly(ConnectionEvent.Kind.ESTABLISHED, ConnectionEvent.Kind.DISCONNECTED);
  }

  @Test
  void required_T02_aResetThatAHandlerKeepsFromItsEndReportsAllWhenItReturned() {
    connected();
    final List<CompletableFuture<DrainReport>> resets = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> {
              bed.endpoint.disconnect(Disconnect.ABRUPT);
              resets.add(bed.endpoint.resetAsync(BOUND).toCompletableFuture());
            },
            BOUND.plusMillis(600),
            () -> assertThat(resets.get(0)).as("at its bound").isNotDone()));
    bed.settle();

    assertThat(resets).hasSize(1);
    assertThat(resets.get(0)).as("when it returned").isCompleted();
    assertThat(resets.get(0).join().complete()).isTrue();
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.UNCONNECTED);
  }

  @Test
  void required_T07_theCloseOfAnEvdSaysThatAHandlerIsStuckAndDestroysNothingBeforeItReturns() {
    connected();
    bed.endpoint.close();
    assertThat(bed.evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> closes.add(bed.evd.closeAsync(BOUND).toCompletableFuture()),
            BOUND,
            () -> {
              assertThat(closes.get(0)).as("at its bound").isDone();
              assertThat(closes.get(0).join().complete()).isFalse();
              assertThat(destroyed).as("what the handler can reach").doesNotContain("destroy_cq");
              assertThatThrownBy(() -> bed.evd.dequeue(bed.recording()))
                  .isInstanceOfSatisfying(
                      DatException.class,
                      e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_HANDLE));
            }));
    bed.settle();

    assertThat(closes).hasSize(1);
    assertThat(destroyed).as("when it returned").endsWith("destroy_cq");
  }

  @Test
  void required_T10_anAbruptCloseEndsAtItsBoundAndTheDeviceIsClosedWhenTheStuckHandlerReturned() {
    connected();
    final List<String> atTheBound = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> bed.ia.closeAbruptly(BOUND),
            BOUND.multipliedBy(2),
            () -> {
              atTheBound.addAll(destroyed);
              assertThatThrownBy(bed.ia::createPz)
                  .isInstanceOfSatisfying(
                      DatException.class,
                      e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_HANDLE));
            }));
    bed.settle();
    bed.clock.advance(BOUND);
    bed.settle();

    assertThat(atTheBound)
        .as("a registration is revoked, and reached by nobody")
        .containsExactly("dereg_mr");
    assertThat(destroyed)
        .containsSubsequence("destroy_qp", "destroy_id", "destroy_cq", "close_device")
        .containsSubsequence("destroy_qp", "dealloc_pd", "close_device")
        .hasSize(6);
    assertThat(bed.evd.statistics().faults()).as("of the provider").isZero();
  }

  /** Its dispatcher is stuck, and no completion queue of its own keeps the device open. */
  @Test
  void required_T10_anAbruptCloseEndsTheCloseOfAnEvdThatNobodyCanServe() {
    connected();
    final EvdImpl beside = (EvdImpl) bed.ia.createEvd(8, EventStream.SOFTWARE);
    assertThat(beside.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> {
              closes.add(beside.closeAsync(Duration.ofHours(1)).toCompletableFuture());
              bed.ia.closeAbruptly(BOUND);
            },
            BOUND,
            () -> assertThat(closes.get(0)).as("at the bound of the adapter").isDone()));
    bed.settle();

    assertThat(closes).hasSize(1);
    assertThat(closes.get(0).join().complete()).isFalse();
  }

  @Test
  void required_T10_ofTwoClosesOfAnEvdTheShorterBoundCounts() {
    connected();
    bed.endpoint.close();
    assertThat(bed.evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> {
              closes.add(bed.evd.closeAsync(Duration.ofHours(1)).toCompletableFuture());
              closes.add(bed.evd.closeAsync(BOUND).toCompletableFuture());
            },
            BOUND,
            () -> assertThat(closes).as("at its bound").allMatch(CompletableFuture::isDone)));
    bed.settle();

    assertThat(closes).hasSize(2);
  }

  /** It has no bound of its own. */
  @Test
  void required_T10_anAbruptCloseEndsATeardownThatWaitsForAStuckHandler() throws Exception {
    final Jdapl jdapl = Jdapl.with(new InterceptedProvider()).start();
    final InterfaceAdapter ia = jdapl.open();
    final Evd evd = ia.createEvd(8, EventStream.SOFTWARE);
    final CountDownLatch began = new CountDownLatch(1);
    final CountDownLatch letGo = new CountDownLatch(1);
    evd.upcall(
        InterceptedBed.on(
            event -> {
              began.countDown();
              awaitUninterruptibly(letGo);
            }));
    evd.postSoftwareEvent(1);
    began.await();
    final CompletableFuture<Throwable> end = new CompletableFuture<>();
    final Thread thread = new Thread(() -> end.complete(catchThrowable(evd::teardown)), "waits");
    thread.setDaemon(true);
    thread.start();
    while (thread.getState() != Thread.State.WAITING && !end.isDone()) {
      Thread.onSpinWait();
    }

    ia.closeAbruptly(BOUND);
    final Throwable told = end.completeOnTimeout(null, LONG_SECONDS, TimeUnit.SECONDS).join();
    letGo.countDown();
    jdapl.close();

    assertThat(told)
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.ABORT));
  }

  private static void awaitUninterruptibly(final CountDownLatch latch) {
    try {
      latch.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The runtime may be stopped behind it, and then no timer comes. */
  @Test
  void required_T10_theCloseOfAnEvdEndsWithItsAdapterHoweverShortItsBound() {
    connected();
    final EvdImpl beside = (EvdImpl) bed.ia.createEvd(8, EventStream.SOFTWARE);
    final Duration shorter = Duration.ofMillis(300);
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.evd.upcall(
        stuck(
            () -> {
              closes.add(beside.closeAsync(Duration.ofHours(1)).toCompletableFuture());
              bed.ia.closeAbruptly(shorter);
            },
            shorter,
            () -> assertThat(closes.get(0)).as("at the bound of the adapter").isDone()));
    bed.settle();

    assertThat(closes).hasSize(1);
    assertThat(closes.get(0).join().complete()).isFalse();
  }

  /** Its turn has not come yet, and no upcall is to be waited for. */
  @Test
  void required_E01_whatACloseDropsIsReportedHoweverShortItsBound() {
    final EvdImpl evd = (EvdImpl) bed.ia.createEvd(8, EventStream.SOFTWARE);
    assertThat(evd.postSoftwareEvent(1)).isEqualTo(Outcome.SUCCESS);
    assertThat(evd.postSoftwareEvent(2)).isEqualTo(Outcome.SUCCESS);
    final CompletableFuture<DrainReport> close =
        evd.closeAsync(Duration.ZERO).toCompletableFuture();
    reaper.round();
    bed.settle();

    assertThat(close.join().complete()).as("complete").isTrue();
    assertThat(close.join().events()).hasSize(2);
  }

  @Test
  void required_M05_aCloseWaitsForAHandlerThatDequeuedUpToItsBound() {
    connected();
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    bed.evd.dequeue(
        InterceptedBed.on(
            event -> {
              closes.add(bed.endpoint.closeAsync(BOUND).toCompletableFuture());
              for (long ms = 0; ms <= BOUND.toMillis(); ms += 100) {
                goOn();
                assertThat(closes.get(0).isDone()).as("%d ms", ms).isEqualTo(ms == 1000);
                bed.clock.advance(Duration.ofMillis(100));
              }
            }));

    assertThat(closes).hasSize(1).allMatch(CompletableFuture::isDone);
  }
}
