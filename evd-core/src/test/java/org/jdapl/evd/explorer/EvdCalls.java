package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.UpcallPolicy;

/** The calls of a consumer that are about one EVD, and what must come of each. */
final class EvdCalls {

  private static final EventStream[][] STREAMS = {
    EventStream.values(),
    EventStream.values(),
    {EventStream.DTO},
    {EventStream.CONNECTION, EventStream.CONNECTION_REQUEST},
    {EventStream.SOFTWARE},
    {EventStream.DTO, EventStream.CONNECTION, EventStream.SOFTWARE},
  };

  private final ScriptRun run;
  private long payloads;

  EvdCalls(final ScriptRun run) {
    this.run = run;
  }

  void create(final AdapterBook adapter, final int length, final int kind) {
    final EventStream[] streams = STREAMS[kind % STREAMS.length];
    run.attempt(
        "createEvd",
        () ->
            run.all.evds.add(
                new EvdBook(
                    run, adapter, adapter.adapter.createEvd(length + 1, streams), streams)));
  }

  void postSoftware(final EvdBook evd, final int b) {
    if (evd == null || !evd.takes(EventStream.SOFTWARE)) {
      return;
    }
    for (int left = b % 16 == 0 ? 80 : 1 + b % 3; left > 0; left--) {
      final Object payload = ++payloads;
      final Outcome[] outcome = new Outcome[1];
      run.attempt("postSoftwareEvent", () -> outcome[0] = evd.evd.postSoftwareEvent(payload));
      if (outcome[0] == Outcome.SUCCESS) {
        evd.posted(payload);
      } else if (outcome[0] == Outcome.QUEUE_FULL) {
        evd.refused();
        return;
      }
    }
  }

  void dequeue(final EvdBook evd, final int b) {
    if (evd == null || evd.isLeft()) {
      return;
    }
    final int limit = 1 + b % 4;
    final int before = evd.waiting();
    final int[] taken = new int[1];
    final DatException refused =
        run.attempt("dequeue", () -> taken[0] = evd.evd.drain(evd.taker(), limit));
    if (refused == null && taken[0] == 0 && before > 0) {
      run.fail("E01", evd + ": a dequeue found nothing where " + before + " software events are");
    }
    if (evd.isClosing() || evd.adapter.closed) {
      return;
    }
    if (refused == null && taken[0] < limit) {
      evd.foundEmpty();
    }
    final boolean mine =
        run.isUpcallOf(evd)
            ? run.isInUpcallOf(evd)
            : evd.policy() == UpcallPolicy.DISABLED && !evd.isWaited();
    if (mine && refused != null) {
      run.fail("U07", evd + ": a dequeue was refused: " + refused);
    } else if (!mine && refused == null) {
      run.fail(
          evd.isWaited() ? "W03" : "U07",
          evd + ": a dequeue was not refused, its policy is " + evd.policy());
    }
  }

  void upcall(final EvdBook evd, final int b, final int c) {
    if (evd == null) {
      return;
    }
    final boolean forNew = c % 4 == 3;
    if (forNew && evd.isLeft()) {
      return;
    }
    final Runnable undo = evd.undo();
    final Invoke when = forNew ? Invoke.ON_NEW : Invoke.ON_ANY;
    final DatException refused =
        run.attempt(
            "upcall",
            () -> {
              switch (b % 4) {
                case 0, 1 ->
                    evd.evd.upcall(
                        evd.enable(UpcallPolicy.SINGLE_INSTANCE, forNew),
                        Concurrency.SINGLE_INSTANCE,
                        when);
                case 2 ->
                    evd.evd.upcall(
                        evd.enable(UpcallPolicy.MANY, forNew), Concurrency.many(1 + c % 3), when);
                default -> evd.evd.notifyOnce(evd.enableNotify(forNew), when);
              }
            });
    if (refused != null || evd.isTornDown()) { // inside the upcall it has no effect then
      undo.run();
    }
    if (evd.isClosing() || evd.adapter.closed) {
      return;
    }
    final boolean mayEnable = !evd.isWaited() && (!evd.isTornDown() || run.isInUpcallOf(evd));
    if (mayEnable && refused != null) {
      run.fail("U05", evd + ": upcalls could not be enabled: " + refused);
    } else if (!mayEnable && refused == null) {
      run.fail(
          evd.isWaited() ? "W06" : "U05",
          evd
              + ": upcalls were enabled while "
              + (evd.isWaited() ? "a thread" : "a teardown")
              + " waits");
    } else if (refused != null
        && (refused.subtype() == ReturnSubtype.INVALID_STATE_EVD_WAITER) != evd.isWaited()) {
      run.fail("W06", evd + ": upcalls could not be enabled: " + refused);
    }
  }

  void disable(final EvdBook evd) {
    if (evd != null && run.attempt("disable", evd.evd::disable) == null) {
      evd.disables();
    }
  }

  void teardown(final EvdBook evd) {
    if (evd == null) {
      return;
    }
    final List<CompletionStage<Void>> stage = new ArrayList<>();
    if (run.attempt("teardown", () -> stage.add(evd.evd.teardownAsync())) == null) {
      evd.disables();
      evd.tearsDown(stage.get(0).toCompletableFuture());
    }
  }

  void resize(final EvdBook evd, final int length) {
    if (evd == null) {
      return;
    }
    final int before = evd.evd.length();
    final DatException refused = run.attempt("resize", () -> evd.evd.resize(1 + length));
    if (evd.isClosing() || evd.adapter.closed) {
      return;
    }
    if (refused == null && evd.isWaited() && before != 1 + length) {
      run.fail("W03", evd + ": it was resized while a thread waits");
    } else if (refused != null
        && refused.subtype() == ReturnSubtype.INVALID_STATE_EVD_WAITER
        && !evd.isWaited()) {
      run.fail("W03", evd + ": nobody waits: " + refused);
    }
  }

  void move(final EvdBook evd, final int dispatcher) {
    if (evd != null) {
      run.attempt(
          "place", () -> run.jdapl().place(evd.evd, dispatcher % run.script().dispatchers()));
    }
  }

  void asyncEvd(final EvdBook evd) {
    if (evd != null && evd.takes(EventStream.ASYNC)) {
      run.attempt("asyncEvd", () -> evd.adapter.adapter.asyncEvd(evd.evd));
    }
  }
}
