package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.dat.Cno;
import org.jdapl.dat.Evd;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;

/** A trigger that sticks, and the threads that wait for it. */
final class CnoImpl extends ObjectBase implements Cno {

  /** A thread that waits. */
  private static final class Waiter {
    private final Thread thread = Thread.currentThread();

    /** Set by who takes it out of the queue. */
    private volatile EvdImpl evd;
  }

  private final IaImpl ia;

  // Under the monitor of this object: a leaf, nothing is called under it.
  private final Queue<Waiter> waiters = new ArrayDeque<>();
  private final Set<EvdImpl> evds = new LinkedHashSet<>();
  private EvdImpl triggeredBy;
  private volatile boolean closed;

  /** Its adapter's device is gone: nobody waits for what will not come. */
  private volatile boolean lost;

  CnoImpl(final String name, final IaImpl ia) {
    super(HandleType.CNO, name);
    this.ia = ia;
  }

  /** An event came to an EVD: releases one thread, now or when it comes. From any thread. */
  void trigger(final EvdImpl by) {
    final Waiter released;
    synchronized (this) {
      if (!evds.contains(by)) {
        return; // it left while it was about to tell
      }
      released = waiters.poll();
      if (released == null) {
        triggeredBy = by;
        return;
      }
      released.evd = by;
    }
    LockSupport.unpark(released.thread);
  }

  @Override
  public Outcome await(final NotifyHandler to, final Duration timeout) {
    if (to == null) {
      throw Misuse.argument(1, name + ".await: the handler is null");
    }
    if (timeout == null || timeout.isNegative()) {
      throw Misuse.argument(2, name + ".await: timeout " + timeout + " is not a time");
    }
    Misuse.checkMayWait(name);
    final long deadline = ia.runtime().deadline(timeout);
    final Waiter own = new Waiter();
    begin(own);
    try {
      ia.runtime().block(() -> own.evd != null || closed || lost, deadline);
    } catch (final Throwable e) { // by hand a handler's, which this thread drove
      end(own);
      if (own.evd != null) {
        trigger(own.evd);
      }
      throw e;
    }
    end(own);
    if (own.evd != null) {
      to.onReady(own.evd);
      return Outcome.SUCCESS;
    }
    if (closed || lost) {
      return Outcome.ABORT;
    }
    return Thread.currentThread().isInterrupted()
        ? Outcome.INTERRUPTED_CALL
        : Outcome.TIMEOUT_EXPIRED;
  }

  private synchronized void begin(final Waiter own) {
    checkOpen("await");
    own.evd = triggeredBy;
    triggeredBy = null;
    if (own.evd == null) {
      waiters.add(own);
    }
  }

  /** After this nobody tells it anything: what it was told by now is not lost. */
  private synchronized void end(final Waiter own) {
    waiters.remove(own);
  }

  synchronized void add(final EvdImpl evd) {
    checkOpen("use by " + evd.name());
    evds.add(evd);
  }

  synchronized void remove(final EvdImpl evd) {
    evds.remove(evd);
    if (triggeredBy == evd) { // it stood for the others as well
      triggeredBy = evds.isEmpty() ? null : evds.iterator().next();
    }
  }

  @Override
  public synchronized List<Evd> evds() {
    return List.copyOf(evds);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (!evds.isEmpty()) {
        throw Misuse.state(
            ReturnSubtype.INVALID_STATE_CNO_IN_USE,
            name + ".close: in use by " + evds + "; close them, or give them another CNO or null");
      }
      closed = true;
    }
    closeAbruptly();
  }

  void closeAbruptly() {
    closed = true;
    wakeAll();
    ia.remove(this);
  }

  /** The device is gone: a wait ends, unless an event came before. */
  void onDeviceLost() {
    lost = true;
    wakeAll();
  }

  /** Who waits sees what was written before; who comes later does without. */
  private void wakeAll() {
    final Waiter[] all;
    synchronized (this) {
      all = waiters.toArray(Waiter[]::new);
    }
    for (final Waiter waiter : all) {
      LockSupport.unpark(waiter.thread);
    }
  }

  @Override
  IaImpl ia() {
    return ia;
  }

  private void checkOpen(final String call) {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_CNO, this, call);
    }
  }
}
