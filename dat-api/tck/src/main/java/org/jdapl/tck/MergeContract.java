package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.junit.jupiter.api.Test;

/** Section M: the order in which the events of one EVD are handed out. */
public abstract class MergeContract extends Contract {

  private static final int CONNECTS = 20;

  /** A contract; its state lives for one test. */
  protected MergeContract() {}

  // M01: any streams, any endpoints

  @Test
  void required_M01_oneEvdTakesAllStreams() {
    final Pair pair = Pair.connected(this);

    pair.passive.receives(0, 1);
    pair.active.sends(0, 1);
    post(pair.passive.evd, "software");
    awaitCount(pair.passive.seen, 4, "a request, ESTABLISHED, a receive, a software event");

    assertThat(pair.passive.seen.events())
        .as(why("DTO and CONNECTION included"))
        .extracting(Event::stream)
        .contains(
            EventStream.CONNECTION_REQUEST,
            EventStream.CONNECTION,
            EventStream.DTO,
            EventStream.SOFTWARE);
  }

  @Test
  void required_M01_oneEvdServesManyEndpoints() {
    final Pair pair = Pair.open(this, 512, EndpointAttributes.defaults());
    final List<Endpoint> actives = new ArrayList<>();
    final List<Endpoint> passives = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      if (i > 0) {
        pair.renew();
      }
      pair.connect();
      actives.add(pair.active.endpoint);
      passives.add(pair.passive.endpoint);
    }

    for (int i = 0; i < 8; i++) {
      pair.passive.endpoint = passives.get(i);
      pair.active.endpoint = actives.get(i);
      pair.passive.receives(10 * i, 4);
      pair.active.sends(10 * i, 4);
    }
    awaitCount(pair.passive.seen, 8 * (2 + 4), "two events and four receives of each");

    for (int i = 0; i < 8; i++) {
      assertThat(pair.passive.seen.cookies(passives.get(i), Queue.RECEIVE))
          .as(why("endpoint " + i + ": its own completions in its own order"))
          .containsExactlyElementsOf(range(10L * i, 4));
    }
  }

  @Test
  void required_M01_eachQueueMayHaveAnEvdOfItsOwn() {
    final Pair pair = Pair.open(this);
    final InterfaceAdapter adapter = pair.active.adapter;
    final Evd receives = adapter.createEvd(16, EventStream.DTO);
    final Evd requests = adapter.createEvd(16, EventStream.DTO);
    final Evd connection = adapter.createEvd(1, EventStream.CONNECTION);
    final Recorder received = recorder(receives);
    final Recorder requested = recorder(requests);
    final Recorder connected = recorder(connection);
    final Endpoint endpoint =
        adapter.createEndpoint(
            pair.active.pz, receives, requests, connection, EndpointAttributes.defaults());
    pair.active.endpoint = endpoint;
    receives.upcall(received);
    requests.upcall(requested);
    connection.upcall(connected);
    pair.passive.enable();

    pair.ask();
    await(() -> connected.established(endpoint) && pair.passive.established(), "ESTABLISHED");
    pair.active.receives(0, 2);
    pair.passive.receives(0, 2);
    pair.active.sends(10, 2);
    pair.passive.sends(10, 2);
    awaitCount(requested, 2, "sends at the request EVD");
    awaitCount(received, 2, "receives at the receive EVD");

    assertThat(requested.cookies(endpoint, Queue.REQUEST))
        .as(why("sends"))
        .containsExactly(10L, 11L);
    assertThat(received.cookies(endpoint, Queue.RECEIVE))
        .as(why("receives"))
        .containsExactly(0L, 1L);
    assertThat(connected.count()).as(why("nothing else there")).isEqualTo(1);
  }

  // M02: ESTABLISHED before the first success

  @Test
  void required_M02_establishedPrecedesTheFirstReceiveAtThePassiveSide() {
    final Pair pair = Pair.open(this);
    pair.active.seen.connection(event -> sendAtOnce(pair.active, event));
    connectManyTimes(pair, pair.passive);
  }

  @Test
  void required_M02_establishedPrecedesTheFirstReceiveAtTheActiveSide() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.connection(event -> sendAtOnce(pair.passive, event));
    connectManyTimes(pair, pair.active);
  }

  @Test
  void required_M02_establishedPrecedesTheFirstReceiveAlsoIfBothSendAtOnce() {
    final Pair pair = Pair.open(this);
    pair.active.seen.connection(event -> sendAtOnce(pair.active, event));
    pair.passive.seen.connection(event -> sendAtOnce(pair.passive, event));
    connectManyTimes(pair, pair.active, pair.passive);
  }

  @Test
  void required_M02_establishedPrecedesTheFirstReceiveAlsoForADequeuingConsumer() {
    final Pair pair = Pair.open(this);
    pair.active.seen.connection(event -> sendAtOnce(pair.active, event));
    pair.active.enable();
    pair.passive.receives(0, 4);

    pair.ask();
    awaitTaking(
        pair.passive.seen,
        () -> pair.passive.successes(Queue.RECEIVE) == 4,
        "four receives by dequeue");

    establishedFirst(pair.passive.seen, pair.passive.endpoint);
  }

  @Test
  void required_M02_holdingOneEndpointHoldsNoOther() {
    final Pair pair = Pair.connected(this);
    final Endpoint oldActive = pair.active.endpoint;
    final Endpoint oldPassive = pair.passive.endpoint;
    pair.renew();
    pair.active.seen.connection(event -> sendAtOnce(pair.active, event));
    pair.passive.receives(0, 4);

    pair.ask();
    for (int i = 0; i < 8; i++) {
      succeeds(oldPassive.postReceive(pair.passive.lmr, 0, 64, 100 + i), "a receive");
      succeeds(oldActive.postSend(pair.active.lmr, 0, 64, 100 + i), "a send");
    }
    await(
        () -> pair.passive.seen.successes(oldPassive, Queue.RECEIVE) == 8,
        "completions of a connected endpoint while another connects");
    await(() -> pair.passive.successes(Queue.RECEIVE) == 4, "completions of the new one");

    establishedFirst(pair.passive.seen, pair.passive.endpoint);
  }

  // M03: successes before the end

  @Test
  void required_M03_successesPrecedeDisconnectedThoughThePeerDisconnectsAtOnce() {
    for (int n = 0; n <= 16; n += 4) {
      final int count = n;
      final Pair pair = Pair.connected(this);
      pair.passive.receives(0, 16);

      pair.active.sends(0, count);
      pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
      await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
      bench.settle();

      successesFirst(pair.passive, Queue.RECEIVE, count);
      successesFirst(pair.active, Queue.REQUEST, count);
    }
  }

  @Test
  void required_M03_successesPrecedeDisconnectedAlsoIfTheSendsAreSuppressed() {
    for (int n = 1; n <= 16; n += 5) {
      final int count = n;
      final Pair pair = Pair.connected(this);
      pair.passive.receives(0, 16);

      pair.active.sends(0, count, CompletionFlags.SUPPRESS);
      pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
      await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
      bench.settle();

      successesFirst(pair.passive, Queue.RECEIVE, count);
      successesFirst(pair.active, Queue.REQUEST, 0);
    }
  }

  @Test
  void required_M03_whateverSucceededPrecedesAnAbruptEnd() {
    for (int i = 0; i < 5; i++) {
      final Pair pair = Pair.connected(this);
      pair.passive.receives(0, 16);

      pair.active.sends(0, 16);
      pair.active.endpoint.disconnect(Disconnect.ABRUPT);
      await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
      awaitCount(pair.passive.seen, 3 + 16, "an outcome of every receive");
      awaitCount(pair.active.seen, 2 + 16, "an outcome of every send");

      noSuccessAfterTheEnd(pair.passive);
      noSuccessAfterTheEnd(pair.active);
    }
  }

  @Test
  void required_M03_successesPrecedeDisconnectedAlsoForADequeuingConsumer() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();
    pair.passive.receives(0, 16);

    pair.active.sends(0, 12);
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(pair.active::ended, "the end at the active side");
    bench.settle();
    awaitTaking(pair.passive.seen, pair.passive::ended, "the end, by dequeue");

    successesFirst(pair.passive, Queue.RECEIVE, 12);
  }

  @Test
  void required_M03_flushesOfTheEndAreDelivered() {
    final Pair pair = Pair.connected(this);
    pair.passive.receives(0, 16);
    pair.active.sends(0, 5);
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    awaitCount(pair.passive.seen, 3 + 16, "five successes, eleven flushes, DISCONNECTED");

    final List<DtoCompletion> receives =
        pair.passive.seen.completions(pair.passive.endpoint, Queue.RECEIVE);
    assertThat(receives)
        .as(why("in the order of the posts"))
        .extracting(DtoCompletion::cookie)
        .containsExactlyElementsOf(range(0, 16));
    assertThat(receives.subList(5, 16))
        .as(why("what was open at the end is flushed"))
        .allMatch(receive -> receive.status() == DtoStatus.ERR_FLUSHED);
  }

  // M04: exactly one terminal event

  @Test
  void required_M04_bothSidesDisconnectInTheSameBreath() {
    for (final Disconnect one : Disconnect.values()) {
      for (final Disconnect other : Disconnect.values()) {
        final Pair pair = Pair.connected(this);

        pair.active.endpoint.disconnect(one);
        pair.passive.endpoint.disconnect(other);

        oneTerminalEach(pair, one + " and " + other + " at once");
      }
    }
  }

  @Test
  void required_M04_disconnectingAgainAddsNoEvent() {
    for (final Disconnect again : Disconnect.values()) {
      final Pair pair = Pair.connected(this);

      pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
      pair.active.endpoint.disconnect(again);
      oneTerminalEach(pair, again + " after GRACEFUL");
      pair.active.endpoint.disconnect(again);
      pair.passive.endpoint.disconnect(again);

      oneTerminalEach(pair, again + " in DISCONNECTED");
    }
  }

  @Test
  void required_M04_disconnectingInsideTheEstablishedUpcallOfBothSides() {
    for (final Disconnect how : Disconnect.values()) {
      final Pair pair = Pair.open(this);
      pair.active.seen.connection(event -> disconnectAtOnce(event, how));
      pair.passive.seen.connection(event -> disconnectAtOnce(event, how));
      pair.active.enable();
      pair.passive.enable();

      pair.ask();

      oneTerminalEach(pair, how + " inside ESTABLISHED");
    }
  }

  @Test
  void required_M04_closingOneSideEndsTheOtherOnce() {
    final Pair pair = Pair.connected(this);

    pair.active.endpoint.close();
    await(pair.passive::ended, "the end at the peer of a closed endpoint");
    bench.settle();

    assertThat(pair.passive.seen.terminals(pair.passive.endpoint))
        .as(why("at the peer"))
        .hasSize(1);
    assertThat(pair.active.seen.terminals(pair.active.endpoint))
        .as(why("here: before the close completed or not at all"))
        .hasSizeLessThanOrEqualTo(1);
  }

  @Test
  void required_M04_closingAfterADisconnectAddsNoEvent() {
    for (final Disconnect how : Disconnect.values()) {
      final Pair pair = Pair.connected(this);

      pair.active.endpoint.disconnect(how);
      pair.active.endpoint.close();
      await(pair.passive::ended, "the end at the peer");
      bench.settle();

      assertThat(pair.passive.seen.terminals(pair.passive.endpoint))
          .as(why(how + ", then close: at the peer"))
          .hasSize(1);
      assertThat(pair.active.seen.terminals(pair.active.endpoint))
          .as(why(how + ", then close: here"))
          .hasSizeLessThanOrEqualTo(1);
    }
  }

  @Test
  void required_M04_aLostAdapterEndsTheOtherSideOnce() {
    final Pair pair = Pair.connected(this);

    pair.active.adapter.closeAbruptly(BOUND);
    await(pair.passive::ended, "the end at the peer of a closed adapter");
    bench.settle();
    pair.passive.endpoint.disconnect(Disconnect.ABRUPT);
    bench.settle();

    assertThat(pair.passive.seen.terminals(pair.passive.endpoint)).as(why("once")).hasSize(1);
  }

  @Test
  void required_M04_aRejectionIsTheOnlyEvent() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(request -> request.reject(null));
    pair.active.enable();
    pair.passive.enable();

    pair.ask();
    await(pair.active::ended, "the rejection");
    bench.settle();

    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("the consumer of the peer said no"))
        .containsExactly(Kind.PEER_REJECTED);
  }

  @Test
  void required_M04_nobodyListeningIsTheOnlyEvent() {
    final Pair pair = Pair.open(this);
    pair.psp.close();
    pair.active.enable();

    pair.ask();
    await(pair.active::ended, "the refusal");
    bench.settle();

    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("nobody listens there"))
        .containsExactly(Kind.NON_PEER_REJECTED);
  }

  @Test
  void required_M04_aTimeoutIsTheOnlyEventThoughThePeerAcceptsLater() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    pair.passive.seen.answer(request::set);
    pair.active.enable();
    pair.passive.enable();

    pair.active.endpoint.connect(
        pair.passive.adapter.address(), pair.psp.connQual(), Duration.ofSeconds(1), null);
    await(() -> request.get() != null, "the request");
    await(pair.active::ended, "the timeout: the peer does not answer");
    request.get().accept(pair.passive.endpoint, null);
    await(pair.passive::ended, "the peer is told that its accept came too late");
    bench.settle();

    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("active side"))
        .containsExactly(Kind.TIMED_OUT);
    assertThat(pair.passive.seen.terminals(pair.passive.endpoint))
        .as(why("passive side"))
        .hasSize(1);
  }

  @Test
  void required_M04_anErrorAndADisconnectMakeOneTerminalEvent() {
    final Pair pair = Pair.connected(this);

    final Outcome posted =
        pair.active.endpoint.postRdmaWrite(
            pair.active.lmr, 0, 64, ~pair.passive.lmr.rmrContext(), 1, 1);
    succeeds(posted, "an RDMA write to memory that is not there");
    pair.passive.endpoint.disconnect(Disconnect.GRACEFUL);

    oneTerminalEach(pair, "broken by an error while the peer disconnects");
  }

  // M05: nothing of a closed endpoint

  @Test
  void required_M05_queuedEventsOfAClosedEndpointAreNotDelivered() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 8);
    post(side.evd, "stays");
    final int before = side.seen.count();

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
    bench.settle();
    side.seen.takeAll();

    assertThat(side.seen.payloads()).as(why("of others")).containsExactly("stays");
    assertThat(side.seen.count() - before)
        .as(why("nothing of the endpoint after its close completed"))
        .isEqualTo(1);
    assertThat(report.requests()).as(why("they are in the report")).hasSize(8);
  }

  @Test
  void required_M04_aCloseEndsTheConnectionOnBothSides() {
    for (final boolean enabled : new boolean[] {true, false}) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.passive;
      if (!enabled) {
        side.evd.teardown();
      }
      final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");
      await(pair.active::ended, "the end at the peer");
      bench.settle();

      final List<Kind> reported =
          report.events().stream().map(event -> ((ConnectionEvent) event).kind()).toList();
      assertThat(enabled ? side.seen.terminals(side.endpoint) : reported)
          .as(why(enabled ? "to the handler" : "into the report, while disabled"))
          .containsExactly(Kind.DISCONNECTED);
      assertThat(enabled ? reported : side.seen.terminals(side.endpoint)).as(why("once")).isEmpty();
      assertThat(pair.active.seen.terminals(pair.active.endpoint))
          .as(why("at the peer"))
          .containsExactly(Kind.DISCONNECTED);
    }
  }

  @Test
  void required_M05_aQueuedConnectionEventOfAClosedEndpointIsNotDelivered() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(pair.active::ended, "the end at the peer");
    bench.settle();

    side.endpoint.close();
    side.seen.takeAll();

    assertThat(side.seen.kinds(side.endpoint))
        .as(why("its DISCONNECTED was queued when it was closed"))
        .containsExactly(Kind.ESTABLISHED);
  }

  @Test
  void required_M05_nothingOfADeadEndpointIsAttributedToANewOne() {
    final Pair pair = Pair.open(this, 64, EndpointAttributes.defaults().withMaxDtos(8, 8));
    final Recorder seen = pair.passive.seen;
    for (int round = 0; round < CONNECTS; round++) {
      pair.connect();
      final Endpoint endpoint = pair.passive.endpoint;
      pair.passive.evd.teardown();
      pair.arrive(100 * round, 8);
      for (int i = 0; i < 3; i++) {
        succeeds(seen.take(), "three of eight");
      }

      endpoint.close();
      pair.active.endpoint.close();
      pair.renew();

      assertThat(seen.cookies(endpoint, Queue.RECEIVE))
          .as(why("round " + round + ": the first three, and nothing of the endpoint before"))
          .containsExactlyElementsOf(range(100L * round, 3));
    }
    pair.connect();
    pair.arrive(100_000, 8);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 8, "eight receives of the last one");

    assertThat(seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("the last endpoint gets its own completions and none left over"))
        .containsExactlyElementsOf(range(100_000, 8));
  }

  @Test
  void required_M05_anEnabledEvdDeliversNothingOfAClosedEndpoint() {
    for (int round = 0; round < 5; round++) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.passive;
      side.receives(0, 16);
      pair.active.sends(0, 16);

      side.endpoint.close();
      final int atClose = side.seen.count();
      await(pair.active::ended, "the end at the peer, which was sending");
      bench.settle();

      assertThat(side.seen.count())
          .as(why("close returned: no event of this endpoint any more"))
          .isEqualTo(atClose);
    }
  }

  private void connectManyTimes(final Pair pair, final Side... receivers) {
    for (int i = 0; i < CONNECTS; i++) {
      for (final Side side : receivers) {
        side.receives(0, 4);
      }
      pair.connect();
      for (final Side side : receivers) {
        await(() -> side.successes(Queue.RECEIVE) == 4, "four messages sent inside ESTABLISHED");
        establishedFirst(side.seen, side.endpoint);
      }
      pair.active.endpoint.close();
      pair.passive.endpoint.close();
      pair.renew();
    }
  }

  private static void sendAtOnce(final Side side, final ConnectionEvent event) {
    if (event.kind() == Kind.ESTABLISHED) {
      side.sends(10, 4);
    }
  }

  private static void disconnectAtOnce(final ConnectionEvent event, final Disconnect how) {
    if (event.kind() == Kind.ESTABLISHED) {
      event.endpoint().disconnect(how);
    }
  }

  private void establishedFirst(final Recorder seen, final Endpoint endpoint) {
    final List<Event> events =
        seen.events().stream().filter(event -> event.source() == endpoint).toList();
    assertThat(events.get(0).stream())
        .as(why("ESTABLISHED first, though the receive may be reported first: " + seen))
        .isEqualTo(EventStream.CONNECTION);
    assertThat(seen.kinds(endpoint).stream().filter(kind -> kind == Kind.ESTABLISHED))
        .as(why("and only once, also if the core issued it before the CM did"))
        .hasSize(1);
  }

  private void successesFirst(final Side side, final Queue queue, final int count) {
    assertThat(side.successes(queue))
        .as(why("a graceful end lets all requests finish: " + side.seen))
        .isEqualTo(count);
    noSuccessAfterTheEnd(side);
    assertThat(side.seen.terminals(side.endpoint)).as(why("one end")).hasSize(1);
  }

  private void noSuccessAfterTheEnd(final Side side) {
    final List<Event> afterTheEnd =
        side.seen.events().stream()
            .dropWhile(event -> !isTerminal(event))
            .filter(MergeContract::isSuccess)
            .toList();
    assertThat(afterTheEnd)
        .as(why("a success after the terminal event; the gate opened too early: " + side.seen))
        .isEmpty();
  }

  private void oneTerminalEach(final Pair pair, final String how) {
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides: " + how);
    bench.settle();
    for (final Side side : List.of(pair.active, pair.passive)) {
      assertThat(side.seen.terminals(side.endpoint))
          .as(why(how + ": one terminal event: " + side.seen))
          .hasSize(1);
    }
  }

  private static boolean isTerminal(final Event event) {
    return event.stream() == EventStream.CONNECTION
        && ((ConnectionEvent) event).kind().isTerminal();
  }

  private static boolean isSuccess(final Event event) {
    return event.stream() == EventStream.DTO
        && ((DtoCompletion) event).status() == DtoStatus.SUCCESS;
  }
}
