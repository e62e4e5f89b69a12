package org.jdapl.evd.explorer;

import java.util.Locale;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One call of a random consumer. Its numbers are taken modulo what there is when it runs, so that
 * any part of a list of actions is a list of actions: what shrinking needs.
 *
 * @param call what is called.
 * @param by the consumer whose thread makes it, from 0; inside an upcall 0 is the upcall's own
 *     thread, and another one makes it while the upcall waits for it.
 * @param inside the EVD whose next upcall makes the call; -1 for none.
 * @param a the first number.
 * @param b the second number.
 * @param c the third number.
 */
record Action(Call call, int by, int inside, int a, int b, int c) {

  /** Who makes a call. */
  private enum Where {
    /** A consumer's thread, outside of upcalls. */
    OUTSIDE,
    /** An upcall's thread. */
    UPCALL,
    /** Either. */
    ANYWHERE,
    /** Nobody: it is what goes on around the consumers. */
    AROUND
  }

  /** What a consumer calls, and what becomes of it; the number says how often, among all. */
  enum Call {
    EVD(2),
    ENDPOINT(4),
    SRQ(1),
    PSP(2),
    LMR(1),
    CONNECT(5),
    ACCEPT(3),
    REJECT(1),
    DISCONNECT(3),
    SEND(12),
    RECEIVE(10),
    SHARED_RECEIVE(8),
    WATERMARK(1),
    RESIZE_SRQ(1),
    WRITE(5),
    READ(3),
    WRITE_IMMED(4),
    ADD(3),
    SWAP(2),
    RMR(1),
    BIND(5),
    UNBIND(2),
    SEND_INVALIDATE(2),
    READ_TO_RMR(2),
    CLOSE_RMR(1),
    POST(8),
    DEQUEUE(5),
    AWAIT(6, Where.OUTSIDE),
    /** A thread that waits is interrupted. */
    INTERRUPT(1, Where.AROUND),
    CNO(1),
    USE_CNO(3),
    AWAIT_CNO(3, Where.OUTSIDE),
    UPCALL(7),
    DISABLE(3),
    TEARDOWN(2),
    RESIZE(2),
    MOVE(2),
    UNWAITABLE(1),
    CLOSE_ENDPOINT(4),
    CLOSE_EVD(2),
    CLOSE_CNO(1),
    CLOSE_SRQ(1),
    CLOSE_PSP(1),
    CLOSE_LMR(2),
    ASYNC_EVD(1),
    THROW(2, Where.UPCALL),
    /** Turns of the dispatchers, time stands still. */
    TURN(16, Where.AROUND),
    /** Things happen at the provider, no dispatcher has a turn. */
    STEP(20, Where.AROUND),
    /** All go on for some time. */
    RUN(16, Where.AROUND),
    /** Threads that wait look whether their wait is over, time stands still. */
    GO_ON(5, Where.AROUND),
    /** The device says that it is gone. */
    LOSE_DEVICE(0, Where.AROUND),
    CLOSE_ADAPTER(0, Where.OUTSIDE);

    private static final Call[] ALL = values();

    private final int weight;
    private final Where where;

    Call(final int weight) {
      this(weight, Where.ANYWHERE);
    }

    Call(final int weight, final Where where) {
      this.weight = weight;
      this.where = where;
    }

    /** Whether a consumer calls it. */
    boolean isOfConsumer() {
      return where != Where.AROUND;
    }

    /** Whether another thread may call it during an upcall. */
    boolean isForAnyThread() {
      return where == Where.ANYWHERE;
    }

    private static Call random(final SplittableRandom random) {
      int all = 0;
      for (final Call call : ALL) {
        all += call.weight;
      }
      int left = random.nextInt(all);
      for (final Call call : ALL) {
        left -= call.weight;
        if (left < 0) {
          return call;
        }
      }
      throw new AssertionError("no call has a weight");
    }

    private String word() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** The number of the object that was made last. */
  static final int NEWEST = 63;

  private static final Pattern WHO =
      Pattern.compile("(?<call>[a-z-]+)(#(?<by>[0-9]+))?(@(?<inside>[0-9]+))?");
  private static final int NUMBERS = 64;
  private static final int EVDS = 4;

  /** A call by the first consumer. */
  static Action of(final Call call, final int... numbers) {
    return new Action(
        call,
        0,
        -1,
        numbers.length > 0 ? numbers[0] : 0,
        numbers.length > 1 ? numbers[1] : 0,
        numbers.length > 2 ? numbers[2] : 0);
  }

  static Action random(final SplittableRandom random) {
    final Call call = Call.random(random);
    final boolean upcall =
        call.where == Where.UPCALL || (call.where == Where.ANYWHERE && random.nextInt(4) == 0);
    final int by =
        call.isOfConsumer() && call.where != Where.UPCALL && random.nextInt(2) == 0
            ? random.nextInt(Consumers.COUNT)
            : 0;
    return new Action(
        call,
        by,
        upcall ? random.nextInt(EVDS) : -1,
        random.nextInt(NUMBERS),
        random.nextInt(NUMBERS),
        random.nextInt(NUMBERS));
  }

  /**
   * Reads what {@link #toString} prints.
   *
   * @throws IllegalArgumentException if it is not an action, saying what is expected.
   */
  static Action parse(final String text) {
    final String[] words = text.strip().split("\\s+", -1);
    final Matcher who = WHO.matcher(words[0]);
    final String call = who.matches() ? who.group("call") : "";
    for (final Call known : Call.ALL) {
      if (known.word().equals(call) && words.length == 4) {
        final String by = who.group("by");
        final String inside = who.group("inside");
        return new Action(
            known,
            by == null ? 0 : number(text, by) % Consumers.COUNT,
            inside == null ? -1 : number(text, inside),
            number(text, words[1]),
            number(text, words[2]),
            number(text, words[3]));
      }
    }
    throw new IllegalArgumentException(
        "'" + text + "': expected a call and three numbers, such as 'send#1@0 1 2 3'");
  }

  private static int number(final String text, final String word) {
    try {
      return Integer.parseUnsignedInt(word);
    } catch (final NumberFormatException e) {
      throw new IllegalArgumentException(
          "'" + text + "': '" + word + "' is not a number from 0 on", e);
    }
  }

  @Override
  public String toString() {
    return call.word()
        + (by == 0 ? "" : "#" + by)
        + (inside < 0 ? "" : "@" + inside)
        + " "
        + a
        + " "
        + b
        + " "
        + c;
  }
}
