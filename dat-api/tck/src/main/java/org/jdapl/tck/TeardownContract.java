package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DrainReport.Status;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.junit.jupiter.api.Test;

/** Section T: teardown. */
public abstract class TeardownContract extends Contract {

  /** A contract; its state lives for one test. */
  protected TeardownContract() {}

  // T01: close in every state, from any thread, twice

  @Test
  void required_T01_closeOfAnEndpointThatNeverConnected() {
    final Pair pair = Pair.open(this);

    pair.active.endpoint.close();

    assertThat(pair.active.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
  }

  @Test
  void required_T01_closeRightAfterConnect() {
    final Pair pair = Pair.open(this);
    pair.active.enable();
    pair.passive.enable();

    pair.ask();
    pair.active.endpoint.close();
    final int atClose = pair.active.seen.count();
    bench.settle();

    assertThat(pair.active.seen.count())
        .as(why("no event of the endpoint after its close"))
        .isEqualTo(atClose);
  }

  @Test
  void required_T01_closeWhileTheConnectIsPendingAtASilentPeer() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    pair.passive.seen.answer(request::set);
    pair.active.enable();
    pair.passive.enable();
    pair.ask();
    await(() -> request.get() != null, "the request, which nobody answers");
    assertThat(pair.active.endpoint.state())
        .as(why("no answer yet"))
        .isEqualTo(EndpointState.ACTIVE_CONNECTION_PENDING);

    await(pair.active.endpoint.closeAsync(BOUND), "the close needs no answer of the peer");
    request.get().close();
    bench.settle();

    assertThat(pair.active.seen.established(pair.active.endpoint)).as(why("never")).isFalse();
  }

  @Test
  void required_T01_closeWhileTheConnectIsPendingAndNobodyListens() {
    final Pair pair = Pair.open(this);
    pair.psp.close();
    pair.active.enable();
    pair.ask();

    await(pair.active.endpoint.closeAsync(BOUND), "the close");
  }

  @Test
  void required_T01_closeRightAfterAccept() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(
        request -> {
          request.accept(pair.passive.endpoint, null);
          pair.passive.endpoint.close();
        });
    pair.active.enable();
    pair.passive.enable();

    pair.ask();
    await(pair.active::ended, "the end at the peer");
    await(pair.passive.endpoint.closeAsync(BOUND), "the close");
    bench.settle();

    assertThat(pair.active.seen.terminals(pair.active.endpoint)).as(why("once")).hasSize(1);
  }

  @Test
  void required_T01_closeOfAConnectedEndpointMovesItToTheErrorStateFirst() {
    final Pair pair = Pair.connected(this);
    pair.active.evd.teardown();
    pair.active.receives(0, 4);

    final DrainReport report = await(pair.active.endpoint.closeAsync(BOUND), "the close");
    await(pair.passive::ended, "the end at the peer");

    assertThat(report.requests())
        .as(why("open receives are drained as flushed before anything is destroyed"))
        .hasSize(4)
        .allMatch(request -> request.status() == Status.FLUSHED);
  }

  @Test
  void required_E02_noCompletionOvertakesOneInTheReport() {
    for (int rounds = 0; rounds < 12; rounds++) {
      final Pair pair = Pair.connected(this);
      pair.passive.evd.teardown();
      pair.arrive(0, 4);
      pair.passive.receives(4, 8);
      final long before = pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE).size();

      final CompletionStage<DrainReport> closing = pair.passive.endpoint.closeAsync(BOUND);
      final int enableAfter = rounds;
      final AtomicInteger looks = new AtomicInteger();
      await(() -> looks.getAndIncrement() == enableAfter, "some rounds of the close");
      pair.passive.enable(); // in the middle of the close
      final DrainReport report = await(closing, "the close");

      final List<Long> all =
          new ArrayList<>(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE));
      final long handedOut = all.size() - before;
      report.requests().forEach(request -> all.add(request.cookie()));
      assertThat(all)
          .as(why(handedOut + " handed out, then those in the report, in the order of the posts"))
          .containsExactlyElementsOf(range(0, 12));
    }
  }

  @Test
  void required_T01_closeWhileDisconnecting() {
    for (final Disconnect how : Disconnect.values()) {
      final Pair pair = Pair.connected(this);
      pair.passive.receives(0, 8);
      pair.active.sends(0, 8);

      pair.active.endpoint.disconnect(how);
      await(pair.active.endpoint.closeAsync(BOUND), "the close after " + how);
      await(pair.passive::ended, "the end at the peer");
    }
  }

  @Test
  void required_T01_closeOfADisconnectedEndpoint() {
    final Pair pair = Pair.connected(this);
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");

    pair.active.endpoint.close();
    pair.passive.endpoint.close();

    assertThat(pair.active.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
  }

  @Test
  void required_T01_closeOfARejectedEndpoint() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(request -> request.reject(null));
    pair.active.enable();
    pair.passive.enable();
    pair.ask();
    await(pair.active::ended, "the rejection");

    pair.active.endpoint.close();

    assertThat(pair.active.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
  }

  @Test
  void required_T01_closingTwiceIsLegalAndGivesTheSame() {
    final Pair pair = Pair.connected(this);
    pair.active.evd.teardown();
    pair.active.receives(0, 4);

    final DrainReport first = await(pair.active.endpoint.closeAsync(BOUND), "the first close");
    pair.active.endpoint.close();
    final DrainReport second = await(pair.active.endpoint.closeAsync(BOUND), "the second close");

    assertThat(second).as(why("the same report")).isEqualTo(first);
  }

  @Test
  void required_T01_closingBothSidesAtOnceInsideUpcalls() {
    final Pair pair = Pair.connected(this);
    final int active = pair.active.seen.count();
    final int passive = pair.passive.seen.count();
    pair.active.seen.at(active + 1, pair.active.endpoint::close);
    pair.passive.seen.at(passive + 1, pair.passive.endpoint::close);

    post(pair.active.evd, "close");
    post(pair.passive.evd, "close");
    awaitCount(pair.active.seen, active + 1, "the closing upcall");
    awaitCount(pair.passive.seen, passive + 1, "the closing upcall");

    await(pair.active.endpoint.closeAsync(BOUND), "the close of the active side");
    await(pair.passive.endpoint.closeAsync(BOUND), "the close of the passive side");
  }

  @Test
  void required_T01_closeRejectsAnUnansweredRequest() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(ConnectionRequest::close);
    pair.active.enable();
    pair.passive.enable();

    pair.ask();

    await(pair.active::ended, "closing a request that was not answered rejects it");
  }

  // T02: K posts, K outcomes

  @Test
  void required_A06_aCloseEndsThoughNoReceiveWasSolicited() {
    final Pair pair = Pair.open(this);
    final Evd quiet = pair.passive.hearSolicitedOnly();
    pair.connect();
    pair.passive.receives(0, 5);
    pair.active.sends(0, 3);
    await(() -> pair.active.successes(Queue.REQUEST) == 3, "the success of the sends");

    final DrainReport report =
        await(pair.passive.endpoint.closeAsync(BOUND), "the close, long before its bound");

    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("nobody took one: " + quiet))
        .containsExactlyElementsOf(range(0, 5));
    assertThat(requests(report, Queue.RECEIVE))
        .as(why("none was given up"))
        .noneMatch(request -> request.status() == Status.UNKNOWN);
  }

  @Test
  void required_T02_aCloseEndsOverAnEvdThatWasDequeued() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    for (int i = 0; i < 3; i++) {
      pair.arrive(i, 1);
      assertThat(side.seen.takeAll()).as(why("receive " + i)).isEqualTo(1);
    }
    side.receives(3, 5);

    final DrainReport report =
        await(side.endpoint.closeAsync(BOUND), "the close, long before its bound");

    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("nobody took them"))
        .containsExactlyElementsOf(range(3, 5));
    assertThat(requests(report, Queue.RECEIVE))
        .as(why("none was given up"))
        .allMatch(request -> request.status() == Status.FLUSHED);
  }

  @Test
  void required_T02_withADisabledEvdAllOutcomesAreInTheReport() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 8);
    side.receives(8, 8);
    side.sends(100, 3);

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
    side.seen.takeAll();

    assertThat(side.seen.completions()).as(why("none was delivered")).isEmpty();
    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("receives, in order"))
        .containsExactlyElementsOf(range(0, 16));
    assertThat(cookies(report, Queue.REQUEST))
        .as(why("requests, in order"))
        .containsExactlyElementsOf(range(100, 3));
    assertThat(requests(report, Queue.RECEIVE).subList(0, 8))
        .as(why("the eight that were done"))
        .allMatch(request -> request.status() == Status.SUCCESS);
    assertThat(requests(report, Queue.RECEIVE).subList(8, 16))
        .as(why("the eight that were open"))
        .allMatch(request -> request.status() == Status.FLUSHED);
  }

  @Test
  void required_T02_withAnEnabledEvdEachOutcomeIsDeliveredOrInTheReport() {
    for (int done = 0; done <= 16; done += 8) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.passive;
      side.receives(0, 16);
      side.sends(100, 4);
      pair.active.sends(0, done);

      final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
      bench.settle();

      everyPostHasOneOutcome(side, report, Queue.RECEIVE, range(0, 16));
      everyPostHasOneOutcome(side, report, Queue.REQUEST, range(100, 4));
    }
  }

  @Test
  void required_T02_withHalfOfThemDequeuedTheRestIsInTheReport() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 8);
    side.receives(8, 4);
    for (int i = 0; i < 4; i++) {
      succeeds(side.seen.take(), "a completion is there");
    }

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
    side.seen.takeAll();

    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
        .as(why("dequeued before the close"))
        .containsExactlyElementsOf(range(0, 4));
    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("the rest"))
        .containsExactlyElementsOf(range(4, 8));
  }

  @Test
  void required_T02_whatIsDrainedDuringTheCloseIsNotInTheReport() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 8);
    side.receives(8, 8);

    final CompletionStage<DrainReport> closing = side.endpoint.closeAsync(BOUND);
    awaitTaking(
        side.seen, closing.toCompletableFuture()::isDone, "the close, events dequeued meanwhile");
    final DrainReport report = await(closing, "the close");

    everyPostHasOneOutcome(side, report, Queue.RECEIVE, range(0, 16));
  }

  @Test
  void required_T02_suppressedSuccessesAreCounted() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    pair.passive.receives(0, 16);
    side.sends(0, 6, CompletionFlags.SUPPRESS);
    side.sends(6, 2);
    await(() -> side.successes(Queue.REQUEST) == 2, "the two that are not suppressed");

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");

    assertThat(report.suppressed()).as(why("six succeeded in silence")).isEqualTo(6);
    assertThat(report.requests()).as(why("nothing was open")).isEmpty();
    assertThat(side.seen.cookies(side.endpoint, Queue.REQUEST))
        .as(why("no event for a suppressed success"))
        .containsExactly(6L, 7L);
  }

  @Test
  void required_T02_suppressedRequestsThatWereOpenHaveAnOutcomeToo() {
    for (final boolean enabled : new boolean[] {true, false}) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.active;
      pair.passive.receives(0, 4);
      if (!enabled) {
        side.evd.teardown();
      }
      for (int i = 0; i < 16; i++) {
        final int flags = i % 3 == 2 ? CompletionFlags.DEFAULT : CompletionFlags.SUPPRESS;
        succeeds(side.send(i, flags), "a send within the endpoint's own count");
      }

      final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
      side.evd.teardown();
      side.seen.takeAll();

      final List<Long> outcomes = outcomes(side, report, Queue.REQUEST);
      assertThat(outcomes)
          .as(why("delivered and reported, in order, none twice: " + report))
          .isSubsetOf(range(0, 16))
          .isSorted()
          .doesNotHaveDuplicates();
      assertThat(outcomes.size() + report.suppressed())
          .as(why("16 posts, 16 outcomes: " + report + side.seen))
          .isEqualTo(16);
    }
  }

  @Test
  void required_T02_receivesOfAnEndpointThatNeverConnectedAreInTheReport() {
    final Pair pair = Pair.open(this);
    pair.active.receives(0, 5);

    final DrainReport report = await(pair.active.endpoint.closeAsync(BOUND), "the close");

    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("in order"))
        .containsExactlyElementsOf(range(0, 5));
    assertThat(report.requests())
        .as(why("nothing ever came"))
        .allMatch(request -> request.status() == Status.FLUSHED);
  }

  @Test
  void required_T02_theReportCarriesCookiesAndContexts() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    final Object context = new Object();
    final Segments segments = side.message(0);
    succeeds(side.endpoint.postReceive(segments, Long.MIN_VALUE, context), "a receive");
    succeeds(side.endpoint.postReceive(segments, -1, null), "a receive");

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");

    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("all 64 bits"))
        .containsExactly(Long.MIN_VALUE, -1L);
    assertThat(report.requests().get(0).context()).as(why("itself")).isSameAs(context);
    assertThat(report.requests().get(1).context()).as(why("none")).isNull();
  }

  @Test
  void required_T02_postsAfterADisconnectHaveTheirOutcomesToo() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    side.endpoint.disconnect(Disconnect.ABRUPT);
    await(side::ended, "the end");
    side.evd.teardown();
    side.sends(0, 4);
    side.receives(10, 4);
    bench.settle();

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
    side.seen.takeAll();

    everyPostHasOneOutcome(side, report, Queue.REQUEST, range(0, 4));
    everyPostHasOneOutcome(side, report, Queue.RECEIVE, range(10, 4));
  }

  @Test
  void required_T02_closeInsideAnUpcallAccountsForAllPosts() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.receives(0, 16);
    final AtomicReference<CompletionStage<DrainReport>> closing = new AtomicReference<>();
    side.seen.at(side.seen.count() + 3, () -> closing.set(side.endpoint.closeAsync(BOUND)));

    pair.active.sends(0, 16);
    await(() -> closing.get() != null, "the third receive");
    final DrainReport report = await(closing.get(), "the close");
    bench.settle();

    everyPostHasOneOutcome(side, report, Queue.RECEIVE, range(0, 16));
  }

  // T03: close seals, disconnect does not

  @Test
  void required_T03_postsAfterCloseAreRefused() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;

    side.endpoint.close();

    refused(ReturnType.INVALID_STATE, "a send after close", () -> side.send(1));
    refused(ReturnType.INVALID_STATE, "a receive after close", () -> side.receive(1));
    refused(
        ReturnType.INVALID_STATE,
        "an RDMA write after close",
        () -> side.endpoint.postRdmaWrite(side.lmr, 0, 8, 0, 0, 1));
    refused(
        ReturnType.INVALID_STATE,
        "an RDMA read after close",
        () -> side.endpoint.postRdmaRead(side.lmr, 0, 8, 0, 0, 1));
  }

  @Test
  void required_T03_postsWhileClosingAreRefused() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    side.receives(0, 4);
    final AtomicBoolean tried = new AtomicBoolean();
    side.seen.at(
        side.seen.count() + 1,
        () -> {
          side.endpoint.close();
          refused(ReturnType.INVALID_STATE, "a send while closing", () -> side.send(1));
          refused(ReturnType.INVALID_STATE, "a receive while closing", () -> side.receive(9));
          tried.set(true);
        });

    post(side.evd, "close");
    await(tried::get, "sealed at once, though the close cannot complete inside the upcall");
    await(side.endpoint.closeAsync(BOUND), "the close");
  }

  @Test
  void required_T03_postsAfterADisconnectCompleteAsFlushed() {
    for (final Disconnect how : Disconnect.values()) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.active;
      side.endpoint.disconnect(how);
      await(side::ended, "the end");

      side.sends(0, 3);
      side.receives(10, 3);
      succeeds(side.endpoint.postRdmaWrite(side.lmr, 0, 8, 0, 0, 3), "an RDMA write");
      succeeds(side.endpoint.postRdmaRead(side.lmr, 0, 8, 0, 0, 4), "an RDMA read");
      await(() -> side.seen.completions().size() == 8, "eight completions");

      assertThat(side.seen.completions())
          .as(why("the connection is over"))
          .extracting(DtoCompletion::status)
          .containsOnly(DtoStatus.ERR_FLUSHED);
      assertThat(side.seen.cookies(side.endpoint, Queue.REQUEST))
          .as(why("in order"))
          .containsExactly(0L, 1L, 2L, 3L, 4L);
      assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
          .as(why("in order"))
          .containsExactly(10L, 11L, 12L);
    }
  }

  // T05: what a destroyed QP left in a CQ

  @Test
  void required_T05_completionsOfAClosedEndpointDoNotBlockThoseBehindThem() {
    final Pair pair = Pair.connected(this);
    final Endpoint doomed = pair.passive.endpoint;
    final Endpoint doomedPeer = pair.active.endpoint;
    pair.renew();
    pair.connect();
    final Endpoint sound = pair.passive.endpoint;
    final Endpoint soundPeer = pair.active.endpoint;
    pair.passive.evd.teardown();
    final int before = pair.passive.seen.count();
    for (int i = 0; i < 4; i++) {
      pair.passive.endpoint = doomed;
      pair.active.endpoint = doomedPeer;
      pair.arrive(i, 1);
      pair.passive.endpoint = sound;
      pair.active.endpoint = soundPeer;
      pair.arrive(100 + i, 1);
    }

    final DrainReport report = await(doomed.closeAsync(BOUND), "the close");
    final int taken = pair.passive.seen.takeAll();

    assertThat(taken).as(why("those of the other endpoint")).isEqualTo(4);
    assertThat(pair.passive.seen.count() - before).as(why("and no more")).isEqualTo(4);
    assertThat(pair.passive.seen.cookies(sound, Queue.RECEIVE))
        .as(why("in order"))
        .containsExactlyElementsOf(range(100, 4));
    assertThat(cookies(report, Queue.RECEIVE))
        .as(why("swept into the report"))
        .containsExactlyElementsOf(range(0, 4));
  }

  @Test
  void required_T05_completionsOfAClosedEndpointDoNotBlockUpcalls() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();
    pair.arrive(0, 8);
    pair.passive.endpoint.close();
    pair.active.endpoint.close();

    pair.renew();
    pair.connect();
    pair.arrive(100, 8);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 8, "the receives of the new endpoint");

    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("nothing left over among them"))
        .containsExactlyElementsOf(range(100, 8));
  }

  @Test
  void required_T05_theRoomOfSweptCompletionsComesBack() {
    final EndpointAttributes attributes = EndpointAttributes.defaults().withMaxDtos(8, 8);
    final Pair pair = Pair.open(this, 16, attributes);
    for (int round = 0; round < 10; round++) {
      pair.connect();
      pair.passive.evd.teardown();
      pair.arrive(0, 8);
      pair.passive.endpoint.close();
      pair.active.endpoint.close();

      pair.renew();
    }

    assertThat(pair.passive.seen.completions()).as(why("none was delivered")).isEmpty();
  }

  // T07: the end of an EVD

  @Test
  void required_T07_closingAnEvdInsideItsOwnUpcallIsDeferred() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final AtomicReference<CompletionStage<DrainReport>> closing = new AtomicReference<>();
    final AtomicBoolean early = new AtomicBoolean();
    side.seen.at(
        side.seen.count() + 1,
        () -> {
          closing.set(
              side.endpoint.closeAsync(BOUND).thenCompose(report -> side.evd.closeAsync(BOUND)));
          early.set(closing.get().toCompletableFuture().isDone());
        });

    post(side.evd, "close");
    await(() -> closing.get() != null, "closing inside the upcall returns at once");
    await(closing.get(), "the close of endpoint and EVD after the upcall");
    final int atClose = side.seen.count();
    bench.settle();

    assertThat(early.get()).as(why("never complete inside the upcall")).isFalse();
    assertThat(side.seen.count()).as(why("nothing afterwards")).isEqualTo(atClose);
  }

  @Test
  void required_T07_anEvdThatNothingUsesIsNotClosedInsideItsOwnUpcallEither() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicReference<CompletionStage<DrainReport>> closing = new AtomicReference<>();
    final AtomicBoolean early = new AtomicBoolean();
    seen.at(
        1,
        () -> {
          final CompletionStage<DrainReport> stage = evd.closeAsync(BOUND);
          early.set(stage.toCompletableFuture().isDone());
          closing.set(stage);
        });
    evd.upcall(seen);

    post(evd, 1);
    await(() -> closing.get() != null, "closing inside the upcall returns at once");
    await(closing.get(), "the close after the upcall");

    assertThat(early.get()).as(why("never complete inside the upcall")).isFalse();
  }

  @Test
  void required_T07_closeIsABarrierAgainstNotifications() {
    for (int round = 0; round < 10; round++) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.active;
      pair.passive.receives(0, 16);
      side.sends(0, 16);

      side.endpoint.close();
      side.evd.close();
      final int atClose = side.seen.count();
      bench.settle();

      assertThat(side.seen.count())
          .as(why("a notification that was under way when the CQ was destroyed"))
          .isEqualTo(atClose);
    }
  }

  // T10: the end of an adapter

  @Test
  void required_T10_gracefulCloseRefusesWhileObjectsLiveAndNamesThem() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;

    final DatException refusal =
        refused(
            ReturnType.INVALID_STATE,
            ReturnSubtype.INVALID_STATE_IA_IN_USE,
            "a graceful close with objects open",
            side.adapter::close);

    assertThat(refusal)
        .as(why("which objects are in the way"))
        .hasMessageContaining(side.endpoint.name())
        .hasMessageContaining(side.evd.name())
        .hasMessageContaining(side.pz.name())
        .hasMessageContaining(pair.psp.name());
    assertThat(side.endpoint.state())
        .as(why("and nothing was closed"))
        .isEqualTo(EndpointState.CONNECTED);
  }

  @Test
  void required_T10_gracefulCloseWorksWhenAllObjectsAreClosed() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;

    side.endpoint.close();
    pair.psp.close();
    side.evd.close();
    side.lmr.close();
    side.pz.close();
    side.adapter.close();
    side.adapter.close();

    refused(ReturnType.INVALID_HANDLE, "a call on a closed adapter", side.adapter::createPz);
  }

  @Test
  void required_T10_gracefulCloseOfAFreshAdapterNeedsNothing() {
    final InterfaceAdapter adapter = bench.open();

    adapter.close();

    refused(ReturnType.INVALID_HANDLE, "a call on a closed adapter", adapter::createPz);
  }

  @Test
  void required_T10_abruptCloseClosesEverything() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.receives(0, 16);
    pair.active.sends(0, 16);

    side.adapter.closeAbruptly(BOUND);
    final int atClose = side.seen.count();
    await(pair.active::ended, "the end at the peer");
    bench.settle();

    assertThat(side.seen.count()).as(why("no upcall afterwards")).isEqualTo(atClose);
    assertThat(side.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
    refused(ReturnType.INVALID_HANDLE, "a post to its EVD", () -> post(side.evd, 1));
    refused(ReturnType.INVALID_HANDLE, "memory of its zone", () -> memory(side));
    refused(ReturnType.INVALID_HANDLE, "a zone of it", side.adapter::createPz);
  }

  @Test
  void required_T10_abruptCloseTwiceAndAfterwardsGracefully() {
    final Pair pair = Pair.connected(this);

    pair.active.adapter.closeAbruptly(BOUND);
    pair.active.adapter.closeAbruptly(BOUND);
    pair.active.adapter.close();

    pair.active.endpoint.close();
    pair.active.evd.close();
    pair.active.lmr.close();
    pair.active.pz.close();
    assertThat(pair.active.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
  }

  @Test
  void required_T10_abruptCloseInsideAnUpcall() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final AtomicBoolean returned = new AtomicBoolean();
    side.seen.at(
        side.seen.count() + 1,
        () -> {
          side.adapter.closeAbruptly(BOUND);
          returned.set(true);
        });

    post(side.evd, "close");
    await(returned::get, "it does not wait inside an upcall");
    await(pair.active::ended, "but the closing goes on: the end at the peer");
    await(() -> side.endpoint.state() == EndpointState.CLOSED, "and the end of its endpoint");
  }

  @Test
  void required_T10_abruptCloseWithAConnectPending() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(request -> {});
    pair.active.enable();
    pair.passive.enable();
    pair.ask();
    awaitCount(pair.passive.seen, 1, "the request, which nobody answers");

    pair.active.adapter.closeAbruptly(BOUND);

    assertThat(pair.active.endpoint.state()).as(why("closed")).isEqualTo(EndpointState.CLOSED);
  }

  private void memory(final Side side) {
    side.pz.createLmr(ByteBuffer.allocateDirect(8)).close();
  }
}
