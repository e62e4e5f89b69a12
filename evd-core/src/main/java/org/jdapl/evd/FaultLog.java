package org.jdapl.evd;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.ErrorHandler;
import org.jdapl.dat.Evd;
import org.slf4j.Logger;

/**
 * What goes wrong at an EVD: counted, told to the consumer's {@link ErrorHandler} if it is his,
 * else logged. Faults that come again and again are logged the first, second, fourth, eighth time,
 * and so on. From any thread.
 */
final class FaultLog {

  private static final Logger LOGGER = Log.of(Evd.class);
  private static final long SLOW_AFTER = TimeUnit.SECONDS.toNanos(1);

  /** What a provider was asked for when it failed; each is counted on its own. */
  enum Call {
    POLL(Counters.POLL_FAULTS),
    FLUSH(Counters.FLUSH_FAULTS),
    DRAIN(Counters.DRAIN_FAULTS),
    CONNECTION(Counters.CONNECTION_FAULTS),
    CLOSE(Counters.CLOSE_FAULTS);

    private final int counter;

    Call(final int counter) {
      this.counter = counter;
    }
  }

  private final Evd evd;
  private final Counters counters;
  private final ErrorHandler errorHandler;
  private volatile int unhandledStreams; // written under the monitor of this object
  private volatile long slowAfterNanos = SLOW_AFTER;

  /**
   * A log.
   *
   * @param errorHandler told of what upcalls throw; null to have it logged.
   */
  FaultLog(final Evd evd, final Counters counters, final ErrorHandler errorHandler) {
    this.evd = evd;
    this.counters = counters;
    this.errorHandler = errorHandler;
  }

  // Consumer code.

  /**
   * An upcall threw. By hand it is thrown on, and a VirtualMachineError always.
   *
   * @param event what was handed out, still live; null if nothing was.
   * @param method what threw if it was not at an event.
   */
  void onThrown(
      final Dispatcher by, final EventBase event, final String method, final Throwable failure) {
    final long count = counters.incrementShared(Counters.FAILURES);
    if (by.isByHand() || failure instanceof VirtualMachineError) {
      throwUnchecked(failure);
    }
    if (errorHandler != null) {
      tell(event, failure);
    } else if (isPowerOfTwo(count)) {
      LOGGER.error(
          "{}: the handler threw at {} (failure {} of this EVD){}",
          evd.name(),
          event == null ? method : event,
          count,
          event == null ? "" : "; the event counts as consumed",
          failure);
    }
  }

  private void tell(final EventBase event, final Throwable failure) {
    try {
      errorHandler.onError(evd, event, failure);
    } catch (final VirtualMachineError e) {
      throw e;
    } catch (final Throwable e) {
      final long count = counters.incrementShared(Counters.ERROR_HANDLER_FAILURES);
      if (isPowerOfTwo(count)) {
        LOGGER.error(
            "{}: the error handler threw ({} times at this EVD) when it was told of {}",
            evd.name(),
            count,
            failure.toString(),
            e);
      }
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> void throwUnchecked(final Throwable failure) throws T {
    throw (T) failure;
  }

  void onUnhandled(final EventBase event) {
    counters.incrementShared(Counters.UNHANDLED);
    final int flag = event.stream().flag();
    if ((unhandledStreams & flag) == 0 && isFirstOf(flag)) {
      LOGGER.warn(
          "{}: the handler has no method for {}; override it, or onEvent, to silence this",
          evd.name(),
          event);
    }
  }

  private synchronized boolean isFirstOf(final int flag) {
    final int before = unhandledStreams;
    unhandledStreams = before | flag;
    return (before & flag) == 0;
  }

  // The provider.

  /**
   * A provider failed, or broke its contract.
   *
   * @param call what it was asked for.
   * @param object of what.
   * @param problem how it failed.
   * @param cause what it threw; null if it did not.
   * @return all of that in words.
   */
  String onProviderFault(
      final Call call, final Object object, final String problem, final Throwable cause) {
    final String what = call.name().toLowerCase(Locale.ROOT) + " of " + object + " " + problem;
    final long count = counters.incrementShared(call.counter);
    if (isPowerOfTwo(count)) {
      LOGGER.error("{}: {} (fault {} of its kind at this EVD)", evd.name(), what, count, cause);
    }
    return what;
  }

  // Slow turns.

  void slowAfter(final long nanos) {
    slowAfterNanos = nanos;
  }

  /** Whether turns are to be timed. */
  boolean isTimed() {
    return slowAfterNanos != 0;
  }

  /** A turn ended. */
  void onTurnTook(final Dispatcher by, final long nanos) {
    counters.maximum(Counters.LONGEST_TURN, nanos);
    if (isSlow(nanos)) {
      counters.incrementShared(Counters.SLOW_TURNS);
      warnOfSlowTurn("took", by, nanos, null);
    }
  }

  /** A turn has not ended yet. Called by the reaper. */
  void onTurnTakes(final Dispatcher by, final long nanos) {
    if (isSlow(nanos) && counters.get(Counters.SLOW_TURN_WARNINGS) == 0) {
      warnOfSlowTurn("has taken", by, nanos, by.whereItIs());
    }
  }

  private boolean isSlow(final long nanos) {
    final long limit = slowAfterNanos;
    return limit != 0 && nanos > limit;
  }

  private void warnOfSlowTurn(
      final String took, final Dispatcher by, final long nanos, final Throwable where) {
    if (counters.incrementShared(Counters.SLOW_TURN_WARNINGS) == 1) {
      LOGGER.warn(
          "{}: a turn {} {} ms, and kept {} from the other EVDs it serves; do what takes long on"
              + " another thread, or see Evd.slowAfter. Further ones are only counted.",
          evd.name(),
          took,
          TimeUnit.NANOSECONDS.toMillis(nanos),
          by,
          where);
    }
  }

  private static boolean isPowerOfTwo(final long n) {
    return (n & (n - 1)) == 0;
  }
}
