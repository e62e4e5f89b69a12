package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReservedServicePoint;
import org.jdapl.dat.ReturnType;
import org.junit.jupiter.api.Test;

/**
 * The rules of section T that need framework threads and several threads of the test: for benches
 * of which {@link Bench#isVirtual} is false.
 */
public abstract class TeardownThreadsContract extends Contract {

  /** A contract; its state lives for one test. */
  protected TeardownThreadsContract() {}

  @Test
  void required_T01_closingFromTwoThreadsAtOnce() {
    for (int round = 0; round < 5; round++) {
      final Pair pair = Pair.connected(this);
      pair.active.receives(0, 16);
      final Endpoint endpoint = pair.active.endpoint;

      inParallel(endpoint::close, endpoint::close, pair.passive.endpoint::close);

      assertThat(endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
    }
  }

  @Test
  void required_T01_closingWhileAnotherThreadResets() {
    for (int round = 0; round < 5; round++) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.active;
      pair.passive.seen.answer(request -> request.reject(null));
      side.receives(0, 8);
      side.endpoint.disconnect(Disconnect.ABRUPT);
      await(() -> side.endpoint.state() == EndpointState.DISCONNECTED, "the end of the connection");

      inParallel(
          () -> whileOpen(side.endpoint::reset), () -> whileOpen(pair::ask), side.endpoint::close);

      assertThat(side.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
      await(() -> side.adapter.statistics().open().endpoints() == 0, "no endpoint is left");
      side.lmr.close();
      side.pz.close();
    }
  }

  @Test
  void required_T01_closingAServicePointItsEndpointAndARequestAtOnce() {
    for (int round = 0; round < 5; round++) {
      final Pair pair = Pair.open(this);
      final Side side = pair.passive;
      side.seen.answer(request -> whileOpen(() -> request.accept(null, null)));
      pair.active.enable();
      side.enable();
      final ReservedServicePoint rsp = side.adapter.createRsp(connQual(), side.endpoint, side.evd);

      inParallel(
          rsp::close,
          side.endpoint::close,
          () ->
              pair.active.endpoint.connect(
                  side.adapter.address(), rsp.connQual(), Pair.CONNECT, null));

      await(pair.active::ended, "whatever it found, the peer is told");
      await(() -> side.adapter.statistics().open().endpoints() == 0, "no endpoint is left");
      await(() -> side.adapter.statistics().open().servicePoints() == 1, "the public one is left");
      await(() -> side.adapter.statistics().open().connectionRequests() == 0, "no request is");
    }
  }

  /** Something that may find that an endpoint is in another state by now, or closed. */
  private void whileOpen(final Runnable call) {
    try {
      call.run();
    } catch (final DatException e) {
      assertThat(e.type())
          .as(why("it came too late or too early: " + e))
          .isIn(ReturnType.INVALID_STATE, ReturnType.INVALID_HANDLE);
    }
  }

  @Test
  void required_T03_postsThatRaceACloseHaveAnOutcomeOrAreRefused() {
    final EndpointAttributes large = EndpointAttributes.defaults().withMaxDtos(1000, 16);
    for (int round = 0; round < 5; round++) {
      final Pair pair = Pair.open(this, 2048, large).connect();
      final Side side = pair.active;
      final AtomicInteger accepted = new AtomicInteger();
      final AtomicReference<DrainReport> report = new AtomicReference<>();
      final CountDownLatch some = new CountDownLatch(50);

      inParallel(
          () -> accepted.set(receiveUntilSealed(side, 1000, some)),
          () -> {
            hold(some);
            report.set(side.endpoint.closeAsync(BOUND).toCompletableFuture().join());
          });
      side.evd.teardown();
      side.seen.takeAll();

      everyPostHasOneOutcome(side, report.get(), Queue.RECEIVE, range(0, accepted.get()));
    }
  }

  @Test
  void required_T07_closeCompletesWithoutAStuckUpcallAtItsBound() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final CountDownLatch release = new CountDownLatch(1);
    seen.at(1, () -> hold(release));
    evd.upcall(seen);
    post(evd, 1, 2);
    awaitCount(seen, 1, "the first upcall; it is held");

    final DrainReport report =
        await(evd.closeAsync(Duration.ofMillis(200)), "the close, though an upcall is stuck");
    assertThat(report.complete()).as(why("what is behind the stuck upcall is not known")).isFalse();
    release.countDown();
    bench.settle();

    assertThat(seen.count()).as(why("no other upcall")).isEqualTo(1);
  }

  @Test
  void required_T10_abruptCloseEndsWithinItsBoundThoughAHandlerIsStuck() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final CountDownLatch release = new CountDownLatch(1);
    final int before = side.seen.count();
    side.seen.at(before + 1, () -> hold(release));
    post(side.evd, "hold");
    awaitCount(side.seen, before + 1, "the upcall; it is held");

    await(
        inBackground(() -> side.adapter.closeAbruptly(Duration.ofSeconds(1))),
        "the abrupt close, though a handler is stuck");
    await(pair.active::ended, "the end at the peer");
    release.countDown();
  }

  @Test
  void required_T10_anAbruptCloseEndsTheCloseOfAnEvdThatHasMoreTime() {
    final InterfaceAdapter adapter = bench.open();
    final CountDownLatch release = new CountDownLatch(1);
    final Evd evd = stuckEvd(adapter, release, EventStream.SOFTWARE);
    final CompletionStage<DrainReport> close = evd.closeAsync(Duration.ofHours(1));

    await(
        inBackground(() -> adapter.closeAbruptly(Duration.ofSeconds(1))),
        "the abrupt close, though a handler is stuck");
    final DrainReport report = await(close, "the close of the EVD, which has an hour");
    assertThat(report.complete()).as(why("what is behind the stuck upcall is not known")).isFalse();
    release.countDown();
  }

  @Test
  void required_T10_ofTwoClosesOfAnEvdTheShorterBoundCounts() {
    final CountDownLatch release = new CountDownLatch(1);
    final Evd evd = stuckEvd(bench.open(), release, EventStream.SOFTWARE);

    final CompletionStage<DrainReport> first = evd.closeAsync(Duration.ofHours(1));
    await(evd.closeAsync(Duration.ofMillis(200)), "the second close");
    await(first, "the first one, which is the same");
    release.countDown();
  }

  @Test
  void required_T10_ofTwoAbruptClosesTheShorterBoundCounts() {
    final InterfaceAdapter adapter = bench.open();
    final CountDownLatch release = new CountDownLatch(1);
    final Evd stuck =
        stuckEvd(adapter, release, EventStream.SOFTWARE, EventStream.DTO, EventStream.CONNECTION);
    final ProtectionZone pz = adapter.createPz();
    final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.LOCAL_WRITE);
    final Endpoint endpoint = adapter.createEndpoint(pz, stuck, EndpointAttributes.defaults());
    assertThat(endpoint.postReceive(lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    final Evd other = adapter.createEvd(8, EventStream.SOFTWARE);

    final CompletableFuture<Void> first =
        inBackground(() -> adapter.closeAbruptly(Duration.ofHours(1)));
    await(() -> catchThrowable(adapter::createPz) != null, "the first close has begun");
    try {
      await(inBackground(() -> adapter.closeAbruptly(Duration.ofMillis(200))), "the second close");
      await(first, "the first one, which is the same");
      await(
          () -> catchThrowable(() -> other.postSoftwareEvent("late")) != null,
          "the close of the other EVD");
    } finally {
      release.countDown(); // or what cleans up waits for the first one
    }
  }

  /** An EVD whose handler is stuck at a software event until it is let go. */
  private Evd stuckEvd(
      final InterfaceAdapter adapter, final CountDownLatch release, final EventStream... streams) {
    final Evd evd = adapter.createEvd(64, streams);
    final Recorder seen = recorder(evd);
    seen.at(1, () -> hold(release));
    evd.upcall(seen);
    post(evd, 1);
    awaitCount(seen, 1, "the first upcall; it is held");
    return evd;
  }

  /** Posts receives until the endpoint is sealed; returns how many were accepted. */
  private int receiveUntilSealed(final Side side, final int limit, final CountDownLatch some) {
    int accepted = 0;
    try {
      while (accepted < limit && side.receive(accepted) == Outcome.SUCCESS) {
        accepted++;
        some.countDown();
      }
    } catch (final DatException e) {
      assertThat(e.type()).as(why("sealed")).isEqualTo(ReturnType.INVALID_STATE);
    }
    return accepted;
  }
}
