package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Cno;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.verbs.WorkCompletions;

/**
 * The serializer. Everything that takes events holds the turn of the {@link EvdState}: a dispatcher
 * that popped the token, for {@link EvdUpcalls}, or a consumer's thread, see {@link ConsumerTurn}.
 * The framework's own business with an EVD is done in a turn as well; see {@link #control}.
 */
final class EvdImpl extends ObjectBase implements Evd {

  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  /** Events of one turn; then the EVD goes to the tail of the ready ring. */
  static final int BUDGET = 64;

  private static final int SPINS = 100;

  private final IaImpl ia;
  private final int streams;
  private volatile Dispatcher dispatcher;
  private final EvdState state = new EvdState();
  private final Lane lane;
  private final Merger merger;
  private final EvdRoom room;
  private final EvdClose closing;
  private final EvdUpcalls upcalls;
  private final ConsumerTurn consumer;
  private final Counters counters = new Counters();
  private final FaultLog faults;
  private AsyncSlot asyncSlot; // made with the first error, under the monitor of the state
  private final Queue<Runnable> controls = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> quietWaiters = new ConcurrentLinkedQueue<>();
  private volatile CnoImpl cno;
  private volatile boolean draining;

  /** Some completions may be of requests that tell nobody. Once true, it stays so. */
  private volatile boolean unsignalled;

  // Of the turn.
  private List<EndpointDrain> drains = List.of();
  private WorkCompletions consumerBatch;

  /**
   * What is in memory is old, or does not tell: ON_NEW or UNSIGNALLED hold it back until another
   * event comes.
   */
  private boolean settled;

  EvdImpl(
      final String name,
      final IaImpl ia,
      final int length,
      final int streams,
      final Dispatcher dispatcher) {
    super(HandleType.EVD, name);
    this.ia = ia;
    this.streams = streams;
    this.dispatcher = dispatcher;
    lane = new Lane(length, (streams & EventStream.CONNECTION_REQUEST.flag()) != 0);
    merger = new Merger(this, lane, ia.endpoints());
    room = new EvdRoom(this, length, streams, lane, merger);
    closing = new EvdClose(this, state, lane);
    faults = new FaultLog(this, counters, ia.runtime().errorHandler());
    upcalls = new EvdUpcalls(this, state, lane);
    consumer = new ConsumerTurn(this, state);
  }

  // Signals. From any thread, also inside a provider's upcall; nothing runs on the caller's stack.

  /** Puts a connection or async event into the lane. */
  void offer(final LaneEvent event) {
    enqueue(event);
    signalLane();
  }

  /** The first half of {@link #offer}. */
  void enqueue(final LaneEvent event) {
    lane.offer(event);
  }

  /** The second half of {@link #offer}. */
  void signalLane() {
    signal(EvdState.LANE);
  }

  /**
   * Puts a connection request into the lane.
   *
   * @return false if the EVD is full.
   */
  boolean offerRequest(final ConnectionRequestEventImpl event) {
    final boolean offered = lane.offerRequest(event);
    if (offered) {
      signal(EvdState.LANE);
    }
    return offered;
  }

  /** A request that tells nobody of its success is about to be posted. */
  void expectUnsignalled() {
    if (!unsignalled) {
      unsignalled = true;
    }
  }

  boolean mayBeUnsignalled() {
    return unsignalled;
  }

  /** A completion queue gave its notification, or is to be polled and armed. */
  void signalCq() {
    signal(draining ? EvdState.CQ | EvdState.CONTROL : EvdState.CQ);
  }

  /** The watchdog's turn: an idle EVD looks for completions that came without a notification. */
  void rescue() {
    if (EvdState.isIdle(state.get())) {
      control(this::rescueInTurn);
    }
  }

  private void rescueInTurn() {
    if (!isClosed()) { // a close may have come between, and destroyed the queues
      merger.rescue();
    }
  }

  long rescued() {
    return counters.get(Counters.RESCUED);
  }

  /** Has something done in a turn, whatever the policy. */
  void control(final Runnable action) {
    controls.add(action);
    signal(EvdState.CONTROL);
  }

  /** Has something done after a delay, in a turn, whatever the policy. */
  void controlAfter(final Duration delay, final Runnable action) {
    ia.reaper().schedule(delay, () -> control(action));
  }

  /** From its next token on another dispatcher gives its turns. */
  void moveTo(final Dispatcher to) {
    control(() -> dispatcher = to); // there is one token, and who makes the next one reads it after
  }

  private void signal(final long bits) {
    apply(EvdState.SIGNAL, bits);
  }

  /** Does an operation of the state word, and publishes the token if it made one. */
  long apply(final int operation, final long argument) {
    final long before = state.apply(operation, argument);
    publish(before, operation, argument);
    return before;
  }

  /** The second half of {@link #apply}. */
  void publish(final long before, final int operation, final long argument) {
    if (before >= 0) {
      final long after = EvdState.next(before, operation, argument);
      if (EvdState.madeToken(before, after)) {
        if (operation == EvdState.SIGNAL && (argument & EvdState.CQ) != 0) {
          counters.incrementShared(Counters.WAKES);
        }
        if ((after & EvdState.POLICY) == EvdState.MANY) {
          dispatcher.readyAnywhere(this);
        } else {
          dispatcher.ready(this);
        }
      } else if (EvdState.wakes(before, after)) {
        consumer.wake();
      }
      if (EvdState.tells(before, after, operation)) { // also if there is a token, of a close
        tellCno();
      }
    }
  }

  /** An upcall was due, and is not any more. */
  void countDropped(final long before, final int operation, final long argument) {
    if (before >= 0 && EvdState.dropsUpcall(before, EvdState.next(before, operation, argument))) {
      counters.incrementShared(Counters.DROPPED_UPCALLS);
    }
  }

  private void tellCno() {
    final CnoImpl to = cno;
    if (to != null) { // it may just have been taken away
      to.trigger(this);
    }
  }

  // Turns.

  /** The token came up in the ready ring. Called by the dispatcher. */
  void turn(final Dispatcher by) {
    final long before = state.apply(EvdState.POP, 0);
    final long now = EvdState.next(before, EvdState.POP, 0);
    if ((before & EvdState.TURN) != 0 || (now & EvdState.TURN) == 0) {
      return;
    }
    merger.begin(by.batch());
    by.holdTurn(true);
    try {
      serve(before & ~now);
      if ((now & EvdState.UPCALL) == 0) {
        leave();
      } else {
        upcalls.run(by, now);
      }
      by.holdTurn(false);
    } finally {
      if (by.holdsTurn()) {
        by.holdTurn(false);
        recover();
      }
      checkQuiet();
    }
  }

  /**
   * Takes the turn for this thread.
   *
   * @return the state before, or why it was refused.
   */
  long takeTurn(final int operation) {
    for (int spins = 0; ; spins++) {
      final long before = state.apply(operation, 0);
      if (before >= 0) {
        if (consumerBatch == null) {
          consumerBatch = new WorkCompletions(2 * CqFeed.BATCH);
        }
        merger.begin(consumerBatch);
        counters.maximum(Counters.MOST_IN_LANE, lane.size());
        if ((before & EvdState.CQ) != 0) {
          merger.resume();
        }
      }
      if (before != EvdState.BUSY) {
        return before;
      }
      if (consumer.isWaitingHere()) { // a wait that is over drove who asks: it returns after this
        return EvdState.WAITED;
      }
      if (spins > SPINS) {
        Thread.yield();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  /** Bits were cleared: does what they asked for. */
  private void serve(final long bits) {
    settled &= (bits & EvdState.LANE) == 0;
    if ((bits & EvdState.LANE) != 0) {
      counters.maximum(Counters.MOST_IN_LANE, lane.size());
    }
    if ((bits & EvdState.CQ) != 0) {
      merger.resume();
      if (settled) { // a notification need not bring an event
        settled = !merger.collectNews();
      } else if (unsignalled && !merger.hasMoreInMemory()) { // nor one that tells
        settled = !merger.collectNews() && merger.hasMoreInMemory();
      }
    }
    if ((bits & EvdState.CONTROL) != 0) {
      Runnable action;
      while ((action = controls.poll()) != null) {
        action.run();
      }
      settled &= !merger.foundNews();
    }
  }

  /**
   * Everything was found empty after the re-arm: goes idle by one compare-and-set, or clears the
   * bits that came in between for another pass.
   */
  boolean end() {
    merger.end();
    if (advanceDrains() && !settled && merger.hasMoreCompletionsInMemory()) {
      return false;
    }
    final long before = state.apply(EvdState.END, 0);
    if ((before & (EvdState.WORK | EvdState.CONTROL)) == 0) {
      return true;
    }
    resume();
    return false;
  }

  /** Another pass: what was signalled since is no longer old. */
  void resume() {
    serve(state.apply(EvdState.RESUME, 0));
  }

  /**
   * What is there is old: it is moved into the stash, so that the queues can be armed, and its
   * signals are forgotten. What arrives from now on signals again. This thread holds the turn.
   */
  void settle() {
    serve(state.apply(EvdState.RESUME, 0) | EvdState.CQ);
    merger.collect();
    settled = true;
  }

  /** Whether what is in memory is held back. Of the turn. */
  boolean isSettled() {
    return settled;
  }

  /** What was held back is so no more. This thread holds the turn. */
  void letGo() {
    settled = false;
  }

  /** What is there when a turn ends before everything was found empty. */
  private long left() {
    merger.end();
    return (merger.hasMoreCompletions() ? EvdState.CQ : 0)
        | (!settled && merger.hasMoreInMemory() ? EvdState.LANE : 0);
  }

  /** The turn ends before everything was found empty. */
  void leave() {
    advanceDrains();
    apply(EvdState.LEAVE, left());
  }

  /** The turn of MANY ends before its upcall. */
  void passTurn() {
    advanceDrains();
    apply(EvdState.PASS, left());
  }

  /** A waiter's turn ends. */
  void leaveWait() {
    advanceDrains();
    apply(EvdState.RETURN, left());
  }

  /** A turn was left by an error: whatever is there is looked at again. */
  private void recover() {
    try {
      merger.end();
    } finally { // if there is no memory either
      apply(EvdState.LEAVE, EvdState.WORK | EvdState.CONTROL);
    }
  }

  /**
   * Goes on with the endpoints that are being closed.
   *
   * @return whether there were any: completions of others may be in memory now.
   */
  boolean advanceDrains() {
    if (drains.isEmpty()) {
      return false;
    }
    final boolean enabled = EvdState.isEnabled(state.get()) && !settled; // no upcall takes old ones
    drains.removeIf(drain -> drain.advance(this, enabled));
    draining = !drains.isEmpty();
    return true;
  }

  /** An endpoint is being closed: drains what of it comes here. */
  void drainOf(final EndpointDrain drain) {
    control(
        () -> {
          if (drains.isEmpty()) {
            drains = new ArrayList<>();
          }
          drains.add(drain);
          draining = true; // from here on a completion makes a turn, whatever the policy
          merger.resume(); // one before may have told of itself in vain
        });
  }

  /** Has something done as soon as no upcall runs and none may start. */
  void whenQuiet(final Runnable action) {
    quietWaiters.add(action);
    checkQuiet();
  }

  /** Upcalls or a turn ended: does what waits for that. */
  void checkQuiet() {
    while (!quietWaiters.isEmpty() && EvdState.isQuiet(state.get())) {
      onQuiet();
    }
  }

  /** Does one thing that waits for quiet; the look that led here may be older than that waits. */
  void onQuiet() {
    final Runnable action = quietWaiters.poll();
    if (action == null) {
      return;
    }
    if (EvdState.isQuiet(state.get())) {
      action.run();
    } else {
      quietWaiters.add(action);
    }
  }

  // Faults.

  /** A provider broke its contract, or failed. */
  void onProviderFault(
      final FaultLog.Call call, final Object object, final String problem, final Throwable cause) {
    if (ia.isLost()) {
      return; // what else, after its device was lost
    }
    final String what = name + ": " + faults.onProviderFault(call, object, problem, cause);
    final AsyncErrors errors = ia.asyncErrors();
    if (closing.isAccounted()) { // it has no events any more: its adapter tells
      errors.report(AsyncEvent.Kind.PROVIDER_INTERNAL_ERROR, what);
    } else {
      errors.report(asyncSlot(), AsyncEvent.Kind.PROVIDER_INTERNAL_ERROR, what);
    }
  }

  // Consumers that take events themselves.

  @Override
  public Outcome dequeue(final EventHandler to) {
    return consumer.dequeue(to);
  }

  @Override
  public int drain(final EventHandler to, final int limit) {
    return consumer.drain(to, limit);
  }

  @Override
  public Outcome await(final EventHandler to, final int threshold, final Duration timeout) {
    return consumer.await(to, threshold, timeout);
  }

  @Override
  public int remaining() {
    return consumer.remaining();
  }

  boolean hasWaiter() {
    return (state.get() & EvdState.WAITER) != 0;
  }

  DatException waited(final String call) {
    return Misuse.state(
        ReturnSubtype.INVALID_STATE_EVD_WAITER,
        name + "." + call + ": a thread waits in await; setUnwaitable makes it return");
  }

  @Override
  public void setUnwaitable() {
    if (apply(EvdState.SET_UNWAITABLE, 0) < 0) {
      checkOpen("setUnwaitable");
    }
  }

  @Override
  public boolean isWaitable() {
    return (state.get() & EvdState.UNWAITABLE) == 0;
  }

  @Override
  public void clearUnwaitable() {
    if (apply(EvdState.CLEAR_UNWAITABLE, 0) < 0) {
      checkOpen("clearUnwaitable");
    }
  }

  // Its CNO.

  @Override
  public Cno cno() {
    return cno;
  }

  @Override
  public void cno(final Cno next) {
    final CnoImpl to = ia.checkCno(next, name + ".cno");
    final long before;
    synchronized (state) {
      checkOpen("cno");
      if (to != null) {
        to.add(this);
      }
      final CnoImpl from = cno;
      cno = to;
      before = state.apply(EvdState.SET_CNO, to == null ? 0 : EvdState.CNO);
      if (from != null && from != to) {
        from.remove(this);
      }
    }
    publish(before, EvdState.SET_CNO, to == null ? 0 : EvdState.CNO);
  }

  /** It is closed, and uses its CNO no more. */
  private void leaveCno() {
    synchronized (state) {
      if (cno != null) {
        cno.remove(this);
      }
      cno = null;
    }
  }

  // Posting and policies.

  @Override
  public Outcome postSoftwareEvent(final Object payload) {
    if ((streams & EventStream.SOFTWARE.flag()) == 0) {
      throw Misuse.argument(
          1, name + ".postSoftwareEvent: the EVD was not created for the stream SOFTWARE");
    }
    if (!lane.offerSoftware(payload)) {
      checkOpen("postSoftwareEvent");
      return Outcome.QUEUE_FULL;
    }
    signal(EvdState.LANE);
    return Outcome.SUCCESS;
  }

  @Override
  public void upcall(final EventHandler handler, final Concurrency concurrency, final Invoke when) {
    upcalls.enable(handler, concurrency, when);
  }

  @Override
  public void notifyOnce(final NotifyHandler handler, final Invoke when) {
    upcalls.enableOnce(handler, when);
  }

  @Override
  public void disable() {
    checkOpen("disable");
    upcalls.disable();
  }

  /** A close of an endpoint goes on without upcalls, and who waits for quiet may have it. */
  void afterDisable() {
    if (draining) {
      signal(EvdState.CONTROL);
    }
    checkQuiet();
  }

  @Override
  public UpcallPolicy policy() {
    final long policy = state.get() & EvdState.POLICY;
    if (policy == EvdState.SINGLE) {
      return UpcallPolicy.SINGLE_INSTANCE;
    }
    if (policy == EvdState.NOTIFY) {
      return UpcallPolicy.NOTIFY;
    }
    return policy == EvdState.MANY ? UpcallPolicy.MANY : UpcallPolicy.DISABLED;
  }

  @Override
  public void teardown() {
    final CompletableFuture<Void> done = upcalls.teardown();
    final CompletableFuture<DrainReport> closed = closing.closed();
    ia.await(CompletableFuture.anyOf(done, closed), null, this);
    if (!done.isDone() && closed.isDone() && !closed.join().complete()) {
      throw new DatException(
          ReturnType.ABORT,
          ReturnSubtype.NO_SUBTYPE,
          name + ".teardown: the EVD was closed, and an upcall of it is stuck");
    }
  }

  @Override
  public CompletionStage<Void> teardownAsync() {
    return ia.stage(upcalls.teardown());
  }

  // Closing.

  @Override
  public void close() {
    checkNotAsync();
    ia.await(closing.start(CLOSE_BOUND, false), CLOSE_BOUND, this);
  }

  @Override
  public CompletionStage<DrainReport> closeAsync(final Duration bound) {
    Misuse.checkBound(bound, name + ".closeAsync");
    checkNotAsync();
    return ia.stage(closing.start(bound, false));
  }

  private void checkNotAsync() {
    if (ia.asyncErrors().own() == this) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_ASYNC,
          name + ".close: the async EVD is closed with its adapter");
    }
  }

  /** No new upcall, dequeue or wait begins. */
  void endUse() {
    countDropped(apply(EvdState.CLOSE, 0), EvdState.CLOSE, 0);
    leaveCno();
  }

  boolean isClosed() {
    return (state.get() & EvdState.CLOSED) != 0;
  }

  void checkOpen(final String call) {
    checkOpen(ReturnSubtype.NO_SUBTYPE, call);
  }

  void checkOpen(final ReturnSubtype subtype, final String call) {
    if (isClosed()) {
      throw Misuse.closed(subtype, this, call);
    }
  }

  // What it is.

  @Override
  public Guard guard() {
    return Guard.ATOMIC; // EvdState, which is all that a signal or a turn goes by
  }

  @Override
  public Set<EventStream> streams() {
    final Set<EventStream> taken = EnumSet.allOf(EventStream.class);
    taken.removeIf(stream -> !takes(stream));
    return taken;
  }

  @Override
  public int length() {
    return room.length();
  }

  @Override
  public void resize(final int to) {
    checkOpen("resize");
    ia.limits().checkLength(to, name + ".resize");
    room.resize(to);
  }

  @Override
  public void slowAfter(final Duration time) {
    Misuse.checkBound(time, name + ".slowAfter");
    faults.slowAfter(Reaper.nanos(time));
  }

  @Override
  public EvdStatistics statistics() {
    return counters.snapshot(name);
  }

  boolean takes(final EventStream stream) {
    return (streams & stream.flag()) != 0;
  }

  @Override
  IaImpl ia() {
    return ia;
  }

  /** Who uses it, and what is reserved for them. */
  EvdRoom room() {
    return room;
  }

  EvdClose closing() {
    return closing;
  }

  Merger merger() {
    return merger;
  }

  Counters counters() {
    return counters;
  }

  FaultLog faults() {
    return faults;
  }

  AsyncSlot asyncSlot() {
    synchronized (state) {
      if (asyncSlot == null) {
        asyncSlot = new AsyncSlot(this);
      }
      return asyncSlot;
    }
  }

  @Override
  public String toString() {
    return name + "(" + state + ")";
  }
}
