package org.jdapl.rdmacore;

import org.jdapl.verbs.VerbsException;

/**
 * The calls of one object's handler: none after {@link #close}, which waits for the one that runs.
 */
final class Upcalls {

  private Thread running;
  private boolean closed;

  /**
   * A call begins, on the thread that awaits events.
   *
   * @return whether it may; if so, {@link #exit} must follow.
   */
  synchronized boolean enter() {
    if (closed) {
      return false;
    }
    running = Thread.currentThread();
    return true;
  }

  synchronized void exit() {
    running = null;
    notifyAll();
  }

  /** Refuses what would have to wait for itself. */
  synchronized void refuseInside(final String verb, final Object owner) {
    if (running == Thread.currentThread()) {
      throw VerbsException.insideHandler(verb, owner.toString());
    }
  }

  /** A barrier: no call begins any more, and none runs when this returned. */
  synchronized void close() {
    closed = true;
    boolean interrupted = false;
    while (running != null) {
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

  /** The close did not come about. */
  synchronized void reopen() {
    closed = false;
  }
}
