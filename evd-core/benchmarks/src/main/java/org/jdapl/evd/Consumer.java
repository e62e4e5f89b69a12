package org.jdapl.evd;

import com.lmax.disruptor.BatchEventProcessor;
import com.lmax.disruptor.BatchEventProcessorBuilder;
import com.lmax.disruptor.EventHandler;
import com.lmax.disruptor.EventTranslatorOneArg;
import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.dsl.ProducerType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Selector;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jctools.queues.atomic.MpscGrowableAtomicArrayQueue;
import org.jctools.queues.atomic.SpscAtomicArrayQueue;
import org.jctools.queues.atomic.unpadded.MpscGrowableAtomicUnpaddedArrayQueue;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;

/** One thread that handles the objects that others post: an EVD's dispatcher, and its rivals. */
public abstract class Consumer implements AutoCloseable {

  /** The ways to do it. */
  public enum Kind {
    /** Software events of an EVD. */
    EVD,
    /** A Disruptor with one producer, which waits as our dispatcher does. */
    DISRUPTOR,
    /** A JCTools queue for one producer, which its consumer polls and spins. */
    SPSC,
    /** A JCTools queue for many producers, and a flag that says that the consumer sleeps. */
    MPSC_AND_FLAG,
    /** The queue of an EVD's lane alone, which its consumer polls and spins. */
    LANE_QUEUE,
    /** The same without padding: 520 B less, and slower; see performance.md. */
    LANE_QUEUE_UNPADDED,
    /** A task for each object. */
    EXECUTOR,
    /** A flag, park and unpark; nothing is queued. */
    PARK,
    /** A flag, and a selector that sleeps; nothing is queued. */
    SELECTOR
  }

  private static final int SIZE = 1024;
  private static final int CHUNK = 16; // as the lane's
  private static final int SPINS = 200; // as the dispatcher

  private final AtomicLong handled = new AtomicLong();
  volatile Thread thread;
  volatile boolean stopped;

  static Consumer start(final Kind kind, final WaitStrategy strategy) {
    return switch (kind) {
      case EVD -> new Dispatched(strategy);
      case DISRUPTOR -> new Disrupted(strategy);
      case SPSC -> new Spinning(new SpscAtomicArrayQueue<>(SIZE));
      case MPSC_AND_FLAG -> new Flagged(strategy);
      case LANE_QUEUE -> new Spinning(new MpscGrowableAtomicArrayQueue<>(CHUNK, SIZE));
      case LANE_QUEUE_UNPADDED ->
          new Spinning(new MpscGrowableAtomicUnpaddedArrayQueue<>(CHUNK, SIZE));
      case EXECUTOR -> new Executed();
      case PARK -> new Parked();
      case SELECTOR -> new Selecting();
    };
  }

  /**
   * Posts an object.
   *
   * @return false if there is no room now.
   */
  abstract boolean post(Object payload);

  /** How many objects were handled. */
  final long handled() {
    return handled.get();
  }

  /** How often its thread slept; -1 if nobody counts. */
  long sleeps() {
    return -1;
  }

  /** Whether its thread sleeps. */
  boolean isAsleep() {
    final Thread consumer = thread;
    final Thread.State state = consumer == null ? Thread.State.NEW : consumer.getState();
    return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
  }

  /** The handler of all of them. */
  final void handle(final Object payload) {
    if (payload == null) {
      throw new IllegalStateException("nothing was posted");
    }
    handled.lazySet(handled.getPlain() + 1);
  }

  final Thread remember(final Runnable loop) {
    thread = new Thread(loop, "consumer");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
  }

  private static final class Dispatched extends Consumer implements org.jdapl.dat.EventHandler {
    private final Bed bed;

    Dispatched(final WaitStrategy strategy) {
      bed = Bed.withThread(strategy, this::named);
      bed.evd.upcall(this);
    }

    private Thread named(final Runnable loop) {
      final Thread made = new Thread(loop, "jdapl-" + loop);
      made.setDaemon(true);
      if (loop instanceof Dispatcher) {
        thread = made;
      }
      return made;
    }

    @Override
    boolean post(final Object payload) {
      return bed.evd.postSoftwareEvent(payload) == Outcome.SUCCESS;
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      // ESTABLISHED, before all else
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      handle(event.payload());
    }

    @Override
    long sleeps() {
      return bed.jdapl.dispatcherStatistics().get(0).sleeps();
    }

    @Override
    public void close() {
      bed.close();
    }
  }

  private static final class Disrupted extends Consumer {

    private static final EventTranslatorOneArg<Object[], Object> SET =
        (slot, sequence, payload) -> slot[0] = payload;

    private final IdleWait idle;
    private final RingBuffer<Object[]> ring;
    private final BatchEventProcessor<Object[]> processor;

    Disrupted(final WaitStrategy strategy) {
      idle = new IdleWait(strategy, null, new ConcurrentLinkedQueue<>());
      ring = RingBuffer.create(ProducerType.SINGLE, () -> new Object[1], SIZE, idle);
      final EventHandler<Object[]> handler = (slot, sequence, last) -> handle(slot[0]);
      processor = new BatchEventProcessorBuilder().build(ring, ring.newBarrier(), handler);
      ring.addGatingSequences(processor.getSequence());
      remember(processor).start();
    }

    @Override
    boolean post(final Object payload) {
      return ring.tryPublishEvent(SET, payload);
    }

    @Override
    long sleeps() {
      return idle.sleeps();
    }

    @Override
    public void close() {
      processor.halt();
      idle.stop();
    }
  }

  private static final class Spinning extends Consumer implements Runnable {
    private final Queue<Object> queue;

    Spinning(final Queue<Object> queue) {
      this.queue = queue;
      remember(this).start();
    }

    @Override
    boolean post(final Object payload) {
      return queue.offer(payload);
    }

    @Override
    public void run() {
      while (!stopped) {
        final Object payload = queue.poll();
        if (payload == null) {
          Thread.onSpinWait();
        } else {
          handle(payload);
        }
      }
    }
  }

  private static final class Flagged extends Consumer implements Runnable {
    private final Queue<Object> queue = new MpscAtomicArrayQueue<>(SIZE);
    private final AtomicBoolean asleep = new AtomicBoolean();
    private final AtomicLong sleeps = new AtomicLong();
    private final int spins;

    Flagged(final WaitStrategy strategy) {
      spins = strategy == WaitStrategy.BUSY_SPIN ? Integer.MAX_VALUE : SPINS;
      remember(this).start();
    }

    /** A read of the flag may be done before the offer is visible, so it is an exchange. */
    @Override
    boolean post(final Object payload) {
      if (!queue.offer(payload)) {
        return false;
      }
      if (asleep.getAndSet(false)) {
        LockSupport.unpark(thread);
      }
      return true;
    }

    @Override
    public void run() {
      int spun = 0;
      while (!stopped) {
        final Object payload = queue.poll();
        if (payload != null) {
          spun = 0;
          handle(payload);
        } else if (spun++ < spins) {
          Thread.onSpinWait();
        } else {
          asleep.set(true);
          if (queue.isEmpty() && !stopped) {
            sleeps.lazySet(sleeps.getPlain() + 1);
            LockSupport.park(this);
          }
          asleep.set(false);
          spun = 0;
        }
      }
    }

    @Override
    long sleeps() {
      return sleeps.get();
    }
  }

  private static final class Executed extends Consumer {
    private final ExecutorService executor;

    Executed() {
      final ThreadFactory threads = this::remember;
      executor = Executors.newSingleThreadExecutor(threads);
    }

    @Override
    boolean post(final Object payload) {
      executor.execute(() -> handle(payload));
      return true;
    }

    @Override
    public void close() {
      executor.shutdown();
    }
  }

  private static final class Parked extends Consumer implements Runnable {
    private volatile Object posted;

    Parked() {
      remember(this).start();
    }

    @Override
    boolean post(final Object payload) {
      posted = payload;
      LockSupport.unpark(thread);
      return true;
    }

    @Override
    public void run() {
      while (!stopped) {
        final Object payload = posted;
        if (payload == null) {
          LockSupport.park(this);
        } else {
          posted = null;
          handle(payload);
        }
      }
    }
  }

  private static final class Selecting extends Consumer implements Runnable {
    private final Selector selector;
    private volatile Object posted;
    private volatile boolean selects;

    Selecting() {
      try {
        selector = Selector.open();
      } catch (final IOException e) {
        throw new UncheckedIOException(e);
      }
      remember(this).start();
    }

    @Override
    boolean post(final Object payload) {
      posted = payload;
      selector.wakeup();
      return true;
    }

    @Override
    public void run() {
      try (selector) {
        while (!stopped) {
          selects = true;
          selector.select();
          selects = false;
          final Object payload = posted;
          if (payload != null) {
            posted = null;
            handle(payload);
          }
        }
      } catch (final IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The state of a thread does not tell. */
    @Override
    boolean isAsleep() {
      return selects;
    }

    @Override
    public void close() {
      stopped = true;
      selector.wakeup();
    }
  }
}
