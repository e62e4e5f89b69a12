package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.verbs.CompletionQueue;
import org.slf4j.Logger;

/**
 * The close of an EVD: when no upcall runs, what is left in its lane goes into the report, in a
 * turn, and the reaper destroys its completion queues. They go as well if the device is lost.
 */
final class EvdClose {

  private static final Logger LOGGER = Log.of(Evd.class);
  private static final Duration POSTER_DELAY = Duration.ofNanos(100_000);

  private final EvdImpl evd;
  private final IaImpl ia;
  private final EvdState state;
  private final Lane lane;
  private final EvdRoom room;
  private final CompletableFuture<DrainReport> closed = new CompletableFuture<>();

  /** Of the turn, until all is accounted for. */
  private List<Event> dropped = List.of();

  private boolean deviceLost;

  /** All is accounted for: what is left to do is to destroy. */
  private volatile boolean accounted;

  EvdClose(final EvdImpl evd, final EvdState state, final Lane lane) {
    this.evd = evd;
    ia = evd.ia();
    this.state = state;
    this.lane = lane;
    room = evd.room();
  }

  /**
   * Begins, unless it began already; the shortest bound it was given counts.
   *
   * @param abrupt with its adapter, also if it is the async EVD, or an endpoint that is stuck uses
   *     it.
   */
  CompletableFuture<DrainReport> start(final Duration bound, final boolean abrupt) {
    final boolean first = room.close(abrupt);
    evd.endUse(); // each call: the first may not have come to it when this one's bound is over
    lane.close();
    ia.asyncErrors().leave(evd);
    ia.reaper().schedule(bound, closed, this::onBound);
    if (first) {
      evd.whenQuiet(() -> evd.control(this::finish));
    }
    return closed;
  }

  /** Completes when it is closed, or its bound is over. */
  CompletableFuture<DrainReport> closed() {
    return closed;
  }

  /** An upcall that runs ends the close as it is; where none does its turn comes, however short. */
  private void onBound() {
    if (accounted || !EvdState.isQuiet(state.get())) {
      giveUp();
    } else {
      ia.reaper().schedule(EndpointDrain.GRACE, closed, this::giveUp);
    }
  }

  /** It is not to be waited for any more. */
  void giveUp() {
    final boolean complete = accounted;
    if (closed.complete(new DrainReport(List.of(), 0, complete ? dropped : List.of(), complete))) {
      LOGGER.error(
          "{}: its close is over its bound: {} ({})",
          evd.name(),
          complete
              ? "a call of the provider does not return"
              : "an upcall is stuck, or its dispatcher is",
          state);
      ia.remove(evd);
    }
  }

  /** Whether its report is written: what happens now is not in it. */
  boolean isAccounted() {
    return accounted;
  }

  private void finish() {
    if (dropped.isEmpty()) {
      dropped = new ArrayList<>();
    }
    final boolean allPosted = lane.close();
    Object polled;
    while ((polled = lane.poll()) != null) {
      final EventBase event = polled instanceof LaneEvent e ? e.drop() : softwareEvent(polled);
      if (event != null) {
        event.report(evd, event.from());
        dropped.add(event);
      }
    }
    if (!allPosted && !lane.close()) {
      // A poster has not finished. Not in this turn again: it would take the core it needs.
      evd.controlAfter(POSTER_DELAY, this::finish);
      return;
    }
    evd.asyncSlot().withdraw(dropped);
    accounted = true;
    destroyQueues(
        () -> {
          ia.remove(evd);
          if (!closed.complete(new DrainReport(List.of(), 0, dropped, true))
              && !closed.join().complete()) {
            refuseDropped();
          }
        });
  }

  private SoftwareView softwareEvent(final Object polled) {
    final SoftwareView view = new SoftwareView(evd);
    view.set(Lane.payload(polled));
    return view;
  }

  /** The report was given without them: nobody else can answer the requests that were dropped. */
  private void refuseDropped() {
    for (final Event event : dropped) {
      if (event instanceof ConnectionRequestEventImpl request) {
        ia.reaper().execute(request.impl()::close);
      }
    }
  }

  /** In a turn: after it no completion comes. The reaper destroys them, which may block. */
  private void destroyQueues(final Runnable andThen) {
    final CqFeed[] feeds = room.takeFeeds();
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
    if (room.isUsed()) {
      ia.destroyLater(() -> destroyUnused(cq));
    } else {
      destroy(cq);
    }
  }

  /** Destroys a queue, which nothing uses. */
  void destroy(final CompletionQueue cq) {
    final Throwable failure = ia.destroy(cq::close);
    if (failure != null) {
      evd.onProviderFault(FaultLog.Call.CLOSE, evd, "failed: " + failure, failure);
    }
  }

  private void destroyUnused(final CompletionQueue cq) {
    if (room.isUsed()) {
      throw new IllegalStateException(evd.name() + " is still in use");
    }
    cq.close();
  }

  /**
   * The device is gone, and its endpoints are closed: the completion queues are destroyed, and
   * nobody waits for more than what is there. It goes on as an EVD of software events.
   *
   * @return completes when that is done.
   */
  CompletableFuture<Void> onDeviceLost() {
    final CompletableFuture<Void> done = new CompletableFuture<>();
    evd.control(
        () -> {
          destroyQueues(() -> done.complete(null));
          deviceLost = true;
        });
    return done;
  }

  /** Whether its device is lost. Of the turn. */
  boolean isDeviceLost() {
    return deviceLost;
  }
}
