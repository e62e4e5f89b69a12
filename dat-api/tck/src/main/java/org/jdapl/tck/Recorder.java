package org.jdapl.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.RmrBindCompletion;
import org.jdapl.dat.SoftwareEvent;

/**
 * The handler of the tests: keeps a copy of each event, and notes as a problem what no event may
 * do: come without its EVD or source, leave a gap in the numbers, or overlap with another upcall.
 * It is to get all events of its EVD, by upcalls and by {@link #take}.
 */
final class Recorder implements EventHandler {

  private final Evd evd;
  private final List<Event> events = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger turns = new AtomicInteger();
  private final ThreadLocal<Boolean> taking = ThreadLocal.withInitial(() -> false);
  private final ThreadLocal<Boolean> inside = ThreadLocal.withInitial(() -> false);
  private final Map<Integer, Runnable> actions = new ConcurrentHashMap<>();
  private final Map<Integer, Throwable> failures = new ConcurrentHashMap<>();
  private volatile int atOnce;
  private volatile Consumer<Event> each = event -> {};
  private volatile Consumer<ConnectionEvent> connection = event -> {};
  private volatile Consumer<ConnectionRequest> answer = request -> {};
  private volatile Runnable turnEnd = () -> {};
  private long nextSequence;

  Recorder(final Evd evd, final int atOnce) {
    this.evd = evd;
    this.atOnce = atOnce;
  }

  /** How many upcalls may run at once from now on. */
  Recorder atMost(final int upcalls) {
    atOnce = upcalls;
    return this;
  }

  /** What to do at every event; the event is the flyweight. */
  Recorder each(final Consumer<Event> action) {
    each = action;
    return this;
  }

  /** What to do when this many events have come, once. */
  Recorder at(final int count, final Runnable action) {
    actions.put(count, action);
    return this;
  }

  /** What to throw at the end of the upcall with this many events. */
  Recorder failAt(final int count, final Throwable failure) {
    failures.put(count, failure);
    return this;
  }

  /** What to do at every connection event. */
  Recorder connection(final Consumer<ConnectionEvent> action) {
    connection = action;
    return this;
  }

  /** What to do with every connection request. */
  Recorder answer(final Consumer<ConnectionRequest> action) {
    answer = action;
    return this;
  }

  /** What to do at every end of a turn. */
  Recorder turnEnd(final Runnable action) {
    turnEnd = action;
    return this;
  }

  /** Dequeues one event. */
  Outcome take() {
    taking.set(true);
    try {
      return evd.dequeue(this);
    } finally {
      taking.set(false);
    }
  }

  /** Waits for one event. */
  Outcome await(final int threshold, final Duration timeout) {
    taking.set(true);
    try {
      return evd.await(this, threshold, timeout);
    } finally {
      taking.set(false);
    }
  }

  /** Drains the EVD. */
  int takeAll() {
    taking.set(true);
    try {
      return evd.drain(this, Integer.MAX_VALUE);
    } finally {
      taking.set(false);
    }
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    deliver(event, EventStream.DTO, event.endpoint(), () -> {});
  }

  @Override
  public void onRmrBind(final RmrBindCompletion event) {
    deliver(event, EventStream.RMR_BIND, event.endpoint(), () -> {});
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    deliver(event, EventStream.CONNECTION, event.endpoint(), () -> connection.accept(event));
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    deliver(
        event,
        EventStream.CONNECTION_REQUEST,
        event.servicePoint(),
        () -> answer.accept(event.request()));
  }

  @Override
  public void onSoftware(final SoftwareEvent event) {
    deliver(event, EventStream.SOFTWARE, evd, () -> {});
  }

  @Override
  public void onAsync(final AsyncEvent event) {
    deliver(event, EventStream.ASYNC, event.source(), () -> {});
  }

  @Override
  public void onTurnEnd(final Evd ended) {
    check(ended == evd, "onTurnEnd names " + ended);
    upcall(
        () -> {
          turns.incrementAndGet();
          turnEnd.run();
        });
  }

  int count() {
    synchronized (this) {
      return events.size();
    }
  }

  int turns() {
    return turns.get();
  }

  /** The most upcalls that ever ran at once. */
  int most() {
    return most.get();
  }

  /** Copies of all events in the order of their numbers. */
  List<Event> events() {
    final List<Event> copy;
    synchronized (this) {
      copy = new ArrayList<>(events);
    }
    copy.sort(Comparator.comparingLong(Event::sequence));
    return copy;
  }

  List<Object> payloads() {
    final List<Object> payloads = new ArrayList<>();
    for (final Event event : of(EventStream.SOFTWARE)) {
      payloads.add(((SoftwareEvent) event).payload());
    }
    return payloads;
  }

  List<DtoCompletion> completions() {
    return of(EventStream.DTO).stream().map(DtoCompletion.class::cast).toList();
  }

  List<RmrBindCompletion> binds() {
    return of(EventStream.RMR_BIND).stream().map(RmrBindCompletion.class::cast).toList();
  }

  /** The completions of one queue of an endpoint. */
  List<DtoCompletion> completions(final Endpoint endpoint, final DrainReport.Queue queue) {
    return completions().stream()
        .filter(c -> c.endpoint() == endpoint && queueOf(c.operation()) == queue)
        .toList();
  }

  List<Long> cookies(final Endpoint endpoint, final DrainReport.Queue queue) {
    return completions(endpoint, queue).stream().map(DtoCompletion::cookie).toList();
  }

  /** The successful completions of an endpoint. */
  long successes(final Endpoint endpoint, final DrainReport.Queue queue) {
    return completions(endpoint, queue).stream()
        .filter(c -> c.status() == DtoStatus.SUCCESS)
        .count();
  }

  /** What happened to the connection of an endpoint. */
  List<ConnectionEvent.Kind> kinds(final Endpoint endpoint) {
    return of(EventStream.CONNECTION).stream()
        .map(ConnectionEvent.class::cast)
        .filter(c -> c.endpoint() == endpoint)
        .map(ConnectionEvent::kind)
        .toList();
  }

  List<ConnectionEvent.Kind> terminals(final Endpoint endpoint) {
    return kinds(endpoint).stream().filter(ConnectionEvent.Kind::isTerminal).toList();
  }

  boolean established(final Endpoint endpoint) {
    return kinds(endpoint).contains(ConnectionEvent.Kind.ESTABLISHED);
  }

  /** What no event may do, and was done. */
  List<String> problems() {
    final List<Event> all = events();
    final List<String> found;
    synchronized (this) {
      found = new ArrayList<>(problems);
    }
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i).sequence() != i) {
        found.add("event " + i + " of " + evd.name() + " has sequence " + all.get(i).sequence());
        break;
      }
    }
    return found;
  }

  @Override
  public String toString() {
    final StringBuilder text = new StringBuilder().append(count()).append(" events:");
    for (final Event event : events()) {
      text.append(' ').append(describe(event));
    }
    return text.append(problems()).toString();
  }

  private List<Event> of(final EventStream stream) {
    return events().stream().filter(event -> event.stream() == stream).toList();
  }

  private void deliver(
      final Event event, final EventStream stream, final DatObject source, final Runnable action) {
    final Runnable body = () -> record(event, stream, source, action);
    if (taking.get()) {
      taking.set(false);
      try {
        body.run();
      } finally {
        taking.set(true);
      }
    } else {
      upcall(body);
    }
  }

  private void upcall(final Runnable body) {
    check(!inside.get(), "an upcall ran on the stack of another");
    final int now = running.incrementAndGet();
    most.accumulateAndGet(now, Math::max);
    check(now <= atOnce, now + " upcalls at once, at most " + atOnce + " may");
    inside.set(true);
    try {
      body.run();
    } finally {
      inside.set(false);
      running.decrementAndGet();
    }
  }

  private void record(
      final Event event, final EventStream stream, final DatObject source, final Runnable action) {
    check(event.evd() == evd, "an event of " + evd.name() + " names another EVD: " + event.evd());
    check(event.stream() == stream, "the method is for " + stream + ", got " + event.stream());
    check(event.source() != null, "an event without a source");
    check(event.source() == source, "the source of a " + stream + " event is hidden");
    final int count = keep(event);
    try {
      each.accept(event);
      action.run();
      final Runnable once = actions.remove(count);
      if (once != null) {
        once.run();
      }
    } catch (final RuntimeException | AssertionError e) {
      check(false, "inside the upcall with event " + count + " this was refused: " + e);
    }
    fail(failures.get(count));
  }

  private int keep(final Event event) {
    final Event copy = event.copy();
    synchronized (this) {
      check(
          atOnce > 1 || event.sequence() == nextSequence,
          "sequence " + event.sequence() + " came where " + nextSequence + " was due");
      nextSequence = event.sequence() + 1;
      events.add(copy);
      return events.size();
    }
  }

  private static void fail(final Throwable failure) {
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
    if (failure instanceof Error error) {
      throw error;
    }
  }

  private void check(final boolean holds, final String problem) {
    if (!holds) {
      synchronized (this) {
        problems.add(evd.name() + ": " + problem);
      }
    }
  }

  private static DrainReport.Queue queueOf(final DtoOperation operation) {
    return operation.isReceive() ? DrainReport.Queue.RECEIVE : DrainReport.Queue.REQUEST;
  }

  private static String describe(final Event event) {
    return switch (event.stream()) {
      case DTO -> {
        final DtoCompletion completion = (DtoCompletion) event;
        yield completion.operation() + "#" + completion.cookie() + "/" + completion.status();
      }
      case RMR_BIND -> {
        final RmrBindCompletion bind = (RmrBindCompletion) event;
        yield "BIND#" + bind.cookie() + "/" + bind.status();
      }
      case CONNECTION -> ((ConnectionEvent) event).kind().toString();
      case SOFTWARE -> "SE(" + ((SoftwareEvent) event).payload() + ")";
      default -> event.stream().toString();
    };
  }
}
