package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Cno;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WorkCompletions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The serializer. Everything that takes events holds the turn of the {@link EvdState}: a dispatcher
 * that popped the token, or a consumer's thread that dequeues. The framework's own business with an
 * EVD is done in a turn as well; see {@link #control}.
 */
final class EvdImpl extends ObjectBase implements Evd {

  private static final Logger LOGGER = LoggerFactory.getLogger(Evd.class);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  /** Events of one turn; then the EVD goes to the tail of the ready ring. */
  private static final int BUDGET = 64;

  /** What ON_NEW held back is the CNO's, now or when it gets one: the bits are set. */
  private static final long DISABLED = EvdState.DISABLED | EvdState.WORK;

  private static final int SPINS = 100;
  private static final Duration POSTER_DELAY = Duration.ofNanos(100_000);

  /** What upcalls are made to under a policy. One of the two is null. */
  private record Target(long policy, EventHandler events, NotifyHandler ready) {

    /**
     * Its policy may not be in the word yet: then it is nobody's that runs under the old one. The
     * word must have been read after it; else the policy may be one that was there before, and is
     * about to come back with this target.
     */
    private EventHandler eventsUnder(final long state) {
      return policy == (state & EvdState.CONCURRENCY) ? events : null;
    }
  }

  private final IaImpl ia;
  private volatile int length;
  private final int streams;
  private volatile Dispatcher dispatcher;
  private final EvdState state = new EvdState();
  private final Lane lane;
  private final Merger merger;
  private final Counters counters = new Counters();
  private final FaultLog faults;
  private final AsyncSlot asyncSlot = new AsyncSlot(this);
  private final Queue<Runnable> controls = new ConcurrentLinkedQueue<>();
  private final Queue<Runnable> quietWaiters = new ConcurrentLinkedQueue<>();
  private final AtomicReference<Handout> spare = new AtomicReference<>();
  private final Object policyLock = new Object();
  private final BooleanSupplier awake = this::isAwake;

  /** Teardowns that wait, asked for outside of upcalls. Under the policy lock. */
  private int teardowns;

  private volatile Target target = new Target(EvdState.DISABLED, null, null);
  private volatile Thread waiter;
  private volatile int remaining;
  private volatile CnoImpl cno;
  private volatile boolean draining;

  /** Some completions may be of requests that tell nobody. Once true, it stays so. */
  private volatile boolean unsignalled;

  // Of the turn.
  private final Handout handout = new Handout();
  private final List<EndpointDrain> drains = new ArrayList<>(0);
  private WorkCompletions consumerBatch;
  private long sequence;

  private boolean deviceLost;

  /**
   * What is in memory is old, or does not tell: ON_NEW or UNSIGNALLED hold it back until another
   * event comes.
   */
  private boolean settled;

  private final List<Event> dropped = new ArrayList<>(0);

  // Under the monitor of this object.
  private final Set<DatObject> users = new LinkedHashSet<>();
  private int reserved;
  private boolean queuesDestroyed;
  private boolean closing;

  /** Its users are endpoints that want to be told of solicited receives only. */
  private volatile boolean solicited;

  private final CompletableFuture<DrainReport> closed = new CompletableFuture<>();

  /** All is accounted for: what is left to do is to destroy. */
  private volatile boolean accounted;

  EvdImpl(
      final String name,
      final IaImpl ia,
      final int length,
      final int streams,
      final Dispatcher dispatcher) {
    super(HandleType.EVD, name);
    this.ia = ia;
    this.length = length;
    this.streams = streams;
    this.dispatcher = dispatcher;
    lane = new Lane(length);
    merger = new Merger(this, lane, ia.endpoints());
    faults = new FaultLog(this, counters, ia.runtime().errorHandler());
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
  boolean offerRequest(final RequestEvent event) {
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

  /** From its next token on another dispatcher gives its turns. */
  void moveTo(final Dispatcher to) {
    control(() -> dispatcher = to); // there is one token, and who makes the next one reads it after
  }

  private void signal(final long bits) {
    apply(EvdState.SIGNAL, bits);
  }

  /** Does an operation of the state word, and publishes the token if it made one. */
  private long apply(final int operation, final long argument) {
    final long before = state.apply(operation, argument);
    publish(before, operation, argument);
    return before;
  }

  private void publish(final long before, final int operation, final long argument) {
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
        LockSupport.unpark(waiter);
      }
      if (EvdState.tells(before, after, operation)) { // also if there is a token, of a close
        tellCno();
      }
    }
  }

  private void tellCno() {
    final CnoImpl to = cno;
    if (to != null) { // it may just have been taken away
      to.trigger(this);
    }
  }

  // Turns of a dispatcher.

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
      } else if ((now & EvdState.POLICY) == EvdState.SINGLE) {
        singleInstance(by);
      } else if ((now & EvdState.POLICY) == EvdState.NOTIFY) {
        notifyOnce(by);
      } else {
        many(by);
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

  private void singleInstance(final Dispatcher by) {
    EventHandler called = null;
    int budget = BUDGET;
    while (true) {
      final Target to = target; // before the word
      final long s = state.get();
      final EventHandler handler = to.eventsUnder(s);
      if ((s & EvdState.POLICY) != EvdState.SINGLE
          || handler == null
          || budget == 0
          || merger.isTired()) {
        endOfTurn(by, called);
        leave();
        break;
      }
      if ((s & EvdState.CONTROL) != 0) {
        resume();
      } else if (!settled && merger.next(handout)) {
        if (budget-- == BUDGET) {
          counters.increment(Counters.UPCALLS);
        }
        upcall(by, handler, handout);
        called = handler;
      } else if (!merger.isTired()) {
        endOfTurn(by, called);
        called = null;
        if (end()) {
          break;
        }
      }
    }
    if (budget == BUDGET) {
      counters.incrementShared(Counters.EMPTY_TURNS);
    }
  }

  /**
   * Everything was found empty after the re-arm: goes idle by one compare-and-set, or clears the
   * bits that came in between for another pass.
   */
  private boolean end() {
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
  private void resume() {
    serve(state.apply(EvdState.RESUME, 0));
  }

  private void notifyOnce(final Dispatcher by) {
    while (true) {
      final long s = state.get();
      if ((s & EvdState.POLICY) != EvdState.NOTIFY) {
        leave();
        break;
      }
      if ((s & EvdState.CONTROL) != 0) {
        resume();
      } else if (!settled && merger.hasAny()) {
        final NotifyHandler handler = takeNotify();
        if (handler != null) {
          counters.increment(Counters.UPCALLS);
          notifyConsumer(by, handler);
          leave();
          return;
        }
      } else if (end()) {
        break;
      }
    }
    counters.incrementShared(Counters.EMPTY_TURNS);
  }

  /** Uses up NOTIFY, and returns whom to tell; null if the policy is another by now. */
  private NotifyHandler takeNotify() {
    synchronized (policyLock) {
      final long before = state.apply(EvdState.NOTIFIED, 0);
      return (before & EvdState.POLICY) == EvdState.NOTIFY ? target.ready : null;
    }
  }

  private void many(final Dispatcher by) {
    final Handout own = by.handout();
    while (true) {
      final Target to = target; // before the word
      final long s = state.get();
      final EventHandler handler = to.eventsUnder(s);
      if ((s & EvdState.POLICY) != EvdState.MANY || handler == null || merger.isTired()) {
        leave();
        break;
      }
      if ((s & EvdState.CONTROL) != 0) {
        resume();
      } else if (!settled && merger.next(own)) {
        counters.increment(Counters.UPCALLS);
        passAndUpcall(by, handler, own);
        return;
      } else if (!merger.isTired() && end()) {
        break;
      }
    }
    counters.incrementShared(Counters.EMPTY_TURNS);
  }

  private void passAndUpcall(final Dispatcher by, final EventHandler handler, final Handout own) {
    final EndpointDrain drain = own.beginUpcall();
    advanceDrains();
    apply(EvdState.PASS, left());
    by.holdTurn(false);
    try {
      upcall(by, handler, own);
      endOfTurn(by, handler);
    } finally {
      endUpcall(drain);
      apply(EvdState.DONE, 0);
    }
  }

  private void upcall(final Dispatcher by, final EventHandler handler, final Handout event) {
    by.enter(this);
    try {
      event.deliver(handler);
    } catch (final Throwable e) {
      faults.onThrown(by, event.event(), "", e);
    } finally {
      event.release();
      by.exit();
    }
  }

  private void notifyConsumer(final Dispatcher by, final NotifyHandler handler) {
    by.enter(this);
    try {
      handler.onReady(this);
    } catch (final Throwable e) {
      faults.onThrown(by, null, "onReady", e);
    } finally {
      by.exit();
    }
  }

  private void endOfTurn(final Dispatcher by, final EventHandler called) {
    if (called != null) {
      by.enter(this);
      try {
        called.onTurnEnd(this);
      } catch (final Throwable e) {
        faults.onThrown(by, null, "onTurnEnd", e);
      } finally {
        by.exit();
      }
    }
  }

  /** What is there when a turn ends before everything was found empty. */
  private long left() {
    return (merger.hasMoreCompletions() ? EvdState.CQ : 0)
        | (!settled && merger.hasMoreInMemory() ? EvdState.LANE : 0);
  }

  private void leave() {
    advanceDrains();
    apply(EvdState.LEAVE, left());
  }

  /** A turn was left by an error: whatever is there is looked at again. */
  private void recover() {
    apply(EvdState.LEAVE, EvdState.WORK | EvdState.CONTROL);
  }

  /**
   * Goes on with the endpoints that are being closed.
   *
   * @return whether there were any: completions of others may be in memory now.
   */
  private boolean advanceDrains() {
    if (drains.isEmpty()) {
      return false;
    }
    final boolean enabled = EvdState.isEnabled(state.get()) && !settled; // no upcall takes old ones
    drains.removeIf(drain -> drain.advance(this, enabled));
    draining = !drains.isEmpty();
    return true;
  }

  // Faults.

  /** A provider broke its contract, or failed. */
  void onProviderFault(
      final FaultLog.Call call, final Object object, final String problem, final Throwable cause) {
    if (ia.isLost()) {
      return; // what else, after its device was lost
    }
    final String what = faults.onProviderFault(call, object, problem, cause);
    ia.report(asyncSlot, AsyncEvent.Kind.PROVIDER_INTERNAL_ERROR, name + ": " + what);
  }

  // Dequeueing.

  @Override
  public Outcome dequeue(final EventHandler to) {
    if (to == null) {
      throw Misuse.argument(1, name + ".dequeue: the handler is null");
    }
    final Handout own = borrow();
    try {
      if (!take(own, "dequeue")) {
        return Outcome.QUEUE_EMPTY;
      }
      deliver(own, to);
      return Outcome.SUCCESS;
    } finally {
      spare.set(own);
    }
  }

  /**
   * A close of the event's endpoint waits for the handler, and the handler does not wait for it.
   */
  private void deliver(final Handout event, final EventHandler to) {
    final EndpointDrain drain = event.drain();
    Dispatcher.enterDequeue();
    try {
      event.deliver(to);
    } finally {
      event.release();
      Dispatcher.exitDequeue();
      endUpcall(drain);
    }
  }

  private void endUpcall(final EndpointDrain drain) {
    if (drain != null) {
      drain.upcallReturns();
    }
  }

  @Override
  public int drain(final EventHandler to, final int limit) {
    if (limit < 1) {
      throw Misuse.argument(2, name + ".drain: limit " + limit + " is below 1");
    }
    int drained = 0;
    while (drained < limit && dequeue(to) == Outcome.SUCCESS) {
      drained++;
    }
    return drained;
  }

  private Handout borrow() {
    final Handout own = spare.getAndSet(null);
    return own != null ? own : new Handout();
  }

  private boolean take(final Handout to, final String call) {
    if (Dispatcher.isInTurnOf(this)) {
      checkOpen(call);
      return next(to);
    }
    checkTaken(
        takeTurn(Dispatcher.isInUpcallOf(this) ? EvdState.TAKE_INSIDE : EvdState.TAKE), call);
    try {
      return next(to);
    } finally {
      leave();
      checkQuiet();
    }
  }

  /** Throws if the turn was refused. */
  private void checkTaken(final long before, final String call) {
    if (before >= 0) {
      return;
    }
    if (before == EvdState.WAITED) {
      throw waited(call);
    }
    checkOpen(call);
    if (before == EvdState.NOT_WAITABLE) {
      throw unwaitable(call);
    }
    throw Misuse.state(
        ReturnSubtype.INVALID_STATE_EVD_ENABLED,
        name
            + "."
            + call
            + ": an upcall may start or is running ("
            + state
            + "); disable it,"
            + " and let the running upcall return, first");
  }

  private DatException waited(final String call) {
    return Misuse.state(
        ReturnSubtype.INVALID_STATE_EVD_WAITER,
        name + "." + call + ": a thread waits in await; setUnwaitable makes it return");
  }

  private DatException unwaitable(final String call) {
    return Misuse.state(
        ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE,
        name + "." + call + ": no thread may wait; clearUnwaitable allows it again");
  }

  /** Takes the next event; what is left out on the way does not make it look empty. */
  private boolean next(final Handout to) {
    merger.lookAgain();
    for (int turns = 0; turns < BUDGET; turns++) {
      if (merger.next(to)) {
        counters.increment(Counters.DEQUEUED);
        to.beginUpcall();
        return true;
      }
      if (!merger.isTired()) {
        return false;
      }
      merger.rest();
    }
    return false;
  }

  /**
   * Takes the turn for this thread.
   *
   * @return the state before, or why it was refused.
   */
  private long takeTurn(final int operation) {
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
      if (spins > SPINS) {
        Thread.yield();
      } else {
        Thread.onSpinWait();
      }
    }
  }

  // Waiting.

  @Override
  public Outcome await(final EventHandler to, final int threshold, final Duration timeout) {
    checkAwait(to, threshold, timeout);
    final long deadline = ia.runtime().deadline(timeout);
    final Handout own = borrow();
    try {
      checkTaken(takeTurn(EvdState.AWAIT), "await");
      final Outcome outcome;
      try {
        checkThreshold(threshold); // it may have been resized
        outcome = waitInTurn(own, threshold, deadline);
      } finally {
        waiter = null;
        advanceDrains();
        apply(EvdState.RETURN, left());
        checkQuiet();
      }
      if (outcome == null) {
        throw unwaitable("await");
      }
      if (outcome == Outcome.SUCCESS) {
        deliver(own, to);
      }
      return outcome;
    } finally {
      spare.set(own);
    }
  }

  private void checkAwait(final EventHandler to, final int threshold, final Duration timeout) {
    if (to == null) {
      throw Misuse.argument(1, name + ".await: the handler is null");
    }
    checkThreshold(threshold);
    if (timeout == null || timeout.isNegative()) {
      throw Misuse.argument(3, name + ".await: timeout " + timeout + " is not a time");
    }
    Misuse.checkMayWait(name);
  }

  private void checkThreshold(final int threshold) {
    final int most = length;
    if (threshold < 1 || threshold > most) {
      throw Misuse.argument(
          2, name + ".await: threshold " + threshold + " is not within 1.." + most);
    }
  }

  /**
   * A waiter is a dispatcher of one EVD: it does all that is to be done in turns, until it may take
   * an event.
   *
   * @return what came of it; null if no thread may wait any more.
   */
  private Outcome waitInTurn(final Handout own, final int threshold, final long deadline) {
    if (threshold > 1 && solicited) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
          name
              + ".await: threshold "
              + threshold
              + ", but its receives notify only if they are solicited; the threshold must be 1");
    }
    waiter = Thread.currentThread();
    settled = false; // it is the consumer's, old or new
    boolean isEntering = true;
    while (!isClosed()) {
      advanceDrains();
      remaining = merger.count();
      if ((isEntering || merger.hasTelling()) && remaining >= threshold && takeOne(own)) {
        remaining = merger.count();
        return Outcome.SUCCESS;
      }
      if (deviceLost) {
        return Outcome.ABORT;
      }
      if ((state.get() & EvdState.WAITER) == 0) {
        return null;
      }
      if (Thread.currentThread().isInterrupted()) {
        return Outcome.INTERRUPTED_CALL;
      }
      if (ia.runtime().isOver(deadline)) {
        return Outcome.TIMEOUT_EXPIRED;
      }
      state.apply(EvdState.SLEEP, 0);
      ia.runtime().block(awake, deadline);
      resume();
      isEntering = false;
    }
    return Outcome.ABORT;
  }

  /** Takes the next event if the order of the streams allows one. */
  private boolean takeOne(final Handout to) {
    do {
      merger.rest();
      if (merger.next(to)) {
        counters.increment(Counters.DEQUEUED);
        to.beginUpcall();
        return true;
      }
    } while (merger.isTired());
    return false;
  }

  @Override
  public int remaining() {
    return remaining;
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

  @Override
  public Cno cno() {
    return cno;
  }

  @Override
  public void cno(final Cno next) {
    final CnoImpl to = ia.checkCno(next, name + ".cno");
    final long before;
    synchronized (policyLock) {
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
    synchronized (policyLock) {
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
    if (handler == null || concurrency == null || when == null) {
      throw Misuse.argument(
          handler == null ? 1 : concurrency == null ? 2 : 3,
          name + ".upcall: the argument is null");
    }
    final long policy =
        concurrency.isMany()
            ? EvdState.MANY | EvdState.limit(concurrency.limit())
            : EvdState.SINGLE;
    enable(new Target(policy, handler, null), when, "upcall");
  }

  @Override
  public void notifyOnce(final NotifyHandler handler, final Invoke when) {
    if (handler == null || when == null) {
      throw Misuse.argument(handler == null ? 1 : 2, name + ".notifyOnce: the argument is null");
    }
    enable(new Target(EvdState.NOTIFY, null, handler), when, "notifyOnce");
  }

  private void enable(final Target to, final Invoke when, final String call) {
    checkOpen(call);
    final long policy = to.policy;
    if (when == Invoke.ON_ANY) {
      setPolicy(to, policy | EvdState.WORK, call);
    } else if (Dispatcher.isInTurnOf(this)) {
      settle();
      setPolicy(to, policy, call);
    } else if (takeTurn(Dispatcher.isInUpcallOf(this) ? EvdState.TAKE_INSIDE : EvdState.TAKE)
        >= 0) {
      try {
        settle();
        setPolicy(to, policy, call);
      } finally {
        leave();
      }
    } else {
      // Upcalls are enabled or one is running: what is there was signalled to them.
      setPolicy(to, policy, call);
    }
  }

  /**
   * What is there is old: it is moved into the stash, so that the queues can be armed, and its
   * signals are forgotten. What arrives from now on signals again. This thread holds the turn.
   */
  private void settle() {
    serve(state.apply(EvdState.RESUME, 0) | EvdState.CQ);
    merger.collect();
    settled = true;
  }

  private void setPolicy(final Target to, final long policy, final String call) {
    final long before;
    synchronized (policyLock) {
      if (to != null && teardowns > 0) {
        checkTeardownAllows();
        return;
      }
      final Target old = target;
      if (to != null) {
        target = to;
      }
      before = state.apply(EvdState.SET_POLICY, policy);
      if (before < 0) {
        target = old;
      }
    }
    if (before == EvdState.WAITED) {
      throw waited(call);
    }
    countDropped(before, EvdState.SET_POLICY, policy);
    publish(before, EvdState.SET_POLICY, policy);
  }

  /** An upcall was due, and is not any more. */
  private void countDropped(final long before, final int operation, final long argument) {
    if (before >= 0 && EvdState.dropsUpcall(before, EvdState.next(before, operation, argument))) {
      counters.incrementShared(Counters.DROPPED_UPCALLS);
    }
  }

  /** An upcall that is torn down cannot know it, and its wish to go on has no effect. */
  private void checkTeardownAllows() {
    if (!Dispatcher.isInUpcallOf(this)) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          name + ": a teardown waits for its upcall to return; enable upcalls when that is done");
    }
  }

  @Override
  public void disable() {
    checkOpen("disable");
    setPolicy(null, DISABLED, "disable");
    afterDisable();
  }

  private void afterDisable() {
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
    ia.await(disableAndQuiesce(), null, this);
  }

  @Override
  public CompletionStage<Void> teardownAsync() {
    return ia.stage(disableAndQuiesce());
  }

  private CompletableFuture<Void> disableAndQuiesce() {
    checkOpen("teardown");
    // From here on nobody enables, so that it ends; an upcall may take back what itself asked for.
    final int counted = Dispatcher.isInUpcallOf(this) ? 0 : 1;
    synchronized (policyLock) {
      setPolicy(null, DISABLED, "disable");
      teardowns += counted;
    }
    afterDisable();
    final CompletableFuture<Void> done = new CompletableFuture<>();
    whenQuiet(
        () -> {
          synchronized (policyLock) {
            teardowns -= counted;
          }
          done.complete(null);
        });
    return done;
  }

  /** Has something done as soon as no upcall runs and none may start. */
  private void whenQuiet(final Runnable action) {
    quietWaiters.add(action);
    checkQuiet();
  }

  private void checkQuiet() {
    while (!quietWaiters.isEmpty() && EvdState.isQuiet(state.get())) {
      final Runnable action = quietWaiters.poll();
      if (action != null) {
        action.run();
      }
    }
  }

  // Endpoints.

  /**
   * Reserves room for the completions of an endpoint's queue.
   *
   * @return the completion queue to use.
   */
  CqFeed reserveRoom(final int completions) {
    synchronized (this) {
      if (closing || completions > length - reserved) {
        throw Misuse.resources(
            ReturnSubtype.RESOURCE_TEVD,
            name
                + ": no room for "
                + completions
                + " more completions: "
                + reserved
                + " of its length "
                + length
                + " are reserved; create a longer EVD or close endpoints");
      }
      reserved += completions;
    }
    boolean done = false;
    try {
      final CqFeed feed = feedFor(completions + WorkQueue.MARKERS);
      synchronized (this) {
        merger.reserve(reserved + merger.feeds().length * CqFeed.BATCH);
      }
      done = true;
      return feed;
    } catch (final VerbsException e) {
      throw Misuse.failed(
          name + ": a completion queue could not be created", e, ReturnSubtype.RESOURCE_TEVD);
    } finally {
      if (!done) {
        releaseRoom(completions);
      }
    }
  }

  /**
   * Changes the room for completions in one of its queues, which cannot be longer itself.
   *
   * @throws DatException if there is no room for more.
   */
  void resizeRoom(final CqFeed feed, final int from, final int to) {
    if (to <= from) {
      feed.giveRoom(from - to);
      releaseRoom(from - to);
      return;
    }
    synchronized (this) {
      if (to - from > length - reserved || !feed.takeRoom(to - from)) {
        throw Misuse.resources(
            ReturnSubtype.RESOURCE_TEVD,
            name
                + ": no room for "
                + (to - from)
                + " more completions in a queue of its length "
                + length
                + ", of which "
                + reserved
                + " are reserved; take a longer EVD");
      }
      reserved += to - from;
      merger.reserve(reserved + merger.feeds().length * CqFeed.BATCH);
    }
  }

  /** A completion queue with that much room: when those there are full, one more. */
  private CqFeed feedFor(final int entries) {
    final ArmKind kind =
        solicited && ia.device().declaration().solicited() == SolicitedSupport.FULL
            ? ArmKind.SOLICITED
            : ArmKind.NEXT; // an error must notify too
    for (final CqFeed feed : merger.feeds()) {
      if (feed.kind() == kind && feed.takeRoom(entries)) {
        return feed;
      }
    }
    final int most = ia.device().limits().maxCqe();
    final int capacity = Math.max(entries, Math.min(most, length + 8 * WorkQueue.MARKERS));
    final CqFeed feed = new CqFeed(this, kind);
    final CompletionQueue cq = ia.device().createCq(capacity, feed);
    feed.open(cq, capacity - entries);
    final boolean late;
    synchronized (this) {
      late = queuesDestroyed;
      if (!late) {
        merger.add(feed);
      }
    }
    if (late) {
      destroy(cq); // no queue pair uses it
      throw Misuse.closed(ReturnSubtype.NO_SUBTYPE, this, "use by a new endpoint");
    }
    ia.watch(this);
    signalCq();
    return feed;
  }

  @Override
  public void resize(final int to) {
    checkOpen("resize");
    ia.checkLength(to, name + ".resize");
    synchronized (this) {
      final int from = length;
      if (to == from) {
        return;
      }
      if (hasWaiter()) {
        throw waited("resize");
      }
      if (to < reserved || !lane.resize(from, to)) {
        throw Misuse.state(
            ReturnSubtype.NO_SUBTYPE,
            name
                + ".resize: it keeps its length "
                + from
                + ", because "
                + (to < reserved
                    ? reserved + " completions are reserved for its endpoints"
                    : "more than " + to + " software events or connection requests wait"));
      }
      length = to;
      if (to < from && hasWaiter()) { // it came before this length, and may want more
        lane.resize(to, from);
        length = from;
        throw waited("resize");
      }
    }
  }

  private boolean isAwake() {
    return (state.get() & EvdState.ASLEEP) == 0;
  }

  boolean hasWaiter() {
    return (state.get() & EvdState.WAITER) != 0;
  }

  synchronized void releaseRoom(final int completions) {
    reserved -= completions;
  }

  /**
   * Something sends its events here.
   *
   * @param solicitedOnly whether they are the receives of an endpoint, and the consumer is to be
   *     told of solicited ones only.
   */
  synchronized void addUser(final DatObject user, final boolean solicitedOnly) {
    if (closing) {
      throw Misuse.closed(ReturnSubtype.NO_SUBTYPE, this, "use by " + user.name());
    }
    if (solicitedOnly) {
      checkMayBeSolicited(user);
    } else if (solicited) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
          name
              + ": "
              + user.name()
              + " would bring it other events than solicited receives, and it is used by "
              + users
              + " for those only; take another EVD");
    }
    users.add(user);
  }

  private void checkMayBeSolicited(final DatObject user) {
    if (streams != EventStream.DTO.flag() || (!solicited && !users.isEmpty())) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_NOTIFY,
          name
              + ": receives of "
              + user.name()
              + " with SOLICITED_WAIT need an EVD for DTO alone that carries nothing else; "
              + (users.isEmpty() ? "it takes other streams" : "it is used by " + users));
    }
    final boolean before = solicited;
    solicited = true; // then the look at the waiter, who looks at this after it became one
    if (!before && hasWaiter()) {
      solicited = false;
      throw waited("use by " + user.name());
    }
  }

  synchronized void removeUser(final DatObject user) {
    users.remove(user);
    solicited &= !users.isEmpty();
  }

  /** An endpoint is being closed: drains what of it comes here. */
  void drainOf(final EndpointDrain drain) {
    control(
        () -> {
          drains.add(drain);
          draining = true; // from here on a completion makes a turn, whatever the policy
          merger.resume(); // one before may have told of itself in vain
        });
  }

  // Closing.

  @Override
  public void close() {
    checkNotAsync();
    ia.await(close(CLOSE_BOUND, false), CLOSE_BOUND, this);
  }

  @Override
  public CompletionStage<DrainReport> closeAsync(final Duration bound) {
    Misuse.checkBound(bound, name + ".closeAsync");
    checkNotAsync();
    return ia.stage(close(bound, false));
  }

  private void checkNotAsync() {
    if (ia.isOwnAsyncEvd(this)) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_EVD_ASYNC,
          name + ".close: the async EVD is closed with its adapter");
    }
  }

  /**
   * Closes it with its adapter, also if it is the async EVD, or an endpoint that is stuck uses it.
   */
  CompletableFuture<DrainReport> closeAbruptly(final Duration bound) {
    return close(bound, true);
  }

  private CompletableFuture<DrainReport> close(final Duration bound, final boolean abrupt) {
    synchronized (this) {
      if (!abrupt && !users.isEmpty()) {
        throw Misuse.state(
            ReturnSubtype.INVALID_STATE_EVD_IN_USE, name + ".close: in use by " + users);
      }
      if (closing) {
        return closed;
      }
      closing = true;
    }
    countDropped(apply(EvdState.CLOSE, 0), EvdState.CLOSE, 0);
    leaveCno();
    lane.close();
    ia.leaveAsync(this);
    ia.reaper().schedule(bound, closed, this::giveUpClose);
    whenQuiet(() -> control(this::finishClose));
    return closed;
  }

  private void giveUpClose() {
    final boolean complete = accounted;
    if (closed.complete(new DrainReport(List.of(), 0, complete ? dropped : List.of(), complete))) {
      LOGGER.error(
          "{}: its close is over its bound: {} ({})",
          name,
          complete
              ? "a call of the provider does not return"
              : "an upcall is stuck, or its dispatcher is",
          state);
      ia.remove(this);
    }
  }

  private void finishClose() {
    final boolean allPosted = lane.close();
    Object polled;
    while ((polled = lane.poll()) != null) {
      final EventBase event = polled instanceof LaneEvent e ? e : softwareEvent(polled);
      if (!(event instanceof AsyncEventImpl async) || async.take()) {
        event.handOut(this, event.from(), -1);
        dropped.add(event);
      }
    }
    if (!allPosted && !lane.close()) {
      // A poster has not finished. Not in this turn again: it would take the core it needs.
      ia.reaper().schedule(POSTER_DELAY, () -> control(this::finishClose));
      return;
    }
    accounted = true;
    destroyQueues(
        () -> {
          ia.remove(this);
          if (!closed.complete(new DrainReport(List.of(), 0, dropped, true))
              && !closed.join().complete()) {
            refuseDropped();
          }
        });
  }

  /** The report was given without them: nobody else can answer the requests that were dropped. */
  private void refuseDropped() {
    for (final Event event : dropped) {
      if (event instanceof RequestEvent request) {
        ia.reaper().execute(request.impl()::close);
      }
    }
  }

  /** In a turn: after it no completion comes. The reaper destroys them, which may block. */
  private void destroyQueues(final Runnable andThen) {
    final CqFeed[] feeds;
    synchronized (this) { // one that is being created does not come behind
      queuesDestroyed = true;
      feeds = merger.feeds();
      merger.removeFeeds();
    }
    ia.reaper()
        .execute(
            () -> {
              for (final CqFeed feed : feeds) {
                destroyWhenUnused(feed.cq());
              }
              andThen.run();
            });
  }

  /** Not before the queue pair of an endpoint that is stuck. */
  private void destroyWhenUnused(final CompletionQueue cq) {
    if (isUsed()) {
      ia.destroyLater(() -> destroyUnused(cq));
    } else {
      destroy(cq);
    }
  }

  private void destroy(final CompletionQueue cq) {
    try {
      cq.close();
    } catch (final RuntimeException | Error e) {
      onProviderFault(FaultLog.Call.CLOSE, this, "failed: " + e, e);
      ia.destroyLater(cq::close);
    }
  }

  private void destroyUnused(final CompletionQueue cq) {
    if (isUsed()) {
      throw new IllegalStateException(name + " is still in use");
    }
    cq.close();
  }

  private synchronized boolean isUsed() {
    return !users.isEmpty();
  }

  /**
   * The device is gone, and its endpoints are closed: the completion queues are destroyed, and
   * nobody waits for more than what is there. It goes on as an EVD of software events.
   *
   * @return completes when that is done.
   */
  CompletableFuture<Void> onDeviceLost() {
    final CompletableFuture<Void> done = new CompletableFuture<>();
    control(
        () -> {
          destroyQueues(() -> done.complete(null));
          deviceLost = true;
        });
    return done;
  }

  private SoftwareView softwareEvent(final Object polled) {
    final SoftwareView view = new SoftwareView(this);
    view.set(Lane.payload(polled));
    return view;
  }

  boolean isClosed() {
    return (state.get() & EvdState.CLOSED) != 0;
  }

  private void checkOpen(final String call) {
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
    return length;
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
    return asyncSlot;
  }

  /** The number of an event that is handed out. Of the turn. */
  long nextSequence() {
    return sequence++;
  }

  @Override
  public String toString() {
    return name + "(" + state + ")";
  }
}
