package org.jdapl.sim;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.ScatterGather;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsProvider;

/**
 * A simulated network with devices on it, which can talk to each other.
 *
 * <p>In real time it runs on daemon threads of its own, started when first needed. In virtual time
 * it has no thread: its clock is a {@link SteppedClock}, things happen in {@link SteppedClock#step}
 * only, and every choice is drawn from the seed, so that the same calls give the same run.
 */
public final class SimFabric implements AutoCloseable {

  private static final int TRACE_LENGTH = 200;
  private static final AtomicLong NUMBER = new AtomicLong();

  /** The fabric of the JVM; made when first asked for. */
  private static final class Shared {
    static final SimFabric FABRIC = new SimFabric("sim-shared");
  }

  /**
   * What every message touches: queue pairs, connections, registrations. Never held in a handler.
   */
  final Object wire = new Object();

  final Memory memory = new Memory(this);

  // Guarded by the wire.
  final ScatterGather local = new ScatterGather(SimDevice.MAX_SGE);
  final ScatterGather remote = new ScatterGather(SimDevice.MAX_SGE);
  final ByteBuffer scratch = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
  final Map<Long, SimListener> listeners = new HashMap<>();
  private final Map<String, SimDevice> open = new TreeMap<>();

  private final String name;
  private final long seed;
  private final SplittableRandom random;
  private final Scheduler scheduler;
  private final AtomicLong failures = new AtomicLong();
  private final ArrayDeque<String> trace = new ArrayDeque<>();
  private volatile boolean tracing;
  private volatile Throwable lastFailure;
  private int devices;

  /** A fabric in real time. */
  private SimFabric(final String name) {
    this.name = name;
    seed = System.nanoTime();
    random = new SplittableRandom(seed);
    scheduler = new RealTime(name);
  }

  /** A fabric in virtual time. */
  private SimFabric(final long seed) {
    name = "sim-virtual";
    this.seed = seed;
    random = new SplittableRandom(seed);
    scheduler = new VirtualTime(random);
  }

  /**
   * The fabric that devices opened by name are on, in real time.
   *
   * @return the one of this JVM; it is never closed.
   */
  public static SimFabric shared() {
    return Shared.FABRIC;
  }

  /**
   * A new fabric in real time.
   *
   * @return the fabric; to be closed, which ends its threads.
   */
  public static SimFabric realTime() {
    return new SimFabric("sim-" + NUMBER.incrementAndGet());
  }

  /**
   * A new fabric in virtual time. It is driven by one thread.
   *
   * @param seed where every choice comes from.
   * @return the fabric.
   */
  public static SimFabric virtual(final long seed) {
    return new SimFabric(seed);
  }

  /**
   * A provider of devices on this fabric.
   *
   * @param model what the devices do where the verbs leave a choice.
   * @return the provider.
   */
  public VerbsProvider provider(final SimModel model) {
    return new SimProvider(this, model);
  }

  /**
   * The clock of this fabric's devices.
   *
   * @return in virtual time a {@link SteppedClock}.
   */
  public NanoClock clock() {
    return scheduler.clock();
  }

  /**
   * Steps virtual time until something is so, or nothing is left to happen.
   *
   * @param condition looked at before each step.
   * @return whether it is so.
   * @throws IllegalStateException in real time, and inside a handler.
   */
  public boolean runUntil(final BooleanSupplier condition) {
    if (!(scheduler.clock() instanceof SteppedClock clock)) {
      throw new IllegalStateException(this + " runs by itself: wait for the condition instead");
    }
    boolean is = condition.getAsBoolean();
    while (!is && clock.step(Long.MAX_VALUE)) {
      is = condition.getAsBoolean();
    }
    return is;
  }

  /**
   * A device loses its link, and says PORT_ERR. No message comes to it or leaves it: requests fail
   * at both sides with RETRY_EXC_ERR, a connect or accept with UNREACHABLE after 4 seconds, and a
   * disconnect ends by itself after 4 seconds.
   *
   * @param device its name, such as {@code sim0}; they are numbered as they are opened.
   * @throws IllegalArgumentException if no such device is open.
   */
  public void linkDown(final String device) {
    synchronized (wire) {
      device(device).setLink(false);
    }
  }

  /**
   * The link of a device is there again, and it says PORT_ACTIVE. What failed stays failed.
   *
   * @param device its name.
   * @throws IllegalArgumentException as {@link #linkDown}.
   */
  public void linkUp(final String device) {
    synchronized (wire) {
      device(device).setLink(true);
    }
  }

  /**
   * A device falls silent, as if its host hung: its connection manager neither hears nor answers,
   * for good. Its hardware goes on with established connections.
   *
   * @param device its name.
   * @throws IllegalArgumentException as {@link #linkDown}.
   */
  public void silence(final String device) {
    synchronized (wire) {
      device(device).silence();
    }
  }

  /**
   * A device is removed: it says DEVICE_FATAL, its connections DEVICE_REMOVAL. What was completed
   * can be polled, and nothing more completes. From now on its verbs fail with EIO, except those
   * that destroy, poll and arm. Peers notice as with {@link #linkDown}.
   *
   * @param device its name.
   * @throws IllegalArgumentException as {@link #linkDown}.
   */
  public void remove(final String device) {
    synchronized (wire) {
      device(device).remove();
    }
  }

  /**
   * Does one of these as a text says, so that a fault plan can ask for it.
   *
   * @param text {@code link-down}, {@code link-up}, {@code silence} or {@code remove}, a space, and
   *     the name of a device.
   * @throws IllegalArgumentException if it is no such text, or no such device is open.
   */
  public void perform(final String text) {
    final int space = text.indexOf(' ');
    final String device = text.substring(space + 1);
    switch (space < 0 ? text : text.substring(0, space)) {
      case "link-down" -> linkDown(device);
      case "link-up" -> linkUp(device);
      case "silence" -> silence(device);
      case "remove" -> remove(device);
      default ->
          throw new IllegalArgumentException(
              "'"
                  + text
                  + "': expected link-down, link-up, silence or remove, and a device such as sim0");
    }
  }

  private SimDevice device(final String device) {
    final SimDevice found = open.get(device);
    if (found == null) {
      throw new IllegalArgumentException(
          "no device '" + device + "' is open on " + this + "; there are " + open.keySet());
    }
    return found;
  }

  /**
   * Starts to keep a trace of the last 200 things that happened.
   *
   * @return this fabric.
   */
  public SimFabric keepTrace() {
    tracing = true;
    return this;
  }

  /**
   * What happened last, for a failure's report.
   *
   * @return at most 200 lines, oldest first; none unless {@link #keepTrace} was called.
   */
  public List<String> trace() {
    synchronized (trace) {
      return List.copyOf(trace);
    }
  }

  /**
   * How many times a handler threw. The fabric goes on.
   *
   * @return the number.
   */
  public long handlerFailures() {
    return failures.get();
  }

  /**
   * What a handler threw last.
   *
   * @return it, or null if none did.
   */
  public Throwable lastHandlerFailure() {
    return lastFailure;
  }

  /** Ends the threads; nothing happens any more. The shared fabric cannot be closed. */
  @Override
  public void close() {
    if (this == Shared.FABRIC) {
      throw new IllegalStateException("the shared fabric is everybody's: close your devices");
    }
    scheduler.close();
  }

  @Override
  public String toString() {
    return name + "[seed=" + seed + ", time=" + scheduler.now() + " ns]";
  }

  SimDevice open(final SimModel model, final SimChannel channel) {
    synchronized (wire) {
      final SimDevice device = new SimDevice(this, "sim" + devices++, model, channel);
      open.put(device.name(), device);
      return device;
    }
  }

  /** Called holding the wire. */
  void closed(final SimDevice device) {
    open.remove(device.name());
  }

  boolean isVirtual() {
    return scheduler instanceof VirtualTime;
  }

  long now() {
    return scheduler.now();
  }

  Lane lane() {
    return scheduler.wire();
  }

  Lane secondLane() {
    return scheduler.second();
  }

  /** Has something done after a delay, holding the wire. */
  void later(final long delayNanos, final Runnable action) {
    lane().submit(task(action), delayNanos);
  }

  /** Does something holding the wire, and calls no handler. */
  Task task(final Runnable action) {
    return new Task() {
      @Override
      int run() {
        synchronized (wire) {
          action.run();
        }
        return 0;
      }
    };
  }

  long random(final long from, final long below) {
    synchronized (random) {
      return random.nextLong(from, below);
    }
  }

  boolean chance(final int percent) {
    return random(0, 100) < percent;
  }

  void handlerFailed(final Throwable failure) {
    failures.incrementAndGet();
    lastFailure = failure;
    if (tracing) {
      note("handler threw " + failure);
    }
  }

  /** Whether notes are kept. Asked before a note is put together: that allocates. */
  boolean isTracing() {
    return tracing;
  }

  void note(final String what) {
    final String line = scheduler.now() + " " + what;
    synchronized (trace) {
      if (trace.size() == TRACE_LENGTH) {
        trace.remove();
      }
      trace.add(line);
    }
  }
}
