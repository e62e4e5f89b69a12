package org.jdapl.evd.explorer;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.Jdapl;
import org.jdapl.hooks.Faults;
import org.jdapl.hooks.Trace;
import org.jdapl.sim.SimFabric;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsException;

/**
 * Runs a script on virtual time, on one thread, and watches that nothing happens that the contract
 * excludes. Nothing is shared with other runs.
 */
final class ScriptRun {

  /** What a handler throws because the script says so. */
  private static final class HandlerFailure extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private HandlerFailure() {
      super("the script says so", null, false, false);
    }
  }

  /** What a consumer has to expect of any call. */
  private static final Set<ReturnType> ORDINARY =
      Set.of(
          ReturnType.INVALID_STATE,
          ReturnType.INVALID_HANDLE,
          ReturnType.INSUFFICIENT_RESOURCES,
          ReturnType.CONN_QUAL_IN_USE);

  private static final EventStream[][] STREAMS = {
    EventStream.values(),
    EventStream.values(),
    {EventStream.DTO},
    {EventStream.CONNECTION, EventStream.CONNECTION_REQUEST},
    {EventStream.SOFTWARE},
    {EventStream.DTO, EventStream.CONNECTION, EventStream.SOFTWARE},
  };

  private static final Duration[] BOUNDS = {
    Duration.ZERO,
    Duration.ofNanos(5_000),
    Duration.ofMillis(1),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
  };

  /** When nothing happens in so much time, nothing will. */
  private static final Duration REST = Duration.ofMinutes(2);

  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);
  private static final Duration GRACE = Duration.ofMillis(600);

  /** No close needs longer where nothing is wrong. */
  private static final Duration PROMPT = Duration.ofMillis(100);

  private static final int ROUNDS_AT_MOST = 100_000;
  private static final int TRACE = 400;
  private static final int OPEN_ONLY = 56;
  private static final int BYTES = 1024;
  private static final long STEP_NANOS = 20_000;

  /** What is in it does not matter. */
  private static final ByteBuffer MEMORY = ByteBuffer.allocateDirect(BYTES);

  private record Pending(AdapterBook adapter, ConnectionRequest request) {}

  private record Point(PublicServicePoint psp, EvdBook evd, boolean accepts) {}

  private final Script script;
  private final SimFabric fabric;
  private final Faults faults;
  private final SteppedClock clock;
  private final AuditedProvider provider;
  private final Jdapl jdapl;
  private final List<InterfaceAdapter> opened = new ArrayList<>();
  private final List<AdapterBook> adapters = new ArrayList<>();
  private final List<EvdBook> evds = new ArrayList<>();
  private final List<EndpointBook> endpoints = new ArrayList<>();
  private final List<SrqBook> srqs = new ArrayList<>();
  private final List<Point> points = new ArrayList<>();
  private final List<Pending> requests = new ArrayList<>();
  private final IdentityHashMap<Endpoint, EndpointBook> books = new IdentityHashMap<>();
  private final List<EvdBook> asyncs = new ArrayList<>();
  private final List<EvdBook> solicited = new ArrayList<>();
  private final ArrayDeque<String> trace = new ArrayDeque<>();
  private final boolean traced;
  private String problem;
  private EvdBook upcallOf;
  private EvdBook waitsFor;
  private int driving;
  private long round;
  private long cookies;

  private ScriptRun(final Script script, final boolean traced) {
    this.script = script;
    this.traced = traced;
    fabric = SimFabric.virtual(script.seed());
    faults = Faults.over(fabric.provider(script.model()), script.plan(), fabric.clock());
    clock = (SteppedClock) faults.clock();
    provider =
        new AuditedProvider(
            traced ? Trace.over(faults, line -> note(() -> "      " + line)) : faults,
            what -> fail("verbs", what));
    jdapl =
        Jdapl.with(provider)
            .byHand()
            .clock(clock)
            .dispatchers(script.dispatchers())
            .capacity(64)
            .start();
  }

  /**
   * Runs it.
   *
   * @return the first thing that was wrong; null if nothing was.
   */
  static String run(final Script script) {
    return new ScriptRun(script, false).run();
  }

  /**
   * Runs it once more, for a report.
   *
   * @return what happened last, the newest at the end.
   */
  static List<String> trace(final Script script) {
    final ScriptRun run = new ScriptRun(script, true);
    run.run();
    return List.copyOf(run.trace);
  }

  private String run() {
    try {
      if (!open()) {
        opened.forEach(adapter -> adapter.closeAbruptly(CLOSE_BOUND));
        jdapl.close();
        return problem;
      }
      for (final Action action : script.actions()) {
        if (action.inside() < 0) {
          make(action);
        } else if (!evds.isEmpty()) {
          evds.get(action.inside() % evds.size()).inside.add(action);
        }
        if (problem != null) {
          return problem;
        }
      }
      evds.forEach(evd -> evd.inside.clear());
      rest();
      adapters.stream().filter(adapter -> adapter.closed).forEach(this::collect);
      evds.forEach(EvdBook::onRest);
      endpoints.forEach(EndpointBook::onRest);
      srqs.forEach(SrqBook::onRest);
      adapters.forEach(this::checkLost);
      if (problem == null) {
        closeAll();
      }
    } catch (final RuntimeException | Error e) {
      if (traced) {
        for (final StackTraceElement element : e.getStackTrace()) {
          note(() -> "    at " + element);
        }
      }
      fail("R01", "it ended by " + e);
    }
    return problem;
  }

  /** Opens the adapters; returns false if a fault prevents that. */
  private boolean open() {
    for (int i = 0; i < script.adapters(); i++) {
      final DatException refused =
          attempt(
              "open",
              () -> {
                final InterfaceAdapter adapter = jdapl.open();
                opened.add(adapter); // what is made of it may be refused
                final AuditedProvider.Watched device =
                    provider.devices().get(provider.devices().size() - 1);
                adapters.add(new AdapterBook(adapter, device));
              });
      if (refused != null) {
        return false;
      }
      final AdapterBook book = adapters.get(i);
      asyncs.add(new EvdBook(this, book, book.adapter.asyncEvd(), EventStream.ASYNC));
    }
    return true;
  }

  // For the books.

  /** Something is wrong; what comes first is kept. */
  void fail(final String oracle, final String what) {
    if (problem == null) {
      problem = oracle + ": " + what;
      note(() -> "!!! " + problem);
    }
  }

  void note(final Supplier<String> what) {
    if (traced) {
      if (trace.size() >= TRACE) {
        trace.remove();
      }
      trace.add(now() + " " + what.get());
    }
  }

  long now() {
    return clock.nanoTime();
  }

  EndpointBook book(final Endpoint endpoint) {
    return books.get(endpoint);
  }

  boolean isInUpcallOf(final EvdBook evd) {
    return upcallOf == evd;
  }

  /** Whether an adapter may be in ways that nobody can know. */
  boolean isExcused(final AdapterBook adapter) {
    return adapter.device.isLost() || isFaulty();
  }

  /** Whether something went wrong at the provider. */
  boolean isFaulty() {
    return !faults.done().isEmpty();
  }

  /** Whether a close may know what became of receives, and did not tell yet. */
  boolean isUnsettled(final SrqBook srq) {
    return srq.adapter.closed
        || srq.adapter.device.isLost()
        || endpoints.stream().anyMatch(e -> e.srq == srq && e.isClosing() && !e.isClosed());
  }

  /** Whether an EVD's events may wait though an upcall is enabled. */
  boolean mayWait(final EvdBook evd) {
    return solicited.contains(evd);
  }

  /** Whether completions were lost: then later ones stand for them. */
  boolean losesCompletions() {
    return faults.done().stream()
        .anyMatch(
            fault ->
                switch (fault.action()) {
                  case DROP -> fault.target().endsWith("completion");
                  case SILENCE, OVERFLOW, LOSE -> true;
                  default -> false;
                });
  }

  void enter(final EvdBook evd) {
    if (upcallOf != null) {
      fail("O5", "an upcall of " + evd + " inside one of " + upcallOf);
    }
    if (driving == 0) {
      fail("U02", "an upcall of " + evd + " inside a call that runs none");
    }
    upcallOf = evd;
  }

  void exit() {
    upcallOf = null;
  }

  /** An upcall does what it is to do. */
  void inside(final EvdBook evd) {
    final Action action = evd.inside.poll();
    if (action != null && problem == null) {
      make(action);
    }
  }

  void onRequest(final ConnectionRequest request, final AdapterBook adapter) {
    if (points.stream().anyMatch(Point::accepts)) {
      for (final EndpointBook endpoint : endpoints) {
        if (endpoint.adapter == adapter
            && endpoint.endpoint.state() == EndpointState.UNCONNECTED
            && accept(request, endpoint)) {
          return;
        }
      }
    }
    requests.add(new Pending(adapter, request));
  }

  void onAsync(final AsyncEvent event, final AdapterBook adapter) {
    if (event.kind() == AsyncEvent.Kind.IA_CATASTROPHIC) {
      adapter.catastrophes += (int) event.count();
    } else if (event.kind() == AsyncEvent.Kind.SRQ_LOW_WATERMARK) {
      srqs.stream()
          .filter(book -> book.srq == event.source())
          .forEach(book -> book.onLimit((int) event.count()));
    }
  }

  // Driving.

  private boolean drive(final BooleanSupplier call) {
    while (true) {
      driving++;
      round++;
      try {
        return call.getAsBoolean();
      } catch (final HandlerFailure e) {
        upcallOf = null; // it is to be thrown at who drives: goes on
      } finally {
        driving--;
      }
    }
  }

  private boolean runUntil(final BooleanSupplier condition, final Duration bound) {
    final long last = round + ROUNDS_AT_MOST;
    return drive(
        () ->
            jdapl.runUntil(
                () -> {
                  if (++round > last) {
                    fail("O7", "it does not come to rest");
                  }
                  return problem != null || condition.getAsBoolean();
                },
                bound));
  }

  void rest() {
    runUntil(() -> false, REST);
  }

  // The calls.

  private void make(final Action action) {
    note(() -> (upcallOf == null ? "" : "  in " + upcallOf.evd.name() + ": ") + action);
    final int a = action.a();
    final int b = action.b();
    final int c = action.c();
    switch (action.call()) {
      case EVD -> createEvd(adapter(a), b, c);
      case ENDPOINT -> createEndpoint(a, b, c);
      case SRQ -> createSrq(adapter(a), b);
      case PSP -> createPsp(a, b);
      case LMR -> createLmr(adapter(a));
      case CONNECT -> connect(endpoint(a), b, c);
      case ACCEPT -> answer(a, b, true);
      case REJECT -> answer(a, b, false);
      case DISCONNECT -> disconnect(endpoint(a), b);
      case SEND -> post(DtoOperation.SEND, connected(a), b, c);
      case RECEIVE -> receive(endpoint(a), b, c);
      case SHARED_RECEIVE -> postShared(srq(a), b);
      case WATERMARK -> watermark(srq(a), b);
      case WRITE -> post(DtoOperation.RDMA_WRITE, connected(a), b, c);
      case READ -> post(DtoOperation.RDMA_READ, connected(a), b, c);
      case POST -> postSoftware(evd(a), b);
      case DEQUEUE -> dequeue(evd(a), b);
      case AWAIT -> await(evd(a), b, c);
      case UPCALL -> upcall(evd(a), b, c);
      case DISABLE -> disable(evd(a));
      case TEARDOWN -> teardown(evd(a));
      case RESIZE -> resize(evd(a), b);
      case MOVE -> move(evd(a), b);
      case UNWAITABLE -> unwaitable(evd(a), b);
      case CLOSE_ENDPOINT -> closeEndpoint(endpoint(a), b, c);
      case CLOSE_EVD -> closeEvd(evd(a), b, c);
      case CLOSE_SRQ -> closeSrq(srq(a));
      case CLOSE_PSP -> closePsp(a);
      case CLOSE_LMR -> closeLmr(adapter(a), b);
      case ASYNC_EVD -> asyncEvd(evd(a));
      case THROW -> throw new HandlerFailure();
      case TURN -> turn(a);
      case STEP -> step(a);
      case RUN -> run(a);
      case LOSE_DEVICE -> lose(adapter(a));
      case CLOSE_ADAPTER -> closeAbruptly(adapter(a), b);
    }
  }

  private AdapterBook adapter(final int number) {
    return adapters.get(number % adapters.size());
  }

  private EvdBook evd(final int number) {
    return pick(evds, number, evd -> !evd.isClosing());
  }

  private EndpointBook endpoint(final int number) {
    return pick(endpoints, number, endpoint -> !endpoint.isClosing());
  }

  private SrqBook srq(final int number) {
    return pick(srqs, number, srq -> !srq.isClosed());
  }

  /** One that is connected, mostly: what else is posted there is refused, or flushed. */
  private EndpointBook connected(final int number) {
    final EndpointBook one =
        pick(endpoints, number, book -> book.endpoint.state() == EndpointState.CONNECTED);
    return one == null ? endpoint(number) : one;
  }

  /** One of a list, of those that are open or, for large numbers, of all; null if there is none. */
  private static <T> T pick(final List<T> all, final int number, final Predicate<T> isOpen) {
    final List<T> of = number < OPEN_ONLY ? all.stream().filter(isOpen).toList() : all;
    final int index = number == Action.NEWEST ? of.size() - 1 : number % Math.max(1, of.size());
    return of.isEmpty() ? null : of.get(index);
  }

  /** Makes a call that may be refused; returns why it was, or null. */
  private DatException attempt(final String what, final Runnable call) {
    try {
      call.run();
      return null;
    } catch (final DatException e) {
      note(() -> "    refused: " + e.getMessage());
      final boolean mayFail =
          what.equals("accept")
              || what.equals("reject")
              || isFaulty()
              || adapters.stream().anyMatch(this::isExcused);
      if (!ORDINARY.contains(e.type()) && !(mayFail && e.getCause() instanceof VerbsException)) {
        fail("R01", what + ": " + e);
      }
      return e;
    }
  }

  private void createEvd(final AdapterBook adapter, final int length, final int kind) {
    final EventStream[] streams = STREAMS[kind % STREAMS.length];
    attempt(
        "createEvd",
        () ->
            evds.add(
                new EvdBook(
                    this, adapter, adapter.adapter.createEvd(length + 1, streams), streams)));
  }

  private void createEndpoint(final int a, final int b, final int c) {
    final EvdBook both = one(a, evd -> takes(evd, EventStream.DTO, EventStream.CONNECTION));
    if (both == null) {
      return;
    }
    final AdapterBook adapter = both.adapter;
    final boolean apart = b % 3 == 0;
    final EvdBook receive =
        !apart ? both : one(b, evd -> evd.adapter == adapter && takes(evd, EventStream.DTO));
    final EvdBook request =
        !apart ? both : one(c, evd -> evd.adapter == adapter && takes(evd, EventStream.DTO));
    final EvdBook connect =
        !apart
            ? both
            : one(b + c, evd -> evd.adapter == adapter && takes(evd, EventStream.CONNECTION));
    final List<SrqBook> shared =
        srqs.stream().filter(book -> book.adapter == adapter && !book.isClosed()).toList();
    final SrqBook srq = shared.isEmpty() || (a + b) % 4 == 0 ? null : shared.get(c % shared.size());
    final int receives = srq == null ? 1 + b % 6 : 0;
    final int sends = 1 + c % 6;
    final boolean isSolicited =
        c % 4 == 0 && receive != request && receive != connect && receive != both;
    EndpointAttributes attributes =
        EndpointAttributes.defaults().withMaxDtos(receives, sends).withRetries(c % 3, b % 3);
    if (isSolicited) {
      attributes = attributes.withReceiveFlags(CompletionFlags.SOLICITED_WAIT);
    }
    final EndpointAttributes chosen = attributes;
    attempt(
        "createEndpoint",
        () -> {
          final Endpoint made =
              srq == null
                  ? adapter.adapter.createEndpoint(
                      adapter.pz, receive.evd, request.evd, connect.evd, chosen)
                  : adapter.adapter.createEndpoint(
                      adapter.pz, receive.evd, request.evd, connect.evd, srq.srq, chosen);
          final EndpointBook book =
              new EndpointBook(
                  this, adapter, made, receive, request, connect, srq, receives, sends);
          endpoints.add(book);
          books.put(made, book);
          if (isSolicited) {
            solicited.add(receive);
          }
        });
  }

  private static boolean takes(final EvdBook evd, final EventStream... streams) {
    for (final EventStream stream : streams) {
      if (!evd.takes(stream)) {
        return false;
      }
    }
    return !evd.isClosing();
  }

  private EvdBook one(final int number, final Predicate<EvdBook> which) {
    final List<EvdBook> all = evds.stream().filter(which).toList();
    return all.isEmpty() ? null : all.get(number % all.size());
  }

  private void createSrq(final AdapterBook adapter, final int depth) {
    attempt(
        "createSrq",
        () -> {
          final SharedReceiveQueue srq = adapter.adapter.createSrq(adapter.pz, 1 + depth % 8, 1);
          srqs.add(new SrqBook(this, adapter, srq));
        });
  }

  private void createPsp(final int a, final int b) {
    final EvdBook evd = one(a, book -> takes(book, EventStream.CONNECTION_REQUEST));
    if (evd != null) {
      attempt(
          "createPsp",
          () ->
              points.add(
                  new Point(evd.adapter.adapter.createPsp(1 + b % 8, evd.evd), evd, b % 4 != 3)));
    }
  }

  private void createLmr(final AdapterBook adapter) {
    attempt("createLmr", () -> adapter.lmrs.add(adapter.pz.createLmr(MEMORY, Privilege.values())));
  }

  private void connect(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null) {
      return;
    }
    final long service =
        points.isEmpty() || c / 4 == 1 ? 99 : points.get(b % points.size()).psp.connQual();
    final InetAddress to = c / 4 == 2 ? elsewhere() : endpoint.adapter.adapter.address();
    final Duration timeout =
        switch (c % 4) {
          case 0 -> Duration.ofNanos(10_000);
          case 1 -> Duration.ofMillis(1);
          default -> Duration.ofSeconds(10);
        };
    if (attempt("connect", () -> endpoint.endpoint.connect(to, service, timeout, null)) == null) {
      endpoint.asked();
    }
  }

  private static InetAddress elsewhere() {
    try {
      return InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
    } catch (final UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  private void answer(final int a, final int b, final boolean accepts) {
    if (requests.isEmpty()) {
      return;
    }
    final Pending pending = requests.get(a % requests.size());
    if (accepts) {
      final EndpointBook endpoint = pick(endpoints, b, book -> book.adapter == pending.adapter);
      if (endpoint != null) {
        accept(pending.request, endpoint);
      }
    } else {
      requests.remove(pending);
      attempt("reject", () -> pending.request.reject(null));
    }
  }

  private boolean accept(final ConnectionRequest request, final EndpointBook endpoint) {
    final boolean accepted =
        attempt("accept", () -> request.accept(endpoint.endpoint, null)) == null;
    if (accepted) {
      endpoint.asked();
    }
    return accepted;
  }

  private void disconnect(final EndpointBook endpoint, final int how) {
    if (endpoint != null) {
      attempt(
          "disconnect",
          () ->
              endpoint.endpoint.disconnect(
                  how % 2 == 0 ? Endpoint.Disconnect.GRACEFUL : Endpoint.Disconnect.ABRUPT));
    }
  }

  private void receive(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint != null && endpoint.srq != null) {
      postShared(endpoint.srq, b);
    } else {
      post(DtoOperation.RECEIVE, endpoint, b, c);
    }
  }

  private void postShared(final SrqBook srq, final int b) {
    if (srq == null || srq.adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = pick(srq.adapter.lmrs, b, book -> true);
    for (int left = 1 + b % 3; left > 0; left--) {
      final long cookie = ++cookies;
      final Outcome[] outcome = new Outcome[1];
      attempt(
          "post of a shared receive",
          () -> outcome[0] = srq.srq.postReceive(new Segments(1).add(lmr, 0, 64), cookie, srq.srq));
      if (outcome[0] == Outcome.SUCCESS) {
        srq.posted(lmr, cookie);
      } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !isFaulty()) {
        srq.refused();
      }
    }
  }

  private void watermark(final SrqBook srq, final int b) {
    if (srq != null) {
      srq.watermark(); // it may be told of before the call returns
      attempt("lowWatermark", () -> srq.srq.lowWatermark(b % (srq.srq.maxReceives() + 1)));
    }
  }

  private void post(
      final DtoOperation operation, final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null || endpoint.adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = pick(endpoint.adapter.lmrs, b, book -> true);
    final long cookie = ++cookies;
    final int length = 1 + c;
    final boolean suppressed = operation != DtoOperation.RECEIVE && b % 4 == 0;
    final int flags =
        (suppressed ? CompletionFlags.SUPPRESS : 0)
            | (operation == DtoOperation.SEND && c % 4 == 0 ? CompletionFlags.SOLICITED_WAIT : 0)
            | (operation != DtoOperation.RECEIVE && c % 8 == 1 ? CompletionFlags.BARRIER_FENCE : 0);
    final Outcome[] outcome = new Outcome[1];
    final Endpoint to = endpoint.endpoint;
    attempt(
        "post of " + operation,
        () -> {
          final Segments list =
              new Segments(1).add(lmr, 0, operation == DtoOperation.RECEIVE ? 64 : length);
          outcome[0] =
              switch (operation) {
                case SEND -> to.postSend(list, cookie, lmr, flags);
                case RECEIVE -> to.postReceive(list, cookie, lmr);
                case RDMA_WRITE -> to.postRdmaWrite(list, key(c), address(c), cookie, lmr, flags);
                case RDMA_READ -> to.postRdmaRead(list, key(c), address(c), cookie, lmr, flags);
              };
        });
    if (outcome[0] == Outcome.SUCCESS) {
      endpoint.posted(operation, lmr, cookie, suppressed);
    } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !isFaulty()) {
      endpoint.refused(operation);
    }
  }

  /** A key of a region of any adapter, or of none. */
  private int key(final int number) {
    final List<Lmr> all = adapters.get(number % adapters.size()).lmrs;
    return all.isEmpty() || number % 8 == 7 ? 1 : of(all.get(number % all.size()), Lmr::rmrContext);
  }

  private long address(final int number) {
    final List<Lmr> all = adapters.get(number % adapters.size()).lmrs;
    return all.isEmpty() ? 0 : of(all.get(number % all.size()), Lmr::address);
  }

  private static <T extends Number> T of(final Lmr lmr, final Function<Lmr, T> what) {
    return what.apply(lmr);
  }

  private void postSoftware(final EvdBook evd, final int b) {
    if (evd == null || !evd.takes(EventStream.SOFTWARE)) {
      return;
    }
    for (int left = b % 16 == 0 ? 80 : 1 + b % 3; left > 0; left--) {
      final Object payload = ++cookies;
      final Outcome[] outcome = new Outcome[1];
      attempt("postSoftwareEvent", () -> outcome[0] = evd.evd.postSoftwareEvent(payload));
      if (outcome[0] == Outcome.SUCCESS) {
        evd.posted(payload);
      } else if (outcome[0] == Outcome.QUEUE_FULL) {
        evd.refused();
        return;
      }
    }
  }

  private void dequeue(final EvdBook evd, final int b) {
    if (evd == null) {
      return;
    }
    final int before = evd.waiting();
    final int[] taken = new int[1];
    final DatException refused =
        attempt("dequeue", () -> taken[0] = evd.evd.drain(evd.taker(), 1 + b % 4));
    if (refused == null && taken[0] == 0 && before > 0) {
      fail("E01", evd + ": a dequeue found nothing where " + before + " software events are");
    }
    if (!evd.isClosing() && !evd.adapter.closed && evd != waitsFor) {
      final boolean mine = evd.policy() == UpcallPolicy.DISABLED || isInUpcallOf(evd);
      if (mine && refused != null) {
        fail("U07", evd + ": a dequeue was refused: " + refused);
      } else if (!mine && refused == null) {
        fail("U07", evd + ": a dequeue was not refused, its policy is " + evd.policy());
      }
    }
  }

  private void await(final EvdBook evd, final int b, final int c) {
    if (evd == null) {
      return;
    }
    final int threshold = 1 + b % Math.min(4, evd.evd.length());
    final Duration timeout = BOUNDS[c % 4];
    final long start = now();
    final Outcome[] outcome = new Outcome[1];
    waitsFor = evd;
    evd.wait(threshold);
    driving++;
    try {
      final EventHandler taker = evd.taker();
      attempt("await", () -> outcome[0] = evd.evd.await(taker, threshold, timeout));
    } catch (final HandlerFailure e) {
      upcallOf = null;
    } finally {
      driving--;
      waitsFor = null;
    }
    note(() -> "    " + outcome[0] + ", " + evd.evd.remaining() + " remain");
    checkWait(evd, threshold, start, start + timeout.toNanos(), outcome[0]);
    evd.wait(Integer.MAX_VALUE);
  }

  private void checkWait(
      final EvdBook evd,
      final int threshold,
      final long start,
      final long deadline,
      final Outcome outcome) {
    if (outcome == null) {
      return;
    }
    switch (outcome) {
      case SUCCESS -> {
        if (evd.evd.remaining() < threshold - 1 && !isFaulty()) { // a completion may come twice
          fail("W01", evd + ": " + evd.evd.remaining() + " remain after a wait for " + threshold);
        }
      }
      case TIMEOUT_EXPIRED -> {
        if (now() < deadline) {
          fail("W02", evd + ": a wait ended " + (deadline - now()) + " ns before its time");
        }
        if (evd.waiting() >= threshold) {
          fail("W01", evd + ": a wait ended with enough events");
        }
      }
      case ABORT -> {
        if (!evd.isClosing() && !evd.adapter.closed && !isExcused(evd.adapter)) {
          fail("W04", evd + ": a wait was aborted");
        }
      }
      default -> fail("W01", evd + ": a wait ended with " + outcome);
    }
    final long due =
        Math.max(start, Math.min(Math.min(evd.wantedSince(), evd.closingSince()), deadline));
    if (now() > due) {
      fail("W04", evd + ": a waiter was woken " + (now() - due) + " ns late");
    }
  }

  private void upcall(final EvdBook evd, final int b, final int c) {
    if (evd == null) {
      return;
    }
    final Runnable undo = evd.undo();
    final boolean forNew = c % 4 == 3;
    final Invoke when = forNew ? Invoke.ON_NEW : Invoke.ON_ANY;
    final DatException refused =
        attempt(
            "upcall",
            () -> {
              switch (b % 4) {
                case 0, 1 ->
                    evd.evd.upcall(
                        evd.enable(UpcallPolicy.SINGLE_INSTANCE, forNew),
                        Concurrency.SINGLE_INSTANCE,
                        when);
                case 2 ->
                    evd.evd.upcall(
                        evd.enable(UpcallPolicy.MANY, forNew), Concurrency.many(1 + c % 3), when);
                default -> evd.evd.notifyOnce(evd.enableNotify(forNew), when);
              }
            });
    if (refused != null) {
      undo.run();
      if (!evd.isClosing() && evd != waitsFor && !evd.adapter.closed) {
        fail("U05", evd + ": upcalls could not be enabled: " + refused);
      }
    }
  }

  private void disable(final EvdBook evd) {
    if (evd != null && attempt("disable", evd.evd::disable) == null) {
      evd.disabled();
    }
  }

  private void teardown(final EvdBook evd) {
    if (evd == null) {
      return;
    }
    final List<CompletionStage<Void>> stage = new ArrayList<>();
    if (attempt("teardown", () -> stage.add(evd.evd.teardownAsync())) == null) {
      evd.disabled();
      if (upcallOf != evd && !stage.get(0).toCompletableFuture().isDone()) {
        fail("U05", evd + ": a teardown waits, and no upcall runs");
      }
    }
  }

  private void resize(final EvdBook evd, final int length) {
    if (evd != null) {
      attempt("resize", () -> evd.evd.resize(1 + length));
    }
  }

  private void move(final EvdBook evd, final int dispatcher) {
    if (evd != null) {
      attempt("place", () -> jdapl.place(evd.evd, dispatcher % script.dispatchers()));
    }
  }

  private void unwaitable(final EvdBook evd, final int b) {
    if (evd != null) {
      attempt("unwaitable", b % 4 == 0 ? evd.evd::setUnwaitable : evd.evd::clearUnwaitable);
    }
  }

  private void closeEndpoint(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null) {
      return;
    }
    final boolean first = !endpoint.isClosing();
    final boolean waits = c % 2 == 0;
    final Duration bound = waits ? CLOSE_BOUND : BOUNDS[b % BOUNDS.length];
    final long start = now();
    endpoint.closes(start + bound.toNanos());
    final CompletionStage<DrainReport> stage = endpoint.endpoint.closeAsync(bound);
    if (first) {
      watch(endpoint.endpoint, endpoint.adapter, stage, start, bound, endpoint::onClosed);
    }
    if (waits) {
      attempt("close", () -> waitFor(endpoint.endpoint::close));
    }
    if (waits && upcallOf == null && !stage.toCompletableFuture().isDone()) {
      fail("T01", endpoint + ": close returned, and it is not closed");
    }
  }

  /** A call that waits: outside of upcalls it drives everything. */
  private void waitFor(final Runnable call) {
    if (upcallOf != null) {
      call.run();
      return;
    }
    drive(
        () -> {
          call.run();
          return true;
        });
  }

  private void watch(
      final Object what,
      final AdapterBook adapter,
      final CompletionStage<DrainReport> stage,
      final long start,
      final Duration bound,
      final java.util.function.Consumer<DrainReport> book) {
    final var unused =
        stage.whenComplete(
            (report, failure) -> {
              note(() -> "  closed: " + what + " " + (failure == null ? report : failure));
              final long took = now() - start;
              if (took > bound.plus(GRACE).toNanos()) {
                fail("O12", what + ": its close took " + took + " ns, its bound is " + bound);
              }
              if (took > PROMPT.toNanos() && !isExcused(adapter) && !mayBeSlow(what)) {
                fail("O12", what + ": its close took " + took + " ns, and nothing was wrong");
              }
              if (failure == null) {
                book.accept(report);
              } else {
                fail("O12", what + ": its close failed: " + failure);
              }
            });
  }

  /** Whether nobody knows when the last shared receive was taken. */
  private boolean mayBeSlow(final Object what) {
    return what instanceof Endpoint endpoint
        && book(endpoint).srq != null
        && script.model().toString().contains("last-wqe=unknown");
  }

  private void closeEvd(final EvdBook evd, final int b, final int c) {
    if (evd == null || (evd.adapter.closed && !evd.isClosing())) {
      return;
    }
    final boolean first = !evd.isClosing();
    final Duration bound = BOUNDS[1 + b % (BOUNDS.length - 1)];
    final boolean waits = c % 2 == 0;
    final long start = now();
    final List<CompletionStage<DrainReport>> stage = new ArrayList<>();
    final DatException refused =
        attempt("close", () -> stage.add(evd.evd.closeAsync(waits ? CLOSE_BOUND : bound)));
    final boolean used =
        endpoints.stream().anyMatch(e -> e.uses(evd) && !e.isClosed() && !isExcused(e.adapter));
    if (refused == null && used && first && !evd.adapter.closed) {
      fail("T01", evd + " was closed, and an endpoint uses it");
    }
    if (refused != null) {
      final boolean mayBeUsed =
          used
              || points.stream().anyMatch(p -> p.evd == evd)
              || isExcused(evd.adapter)
              || evd.adapter.closed;
      if (refused.subtype() != ReturnSubtype.INVALID_STATE_EVD_IN_USE || !mayBeUsed) {
        fail("T01", evd + " cannot be closed: " + refused);
      }
      return;
    }
    evd.closes(start + (waits ? CLOSE_BOUND : bound).toNanos());
    if (first) {
      watch(evd.evd, evd.adapter, stage.get(0), start, waits ? CLOSE_BOUND : bound, evd::onClosed);
    }
    if (waits) {
      attempt("close", () -> waitFor(evd.evd::close));
    }
  }

  private void closePsp(final int a) {
    if (!points.isEmpty()) {
      final Point point = points.get(a % points.size());
      attempt("close", point.psp::close);
    }
  }

  private void closeSrq(final SrqBook srq) {
    if (srq == null || srq.isClosed() || srq.adapter.closed) {
      return;
    }
    final boolean used = endpoints.stream().anyMatch(e -> e.srq == srq && !e.isClosed());
    final DatException refused = attempt("close", srq.srq::close);
    if (refused == null) {
      srq.closes();
      if (used && !isExcused(srq.adapter)) {
        fail("T01", srq + " was closed, and an endpoint uses it");
      }
    } else if (!isExcused(srq.adapter)
        && (refused.subtype() != ReturnSubtype.INVALID_STATE_SRQ_IN_USE || !used)) {
      fail("T01", srq + " cannot be closed: " + refused);
    }
  }

  private void closeLmr(final AdapterBook adapter, final int b) {
    if (adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = adapter.lmrs.get(b % adapter.lmrs.size());
    final boolean used =
        endpoints.stream().anyMatch(endpoint -> endpoint.uses(lmr))
            || srqs.stream().anyMatch(srq -> srq.uses(lmr));
    if (attempt("close", lmr::close) == null) {
      adapter.lmrs.remove(lmr);
      if (used && !isExcused(adapter) && !adapter.closed) {
        fail("T11", lmr + " was closed, and an open request uses it");
      }
    }
  }

  private void asyncEvd(final EvdBook evd) {
    if (evd != null && evd.takes(EventStream.ASYNC)) {
      attempt("asyncEvd", () -> evd.adapter.adapter.asyncEvd(evd.evd));
    }
  }

  private void turn(final int a) {
    for (int left = 1 + a % 4; left > 0; left--) {
      drive(jdapl::turn);
    }
  }

  private void step(final int a) {
    for (int left = 1 + a % 4; left > 0; left--) {
      clock.step(now() + STEP_NANOS);
    }
  }

  private void run(final int a) {
    runUntil(
        () -> false, a % 16 == 0 ? Duration.ofSeconds(3) : Duration.ofNanos(1000L << (a % 12)));
  }

  private void lose(final AdapterBook adapter) {
    if (!adapter.device.isLost() && !adapter.closed) {
      adapter.device.lose();
    }
  }

  private void closeAbruptly(final AdapterBook adapter, final int b) {
    if (adapter.closed) {
      return;
    }
    adapter.closed = true;
    final Duration bound = BOUNDS[b % BOUNDS.length];
    final long start = now();
    adapter.closesUntil = start + bound.dividedBy(5).toNanos();
    adapter.device.excuseFrom(adapter.closesUntil);
    for (final EndpointBook endpoint : endpoints) {
      if (endpoint.adapter == adapter) {
        endpoint.closes(adapter.closesUntil);
      }
    }
    for (final EvdBook evd : evds) {
      if (evd.adapter == adapter && evd.isClosing()) {
        evd.closes(adapter.closesUntil);
      }
    }
    waitFor(() -> adapter.adapter.closeAbruptly(bound));
    if (now() - start > bound.plus(GRACE).toNanos()) {
      fail("T10", adapter.adapter + ": its close took " + (now() - start) + ", not " + bound);
    }
  }

  /** What the abrupt close of an adapter did to its objects. */
  private void collect(final AdapterBook adapter) {
    for (final EndpointBook endpoint : endpoints) {
      if (endpoint.adapter == adapter && !endpoint.isClosed()) {
        endpoint.endpoint.closeAsync(CLOSE_BOUND).thenAccept(endpoint::onClosed);
      }
    }
    for (final EvdBook evd : evds) {
      if (evd.adapter == adapter && !evd.isClosing()) {
        evd.closes(adapter.closesUntil);
        evd.evd.closeAsync(CLOSE_BOUND).thenAccept(evd::onClosed);
      }
    }
    requests.removeIf(pending -> pending.adapter == adapter);
  }

  // The end.

  private void checkLost(final AdapterBook adapter) {
    if (adapter.device.isLost() && !adapter.device.isOver()) {
      fail("T12", adapter.adapter + ": its device is lost, and not closed");
    }
  }

  private void closeAll() {
    requests.forEach(pending -> attempt("close", pending.request::close));
    points.forEach(point -> attempt("close", point.psp::close));
    for (final EndpointBook endpoint : endpoints) {
      if (!endpoint.isClosing()) {
        closeEndpoint(endpoint, 4, 1);
      }
    }
    rest();
    endpoints.forEach(EndpointBook::onRest);
    srqs.forEach(SrqBook::onRest);
    srqs.forEach(SrqBook::onUnused);
    srqs.forEach(this::closeSrq);
    for (final EvdBook evd : evds) {
      if (!evd.isClosing()) {
        closeEvd(evd, 3, 1);
      }
    }
    rest();
    evds.forEach(EvdBook::onRest);
    requests.forEach(pending -> attempt("close", pending.request::close));
    for (final AdapterBook adapter : adapters) {
      close(adapter);
    }
    if (problem == null) {
      jdapl.close();
    }
    if (fabric.handlerFailures() > 0) {
      fail("R01", "a provider's callback threw " + fabric.lastHandlerFailure());
    }
    for (final EvdBook evd : evds) {
      if (evd.evd.statistics().rescued() > 0 && !isFaulty()) {
        fail("O6", evd + ": a completion was found by the watchdog only");
      }
    }
  }

  private void close(final AdapterBook adapter) {
    if (problem != null) {
      return;
    }
    if (!adapter.closed) {
      final EvdBook async = asyncs.get(adapters.indexOf(adapter));
      async.evd.drain(async.taker(), Integer.MAX_VALUE);
      final int due = adapter.device.isLost() ? 1 : 0;
      if (adapter.catastrophes != due && !(adapter.catastrophes < due && adapter.isIncomplete)) {
        fail("T12", adapter.adapter + ": said " + adapter.catastrophes + " times that it is lost");
      }
      List.copyOf(adapter.lmrs).forEach(lmr -> attempt("close", lmr::close));
      attempt("close", adapter.pz::close);
      waitFor(adapter.adapter::close);
    }
    if (!adapter.device.isOver()) {
      fail("T10", adapter.adapter + " is closed, and its device is not");
    }
  }
}
