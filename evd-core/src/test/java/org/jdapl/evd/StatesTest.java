package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.CommonServicePoint;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ReservedServicePoint;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.ServicePoint;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.evd.StateTables.Stage;
import org.jdapl.evd.StateTables.Table;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The page about states against the code: every pair of a state and a call, and of a state and an
 * event, is tried on a fresh object. If a table differs, the message has the right one.
 */
@ExtendWith(HandBed.Closing.class)
class StatesTest {

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration LONGER = Duration.ofMinutes(2);
  private static final int RESERVED = 1;
  private static final int PUBLIC = 2;
  private static final int OTHER = 3;

  /** A bed, and what its consumer and the peers are told. */
  private abstract static class Bed implements Stage, EventHandler {

    final InterceptedBed hooked = new InterceptedBed();
    final InterceptedProvider provider = hooked.provider;
    final InterfaceAdapter ia = hooked.ia;
    final EvdImpl evd = hooked.evd;
    final EndpointImpl endpoint = hooked.endpoint;

    /** The request that came last. */
    ConnectionRequest request;

    private final List<String> told = new ArrayList<>();
    private final List<String> toldOfErrors = new ArrayList<>();

    Bed() {
      evd.upcall(this);
      ia.asyncEvd().upcall(this);
    }

    @Override
    public void settle() {
      hooked.settle();
    }

    @Override
    public List<String> told() {
      final List<String> all = new ArrayList<>(told);
      all.addAll(toldOfErrors);
      for (final int status : provider.rejections) {
        all.add(
            "peer: "
                + (status == CmHandler.CONSUMER_REJECT
                    ? ConnectionEvent.Kind.PEER_REJECTED
                    : ConnectionEvent.Kind.NON_PEER_REJECTED));
      }
      told.clear();
      toldOfErrors.clear();
      provider.rejections.clear();
      return all;
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      if (event.endpoint() == endpoint) {
        told.add(event.kind().name());
      }
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      request = event.request();
      told.add(event.stream().name());
    }

    @Override
    public void onAsync(final AsyncEvent event) {
      toldOfErrors.add(event.kind().name());
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      ((Runnable) event.payload()).run();
    }

    @Override
    public void onCompletion(final DtoCompletion event) {}

    @Override
    public void onEvent(final Event event) {
      throw new AssertionError(event);
    }

    /** Does something inside an upcall, where nothing waits; and nothing more happens. */
    final void inside(final Runnable action) {
      evd.postSoftwareEvent(action);
      boolean worked;
      do {
        worked = hooked.jdapl.nextDispatcher().round();
      } while (worked);
    }

    /** A request that came to a public service point. */
    final ConnectionRequest requestAt(final int service) {
      ia.createPsp(service, evd);
      provider.ask(service);
      settle();
      return request;
    }

    final void pass(final Duration time) {
      hooked.clock.advance(time);
      settle();
    }

    /** Requests come into an EVD, and nobody takes them, until one finds it full. */
    final void fill(final Evd full) {
      ia.createPsp(OTHER, full);
      while (provider.rejections.isEmpty()) {
        provider.ask(OTHER);
        settle();
      }
      final var unused = told();
    }

    final void lose() {
      provider.lose();
      settle();
    }

    final void refusing(final String verb, final Runnable action) {
      provider.refuse(verb);
      try {
        action.run();
      } finally {
        provider.hook = any -> {};
      }
    }
  }

  // Endpoints.

  private static final class EndpointBed extends Bed {

    private static final Map<EndpointState, String> NAMES =
        new EnumMap<>(
            Map.of(
                EndpointState.UNCONNECTED, "UNC",
                EndpointState.RESERVED, "RES",
                EndpointState.PASSIVE_CONNECTION_PENDING, "PAS",
                EndpointState.COMPLETION_PENDING, "COM",
                EndpointState.ACTIVE_CONNECTION_PENDING, "ACT",
                EndpointState.CONNECTED, "CON",
                EndpointState.DISCONNECT_PENDING, "DIP",
                EndpointState.DISCONNECTED, "DIS",
                EndpointState.CLOSED, "CLO"));

    private Evd requests = evd;
    private ReservedServicePoint rsp;
    private ConnectionRequest own;
    private ConnectionRequest any;
    private Endpoint other;

    @Override
    public String state() {
      final EndpointState state = endpoint.state();
      if (endpoint.life().isRenewing() && state != EndpointState.CLOSED) {
        return state == EndpointState.DISCONNECTED ? "RST" : "MOD";
      }
      final boolean gone = endpoint.now().connection().state() == EndpointState.CLOSED;
      return state == EndpointState.DISCONNECTED && gone ? "NOQ" : NAMES.get(state);
    }

    @Override
    public String refusal() {
      return refusal(state());
    }

    private static String refusal(final String state) {
      return "INVALID_STATE/EP_"
          + switch (state) {
            case "UNC" -> "UNCONNECTED";
            case "RES" -> "RESERVED";
            case "PAS" -> "PASSCONNPENDING";
            case "COM" -> "COMPLPENDING";
            case "ACT" -> "ACTCONNPENDING";
            case "CON" -> "CONNECTED";
            case "DIP" -> "DISCPENDING";
            case "DIS", "NOQ" -> "DISCONNECTED";
            case "RST", "MOD" -> "NOTREADY";
            default -> "";
          };
    }

    private void reserved() {
      rsp = ia.createRsp(RESERVED, endpoint, requests);
    }

    private void passive() {
      reserved();
      provider.ask();
      settle();
      own = request;
    }

    private void accepted() {
      requestAt(PUBLIC).accept(endpoint, null);
    }

    private void connected() {
      hooked.connected();
    }

    private void disconnecting() {
      connected();
      request();
      endpoint.disconnect(Disconnect.GRACEFUL);
      settle();
    }

    private void disconnected() {
      connected();
      provider.tell(CmEventType.DISCONNECTED, 0);
      settle();
    }

    private void beingReset() {
      disconnected();
      final var unused = endpoint.resetAsync(LONG);
    }

    private void beingModified() {
      inside(() -> endpoint.modify(withOtherEvd()));
    }

    private void notBegun() {
      disconnected();
      refusing(
          "create_qp",
          () -> {
            final var unused = endpoint.resetAsync(LONG);
            settle();
          });
    }

    private void closed() {
      connected();
      endpoint.close();
    }

    private EndpointParameters withOtherEvd() {
      return endpoint.parameters().withEvds(hooked.createEvd(), evd, evd);
    }

    private EndpointParameters withOtherBounds() {
      final EndpointParameters now = endpoint.parameters();
      return now.withAttributes(
          now.attributes().withBounds(now.attributes().bounds().withAccept(LONG)));
    }

    private void receive() {
      endpoint.postReceive(hooked.lmr, 0, 8, 1);
    }

    /** Posts a request that is not done before a test says so. */
    private void request() {
      provider.holdsSends = true;
      endpoint.postSend(hooked.lmr, 0, 8, 1);
    }

    /** Whether a request is open; one is posted if that is legal. */
    private boolean hasOpenRequest() {
      if (endpoint.state() == EndpointState.CONNECTED) {
        request();
      }
      return provider.isHolding(0);
    }

    /** Something happens to the connection, if there is one or was. */
    private boolean tell(final CmEventType type, final int status) {
      if (!provider.hasConnection()) {
        return false;
      }
      provider.tell(type, status);
      return true;
    }

    /** A request comes to its service point, if that listens. */
    private boolean ask() {
      final boolean comes = provider.isListening(RESERVED);
      if (comes) {
        provider.ask(RESERVED);
      }
      return comes;
    }

    /** The same, when its EVD has no room. */
    private boolean ask(final Evd full) {
      final boolean comes = provider.isListening(RESERVED);
      if (comes) {
        fill(full);
        provider.ask(RESERVED);
      }
      return comes;
    }

    private boolean with(final ConnectionRequest asked, final Consumer<ConnectionRequest> answer) {
      if (asked != null) {
        answer.accept(asked);
      }
      return asked != null;
    }

    /** A message comes, if there is a connection for it. */
    private boolean message() {
      if (!Set.of("ACT", "COM", "CON", "DIP").contains(state())) {
        return false;
      }
      receive();
      provider.receive(0);
      settle();
      return true;
    }
  }

  private static Table<EndpointBed> endpoints(final String heading) {
    return new Table<>(heading, EndpointBed::new)
        .state("UNC", bed -> {})
        .state("RES", EndpointBed::reserved)
        .state("PAS", EndpointBed::passive)
        .state("ACT", bed -> bed.hooked.connect(bed.endpoint))
        .state("COM", EndpointBed::accepted)
        .state("CON", EndpointBed::connected)
        .state("DIP", EndpointBed::disconnecting)
        .state("DIS", EndpointBed::disconnected)
        .state("RST", EndpointBed::beingReset)
        .state("MOD", EndpointBed::beingModified)
        .state("NOQ", EndpointBed::notBegun)
        .state("CLO", EndpointBed::closed);
  }

  private static <B extends Bed> StateTables.Step<B> always(final Consumer<B> call) {
    return bed -> {
      call.accept(bed);
      return true;
    };
  }

  private static final StateTables.Bringing<EndpointBed> ASKED =
      bed -> bed.any = bed.requestAt(OTHER);

  private static Table<EndpointBed> endpointCalls() {
    return endpoints("### Endpoint: calls")
        .row("`connect`", always(bed -> bed.hooked.connect(bed.endpoint)))
        .row(
            "`connect`, the provider refuses",
            always(bed -> bed.refusing("connect", () -> bed.hooked.connect(bed.endpoint))))
        .row(
            "`dupConnect`",
            bed -> {
              bed.other = bed.hooked.createEndpoint();
              bed.hooked.connect(bed.other);
              bed.provider.forgetConnections();
            },
            always(bed -> bed.endpoint.dupConnect(bed.other, LONG, null)))
        .row(
            "`commonConnect`",
            always(
                bed ->
                    bed.endpoint.commonConnect(
                        new InetSocketAddress(bed.ia.address(), 1), LONG, null)))
        .row("`createRsp` for it", always(bed -> bed.ia.createRsp(OTHER, bed.endpoint, bed.evd)))
        .row(
            "`createRsp` for it, the provider refuses",
            always(
                bed ->
                    bed.refusing("listen", () -> bed.ia.createRsp(OTHER, bed.endpoint, bed.evd))))
        .row("`accept` of a request", ASKED, always(bed -> accept(bed, bed.any)))
        .row(
            "`accept` of a request, the provider refuses",
            ASKED,
            always(bed -> bed.refusing("accept", () -> accept(bed, bed.any))))
        .row("`accept` of its request", bed -> bed.with(bed.own, own -> own.accept(null, null)))
        .row(
            "`accept` of its request, the provider refuses",
            bed -> bed.with(bed.own, own -> bed.refusing("accept", () -> own.accept(null, null))))
        .row("`reject` of its request", bed -> bed.with(bed.own, own -> own.reject(null)))
        .row(
            "`handoff` of its request",
            bed -> bed.ia.createPsp(OTHER, bed.evd),
            bed -> bed.with(bed.own, own -> own.handoff(OTHER)))
        .row("`disconnect(GRACEFUL)`", disconnect(Disconnect.GRACEFUL))
        .row(
            "`disconnect(GRACEFUL)`, a request is open",
            bed -> bed.hasOpenRequest() && disconnect(Disconnect.GRACEFUL).take(bed))
        .row("`disconnect(ABRUPT)`", disconnect(Disconnect.ABRUPT))
        .row("`postReceive`", always(EndpointBed::receive))
        .row(
            "`postSend`, `postRdmaWrite`, `postRdmaWriteImmed`, `postRdmaRead`, `postFetchAndAdd`,"
                + " `postCompareAndSwap`",
            always(StatesTest::postRequests))
        .row(
            "`modify` of depths, retries, bounds",
            always(bed -> bed.endpoint.modify(bed.withOtherBounds())))
        .row("`modify` of all else", always(bed -> bed.endpoint.modify(bed.withOtherEvd())))
        .row(
            "`modify` of all else, a receive is open",
            bed -> {
              if (bed.endpoint.state() != EndpointState.UNCONNECTED
                  || bed.endpoint.life().isRenewing()) {
                return false;
              }
              bed.receive();
              bed.endpoint.modify(bed.withOtherEvd());
              return true;
            })
        .row("`reset`", always(bed -> bed.endpoint.reset()))
        .row("`resetAsync`", always(bed -> bed.endpoint.resetAsync(LONG)))
        .row(
            "`state`, `parameters`, `remoteAddress`, `isReceiveIdle`, `isRequestIdle`",
            always(
                bed -> {
                  assertThat(bed.endpoint.parameters()).isNotNull();
                  final var unused = bed.endpoint.remoteAddress();
                  assertThat(bed.endpoint.isReceiveIdle()).isTrue();
                  assertThat(bed.endpoint.isRequestIdle()).isEqualTo(!bed.provider.isHolding(0));
                }))
        .row("`close`", always(bed -> bed.endpoint.close()))
        .row("`closeAsync`", always(bed -> bed.endpoint.closeAsync(LONG)));
  }

  private static void accept(final EndpointBed bed, final ConnectionRequest request) {
    request.accept(bed.endpoint, null);
  }

  private static StateTables.Step<EndpointBed> disconnect(final Disconnect how) {
    return always(bed -> bed.endpoint.disconnect(how));
  }

  private static Segments message(final EndpointBed bed) {
    return new Segments(1).add(bed.hooked.lmr, 0, 8);
  }

  /** All of them say the same. */
  private static void postRequests(final EndpointBed bed) {
    same(
        () -> bed.endpoint.postSend(bed.hooked.lmr, 0, 8, 1),
        () -> bed.endpoint.postRdmaWrite(bed.hooked.lmr, 0, 8, 1, 0, 2),
        () -> bed.endpoint.postRdmaRead(bed.hooked.lmr, 0, 8, 1, 0, 3),
        () -> bed.endpoint.postRdmaWriteImmed(message(bed), 1, 0, 7, 4, null, 0),
        () -> bed.endpoint.postFetchAndAdd(bed.hooked.lmr, 0, 1, 0, 7, 5, null, 0),
        () -> bed.endpoint.postCompareAndSwap(bed.hooked.lmr, 0, 1, 0, 7, 8, 6, null, 0));
  }

  /** Makes calls that are all legal, or are refused with the same code. */
  private static void same(final Runnable... calls) {
    DatException refusal = null;
    int refused = 0;
    for (final Runnable call : calls) {
      try {
        call.run();
      } catch (final DatException e) {
        refused++;
        if (refusal != null) {
          assertThat(StateTables.code(e)).isEqualTo(StateTables.code(refusal));
        }
        refusal = e;
      }
    }
    if (refusal != null) {
      assertThat(refused).as("all or none: " + refusal).isEqualTo(calls.length);
      throw refusal;
    }
  }

  private static Table<EndpointBed> endpointEvents() {
    return endpoints("### Endpoint: events")
        .row("a request comes to its service point", EndpointBed::ask)
        .row(
            "a request comes there, and its EVD is full",
            bed -> bed.requests = bed.ia.createEvd(1, EventStream.CONNECTION_REQUEST),
            bed -> bed.ask(bed.requests))
        .row(
            "its service point is closed",
            bed -> {
              if (bed.rsp != null) {
                bed.rsp.close();
              }
              return bed.rsp != null;
            })
        .row("the connection stands", bed -> bed.tell(CmEventType.ESTABLISHED, 0))
        .row(
            "the peer's consumer says no",
            bed -> bed.tell(CmEventType.REJECTED, CmHandler.CONSUMER_REJECT))
        .row("nobody listens there", bed -> bed.tell(CmEventType.REJECTED, 1))
        .row(
            "the peer is not reached",
            bed -> {
              for (final CmEventType type :
                  List.of(
                      CmEventType.UNREACHABLE,
                      CmEventType.CONNECT_ERROR,
                      CmEventType.ADDR_ERROR,
                      CmEventType.ROUTE_ERROR)) {
                if (!bed.tell(type, 0)) { // each after the first finds it over
                  return false;
                }
              }
              return true;
            })
        .row("the peer disconnects", bed -> bed.tell(CmEventType.DISCONNECTED, 0))
        .row("the time wait is over", bed -> bed.tell(CmEventType.TIMEWAIT_EXIT, 0))
        .row("the bound of what it waits for is over", always(bed -> bed.pass(LONGER)))
        .row("a message comes", bed -> bed.message())
        .row(
            "a message came, and nothing else within a bound",
            bed -> {
              final boolean comes = bed.message();
              bed.pass(Duration.ofSeconds(3));
              return comes;
            })
        .row("its open requests are done", done(WcStatus.SUCCESS, Duration.ZERO))
        .row("a request fails", done(WcStatus.RETRY_EXC_ERR, Duration.ZERO))
        .row(
            "a request is flushed, and nothing else within a bound",
            done(WcStatus.WR_FLUSH_ERR, Duration.ofSeconds(3)))
        .row(
            "its queue pair fails",
            always(
                bed -> {
                  bed.provider.fail(0, AsyncType.QP_FATAL);
                }))
        .row("all of before is drained", always(Bed::settle))
        .row(
            "all of before is drained, and there is no room for another queue pair",
            bed -> {
              if (!bed.endpoint.life().isRenewing()) {
                return false;
              }
              bed.refusing("create_qp", bed::settle);
              return true;
            })
        .row("the device is lost", always(Bed::lose));
  }

  private static StateTables.Step<EndpointBed> done(final WcStatus status, final Duration after) {
    return bed -> {
      final boolean open = bed.hasOpenRequest();
      if (open) {
        bed.provider.done(0, status);
        bed.settle();
        bed.pass(after);
      }
      return open;
    };
  }

  @Test
  void required_C01_endpointsAnswerEachCallInEachStateAsThePageSays() throws IOException {
    endpointCalls().check();
  }

  @Test
  void required_C01_endpointsFollowEachEventInEachStateAsThePageSays() throws IOException {
    endpointEvents().check();
  }

  @Test
  void required_C01_thePageHasTheMovesOfTheCodesTableOfEndpoints() throws IOException {
    final Map<String, EndpointState> states = new HashMap<>();
    EndpointBed.NAMES.forEach((state, name) -> states.put(name, state));
    for (final String between : List.of("RST", "MOD", "NOQ")) {
      states.put(between, EndpointState.CLOSED); // one incarnation is, and another one comes
    }

    assertThat(moves(states, endpointCalls(), endpointEvents()))
        .isEqualTo(moves(EndpointStates.TABLE, EndpointState.class, EndpointStates.Trigger.class));
  }

  /** Of calls that wait until what RST or CLG begins has come to its end. */
  private static final Set<String> WAITING = Set.of("DIS UNC", "OPE CLO", "LOS CLO");

  /** What follows what, by the page; what is behind the end does not count. */
  private static Set<String> moves(
      final Map<String, ? extends Enum<?>> states, final Table<?>... tables) throws IOException {
    final Set<String> moves = new TreeSet<>();
    for (final Table<?> table : tables) {
      for (final String move : table.moves()) {
        final String[] ends = move.split(" ", 2);
        if (!WAITING.contains(move) && !states.get(ends[0]).name().equals("CLOSED")) {
          moves.add(states.get(ends[0]) + " " + states.get(ends[1]));
        }
      }
    }
    return moves;
  }

  /** What follows what, by the code; but not how a call that failed is undone. */
  private static <S extends Enum<S>, T extends Enum<T>> Set<String> moves(
      final StateTable<S, T> table, final Class<S> states, final Class<T> triggers) {
    final Set<String> moves = new TreeSet<>();
    for (final S from : states.getEnumConstants()) {
      for (final T trigger : triggers.getEnumConstants()) {
        final S to = table.next(from, trigger);
        if (to != null && !UNDONE.contains(trigger.name())) {
          moves.add(from + " " + to);
        }
      }
    }
    return moves;
  }

  private static final Set<String> UNDONE =
      Set.of("CONNECT_FAILED", "ACCEPT_FAILED", "RESERVED_ACCEPT_FAILED", "REQUEST_LOST", "UNTAKE");

  @Test
  void required_C01_endpointsHaveTheStatesAndNumbersOfThePage() throws IOException {
    final List<String> right = new ArrayList<>();
    EndpointBed.NAMES.forEach((state, name) -> right.add(row(name, state)));
    right.add(row("RST", EndpointState.DISCONNECTED));
    right.add(row("MOD", EndpointState.UNCONNECTED));
    right.add(row("NOQ", EndpointState.DISCONNECTED));

    assertThat(
            StateTables.onPage("## Endpoint").stream()
                .skip(2)
                .map(line -> String.join(" ", StateTables.cells(line).subList(0, 4))))
        .containsExactlyInAnyOrderElementsOf(right);
  }

  private static String row(final String name, final EndpointState state) {
    return state == EndpointState.CLOSED
        ? name + " " + state + " none "
        : name
            + " "
            + state
            + " "
            + state.number()
            + EndpointBed.refusal(name).replace("INVALID_STATE/", " ");
  }

  // Service points.

  private static class PointBed extends Bed {

    private final Kind kind;
    private final Evd requests = ia.createEvd(2, EventStream.CONNECTION_REQUEST);
    private ServicePoint point;

    /** The kinds of service points. */
    enum Kind {
      PSP,
      CSP,
      RSP
    }

    PointBed(final Kind kind) {
      this.kind = kind;
      requests.upcall(this);
    }

    @Override
    public String state() {
      return switch (((SpImpl) point).state()) {
        case LISTENING -> "LIS";
        case TAKEN -> "TAK";
        case CLOSED -> "CLO";
      };
    }

    @Override
    public String refusal() {
      return null;
    }

    private void listening() {
      point =
          switch (kind) {
            case PSP -> ia.createPsp(RESERVED, requests);
            case CSP -> ia.createCsp(new InetSocketAddress(ia.address(), RESERVED), requests);
            case RSP -> ia.createRsp(RESERVED, endpoint, requests);
          };
    }

    private void taken() {
      listening();
      provider.ask();
      inside(() -> {}); // its event is handed out; the reaper has not closed it yet
    }

    private void closed() {
      listening();
      point.close();
    }
  }

  private static Table<PointBed> points(final String heading, final PointBed.Kind kind) {
    final Table<PointBed> table =
        new Table<>(heading, () -> new PointBed(kind)).state("LIS", PointBed::listening);
    if (kind == PointBed.Kind.RSP) {
      table.state("TAK", PointBed::taken);
    }
    return table.state("CLO", PointBed::closed);
  }

  private static Table<PointBed> pointCalls(final String heading, final PointBed.Kind kind) {
    return points(heading, kind)
        .row(
            kind == PointBed.Kind.RSP ? "`connQual`, `endpoint`" : "`connQual`, `address`",
            always(
                bed -> {
                  assertThat(bed.point.connQual()).isEqualTo(RESERVED);
                  if (bed.point instanceof CommonServicePoint common) {
                    assertThat(common.address())
                        .isEqualTo(new InetSocketAddress(bed.ia.address(), RESERVED));
                  } else if (bed.point instanceof ReservedServicePoint reserved) {
                    assertThat(reserved.endpoint()).isEqualTo(bed.endpoint);
                  }
                }))
        .row("`close`", always(bed -> bed.point.close()));
  }

  private static Table<PointBed> pointEvents(final String heading, final PointBed.Kind kind) {
    final Table<PointBed> table = points(heading, kind);
    if (kind == PointBed.Kind.RSP) {
      table.row("its endpoint is closed", always(bed -> bed.endpoint.close()));
    }
    return table
        .row("a request comes", always(bed -> bed.provider.ask()))
        .row(
            "a request comes, and the EVD is full",
            bed -> {
              final boolean mayTake = bed.state().equals("LIS");
              if (mayTake) {
                bed.requests.disable();
                bed.fill(bed.requests);
                bed.provider.ask(RESERVED);
              }
              return mayTake;
            })
        .row("all that was begun is done", always(Bed::settle))
        .row("the adapter is closed abruptly", always(bed -> bed.ia.closeAbruptly(LONG)))
        .row("the device is lost", always(Bed::lose));
  }

  @Test
  void required_C01_servicePointsAnswerEachCallInEachStateAsThePageSays() throws IOException {
    pointCalls("### PSP and CSP: calls", PointBed.Kind.PSP).check();
    pointCalls("### PSP and CSP: calls", PointBed.Kind.CSP).check();
    pointCalls("### RSP: calls", PointBed.Kind.RSP).check();
  }

  @Test
  void required_C01_servicePointsFollowEachEventInEachStateAsThePageSays() throws IOException {
    pointEvents("### PSP and CSP: events", PointBed.Kind.PSP).check();
    pointEvents("### PSP and CSP: events", PointBed.Kind.CSP).check();
    pointEvents("### RSP: events", PointBed.Kind.RSP).check();
  }

  @Test
  void required_C01_thePageHasTheMovesOfTheCodesTableOfServicePoints() throws IOException {
    assertThat(
            moves(
                Map.of(
                    "LIS", SpImpl.State.LISTENING,
                    "TAK", SpImpl.State.TAKEN,
                    "CLO", SpImpl.State.CLOSED),
                pointCalls("### RSP: calls", PointBed.Kind.RSP),
                pointEvents("### RSP: events", PointBed.Kind.RSP)))
        .isEqualTo(moves(SpImpl.TABLE, SpImpl.State.class, SpImpl.Trigger.class));
  }

  /** With threads, what follows a creation may be faster than its return. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void required_C01_anRspThatIsOverBeforeItsCreationReturnsLeavesNothing(final boolean asked) {
    final InterceptedBed bed = new InterceptedBed();
    bed.provider.hook =
        verb -> {
          if (verb.equals("listen")) {
            if (asked) {
              bed.provider.ask();
            } else {
              final var unused = bed.endpoint.closeAsync(LONG);
            }
            boolean worked;
            do {
              worked = ((IaImpl) bed.ia).reaper().round();
            } while (worked);
          }
        };

    bed.ia.createRsp(RESERVED, bed.endpoint, bed.evd);
    bed.settle();

    assertThat(bed.provider.isListening(RESERVED)).isFalse();
    assertThat(bed.ia.statistics().open().servicePoints()).isZero();
    assertThat(bed.endpoint.state())
        .isEqualTo(asked ? EndpointState.PASSIVE_CONNECTION_PENDING : EndpointState.CLOSED);
  }

  // Requests.

  private static final class RequestBed extends Bed {

    private final boolean reserved;
    private final EndpointImpl busy = hooked.createEndpoint();
    private ServicePoint point;
    private ConnectionRequest asked;

    RequestBed(final boolean reserved) {
      this.reserved = reserved;
      hooked.connect(busy);
    }

    @Override
    public String state() {
      return switch (((CrImpl) asked).state()) {
        case PENDING -> "PEN";
        case ACCEPTED -> "ACC";
        case REJECTED -> "REJ";
        case HANDED_OFF -> "HAN";
      };
    }

    @Override
    public String refusal() {
      return "INVALID_STATE";
    }

    private void pending() {
      point = reserved ? ia.createRsp(RESERVED, endpoint, evd) : ia.createPsp(RESERVED, evd);
      provider.ask(RESERVED);
      settle();
      asked = request;
    }

    private void accepted() {
      pending();
      accept();
    }

    private void accept() {
      asked.accept(reserved ? null : endpoint, null);
    }

    private void rejected() {
      pending();
      asked.reject(null);
    }

    private void handedOff() {
      ia.createPsp(PUBLIC, evd);
      pending();
      asked.handoff(PUBLIC);
      settle();
    }
  }

  private static Table<RequestBed> requests(final String heading, final boolean reserved) {
    return new Table<>(heading, () -> new RequestBed(reserved))
        .state("PEN", RequestBed::pending)
        .state("ACC", RequestBed::accepted)
        .state("REJ", RequestBed::rejected)
        .state("HAN", RequestBed::handedOff);
  }

  private static Table<RequestBed> requestCalls(final String heading, final boolean reserved) {
    final Table<RequestBed> table =
        requests(heading, reserved)
            .row(
                reserved ? "`accept`, without an endpoint" : "`accept`, an endpoint that is UNC",
                always(
                    bed -> bed.asked.accept(reserved ? null : bed.hooked.createEndpoint(), null)));
    if (reserved) {
      table.row("`accept`, its own endpoint", always(bed -> bed.asked.accept(bed.endpoint, null)));
    } else {
      table.row(
          "`accept`, an endpoint that is ACT", always(bed -> bed.asked.accept(bed.busy, null)));
    }
    return table
        .row(
            reserved ? "`accept`, another endpoint" : "`accept`, without an endpoint",
            always(bed -> bed.asked.accept(reserved ? bed.busy : null, null)))
        .row(
            "`accept`, the provider refuses",
            always(
                bed ->
                    bed.refusing(
                        "accept",
                        () ->
                            bed.asked.accept(reserved ? null : bed.hooked.createEndpoint(), null))))
        .row("`reject`", always(bed -> bed.asked.reject(null)))
        .row(
            "`handoff`, to a service point",
            bed -> bed.ia.createPsp(OTHER, bed.evd),
            always(bed -> bed.asked.handoff(OTHER)))
        .row("`handoff`, to nobody", always(bed -> bed.asked.handoff(OTHER)))
        .row(
            "`remoteAddress`, `privateData`, `endpoint`",
            always(
                bed -> {
                  assertThat(bed.asked.remoteAddress()).isEqualTo(bed.ia.address());
                  assertThat(bed.asked.privateData().remaining()).isZero();
                  assertThat(bed.asked.endpoint()).isEqualTo(reserved ? bed.endpoint : null);
                }))
        .row("`close`", always(bed -> bed.asked.close()));
  }

  private static Table<RequestBed> requestEvents(final String heading, final boolean reserved) {
    final Table<RequestBed> table = requests(heading, reserved);
    if (reserved) {
      table.row("its endpoint is closed", always(bed -> bed.endpoint.close()));
    }
    return table
        .row(
            "its service point is closed",
            always(
                bed -> {
                  bed.point.close();
                  bed.settle();
                }))
        .row("the adapter is closed abruptly", always(bed -> bed.ia.closeAbruptly(LONG)))
        .row("the device is lost", always(Bed::lose));
  }

  @Test
  void required_C01_requestsAnswerEachCallInEachStateAsThePageSays() throws IOException {
    requestCalls("### Request at a PSP or CSP: calls", false).check();
    requestCalls("### Request at an RSP: calls", true).check();
  }

  @Test
  void required_C01_requestsFollowEachEventInEachStateAsThePageSays() throws IOException {
    requestEvents("### Request at a PSP or CSP: events", false).check();
    requestEvents("### Request at an RSP: events", true).check();
  }

  @Test
  void required_C01_thePageHasTheMovesOfTheCodesTableOfRequests() throws IOException {
    assertThat(
            moves(
                Map.of(
                    "PEN", CrImpl.State.PENDING,
                    "ACC", CrImpl.State.ACCEPTED,
                    "REJ", CrImpl.State.REJECTED,
                    "HAN", CrImpl.State.HANDED_OFF),
                requestCalls("### Request at an RSP: calls", true),
                requestEvents("### Request at an RSP: events", true)))
        .isEqualTo(moves(CrImpl.TABLE, CrImpl.State.class, CrImpl.Trigger.class));
  }

  // Adapters.

  private static final class AdapterBed extends Bed {

    @Override
    public String state() {
      if (hooked.jdapl.adapters() == 0) {
        return "CLO";
      }
      try {
        ia.createCno().close();
        return "OPE";
      } catch (final DatException e) {
        return e.type() == ReturnType.INVALID_HANDLE ? "CLG" : "LOS";
      }
    }

    @Override
    public String refusal() {
      return state().equals("LOS") ? "INVALID_STATE" : "INVALID_HANDLE/IA";
    }

    private void closing() {
      inside(() -> ia.closeAbruptly(LONG));
    }

    private void closed() {
      ia.closeAbruptly(LONG);
      settle();
    }

    /** Closes all objects, which is legal everywhere. */
    private void empty() {
      endpoint.close();
      settle();
      hooked.lmr.close();
      hooked.pz.close();
      evd.close();
      settle();
    }
  }

  private static Table<AdapterBed> adapters(final String heading) {
    return new Table<>(heading, AdapterBed::new)
        .state("OPE", bed -> {})
        .state("LOS", Bed::lose)
        .state("CLG", AdapterBed::closing)
        .state("CLO", AdapterBed::closed);
  }

  private static Table<AdapterBed> adapterCalls() {
    return adapters("### Adapter: calls")
        .row("each `create...`", always(StatesTest::createEach))
        .row(
            "`address`, `statistics`, `asyncEvd()`",
            always(
                bed -> {
                  assertThat(bed.ia.address()).isNotNull();
                  assertThat(bed.ia.statistics()).isNotNull();
                  assertThat(bed.ia.asyncEvd()).isNotNull();
                }))
        .row("`close`, objects are open", always(bed -> bed.ia.close()))
        .row(
            "`close`, nothing is open",
            bed -> {
              if (!Set.of("OPE", "LOS").contains(bed.state())) {
                return false;
              }
              bed.empty();
              bed.ia.close();
              return true;
            })
        .row("`closeAbruptly`", always(bed -> bed.ia.closeAbruptly(LONG)))
        .row(
            "`closeAbruptly`, inside an upcall",
            bed -> {
              if (!Set.of("OPE", "LOS").contains(bed.state())) {
                return false;
              }
              bed.closing();
              return true;
            });
  }

  /** All of them say the same. */
  private static void createEach(final AdapterBed bed) {
    same(
        () -> bed.hooked.createEvd(),
        () -> bed.ia.createPz(),
        () -> bed.ia.createCno(),
        () -> bed.hooked.createEndpoint(),
        () -> bed.ia.createPsp(OTHER, bed.evd),
        () -> bed.ia.createPsp(bed.evd),
        () -> bed.ia.createRsp(OTHER, bed.endpoint, bed.evd),
        () -> bed.ia.createCsp(new InetSocketAddress(bed.ia.address(), OTHER), bed.evd));
  }

  private static Table<AdapterBed> adapterEvents() {
    return adapters("### Adapter: events")
        .row("the device is lost", always(bed -> bed.provider.lose()))
        .row("all that was begun is done", always(Bed::settle));
  }

  @Test
  void required_C01_adaptersAnswerEachCallInEachStateAsThePageSays() throws IOException {
    adapterCalls().check();
  }

  @Test
  void required_C01_adaptersFollowEachEventInEachStateAsThePageSays() throws IOException {
    adapterEvents().check();
  }

  @Test
  void required_C01_thePageOfAdaptersIsTheTableInTheCode() throws IOException {
    assertThat(
            moves(
                Map.of(
                    "OPE", IaImpl.State.OPEN,
                    "LOS", IaImpl.State.LOST,
                    "CLG", IaImpl.State.CLOSING,
                    "CLO", IaImpl.State.CLOSED),
                adapterCalls(),
                adapterEvents()))
        .isEqualTo(moves(IaImpl.TABLE, IaImpl.State.class, IaImpl.Trigger.class));
  }
}
