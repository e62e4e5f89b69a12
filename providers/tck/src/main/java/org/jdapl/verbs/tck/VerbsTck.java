package org.jdapl.verbs.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What all tests of providers share: a bed for each test, how to wait, and how to say what was
 * done, what was expected, what was seen, and what usually causes it.
 */
@ExtendWith({Summary.class, WholeTest.class})
@SuppressWarnings("exports") // nobody else has a use for it
public abstract class VerbsTck {

  private static final long CHANNEL_SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final int STEPS_SHOWN = 30;

  /** A higher limit is not tried: it takes long, and much of what others may need. */
  private static final int MOST_OBJECTS = 1024;

  private final List<String> steps = Collections.synchronizedList(new ArrayList<>());
  private final List<Side> sides = new ArrayList<>();
  private volatile Thread inVerb;
  private volatile TckBed bed;
  private volatile String forgotten = "";
  private EventChannel channel;
  private NanoClock clock;

  /** Tests of a part of the contract; the state lives for one test. */
  protected VerbsTck() {}

  /**
   * Says where the next test runs.
   *
   * @return a bed; the test opens its devices and closes them.
   */
  protected abstract TckBed bed();

  final void open(final TckBed where) {
    bed = where;
    if (where.provider.delivery() == Delivery.CHANNEL) {
      channel = where.provider.createEventChannel();
    }
  }

  final void close() {
    try {
      for (int i = sides.size() - 1; i >= 0; i--) {
        sides.get(i).close();
      }
      if (channel != null) {
        channel.close();
      }
    } catch (final VerbsException e) {
      fail(
          "every object to be closed after the test, those that use others first",
          e,
          "an object that still counts as used although its user was closed.");
    } finally {
      bed.end.run();
    }
  }

  final TckBed where() {
    return bed;
  }

  /** The channel the devices deliver in; null if they push. */
  final EventChannel channel() {
    return channel;
  }

  /** The device that connects, with what it needs. */
  final Side first() {
    return open(bed.first);
  }

  /** The device that listens, with what it needs. */
  final Side second() {
    return open(bed.second);
  }

  private Side open(final String parameters) {
    final Device device = bed.provider.open(parameters, channel);
    forgotten = forgotten(device.limits());
    final Side side = new Side(this, device);
    sides.add(side);
    clock = side.device.clock();
    return side;
  }

  /** With one of these 0 a device can do nothing; whatever failed, that is why. */
  private static String forgotten(final DeviceLimits limits) {
    final Map<String, Number> needed =
        Map.of(
            "maxQp", limits.maxQp(),
            "maxQpWr", limits.maxQpWr(),
            "maxSge", limits.maxSge(),
            "maxCq", limits.maxCq(),
            "maxCqe", limits.maxCqe(),
            "maxMr", limits.maxMr(),
            "maxPd", limits.maxPd(),
            "maxMessageBytes", limits.maxMessageBytes());
    final String none =
        needed.keySet().stream()
            .filter(name -> needed.get(name).longValue() == 0)
            .sorted()
            .collect(Collectors.joining(", "));
    return none.isEmpty()
        ? ""
        : "a limit of 0, which is what DeviceLimits.Builder was not told: "
            + none
            + ". Nothing works without.";
  }

  final boolean isVirtual() {
    return clock instanceof SteppedClock;
  }

  /** What needs several threads is not tried where everything happens on one. */
  final void needsThreads() {
    Assumptions.assumeFalse(isVirtual(), "skipped: on virtual time nothing happens at once");
  }

  final void needs(final boolean declared, final String why) {
    Assumptions.assumeTrue(declared, () -> "skipped: " + why);
  }

  final Declaration declaration(final Side side) {
    return side.device.declaration();
  }

  /** Remembers a step for the report of a failure. */
  final void did(final String step) {
    steps.add(step);
  }

  /** Marks what the test's thread does as the inside of a verb. */
  final <T> T verb(final String step, final Supplier<T> call) {
    did(step);
    inVerb = Thread.currentThread();
    try {
      return call.get();
    } finally {
      inVerb = null;
    }
  }

  /** Whether the caller was called by a verb that the test called. */
  final boolean isInsideVerb() {
    return inVerb == Thread.currentThread();
  }

  /** Waits until something is so; fails if it is not in time. */
  final void await(
      final BooleanSupplier condition,
      final String expected,
      final Supplier<?> seen,
      final String often) {
    if (!isInTime(condition)) {
      fail(expected + " within " + WholeTest.seconds(bed.await), seen.get(), often);
    }
  }

  /** Waits until something is so, and says whether it was in time. */
  final boolean isInTime(final BooleanSupplier condition) {
    return isWithin(condition, bed.await);
  }

  /** Looks for a while that nothing happens; its caller checks. */
  final void silence() {
    isWithin(() -> false, bed.silence);
  }

  /** Lets a little time pass, so that a race is met in another place. */
  final void pass(final long micros) {
    isWithin(() -> false, Duration.ofNanos(1000 * micros));
  }

  private boolean isWithin(final BooleanSupplier condition, final Duration time) {
    if (clock instanceof SteppedClock stepped) {
      return isWithin(stepped, condition, time);
    }
    final long end = System.nanoTime() + time.toNanos();
    boolean is = condition.getAsBoolean();
    while (!is && System.nanoTime() - end < 0) {
      if (channel != null) {
        channel.await(CHANNEL_SLICE_NANOS);
      } else {
        LockSupport.parkNanos(20_000);
      }
      if (Thread.currentThread().isInterrupted()) {
        throw new IllegalStateException("the test was given up");
      }
      is = condition.getAsBoolean();
    }
    return is;
  }

  private boolean isWithin(
      final SteppedClock stepped, final BooleanSupplier condition, final Duration time) {
    final long end = stepped.nanoTime() + time.toNanos();
    boolean is = condition.getAsBoolean();
    boolean more = true;
    while (!is && more) {
      more = stepped.step(end);
      more |= channel != null && channel.await(0) > 0;
      is = condition.getAsBoolean();
    }
    return is;
  }

  /** Fails unless something is so. */
  final void check(final boolean is, final String expected, final Object seen, final String often) {
    if (!is) {
      fail(expected, seen, often);
    }
  }

  /** Fails if two values differ. */
  final void same(final Object expected, final Object seen, final String what, final String often) {
    check(expected.equals(seen), what + ": " + expected, seen, often);
  }

  final void fail(final String expected, final Object seen, final String often) {
    Assertions.fail(report(expected, seen, often));
  }

  /** A verb must be refused, with one of the errnos. */
  final VerbsException refused(
      final String what, final Runnable verb, final String often, final Integer... errnos) {
    did(what);
    try {
      verb.run();
    } catch (final VerbsException e) {
      check(
          errnos.length == 0 || List.of(errnos).contains(e.errno()),
          what + " to be refused with errno " + List.of(errnos),
          e,
          often);
      return e;
    } catch (final RuntimeException e) {
      fail(what + " to be refused by a VerbsException", e, often);
    }
    fail(what + " to be refused", "it returned as if all was well", often);
    throw new AssertionError();
  }

  /**
   * Creates objects until one is refused, if the limit is low enough to be tried.
   *
   * @param what the objects.
   * @param held how many there are already.
   * @param limit how many there may be.
   * @return whether it was tried.
   */
  final boolean fill(
      final Side side,
      final String what,
      final int held,
      final int limit,
      final Supplier<? extends AutoCloseable> create) {
    if (limit == 0 || limit > MOST_OBJECTS) {
      return false;
    }
    did("create " + what + " until one is refused");
    AutoCloseable last = null;
    VerbsException refusal = null;
    for (int i = held; i <= limit && refusal == null; i++) {
      try {
        last = side.own(create.get());
      } catch (final VerbsException e) {
        refusal = e;
      }
    }
    final String refused = what + " above the limit of " + limit + " to be refused with ENOMEM";
    check(refusal != null, refused, "one more was created", "a limit that is told, and not kept.");
    final int errno = refusal.errno();
    check(
        errno == VerbsException.ENOMEM, refused, refusal, "EINVAL says that the caller is wrong.");
    check(last != null, "room for one of " + what, refusal, "a limit that counts something else.");
    side.close(last, "the last of " + what);
    did("create another one");
    try {
      side.own(create.get());
    } catch (final VerbsException e) {
      fail("room for one, as one was closed", e, "an object that still counts although closed.");
    }
    return true;
  }

  /** A post must be refused, by its result. */
  final void refusedPost(
      final String what, final Supplier<Integer> post, final String often, final int errno) {
    did(what);
    final String expected = what + " to be refused with errno " + errno + " as its result";
    did(what);
    try {
      final int seen = post.get();
      check(seen == errno, expected, "result " + seen, often);
    } catch (final VerbsException e) {
      fail(expected, e, "a post that throws.");
    }
  }

  final String report(final String expected, final Object seen, final String often) {
    final StringBuilder text = new StringBuilder(512);
    text.append("\n  expected: ").append(expected).append("\n  seen:     ").append(seen);
    synchronized (steps) {
      text.append("\n  done:     ");
      final int from = Math.max(0, steps.size() - STEPS_SHOWN);
      text.append(from == 0 ? "" : "(the last " + STEPS_SHOWN + " of " + steps.size() + ") ");
      text.append(String.join("; ", steps.subList(from, steps.size())));
    }
    text.append("\n  often:    ").append(forgotten.isEmpty() ? often : forgotten);
    if (sides.isEmpty()) {
      text.append("\n  device:   none was opened, of ").append(bed.provider);
    }
    for (final Side side : List.copyOf(sides)) {
      text.append("\n  device:   ").append(side.device.name()).append(" of ");
      text.append(bed.provider).append(", ").append(side.device.declaration());
    }
    final String replay = bed.replay.get();
    return text.append(replay.isEmpty() ? "" : "\n  replay:   " + replay).append('\n').toString();
  }

  /** Runs something on a thread of its own. */
  final Background inBackground(final String step, final Runnable body) {
    did("on another thread: " + step);
    return new Background(body);
  }

  /** Something that runs beside the test. */
  static final class Background {

    private final CountDownLatch done = new CountDownLatch(1);
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Background(final Runnable body) {
      final Thread thread =
          new Thread(
              () -> {
                try {
                  body.run();
                } catch (final Throwable e) {
                  failure.set(e);
                } finally {
                  done.countDown();
                }
              },
              "provider-tck beside");
      thread.setDaemon(true);
      thread.start();
    }

    boolean isDone() {
      return done.getCount() == 0;
    }

    Throwable failure() {
      return failure.get();
    }
  }

  /** Fails as something beside the test did. */
  static void rethrow(final Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }

  /** Waits without driving a channel: for handlers that hold. */
  static boolean hold(final CountDownLatch release, final Duration longest) {
    try {
      return release.await(longest.toMillis(), TimeUnit.MILLISECONDS);
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
