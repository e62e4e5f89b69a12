package org.jdapl.evd;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.EventTranslatorOneArg;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.TimeoutException;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.DispatcherStatistics;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.WorkCompletions;
import org.slf4j.Logger;

/**
 * One loop over a ready ring: EVDs whose token was made get their turns here, one after the other.
 *
 * <p>It runs on a thread of its own, or by hand, one {@link #round} at a time on the caller's
 * thread.
 */
final class Dispatcher implements Runnable {

  private static final Logger LOGGER = Log.of(Dispatcher.class);
  private static final EventTranslatorOneArg<Slot, EvdImpl> READY =
      (slot, sequence, evd) -> slot.evd = evd;
  private static final ThreadLocal<Current> CURRENT = ThreadLocal.withInitial(Current::new);

  /** What a thread runs; an object of its own, so that a round by hand allocates nothing. */
  private static final class Current {
    private Dispatcher dispatcher;
    private EvdImpl upcallOf;
    private boolean holdsTurn;
    private int dequeues;
  }

  private static final class Slot {
    private EvdImpl evd;
  }

  private final String name;
  private final ThreadFactory threads;
  private final EventChannel channel;
  private final Queue<EvdImpl> readyAnywhere;
  private final Dispatcher[] group;
  private final NanoClock clock;
  private final IdleWait idle;
  private final RingBuffer<Slot> ring;
  private final SequenceBarrier barrier;
  private final Sequence consumed = new Sequence();
  private final WorkCompletions batch = new WorkCompletions(2 * CqFeed.BATCH);
  private final Handout handout = new Handout();

  // What it does, for the reaper: stored in this order, read in the reverse one.
  private final AtomicLong turnBegan = new AtomicLong();
  private final AtomicReference<EvdImpl> serves = new AtomicReference<>();
  private final AtomicLong turnsGiven = new AtomicLong();
  private final AtomicLong mostReady = new AtomicLong();
  private final AtomicLong longestTurn = new AtomicLong();

  // Of the loop.
  private long token; // whose turn it gives
  private long time;
  private boolean timeIsKnown;
  private Current current;
  private volatile Thread thread;
  private volatile boolean stopped;

  /**
   * A dispatcher.
   *
   * @param threads makes its thread; null for one that is driven by hand.
   * @param capacity how many EVDs it may serve; the ring is twice as large, because slots come free
   *     only when a batch of them was consumed.
   * @param strategy how it waits on its thread.
   * @param channel where it sleeps, and gets the provider's events; null if the provider pushes
   *     them.
   * @param readyAnywhere tokens that any dispatcher of the group takes.
   * @param group all dispatchers that share those.
   * @param clock times its turns.
   */
  Dispatcher(
      final String name,
      final ThreadFactory threads,
      final int capacity,
      final WaitStrategy strategy,
      final EventChannel channel,
      final Queue<EvdImpl> readyAnywhere,
      final Dispatcher[] group,
      final NanoClock clock) {
    this.name = name;
    this.threads = threads;
    this.channel = channel;
    this.readyAnywhere = readyAnywhere;
    this.group = group;
    this.clock = clock;
    idle = new IdleWait(strategy, channel, readyAnywhere);
    ring = RingBuffer.createMultiProducer(Slot::new, 2 * capacity, idle);
    ring.addGatingSequences(consumed);
    barrier = ring.newBarrier();
  }

  void start() {
    if (threads != null) {
      threads.newThread(this).start();
    }
  }

  /** Ends the loop. From any thread. */
  void stop() {
    stopped = true;
    idle.stop();
    if (isByHand()) {
      closeChannel();
    }
  }

  private void closeChannel() {
    if (channel != null) {
      idle.endReading();
      try {
        channel.close();
      } catch (final Throwable e) { // mostly an adapter is stuck, and was reported
        LOGGER.error("{}: its channel stays open: {}", name, e.toString(), e);
      }
    }
  }

  // From any thread.

  /** The token of an EVD was made. */
  void ready(final EvdImpl evd) {
    if (!ring.tryPublishEvent(READY, evd)) {
      throw new IllegalStateException(name + ": bug: more tokens than EVDs at " + evd);
    }
  }

  /** The token of an EVD was made; a dispatcher that is free takes it. */
  void readyAnywhere(final EvdImpl evd) {
    if (!readyAnywhere.offer(evd)) {
      throw new IllegalStateException(name + ": bug: more tokens than EVDs at " + evd);
    }
    wakeOne();
  }

  /** The first one reads the channel of most devices: it is woken last. */
  private void wakeOne() {
    for (int i = group.length - 1; i >= 0; i--) {
      if (group[i].idle.wake()) {
        return;
      }
    }
  }

  boolean isByHand() {
    return threads == null;
  }

  /** Whether this thread is inside an upcall of an EVD. */
  static boolean isInUpcallOf(final EvdImpl evd) {
    return CURRENT.get().upcallOf == evd;
  }

  /** Whether this thread is inside an upcall of an EVD and holds its turn. */
  static boolean isInTurnOf(final EvdImpl evd) {
    final Current current = CURRENT.get();
    return current.upcallOf == evd && current.holdsTurn;
  }

  /** Whether this thread runs a dispatcher or an upcall, and so must not wait for one. */
  static boolean isCurrent() {
    final Current current = CURRENT.get();
    return current.dispatcher != null || current.dequeues > 0;
  }

  /** This thread runs the handler of a dequeue. */
  static void enterDequeue() {
    CURRENT.get().dequeues++;
  }

  static void exitDequeue() {
    CURRENT.get().dequeues--;
  }

  /** Where this dispatcher sleeps; null if the provider pushes. */
  EventChannel channel() {
    return channel;
  }

  /** Tells an EVD whose turn has not ended yet how long it has taken. Called by the reaper. */
  void watch() {
    final EvdImpl evd = serves.get();
    if (evd != null) {
      evd.faults().onTurnTakes(this, clock.nanoTime() - turnBegan.get());
    }
  }

  /**
   * Reads its channel while a handler keeps it from doing so. Called by the reaper.
   *
   * @return whether one does.
   */
  boolean readInstead() {
    return idle.lookInstead();
  }

  /** The stack of its thread. */
  Throwable whereItIs() {
    final Throwable where = new Throwable(name + " is here");
    where.setStackTrace(thread.getStackTrace());
    return where;
  }

  DispatcherStatistics statistics() {
    return new DispatcherStatistics(
        name, turnsGiven.get(), idle.sleeps(), mostReady.get(), longestTurn.get());
  }

  // Of the loop.

  /** Whether it would spin if the turn that it gives were over. */
  boolean wouldSpin() {
    return threads != null
        && channel == null
        && token == ring.getCursor()
        && readyAnywhere.isEmpty()
        && !stopped;
  }

  /** How often a turn may look for more, while it {@link #wouldSpin}, before it ends. */
  int spinsInTurn() {
    return idle.spinsInTurn();
  }

  WorkCompletions batch() {
    return batch;
  }

  /** The event of the MANY upcall that runs here. */
  Handout handout() {
    return handout;
  }

  void holdTurn(final boolean holds) {
    current.holdsTurn = holds;
  }

  boolean holdsTurn() {
    return current.holdsTurn;
  }

  void enter(final EvdImpl evd) {
    current.upcallOf = evd;
  }

  void exit() {
    current.upcallOf = null;
  }

  /** The loop. Called by its thread. */
  @Override
  public void run() {
    current = CURRENT.get();
    current.dispatcher = this;
    thread = Thread.currentThread();
    boolean runs = true;
    while (runs) {
      runs = loop();
    }
  }

  /** Returns whether this thread goes on, because an error ended it and there is no other one. */
  private boolean loop() {
    try {
      while (!stopped) {
        barrier.waitFor(consumed.get() + 1);
        work();
      }
      closeChannel();
      return false;
    } catch (final AlertException | InterruptedException | TimeoutException e) {
      throw new IllegalStateException("nobody alerts or interrupts a dispatcher", e);
    } catch (final Throwable e) {
      return !isReplaced(e);
    }
  }

  /**
   * An error ends this thread: starts another one, if there is memory for it and the factory may.
   */
  private boolean isReplaced(final Throwable by) {
    Throwable refusal = null;
    try {
      start();
    } catch (final Exception | VirtualMachineError | LinkageError e) {
      refusal = e;
    }
    try {
      if (refusal == null) {
        LOGGER.error("{}: ended by {}; another thread takes over", name, by.toString(), by);
      } else {
        LOGGER.error("{}: goes on after {}, without another thread", name, by.toString(), refusal);
      }
    } catch (final Throwable noMemory) {
      // It is so all the same.
    }
    return refusal == null;
  }

  /**
   * One round on the caller's thread: looks into the channel, and gives each EVD that is ready now
   * its turn.
   *
   * @return whether there was anything to do.
   */
  boolean round() {
    final Current caller = CURRENT.get();
    if (caller.dispatcher != null) {
      throw new IllegalStateException(
          name + ": an upcall of " + caller.upcallOf + " must not drive a dispatcher");
    }
    current = caller;
    caller.dispatcher = this;
    try {
      return work();
    } finally {
      caller.dispatcher = null;
    }
  }

  private boolean work() {
    boolean worked = idle.look() > 0;
    timeIsKnown = false;
    for (int tokens = readyAnywhere.size(); tokens > 0; tokens--) { // not those they make
      final EvdImpl anywhere = readyAnywhere.poll();
      if (anywhere == null) {
        break;
      }
      worked = true;
      if (!readyAnywhere.isEmpty()) {
        wakeOne(); // two tokens may have woken the same one
      }
      turn(anywhere);
    }
    return turns() || worked;
  }

  private boolean turns() {
    final long first = consumed.get() + 1;
    long next = first;
    final long last = ring.getCursor();
    keepGreatest(mostReady, last + 1 - first);
    try {
      while (next <= last && ring.isAvailable(next)) {
        token = next;
        final Slot slot = ring.get(next);
        final EvdImpl evd = slot.evd;
        slot.evd = null;
        next++;
        turn(evd);
      }
    } finally {
      if (next > first) {
        consumed.set(next - 1);
      }
    }
    return next > first;
  }

  private void turn(final EvdImpl evd) {
    turnsGiven.lazySet(turnsGiven.getPlain() + 1);
    if (evd.faults().isTimed()) {
      final long began = timeIsKnown ? time : clock.nanoTime();
      turnBegan.lazySet(began);
      serves.lazySet(evd);
      try {
        evd.turn(this);
      } finally {
        serves.lazySet(null);
        time = clock.nanoTime(); // when this turn ends, and the next one of this round begins
        timeIsKnown = true;
        keepGreatest(longestTurn, time - began);
        evd.faults().onTurnTook(this, time - began);
      }
    } else {
      evd.turn(this);
      timeIsKnown = false;
    }
  }

  /** Written by this loop only. */
  private static void keepGreatest(final AtomicLong greatest, final long value) {
    if (value > greatest.getPlain()) {
      greatest.lazySet(value);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
