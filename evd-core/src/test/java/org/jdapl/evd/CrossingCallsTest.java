package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls and events of one connection that cross each other, one at a time. */
@Timeout(20)
@ExtendWith(HandBed.Closing.class)
class CrossingCallsTest {

  private final InterceptedBed bed = new InterceptedBed();

  private EvdImpl createEvdOfRequests() {
    return (EvdImpl) bed.ia.createEvd(1, EventStream.CONNECTION_REQUEST);
  }

  private ConnectionRequest requestOf(final EvdImpl evd) {
    final ConnectionRequest[] taken = new ConnectionRequest[1];
    assertThat(
            evd.dequeue(
                InterceptedBed.on(event -> taken[0] = ((ConnectionRequestEventImpl) event).impl())))
        .isEqualTo(Outcome.SUCCESS);
    return taken[0];
  }

  private static Thread start(final Runnable call) {
    final Thread thread = new Thread(call);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** The provider's thread is held up behind the refusal, until the reaper did that. */
  @Test
  void required_C01_staysReservedWhenARequestIsRefusedBeforeItsUpcallReturned() throws Exception {
    final EvdImpl full = createEvdOfRequests();
    bed.ia.createPsp(1, full);
    bed.provider.ask(1);
    bed.ia.createRsp(2, bed.endpoint, full);
    final Thread upcall;
    synchronized (full.asyncSlot()) {
      upcall = start(() -> bed.provider.ask(2));
      while (upcall.getState() != Thread.State.BLOCKED) {
        Thread.onSpinWait();
      }
      bed.settle();
      assertThat(bed.provider.rejections).as("statuses of rejections").hasSize(1);
    }
    upcall.join();
    bed.settle();
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.RESERVED);

    requestOf(full);
    bed.provider.ask(2);
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.PASSIVE_CONNECTION_PENDING);
    assertThat(requestOf(full).endpoint()).isSameAs(bed.endpoint);
  }

  /** Inside an upcall a close does not wait for a request that is under way. */
  @Test
  void required_C01_aRequestDoesNotTakeTheEndpointOfALaterServicePoint() {
    final EvdImpl evd = createEvdOfRequests();
    final RspImpl first = (RspImpl) bed.ia.createRsp(1, bed.endpoint, evd);
    assertThat(first.move(SpImpl.Trigger.TAKE)).isTrue(); // a request begins to come
    first.close();
    bed.ia.createRsp(2, bed.endpoint, evd);

    assertThat(bed.endpoint.now().connection().request(first, null)).isFalse();
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.RESERVED);
  }

  /** What a full EVD has no room for is undone, and there may be nothing to go back to. */
  @Test
  void required_C01_aServicePointGoesWithItsEndpointThoughItsRequestIsLost() {
    final EvdImpl evd = createEvdOfRequests();
    final RspImpl servicePoint = (RspImpl) bed.ia.createRsp(1, bed.endpoint, evd);
    assertThat(servicePoint.move(SpImpl.Trigger.TAKE)).isTrue(); // a request begins to come
    bed.ia.createPsp(2, evd);
    bed.provider.ask(2);
    final CrImpl request = (CrImpl) requestOf(evd);
    assertThat(bed.endpoint.now().connection().request(servicePoint, request)).isTrue();
    bed.endpoint.closeAsync(Duration.ofSeconds(1));
    servicePoint.waitForAnother();
    bed.settle();

    assertThat(servicePoint.state()).isEqualTo(SpImpl.State.CLOSED);
    assertThat(bed.ia.statistics().open().servicePoints()).as("open service points").isOne();
  }

  /** The provider gets the error; its request, which nobody saw, is answered all the same. */
  @Test
  void required_C02_aRequestWithoutMemoryIsRefusedAndItsServicePointWaitsForAnother()
      throws ReflectiveOperationException {
    final EvdImpl evd = createEvdOfRequests();
    final Field lane = EvdImpl.class.getDeclaredField("lane");
    final Field queue = Lane.class.getDeclaredField("queue");
    lane.setAccessible(true);
    queue.setAccessible(true);
    final Object before = queue.get(lane.get(evd));
    bed.ia.createPsp(1, evd);
    final RspImpl reserved = (RspImpl) bed.ia.createRsp(2, bed.endpoint, evd);

    queue.set(lane.get(evd), null);
    for (int service = 1; service <= 2; service++) {
      final int asked = service;
      assertThatThrownBy(() -> bed.provider.ask(asked)).isInstanceOf(NullPointerException.class);
    }
    queue.set(lane.get(evd), before);
    bed.settle();

    assertThat(bed.provider.rejections).as("statuses of rejections").hasSize(2);
    assertThat(bed.ia.statistics().open().connectionRequests()).isZero();
    assertThat(reserved.state()).isEqualTo(SpImpl.State.LISTENING);
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.RESERVED);
  }

  @Test
  void required_C01_aRequestThatIsClosedWhileItsAcceptFailsIsRejected() {
    final EvdImpl evd = createEvdOfRequests();
    bed.ia.createPsp(1, evd);
    bed.provider.ask(1);
    final ConnectionRequest request = requestOf(evd);
    bed.provider.hook =
        verb -> {
          if (verb.equals("accept")) {
            request.close();
            throw InterceptedProvider.refused(verb);
          }
        };
    assertThatThrownBy(() -> request.accept(bed.endpoint, null))
        .isInstanceOf(DatException.class)
        .hasCauseInstanceOf(VerbsException.class);
    assertThat(bed.provider.rejections).as("statuses of rejections").hasSize(1);
    assertThat(bed.ia.statistics().open().connectionRequests()).isZero();
  }

  /** What ends the connection moves its queue pair to error, and with that the provider fails. */
  @ParameterizedTest
  @ValueSource(strings = {"connect", "accept"})
  void required_C01_aCallThatFailsBecauseOfACloseSaysSo(final String verb) {
    assertThatThrownBy(
            () -> callThatFails(verb, () -> bed.endpoint.closeAsync(Duration.ofSeconds(1))).run())
        .isInstanceOfSatisfying(
            DatException.class,
            e -> assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_HANDLE_EP));
  }

  @ParameterizedTest
  @ValueSource(strings = {"connect", "accept"})
  void required_C01_aCallThatFailsBecauseOfTheEndSaysSo(final String verb) {
    assertThatThrownBy(
            () -> callThatFails(verb, () -> bed.provider.tell(CmEventType.UNREACHABLE, 0)).run())
        .isInstanceOfSatisfying(
            DatException.class,
            e -> assertThat(e.subtype()).isEqualTo(ReturnSubtype.INVALID_STATE_EP_DISCONNECTED));
  }

  /** A connect or an accept; inside it something happens, and it fails. */
  private Runnable callThatFails(final String verb, final Runnable inside) {
    final EvdImpl evd = createEvdOfRequests();
    bed.ia.createPsp(1, evd);
    bed.provider.ask(1);
    final ConnectionRequest request = requestOf(evd);
    bed.provider.hook =
        called -> {
          if (called.equals(verb)) {
            inside.run();
            throw InterceptedProvider.refused(verb);
          }
        };
    return verb.equals("connect")
        ? () -> bed.connect(bed.endpoint)
        : () -> request.accept(bed.endpoint, null);
  }

  @Test
  void required_C02_theBoundOfAConnectIsNoneOfTheConnection() {
    bed.connected();
    bed.pass(Duration.ofSeconds(61)); // 60 were asked for
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.CONNECTED);
  }

  /** A connect that does not return keeps the reset from its end, and the close from its own. */
  @Test
  void required_T02_aCloseThatEndsAResetReportsWhatThatFoundOpen() throws Exception {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch over = new CountDownLatch(1);
    bed.provider.hook =
        verb -> {
          if (verb.equals("connect")) {
            inside.countDown();
            awaitUninterruptibly(over);
          }
        };
    assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, 7)).isEqualTo(Outcome.SUCCESS);
    final Thread connect = start(() -> bed.connect(bed.endpoint));
    inside.await();
    bed.provider.tell(CmEventType.UNREACHABLE, 0);
    bed.settle();
    bed.endpoint.resetAsync(Duration.ofSeconds(60));
    bed.settle();
    final CompletableFuture<DrainReport> close =
        bed.endpoint.closeAsync(Duration.ofSeconds(1)).toCompletableFuture();
    bed.pass(Duration.ofSeconds(2));

    over.countDown();
    connect.join();
    assertThat(close).isCompleted();
    assertThat(close.join().complete()).as("complete").isTrue();
    assertThat(close.join().requests()).extracting(DrainReport.Request::cookie).containsExactly(7L);
  }

  /**
   * That a post returns is told to nobody, so a turn looks now and then; however many there are.
   */
  @Test
  void required_T10_aCloseHasOneTimerForAPostThatDoesNotReturn() throws Exception {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch over = new CountDownLatch(1);
    bed.provider.hook =
        verb -> {
          if (verb.equals("post_recv")) {
            inside.countDown();
            awaitUninterruptibly(over);
          } else if (verb.equals("modify_qp")) {
            throw InterceptedProvider.refused(verb); // so it is given up at once
          }
        };
    bed.evd.upcall(InterceptedBed.on(event -> {}));
    final Thread post = start(() -> bed.endpoint.postReceive(bed.lmr, 0, 8, 7));
    inside.await();
    final CompletableFuture<DrainReport> close =
        bed.endpoint.closeAsync(Duration.ofSeconds(60)).toCompletableFuture();
    bed.settle();
    for (int i = 0; i < 100; i++) {
      assertThat(bed.evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
      bed.pass(Duration.ofNanos(1_000));
    }

    final long before = turns();
    for (int i = 0; i < 100; i++) {
      bed.pass(Duration.ofNanos(10_000));
    }
    assertThat(turns() - before).as("turns in a millisecond").isBetween(1L, 2L);
    assertThat(close).isNotDone();
    over.countDown();
    post.join();
    bed.pass(Duration.ofMillis(1));
    assertThat(close).isCompleted();
    assertThat(close.join().requests()).extracting(DrainReport.Request::cookie).containsExactly(7L);
  }

  /** The verb takes longer than turns may after the bound. */
  @Test
  void required_T02_whatIsAccountedForAfterTheBoundIsReportedThoughTheQueuePairIsNotDestroyed()
      throws Exception {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch over = new CountDownLatch(1);
    final List<DrainReport> reports = new ArrayList<>();
    bed.provider.hook =
        verb -> {
          if (verb.equals("post_recv")) {
            inside.countDown();
            awaitUninterruptibly(over);
          } else if (verb.equals("modify_qp")) {
            throw InterceptedProvider.refused(verb); // no marker waits for the post
          }
        };
    final Thread post = start(() -> bed.endpoint.postReceive(bed.lmr, 0, 8, 7));
    inside.await();
    bed.endpoint.closeAsync(Duration.ZERO).thenAccept(reports::add);
    bed.settle();
    bed.provider.hook =
        verb -> {
          if (verb.equals("destroy_qp")) {
            assertThat(reports).isEmpty();
            bed.pass(Duration.ofSeconds(1));
            assertThat(reports).as("reports while it is destroyed").hasSize(1);
          }
        };
    over.countDown();
    post.join();
    bed.pass(Duration.ofMillis(200));

    assertThat(reports).hasSize(1);
    assertThat(reports.get(0).complete()).as("complete").isTrue();
    assertThat(reports.get(0).requests())
        .extracting(DrainReport.Request::cookie)
        .containsExactly(7L);
  }

  private long turns() {
    return bed.ia.statistics().dispatchers().get(0).turns();
  }

  private static void awaitUninterruptibly(final CountDownLatch latch) {
    try {
      latch.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
