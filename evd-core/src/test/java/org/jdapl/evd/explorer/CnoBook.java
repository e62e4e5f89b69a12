package org.jdapl.evd.explorer;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jdapl.dat.Cno;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Outcome;

/** What is known of a CNO, and must be so: a trigger releases one thread, now or later. */
final class CnoBook {

  final Cno cno;
  final AdapterBook adapter;
  private final ScriptRun run;
  private final Set<EvdBook> evds = new LinkedHashSet<>();

  /** All that ever used it. */
  private final Set<Evd> known = new LinkedHashSet<>();

  private int waiting;

  /** How many of those that wait were released for sure; more may be. */
  private int released;

  /** Whether it was triggered for sure when nobody waited, and nobody was told. */
  private boolean triggered;

  private boolean closed;

  CnoBook(final ScriptRun run, final AdapterBook adapter, final Cno cno) {
    this.run = run;
    this.adapter = adapter;
    this.cno = cno;
  }

  boolean isClosed() {
    return closed;
  }

  boolean isUsed() {
    return !evds.isEmpty();
  }

  private boolean isExcused() {
    return adapter.closed || adapter.device.isLost();
  }

  // What the consumer did.

  void add(final EvdBook evd) {
    evds.add(evd);
    known.add(evd.evd);
  }

  void remove(final EvdBook evd) {
    evds.remove(evd);
    triggered &= !evds.isEmpty(); // else it stands for the others as well
  }

  void closes() {
    closed = true;
  }

  /** Something happened of which it tells. */
  void trigger() {
    if (released < waiting) {
      released++;
    } else {
      triggered = true;
    }
  }

  void beginWait() {
    waiting++;
    released += triggered ? 1 : 0;
    triggered = false;
  }

  /** A thread waits, and has looked just now. */
  void checkWaits(final long deadline) {
    if (closed) {
      run.fail("W05", cno + ": it is closed, and a thread waits");
    }
    if (run.now() >= deadline) {
      run.fail("W02", cno + ": a wait does not end in time");
    }
    if (run.isInterrupted()) {
      run.fail("W04", cno + ": a thread was interrupted, and waits");
    }
    if (released >= waiting && !isExcused()) {
      run.fail("W05", cno + ": it was triggered, and a thread waits");
    }
  }

  void endWait(
      final Outcome outcome, final DatException refused, final Evd told, final long deadline) {
    waiting--;
    if (outcome == null) {
      if (refused != null && !closed && !isExcused()) {
        run.fail("W05", cno + ": a wait was refused: " + refused);
      }
      released = Math.min(released, waiting);
      return;
    }
    switch (outcome) {
      case SUCCESS -> {
        released = Math.max(0, released - 1);
        evds.forEach(EvdBook::told);
        if (!known.contains(told)) {
          run.fail("W05", cno + ": triggered by " + told + ", which never used it");
        }
      }
      case TIMEOUT_EXPIRED -> {
        if (run.now() < deadline) {
          run.fail("W02", cno + ": a wait ended " + (deadline - run.now()) + " ns too early");
        }
      }
      case INTERRUPTED_CALL -> {
        if (!run.isInterrupted()) {
          run.fail("W04", cno + ": a wait says that it was interrupted");
        }
      }
      case ABORT -> {
        if (!closed && !isExcused()) {
          run.fail("W05", cno + ": a wait was aborted");
        }
      }
      default -> run.fail("W05", cno + ": a wait ended with " + outcome);
    }
    if (released > waiting) {
      if (!isExcused()) {
        run.fail("W05", cno + ": a wait ended with " + outcome + ", though it was triggered");
      }
      released = waiting;
    }
  }

  /** Nothing more happens: an EVD that was seen empty and holds something has told. */
  void onRest() {
    if (closed || isExcused() || evds.stream().noneMatch(EvdBook::isToTell)) {
      return;
    }
    final boolean[] told = new boolean[1];
    run.consumers.beginDriving();
    cno.await(evd -> told[0] = true, Duration.ZERO);
    run.consumers.endDriving();
    if (!told[0]) {
      evds.stream().filter(EvdBook::isToTell).forEach(EvdBook::mustBeEmpty);
    }
  }

  @Override
  public String toString() {
    return cno.toString();
  }
}
