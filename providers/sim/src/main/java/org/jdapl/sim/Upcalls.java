package org.jdapl.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.verbs.VerbsException;

/**
 * The calls of one object's handler: made in order, with no lock held, one at a time unless the
 * model says otherwise, and none after {@link #close}.
 */
final class Upcalls {

  private final SimFabric fabric;
  private final String owner;
  private final boolean serial;
  private final Latency delay;
  private final Lane[] lanes;
  private final Task[] tasks;
  private final ArrayDeque<Runnable> pending = new ArrayDeque<>();
  private final List<Thread> running = new ArrayList<>();
  private boolean closed;
  private int turn;

  /** Calls made one at a time, in one lane. */
  Upcalls(final SimFabric fabric, final String owner, final Latency delay, final Lane lane) {
    this(fabric, owner, true, delay, lane);
  }

  /** Calls made in lanes by turns; at the same time unless serial. */
  Upcalls(
      final SimFabric fabric,
      final String owner,
      final boolean serial,
      final Latency delay,
      final Lane... lanes) {
    this.fabric = fabric;
    this.owner = owner;
    this.serial = serial;
    this.delay = delay;
    this.lanes = lanes.clone();
    tasks = new Task[lanes.length];
    for (int i = 0; i < tasks.length; i++) {
      tasks[i] = new Delivery();
    }
  }

  private final class Delivery extends Task {
    @Override
    int run() {
      return deliver();
    }
  }

  /** Has the handler called later. Never calls it, so any lock may be held. */
  synchronized void post(final Runnable call) {
    if (!closed) {
      pending.add(call);
      schedule();
    }
  }

  private void schedule() {
    turn = (turn + 1) % tasks.length;
    lanes[turn].submit(tasks[turn], delay.draw());
  }

  /** How many calls were posted and have not begun. */
  synchronized int pending() {
    return pending.size();
  }

  /** Calls the handler for what is pending now, on the caller's thread. */
  int deliver() {
    final int limit = pending(); // a handler may cause the next call: no endless loop here
    int made = 0;
    while (made < limit && deliverOne()) {
      made++;
    }
    scheduleRest();
    return made;
  }

  private boolean deliverOne() {
    final Runnable call;
    synchronized (this) {
      if (pending.isEmpty() || (serial && !running.isEmpty())) {
        return false;
      }
      call = pending.remove();
      running.add(Thread.currentThread());
    }
    try {
      call.run();
    } catch (final Throwable e) {
      fabric.handlerFailed(e);
    } finally {
      synchronized (this) {
        running.remove(running.lastIndexOf(Thread.currentThread()));
        notifyAll();
      }
    }
    return true;
  }

  private synchronized void scheduleRest() {
    if (!pending.isEmpty() && !(serial && !running.isEmpty())) { // who is running will come here
      schedule();
    }
  }

  /** Refuses what would have to wait for itself. */
  synchronized void refuseInside(final String verb) {
    if (running.contains(Thread.currentThread())) {
      throw VerbsException.insideHandler(verb, owner);
    }
  }

  /** A barrier: drops what is pending, waits for what is running on other threads. */
  synchronized void close() {
    closed = true;
    pending.clear();
    boolean interrupted = false;
    while (!running.isEmpty()) {
      try {
        wait();
      } catch (final InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
