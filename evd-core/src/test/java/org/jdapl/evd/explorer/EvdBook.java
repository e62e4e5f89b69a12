package org.jdapl.evd.explorer;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.RmrBindCompletion;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;

/** What is known of an EVD, and must be so: who is told of what, when, and how often. */
final class EvdBook {

  /** Events of one turn. */
  private static final int BUDGET = 64;

  private static final int NOBODY = Integer.MAX_VALUE;

  final Evd evd;
  final AdapterBook adapter;

  /** What its next upcalls do. */
  final ArrayDeque<Action> inside = new ArrayDeque<>();

  private final ScriptRun run;
  private final List<EventStream> streams;
  private final ArrayDeque<Object> software = new ArrayDeque<>();
  private long nextSequence;
  private UpcallPolicy policy = UpcallPolicy.DISABLED;
  private int enablings;
  private boolean onNew;
  private boolean quiet;
  private boolean closing;
  private boolean closed;
  private long deadline;
  private int inTurn;

  private boolean solicitedOnly;

  // A thread that waits.
  private int wanted = NOBODY;
  private long waitEnds;
  private boolean unwaitable;

  /** It was told to return, and has not done so. */
  private boolean left;

  /** A teardown that waits for an upcall. */
  private CompletableFuture<Void> teardown;

  private CnoBook cno;

  /** Whether it was seen empty, and its CNO told nobody of anything since. */
  private boolean toTell;

  EvdBook(
      final ScriptRun run, final AdapterBook adapter, final Evd evd, final EventStream... streams) {
    this.run = run;
    this.adapter = adapter;
    this.evd = evd;
    this.streams = Arrays.asList(streams);
  }

  boolean takes(final EventStream stream) {
    return streams.contains(stream);
  }

  /** Whether an upcall takes whatever comes, at once. */
  boolean takesAll() {
    return !closing && !onNew && isEnabled();
  }

  private boolean isEnabled() {
    return policy == UpcallPolicy.SINGLE_INSTANCE || policy == UpcallPolicy.MANY;
  }

  boolean isSoftwareOnly() {
    return streams.size() == 1 && streams.get(0) == EventStream.SOFTWARE;
  }

  boolean isClosing() {
    return closing;
  }

  boolean isClosed() {
    return closed;
  }

  UpcallPolicy policy() {
    return policy;
  }

  int waiting() {
    return software.size();
  }

  // What the consumer did.

  void posted(final Object payload) {
    if (closing) {
      run.fail("E04", evd + " took a software event after its close");
    }
    if (software.size() >= evd.length()) {
      run.fail("E04", evd + " took more than its length " + evd.length());
    }
    software.add(payload);
    quiet = false;
    tellCno();
  }

  void refused() {
    if (software.size() < evd.length()) {
      run.fail("E04", evd + " is full with " + software.size() + " of " + evd.length());
    }
  }

  /** Only solicited receives may notify. */
  void hearsSolicitedOnly() {
    solicitedOnly = true;
  }

  void waitable(final boolean allowed) {
    unwaitable = !allowed;
    left |= unwaitable && wanted != NOBODY;
  }

  boolean isUnwaitable() {
    return unwaitable || left;
  }

  // A thread that waits.

  void beginWait(final int threshold, final long until) {
    wanted = threshold;
    waitEnds = until;
    toTell = false;
  }

  /** Whether a thread waits, and the EVD is its own. */
  boolean isWaited() {
    return wanted != NOBODY && !left;
  }

  /**
   * Whether a thread that waits was told to return, and has not done so: it holds the turn still,
   * and who wants it would spin.
   */
  boolean isLeft() {
    return left;
  }

  /** A thread waits, and has looked just now. */
  void checkWaits() {
    if (software.size() >= wanted) {
      run.fail("W04", evd + ": a thread waits, and " + software.size() + " software events do");
    }
    if (closing) {
      run.fail("W04", evd + ": it is closed, and a thread waits");
    }
    if (left) {
      run.fail("W04", evd + ": no thread may wait, and one does");
    }
    if (run.isInterrupted()) {
      run.fail("W04", evd + ": a thread was interrupted, and waits");
    }
    if (run.now() >= waitEnds) {
      run.fail("W02", evd + ": a wait does not end in time");
    }
  }

  void endWait(final boolean hadBegun) {
    wanted = NOBODY;
    left = false;
    if (hadBegun && !software.isEmpty()) {
      tellCno();
    }
  }

  // Its CNO.

  void uses(final CnoBook next) {
    if (cno != null) {
      cno.remove(this);
    }
    cno = next;
    toTell = false;
    if (next != null) {
      next.add(this);
      if (!software.isEmpty()) {
        tellCno();
      }
    }
  }

  /** An event came, or its policy was ended: nobody else is told. */
  private void tellCno() {
    if (cno != null
        && policy == UpcallPolicy.DISABLED
        && !run.isUpcallOf(this)
        && wanted == NOBODY
        && !closing
        && !run.isExcused(adapter)) {
      cno.trigger();
    }
  }

  /** Somebody found nothing here. */
  void foundEmpty() {
    toTell = cno != null && policy == UpcallPolicy.DISABLED && !run.isUpcallOf(this);
  }

  /** Its CNO told somebody of something. */
  void told() {
    toTell = false;
  }

  boolean isToTell() {
    return toTell && !closing;
  }

  void mustBeEmpty() {
    final String first = first();
    if (first != null && !solicitedOnly) {
      run.fail("W05", evd + ": its CNO did not tell of " + first);
    }
  }

  EventHandler enable(final UpcallPolicy to, final boolean forNew) {
    policy(to, forNew);
    return new Upcall(enablings);
  }

  NotifyHandler enableNotify(final boolean forNew) {
    policy(UpcallPolicy.NOTIFY, forNew);
    final int enabling = enablings;
    return told -> notified(enabling, told);
  }

  private void policy(final UpcallPolicy to, final boolean forNew) {
    quiet = forNew && policy == UpcallPolicy.DISABLED && isSoftwareOnly() && !run.isUpcallOf(this);
    onNew = forNew;
    policy = to;
    enablings++;
    toTell = false;
  }

  /** What a call that was refused changed is put back by this. */
  Runnable undo() {
    final UpcallPolicy oldPolicy = policy;
    final boolean oldQuiet = quiet;
    final boolean oldNew = onNew;
    final int old = enablings;
    return () -> {
      policy = oldPolicy;
      quiet = oldQuiet;
      onNew = oldNew;
      enablings = old;
    };
  }

  /** The consumer disabled it. */
  void disables() {
    final boolean wasEnabled = policy != UpcallPolicy.DISABLED;
    disabled();
    if (wasEnabled) {
      tellCno();
    }
  }

  void tearsDown(final CompletableFuture<Void> stage) {
    if (!run.isUpcallOf(this) && !stage.isDone()) {
      run.fail("U05", evd + ": a teardown waits, and no upcall runs");
    } else if (run.isUpcallOf(this) && !run.isInUpcallOf(this)) {
      if (stage.isDone()) {
        run.fail("U05", evd + ": a teardown does not wait for its upcall");
      }
      teardown = stage;
    }
  }

  /** Whether a teardown waits for the upcall that runs. */
  boolean isTornDown() {
    return teardown != null && !teardown.isDone();
  }

  /** Nobody drives: an upcall that a teardown waited for has returned long since. */
  private void checkTeardown() {
    if (teardown != null && !teardown.isDone()) {
      run.fail("U05", evd + ": a teardown does not end");
    }
  }

  private void disabled() {
    policy = UpcallPolicy.DISABLED;
    onNew = false;
    quiet = false;
  }

  void closes(final long until) {
    deadline = closing ? Math.min(deadline, until) : until;
    if (!closing) {
      closing = true;
      disabled();
      if (cno != null) {
        cno.remove(this);
        cno = null;
      }
    }
  }

  void onClosed(final DrainReport report) {
    closed = true;
    if (!report.complete()) {
      adapter.isIncomplete = true;
      if (run.now() < deadline) {
        run.fail("O12", evd + ": its close gave up");
      }
      return;
    }
    for (final Event event : report.events()) {
      if (event instanceof SoftwareEvent dropped) {
        software(dropped, "was reported");
      } else if (event instanceof ConnectionRequestEvent dropped) {
        run.onRequest(dropped.request(), adapter);
      } else if (event instanceof AsyncEvent dropped) {
        run.onAsync(dropped, adapter);
      } else if (event instanceof ConnectionEvent dropped) {
        run.fail("E01", evd + ": reports " + dropped.kind() + " of " + dropped.endpoint());
      }
    }
    if (!software.isEmpty()) {
      run.fail("E01", evd + ": closed, and " + software + " have no outcome");
    }
  }

  // What it is told.

  private void notified(final int enabling, final Evd told) {
    run.enter(this);
    if (told != evd || enabling != enablings || policy != UpcallPolicy.NOTIFY) {
      run.fail("U05", evd + ": notified where " + policy + " is its policy, for " + told);
    }
    if (quiet) {
      run.fail("U06", evd + ": notified of what was there before ON_NEW");
    }
    policy = UpcallPolicy.DISABLED;
    try {
      run.inside(this);
    } finally {
      run.exit();
    }
  }

  private final class Upcall implements EventHandler {
    private final int enabling;

    private Upcall(final int enabling) {
      this.enabling = enabling;
    }

    @Override
    public void onEvent(final Event event) {
      run.enter(EvdBook.this);
      try {
        if (enabling != enablings || !isEnabled()) {
          run.fail(
              "U05",
              "an upcall of "
                  + evd
                  + " by enabling "
                  + enabling
                  + ", where its policy is "
                  + policy
                  + " by "
                  + enablings);
        }
        if (quiet) {
          run.fail("U06", evd + ": an upcall for what was there before ON_NEW");
        }
        if (++inTurn > BUDGET && policy == UpcallPolicy.SINGLE_INSTANCE) {
          run.fail("O11", evd + ": more than " + BUDGET + " events in one turn");
        }
        take(event);
        run.inside(EvdBook.this);
      } catch (final RuntimeException e) {
        inTurn = 0;
        throw e;
      } finally {
        run.exit();
      }
    }

    @Override
    public void onTurnEnd(final Evd ended) {
      inTurn = 0;
      if (ended != evd) {
        run.fail("E03", "the end of a turn of " + evd + " names " + ended);
      }
    }
  }

  /** Takes an event of a dequeue. */
  EventHandler taker() {
    return new EventHandler() {
      @Override
      public void onEvent(final Event event) {
        take(event);
      }
    };
  }

  private void take(final Event event) {
    run.note(() -> "  " + evd.name() + " #" + event.sequence() + " " + describe(event));
    if (closed) {
      run.fail("O3", evd + ": an event after its close was complete");
    }
    if (event.evd() != evd || !takes(event.stream())) {
      run.fail("E03", evd + ": an event of " + event.stream() + " for " + event.evd());
    }
    if (event.sequence() != nextSequence) {
      run.fail("E03", evd + ": number " + event.sequence() + ", not " + nextSequence);
    }
    nextSequence = event.sequence() + 1;
    if (event instanceof DtoCompletion completion) {
      book(completion.endpoint()).onCompletion(completion, this);
    } else if (event instanceof RmrBindCompletion bind) {
      book(bind.endpoint()).onBind(bind, this);
    } else if (event instanceof ConnectionEvent connection) {
      book(connection.endpoint()).onConnection(connection, this);
    } else if (event instanceof ConnectionRequestEvent request) {
      run.onRequest(request.request(), adapter);
    } else if (event instanceof SoftwareEvent posted) {
      software(posted, "was delivered");
    } else if (event instanceof AsyncEvent async) {
      run.onAsync(async, adapter);
      if (async.source() instanceof Endpoint source && book(source).isClosed()) {
        run.fail("O3", async.kind() + " of " + source + " came after its close was complete");
      }
    }
  }

  private EndpointBook book(final Endpoint endpoint) {
    return run.all.book(endpoint);
  }

  private void software(final SoftwareEvent event, final String how) {
    final Object next = software.poll();
    if (next != event.payload()) {
      run.fail("O4", evd + ": " + event.payload() + " " + how + " where " + next + " was next");
    }
  }

  private static String describe(final Event event) {
    if (event instanceof DtoCompletion completion) {
      return completion.endpoint()
          + " "
          + completion.operation()
          + " #"
          + completion.cookie()
          + " "
          + completion.status();
    }
    if (event instanceof ConnectionEvent connection) {
      return connection.endpoint() + " " + connection.kind();
    }
    if (event instanceof RmrBindCompletion bind) {
      return bind.endpoint()
          + " bind of "
          + bind.rmr().name()
          + " #"
          + bind.cookie()
          + " "
          + bind.status();
    }
    if (event instanceof SoftwareEvent posted) {
      return "software " + posted.payload();
    }
    return event instanceof AsyncEvent async ? async.kind() + " " + async.reason() : "request";
  }

  /** Nothing more happens: nothing waits for an upcall that is enabled. */
  void onRest() {
    if (closing) {
      if (!closed) {
        run.fail("O12", evd + ": its close does not end");
      }
      return;
    }
    if (evd.policy() != policy) {
      run.fail("U05", evd + ": its policy is " + evd.policy() + ", not " + policy);
    }
    checkTeardown();
    if (!takesAll()) {
      return;
    }
    evd.disable();
    disables();
    final String first = first();
    if (first != null && !solicitedOnly) {
      run.fail("O6", evd + ": waits at rest, with an upcall enabled: " + first);
    }
  }

  /**
   * Takes the first event that tells of itself, and describes it; null if there is none, or one
   * that may have come just now, as such a dequeue met a fault.
   */
  private String first() {
    final String[] first = new String[1];
    final boolean[] tells = new boolean[1];
    final EventHandler taker =
        new EventHandler() {
          @Override
          public void onEvent(final Event event) {
            final boolean mayBeNew =
                event instanceof AsyncEvent async
                    && async.kind() == AsyncEvent.Kind.PROVIDER_INTERNAL_ERROR
                    && run.isFaulty();
            tells[0] = !isUnsignalled(event);
            first[0] = mayBeNew || !tells[0] ? null : describe(event);
            take(event);
          }
        };
    while (evd.drain(taker, 1) > 0 && !tells[0]) {
      // the next one may be seen only when this one is taken
    }
    return first[0];
  }

  private boolean isUnsignalled(final Event event) {
    return event instanceof DtoCompletion done
        && done.status() == DtoStatus.SUCCESS
        && book(done.endpoint()).isUnsignalled(done.cookie());
  }

  @Override
  public String toString() {
    return evd.toString();
  }
}
