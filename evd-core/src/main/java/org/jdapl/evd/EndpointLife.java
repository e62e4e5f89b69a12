package org.jdapl.evd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.evd.EndpointStates.Trigger;

/**
 * What an endpoint is, one {@link Incarnation} after the other. A reset, and a change that needs
 * another queue pair, drains the one of now as a close does, and goes on with a new one: what comes
 * late for the old one does not find the new one.
 */
final class EndpointLife {

  static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  private final EndpointImpl endpoint;

  private volatile Incarnation now;

  // Under the monitor of this object.
  private Renewal renewal;
  private boolean beginning;
  private boolean released;
  private boolean closed;

  /**
   * One ends, and another is to begin.
   *
   * @param next what it is made of.
   * @param meanwhile the state until then.
   * @param done when it began, or could not.
   */
  private record Renewal(
      EndpointParameters next, EndpointState meanwhile, CompletableFuture<Void> done) {}

  EndpointLife(final EndpointImpl endpoint) {
    this.endpoint = endpoint;
  }

  /** The first one begins. */
  void open(final EndpointParameters parameters) {
    now = new Incarnation(endpoint, parameters);
    now.open();
  }

  /** What the endpoint is now. */
  Incarnation now() {
    return now;
  }

  EndpointState state() {
    final EndpointState state = now.connection().state();
    return state == EndpointState.CLOSED ? stateMeanwhile() : state;
  }

  /** An incarnation is closed, and the endpoint may not be. */
  private synchronized EndpointState stateMeanwhile() {
    final EndpointState state = now.connection().state();
    if (state != EndpointState.CLOSED || closed) {
      return state;
    }
    return renewal == null ? EndpointState.DISCONNECTED : renewal.meanwhile;
  }

  /** Whether it is being reset or modified. */
  synchronized boolean isRenewing() {
    return renewal != null;
  }

  /** What a call that is not a post says where it is not legal. */
  DatException refused(final Incarnation at, final String call) {
    return state() == EndpointState.CLOSED
        ? Misuse.closed(ReturnSubtype.INVALID_HANDLE_EP, endpoint, call)
        : wrongState(at, call);
  }

  /**
   * What a call says that is not legal in the state of now.
   *
   * @param at what the endpoint was when the call began.
   */
  DatException wrongState(final Incarnation at, final String call) {
    final EndpointState state = state();
    if (state == EndpointState.CLOSED) {
      return Misuse.state(
          ReturnSubtype.NO_SUBTYPE, endpoint.name() + "." + call + ": the endpoint is closed");
    }
    if (isRenewing() || now != at) {
      return Misuse.state(
          ReturnSubtype.INVALID_STATE_EP_NOTREADY,
          endpoint.name()
              + "."
              + call
              + ": it is being reset or modified, or was meanwhile; wait for the end of that");
    }
    return Misuse.state(
        switch (state) {
          case UNCONNECTED -> ReturnSubtype.INVALID_STATE_EP_UNCONNECTED;
          case COMPLETION_PENDING -> ReturnSubtype.INVALID_STATE_EP_COMPLPENDING;
          case ACTIVE_CONNECTION_PENDING -> ReturnSubtype.INVALID_STATE_EP_ACTCONNPENDING;
          case RESERVED -> ReturnSubtype.INVALID_STATE_EP_RESERVED;
          case PASSIVE_CONNECTION_PENDING -> ReturnSubtype.INVALID_STATE_EP_PASSCONNPENDING;
          case CONNECTED -> ReturnSubtype.INVALID_STATE_EP_CONNECTED;
          case DISCONNECT_PENDING -> ReturnSubtype.INVALID_STATE_EP_DISCPENDING;
          case DISCONNECTED -> ReturnSubtype.INVALID_STATE_EP_DISCONNECTED;
          case CLOSED -> ReturnSubtype.NO_SUBTYPE;
        },
        endpoint.name() + "." + call + ": not legal in state " + state);
  }

  /** Changes what it is made of, which was checked. */
  void modify(final EndpointParameters parameters) {
    final Incarnation last = now;
    if (last.suits(parameters)) {
      last.connection().modify(parameters);
      return;
    }
    if (state() != EndpointState.UNCONNECTED) {
      throw refused(last, "modify of what needs another queue pair");
    }
    final Renewal begun =
        new Renewal(parameters, EndpointState.UNCONNECTED, new CompletableFuture<>());
    final EndpointState before;
    last.receives().lock(); // a receive that were posted from here on would be lost
    try {
      if (!last.receives().isIdle()) {
        throw Misuse.state(
            ReturnSubtype.INVALID_STATE_EP_UNCONNECTED,
            endpoint.name()
                + ".modify: receives are posted, and what is changed needs another queue pair;"
                + " modify before the first receive is posted, or create another endpoint");
      }
      before = end(last, Trigger.MODIFY, begun);
      last.receives().seal();
    } finally {
      last.receives().unlock();
    }
    await(renew(last, before, begun, CLOSE_BOUND));
  }

  CompletableFuture<DrainReport> reset(final Duration bound) {
    final Incarnation last = now;
    final EndpointState state = state();
    if (state == EndpointState.UNCONNECTED) {
      return CompletableFuture.completedFuture(DrainReport.EMPTY);
    }
    if (state != EndpointState.DISCONNECTED) {
      throw refused(last, "reset");
    }
    final Renewal begun = new Renewal(last.parameters(), state, new CompletableFuture<>());
    return renew(last, end(last, Trigger.RESET, begun), begun, bound);
  }

  /**
   * Ends an incarnation, for another one to begin.
   *
   * @param how what it does to its connection.
   * @return its state before; null if it ended already, and the other one could not begin.
   */
  private synchronized EndpointState end(
      final Incarnation last, final Trigger how, final Renewal begun) {
    final boolean mayEnd = !closed && renewal == null && now == last;
    final EndpointState before = mayEnd ? last.connection().renew(how) : null;
    final boolean isAgain = mayEnd && released && how == Trigger.RESET;
    if (before == null && !isAgain) {
      throw refused(last, how == Trigger.RESET ? "reset" : "modify");
    }
    renewal = begun;
    return before;
  }

  /** Drains the incarnation that ended, and has another one begin. */
  private CompletableFuture<DrainReport> renew(
      final Incarnation last,
      final EndpointState before,
      final Renewal begun,
      final Duration bound) {
    final var unused = last.drain().start(before, bound);
    if (before == null) { // the one that should have come last time could not
      endpoint.ia().reaper().execute(() -> begin(begun));
    }
    return begun.done.thenCombine(last.drain().whole(), (nothing, report) -> report);
  }

  /** Nothing is left of an incarnation. By the reaper. */
  void onReleased() {
    final Renewal next;
    synchronized (this) {
      released = true;
      next = renewal;
    }
    if (next != null) {
      begin(next);
    } else {
      endpoint.ia().remove(endpoint);
    }
  }

  /** Another incarnation begins, unless the endpoint was closed meanwhile. */
  private void begin(final Renewal next) {
    Incarnation fresh = null;
    Throwable failure = null;
    try {
      beginUnlessClosed();
      final Incarnation opening = new Incarnation(endpoint, next.next);
      opening.open();
      fresh = opening;
    } catch (final Throwable e) {
      failure = e;
    }
    final EndpointState before;
    final boolean over;
    synchronized (this) {
      renewal = null;
      beginning = false;
      // Closed before anybody can use it, if the endpoint was closed while this one began.
      before = closed && fresh != null ? fresh.connection().close() : null;
      if (fresh != null) {
        now = fresh;
        released = false;
      }
      over = closed && released;
    }
    if (before != null) {
      final var unused = fresh.drain().start(before, CLOSE_BOUND);
    }
    if (over) {
      endpoint.ia().remove(endpoint);
    }
    if (failure == null) {
      next.done.complete(null);
    } else {
      next.done.completeExceptionally(failure);
    }
  }

  private synchronized void beginUnlessClosed() {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_EP, endpoint, "reset or modify");
    }
    beginning = true;
  }

  /** Waits for what was begun, and fails if that did; inside an upcall it does neither. */
  void await(final CompletableFuture<DrainReport> begun) {
    final CompletableFuture<Throwable> end = begun.handle((report, failure) -> failure);
    endpoint.ia().await(end, CLOSE_BOUND, endpoint);
    final Throwable failure = end.getNow(null);
    if (failure != null) {
      final Throwable cause = failure.getCause() == null ? failure : failure.getCause();
      throw cause instanceof DatException known
          ? known
          : new DatException(
              ReturnType.INTERNAL_ERROR,
              ReturnSubtype.NO_SUBTYPE,
              endpoint.name() + ": " + cause,
              cause);
    }
  }

  // The end.

  /** Begins to close, unless it began already; what was not drained within its bound is left. */
  CompletableFuture<DrainReport> close(final Duration bound) {
    final Incarnation last;
    final Renewal pending;
    final boolean isReleased;
    synchronized (this) {
      isReleased = released && !closed && !beginning;
      closed = true;
      last = now;
      pending = beginning ? renewal : null; // one that did not begin yet does not
    }
    final CompletableFuture<DrainReport> drained = last.drain().start(bound);
    if (isReleased) {
      endpoint.ia().remove(endpoint);
    }
    if (pending == null) {
      return drained;
    }
    final CompletableFuture<DrainReport> all =
        pending
            .done
            .exceptionally(failure -> null)
            .thenCompose(nothing -> now.drain().start(bound));
    endpoint.ia().reaper().schedule(bound, all, () -> all.complete(DrainReport.INCOMPLETE));
    return all;
  }
}
