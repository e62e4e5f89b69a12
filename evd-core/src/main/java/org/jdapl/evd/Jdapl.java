package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DispatcherStatistics;
import org.jdapl.dat.ErrorHandler;
import org.jdapl.dat.Evd;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsProvider;
import org.slf4j.Logger;

/**
 * The dispatcher over a provider of one's own choice, for embedding and for tests; most programs
 * use {@link org.jdapl.dat.Dat#open} instead.
 *
 * <p>Adapters that are opened here share its dispatchers. With threads, each dispatcher has one. By
 * hand, nothing happens but in {@link #round} and {@link #runUntil}, and in calls that wait, on the
 * caller's thread.
 *
 * <pre>{@code
 * try (Jdapl jdapl = Jdapl.with(provider).byHand().start()) {
 *   InterfaceAdapter ia = jdapl.open();
 *   ...
 *   boolean done = jdapl.runUntil(() -> count == 3, Duration.ofSeconds(1));
 * }
 * }</pre>
 */
public final class Jdapl implements AutoCloseable {

  private static final Logger LOGGER = Log.of(Jdapl.class);

  private static final AtomicInteger RUNTIMES = new AtomicInteger();
  private static final AtomicInteger DISPATCHERS = new AtomicInteger();
  private static final int MAX_CAPACITY = 1 << 24;
  private static final Duration WATCH_PERIOD = Duration.ofMillis(250);
  private static final Duration GRACE = Duration.ofSeconds(1);
  private static final Duration FOR_EVER = Duration.ofDays(10_000);
  private static final Duration READ_PERIOD = Duration.ofMillis(5);
  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(20);

  private final VerbsProvider provider;
  private final String parameters;
  private final NanoClock clock;
  private final boolean byHand;
  private final int capacity;
  private final ErrorHandler errorHandler;
  private final Reaper reaper;
  private final Watchdog watchdog = new Watchdog();

  /** By hand: when the watchdog looked last, and nothing happened since; else -1. */
  private long rescuedAtLook = -1;

  private final Dispatcher[] dispatchers;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger evds = new AtomicInteger();
  private final Set<LeakDetector> adapters = ConcurrentHashMap.newKeySet();
  private final LeakDetector leaks;
  private volatile boolean isReading;

  // Under the monitor of this object.
  private int devices; // that are not closed yet
  private boolean closed;

  private Jdapl(final Builder builder) {
    provider = builder.provider;
    parameters = builder.parameters;
    clock = builder.clock;
    byHand = builder.threads == null;
    capacity = builder.capacity;
    errorHandler = builder.errorHandler;
    final int number = RUNTIMES.incrementAndGet();
    reaper = new Reaper("reaper-" + number, clock);
    final Queue<EvdImpl> readyAnywhere = new MpmcAtomicArrayQueue<>(Math.max(2, capacity));
    dispatchers = new Dispatcher[builder.dispatchers];
    final EventChannel[] channels = createChannels(dispatchers.length);
    for (int i = 0; i < dispatchers.length; i++) {
      dispatchers[i] =
          new Dispatcher(
              "dispatcher-" + DISPATCHERS.incrementAndGet(),
              builder.threads,
              capacity,
              builder.waitStrategy,
              channels[i],
              readyAnywhere,
              dispatchers,
              clock);
    }
    if (!byHand) {
      reaper.start(builder.threads);
    }
    for (final Dispatcher dispatcher : dispatchers) {
      dispatcher.start();
    }
    if (!(clock instanceof SteppedClock)) {
      reaper.schedule(WATCH_PERIOD, this::watch);
    }
    leaks = new LeakDetector("runtime-" + number, builder.leakDetection);
    leaks.watch(this);
  }

  /**
   * Looks now and then what the dispatchers do, and for lost notifications. A timer. In virtual
   * time there is {@link #runUntil}: time that passed for this alone would hide that nothing more
   * will happen.
   */
  private void watch() {
    reaper.schedule(WATCH_PERIOD, this::watch); // first, whatever is thrown behind it
    if (!byHand) {
      reaper.watch();
      for (final Dispatcher dispatcher : dispatchers) {
        dispatcher.watch();
      }
      if (!isReading) {
        isReading = true;
        reaper.execute(this::readInstead);
      }
    }
    watchdog.look();
  }

  /**
   * While a handler keeps a dispatcher, nobody reads its channel, and events in there wait that are
   * other dispatchers'. By the reaper.
   */
  private void readInstead() {
    boolean goesOn = false;
    try {
      boolean kept = false;
      for (final Dispatcher dispatcher : dispatchers) {
        kept |= dispatcher.readInstead();
      }
      if (kept) {
        reaper.executeAfter(READ_PERIOD, this::readInstead);
        goesOn = true;
      }
    } finally {
      isReading = goesOn; // after an error, too: the next watch begins anew
    }
  }

  /** A channel for each dispatcher, or none; they are nulls if the provider pushes. */
  private EventChannel[] createChannels(final int count) {
    final EventChannel[] channels = new EventChannel[count];
    for (int i = 0; i < count && provider.delivery() == Delivery.CHANNEL; i++) {
      try {
        channels[i] = provider.createEventChannel();
      } catch (final Throwable e) {
        for (int made = 0; made < i; made++) {
          channels[made].close();
        }
        throw Misuse.failed("cannot use provider '" + provider.name() + "'", e);
      }
    }
    return channels;
  }

  /**
   * Begins to describe a runtime.
   *
   * @param provider the provider of all its adapters.
   * @return the description: one dispatcher on a daemon thread.
   * @throws DatException INTERNAL_ERROR if the system property {@code jdapl.leakDetection} has
   *     another value than those that {@link org.jdapl.dat.Dat#openObjects} names.
   */
  public static Builder with(final VerbsProvider provider) {
    return new Builder(Objects.requireNonNull(provider, "provider"));
  }

  /**
   * Begins to describe a runtime over a provider that {@link ServiceLoader} finds.
   *
   * @param provider the provider's name.
   * @return as {@link #with(VerbsProvider)}.
   * @throws DatException PROVIDER_NOT_FOUND (NAME_NOT_REGISTERED) if there is none of that name.
   */
  public static Builder with(final String provider) {
    for (final VerbsProvider found : found()) {
      if (found.name().equals(provider)) {
        return with(found);
      }
    }
    throw new DatException(
        ReturnType.PROVIDER_NOT_FOUND,
        ReturnSubtype.NAME_NOT_REGISTERED,
        "no provider on the class or module path is named '"
            + provider
            + "'; there are "
            + providers());
  }

  /** The names of all providers, sorted. */
  static List<String> providers() {
    return found().stream().map(VerbsProvider::name).distinct().sorted().toList();
  }

  /** All providers but those that cannot be loaded, which keep nobody from using the others. */
  private static List<VerbsProvider> found() {
    final List<VerbsProvider> found = new ArrayList<>();
    final Iterator<VerbsProvider> all = ServiceLoader.load(VerbsProvider.class).iterator();
    while (true) {
      try {
        if (!all.hasNext()) {
          return found;
        }
        found.add(all.next());
      } catch (final ServiceConfigurationError e) { // the iterator goes on behind it
        LOGGER.warn("a provider cannot be loaded, and is left out: {}", e.getMessage(), e);
      }
    }
  }

  /** Describes a runtime. Confined to one thread. */
  public static final class Builder {

    private final VerbsProvider provider;
    private String parameters = "";
    private NanoClock clock = NanoClock.SYSTEM;
    private ThreadFactory threads = Builder::daemon;
    private int dispatchers = 1;
    private WaitStrategy waitStrategy = WaitStrategy.SPIN_THEN_BLOCK;
    private int capacity = 1 << 12;
    private ErrorHandler errorHandler;
    private LeakDetector.Level leakDetection = LeakDetector.Level.configured();

    private Builder(final VerbsProvider provider) {
      this.provider = provider;
    }

    private static Thread daemon(final Runnable loop) {
      final Thread thread = new Thread(loop, "jdapl-" + loop);
      thread.setDaemon(true);
      return thread;
    }

    /**
     * The provider, for what it can.
     *
     * @return the one this description began with.
     */
    public VerbsProvider provider() {
      return provider;
    }

    /**
     * What the provider opens.
     *
     * @param value in the provider's language; empty is the default.
     * @return this.
     */
    public Builder parameters(final String value) {
      parameters = value;
      return this;
    }

    /**
     * The clock for time-outs; for a provider in virtual time, its {@link SteppedClock}.
     *
     * @param value the clock; the machine's is the default.
     * @return this.
     */
    public Builder clock(final NanoClock value) {
      clock = value;
      return this;
    }

    /**
     * Who makes the threads: one for each dispatcher, one for timers, and one for calls of the
     * provider that may block, with another one for each that does not return.
     *
     * @param value the factory; one for daemon threads is the default.
     * @return this.
     */
    public Builder threads(final ThreadFactory value) {
      threads = Objects.requireNonNull(value, "threads; byHand() is for none");
      return this;
    }

    /**
     * No threads: everything runs inside the calls that drive it.
     *
     * @return this.
     */
    public Builder byHand() {
      threads = null;
      return this;
    }

    /**
     * How many dispatchers there are. Each EVD is placed on one of them, in turn.
     *
     * @param value at least 1, the default.
     * @return this.
     */
    public Builder dispatchers(final int value) {
      if (value < 1) {
        throw new IllegalArgumentException("dispatchers(" + value + "): at least 1");
      }
      dispatchers = value;
      return this;
    }

    /**
     * How the dispatchers' threads wait. By hand, none does.
     *
     * @param value the strategy; {@link WaitStrategy#SPIN_THEN_BLOCK} is the default.
     * @return this.
     */
    public Builder waitStrategy(final WaitStrategy value) {
      waitStrategy = Objects.requireNonNull(value, "waitStrategy");
      return this;
    }

    /**
     * How many EVDs may be open at once.
     *
     * @param value 1 to 2^24, rounded up to a power of two, at least 2; 4096 is the default.
     * @return this.
     */
    public Builder capacity(final int value) {
      if (value < 1 || value > MAX_CAPACITY) {
        throw new IllegalArgumentException("capacity(" + value + "): 1 to " + MAX_CAPACITY);
      }
      capacity = Integer.highestOneBit(Math.max(1, value - 1)) << 1;
      return this;
    }

    /**
     * Who is told of what upcalls throw. By hand, nobody: there it is thrown at the caller.
     *
     * @param value the handler; by default it is logged, with the name of the EVD, the first,
     *     second, fourth, eighth time, and so on.
     * @return this.
     */
    public Builder errorHandler(final ErrorHandler value) {
      errorHandler = Objects.requireNonNull(value, "errorHandler");
      return this;
    }

    /** What is remembered of objects that are open; consumers have the system property. */
    Builder leakDetection(final LeakDetector.Level value) {
      leakDetection = value;
      return this;
    }

    /**
     * Starts the runtime.
     *
     * @return the runtime; to be closed.
     * @throws DatException if the provider cannot be used; its cause says why.
     */
    public Jdapl start() {
      return new Jdapl(this);
    }
  }

  /**
   * Opens an interface adapter on the provider's device.
   *
   * @return the adapter.
   * @throws DatException as {@link org.jdapl.dat.Dat#open}.
   */
  public InterfaceAdapter open() {
    return open(() -> {});
  }

  InterfaceAdapter open(final Runnable afterDevice) {
    reserveDevice();
    IaImpl ia = null;
    try {
      ia = open(nextDispatcher(), afterDevice);
      return ia;
    } finally {
      if (ia == null) {
        releaseEvd();
        releaseDevice();
      }
    }
  }

  private IaImpl open(final Dispatcher dispatcher, final Runnable afterDevice) {
    final Device device = asked(() -> provider.open(parameters, dispatcher.channel()));
    IaImpl ia = null;
    try {
      checkClock(device);
      ia = asked(() -> open(device, dispatcher, afterDevice));
      return ia;
    } finally {
      if (ia == null) {
        closeUnused(device);
      }
    }
  }

  /** What the provider answers; what it throws instead becomes an exception of DAT. */
  private <T> T asked(final Supplier<T> question) {
    try {
      return question.get();
    } catch (final Throwable e) {
      throw Misuse.failed("cannot open a device of provider '" + provider.name() + "'", e);
    }
  }

  private void checkClock(final Device device) {
    if (device.clock() instanceof SteppedClock && (!byHand || clock != device.clock())) {
      throw new IllegalStateException(
          device.name()
              + " lives in virtual time: its runtime needs byHand() and its clock,"
              + " Jdapl.with(provider).byHand().clock(clock)");
    }
  }

  private IaImpl open(
      final Device device, final Dispatcher dispatcher, final Runnable afterDevice) {
    final LeakDetector opened = new LeakDetector(device.name(), leaks.level());
    boolean done = false;
    try {
      final IaImpl ia =
          new IaImpl(
              device.name(),
              this,
              device,
              dispatcher,
              opened,
              () -> {
                adapters.remove(opened);
                opened.closed();
              },
              () -> {
                afterDevice.run();
                releaseDevice();
              });
      ia.open();
      synchronized (this) { // a close may have come between
        checkOpen();
        adapters.add(opened);
      }
      done = true;
      return ia;
    } finally {
      if (!done) {
        opened.closed();
      }
    }
  }

  private static void closeUnused(final Device device) {
    try {
      device.close();
    } catch (final Throwable e) {
      LOGGER.error("{} was not opened, and could not be closed", device, e);
    }
  }

  /** Null if failures are to be logged. */
  ErrorHandler errorHandler() {
    return errorHandler;
  }

  Dispatcher nextDispatcher() {
    return dispatchers[Math.floorMod(next.getAndIncrement(), dispatchers.length)];
  }

  /**
   * Moves an EVD to a dispatcher, also while events stream in; none is lost and the order stays.
   * Takes effect at the end of a turn. From any thread. Upcalls of MANY run on all dispatchers.
   *
   * @param evd an EVD of an adapter of this runtime. At first each is placed in turn.
   * @param dispatcher the number of the dispatcher, from 0.
   * @throws IllegalArgumentException if there is no such dispatcher, or the EVD is another
   *     runtime's.
   * @throws DatException INVALID_HANDLE if the EVD is closed.
   */
  public void place(final Evd evd, final int dispatcher) {
    if (dispatcher < 0 || dispatcher >= dispatchers.length) {
      throw new IllegalArgumentException(
          "place("
              + evd
              + ", "
              + dispatcher
              + "): the dispatchers are 0 to "
              + (dispatchers.length - 1));
    }
    if (!(evd instanceof EvdImpl own) || own.ia().runtime() != this) {
      throw new IllegalArgumentException("place(" + evd + "): not an EVD of this runtime");
    }
    own.checkOpen(ReturnSubtype.NO_SUBTYPE, "place");
    own.moveTo(dispatchers[dispatcher]);
  }

  boolean isByHand() {
    return byHand;
  }

  String providerName() {
    return provider.name();
  }

  /** How many EVDs may be open at once. */
  int capacity() {
    return capacity;
  }

  /** How many are open. */
  int adapters() {
    return adapters.size();
  }

  Reaper reaper() {
    return reaper;
  }

  Watchdog watchdog() {
    return watchdog;
  }

  List<DispatcherStatistics> dispatcherStatistics() {
    return Stream.of(dispatchers).map(Dispatcher::statistics).toList();
  }

  /** A device is to be opened, and an async EVD for it. */
  private synchronized void reserveDevice() {
    checkOpen();
    reserveEvd("the adapter");
    devices++;
  }

  /** Under the monitor. */
  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this runtime is closed; start another one");
    }
  }

  /** A device is closed. */
  private void releaseDevice() {
    synchronized (this) {
      devices--;
      if (devices > 0 || !closed) {
        return;
      }
    }
    stop();
  }

  void reserveEvd(final String adapter) {
    if (evds.incrementAndGet() > capacity) {
      evds.decrementAndGet();
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_TEVD,
          adapter
              + ".createEvd: "
              + capacity
              + " EVDs are open, and more do not fit; Jdapl.Builder.capacity makes room");
    }
  }

  void releaseEvd() {
    evds.decrementAndGet();
  }

  /**
   * By hand: one round of each dispatcher on the caller's thread, one thread at a time. It never
   * waits. What a handler throws is thrown on; the event counts as consumed and nothing else is
   * lost.
   *
   * @return whether there was anything to do.
   * @throws IllegalStateException if the dispatchers have threads, or inside an upcall.
   */
  public boolean round() {
    checkByHand();
    if (Dispatcher.isCurrent()) {
      throw new IllegalStateException("an upcall must not drive the dispatchers");
    }
    boolean worked = reaper.round();
    for (final Dispatcher dispatcher : dispatchers) {
      worked |= dispatcher.round();
    }
    return worked;
  }

  /**
   * By hand: drives the dispatchers, and a provider in virtual time, until a condition holds.
   *
   * @param condition looked at between rounds.
   * @param bound how long, on this runtime's clock, it may take.
   * @return whether the condition holds; false if the time is over, or in virtual time if nothing
   *     more will happen.
   * @throws IllegalStateException as {@link #round}.
   */
  public boolean runUntil(final BooleanSupplier condition, final Duration bound) {
    checkByHand();
    rescuedAtLook = -1;
    return drive(condition, bound);
  }

  private boolean drive(final BooleanSupplier condition, final Duration bound) {
    final long deadline = clock.nanoTime() + Reaper.nanos(bound);
    while (!condition.getAsBoolean()) {
      if (round()) {
        continue;
      }
      final boolean lookedInVain = watchdog.rescued() == rescuedAtLook;
      if (passTime(deadline, lookedInVain ? Long.MAX_VALUE : WATCH_PERIOD.toNanos())) {
        rescuedAtLook = -1;
      } else if (lookedInVain || isOver(deadline)) {
        return false;
      } else {
        rescuedAtLook = watchdog.rescued();
        watchdog.lookAll();
      }
    }
    return true;
  }

  /**
   * Nothing is to be done now: lets time pass until the next timer, step, or the deadline.
   *
   * @param quiet how much may pass in which nothing happens.
   * @return whether there may be something to be done.
   */
  private boolean passTime(final long deadline, final long quiet) {
    final long now = clock.nanoTime();
    final long left = deadline - now;
    if (left <= 0) {
      return false;
    }
    final long timer = reaper.nextTimerNanos();
    final long wait = Math.min(quiet, Math.min(left, timer));
    if (clock instanceof SteppedClock stepped) {
      return stepped.step(now + wait) || timer <= wait;
    }
    LockSupport.parkNanos(Math.min(NAP, wait));
    return true;
  }

  private void checkByHand() {
    if (!byHand) {
      throw new IllegalStateException("the dispatchers of this runtime have threads");
    }
  }

  /** When a time from now on is over, on this runtime's clock. */
  long deadline(final Duration timeout) {
    return clock.nanoTime() + Reaper.nanos(timeout);
  }

  boolean isOver(final long deadline) {
    return deadline - clock.nanoTime() <= 0;
  }

  /**
   * Blocks this thread until a condition holds, the thread is interrupted, or the time is over: by
   * hand it drives everything meanwhile, else it is parked, and who makes the condition hold
   * unparks it.
   */
  void block(final BooleanSupplier condition, final long deadline) {
    if (byHand) {
      drive( // who was woken by the watchdog in vain comes back, and is not woken again
          () -> condition.getAsBoolean() || Thread.currentThread().isInterrupted(),
          Duration.ofNanos(Math.max(0, deadline - clock.nanoTime())));
      return;
    }
    while (!condition.getAsBoolean()
        && !Thread.currentThread().isInterrupted()
        && !isOver(deadline)) {
      LockSupport.parkNanos(this, deadline - clock.nanoTime());
    }
  }

  /** Waits for something to complete; without a bound, for ever. */
  void await(final CompletableFuture<?> future, final Duration bound, final DatObject object) {
    final boolean done =
        byHand
            ? runUntil(future::isDone, bound == null ? FOR_EVER : plusGrace(bound))
            : awaitThreads(future, bound, object);
    if (!done) {
      throw new DatException(
          ReturnType.INTERNAL_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          object.name()
              + ": what was begun did not end"
              + (bound == null ? "; nothing more happens" : " within " + bound));
    }
  }

  /** What is to end within a bound says so a little later. */
  private static Duration plusGrace(final Duration bound) {
    return Duration.ofNanos(Reaper.nanos(bound)).plus(GRACE);
  }

  private static boolean awaitThreads(
      final CompletableFuture<?> future, final Duration bound, final DatObject object) {
    try {
      if (bound == null) {
        future.get();
      } else {
        future.get(plusGrace(bound).toNanos(), TimeUnit.NANOSECONDS);
      }
      return true;
    } catch (final TimeoutException e) {
      return false;
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DatException(
          ReturnType.ABORT,
          ReturnSubtype.SUB_INTERRUPTED,
          object.name() + ": interrupted while waiting; what was begun goes on",
          e);
    } catch (final ExecutionException e) {
      throw new DatException(
          ReturnType.INTERNAL_ERROR, ReturnSubtype.NO_SUBTYPE, object.name(), e.getCause());
    }
  }

  /**
   * Stops the dispatchers. Its adapters must be closed before. If something of one that was closed
   * abruptly is stuck, the threads end when that has returned, and its device is closed.
   *
   * @throws IllegalStateException if adapters are open.
   */
  @Override
  public void close() {
    synchronized (this) {
      if (!adapters.isEmpty()) {
        throw new IllegalStateException(
            "adapters of this runtime are open, and are to be closed first: " + adapters);
      }
      if (closed) {
        return;
      }
      closed = true;
      leaks.closed();
      if (devices > 0) {
        return; // the last one stops
      }
    }
    stop();
  }

  private void stop() {
    reaper.stop();
    for (final Dispatcher dispatcher : dispatchers) {
      dispatcher.stop();
    }
  }
}
