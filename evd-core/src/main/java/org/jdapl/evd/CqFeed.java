package org.jdapl.evd;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * A completion queue that feeds an EVD, and what is known of its arm. Everything but {@link
 * #onNotification} is confined to the holder of the EVD's turn.
 */
final class CqFeed implements CqHandler {

  /**
   * Completions asked for at once. A batch has twice the room, for a provider that returns more.
   */
  static final int BATCH = 16;

  private static final int EMPTY_LIMIT = 16;
  private static final Duration FIRST_DELAY = Duration.ofMillis(1);
  private static final Duration LAST_DELAY = Duration.ofMillis(64);

  private enum Mode {
    /** It may hold completions and may not be armed: poll and rearm. */
    REARM,
    /** It is armed but may hold completions: plain poll until empty. */
    PLAIN,
    /** It is armed, and whatever it holds or gets raises a notification: nothing to do. */
    ARMED,
    /** It gave notifications or hints without completions: nothing to do until the timer. */
    WAITING
  }

  private final EvdImpl evd;

  /** The same for all its life, so that an arm for the next completion is never weakened. */
  private final ArmKind kind;

  private final AtomicInteger room = new AtomicInteger();
  private CompletionQueue cq;
  private Mode mode = Mode.REARM;
  private final Backoff delay = new Backoff(FIRST_DELAY, LAST_DELAY);
  private boolean wakes;
  private int empties;
  private int inARow;
  private boolean due;

  private volatile boolean notified;
  private volatile boolean muted;

  CqFeed(final EvdImpl evd, final ArmKind kind) {
    this.evd = evd;
    this.kind = kind;
  }

  ArmKind kind() {
    return kind;
  }

  void open(final CompletionQueue queue, final int entriesLeft) {
    cq = queue;
    room.set(entriesLeft);
  }

  /** Reserves entries, if there are so many. From any thread. */
  boolean takeRoom(final int entries) {
    int left;
    do {
      left = room.get();
      if (left < entries) {
        return false;
      }
    } while (!room.compareAndSet(left, left - entries));
    return true;
  }

  /** Gives entries back. From any thread. */
  void giveRoom(final int entries) {
    room.addAndGet(entries);
  }

  CompletionQueue cq() {
    return cq;
  }

  /** Called by the provider, from any thread, perhaps inside a verb. */
  @Override
  public void onNotification(final CompletionQueue queue) {
    if (!muted) {
      notified = true;
      evd.signalCq();
    }
  }

  /** A turn serves the CQ bit: the arm is used up, or was never made. */
  void resume() {
    if (mode != Mode.WAITING || due) {
      mode = Mode.REARM;
    }
  }

  /** It is to be polled, whatever was known of it. */
  void resumeAtOnce() {
    mode = Mode.REARM;
  }

  /** Armed for solicited completions, it may hold others: it is to be polled, its arm stands. */
  void lookAgain() {
    if (kind == ArmKind.SOLICITED && mode == Mode.ARMED) {
      mode = Mode.PLAIN;
    }
  }

  /** Whether it must be polled before the EVD may go idle. */
  boolean hasMore() {
    return mode == Mode.REARM || mode == Mode.PLAIN;
  }

  /**
   * Whether it is not polled now because it failed, or said that there is something and gave none.
   */
  boolean isPaused() {
    return mode == Mode.WAITING;
  }

  /**
   * Polls, and arms if it is empty; or, where nobody is told of what comes, leaves it as it is: an
   * arm that there is stands, and one that there may not be is not made.
   *
   * @param into an empty batch.
   * @param arms whether it arms.
   * @return whether something was appended. If not, and it arms, {@link #hasMore} is false.
   */
  boolean poll(final WorkCompletions into, final boolean arms) {
    do {
      evd.counters().increment(Counters.PROVIDER_CALLS);
      final boolean asked = notified || due;
      if (notified) { // a store would be a fence, each time
        notified = false;
      }
      due = false;
      try {
        if (arms && mode == Mode.REARM) {
          rearm(into, asked);
        } else {
          pollPlainly(into);
        }
      } catch (final VirtualMachineError e) {
        throw e;
      } catch (final Throwable e) {
        evd.onProviderFault(FaultLog.Call.POLL, cq, "failed: " + e, e);
        pause();
      }
    } while (arms && hasMore() && into.size() == 0);
    if (into.size() > 0) {
      if (into.size() > BATCH) {
        evd.onProviderFault(
            FaultLog.Call.POLL, cq, "returned " + into.size() + " completions for " + BATCH, null);
      }
      empties = 0;
      delay.reset();
      inARow += into.size();
      evd.counters().maximum(Counters.MOST_COMPLETIONS, inARow);
      inARow = mode == Mode.ARMED ? 0 : inARow;
      return true;
    }
    inARow = 0;
    return false;
  }

  /**
   * Looks, for the watchdog, whether completions came without the notification that was asked for.
   *
   * @param into an empty batch.
   */
  void rescue(final WorkCompletions into) {
    if (mode == Mode.ARMED && !notified) {
      try {
        cq.poll(into, BATCH);
      } catch (final VirtualMachineError e) {
        throw e;
      } catch (final Throwable e) {
        evd.onProviderFault(FaultLog.Call.POLL, cq, "failed: " + e, e);
      }
      if (into.size() > 0) {
        mode = Mode.REARM;
        evd.counters().add(Counters.RESCUED, overdue(into));
      }
    }
  }

  /** How many should have notified. Which receives are solicited is not known: none counts. */
  private int overdue(final WorkCompletions late) {
    if (kind == ArmKind.NEXT) {
      return late.size();
    }
    int errors = 0;
    for (int i = 0; i < late.size(); i++) {
      errors += late.status(i) == WcStatus.SUCCESS ? 0 : 1;
    }
    return errors;
  }

  /** What was appended counts; what the provider says it appended does not. */
  private void pollPlainly(final WorkCompletions into) {
    final int said = cq.poll(into, BATCH);
    if (into.size() == 0 && mode == Mode.PLAIN) {
      mode = Mode.ARMED;
    }
    if (said != into.size()) {
      evd.onProviderFault(
          FaultLog.Call.POLL,
          cq,
          "said " + said + " and returned " + into.size() + " completions",
          null);
    }
  }

  private void rearm(final WorkCompletions into, final boolean asked) {
    if (muted) {
      muted = false; // before the arm: what comes after it must be heard
    }
    switch (cq.pollAndRearm(into, BATCH, kind)) {
      case SUCCESS -> {
        if (into.size() == 0) {
          pause();
        }
      }
      case POLL_NEEDED -> armed(Mode.PLAIN);
      case COMPLETED -> armed(Mode.ARMED);
      case NOT_DONE -> {
        armed(Mode.ARMED);
        if (asked) {
          evd.counters().increment(Counters.SPURIOUS);
          if (++empties >= EMPTY_LIMIT) {
            pause();
          }
        }
      }
    }
  }

  private void armed(final Mode next) {
    evd.counters().increment(Counters.ARMS);
    mode = next;
  }

  private void pause() {
    mode = Mode.WAITING;
    muted = true;
    if (!wakes) { // else each poll at once that fails would add polls for ever
      wakes = true;
      evd.controlAfter(delay.next(), this::wake);
    }
  }

  private void wake() {
    wakes = false;
    due = true;
    evd.signalCq();
  }
}
