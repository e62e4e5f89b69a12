package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;

/**
 * A real EVD that threads race on, and the books of what became of its events.
 *
 * <p>Two threads are its dispatchers: each does a few rounds of one. What is left when all threads
 * of the race have ended is done by the thread that made the bed, so nothing spins or waits, and a
 * schedule always ends. A signal that was lost shows as an event that nobody comes for.
 *
 * <p>It is left open: to close it would add to each schedule what is not raced for. Nobody looks
 * for leaks, since a scheduler runs the threads, and a cleaner's would be one more.
 */
final class RaceBed {

  private static final Duration BOUND = Duration.ofDays(1);
  private static final Duration RETRY = Duration.ofMillis(1);
  private static final int RECEIVES = 2;
  private static final int ROUNDS = 3;
  private static final int ROUNDS_AT_MOST = 100;
  private static final int MOST_EVENTS = 32;
  private static final int LENGTH = 16;
  private static final int SHORT = 3;
  private static final Duration TIMEOUT = Duration.ofMillis(10);

  private static final int POSTS = 2;
  private static final int EXCLUSIVE = 1000;

  /** What was posted: the number of its poster, and which of its events it is. */
  private record Payload(int poster, int index) {}

  private final InterceptedProvider provider = new InterceptedProvider();
  private final HandClock clock = new HandClock();
  private final Jdapl jdapl =
      Jdapl.with(provider)
          .clock(clock)
          .byHand()
          .dispatchers(2)
          .capacity(8)
          .leakDetection(LeakDetector.Level.OFF)
          .start();
  private final InterfaceAdapter ia = jdapl.open();
  private final EvdImpl evd = (EvdImpl) ia.createEvd(LENGTH, EventStream.DTO, EventStream.SOFTWARE);
  private final Dispatcher[] dispatchers = {jdapl.nextDispatcher(), jdapl.nextDispatcher()};
  private final Endpoint endpoint;
  private final int receives;
  private final List<Thread> threads = new ArrayList<>();

  // The books. What threads write without a guard is read when they have ended.
  private final List<List<Payload>> posted = new ArrayList<>();

  /** By its number: the payload of an event, or the cookie of a completion. */
  private final Object[] handedOut = new Object[MOST_EVENTS];

  private final AtomicInteger completed = new AtomicInteger();
  private final AtomicInteger running = new AtomicInteger();
  private final List<Enabled> enabled = new CopyOnWriteArrayList<>();
  private final Queue<CompletableFuture<Void>> teardowns = new ConcurrentLinkedQueue<>();
  private volatile boolean tearsDown;
  private final Queue<CompletableFuture<DrainReport>> closes = new ConcurrentLinkedQueue<>();
  private final Queue<CompletableFuture<DrainReport>> endpointCloses =
      new ConcurrentLinkedQueue<>();
  private final AtomicInteger enablings = new AtomicInteger();
  private volatile boolean oneEnables;
  private volatile boolean mayHoldBack;
  private volatile boolean endpointClosed;
  private volatile boolean moved;
  private final AtomicInteger resizes = new AtomicInteger();
  private volatile boolean interrupted;
  private volatile boolean timedOut;
  private volatile boolean unwaitable;
  private volatile boolean mustReturn;
  private volatile Thread waiter;
  private volatile String fault;

  // Under the monitor of this object.
  private int busy;
  private int waiting;

  /**
   * A bed.
   *
   * @param withEndpoint whether it has an endpoint with receives.
   */
  RaceBed(final boolean withEndpoint) {
    receives = withEndpoint ? RECEIVES : 0;
    endpoint = withEndpoint ? createEndpoint() : null;
    enable(Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
    for (int i = 0; i < dispatchers.length; i++) {
      final Dispatcher dispatcher = dispatchers[i];
      final boolean reaps = i == 0;
      add(
          "dispatcher-" + i,
          () -> {
            for (int round = 0; round < ROUNDS; round++) {
              if (reaps) {
                jdapl.reaper().round();
              }
              dispatcher.round();
            }
          });
    }
  }

  private Endpoint createEndpoint() {
    final ProtectionZone pz = ia.createPz();
    final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
    final Evd connectEvd = ia.createEvd(4, EventStream.CONNECTION);
    final Endpoint created =
        ia.createEndpoint(
            pz, evd, evd, connectEvd, EndpointAttributes.defaults().withMaxDtos(RECEIVES, 1));
    for (int cookie = 0; cookie < RECEIVES; cookie++) {
      check(created.postReceive(lmr, 0, 8, cookie) == Outcome.SUCCESS, "a receive is refused");
    }
    settle();
    return created;
  }

  // What races.

  /** Adds a thread to the race. */
  void add(final String name, final Runnable action) {
    threads.add(
        new Thread(
            () -> {
              try {
                action.run();
              } catch (final RuntimeException | Error e) {
                fault(name + " threw " + e);
              } finally {
                count(-1, 0);
              }
            },
            name));
  }

  /** Posts software events. */
  void post() {
    final List<Payload> accepted = new ArrayList<>();
    final int poster;
    synchronized (posted) {
      poster = posted.size();
      posted.add(accepted);
    }
    for (int i = 0; i < POSTS; i++) {
      final Payload payload = new Payload(poster, i);
      ifOpen(
          () -> {
            check(evd.postSoftwareEvent(payload) == Outcome.SUCCESS, "full before its length");
            accepted.add(payload);
          });
    }
  }

  /** The provider completes a receive. */
  void complete() {
    try {
      provider.receive(0);
      completed.incrementAndGet();
    } catch (final NoSuchElementException e) {
      // all were flushed, or another thread completes them
    }
  }

  void enable(final Concurrency concurrency, final Invoke when) {
    if (when == Invoke.ON_NEW) {
      mayHoldBack = true;
    }
    final Upcalls handler = new Upcalls(concurrency);
    ifOpen(
        () -> {
          evd.upcall(handler, concurrency, when);
          enabled.add(handler);
        });
  }

  void notifyOnce(final Invoke when) {
    final Notified handler = new Notified();
    ifOpen(
        () -> {
          evd.notifyOnce(handler, when);
          enabled.add(handler);
        });
  }

  void disable() {
    ifOpen(evd::disable);
  }

  /** Dequeues; where an upcall may start, it is refused. */
  void dequeue() {
    try {
      final Outcome unused = evd.dequeue(new Dequeued());
    } catch (final DatException e) {
      check(
          e.type() == ReturnType.INVALID_STATE || e.type() == ReturnType.INVALID_HANDLE,
          "dequeue threw " + e);
    }
  }

  /** From here on one thread at a time enables, and nobody disables. */
  void oneEnables() {
    oneEnables = true;
  }

  /** Waits for an event; where an upcall may start, or another thread waits, it is refused. */
  void await() {
    final Awaited to = new Awaited();
    waiter = Thread.currentThread();
    count(-1, 1);
    try {
      final Outcome outcome = evd.await(to, 1, TIMEOUT);
      check(to.events == (outcome == Outcome.SUCCESS ? 1 : 0), outcome + " with " + to.events);
      check(
          switch (outcome) {
            case SUCCESS -> true;
            case ABORT -> evd.isClosed();
            case INTERRUPTED_CALL -> interrupted;
            case TIMEOUT_EXPIRED -> timedOut;
            default -> false;
          },
          "a wait ended with " + outcome);
    } catch (final DatException e) {
      check(
          e.subtype() == ReturnSubtype.INVALID_STATE_EVD_ENABLED
              || e.subtype() == ReturnSubtype.INVALID_STATE_EVD_WAITER
              || (e.subtype() == ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE && unwaitable)
              || (e.type() == ReturnType.INVALID_HANDLE && evd.isClosed()),
          "await threw " + e);
    } finally {
      count(1, -1);
    }
  }

  /** Interrupts the thread that waits, or is about to. */
  void interrupt() {
    final Thread thread = waiter;
    if (thread != null) {
      interrupted = true;
      mustReturn = true;
      thread.interrupt();
    }
  }

  /** Lets its time be over. */
  void timeOut() {
    final boolean waits = isWaitedFor();
    timedOut = true;
    clock.advance(TIMEOUT);
    LockSupport.unpark(waiter);
    mustReturn = waits;
  }

  /** Ends its wait, and allows others; a few times, since an event may end it as well. */
  void evict() {
    for (int round = 0; round < ROUNDS; round++) {
      final boolean waits = isWaitedFor();
      unwaitable = true;
      evd.setUnwaitable();
      evd.clearUnwaitable();
      if (waits) {
        mustReturn = true;
      }
    }
  }

  /** Looks a few times whether a thread waits: seldom is there one from the start. */
  private boolean isWaitedFor() {
    for (int looks = 0; looks < ROUNDS; looks++) {
      if (evd.toString().contains("waited for")) {
        return true;
      }
      Thread.yield();
    }
    return false;
  }

  /** Moves it away from where it is served, and back. */
  void move() {
    moved = true;
    ifOpen(() -> jdapl.place(evd, 0));
    ifOpen(() -> jdapl.place(evd, 1));
  }

  /** Gives it two other lengths, none of them too short for what may wait. */
  void resize() {
    ifOpen(() -> evd.resize(SHORT + resizes.getAndIncrement()));
    ifOpen(() -> evd.resize(SHORT + resizes.getAndIncrement()));
  }

  /** While it waits nobody enables. */
  void tearDown() {
    final List<Enabled> before = List.copyOf(enabled);
    tearsDown = true;
    ifOpen(
        () -> {
          final CompletableFuture<Void> done = evd.teardownAsync().toCompletableFuture();
          teardowns.add(done.thenRun(() -> before.forEach(Enabled::end)));
        });
  }

  void closeEvd() {
    try {
      closes.add(
          evd.closeAsync(BOUND)
              .toCompletableFuture()
              .thenApply(
                  report -> {
                    enabled.forEach(Enabled::end);
                    return report;
                  }));
    } catch (final DatException e) {
      check(
          endpoint != null && e.subtype() == ReturnSubtype.INVALID_STATE_EVD_IN_USE,
          "close threw " + e);
    }
  }

  void closeEndpoint() {
    endpointCloses.add(
        endpoint
            .closeAsync(BOUND)
            .toCompletableFuture()
            .thenApply(
                report -> {
                  endpointClosed = true;
                  return report;
                }));
  }

  private void ifOpen(final Runnable call) {
    try {
      call.run();
    } catch (final DatException e) {
      check(
          (e.type() == ReturnType.INVALID_HANDLE && evd.isClosed())
              || (e.type() == ReturnType.INVALID_STATE && tearsDown)
              || (e.subtype() == ReturnSubtype.INVALID_STATE_EVD_WAITER && waiter != null),
          "a call threw " + e);
    }
  }

  // What the threads meet.

  /** A handler that was enabled once. */
  private abstract class Enabled {
    private final int limit;
    private final int enabling = enablings.incrementAndGet();
    private final AtomicInteger inside = new AtomicInteger();
    private volatile boolean ended;

    private Enabled(final int limit) {
      this.limit = limit;
    }

    void enter() {
      check(inside.incrementAndGet() <= Math.max(1, limit), "one more upcall began than may");
      final int before = running.getAndAdd(limit == 0 ? EXCLUSIVE : 1);
      check(
          before < (limit == 0 ? 1 : EXCLUSIVE), "an upcall that runs alone began beside another");
      check(!ended, "an upcall began after the teardown or close");
      final boolean isSet = (evd.policy() == UpcallPolicy.MANY) == (limit > 0);
      check( // the newest handler's policy stays, once it is set
          isSet || !oneEnables || enabling != enablings.get(),
          "an upcall began before its policy was set");
      check(Dispatcher.isCurrent(), "an upcall runs on " + Thread.currentThread());
    }

    void exit() {
      running.getAndAdd(limit == 0 ? -EXCLUSIVE : -1);
      inside.decrementAndGet();
    }

    /** No upcall runs, and none may start. */
    void end() {
      ended = true;
      check(inside.get() == 0, "an upcall runs at the end of the teardown or close");
    }
  }

  private final class Upcalls extends Enabled implements EventHandler {
    private Upcalls(final Concurrency concurrency) {
      super(concurrency.isMany() ? concurrency.limit() : 0);
    }

    @Override
    public void onEvent(final Event event) {
      enter();
      record(event);
      exit();
    }
  }

  private final class Notified extends Enabled implements NotifyHandler {
    private final AtomicBoolean told = new AtomicBoolean();

    private Notified() {
      super(0);
    }

    @Override
    public void onReady(final Evd ready) {
      enter();
      check(!told.getAndSet(true), "NOTIFY told twice");
      dequeue();
      exit();
    }
  }

  private final class Dequeued implements EventHandler {
    @Override
    public void onEvent(final Event event) {
      record(event);
    }
  }

  private final class Awaited implements EventHandler {
    private int events;

    @Override
    public void onEvent(final Event event) {
      events++;
      record(event);
    }
  }

  private void record(final Event event) {
    final int number = (int) event.sequence();
    final boolean isCompletion = event instanceof DtoCompletion;
    check(!isCompletion || !endpointClosed, "a completion came after its endpoint was closed");
    check(handedOut[number] == null, "two events have the number " + number);
    handedOut[number] =
        isCompletion ? ((DtoCompletion) event).cookie() : ((SoftwareEvent) event).payload();
  }

  private void check(final boolean holds, final String otherwise) {
    if (!holds) {
      fault(otherwise);
    }
  }

  private void fault(final String what) {
    fault = what;
  }

  // The end.

  /** Runs the threads, and checks the books. */
  void race() {
    count(threads.size(), 0);
    threads.forEach(Thread::start);
    try {
      do {
        waitForBusy();
        settle();
      } while (endWait());
      for (final Thread thread : threads) {
        thread.join();
      }
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
    settle();
    if (mayHoldBack) {
      post(); // what is new covers what is old
      settle();
    }
    if (moved && evd.policy() == UpcallPolicy.SINGLE_INSTANCE) {
      post();
      while (dispatchers[1].round()) {}
      check(isDry(), "an EVD is not served where it was moved to");
      settle();
    }
    check(
        evd.policy() == UpcallPolicy.DISABLED || isDry(),
        "an event is there, and nobody comes for it");
    check(evd.policy() != UpcallPolicy.DISABLED || allDone(teardowns), "a teardown does not end");
    ifOpen(evd::disable);
    settle();
    clock.advance(RETRY);
    settle();
    check(allDone(teardowns), "a teardown does not end");
    check(allDone(closes), "a close does not end");
    check(allDone(endpointCloses), "the close of an endpoint does not end");
    throwFault();
    while (!evd.isClosed() && evd.dequeue(new Dequeued()) == Outcome.SUCCESS) {}
    checkBooks();
    if (resizes.get() > 0 && !evd.isClosed()) {
      checkLength();
    }
    throwFault();
  }

  private synchronized void count(final int moreBusy, final int moreWaiting) {
    busy += moreBusy;
    waiting += moreWaiting;
    notifyAll();
  }

  private synchronized void waitForBusy() throws InterruptedException {
    while (busy > 0) {
      wait();
    }
  }

  /**
   * Waits until a thread's wait has ended. If there is a reason why it ends by itself, that is all:
   * a wake-up that was lost is a deadlock. An event that is being handed out just now may count as
   * one that is there; its wait ends, too.
   *
   * @return false if no thread waits.
   */
  private synchronized boolean endWait() throws InterruptedException {
    final int before = waiting;
    if (before > 0 && isDry() && !evd.isClosed() && !mustReturn) {
      unwaitable = true;
      evd.setUnwaitable();
    }
    while (before > 0 && waiting == before) {
      wait();
    }
    return before > 0;
  }

  /** As many events as it is long fit in, when none is there. */
  private void checkLength() {
    int accepted = 0;
    while (accepted < LENGTH && evd.postSoftwareEvent(accepted) == Outcome.SUCCESS) {
      accepted++;
    }
    check(accepted == evd.length(), "of length " + evd.length() + " it takes " + accepted);
  }

  private void throwFault() {
    if (fault != null) {
      throw new AssertionError(
          fault
              + "; "
              + evd
              + ", handed out "
              + Arrays.stream(handedOut).filter(Objects::nonNull).toList());
    }
  }

  private static boolean allDone(final Collection<? extends CompletableFuture<?>> futures) {
    return futures.stream().allMatch(CompletableFuture::isDone);
  }

  private boolean isDry() {
    final int accepted = posted.stream().mapToInt(List::size).sum();
    final long received = Arrays.stream(handedOut).filter(Long.class::isInstance).count();
    final long software = Arrays.stream(handedOut).filter(Payload.class::isInstance).count();
    return software == accepted && (!endpointCloses.isEmpty() || received == completed.get());
  }

  private void settle() {
    for (int rounds = 0; jdapl.round(); rounds++) {
      if (rounds == ROUNDS_AT_MOST) {
        throw new AssertionError("does not come to rest: " + evd);
      }
    }
  }

  /** Every event was handed out or reported, once; each poster's and each queue's in order. */
  private void checkBooks() {
    final List<Payload> payloads = new ArrayList<>();
    final List<Long> cookies = new ArrayList<>();
    boolean gap = false;
    for (final Object event : handedOut) {
      check(event == null || !gap, "the numbers have a gap");
      gap |= event == null;
      if (event instanceof Payload payload) {
        payloads.add(payload);
      } else if (event != null) {
        cookies.add((Long) event);
      }
    }
    if (!closes.isEmpty()) {
      for (final Event event : closes.peek().join().events()) {
        payloads.add((Payload) ((SoftwareEvent) event).payload());
      }
    }
    for (int poster = 0; poster < posted.size(); poster++) {
      final int number = poster;
      final List<Payload> of = payloads.stream().filter(p -> p.poster == number).toList();
      check(of.equals(posted.get(poster)), "posted " + posted.get(poster) + ", came " + of);
    }
    if (!endpointCloses.isEmpty()) {
      endpointCloses.peek().join().requests().forEach(request -> cookies.add(request.cookie()));
    }
    final int expected = endpointCloses.isEmpty() ? completed.get() : receives;
    final List<Long> wanted = new ArrayList<>();
    for (long cookie = 0; cookie < expected; cookie++) {
      wanted.add(cookie);
    }
    check(cookies.equals(wanted), "received " + wanted + ", came " + cookies);
  }
}
