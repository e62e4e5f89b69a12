package org.jdapl.evd;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.EventTranslatorOneArg;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.TimeoutException;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WorkCompletions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One loop over a ready ring: EVDs whose token was made get their turns here, one after the other.
 * It also does what the adapter has to do outside of turns, and keeps the timers.
 *
 * <p>It runs on a thread of its own, or by hand, one {@link #round} at a time on the caller's
 * thread.
 */
final class Dispatcher {

  private static final Logger LOGGER = LoggerFactory.getLogger(Dispatcher.class);
  private static final EventTranslatorOneArg<Slot, EvdImpl> READY =
      (slot, sequence, evd) -> slot.evd = evd;
  private static final ThreadLocal<Dispatcher> CURRENT = new ThreadLocal<>();

  private static final class Slot {
    private EvdImpl evd;
  }

  private record Timer(long dueNanos, long order, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(final Timer other) {
      final int byTime = Long.signum(dueNanos - other.dueNanos);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }

  private final String name;
  private final NanoClock clock;
  private final ThreadFactory threads;
  private final IdleWait idle = new IdleWait(this);
  private final RingBuffer<Slot> ring;
  private final SequenceBarrier barrier;
  private final Sequence consumed = new Sequence();
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final WorkCompletions batch = new WorkCompletions(2 * CqFeed.BATCH);
  private final Handout handout = new Handout();

  private long timerOrder;
  private EvdImpl running;
  private volatile VerbsProvider channelProvider;
  private volatile boolean stopped;

  /**
   * A dispatcher.
   *
   * @param threads makes its thread; null for one that is driven by hand.
   * @param capacity how many EVDs it may serve; the ring is twice as large, because slots come free
   *     only when a batch of them was consumed.
   */
  Dispatcher(
      final String name, final NanoClock clock, final ThreadFactory threads, final int capacity) {
    this.name = name;
    this.clock = clock;
    this.threads = threads;
    ring = RingBuffer.createMultiProducer(Slot::new, 2 * capacity, idle);
    ring.addGatingSequences(consumed);
    barrier = ring.newBarrier();
  }

  void start() {
    if (threads != null) {
      threads.newThread(this::run).start();
    }
  }

  /** Ends the loop. From any thread. */
  void stop() {
    stopped = true;
    idle.signalAllWhenBlocking();
  }

  // From any thread.

  /** The token of an EVD was made. */
  void ready(final EvdImpl evd) {
    if (!ring.tryPublishEvent(READY, evd)) {
      execute(() -> evd.turn(this)); // cannot be with one token an EVD; never lose one all the same
    }
  }

  /** Has something done soon by the loop, outside of turns. */
  void execute(final Runnable task) {
    tasks.add(task);
    idle.signalAllWhenBlocking();
  }

  /** Has something done by the loop after a delay. */
  void schedule(final long delayNanos, final Runnable action) {
    final long due = clock.nanoTime() + delayNanos;
    execute(() -> timers.add(new Timer(due, timerOrder++, action)));
  }

  boolean isByHand() {
    return threads == null;
  }

  /** Whether this thread is inside an upcall of any EVD. */
  static boolean isInUpcall() {
    final Dispatcher current = CURRENT.get();
    return current != null && current.running != null;
  }

  /** Whether this thread is inside an upcall of an EVD. */
  static boolean isInUpcallOf(final EvdImpl evd) {
    final Dispatcher current = CURRENT.get();
    return current != null && current.running == evd;
  }

  /** Whether this thread runs a dispatcher, and so must not wait for one. */
  static boolean isOnDispatcher() {
    return CURRENT.get() != null;
  }

  /**
   * The channel this dispatcher sleeps in, made when the first device of a provider needs one.
   *
   * @return null if there can be none, because it sleeps in the channel of another provider.
   */
  synchronized EventChannel channel(final VerbsProvider provider) {
    if (channelProvider == null) {
      idle.sleepIn(provider.createEventChannel());
      channelProvider = provider;
    }
    return channelProvider == provider ? idle.channel() : null;
  }

  // Of the loop.

  WorkCompletions batch() {
    return batch;
  }

  /** The event of the MANY upcall that runs here. */
  Handout handout() {
    return handout;
  }

  void enter(final EvdImpl evd) {
    running = evd;
  }

  void exit() {
    running = null;
  }

  boolean hasTasks() {
    return !tasks.isEmpty();
  }

  /** How long until the next timer; {@link Long#MAX_VALUE} without one. */
  long nextTimerNanos() {
    final Timer next = timers.peek();
    return next == null ? Long.MAX_VALUE : Math.max(0, next.dueNanos - clock.nanoTime());
  }

  private void run() {
    CURRENT.set(this);
    try {
      while (!stopped) {
        barrier.waitFor(consumed.get() + 1);
        work();
      }
      idle.closeChannel();
    } catch (final AlertException | InterruptedException | TimeoutException e) {
      throw new IllegalStateException("nobody alerts or interrupts a dispatcher", e);
    } catch (final VirtualMachineError e) {
      LOGGER.error("{}: ended by {}; another thread takes over", name, e.toString(), e);
      start();
    } catch (final Throwable e) {
      LOGGER.error("{}: bug in the dispatcher; another thread takes over", name, e);
      start();
    }
  }

  /**
   * One round on the caller's thread: looks into the channel, does tasks and timers, and gives each
   * EVD that is ready now its turn.
   *
   * @return whether there was anything to do.
   */
  boolean round() {
    final Dispatcher outer = CURRENT.get();
    if (outer != null) {
      throw new IllegalStateException(
          name + ": an upcall of " + outer.running + " must not drive a dispatcher");
    }
    CURRENT.set(this);
    try {
      return work();
    } finally {
      CURRENT.remove();
    }
  }

  private boolean work() {
    boolean worked = idle.poll() > 0;
    worked |= runTasks();
    worked |= runTimers();
    return turns() || worked;
  }

  private boolean runTasks() {
    boolean worked = false;
    Runnable task;
    while ((task = tasks.poll()) != null) {
      worked = true;
      run(task);
    }
    return worked;
  }

  private boolean runTimers() {
    boolean worked = false;
    while (!timers.isEmpty() && nextTimerNanos() == 0) {
      worked = true;
      run(timers.poll().action);
    }
    return worked;
  }

  private void run(final Runnable task) {
    try {
      task.run();
    } catch (final RuntimeException e) {
      LOGGER.error("{}: a task failed", name, e);
    }
  }

  private boolean turns() {
    final long first = consumed.get() + 1;
    long next = first;
    final long last = ring.getCursor();
    try {
      while (next <= last && ring.isAvailable(next)) {
        final Slot slot = ring.get(next);
        final EvdImpl evd = slot.evd;
        slot.evd = null;
        next++;
        evd.turn(this);
      }
    } finally {
      if (next > first) {
        consumed.set(next - 1);
      }
    }
    return next > first;
  }

  @Override
  public String toString() {
    return name;
  }
}
