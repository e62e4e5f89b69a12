package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Cno;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Defects of the serializer, each as a test. By hand. */
@ExtendWith(HandBed.Closing.class)
class SerializerRegressionTest {

  private static final Duration BOUND = Duration.ofSeconds(5);

  private final InterceptedBed bed = new InterceptedBed();
  private final EvdImpl evd = bed.evd;
  private int count;

  private void post(final int events) {
    for (int i = 0; i < events; i++) {
      assertThat(evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
    }
  }

  private void receives(final EndpointImpl to, final int receives) {
    for (int i = 0; i < receives; i++) {
      assertThat(to.postReceive(bed.lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
    }
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void shouldEndItsTurnWhenAnEndpointIsClosedAndOnNewIsAskedInOneUpcall() {
    final EndpointImpl other = bed.createEndpoint();
    receives(other, 4);
    bed.provider.flush(1);
    final EventHandler[] handler = new EventHandler[1];
    handler[0] =
        InterceptedBed.on(
            event -> {
              if (++count == 1) {
                bed.endpoint.closeAsync(BOUND);
                evd.upcall(handler[0], Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
              }
            });
    evd.upcall(handler[0]);
    bed.settle();

    post(1);
    bed.settle();
    assertThat(count).isEqualTo(5);
  }

  @Test
  void shouldDeliverWhatCameAfterOnNewWhenTheFrameworkUsesTheTurn() {
    final EventHandler[] handler = new EventHandler[1];
    handler[0] =
        InterceptedBed.on(
            event -> {
              if (++count == 1) {
                evd.upcall(handler[0], Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
                post(1);
                evd.control(() -> {});
              }
            });
    evd.upcall(handler[0]);
    post(1);
    bed.settle();

    assertThat(count).isEqualTo(2);
  }

  /** A queue that fails once; the poll after its timer brings one, and notifies of another. */
  private static final class Failing implements CompletionQueue {
    private CqFeed feed;
    private int polls;

    @Override
    public RearmOutcome pollAndRearm(
        final WorkCompletions into, final int max, final ArmKind kind) {
      polls++;
      if (polls == 1) {
        throw InterceptedProvider.refused("poll_cq");
      }
      if (polls > 3) {
        return RearmOutcome.NOT_DONE;
      }
      into.add(polls, WcStatus.SUCCESS, WcOpcode.SEND, 0, 0, 0, false, 0);
      if (polls == 2) {
        feed.onNotification(this);
      }
      return RearmOutcome.COMPLETED;
    }

    @Override
    public Device device() {
      throw new AssertionError();
    }

    @Override
    public int capacity() {
      return 9;
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      return 0;
    }

    @Override
    public int arm(final ArmKind kind) {
      return 0;
    }

    @Override
    public void close() {}
  }

  @Test
  void shouldHearANotificationWhenItComesWithThePollOfItsTimer() {
    final Failing cq = new Failing();
    final CqFeed feed = new CqFeed(evd, ArmKind.NEXT);
    cq.feed = feed;
    feed.open(cq, 9);
    evd.merger().add(feed);
    evd.upcall(new EventHandler() {});
    evd.signalCq();
    bed.settle();

    bed.clock.advance(Duration.ofSeconds(1));
    bed.settle();
    assertThat(evd.statistics().dropped()).as("both of no endpoint").isEqualTo(2);
  }

  @Test
  void shouldCloseAtOnceWhenTheNotificationCameJustBeforeTheDrain() {
    receives(bed.endpoint, 2);
    evd.dequeue(InterceptedBed.on(event -> {}));
    bed.provider.holdsNotifications = true;
    evd.control(bed.provider::release);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(BOUND).toCompletableFuture();
    bed.settle();

    assertThat(closed).isCompleted();
  }

  @Test
  void shouldCloseAtOnceWhenAnUpcallAsksForNewEventsOnlyMeanwhile() {
    receives(bed.endpoint, 2);
    final List<CompletableFuture<DrainReport>> closed = new ArrayList<>();
    final EventHandler[] handler = new EventHandler[1];
    handler[0] =
        InterceptedBed.on(
            event -> {
              if (++count == 1) {
                closed.add(bed.endpoint.closeAsync(BOUND).toCompletableFuture());
              } else {
                evd.upcall(handler[0], Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
              }
            });
    evd.upcall(handler[0]);
    post(1);
    bed.settle();

    assertThat(closed.get(0)).isCompleted();
    assertThat(closed.get(0).join().requests()).as("the second receive is old").hasSize(1);
  }

  @Test
  void shouldCloseWithinTheShortestBoundWhenItIsClosedTwice() {
    receives(bed.endpoint, 1);
    bed.provider.refuse("poll_cq");
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(Duration.ofHours(1)).toCompletableFuture();
    bed.settle();
    assertThat(closed).isNotDone();
    bed.endpoint.closeAsync(BOUND);
    bed.settle();
    bed.clock.advance(BOUND);
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(closed.join().requests())
        .extracting(DrainReport.Request::status)
        .containsExactly(DrainReport.Status.UNKNOWN);
  }

  @Test
  void shouldEndATeardownWhenAHandlerOfManyThrowsByHand() {
    final List<CompletableFuture<Void>> teardowns = new ArrayList<>();
    evd.upcall(
        InterceptedBed.on(
            event -> {
              teardowns.add(evd.teardownAsync().toCompletableFuture());
              throw new IllegalStateException("the handler's");
            }),
        Concurrency.many(2),
        Invoke.ON_ANY);
    post(1);

    assertThatThrownBy(bed::settle).hasMessage("the handler's");
    bed.settle();
    assertThat(teardowns).singleElement().matches(CompletableFuture::isDone);
  }

  @Test
  void shouldEndATeardownWhenUpcallsAreEnabledAndDisabledAgain() {
    final List<CompletableFuture<Void>> teardowns = new ArrayList<>();
    evd.upcall(
        InterceptedBed.on(
            event -> {
              teardowns.add(evd.teardownAsync().toCompletableFuture());
              evd.upcall(InterceptedBed.on(next -> {}));
            }));
    post(1);
    bed.settle();
    evd.disable();

    assertThat(teardowns).singleElement().matches(CompletableFuture::isDone);
  }

  @Test
  void shouldCloseWhenTheBoundIsLongerThanTheClock() {
    final Duration huge = Duration.ofSeconds(Long.MAX_VALUE);
    final CompletableFuture<DrainReport> drained =
        bed.endpoint.closeAsync(huge).toCompletableFuture();
    bed.settle();
    assertThat(drained).isCompleted();
    final CompletableFuture<DrainReport> closed = evd.closeAsync(huge).toCompletableFuture();
    bed.settle();

    assertThat(closed).isCompleted();
  }

  @Test
  void shouldChangeNothingWhenAnEvdIsResizedToItsLengthWhileAThreadWaits() {
    final EvdImpl other = bed.createEvd();
    other.upcall(
        InterceptedBed.on(
            event -> {
              evd.resize(evd.length());
              post(1);
            }));
    assertThat(other.postSoftwareEvent("")).isEqualTo(Outcome.SUCCESS);

    assertThat(evd.await(InterceptedBed.on(event -> count++), 1, BOUND)).isEqualTo(Outcome.SUCCESS);
    assertThat(count).isOne();
  }

  @Test
  void shouldNotifyTheLatestHandlerWhenNotifyComesDuringATurn() {
    final List<String> notified = new ArrayList<>();
    receives(bed.endpoint, 1);
    bed.provider.flush(0);
    bed.provider.hook =
        verb -> {
          if (verb.equals("poll_cq") && count++ == 0) {
            evd.notifyOnce(ready -> notified.add("second"), Invoke.ON_ANY);
          }
        };
    evd.notifyOnce(ready -> notified.add("first"), Invoke.ON_ANY);
    bed.settle();

    assertThat(notified).containsExactly("second");
  }

  @Test
  void shouldRefuseASoftwareEventWhenTheUpcallClosedItsEvd() {
    bed.endpoint.closeAsync(BOUND);
    bed.settle();
    final List<DatException> refusals = new ArrayList<>();
    evd.upcall(
        InterceptedBed.on(
            event -> {
              evd.closeAsync(BOUND);
              refusals.add(
                  catchThrowableOfType(DatException.class, () -> evd.postSoftwareEvent(2)));
            }));
    post(1);
    bed.settle();

    assertThat(refusals).singleElement().returns(ReturnType.INVALID_HANDLE, DatException::type);
  }

  @Test
  void shouldReportAnAsyncErrorWhenItsEndpointIsClosedFirst()
      throws ExecutionException, InterruptedException {
    bed.provider.fail(0, AsyncType.QP_FATAL);
    final CompletableFuture<DrainReport> closed =
        bed.endpoint.closeAsync(BOUND).toCompletableFuture();
    bed.settle();

    assertThat(bed.ia.asyncEvd().drain(InterceptedBed.on(event -> {}), 9)).isZero();
    assertThat(closed.get().events()).filteredOn(AsyncEvent.class::isInstance).hasSize(1);
  }

  @Test
  void required_M05_theCloseWaitsForAnAsyncErrorThatIsBeingHandedOut() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.provider.fail(0, AsyncType.QP_FATAL);
    bed.settle();
    final IaImpl ia = (IaImpl) bed.ia;
    final CompletableFuture<DrainReport> close =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    boolean worked = ia.reaper().round();
    while (worked) { // nothing of it is left but what the reaper is to do
      worked = ia.runtime().nextDispatcher().round();
    }
    final EventHandler closing =
        InterceptedBed.on(
            event -> {
              assertThat(ia.reaper().round()).isTrue();
              assertThat(close).as("while this handler runs").isNotDone();
            });
    assertThat(ia.asyncEvd().dequeue(closing)).isEqualTo(Outcome.SUCCESS);
    bed.clock.advance(Duration.ofMillis(1));
    bed.settle();
    assertThat(close).isDone();
    assertThat(close.join().events())
        .as("what was handed out is not reported")
        .noneMatch(AsyncEvent.class::isInstance);
  }

  @Test
  void shouldEndTheCloseOfAnEndpointWhenItsConnectEvdWaitsForAHandlerOfAnotherEvd() {
    final EndpointImpl endpoint =
        (EndpointImpl)
            bed.ia.createEndpoint(
                bed.pz, evd, evd, bed.createEvd(), EndpointAttributes.defaults().withMaxDtos(1, 1));
    receives(endpoint, 1);
    bed.provider.flush(1);
    final List<CompletableFuture<DrainReport>> closed = new ArrayList<>();

    final Outcome dequeued =
        evd.dequeue(
            InterceptedBed.on(
                event -> {
                  closed.add(endpoint.closeAsync(BOUND).toCompletableFuture());
                  CompletableFuture.runAsync(bed::settle).join();
                }));
    bed.settle();

    assertThat(dequeued).isEqualTo(Outcome.SUCCESS);
    assertThat(closed).singleElement().matches(CompletableFuture::isDone);
  }

  @Test
  void shouldReleaseARegionWhenAPostWithItFailed() {
    final Endpoint endpoint =
        bed.ia.createEndpoint(
            bed.pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4).withMaxIov(3, 3));
    final Lmr region = bed.createLmr();
    final Lmr closed = bed.createLmr();
    closed.close();
    final Segments list = new Segments(3).add(bed.lmr, 0, 8).add(region, 0, 8).add(closed, 0, 8);
    assertThatThrownBy(() -> endpoint.postReceive(list, 0, null)).isInstanceOf(DatException.class);
    assertThat(endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);

    region.close();
    assertThatThrownBy(region::address).isInstanceOf(DatException.class);
  }

  /** A turn that ends looks, and upcalls are enabled again before it acts on that. */
  @Test
  void required_U09_aTeardownIsNotDoneByWhoSawQuietBeforeTheUpcallThatRuns() {
    final List<CompletableFuture<Void>> teardowns = new ArrayList<>();
    evd.upcall(
        InterceptedBed.on(
            event -> {
              teardowns.add(evd.teardownAsync().toCompletableFuture());
              evd.onQuiet();
              assertThat(teardowns.get(0)).as("while the upcall runs").isNotDone();
            }));
    post(1);
    bed.settle();

    assertThat(teardowns).hasSize(1);
    assertThat(teardowns.get(0)).isCompleted();
  }

  @Test
  void required_W05_anEvdThatLeftItsCnoBeforeItToldOfAnEventTriggersNothing() {
    final CnoImpl cno = (CnoImpl) bed.ia.createCno();
    evd.cno(cno);
    evd.cno(null);
    cno.trigger(evd); // it read its CNO before

    assertThat(cno.await(by -> count++, Duration.ZERO)).isEqualTo(Outcome.TIMEOUT_EXPIRED);
    assertThat(count).as("EVDs it was told of").isZero();
  }

  @Test
  void required_W06_whatAnUpcallHoldsBackForOneThatATeardownRefusesIsTheCnos() {
    final Cno cno = bed.ia.createCno();
    final EventHandler[] handler = new EventHandler[1];
    handler[0] =
        InterceptedBed.on(
            event -> {
              count++;
              CompletableFuture.runAsync(evd::teardownAsync).join();
              evd.upcall(handler[0], Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
            });
    evd.upcall(handler[0]);
    evd.cno(cno); // under a policy it is told of nothing
    post(3);
    bed.settle();

    assertThat(count).as("upcalls").isOne();
    assertThat(cno.await(by -> {}, Duration.ZERO)).isEqualTo(Outcome.SUCCESS);
    assertThat(evd.drain(bed.recording(), 9)).isEqualTo(2);
  }
}
