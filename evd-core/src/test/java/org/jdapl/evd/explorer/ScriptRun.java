package org.jdapl.evd.explorer;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ReturnType;
import org.jdapl.evd.Jdapl;
import org.jdapl.evd.explorer.Action.Call;
import org.jdapl.hooks.Faults;
import org.jdapl.hooks.Trace;
import org.jdapl.sim.SimFabric;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsException;

/**
 * Runs a script on virtual time, and watches that nothing happens that the contract excludes. Only
 * one of its threads runs at any time, see {@link Consumers}; nothing is shared with other runs.
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

  /** What may wait, outside of upcalls. */
  private static final Set<Call> WAITING =
      EnumSet.of(
          Call.AWAIT, Call.AWAIT_CNO, Call.CLOSE_ENDPOINT, Call.CLOSE_EVD, Call.CLOSE_ADAPTER);

  /** When nothing happens in so much time, nothing will. */
  private static final Duration REST = Duration.ofMinutes(2);

  private static final int ROUNDS_AT_MOST = 100_000;
  private static final int TRACE = 400;
  private static final long STEP_NANOS = 20_000;

  final Inventory all = new Inventory();
  final Memory memory = new Memory();
  final Consumers consumers;
  private final Script script;
  private final SimFabric fabric;
  private final Faults faults;
  private final AuditedProvider provider;
  private final Jdapl jdapl;
  private final EvdCalls evdCalls = new EvdCalls(this);
  private final WaitCalls waitCalls = new WaitCalls(this);
  private final ConnectionCalls connectionCalls = new ConnectionCalls(this);
  private final TransferCalls transferCalls = new TransferCalls(this);
  private final RmrCalls rmrCalls = new RmrCalls(this, transferCalls);
  private final CloseCalls closeCalls = new CloseCalls(this);
  private final List<InterfaceAdapter> opened = new ArrayList<>();
  private final ArrayDeque<String> trace = new ArrayDeque<>();
  private final boolean traced;
  private String problem;
  private EvdBook upcallOf;
  private Object upcallBy;
  private long upcalls;
  private long round;

  private ScriptRun(final Script script, final boolean traced) {
    this.script = script;
    this.traced = traced;
    fabric = SimFabric.virtual(script.seed());
    faults = Faults.over(fabric.provider(script.model()), script.plan(), fabric.clock());
    consumers = new Consumers((SteppedClock) faults.clock(), this::progress);
    provider =
        new AuditedProvider(
            traced ? Trace.over(faults, line -> note(() -> "      " + line)) : faults,
            consumers,
            what -> fail("verbs", what));
    jdapl =
        Jdapl.with(provider)
            .byHand()
            .clock(consumers)
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
        opened.forEach(adapter -> adapter.closeAbruptly(CloseCalls.BOUND));
        jdapl.close();
        return problem;
      }
      for (final Action action : script.actions()) {
        if (action.inside() >= 0) {
          if (!all.evds.isEmpty()) {
            all.evds.get(action.inside() % all.evds.size()).inside.add(action);
          }
        } else {
          begin(action);
        }
        if (problem != null) {
          return problem;
        }
      }
      all.evds.forEach(evd -> evd.inside.clear());
      rest();
      all.adapters.stream().filter(adapter -> adapter.closed).forEach(closeCalls::collect);
      onRest();
      all.cnos.forEach(CnoBook::onRest);
      all.adapters.forEach(this::checkLost);
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
    } finally {
      consumers.abandon();
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
                final Cell cell = new Cell(this, Memory.cell(all.adapters.size()));
                all.adapters.add(new AdapterBook(adapter, device, cell));
              });
      if (refused != null) {
        return false;
      }
      final AdapterBook book = all.adapters.get(i);
      all.asyncs.add(new EvdBook(this, book, book.adapter.asyncEvd(), EventStream.ASYNC));
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
      trace.add(now() + " " + consumers.who() + " " + what.get());
    }
  }

  Script script() {
    return script;
  }

  Jdapl jdapl() {
    return jdapl;
  }

  long now() {
    return consumers.nanoTime();
  }

  /** Grows when the core does something that can be seen from here. */
  private long progress() {
    return provider.calls() + upcalls;
  }

  /** Whether the thread that runs is inside an upcall of an EVD. */
  boolean isInUpcallOf(final EvdBook evd) {
    return upcallOf == evd && upcallBy == consumers.who();
  }

  /** Whether an upcall of an EVD runs, on this thread or another. */
  boolean isUpcallOf(final EvdBook evd) {
    return upcallOf == evd;
  }

  /** Whether an upcall runs: no thread may drive the runtime besides. */
  boolean isInsideUpcall() {
    return upcallOf != null;
  }

  /** Whether the thread that runs is inside an upcall. */
  boolean isOwnUpcall() {
    return upcallOf != null && upcallBy == consumers.who();
  }

  /** Whether the call that runs here was interrupted. */
  boolean isInterrupted() {
    return Thread.currentThread().isInterrupted();
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
        || all.endpoints.stream().anyMatch(e -> e.srq == srq && e.isClosing() && !e.isClosed());
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
    if (!consumers.isDriving()) {
      fail("U02", "an upcall of " + evd + " inside a call that runs none");
    }
    upcallOf = evd;
    upcallBy = consumers.who();
    upcalls++;
  }

  void exit() {
    upcallOf = null;
  }

  /** An upcall makes a call, and other threads make theirs meanwhile. */
  void inside(final EvdBook evd) {
    Action action = evd.inside.poll();
    while (action != null && problem == null) {
      final Action made = action;
      if (made.by() > 0 && made.call().isForAnyThread() && !consumers.isBusy(made.by())) {
        consumers.call(made.by(), made.toString(), () -> make(made));
      } else {
        make(made);
      }
      final Action next = evd.inside.peek();
      action = next != null && next.by() > 0 ? evd.inside.poll() : null;
    }
  }

  void onRequest(final ConnectionRequest request, final AdapterBook adapter) {
    connectionCalls.onRequest(request, adapter);
  }

  void onAsync(final AsyncEvent event, final AdapterBook adapter) {
    if (event.kind() == AsyncEvent.Kind.IA_CATASTROPHIC) {
      adapter.catastrophes += (int) event.count();
    } else if (event.kind() == AsyncEvent.Kind.SRQ_LOW_WATERMARK) {
      all.srqs.stream()
          .filter(book -> book.srq == event.source())
          .forEach(book -> book.onLimit((int) event.count()));
    }
  }

  // Driving.

  /** A call that drives the runtime; what a handler throws there is thrown at who drives. */
  boolean drive(final BooleanSupplier call) {
    while (true) {
      consumers.beginDriving();
      round++;
      try {
        return call.getAsBoolean();
      } catch (final HandlerFailure e) {
        upcallOf = null; // goes on
      } finally {
        consumers.endDriving();
      }
    }
  }

  /** As {@link #drive}, but it is not called again; returns whether it ended by itself. */
  boolean driveOnce(final Runnable call) {
    consumers.beginDriving();
    try {
      call.run();
      return true;
    } catch (final HandlerFailure e) {
      upcallOf = null;
      return false;
    } finally {
      consumers.endDriving();
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
    final List<String> calls = consumers.calls();
    if (!calls.isEmpty()) {
      fail("O7", "calls that do not return: " + calls);
    }
  }

  // The actions.

  /** An action of the script, outside of upcalls. */
  private void begin(final Action action) {
    if (!action.call().isOfConsumer()) {
      make(action);
      return;
    }
    if (consumers.isBusy(action.by())) {
      runUntil(() -> !consumers.isBusy(action.by()), REST);
      if (consumers.isBusy(action.by())) {
        fail("O7", "calls that do not return: " + consumers.calls());
        return;
      }
    }
    if (WAITING.contains(action.call())) {
      consumers.call(action.by(), action.toString(), () -> make(action));
    } else {
      make(action); // which thread does it makes no difference, and each hand-over takes time
    }
  }

  private void make(final Action action) {
    note(() -> (upcallOf == null ? "" : "  in " + upcallOf.evd.name() + ": ") + action);
    final int a = action.a();
    final int b = action.b();
    final int c = action.c();
    switch (action.call()) {
      case EVD -> evdCalls.create(all.adapter(a), b, c);
      case ENDPOINT -> connectionCalls.createEndpoint(a, b, c);
      case SRQ -> transferCalls.createSrq(all.adapter(a), b);
      case PSP -> connectionCalls.createPsp(a, b);
      case LMR -> transferCalls.createLmr(all.adapter(a));
      case CONNECT -> connectionCalls.connect(all.endpoint(a), b, c);
      case ACCEPT -> connectionCalls.answer(a, b, true);
      case REJECT -> connectionCalls.answer(a, b, false);
      case DISCONNECT -> connectionCalls.disconnect(all.endpoint(a), b);
      case SEND -> transferCalls.post(DtoOperation.SEND, all.connected(a), b, c);
      case RECEIVE -> transferCalls.receive(all.endpoint(a), b, c);
      case SHARED_RECEIVE -> transferCalls.postShared(all.srq(a), b);
      case WATERMARK -> transferCalls.watermark(all.srq(a), b);
      case RESIZE_SRQ -> transferCalls.resizeSrq(all.srq(a), b);
      case WRITE -> transferCalls.post(DtoOperation.RDMA_WRITE, all.connected(a), b, c);
      case READ -> transferCalls.post(DtoOperation.RDMA_READ, all.connected(a), b, c);
      case WRITE_IMMED -> transferCalls.post(DtoOperation.RDMA_WRITE_IMMED, all.connected(a), b, c);
      case ADD -> transferCalls.post(DtoOperation.FETCH_AND_ADD, all.connected(a), b, c);
      case SWAP -> transferCalls.post(DtoOperation.COMPARE_AND_SWAP, all.connected(a), b, c);
      case RMR -> rmrCalls.create(all.adapter(a), b);
      case BIND -> rmrCalls.bind(all.connected(a), b, c);
      case UNBIND -> rmrCalls.unbind(b, c);
      case SEND_INVALIDATE -> transferCalls.sendInvalidate(all.connected(a), b, c);
      case READ_TO_RMR -> transferCalls.readToRmr(all.connected(a), b, c);
      case CLOSE_RMR -> rmrCalls.close(Inventory.pick(all.rmrs, b, book -> !book.isClosed()));
      case POST -> evdCalls.postSoftware(all.evd(a), b);
      case DEQUEUE -> evdCalls.dequeue(all.evd(a), b);
      case AWAIT -> waitCalls.await(all.evd(a), b, c);
      case INTERRUPT -> consumers.interrupt(a % Consumers.COUNT);
      case CNO -> waitCalls.createCno(all.adapter(a));
      case USE_CNO -> waitCalls.useCno(all.evd(a), b);
      case AWAIT_CNO -> waitCalls.awaitCno(all.cno(a), c);
      case UPCALL -> evdCalls.upcall(all.evd(a), b, c);
      case DISABLE -> evdCalls.disable(all.evd(a));
      case TEARDOWN -> evdCalls.teardown(all.evd(a));
      case RESIZE -> evdCalls.resize(all.evd(a), b);
      case MOVE -> evdCalls.move(all.evd(a), b);
      case UNWAITABLE -> waitCalls.unwaitable(all.evd(a), b);
      case CLOSE_ENDPOINT -> closeCalls.closeEndpoint(all.endpoint(a), b, c);
      case CLOSE_EVD -> closeCalls.closeEvd(all.evd(a), b, c);
      case CLOSE_CNO -> closeCalls.closeCno(all.cno(a));
      case CLOSE_SRQ -> closeCalls.closeSrq(all.srq(a));
      case CLOSE_PSP -> closeCalls.closePsp(a);
      case CLOSE_LMR -> closeCalls.closeLmr(all.adapter(a), b);
      case ASYNC_EVD -> evdCalls.asyncEvd(all.evd(a));
      case THROW -> throw new HandlerFailure();
      case TURN -> turn(a);
      case STEP -> step(a);
      case RUN -> run(a);
      case GO_ON -> consumers.goOn();
      case LOSE_DEVICE -> closeCalls.lose(all.adapter(a));
      case CLOSE_ADAPTER -> closeCalls.closeAbruptly(all.adapter(a), b);
    }
  }

  /** Makes a call that may be refused; returns why it was, or null. */
  DatException attempt(final String what, final Runnable call, final ReturnType... also) {
    try {
      call.run();
      return null;
    } catch (final DatException e) {
      note(() -> "    refused: " + e.getMessage());
      final boolean mayFail =
          what.equals("accept")
              || what.equals("reject")
              || isFaulty()
              || all.adapters.stream().anyMatch(this::isExcused);
      final boolean isExpected = ORDINARY.contains(e.type()) || List.of(also).contains(e.type());
      if (!isExpected && !(mayFail && e.getCause() instanceof VerbsException)) {
        fail("R01", what + ": " + e);
      }
      return e;
    }
  }

  private void turn(final int a) {
    for (int left = 1 + a % 4; left > 0; left--) {
      drive(jdapl::round);
    }
  }

  private void step(final int a) {
    for (int left = 1 + a % 4; left > 0; left--) {
      consumers.stepAlone(now() + STEP_NANOS);
    }
  }

  private void run(final int a) {
    runUntil(
        () -> false, a % 16 == 0 ? Duration.ofSeconds(3) : Duration.ofNanos(1000L << (a % 12)));
  }

  // The end.

  private void onRest() {
    all.evds.forEach(EvdBook::onRest);
    all.endpoints.forEach(EndpointBook::onRest);
    all.srqs.forEach(SrqBook::onRest);
  }

  private void checkLost(final AdapterBook adapter) {
    if (adapter.device.isLost() && !adapter.device.isOver()) {
      fail("T12", adapter.adapter + ": its device is lost, and not closed");
    }
  }

  private void closeAll() {
    all.requests.forEach(pending -> attempt("close", pending.request()::close));
    all.points.forEach(point -> attempt("close", point.psp()::close));
    for (final EndpointBook endpoint : all.endpoints) {
      if (!endpoint.isClosing()) {
        closeCalls.closeEndpoint(endpoint, 4, 1);
      }
    }
    rest();
    all.endpoints.forEach(EndpointBook::onRest);
    all.srqs.forEach(SrqBook::onRest);
    all.srqs.forEach(SrqBook::onUnused);
    all.srqs.forEach(closeCalls::closeSrq);
    all.rmrs.forEach(rmrCalls::close);
    all.adapters.forEach(adapter -> adapter.cell.onRest());
    all.cnos.forEach(cno -> closeCalls.closeCno(cno)); // refused while it is used
    for (final EvdBook evd : all.evds) {
      if (!evd.isClosing()) {
        closeCalls.closeEvd(evd, 3, 1);
      }
    }
    rest();
    all.evds.forEach(EvdBook::onRest);
    all.cnos.stream().filter(cno -> !cno.isClosed()).forEach(closeCalls::closeCno);
    all.requests.forEach(pending -> attempt("close", pending.request()::close));
    for (final AdapterBook adapter : all.adapters) {
      close(adapter);
    }
    if (problem == null) {
      jdapl.close();
    }
    if (fabric.handlerFailures() > 0) {
      fail("R01", "a provider's callback threw " + fabric.lastHandlerFailure());
    }
    for (final EvdBook evd : all.evds) {
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
      final EvdBook async = all.asyncs.get(all.adapters.indexOf(adapter));
      async.evd.drain(async.taker(), Integer.MAX_VALUE);
      final int due = adapter.device.isLost() ? 1 : 0;
      if (adapter.catastrophes != due && !(adapter.catastrophes < due && adapter.isIncomplete)) {
        fail("T12", adapter.adapter + ": said " + adapter.catastrophes + " times that it is lost");
      }
      List.copyOf(adapter.lmrs).forEach(lmr -> attempt("close", lmr::close));
      attempt("close", adapter.pz::close);
      closeCalls.waitFor(adapter.adapter::close);
    }
    if (!adapter.device.isOver()) {
      fail("T10", adapter.adapter + " is closed, and its device is not");
    }
  }
}
