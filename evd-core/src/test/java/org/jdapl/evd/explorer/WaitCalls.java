package org.jdapl.evd.explorer;

import java.time.Duration;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.UpcallPolicy;

/** The calls of a consumer that wait for events, and what must come of each. */
final class WaitCalls {

  private static final Duration[] TIMES = {
    Duration.ZERO, Duration.ofNanos(5_000), Duration.ofMillis(1), Duration.ofSeconds(1),
  };

  private final ScriptRun run;

  WaitCalls(final ScriptRun run) {
    this.run = run;
  }

  void await(final EvdBook evd, final int b, final int c) {
    if (evd == null || evd.isLeft()) {
      return;
    }
    final int threshold = 1 + b % Math.min(4, evd.evd.length());
    final Duration time = TIMES[c % TIMES.length];
    final long deadline = run.now() + time.toNanos();
    final EventHandler taker = evd.taker();
    final Outcome[] outcome = new Outcome[1];
    final DatException[] refused = new DatException[1];
    final boolean second = evd.isWaited();
    if (second) {
      run.consumers.whileItWaits(() -> run.fail("W03", evd + ": a second thread waits"));
    } else {
      evd.beginWait(threshold, deadline);
      run.consumers.whileItWaits(evd::checkWaits);
    }
    final boolean ended =
        run.driveOnce(
            () ->
                refused[0] =
                    run.attempt("await", () -> outcome[0] = evd.evd.await(taker, threshold, time)));
    run.note(() -> "    " + outcome[0] + ", " + evd.evd.remaining() + " remain");
    if (second) {
      if (ended && refused[0] == null) {
        run.fail("W03", evd + ": a second thread was let in: " + outcome[0]);
      } else if (ended) {
        checkRefused(evd, refused[0], ReturnSubtype.INVALID_STATE_EVD_WAITER);
      }
      return;
    }
    if (refused[0] != null) {
      checkRefused(evd, refused[0], null);
    } else if (ended) {
      checkOutcome(evd, threshold, deadline, outcome[0]);
    }
    evd.endWait(refused[0] == null || wasUnwaitable(refused[0]));
  }

  private static boolean wasUnwaitable(final DatException refused) {
    return refused.subtype() == ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE;
  }

  /** A wait may be refused for what is so only. */
  private void checkRefused(
      final EvdBook evd, final DatException refused, final ReturnSubtype expected) {
    if (evd.isClosing() || evd.adapter.closed) {
      return;
    }
    final ReturnSubtype subtype = refused.subtype();
    final boolean isSo =
        switch (subtype) {
          case INVALID_STATE_EVD_WAITER -> expected == subtype;
          case INVALID_STATE_EVD_UNWAITABLE -> evd.isUnwaitable();
          case INVALID_STATE_EVD_ENABLED -> evd.policy() != UpcallPolicy.DISABLED;
          default -> expected == null; // only solicited receives may come there
        };
    if (!isSo || (expected != null && expected != subtype)) {
      run.fail("W03", evd + ": a wait was refused, and it is not so: " + refused);
    }
  }

  private void checkOutcome(
      final EvdBook evd, final int threshold, final long deadline, final Outcome outcome) {
    switch (outcome) {
      case SUCCESS -> {
        if (evd.evd.remaining() < threshold - 1 && !run.isFaulty()) { // one may come twice
          run.fail(
              "W01", evd + ": " + evd.evd.remaining() + " remain after a wait for " + threshold);
        }
      }
      case TIMEOUT_EXPIRED -> {
        if (run.now() < deadline) {
          run.fail("W02", evd + ": a wait ended " + (deadline - run.now()) + " ns too early");
        }
        if (evd.waiting() >= threshold) {
          run.fail("W01", evd + ": a wait ended with enough events");
        }
      }
      case INTERRUPTED_CALL -> {
        if (!run.isInterrupted()) {
          run.fail("W04", evd + ": a wait says that it was interrupted");
        }
      }
      case ABORT -> {
        if (!evd.isClosing() && !evd.adapter.closed && !run.isExcused(evd.adapter)) {
          run.fail("W04", evd + ": a wait was aborted");
        }
      }
      default -> run.fail("W01", evd + ": a wait ended with " + outcome);
    }
    if (evd.isClosing() && outcome != Outcome.ABORT) {
      run.fail("W04", evd + ": it was closed, and a wait ended with " + outcome);
    }
  }

  void unwaitable(final EvdBook evd, final int b) {
    if (evd == null) {
      return;
    }
    final boolean allowed = b % 4 != 0;
    if (run.attempt("unwaitable", allowed ? evd.evd::clearUnwaitable : evd.evd::setUnwaitable)
        == null) {
      evd.waitable(allowed);
    }
  }

  // CNOs.

  void createCno(final AdapterBook adapter) {
    run.attempt(
        "createCno",
        () -> run.all.cnos.add(new CnoBook(run, adapter, adapter.adapter.createCno())));
  }

  void useCno(final EvdBook evd, final int b) {
    if (evd == null) {
      return;
    }
    final CnoBook cno = b % 4 == 0 ? null : run.all.cno(b);
    if (cno == null || cno.adapter == evd.adapter) {
      if (run.attempt("cno", () -> evd.evd.cno(cno == null ? null : cno.cno)) == null) {
        evd.uses(cno);
      }
    }
  }

  void awaitCno(final CnoBook cno, final int c) {
    if (cno == null) {
      return;
    }
    final Duration time = TIMES[c % TIMES.length];
    final long deadline = run.now() + time.toNanos();
    final Outcome[] outcome = new Outcome[1];
    final DatException[] refused = new DatException[1];
    final Evd[] told = new Evd[1];
    cno.beginWait();
    run.consumers.whileItWaits(() -> cno.checkWaits(deadline));
    run.driveOnce(
        () ->
            refused[0] =
                run.attempt(
                    "await of a CNO", () -> outcome[0] = cno.cno.await(by -> told[0] = by, time)));
    run.note(() -> "    " + outcome[0] + (told[0] == null ? "" : " by " + told[0].name()));
    cno.endWait(outcome[0], refused[0], told[0], deadline);
  }
}
