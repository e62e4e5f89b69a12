package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Event;
import org.slf4j.Logger;

/**
 * The close of an endpoint: its queue pair is moved to the error state, a marker in each queue
 * tells when the queue is empty, and each of its EVDs goes on with its part in its own turns. When
 * all parts are done, the reaper destroys what is the provider's.
 */
final class EndpointDrain {

  private static final Logger LOGGER = Log.of(Endpoint.class);
  private static final Duration RETRY = Duration.ofMillis(1);
  private static final Duration LATE_RETRY = Duration.ofMillis(100);

  /** How long the turns may take that end a close at its bound; of an EVD, too. */
  static final Duration GRACE = Duration.ofMillis(500);

  private final Incarnation incarnation;
  private final Connection connection;
  private final Reaper reaper;
  private final AtomicInteger upcalls = new AtomicInteger();
  private final AtomicInteger partsOpen = new AtomicInteger();
  private final CompletableFuture<DrainReport> closed = new CompletableFuture<>();
  private final CompletableFuture<DrainReport> whole = new CompletableFuture<>();

  /** Of the connect EVD's turn, then of the reaper: replaced, since the bound may find it. */
  private volatile List<Event> droppedEvents = List.of();

  private volatile boolean endExpected;

  /** Nothing more is heard of its requests: what can be polled is, and the rest is UNKNOWN. */
  private volatile boolean abandoned;

  /** The bound is over: nothing is waited for. */
  private volatile boolean late;

  /** All is accounted for: what is left to do is to destroy. */
  private volatile boolean accounted;

  private volatile boolean stopped;

  /** Whether a timer is set that looks again for a post in progress. */
  private final AtomicBoolean goesOnLater = new AtomicBoolean();

  /** Of the reaper: a call ends soon, or is stuck. */
  private final Backoff retry = new Backoff(RETRY, LATE_RETRY);

  EndpointDrain(final Incarnation incarnation, final Connection connection) {
    this.incarnation = incarnation;
    this.connection = connection;
    reaper = incarnation.ia().reaper();
  }

  /** Begins, unless it began already; the shortest bound it was given counts. */
  CompletableFuture<DrainReport> start(final Duration bound) {
    return start(connection.close(), bound);
  }

  /** Begins, unless the state before is null: then it began already. */
  CompletableFuture<DrainReport> start(final EndpointState before, final Duration bound) {
    reaper.schedule(bound, closed, this::force); // before what may be stuck
    if (before != null) {
      endExpected = Connection.isEndExpected(before);
      partsOpen.set(incarnation.evds().size());
      incarnation.receives().seal();
      incarnation.requests().seal();
      connection.later(connection::hangUp);
      connection.later(this::postMarkers);
      for (final EvdImpl evd : incarnation.evds()) {
        evd.drainOf(this);
      }
    }
    return closed;
  }

  /** Completes when nothing of the endpoint is left, or shortly after its bound. */
  CompletableFuture<DrainReport> closed() {
    return closed;
  }

  /** Completes when all is accounted for, however long a handler that is stuck keeps it. */
  CompletableFuture<DrainReport> whole() {
    return whole;
  }

  private void postMarkers() {
    try {
      stop();
      if (incarnation.receives().postMarker(incarnation.qp(), true) == 0
          && incarnation.requests().postMarker(incarnation.qp(), true) == 0) {
        return;
      }
    } catch (final Throwable e) {
      incarnation
          .connectEvd()
          .onProviderFault(FaultLog.Call.DRAIN, incarnation.endpoint(), "failed: " + e, e);
    }
    abandon();
  }

  /** Moves the queue pair to the error state, in which it reaches no memory. */
  void stop() {
    incarnation.qp().modifyToError();
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  /** No marker comes, or not in time. */
  private void abandon() {
    abandoned = true;
    for (final EvdImpl evd : incarnation.evds()) {
      evd.control(evd.merger()::resumeAll);
    }
  }

  private void force() {
    late = true;
    if (accounted) {
      report();
    } else {
      abandon();
      reaper.schedule(GRACE, closed, this::giveUp);
    }
  }

  /** If a handler holds a turn for ever, what waits there cannot be looked at. */
  private void giveUp() {
    if (accounted) { // meanwhile
      report();
    } else if (closed.complete(new DrainReport(List.of(), 0, droppedEvents, false))) {
      LOGGER.error(
          "{}: its close is over its bound: a handler of one of {} is stuck, or a call of the provider",
          incarnation,
          incarnation.evds());
    }
  }

  /**
   * Goes on as far as one EVD is concerned. Of that EVD's turn.
   *
   * @param enabled whether upcalls take what is there; if not, it goes into the report.
   * @return whether nothing of the endpoint is left there.
   */
  boolean advance(final EvdImpl evd, final boolean enabled) {
    final boolean taken = enabled && !abandoned;
    if (!isDrained(evd) && !taken) {
      evd.merger().sweep(incarnation);
      if (abandoned) {
        if (!giveUp(incarnation.receives(), evd) || !giveUp(incarnation.requests(), evd)) {
          goOnLater();
        }
      }
    }
    if (!isDrained(evd) || (upcalls.get() > 0 && !late)) {
      return false;
    }
    final ConnectionGate gate = connection.gate();
    if (connection.isOf(evd) && endExpected && !gate.hasEnded()) {
      if (enabled && !late) {
        gate.open(); // its upcall gets the end of the connection, also if no marker came
        return false;
      }
      final List<Event> dropped = new ArrayList<>(2);
      if (!gate.dropEvents(dropped, late)) {
        return false;
      }
      droppedEvents = dropped;
    }
    if (partsOpen.decrementAndGet() == 0) {
      reaper.execute(this::account);
    }
    return true;
  }

  /** A post is in progress, of which nothing tells that it returned: one timer looks again. */
  private void goOnLater() {
    if (!goesOnLater.getAndSet(true)) {
      reaper.schedule(
          late ? LATE_RETRY : RETRY,
          () -> {
            goesOnLater.set(false); // first: a turn that finds it set is before those
            goOn();
          });
    }
  }

  /** Each part of the close looks again, in a turn of its EVD. */
  private void goOn() {
    for (final EvdImpl evd : incarnation.evds()) {
      evd.control(() -> {});
    }
  }

  private boolean isDrained(final EvdImpl evd) {
    return isDrained(incarnation.receives(), evd) && isDrained(incarnation.requests(), evd);
  }

  private boolean isDrained(final WorkQueue queue, final EvdImpl evd) {
    return incarnation.evdOf(queue) != evd || queue.isDrained();
  }

  private boolean giveUp(final WorkQueue queue, final EvdImpl evd) {
    return isDrained(queue, evd) || queue.abandon();
  }

  /**
   * An upcall outside of a turn, of MANY or a dequeue, gets an event of the endpoint, or any upcall
   * an async error of it. Of the turn.
   */
  void upcallStarts() {
    upcalls.incrementAndGet();
  }

  /** Such an upcall returned: each part of the close may have waited for that. */
  void upcallReturns() {
    if (upcalls.decrementAndGet() == 0 && connection.state() == EndpointState.CLOSED) {
      goOn();
    }
  }

  /** All parts are done. By the reaper. */
  private void account() {
    final List<Event> dropped = new ArrayList<>(droppedEvents);
    incarnation.asyncSlot().withdraw(dropped);
    droppedEvents = dropped;
    accounted = incarnation.srq() == null; // else see forgetNumber
    destroy();
  }

  /** What a call that does not return can reach is not destroyed before it returns. */
  private void destroy() {
    if ((upcalls.get() > 0 && !late) || !connection.endCalls()) {
      if (late && accounted) {
        report();
      }
      reaper.executeAfter(retry.next(), this::destroy);
      return;
    }
    destroy(incarnation.qp()::close);
    destroy(connection::release);
    if (incarnation.srq() == null) {
      conclude();
    } else {
      incarnation.receiveEvd().control(this::forgetNumber);
    }
  }

  /**
   * The number of its queue pair, by which completions on a shared receive queue are known, may be
   * another's soon: what is left under that number is taken out before. In a turn.
   */
  private void forgetNumber() {
    final EvdImpl evd = incarnation.receiveEvd();
    final Merger merger = evd.merger();
    if (merger.passOver(incarnation.receiveFeed()) || late) {
      merger.sweep(incarnation);
      reaper.execute(this::conclude);
    } else {
      evd.controlAfter(RETRY, this::forgetNumber);
    }
  }

  private void conclude() {
    incarnation.release();
    report();
  }

  private void destroy(final Runnable close) {
    final Throwable failure = incarnation.ia().destroy(close);
    if (failure != null) {
      incarnation
          .connectEvd()
          .onProviderFault(
              FaultLog.Call.CLOSE, incarnation.endpoint(), "failed: " + failure, failure);
    }
  }

  private void report() {
    if (!whole.isDone()) {
      final WorkQueue receives = incarnation.receives();
      final WorkQueue requests = incarnation.requests();
      final List<DrainReport.Request> open = new ArrayList<>(receives.report());
      open.addAll(requests.report());
      whole.complete(
          new DrainReport(
              open, receives.suppressed() + requests.suppressed(), droppedEvents, true));
      closed.complete(whole.join());
    }
  }
}
