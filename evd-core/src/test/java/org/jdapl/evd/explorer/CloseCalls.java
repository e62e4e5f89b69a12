package org.jdapl.evd.explorer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ReturnSubtype;

/** The calls of a consumer that end something, and what must come of each. */
final class CloseCalls {

  static final Duration BOUND = Duration.ofSeconds(5);

  private static final Duration[] BOUNDS = {
    Duration.ZERO,
    Duration.ofNanos(5_000),
    Duration.ofMillis(1),
    Duration.ofSeconds(1),
    Duration.ofSeconds(5),
  };

  private static final Duration GRACE = Duration.ofMillis(600);

  /** No close needs longer where nothing is wrong. */
  private static final Duration PROMPT = Duration.ofMillis(100);

  private final ScriptRun run;
  private final Inventory all;

  CloseCalls(final ScriptRun run) {
    this.run = run;
    all = run.all;
  }

  void closeEndpoint(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null) {
      return;
    }
    final boolean first = !endpoint.isClosing();
    final boolean waits = c % 2 == 0 && mayWait();
    final Duration bound = waits ? BOUND : BOUNDS[b % BOUNDS.length];
    final long start = run.now();
    endpoint.closes(start + bound.toNanos());
    final CompletionStage<DrainReport> stage = endpoint.endpoint.closeAsync(bound);
    if (first) {
      watch(endpoint.endpoint, endpoint.adapter, stage, start, bound, endpoint::onClosed);
    }
    if (waits) {
      run.attempt("close", () -> waitFor(endpoint.endpoint::close));
    }
    if (waits && !run.isInsideUpcall() && !stage.toCompletableFuture().isDone()) {
      run.fail("T01", endpoint + ": close returned, and it is not closed");
    }
  }

  /** Inside an upcall it returns at once, but on another thread it would drive everything. */
  private boolean mayWait() {
    return !run.isInsideUpcall() || run.isOwnUpcall();
  }

  /** A call that waits: outside of upcalls it drives everything. */
  void waitFor(final Runnable call) {
    if (run.isInsideUpcall()) {
      call.run();
      return;
    }
    run.drive(
        () -> {
          call.run();
          return true;
        });
  }

  void watch(
      final Object what,
      final AdapterBook adapter,
      final CompletionStage<DrainReport> stage,
      final long start,
      final Duration bound,
      final Consumer<DrainReport> book) {
    final var unused =
        stage.whenComplete(
            (report, failure) -> {
              run.note(() -> "  closed: " + what + " " + (failure == null ? report : failure));
              final long took = run.now() - start;
              if (took > bound.plus(GRACE).toNanos()) {
                run.fail("O12", what + ": its close took " + took + " ns, its bound is " + bound);
              }
              if (took > PROMPT.toNanos() && !run.isExcused(adapter) && !mayBeSlow(what)) {
                run.fail("O12", what + ": its close took " + took + " ns, and nothing was wrong");
              }
              if (failure == null) {
                book.accept(report);
              } else {
                run.fail("O12", what + ": its close failed: " + failure);
              }
            });
  }

  /** Whether nobody knows when the last shared receive was taken. */
  private boolean mayBeSlow(final Object what) {
    return what instanceof Endpoint endpoint
        && all.book(endpoint).srq != null
        && run.script().model().toString().contains("last-wqe=unknown");
  }

  void closeEvd(final EvdBook evd, final int b, final int c) {
    if (evd == null || (evd.adapter.closed && !evd.isClosing())) {
      return;
    }
    final boolean first = !evd.isClosing();
    final Duration bound = BOUNDS[1 + b % (BOUNDS.length - 1)];
    final boolean waits = c % 2 == 0 && mayWait();
    final long start = run.now();
    final List<CompletionStage<DrainReport>> stage = new ArrayList<>();
    final DatException refused =
        run.attempt("close", () -> stage.add(evd.evd.closeAsync(waits ? BOUND : bound)));
    final boolean used =
        all.endpoints.stream()
            .anyMatch(e -> e.uses(evd) && !e.isClosed() && !run.isExcused(e.adapter));
    if (refused == null && used && first && !evd.adapter.closed) {
      run.fail("T01", evd + " was closed, and an endpoint uses it");
    }
    if (refused != null) {
      final boolean mayBeUsed =
          used
              || all.points.stream().anyMatch(p -> p.evd() == evd)
              || run.isExcused(evd.adapter)
              || evd.adapter.closed;
      if (refused.subtype() != ReturnSubtype.INVALID_STATE_EVD_IN_USE || !mayBeUsed) {
        run.fail("T01", evd + " cannot be closed: " + refused);
      }
      return;
    }
    evd.closes(start + (waits ? BOUND : bound).toNanos());
    if (first) {
      watch(evd.evd, evd.adapter, stage.get(0), start, waits ? BOUND : bound, evd::onClosed);
    }
    if (waits) {
      run.attempt("close", () -> waitFor(evd.evd::close));
    }
  }

  void closePsp(final int a) {
    if (!all.points.isEmpty()) {
      final Inventory.Point point = all.points.get(a % all.points.size());
      run.attempt("close", point.psp()::close);
    }
  }

  void closeSrq(final SrqBook srq) {
    if (srq == null || srq.isClosed() || srq.adapter.closed) {
      return;
    }
    final boolean used = all.endpoints.stream().anyMatch(e -> e.srq == srq && !e.isClosed());
    final DatException refused = run.attempt("close", srq.srq::close);
    if (refused == null) {
      srq.closes();
      if (used && !run.isExcused(srq.adapter)) {
        run.fail("T01", srq + " was closed, and an endpoint uses it");
      }
    } else if (!run.isExcused(srq.adapter)
        && (refused.subtype() != ReturnSubtype.INVALID_STATE_SRQ_IN_USE || !used)) {
      run.fail("T01", srq + " cannot be closed: " + refused);
    }
  }

  void closeCno(final CnoBook cno) {
    if (cno == null) {
      return;
    }
    final DatException refused = run.attempt("close", cno.cno::close);
    if (refused == null) {
      if (cno.isUsed() && !cno.isClosed() && !cno.adapter.closed) {
        run.fail("W05", cno + " was closed, and EVDs use it");
      }
      cno.closes();
    } else if (!cno.isUsed() && !cno.adapter.closed) {
      run.fail("W05", cno + " cannot be closed: " + refused);
    }
  }

  void closeLmr(final AdapterBook adapter, final int b) {
    if (adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = adapter.lmrs.get(b % adapter.lmrs.size());
    final boolean used =
        all.endpoints.stream().anyMatch(endpoint -> endpoint.uses(lmr))
            || all.srqs.stream().anyMatch(srq -> srq.uses(lmr))
            || all.rmrs.stream().anyMatch(rmr -> rmr.holds(lmr));
    if (run.attempt("close", lmr::close) == null) {
      adapter.lmrs.remove(lmr);
      if (used && !run.isExcused(adapter) && !adapter.closed) {
        run.fail("T11", lmr + " was closed, and an open request or a window uses it");
      }
    }
  }

  void lose(final AdapterBook adapter) {
    if (!adapter.device.isLost() && !adapter.closed) {
      adapter.device.lose();
    }
  }

  void closeAbruptly(final AdapterBook adapter, final int b) {
    if (adapter.closed) {
      return;
    }
    adapter.closed = true;
    final Duration bound = BOUNDS[b % BOUNDS.length];
    final long start = run.now();
    adapter.closesUntil = start + bound.dividedBy(5).toNanos();
    adapter.device.excuseFrom(adapter.closesUntil);
    for (final EndpointBook endpoint : all.endpoints) {
      if (endpoint.adapter == adapter) {
        endpoint.closes(adapter.closesUntil);
      }
    }
    for (final EvdBook evd : all.evds) {
      if (evd.adapter == adapter && evd.isClosing()) {
        evd.closes(adapter.closesUntil);
      }
    }
    waitFor(() -> adapter.adapter.closeAbruptly(bound));
    if (run.now() - start > bound.plus(GRACE).toNanos()) {
      run.fail(
          "T10", adapter.adapter + ": its close took " + (run.now() - start) + ", not " + bound);
    }
  }

  /** What the abrupt close of an adapter did to its objects. */
  void collect(final AdapterBook adapter) {
    for (final EndpointBook endpoint : all.endpoints) {
      if (endpoint.adapter == adapter && !endpoint.isClosed()) {
        endpoint.endpoint.closeAsync(BOUND).thenAccept(endpoint::onClosed);
      }
    }
    for (final EvdBook evd : all.evds) {
      if (evd.adapter == adapter && !evd.isClosing()) {
        evd.closes(adapter.closesUntil);
        evd.evd.closeAsync(BOUND).thenAccept(evd::onClosed);
      }
    }
    all.requests.removeIf(pending -> pending.adapter() == adapter);
  }
}
