package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.Bounds;
import org.jdapl.dat.CommonServicePoint;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReservedServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.junit.jupiter.api.Test;

/** Section C: service points, requests, and endpoints that connect more than once. */
public abstract class ConnectionContract extends Contract {

  private static final int DEPTH = 8;

  /** A contract; its state lives for one test. */
  protected ConnectionContract() {}

  /** Two sides with upcalls. Requests are kept, not answered. */
  private Pair listening(final AtomicReference<ConnectionRequest> request) {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(request::set);
    pair.active.enable();
    pair.passive.enable();
    return pair;
  }

  private ReservedServicePoint reserve(final Pair pair) {
    return pair.passive.adapter.createRsp(connQual(), pair.passive.endpoint, pair.passive.evd);
  }

  private static void ask(final Pair pair, final long connQual) {
    pair.active.endpoint.connect(pair.passive.adapter.address(), connQual, Pair.CONNECT, null);
  }

  private ConnectionRequest arrived(final AtomicReference<ConnectionRequest> request) {
    await(() -> request.get() != null, "the request");
    return request.getAndSet(null);
  }

  private void is(final Side side, final EndpointState state, final String when) {
    assertThat(side.endpoint.state()).as(why(when)).isEqualTo(state);
  }

  private void becomes(final Endpoint endpoint, final EndpointState state) {
    await(() -> endpoint.state() == state, endpoint + " becomes " + state);
  }

  private void bothConnect(final Pair pair) {
    await(
        () ->
            pair.active.endpoint.state() == EndpointState.CONNECTED
                && pair.passive.endpoint.state() == EndpointState.CONNECTED,
        "a connection");
  }

  private void bothEnd(final Pair pair) {
    pair.active.endpoint.disconnect(Disconnect.ABRUPT);
    becomes(pair.active.endpoint, EndpointState.DISCONNECTED);
    becomes(pair.passive.endpoint, EndpointState.DISCONNECTED);
  }

  /** A message goes through, with cookies of its own. */
  private void carries(final Pair pair, final int cookie) {
    pair.passive.receives(cookie, 1);
    pair.active.sends(cookie, 1);
    await(
        () ->
            pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE).contains((long) cookie),
        "message " + cookie);
  }

  private void isRefused(final Pair pair, final long connQual) {
    final Endpoint another = pair.active.newEndpoint();
    another.connect(pair.passive.adapter.address(), connQual, Pair.CONNECT, null);
    await(() -> pair.active.ended(another), "an answer at " + connQual);
    assertThat(pair.active.seen.kinds(another))
        .as(why("nobody listens there any more"))
        .containsExactly(Kind.NON_PEER_REJECTED);
    another.close();
  }

  private void hasServicePoints(final Side side, final int count) {
    await(
        () -> side.adapter.statistics().open().servicePoints() == count, count + " service points");
  }

  // Reserved service points

  @Test
  void required_C01_anRspConnectsItsEndpointToTheFirstWhoAsks() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final ReservedServicePoint rsp = reserve(pair);
    assertThat(rsp.endpoint()).isSameAs(pair.passive.endpoint);
    is(pair.passive, EndpointState.RESERVED, "a service point listens for it");

    ask(pair, rsp.connQual());
    final ConnectionRequest first = arrived(request);

    is(pair.passive, EndpointState.PASSIVE_CONNECTION_PENDING, "its request came");
    assertThat(first.endpoint()).as(why("for whom it came")).isSameAs(pair.passive.endpoint);
    assertThat(sources(pair.passive)).as(why("the event names it")).containsExactly(rsp);
    first.accept(null, null);
    bothConnect(pair);
    carries(pair, 0);
  }

  private static List<Object> sources(final Side side) {
    final List<Object> sources = new ArrayList<>();
    for (final Event event : side.seen.events()) {
      if (event instanceof ConnectionRequestEvent asked) {
        sources.add(asked.servicePoint());
      }
    }
    return sources;
  }

  @Test
  void required_C01_anRspListensForOneRequestOnly() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final ReservedServicePoint rsp = reserve(pair);
    ask(pair, rsp.connQual());
    final ConnectionRequest first = arrived(request);

    hasServicePoints(pair.passive, 1); // the public one
    isRefused(pair, rsp.connQual());
    assertThat(request.get()).as(why("no second request")).isNull();
    first.accept(pair.passive.endpoint, null);
    bothConnect(pair);
    isRefused(pair, rsp.connQual());
    bothEnd(pair);
    pair.passive.endpoint.close();
    rsp.close();
  }

  @Test
  void required_C01_closingAnRspGivesItsEndpointBack() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final ReservedServicePoint rsp = reserve(pair);

    rsp.close();

    is(pair.passive, EndpointState.UNCONNECTED, "nobody listens for it");
    isRefused(pair, rsp.connQual());
    final ReservedServicePoint again =
        pair.passive.adapter.createRsp(rsp.connQual(), pair.passive.endpoint, pair.passive.evd);
    rsp.close(); // it is another one's now
    is(pair.passive, EndpointState.RESERVED, "the other one listens");
    ask(pair, again.connQual());
    arrived(request).accept(null, null);
    bothConnect(pair);
  }

  @Test
  void required_C01_anEndpointIsReservedOnce() {
    final Pair pair = listening(new AtomicReference<>());
    final ReservedServicePoint rsp = reserve(pair);

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_RESERVED,
        "a second service point for it",
        () -> reserve(pair));
    pair.passive.endpoint.close();

    hasServicePoints(pair.passive, 1); // the public one
    isRefused(pair, rsp.connQual());
  }

  @Test
  void required_C01_aRejectedRequestGivesItsEndpointBack() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    ask(pair, reserve(pair).connQual());
    final ByteBuffer why = ByteBuffer.allocate(16).putLong(47).putLong(11).flip();

    arrived(request).reject(why);

    is(pair.passive, EndpointState.UNCONNECTED, "its request was rejected");
    await(pair.active::ended, "the answer");
    final ConnectionEvent answer = lastConnectionEvent(pair.active);
    assertThat(answer.kind()).as(why("the consumer said no")).isEqualTo(Kind.PEER_REJECTED);
    assertThat(answer.privateData().getLong(0)).as(why("with its words")).isEqualTo(47);
    pair.renewActive();
    ask(pair, reserve(pair).connQual());
    arrived(request).accept(null, null);
    bothConnect(pair);
    carries(pair, 0);
  }

  private static ConnectionEvent lastConnectionEvent(final Side side) {
    ConnectionEvent last = null;
    for (final Event event : side.seen.events()) {
      if (event instanceof ConnectionEvent connection) {
        last = connection;
      }
    }
    return last;
  }

  @Test
  void required_C01_aRequestAtAnRspIsForItsEndpointOnly() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final Endpoint another = pair.passive.newEndpoint();
    ask(pair, reserve(pair).connQual());
    final ConnectionRequest own = arrived(request);
    final Endpoint stranger = pair.active.newEndpoint();
    stranger.connect(pair.passive.adapter.address(), pair.psp.connQual(), Pair.CONNECT, null);
    final ConnectionRequest others = arrived(request);

    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EP,
        "its request with another endpoint",
        () -> own.accept(another, null));
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_PASSCONNPENDING,
        "another request with its endpoint",
        () -> others.accept(pair.passive.endpoint, null));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EP,
        "a request at a public service point with no endpoint",
        () -> others.accept(null, null));

    own.accept(null, null);
    others.accept(another, null);
    bothConnect(pair);
    becomes(another, EndpointState.CONNECTED);
    becomes(stranger, EndpointState.CONNECTED);
  }

  @Test
  void required_T01_closeWhileReservedDropsTheServicePoint() {
    final Pair pair = listening(new AtomicReference<>());
    final ReservedServicePoint rsp = reserve(pair);

    pair.passive.endpoint.close();

    hasServicePoints(pair.passive, 1); // the public one
    isRefused(pair, rsp.connQual());
    rsp.close();
  }

  @Test
  void required_T01_closeWhileARequestWaitsRejectsIt() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    ask(pair, reserve(pair).connQual());
    final ConnectionRequest own = arrived(request);

    pair.passive.endpoint.close();

    await(pair.active::ended, "the answer");
    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("closing says no"))
        .containsExactly(Kind.PEER_REJECTED);
    refused(ReturnType.INVALID_STATE, "an answer after that", () -> own.reject(null));
    own.close();
  }

  @Test
  void required_T01_anEndpointOfAnRspClosesAfterItsConnection() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    ask(pair, reserve(pair).connQual());
    arrived(request).accept(null, null);
    bothConnect(pair);
    bothEnd(pair);

    pair.passive.endpoint.close(); // DAPL waited for a reference of the service point

    is(pair.passive, EndpointState.CLOSED, "closed");
    hasServicePoints(pair.passive, 1); // the public one
  }

  // Public and common service points, and ways to connect

  @Test
  void required_C01_theProviderPicksWhereItListens() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final PublicServicePoint first = pair.passive.adapter.createPsp(pair.passive.evd);
    final PublicServicePoint second = pair.passive.adapter.createPsp(pair.passive.evd);

    assertThat(List.of(first.connQual(), second.connQual(), pair.psp.connQual()))
        .as(why("where nobody listens yet"))
        .doesNotHaveDuplicates()
        .allMatch(connQual -> connQual > 0);
    ask(pair, second.connQual());
    arrived(request).accept(pair.passive.endpoint, null);
    bothConnect(pair);
    assertThat(sources(pair.passive)).as(why("the event names it")).containsExactly(second);
    second.close();
    second.close();
    carries(pair, 0);
  }

  @Test
  void required_C01_aCspIsAskedByAddressAndPort() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final CommonServicePoint csp =
        pair.passive.adapter.createCsp(new InetSocketAddress(0), pair.passive.evd);

    assertThat(csp.address())
        .as(why("where it listens"))
        .isEqualTo(
            new InetSocketAddress(pair.passive.adapter.address(), Math.toIntExact(csp.connQual())));
    pair.active.endpoint.commonConnect(csp.address(), Pair.CONNECT, null);
    arrived(request).accept(pair.passive.endpoint, null);
    bothConnect(pair);
    carries(pair, 0);
  }

  @Test
  void required_C01_aCspIsRefusedWhereItCannotListen() throws UnknownHostException {
    final Pair pair = listening(new AtomicReference<>());
    final InetAddress elsewhere = InetAddress.getByAddress(new byte[] {(byte) 203, 0, 113, 9});

    refused(
        ReturnType.INVALID_ADDRESS,
        "an address of somebody else",
        () ->
            pair.passive.adapter.createCsp(new InetSocketAddress(elsewhere, 0), pair.passive.evd));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "an address that is not resolved",
        () ->
            pair.passive.adapter.createCsp(
                InetSocketAddress.createUnresolved("nobody.invalid", 1), pair.passive.evd));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "no address",
        () -> pair.active.endpoint.commonConnect(null, Pair.CONNECT, null));
  }

  @Test
  void required_C01_dupConnectAsksThePeerThatAnotherEndpointAsked() {
    final Pair pair = Pair.connected(this);
    final Endpoint first = pair.active.endpoint;
    final Endpoint accepted = pair.passive.endpoint;
    pair.renew();

    pair.active.endpoint.dupConnect(first, Pair.CONNECT, null);

    bothConnect(pair);
    carries(pair, 0);
    pair.renewActive();
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "an endpoint that asked nobody",
        () -> pair.active.endpoint.dupConnect(pair.active.newEndpoint(), Pair.CONNECT, null));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "an endpoint of another adapter",
        () -> pair.active.endpoint.dupConnect(accepted, Pair.CONNECT, null));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG2,
        "no time",
        () -> pair.active.endpoint.dupConnect(first, Duration.ZERO, null));
  }

  // Handing off

  @Test
  void required_C01_aRequestIsHandedToAnotherServicePoint() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final PublicServicePoint other = pair.passive.adapter.createPsp(pair.passive.evd);
    pair.ask();
    final ConnectionRequest first = arrived(request);

    first.handoff(other.connQual());

    final ConnectionRequest second = arrived(request);
    assertThat(sources(pair.passive)).containsExactly(pair.psp, other);
    refused(ReturnType.INVALID_STATE, "a second answer", () -> first.handoff(other.connQual()));
    refused(ReturnType.INVALID_STATE, "a second answer", () -> first.reject(null));
    first.close();
    second.accept(pair.passive.endpoint, null);
    bothConnect(pair);
    carries(pair, 0);
  }

  @Test
  void required_C01_aRequestThatNobodyCanBeHandedStillWaits() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final PublicServicePoint gone = pair.passive.adapter.createPsp(pair.passive.evd);
    gone.close();
    pair.ask();
    final ConnectionRequest asked = arrived(request);

    refused(
        ReturnType.CONN_QUAL_UNAVAILABLE,
        "nobody listens there",
        () -> asked.handoff(gone.connQual()));

    asked.accept(pair.passive.endpoint, null);
    bothConnect(pair);
  }

  @Test
  void required_C01_aRequestHandedOffGivesItsEndpointBack() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final Endpoint reserved = pair.passive.endpoint;
    ask(pair, reserve(pair).connQual());
    final ConnectionRequest first = arrived(request);

    first.handoff(pair.psp.connQual());

    is(pair.passive, EndpointState.UNCONNECTED, "its request went to somebody else");
    final ConnectionRequest second = arrived(request);
    assertThat(second.endpoint()).as(why("for whomever")).isNull();
    pair.passive.endpoint = pair.passive.newEndpoint();
    second.accept(pair.passive.endpoint, null);
    bothConnect(pair);
    assertThat(reserved.state()).isEqualTo(EndpointState.UNCONNECTED);
    carries(pair, 0);
  }

  @Test
  void required_C01_aRequestIsHandedToAnRsp() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    final ReservedServicePoint rsp = reserve(pair);
    pair.ask();

    arrived(request).handoff(rsp.connQual());

    is(pair.passive, EndpointState.PASSIVE_CONNECTION_PENDING, "as if it had come there");
    arrived(request).accept(null, null);
    bothConnect(pair);
    hasServicePoints(pair.passive, 1); // the public one
  }

  // Resetting

  @Test
  void required_C01_anEndpointThatWasResetConnectsAgain() {
    final Pair pair = Pair.connected(this);
    for (int round = 0; round < 3; round++) {
      carries(pair, 10 * round);
      bothEnd(pair);
      pair.active.endpoint.reset();
      pair.passive.endpoint.reset();
      is(pair.active, EndpointState.UNCONNECTED, "after the reset");
      assertThat(pair.active.endpoint.isRequestIdle()).isTrue();

      pair.ask();
      bothConnect(pair);
    }

    for (final Side side : List.of(pair.active, pair.passive)) {
      await(() -> side.seen.kinds(side.endpoint).size() == 7, "two events for each, but the last");
      assertThat(side.seen.kinds(side.endpoint))
          .as(why("each connection begins and ends"))
          .containsExactly(
              Kind.ESTABLISHED,
              Kind.DISCONNECTED,
              Kind.ESTABLISHED,
              Kind.DISCONNECTED,
              Kind.ESTABLISHED,
              Kind.DISCONNECTED,
              Kind.ESTABLISHED);
    }
  }

  @Test
  void required_C01_aRejectedEndpointAsksAgainAfterItsReset() {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    final Pair pair = listening(request);
    pair.ask();
    arrived(request).reject(null);
    becomes(pair.active.endpoint, EndpointState.DISCONNECTED);
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_DISCONNECTED,
        "connecting without a reset",
        pair::ask);

    pair.active.endpoint.reset();
    pair.ask();

    arrived(request).accept(pair.passive.endpoint, null);
    bothConnect(pair);
    carries(pair, 0);
  }

  @Test
  void required_T02_aResetReportsWhatWasNotDelivered() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    side.receives(0, DEPTH);
    pair.active.sends(0, 3);
    await(() -> pair.active.successes(Queue.REQUEST) == 3, "the sends");
    bothEnd(pair);

    final DrainReport report = await(side.endpoint.resetAsync(BOUND), "the reset");

    everyPostHasOneOutcome(side, report, Queue.RECEIVE, range(0, DEPTH));
    assertThat(report.events())
        .as(why("the end of the connection, which nobody took"))
        .singleElement()
        .isInstanceOfSatisfying(
            ConnectionEvent.class, event -> assertThat(event.kind().isTerminal()).isTrue());
    assertThat(report.complete()).isTrue();
  }

  @Test
  void required_M05_noEventOfBeforeAResetIsDeliveredAfterIt() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    side.receives(0, DEPTH);
    bothEnd(pair);
    bench.settle();
    side.endpoint.reset();
    pair.active.endpoint.reset();
    final int before = side.seen.count();

    side.enable();
    bench.settle();
    assertThat(side.seen.count()).as(why("nothing of before: " + side.seen)).isEqualTo(before);
    pair.ask();
    bothConnect(pair);
    carries(pair, 20);
    bench.settle();

    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE)).containsExactly(20L);
    assertThat(side.seen.kinds(side.endpoint))
        .as(why("what happened while nobody listened is in the report"))
        .containsExactly(Kind.ESTABLISHED, Kind.ESTABLISHED);
  }

  @Test
  void required_U08_aResetInsideAnUpcallDoesNotWait() {
    final Pair pair = Pair.open(this);
    final AtomicReference<CompletionStage<DrainReport>> reset = new AtomicReference<>();
    pair.active.seen.connection(
        event -> {
          if (event.kind().isTerminal()) {
            reset.set(event.endpoint().resetAsync(BOUND));
          }
        });
    pair.connect();
    pair.active.receives(0, DEPTH);

    pair.passive.endpoint.disconnect(Disconnect.ABRUPT);
    await(() -> reset.get() != null, "the upcall");
    final DrainReport report = await(reset.get(), "the reset it began");

    everyPostHasOneOutcome(pair.active, report, Queue.RECEIVE, range(0, DEPTH));
    is(pair.active, EndpointState.UNCONNECTED, "after the reset");
    pair.passive.endpoint.reset();
    pair.ask();
    bothConnect(pair);
    carries(pair, 20);
  }

  @Test
  void required_C01_aResetKeepsWhatIsShared() {
    final Pair pair = Pair.open(this);
    pair.passive.share(DEPTH);
    pair.connect();
    for (int round = 1; round <= 3; round++) {
      final int messages = round;
      pair.passive.receives(10 * round, 2);
      pair.active.sends(round, 1);
      await(
          () -> pair.passive.successes(Queue.RECEIVE) == messages,
          "the message takes the oldest receive, posted before a reset or after");
      bothEnd(pair);
      pair.passive.endpoint.reset();
      pair.active.endpoint.reset();
      pair.ask();
      bothConnect(pair);
    }

    assertThat(pair.passive.srq.openReceives()).as(why("what nobody took stays")).isEqualTo(3);
    pair.active.sends(50, 3);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 6, "the rest is for this connection");
    assertThat(pair.passive.srq.openReceives()).as(why("all handed out")).isZero();
    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each receive once, in the order of the posts"))
        .containsExactly(10L, 11L, 20L, 21L, 30L, 31L);
  }

  @Test
  void required_C01_aResetIsRefusedWhileThereIsAConnection() {
    final Pair pair = Pair.connected(this);

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_CONNECTED,
        "resetting a connected endpoint",
        () -> pair.active.endpoint.reset());
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "no bound",
        () -> pair.active.endpoint.resetAsync(null));

    carries(pair, 0);
  }

  @Test
  void required_C01_aResetOfAnUnconnectedEndpointKeepsItsReceives() {
    final Pair pair = Pair.open(this);
    pair.passive.receives(0, 1);

    pair.passive.endpoint.reset();
    assertThat(await(pair.passive.endpoint.resetAsync(BOUND), "nothing").requests()).isEmpty();
    pair.connect();
    pair.active.sends(0, 1);

    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "the receive of before");
  }

  @Test
  void required_T01_closeWhileAResetIsInProgress() {
    for (int looks = 0; looks < 10; looks++) {
      final Pair pair = Pair.connected(this);
      final Side side = pair.active;
      side.receives(0, 4);
      bothEnd(pair);
      final CompletionStage<DrainReport> reset = side.endpoint.resetAsync(BOUND);
      final int closeAfter = looks;
      final int[] looked = new int[1];
      await(() -> looked[0]++ == closeAfter, "some steps of the reset");

      await(side.endpoint.closeAsync(BOUND), "the close");

      is(side, EndpointState.CLOSED, "closed");
      await(() -> reset.toCompletableFuture().isDone(), "the reset ends as well");
      await(() -> side.adapter.statistics().open().endpoints() == 0, "no endpoint is left");
      refused(
          ReturnType.INVALID_HANDLE,
          ReturnSubtype.INVALID_HANDLE_EP,
          "a reset after the close",
          () -> side.endpoint.reset());
      side.lmr.close();
      side.pz.close(); // nothing uses it
    }
  }

  // Modifying

  @Test
  void required_C01_modifyChangesBoundsAndDepthsWithOpenReceives() {
    final Pair pair = Pair.open(this);
    pair.passive.receives(0, 1);
    final EndpointParameters before = pair.passive.endpoint.parameters();
    final EndpointParameters changed =
        before.withAttributes(
            before
                .attributes()
                .withRdmaReads(1, 1)
                .withRetries(3, 3)
                .withBounds(Bounds.defaults().withDisconnect(Duration.ofSeconds(1))));

    pair.passive.endpoint.modify(changed);

    assertThat(pair.passive.endpoint.parameters()).as(why("asked")).isEqualTo(changed);
    pair.connect();
    pair.active.sends(0, 1);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "the receive of before");
  }

  @Test
  void required_C01_modifyChangesSizesEvdsAndZone() {
    final Pair pair = Pair.open(this);
    final Side side = pair.passive;
    final Evd other = side.adapter.createEvd(64, EventStream.DTO);
    final Recorder received = recorder(other);
    final ProtectionZone zone = side.adapter.createPz();
    final Lmr region = zone.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    final EndpointParameters before = side.endpoint.parameters();

    side.endpoint.modify(
        new EndpointParameters(
            zone,
            other,
            side.evd,
            side.evd,
            null,
            before.attributes().withMaxDtos(2, before.attributes().maxRequestDtos())));

    refused(
        ReturnType.PROTECTION_VIOLATION,
        "a region of the zone of before",
        () -> side.endpoint.postReceive(side.lmr, 0, 8, 0));
    succeeds(side.endpoint.postReceive(region, 0, 64, 1), "a region of its zone");
    succeeds(side.endpoint.postReceive(region, 0, 64, 2), "a second receive");
    assertThat(side.endpoint.postReceive(region, 0, 64, 3))
        .as(why("as many as it may have now"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    pair.connect();
    pair.active.sends(0, 1);
    awaitTaking(received, () -> received.count() == 1, "the receive, at the other EVD");
    assertThat(received.cookies(side.endpoint, Queue.RECEIVE)).containsExactly(1L);
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_CONNECTED,
        "a change of a connected endpoint",
        () -> side.endpoint.modify(before));
  }

  @Test
  void required_C01_modifyIsRefusedWithOpenReceives() {
    final Pair pair = Pair.open(this);
    final Side side = pair.passive;
    side.receives(0, 1);
    final EndpointParameters before = side.endpoint.parameters();

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_UNCONNECTED,
        "other sizes while a receive is open",
        () -> side.endpoint.modify(before.withAttributes(before.attributes().withMaxDtos(2, 2))));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_CONN,
        "an EVD of another adapter",
        () -> side.endpoint.modify(before.withEvds(side.evd, side.evd, pair.active.evd)));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "no parameters",
        () -> side.endpoint.modify(null));

    assertThat(side.endpoint.parameters()).as(why("nothing changed")).isEqualTo(before);
    pair.connect();
    pair.active.sends(0, 1);
    await(() -> side.successes(Queue.RECEIVE) == 1, "the receive of before");
  }

  @Test
  void required_C01_modifyAddsASharedReceiveQueue() {
    final Pair pair = Pair.open(this);
    final Side side = pair.passive;
    final SharedReceiveQueue srq = side.adapter.createSrq(side.pz, DEPTH, 1);

    side.endpoint.modify(
        new EndpointParameters(
            side.pz, side.evd, side.evd, side.evd, srq, side.endpoint.parameters().attributes()));
    side.srq = srq;
    pair.connect();
    carries(pair, 0);

    side.endpoint.close();
    srq.close();
  }

  // Without EVDs

  @Test
  void required_C01_anEndpointThatTakesNoReceivesNeedsNoEvdForThem() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    final EndpointAttributes none = EndpointAttributes.defaults().withMaxDtos(0, 4);
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_RECV,
        "receives without an EVD for them",
        () ->
            side.adapter.createEndpoint(side.pz, null, side.evd, side.evd, none.withMaxDtos(1, 4)));
    side.endpoint = side.adapter.createEndpoint(side.pz, null, side.evd, side.evd, none);
    assertThat(side.endpoint.parameters().receiveEvd()).isNull();
    assertThat(side.receive(0))
        .as(why("no room for one"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    pair.connect();

    pair.passive.receives(0, 2);
    side.sends(0, 1, CompletionFlags.SUPPRESS);
    side.sends(1, 1);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 2, "both messages");
    side.sends(2, 2, CompletionFlags.SUPPRESS); // DAPL crashed when it flushed them
    side.endpoint.disconnect(Disconnect.ABRUPT);
    await(side::ended, "the end");

    await(side.endpoint.closeAsync(BOUND), "the close");
  }

  @Test
  void required_C01_anEndpointThatSendsNothingNeedsNoEvdForThat() {
    final Pair pair = Pair.open(this);
    final Side side = pair.passive;
    final EndpointAttributes none = EndpointAttributes.defaults().withMaxDtos(4, 0);
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_REQUEST,
        "requests without an EVD for them",
        () ->
            side.adapter.createEndpoint(side.pz, side.evd, null, side.evd, none.withMaxDtos(4, 1)));
    side.endpoint = side.adapter.createEndpoint(side.pz, side.evd, null, side.evd, none);
    pair.connect();

    carries(pair, 0);
    assertThat(side.send(1)).as(why("no room for one")).isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(side::ended, "the end");
    side.endpoint.reset();
    is(side, EndpointState.UNCONNECTED, "after the reset");
    await(side.endpoint.closeAsync(BOUND), "the close");
  }

  // Asking

  @Test
  void required_C01_anEndpointSaysWhetherItIsIdle() {
    final Pair pair = Pair.connected(this);
    final Endpoint endpoint = pair.passive.endpoint;
    assertThat(endpoint.isReceiveIdle()).as(why("no receive was posted")).isTrue();
    assertThat(endpoint.isRequestIdle()).as(why("no request was posted")).isTrue();

    pair.passive.receives(0, 1);
    assertThat(endpoint.isReceiveIdle()).as(why("a receive is open")).isFalse();
    pair.active.evd.teardown(); // nobody takes the completion of its send
    pair.active.sends(0, 1);
    assertThat(pair.active.endpoint.isRequestIdle()).as(why("a request is open")).isFalse();

    await(endpoint::isReceiveIdle, "the receive is handed out");
    bench.settle();
    assertThat(pair.active.endpoint.isRequestIdle()).as(why("done, not handed out")).isFalse();
    pair.active.enable();
    await(pair.active.endpoint::isRequestIdle, "the request is handed out");
  }

  @Test
  void required_C01_anEndpointSaysWhomItIsConnectedTo() {
    final Pair pair = Pair.open(this);
    final Endpoint active = pair.active.endpoint;
    final Endpoint passive = pair.passive.endpoint;
    assertThat(active.remoteAddress()).as(why("it asked nobody")).isNull();
    assertThat(passive.remoteAddress()).as(why("it accepted nobody")).isNull();

    pair.connect();
    assertThat(active.remoteAddress())
        .as(why("it asked there"))
        .isEqualTo(pair.passive.adapter.address());
    assertThat(passive.remoteAddress())
        .as(why("it was asked from there"))
        .isEqualTo(pair.active.adapter.address());

    active.disconnect(Disconnect.ABRUPT);
    await(pair.active::ended, "the end");
    assertThat(active.remoteAddress()).as(why("it was connected")).isNotNull();
    active.reset();
    assertThat(active.remoteAddress()).as(why("it was reset")).isNull();
  }

  @Test
  void required_C01_asManySegmentsAsItWasModifiedFor() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    final EndpointParameters before = side.endpoint.parameters();
    side.endpoint.modify(before.withAttributes(before.attributes().withMaxIov(1, 2)));
    pair.connect();
    pair.passive.receives(0, 1);

    succeeds(
        side.endpoint.postSend(new Segments(2).add(side.lmr, 0, 8).add(side.lmr, 8, 8), 0, null, 0),
        "two segments");

    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "the message");
  }
}
