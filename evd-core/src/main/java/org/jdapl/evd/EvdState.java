package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The state word of an EVD: who holds its turn, what was signalled, and what its policy is.
 *
 * <p>A <i>turn</i> is the right to take events; at most one is held at any time. The <i>token</i>
 * is the EVD's entry in a ready ring; there is at most one. The sticky "notified" of the contract
 * is "token or turn or work": a signal that finds it so only sets its bit.
 *
 * <p>{@link #next} is all there is to say about transitions: it is pure, used by production code,
 * and explored exhaustively by a test. Every transition is one compare-and-set, also when it
 * changes nothing; only a signal that changes nothing is a full fence and a read, so that posters
 * do not take the word from the turn that reads it. It needs the fence: it comes after a release
 * store into a queue, and a mere read could be done before that store is visible.
 */
final class EvdState {

  /** An entry of this EVD is in a ready ring. */
  static final long TOKEN = 1L;

  /** Somebody holds the turn. */
  static final long TURN = 1L << 1;

  /**
   * The turn may run consumer code; without it, the turn is brief and nobody needs to be refused.
   */
  static final long UPCALL = 1L << 2;

  /** A completion queue wants to be looked at. */
  static final long CQ = 1L << 3;

  /** The lane, or the stash, wants to be looked at. */
  static final long LANE = 1L << 4;

  /** The framework has something to do in a turn, whatever the policy. */
  static final long CONTROL = 1L << 5;

  /** Both kinds of events. */
  static final long WORK = CQ | LANE;

  /** No consumer may use it any more. */
  static final long CLOSED = 1L << 9;

  /**
   * A thread waits for events; it holds the turn all the while. Who ends the wait, takes it away.
   */
  static final long WAITER = 1L << 10;

  /** The thread that waits sleeps, or is about to; who takes this away wakes it. */
  static final long ASLEEP = 1L << 11;

  /** No thread may wait. */
  static final long UNWAITABLE = 1L << 12;

  /** It has a CNO. */
  static final long CNO = 1L << 13;

  private static final int POLICY_SHIFT = 6;

  static final long DISABLED = 0L;
  static final long SINGLE = 1L << POLICY_SHIFT;
  static final long NOTIFY = 2L << POLICY_SHIFT;
  static final long MANY = 3L << POLICY_SHIFT;
  static final long POLICY = 7L << POLICY_SHIFT;

  private static final int RUNNING_SHIFT = 16;

  /** One running upcall of MANY; they hold no turn. */
  static final long ONE_RUNNING = 1L << RUNNING_SHIFT;

  static final long RUNNING = 0x3FFL << RUNNING_SHIFT;

  /** How many may run with MANY. */
  static final int LIMIT_SHIFT = 32;

  static final long LIMIT = 0x3FFL << LIMIT_SHIFT;

  /** What a consumer asked for. */
  static final long CONCURRENCY = POLICY | LIMIT;

  /** What {@link #next} returns where an operation is not legal. */
  static final long REFUSED = -1L;

  /** What {@link #next} returns where the operation is legal as soon as a brief turn is over. */
  static final long BUSY = -2L;

  /** What {@link #next} returns where the operation is not legal because a thread waits. */
  static final long WAITED = -3L;

  /** What {@link #next} returns where the operation is not legal because no thread may wait. */
  static final long NOT_WAITABLE = -4L;

  /** Producer: work arrived; the argument is its bits. */
  static final int SIGNAL = 0;

  /**
   * Dispatcher: takes the token; gets the turn, and clears the bits it is to serve, if there is
   * work.
   */
  static final int POP = 1;

  /** Consumer: takes the turn in order to dequeue, and clears the CQ bit. */
  static final int TAKE = 2;

  /** Consumer inside an upcall of MANY: takes the turn in order to dequeue. */
  static final int TAKE_INSIDE = 3;

  /** Turn: clears the bits it is to serve in another pass; its thread is awake. */
  static final int RESUME = 4;

  /** Turn: everything was found empty; releases the turn unless something was signalled since. */
  static final int END = 5;

  /** Turn: releases the turn; the argument is the bits of what is left. */
  static final int LEAVE = 6;

  /** Turn under NOTIFY: the one upcall is about to run, and there will be no other. */
  static final int NOTIFIED = 7;

  /**
   * Turn under MANY: releases the turn, and runs an upcall; the argument is the bits of what is
   * left.
   */
  static final int PASS = 8;

  /** An upcall of MANY returned. */
  static final int DONE = 9;

  /** Anybody: changes the policy; the argument is policy, limit, and bits to be signalled. */
  static final int SET_POLICY = 10;

  /** Anybody: no consumer may use the EVD any more. */
  static final int CLOSE = 11;

  /** Consumer: takes the turn in order to wait in it, and clears the work bits. */
  static final int AWAIT = 12;

  /** Turn of a waiter: too little was found; falls asleep unless something was signalled since. */
  static final int SLEEP = 13;

  /** Anybody: no thread may wait any more, and one that does is to return. */
  static final int SET_UNWAITABLE = 14;

  /** Anybody: threads may wait again. */
  static final int CLEAR_UNWAITABLE = 15;

  /** Turn of a waiter: the wait is over; as {@link #LEAVE}. */
  static final int RETURN = 16;

  /** Anybody: it gets, changes or loses its CNO; the argument is the CNO bit or 0. */
  static final int SET_CNO = 17;

  private static final VarHandle WORD;

  static {
    try {
      WORD = MethodHandles.lookup().findVarHandle(EvdState.class, "word", long.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through WORD
  private volatile long word;

  long get() {
    return word;
  }

  /**
   * Does an operation.
   *
   * @return the state before; or one of the negative values of {@link #next}, and nothing changed.
   */
  long apply(final int operation, final long argument) {
    while (true) {
      final long before = word;
      final long after = next(before, operation, argument);
      if (after < 0) {
        return after;
      }
      if (operation == SIGNAL && after == before) {
        VarHandle.fullFence(); // what clears the bit after this read finds the event
        if (word == before) {
          return before;
        }
        continue;
      }
      if (WORD.compareAndSet(this, before, after)) {
        return before;
      }
    }
  }

  /**
   * The transition function.
   *
   * @return the state after; or {@link #REFUSED}, {@link #BUSY}, {@link #WAITED} or {@link
   *     #NOT_WAITABLE}.
   */
  static long next(final long s, final int operation, final long argument) {
    return switch (operation) {
      case SIGNAL -> schedule(s | argument) & ~ASLEEP;
      case POP -> pop(s & ~TOKEN);
      case TAKE -> {
        if ((s & (POLICY | CLOSED | UPCALL | RUNNING)) != 0) {
          yield REFUSED;
        }
        yield (s & WAITER) != 0 ? WAITED : take(s);
      }
      case TAKE_INSIDE -> take(s);
      case RESUME -> s & ~(WORK | CONTROL | ASLEEP);
      case END -> (s & (WORK | CONTROL)) != 0 ? s : s & ~(TURN | UPCALL);
      case LEAVE -> schedule((s & ~(TURN | UPCALL)) | argument);
      case NOTIFIED -> (s & POLICY) == NOTIFY ? s & ~POLICY : s;
      case PASS -> schedule(((s & ~(TURN | UPCALL)) | argument) + ONE_RUNNING);
      case DONE -> schedule(s - ONE_RUNNING);
      case SET_POLICY -> {
        if ((s & CLOSED) != 0) {
          yield REFUSED;
        }
        yield (s & WAITER) != 0 && (argument & POLICY) != 0
            ? WAITED
            : schedule((s & ~CONCURRENCY) | argument);
      }
      case CLOSE -> (s & ~POLICY) | CLOSED;
      case AWAIT -> {
        if ((s & (POLICY | CLOSED | UPCALL | RUNNING)) != 0) {
          yield REFUSED;
        }
        if ((s & UNWAITABLE) != 0) {
          yield NOT_WAITABLE;
        }
        final long after = (s & WAITER) != 0 ? WAITED : take(s);
        yield after < 0 ? after : (after & ~WORK) | WAITER;
      }
      case SLEEP -> (s & (WORK | CONTROL)) == 0 && (s & WAITER) != 0 ? s | ASLEEP : s;
      case SET_UNWAITABLE -> (s & CLOSED) != 0 ? REFUSED : (s & ~(WAITER | ASLEEP)) | UNWAITABLE;
      case RETURN -> schedule((s & ~(TURN | WAITER | ASLEEP)) | argument);
      case SET_CNO -> (s & CLOSED) != 0 ? REFUSED : (s & ~CNO) | argument | missed(s, argument);
      case CLEAR_UNWAITABLE -> (s & CLOSED) != 0 ? REFUSED : s & ~UNWAITABLE;
      default -> throw new IllegalArgumentException("operation " + operation);
    };
  }

  /**
   * Whether an operation that led from one state to another made the token: its caller publishes
   * it.
   */
  static boolean madeToken(final long before, final long after) {
    return (before & TOKEN) == 0 && (after & TOKEN) != 0;
  }

  /** Whether an operation that led from one state to another wakes the waiter, by its caller. */
  static boolean wakes(final long before, final long after) {
    return (before & ASLEEP) != 0 && (after & ASLEEP) == 0;
  }

  /**
   * Whether an operation that led from one state to another is to be told to the CNO, by its
   * caller. What a dequeue leaves behind is not told again.
   */
  static boolean tells(final long before, final long after, final int operation) {
    return (after & WORK) != 0
        && mayTell(after)
        && (operation == SIGNAL || operation == RETURN || operation == SET_CNO || !mayTell(before));
  }

  private static boolean mayTell(final long s) {
    return (s & (CNO | POLICY | UPCALL | RUNNING | WAITER | CLOSED)) == CNO;
  }

  /** Whether nobody is told of what comes: there is no upcall, no waiter and no CNO. */
  static boolean tellsNobody(final long s) {
    return (s & (POLICY | UPCALL | RUNNING | WAITER | CNO)) == 0;
  }

  /** Whether an operation that led from one state to another takes back an upcall that was due. */
  static boolean dropsUpcall(final long before, final long after) {
    return (before & TOKEN) != 0 && mayUpcall(before) && (after & POLICY) == DISABLED;
  }

  /** Whether no upcall is running, and with a disabled policy none will start. */
  static boolean isQuiet(final long s) {
    return (s & (UPCALL | RUNNING | POLICY)) == 0;
  }

  /** Whether nobody looks into its completion queues, nor will without a notification. */
  static boolean isIdle(final long s) {
    return (s & ASLEEP) != 0 || (s & (TOKEN | TURN | RUNNING | CQ | CONTROL)) == 0;
  }

  static boolean isEnabled(final long s) {
    return (s & POLICY) != 0;
  }

  static long limit(final int concurrency) {
    return (long) concurrency << LIMIT_SHIFT;
  }

  private static long pop(final long s) {
    if ((s & TURN) != 0) {
      return s; // its holder schedules when it leaves
    }
    if (mayUpcall(s)) {
      return (s | TURN | UPCALL) & ~(WORK | CONTROL);
    }
    return (s & CONTROL) != 0 ? (s | TURN) & ~(CONTROL | CQ) : s;
  }

  private static long take(final long s) {
    return (s & TURN) != 0 ? BUSY : (s | TURN) & ~CQ;
  }

  /**
   * A brief turn may have cleared bits, and what it brings back when it leaves is told to nobody:
   * so who gets a CNO meanwhile is told, perhaps in vain.
   */
  private static long missed(final long s, final long cno) {
    return cno != 0 && (s & (TURN | UPCALL | WAITER)) == TURN ? CQ : 0;
  }

  private static long schedule(final long s) {
    return (s & (TOKEN | TURN)) == 0 && ((s & CONTROL) != 0 || mayUpcall(s)) ? s | TOKEN : s;
  }

  private static boolean mayUpcall(final long s) {
    if ((s & WORK) == 0) {
      return false;
    }
    final long policy = s & POLICY;
    if (policy == MANY) {
      return (s & RUNNING) >>> RUNNING_SHIFT < (s & LIMIT) >>> LIMIT_SHIFT;
    }
    return policy != DISABLED && (s & RUNNING) == 0;
  }

  @Override
  public String toString() {
    final long s = word;
    return switch ((int) ((s & POLICY) >>> POLICY_SHIFT)) {
          case 0 -> (s & CLOSED) != 0 ? "CLOSED" : "DISABLED";
          case 1 -> "SINGLE_INSTANCE";
          case 2 -> "NOTIFY";
          default -> "MANY(" + ((s & LIMIT) >>> LIMIT_SHIFT) + ")";
        }
        + ((s & UPCALL) != 0 ? " running" : (s & TURN) != 0 ? " held" : "")
        + ((s & RUNNING) != 0 ? " running=" + ((s & RUNNING) >>> RUNNING_SHIFT) : "")
        + ((s & WAITER) != 0 ? " waited for" : "")
        + ((s & UNWAITABLE) != 0 ? " unwaitable" : "")
        + ((s & TOKEN) != 0 ? " ready" : "")
        + ((s & CQ) != 0 ? " cq" : "")
        + ((s & LANE) != 0 ? " lane" : "")
        + ((s & CONTROL) != 0 ? " control" : "");
  }
}
