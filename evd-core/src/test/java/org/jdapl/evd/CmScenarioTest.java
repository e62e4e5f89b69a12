package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bugs that other RDMA libraries had with the events of their connection managers, each as the
 * scenario that showed it. By hand.
 */
@ExtendWith(HandBed.Closing.class)
class CmScenarioTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  private final InterceptedBed bed = new InterceptedBed();
  private final InterceptedProvider provider = bed.provider;
  private final List<String> verbs = new CopyOnWriteArrayList<>();

  private static CompletableFuture<DrainReport> close(final Endpoint endpoint) {
    return endpoint.closeAsync(LONG).toCompletableFuture();
  }

  private void receives(final int count) {
    for (int cookie = 0; cookie < count; cookie++) {
      assertThat(bed.endpoint.postReceive(bed.lmr, 0, 8, cookie)).isEqualTo(Outcome.SUCCESS);
    }
  }

  /** Accepts a request of a peer that says nothing more. */
  private void accept() {
    bed.ia.createPsp(1, bed.evd);
    provider.ask();
    bed.evd.drain(
        new EventHandler() {
          @Override
          public void onRequest(final ConnectionRequestEvent event) {
            event.request().accept(bed.endpoint, null);
          }
        },
        1);
  }

  @Test
  void required_C06_readsAreThoseAskedForWhereTheProviderDoesNotTell() {
    final Endpoint endpoint =
        bed.ia.createEndpoint(
            bed.pz, bed.evd, EndpointAttributes.defaults().withMaxDtos(4, 4).withRdmaReads(3, 5));

    bed.connect(endpoint);
    provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();

    assertThat(endpoint.rdmaReadsIn()).isEqualTo(3);
    assertThat(endpoint.rdmaReadsOut()).isEqualTo(5);
  }

  /** A connection of a side that is not established yet. */
  private void pending(final boolean passive) {
    if (passive) {
      accept();
    } else {
      bed.connect(bed.endpoint);
    }
  }

  private static EventHandler telling(final List<Object> seen) {
    return new EventHandler() {
      @Override
      public void onConnection(final ConnectionEvent event) {
        seen.add(event.kind());
      }

      @Override
      public void onCompletion(final DtoCompletion event) {
        seen.add(event.status() == DtoStatus.SUCCESS ? event.cookie() : event.status());
      }
    };
  }

  /** Runs something on another thread, and returns whether it came to its end. */
  private static boolean onAnotherThread(final Runnable body) {
    final Thread thread = new Thread(body, "cm");
    thread.setDaemon(true);
    thread.start();
    try {
      thread.join(TimeUnit.SECONDS.toMillis(10));
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
    return !thread.isAlive();
  }

  /** A call of the connection manager used the queue pair that another thread destroyed. */
  @ParameterizedTest
  @ValueSource(strings = {"connect", "accept"})
  void required_T09_nothingIsDestroyedUnderACallOfTheConnectionManager(final String call) {
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    final Reaper reaper = ((IaImpl) bed.ia).reaper();
    final Dispatcher dispatcher = bed.jdapl.nextDispatcher();
    provider.hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals(call)) {
            closes.add(close(bed.endpoint));
            for (int i = 0; i < 20; i++) {
              reaper.round();
              dispatcher.round();
              bed.clock.advance(Duration.ofMillis(10));
            }
            verbs.add(call + " returns");
          }
        };

    pending(call.equals("accept"));
    bed.clock.advance(Duration.ofMillis(10));
    bed.settle();

    assertThat(closes).hasSize(1).allMatch(CompletableFuture::isDone);
    assertThat(verbs).containsSubsequence(call, call + " returns", "destroy_qp", "destroy_id");
    assertThat(verbs).containsOnlyOnce("destroy_qp", "destroy_id");
  }

  /** An id was destroyed inside its own event, which was not acknowledged yet: it hung. */
  @ParameterizedTest
  @EnumSource(names = {"DISCONNECTED", "REJECTED", "UNREACHABLE", "CONNECT_ERROR"})
  void required_T08_anIdIsNotDestroyedInsideItsEventThoughItsUpcallCloses(final CmEventType type) {
    final boolean[] inside = new boolean[1];
    final List<String> destroyedInside = new ArrayList<>();
    provider.hook =
        verb -> {
          verbs.add(verb);
          if (inside[0] || Dispatcher.isCurrent()) {
            destroyedInside.add(verb);
          }
        };
    bed.evd.upcall(InterceptedBed.on(event -> bed.endpoint.close()));
    bed.connect(bed.endpoint);

    inside[0] = true;
    provider.tell(type, 0);
    inside[0] = false;
    bed.settle();

    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.CLOSED);
    assertThat(verbs).containsSubsequence("destroy_qp", "destroy_id");
    assertThat(destroyedInside).doesNotContain("destroy_qp", "destroy_id");
  }

  static Stream<Arguments> eventsAndVerbs() {
    final List<String> closing =
        List.of("disconnect", "modify_qp", "post_recv", "post_send", "poll_cq", "destroy_qp");
    return Stream.of(CmEventType.values())
        .flatMap(type -> closing.stream().map(verb -> Arguments.of(type, verb)));
  }

  /**
   * An event of the connection manager came while its endpoint was closed: it found what was freed
   * already, or waited for a lock of the close, which waited for the event.
   */
  @ParameterizedTest
  @MethodSource("eventsAndVerbs")
  void required_M05_anEventMayComeInEachStepOfAClose(final CmEventType type, final String step) {
    final List<Kind> afterTheClose = new ArrayList<>();
    final List<CompletableFuture<DrainReport>> closes = new ArrayList<>();
    final List<Boolean> ended = new ArrayList<>();
    receives(2);
    bed.evd.upcall(
        new EventHandler() {
          @Override
          public void onConnection(final ConnectionEvent event) {
            if (!closes.isEmpty() && closes.get(0).isDone()) {
              afterTheClose.add(event.kind());
            }
          }

          @Override
          public void onCompletion(final DtoCompletion event) {}
        });
    bed.connected();
    provider.hook =
        verb -> {
          final boolean first = !verbs.contains(step);
          verbs.add(verb);
          if (first && verb.equals(step)) {
            ended.add(onAnotherThread(() -> provider.tell(type, 0)));
          }
        };

    closes.add(close(bed.endpoint));
    bed.settle();
    bed.clock.advance(Duration.ofMillis(1));
    bed.settle();
    assertThat(closes.get(0)).isCompleted();
    provider.tell(type, 0);
    provider.tell(type, 0);
    bed.settle();
    bed.evd.close();
    bed.settle();

    assertThat(ended).as("the event waited for no lock of the verb's caller").containsExactly(true);
    assertThat(afterTheClose).isEmpty();
    assertThat(verbs).containsOnlyOnce("destroy_qp", "destroy_id", "destroy_cq");
  }

  static Stream<Arguments> ends() {
    return Stream.of(
        Arguments.of(CmEventType.REJECTED, CmHandler.CONSUMER_REJECT, Kind.PEER_REJECTED),
        Arguments.of(CmEventType.REJECTED, 0, Kind.NON_PEER_REJECTED),
        Arguments.of(CmEventType.UNREACHABLE, 0, Kind.UNREACHABLE),
        Arguments.of(CmEventType.CONNECT_ERROR, 0, Kind.UNREACHABLE),
        Arguments.of(CmEventType.ADDR_ERROR, 0, Kind.UNREACHABLE),
        Arguments.of(CmEventType.ROUTE_ERROR, 0, Kind.UNREACHABLE),
        Arguments.of(CmEventType.DISCONNECTED, 0, Kind.UNREACHABLE));
  }

  /** Events that say that a connection failed were not acknowledged: its close hung. */
  @ParameterizedTest
  @MethodSource("ends")
  void required_C02_eachFailureOfAConnectIsItsOneOutcomeAndTheEndpointCloses(
      final CmEventType type, final int status, final Kind kind) {
    bed.evd.upcall(bed.recording());
    pending(false);
    provider.tell(type, status);
    provider.tell(CmEventType.TIMEWAIT_EXIT, 0);
    bed.settle();
    assertThat(bed.kinds).containsExactly(kind);

    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();
    bed.clock.advance(LONG);
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(bed.kinds).containsExactly(kind);
  }

  /** The same for the side that accepts. */
  @ParameterizedTest
  @MethodSource("ends")
  void required_C02_eachFailureOfAnAcceptIsItsOneOutcomeAndTheEndpointCloses(
      final CmEventType type, final int status, final Kind ofAConnect) {
    pending(true);
    bed.evd.upcall(bed.recording());
    provider.tell(type, status);
    bed.settle();
    assertThat(bed.kinds)
        .as("a connect has " + ofAConnect)
        .containsExactly(Kind.ACCEPT_COMPLETION_ERROR);

    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();
    bed.clock.advance(LONG);
    bed.settle();

    assertThat(closed).isCompleted();
    assertThat(bed.kinds).containsExactly(Kind.ACCEPT_COMPLETION_ERROR);
  }

  /** A peer that said nothing kept a connect and an accept waiting for ever. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_C02_aSilentPeerEndsAConnectOrAnAcceptAtItsBound(final boolean passive) {
    final Duration bound = passive ? Duration.ofSeconds(5) : LONG; // that of InterceptedBed.connect
    pending(passive);
    bed.evd.upcall(bed.recording());
    bed.settle();
    bed.clock.advance(bound.minusMillis(1));
    bed.settle();
    assertThat(bed.kinds).isEmpty();

    bed.clock.advance(Duration.ofMillis(1));
    bed.settle();
    provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();

    assertThat(bed.kinds).containsExactly(passive ? Kind.ACCEPT_COMPLETION_ERROR : Kind.TIMED_OUT);
  }

  static Stream<Arguments> lateFailures() {
    return Stream.of("accept bound", "accept error", "accept loss", "connect bound")
        .flatMap(
            how ->
                Stream.of("enabled", "dequeued", "reported")
                    .filter(by -> !how.endsWith("loss") || by.equals("enabled"))
                    .map(by -> Arguments.of(how, by)));
  }

  /** A connect or accept failed while the message waited that proves that it came about. */
  @ParameterizedTest
  @MethodSource("lateFailures")
  void required_C02_aFailureBehindAMessageIsTheEndOfAConnectionThatCameAbout(
      final String how, final String by) {
    final List<Object> seen = new ArrayList<>();
    receives(2);
    pending(how.startsWith("accept"));
    provider.receive(0);
    if (by.equals("enabled")) {
      bed.evd.upcall(telling(seen));
    }
    if (how.endsWith("error")) {
      provider.tell(CmEventType.CONNECT_ERROR, 110);
    } else if (how.endsWith("loss")) {
      provider.lose();
    } else {
      bed.clock.advance(LONG);
      ((IaImpl) bed.ia).reaper().round(); // before anybody looks at the message
    }
    if (by.equals("dequeued")) {
      bed.settle();
      bed.evd.drain(telling(seen), 9);
    }
    bed.pass(LONG);
    if (by.equals("reported")) {
      bed.evd.drain(telling(seen), 1);
      final CompletableFuture<DrainReport> closed = close(bed.endpoint);
      bed.settle();
      closed.join().events().forEach(event -> seen.add(((ConnectionEvent) event).kind()));
    }

    assertThat(seen).startsWith(Kind.ESTABLISHED);
    assertThat(seen)
        .as("outcomes")
        .filteredOn(Kind.class::isInstance)
        .containsExactly(Kind.ESTABLISHED, Kind.BROKEN);
  }

  /** Events of endpoints that are closed stayed where nobody dequeued, with their endpoints. */
  @Test
  void required_E05_eventsOfClosedEndpointsTakeNoRoom() {
    for (int i = 0; i < 20; i++) {
      final Endpoint endpoint = bed.createEndpoint();
      bed.connect(endpoint);
      provider.tell(CmEventType.ESTABLISHED, 0);
      final CompletableFuture<DrainReport> closed = close(endpoint);
      bed.settle();
      assertThat(closed.join().events())
          .extracting(event -> ((ConnectionEvent) event).kind())
          .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
    }

    bed.evd.dequeue(bed.recording());
    assertThat(bed.kinds).isEmpty();
    assertThat(bed.evd.statistics().mostInLane()).isZero();
  }

  /** A message came before ESTABLISHED, which brought an ended connection back when it came. */
  @Test
  void required_M04_aLateEstablishedDoesNotBringAConnectionBack() {
    final List<Object> seen = new ArrayList<>();
    receives(1);
    pending(true);
    bed.evd.upcall(telling(seen));
    provider.receive(0);
    bed.settle();
    provider.tell(CmEventType.DISCONNECTED, 0);
    bed.settle();
    verbs.clear();
    provider.hook = verbs::add;

    provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();

    assertThat(seen).containsExactly(Kind.ESTABLISHED, 0L, Kind.DISCONNECTED);
    assertThat(bed.endpoint.state()).isEqualTo(EndpointState.DISCONNECTED);
    assertThat(verbs).as("the peer must not stay connected").contains("disconnect");
  }

  /** A connection ended before the call that made it had returned. */
  @ParameterizedTest
  @ValueSource(strings = {"connect", "accept"})
  void required_M04_aConnectionMayEndBeforeTheCallThatMadeItReturns(final String call) {
    provider.hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals(call)) {
            provider.tell(CmEventType.ESTABLISHED, 0);
            provider.tell(CmEventType.DISCONNECTED, 0);
          }
        };
    pending(call.equals("accept"));
    bed.evd.upcall(bed.recording());
    bed.settle();
    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();

    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
    assertThat(closed).isCompleted();
    assertThat(verbs).containsOnlyOnce("destroy_qp", "destroy_id");
  }

  /** Completions that came after DISCONNECTED were not known to anybody any more. */
  @Test
  void required_M03_whatCompletesAfterDisconnectedWasToldIsHandedOutBeforeIt() {
    final List<Object> seen = new ArrayList<>();
    receives(4);
    bed.evd.upcall(telling(seen));
    bed.connected();

    provider.tell(CmEventType.DISCONNECTED, 0);
    provider.receive(0);
    provider.receive(0);
    bed.settle();

    assertThat(seen)
        .containsSubsequence(Kind.ESTABLISHED, 0L, 1L, Kind.DISCONNECTED)
        .hasSize(6)
        .filteredOn(DtoStatus.ERR_FLUSHED::equals)
        .hasSize(2);
  }

  /** iWARP flushed what was posted, and nobody said that the connection was over. */
  @Test
  void required_M04_aConnectionWhoseRequestsAreFlushedBreaksThoughNobodySaysSo() {
    final List<Object> seen = new ArrayList<>();
    receives(2);
    bed.evd.upcall(telling(seen));
    bed.connected();

    provider.flush(0);
    bed.settle();
    assertThat(bed.endpoint.state())
        .as("DISCONNECTED may follow")
        .isEqualTo(EndpointState.CONNECTED);
    bed.clock.advance(Duration.ofSeconds(2));
    bed.settle();

    assertThat(seen)
        .containsExactly(
            Kind.ESTABLISHED, DtoStatus.ERR_FLUSHED, DtoStatus.ERR_FLUSHED, Kind.BROKEN);
  }

  /** A dead peer kept a disconnect waiting for minutes, and its late answer made a second event. */
  @ParameterizedTest
  @EnumSource
  void required_C04_aSilentPeerDelaysNoDisconnectBeyondItsBound(final Endpoint.Disconnect how) {
    final ScriptedBed silent = new ScriptedBed(ScriptedDevice.Behavior.WEAK, 1);
    final List<Kind> kinds = new ArrayList<>();
    silent.connectEvd.upcall(
        InterceptedBed.on(event -> kinds.add(((ConnectionEvent) event).kind())));
    silent.connect();
    assertThat(silent.endpoint.postSend(silent.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    silent.settle();

    silent.endpoint.disconnect(how);
    silent.settle();
    if (how == Endpoint.Disconnect.GRACEFUL) {
      silent.pass(Duration.ofMillis(1999));
      assertThat(kinds).as("its send may still complete").containsExactly(Kind.ESTABLISHED);
      silent.pass(Duration.ofMillis(1));
    }
    assertThat(kinds).containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);

    silent.device.cmId(0).event(CmEventType.DISCONNECTED);
    silent.pass(LONG);
    assertThat(kinds).containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
  }

  static Stream<Arguments> policiesAndVerbs() {
    return Stream.of(UpcallPolicy.values())
        .flatMap(
            policy ->
                Stream.of("nothing", "modify_qp", "post_recv", "post_send")
                    .map(verb -> Arguments.of(policy, verb)));
  }

  /**
   * A message that came before its connection was known to stand was dropped with the connection.
   */
  @ParameterizedTest
  @MethodSource("policiesAndVerbs")
  void required_T02_aSuccessThatWaitsForEstablishedIsStillOneWhenItsEndpointIsClosed(
      final UpcallPolicy policy, final String refused) {
    final List<Object> seen = new ArrayList<>();
    receives(3);
    bed.evd.upcall(telling(seen));
    bed.connect(bed.endpoint);
    provider.receive(0);
    provider.receive(0);
    bed.settle();
    assertThat(seen).as("the answer may still come").isEmpty();

    switch (policy) {
      case DISABLED -> bed.evd.disable();
      case SINGLE_INSTANCE -> {}
      case NOTIFY -> bed.evd.notifyOnce(evd -> {}, Invoke.ON_ANY);
      case MANY -> bed.evd.upcall(telling(seen), Concurrency.many(2), Invoke.ON_ANY);
    }
    provider.refuse(refused);
    final CompletableFuture<DrainReport> closed = close(bed.endpoint);
    bed.settle();

    assertThat(closed).isCompleted();
    final List<Object> successes = new ArrayList<>(seen);
    successes.removeIf(event -> !(event instanceof Long));
    for (final DrainReport.Request request : closed.join().requests()) {
      if (request.status() == DrainReport.Status.SUCCESS) {
        successes.add(request.cookie());
      }
    }
    assertThat(successes).as("%s, and %s", seen, closed.join()).containsExactly(0L, 1L);
  }
}
