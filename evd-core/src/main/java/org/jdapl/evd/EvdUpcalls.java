package org.jdapl.evd;

import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.ReturnSubtype;

/**
 * The upcalls of an EVD: what is called under which policy, and the turn of a dispatcher that makes
 * the calls.
 */
final class EvdUpcalls {

  /** What ON_NEW held back is the CNO's, now or when it gets one: the bits are set. */
  private static final long DISABLED_WITH_WORK = EvdState.DISABLED | EvdState.WORK;

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

  private final EvdImpl evd;
  private final EvdState state;
  private final Lane lane;
  private final Merger merger;
  private final Counters counters;
  private final FaultLog faults;

  /** Teardowns that wait, asked for outside of upcalls. Under the monitor of the state. */
  private int teardowns;

  private volatile Target target = new Target(EvdState.DISABLED, null, null);

  /** Of the turn. */
  private final Handout handout = new Handout();

  EvdUpcalls(final EvdImpl evd, final EvdState state, final Lane lane) {
    this.evd = evd;
    this.state = state;
    this.lane = lane;
    merger = evd.merger();
    counters = evd.counters();
    faults = evd.faults();
  }

  /**
   * Makes the upcalls of a turn, and ends it.
   *
   * @param now the state with which it began.
   */
  void run(final Dispatcher by, final long now) {
    if ((now & EvdState.POLICY) == EvdState.SINGLE) {
      singleInstance(by);
    } else if ((now & EvdState.POLICY) == EvdState.NOTIFY) {
      notifyOnce(by);
    } else {
      many(by);
    }
  }

  private void singleInstance(final Dispatcher by) {
    EventHandler called = null;
    int budget = EvdImpl.BUDGET;
    boolean looked = false;
    while (true) {
      final Target to = target; // before the word
      final long s = state.get();
      final EventHandler handler = to.eventsUnder(s);
      if ((s & EvdState.POLICY) != EvdState.SINGLE
          || handler == null
          || budget == 0
          || merger.isTired()) {
        endOfTurn(by, called);
        evd.leave();
        break;
      }
      if ((s & EvdState.CONTROL) != 0) {
        evd.resume();
      } else if (!evd.isSettled() && merger.next(handout)) {
        if (budget-- == EvdImpl.BUDGET) {
          counters.increment(Counters.UPCALLS);
        }
        upcall(by, handler, handout);
        called = handler;
        looked = false;
      } else if (!merger.isTired()) {
        endOfTurn(by, called);
        called = null;
        if (!looked && (s & EvdState.CQ) == 0 && comesSoon(by, s)) {
          looked = true; // once for an event: what is in the lane may be held back
        } else if (evd.end()) {
          break;
        }
      }
    }
    if (budget == EvdImpl.BUDGET) {
      counters.incrementShared(Counters.EMPTY_TURNS);
    }
  }

  /**
   * Whether an event comes into the lane while the dispatcher has nothing else to do. That saves
   * its poster a token, and the next ones a write: the bit that one of them set stays. It begins
   * where the word tells of no completion, and ends with the first change of the word: so it delays
   * nobody.
   */
  private boolean comesSoon(final Dispatcher by, final long s) {
    for (int spins = by.spinsInTurn();
        spins > 0 && !lane.hasNext() && by.wouldSpin() && state.get() == s;
        spins--) {
      Thread.onSpinWait();
    }
    return lane.hasNext();
  }

  private void notifyOnce(final Dispatcher by) {
    while (true) {
      final long s = state.get();
      if ((s & EvdState.POLICY) != EvdState.NOTIFY) {
        evd.leave();
        break;
      }
      if ((s & EvdState.CONTROL) != 0) {
        evd.resume();
      } else if (!evd.isSettled() && merger.hasAny()) {
        final NotifyHandler handler = takeNotify();
        if (handler != null) {
          counters.increment(Counters.UPCALLS);
          notifyConsumer(by, handler);
          evd.leave();
          return;
        }
      } else if (evd.end()) {
        break;
      }
    }
    counters.incrementShared(Counters.EMPTY_TURNS);
  }

  /** Uses up NOTIFY, and returns whom to tell; null if the policy is another by now. */
  private NotifyHandler takeNotify() {
    synchronized (state) {
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
        evd.leave();
        break;
      }
      if ((s & EvdState.CONTROL) != 0) {
        evd.resume();
      } else if (!evd.isSettled() && merger.next(own)) {
        counters.increment(Counters.UPCALLS);
        passAndUpcall(by, handler, own);
        return;
      } else if (!merger.isTired() && evd.end()) {
        break;
      }
    }
    counters.incrementShared(Counters.EMPTY_TURNS);
  }

  private void passAndUpcall(final Dispatcher by, final EventHandler handler, final Handout own) {
    final EndpointDrain drain = own.beginUpcall();
    evd.passTurn();
    by.holdTurn(false);
    try {
      upcall(by, handler, own);
      endOfTurn(by, handler);
    } finally {
      if (drain != null) {
        drain.upcallReturns();
      }
      evd.apply(EvdState.DONE, 0);
    }
  }

  private void upcall(final Dispatcher by, final EventHandler handler, final Handout event) {
    by.enter(evd);
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
    by.enter(evd);
    try {
      handler.onReady(evd);
    } catch (final Throwable e) {
      faults.onThrown(by, null, "onReady", e);
    } finally {
      by.exit();
    }
  }

  private void endOfTurn(final Dispatcher by, final EventHandler called) {
    if (called != null) {
      by.enter(evd);
      try {
        called.onTurnEnd(evd);
      } catch (final Throwable e) {
        faults.onThrown(by, null, "onTurnEnd", e);
      } finally {
        by.exit();
      }
    }
  }

  /** Enables upcalls for each event. */
  void enable(final EventHandler handler, final Concurrency concurrency, final Invoke when) {
    if (handler == null || concurrency == null || when == null) {
      throw Misuse.argument(
          handler == null ? 1 : concurrency == null ? 2 : 3,
          evd.name() + ".upcall: the argument is null");
    }
    final long policy =
        concurrency.isMany()
            ? EvdState.MANY | EvdState.limit(concurrency.limit())
            : EvdState.SINGLE;
    enable(new Target(policy, handler, null), when, "upcall");
  }

  /** Enables one upcall that tells of events. */
  void enableOnce(final NotifyHandler handler, final Invoke when) {
    if (handler == null || when == null) {
      throw Misuse.argument(
          handler == null ? 1 : 2, evd.name() + ".notifyOnce: the argument is null");
    }
    enable(new Target(EvdState.NOTIFY, null, handler), when, "notifyOnce");
  }

  private void enable(final Target to, final Invoke when, final String call) {
    evd.checkOpen(call);
    final long policy = to.policy;
    if (when == Invoke.ON_ANY) {
      setPolicy(to, policy | EvdState.WORK, call);
    } else if (Dispatcher.isInTurnOf(evd)) {
      settleFor(to, call);
    } else {
      enableOnNew(to, call);
    }
  }

  private void enableOnNew(final Target to, final String call) {
    final long before =
        evd.takeTurn(Dispatcher.isInUpcallOf(evd) ? EvdState.TAKE_INSIDE : EvdState.TAKE);
    if (before == EvdState.WAITED) {
      throw evd.waited(call);
    }
    if (before < 0) {
      // Upcalls are enabled or one is running: what is there was signalled to them.
      setPolicy(to, to.policy, call);
      return;
    }
    try {
      settleFor(to, call);
    } finally {
      evd.leave();
    }
  }

  /** Old events are held back, unless a teardown is first: then they stay the CNO's. */
  private void settleFor(final Target to, final String call) {
    evd.settle();
    boolean isSet = false;
    try {
      isSet = setPolicy(to, to.policy, call);
    } finally {
      if (!isSet) {
        evd.letGo();
      }
    }
  }

  /** Returns whether it is set; a teardown that waits keeps an upcall from it. */
  private boolean setPolicy(final Target to, final long policy, final String call) {
    final long before;
    synchronized (state) {
      if (to != null && teardowns > 0) {
        checkTeardownAllows();
        return false;
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
      throw evd.waited(call);
    }
    evd.countDropped(before, EvdState.SET_POLICY, policy);
    evd.publish(before, EvdState.SET_POLICY, policy);
    return true;
  }

  /** An upcall that is torn down cannot know it, and its wish to go on has no effect. */
  private void checkTeardownAllows() {
    if (!Dispatcher.isInUpcallOf(evd)) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          evd.name()
              + ": a teardown waits for its upcall to return; enable upcalls when that is done");
    }
  }

  void disable() {
    setPolicy(null, DISABLED_WITH_WORK, "disable");
    evd.afterDisable();
  }

  /** Disables upcalls, and is done when the last one returned. */
  CompletableFuture<Void> teardown() {
    evd.checkOpen("teardown");
    // From here on nobody enables, so that it ends; an upcall may take back what itself asked for.
    final int counted = Dispatcher.isInUpcallOf(evd) ? 0 : 1;
    synchronized (state) {
      setPolicy(null, DISABLED_WITH_WORK, "disable");
      teardowns += counted;
    }
    evd.afterDisable();
    final CompletableFuture<Void> done = new CompletableFuture<>();
    evd.whenQuiet(
        () -> {
          synchronized (state) {
            teardowns -= counted;
          }
          done.complete(null);
        });
    return done;
  }
}
