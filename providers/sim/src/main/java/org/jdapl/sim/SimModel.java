package org.jdapl.sim;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;

/**
 * What a simulated device does where the verbs leave a choice. Immutable; equal if it prints the
 * same.
 *
 * <p>{@link #toString} prints it in the language of {@link #parse}.
 */
public final class SimModel {

  /** What an arm returns, and whether it arms. */
  public enum Hint {
    /** Always 0. */
    NONE,
    /** Above 0 if and only if there are completions. */
    EXACT,
    /** Above 0 sometimes with an empty queue, and 0 sometimes with one that is not. */
    MAYBE,
    /** Exact, and the queue is not armed when it is above 0. */
    WITHOUT_ARM
  }

  /** The model that does nothing surprising: weak, an exact hint, serial, pushing. */
  public static final SimModel DEFAULT = new SimModel();

  private static final long UNSET = -1;

  // Written only before the object is published.
  private ArmModel arm = ArmModel.WEAK;
  private Hint hint = Hint.EXACT;
  private SecondArm secondArm = SecondArm.IGNORED;
  private Delivery delivery = Delivery.PUSH;
  private NotificationConcurrency concurrency = NotificationConcurrency.SERIAL;
  private boolean notifiesInsideVerbs;
  private SolicitedSupport solicited = SolicitedSupport.FULL;
  private LastWqe lastWqe = LastWqe.REPORTED;
  private boolean sweepsDestroyed;
  private boolean reusesQpNumbers = true;
  private boolean nativePollAndRearm = true;
  private long minLatencyNanos = UNSET;
  private long maxLatencyNanos = UNSET;
  private long minCmLatencyNanos = UNSET;
  private long maxCmLatencyNanos = UNSET;

  private SimModel() {}

  private SimModel copy() {
    final SimModel copy = new SimModel();
    copy.arm = arm;
    copy.hint = hint;
    copy.secondArm = secondArm;
    copy.delivery = delivery;
    copy.concurrency = concurrency;
    copy.notifiesInsideVerbs = notifiesInsideVerbs;
    copy.solicited = solicited;
    copy.lastWqe = lastWqe;
    copy.sweepsDestroyed = sweepsDestroyed;
    copy.reusesQpNumbers = reusesQpNumbers;
    copy.nativePollAndRearm = nativePollAndRearm;
    copy.minLatencyNanos = minLatencyNanos;
    copy.maxLatencyNanos = maxLatencyNanos;
    copy.minCmLatencyNanos = minCmLatencyNanos;
    copy.maxCmLatencyNanos = maxCmLatencyNanos;
    return copy;
  }

  /**
   * With another arm model.
   *
   * @param value for which completions an arm notifies; UNKNOWN is weak or strong by chance each
   *     time.
   * @return the new model.
   */
  public SimModel withArm(final ArmModel value) {
    final SimModel model = copy();
    model.arm = value;
    return model;
  }

  /**
   * With another hint.
   *
   * @param value what an arm returns.
   * @return the new model.
   */
  public SimModel withHint(final Hint value) {
    final SimModel model = copy();
    model.hint = value;
    return model;
  }

  /**
   * With another second arm.
   *
   * @param value what an arm does before the notification of the last one began; UNKNOWN is any of
   *     the others by chance each time.
   * @return the new model.
   */
  public SimModel withSecondArm(final SecondArm value) {
    final SimModel model = copy();
    model.secondArm = value;
    return model;
  }

  /**
   * With another delivery.
   *
   * @param value how handlers are called.
   * @return the new model.
   */
  public SimModel withDelivery(final Delivery value) {
    final SimModel model = copy();
    model.delivery = value;
    return model;
  }

  /**
   * With another concurrency of notifications. In virtual time, concurrent ones only nest.
   *
   * @param value whether two notifications of one queue run at once.
   * @return the new model.
   */
  public SimModel withConcurrency(final NotificationConcurrency value) {
    final SimModel model = copy();
    model.concurrency = value;
    return model;
  }

  /**
   * With notifications inside verbs, or without. A device that delivers in a channel has none.
   *
   * @param value whether a post to a queue pair in the error state, a poll, and an arm call the
   *     handler on the stack of their caller.
   * @return the new model.
   */
  public SimModel withNotifiesInsideVerbs(final boolean value) {
    final SimModel model = copy();
    model.notifiesInsideVerbs = value;
    return model;
  }

  /**
   * With another support of solicited arms.
   *
   * @param value what a solicited arm is worth.
   * @return the new model.
   */
  public SimModel withSolicited(final SolicitedSupport value) {
    final SimModel model = copy();
    model.solicited = value;
    return model;
  }

  /**
   * With another report of the last receive of a shared queue.
   *
   * @param value whether it is reported; UNKNOWN is by chance for each queue pair.
   * @return the new model.
   */
  public SimModel withLastWqe(final LastWqe value) {
    final SimModel model = copy();
    model.lastWqe = value;
    return model;
  }

  /**
   * With completions of a destroyed queue pair swept out of their queues, or left there.
   *
   * @param value whether they are swept.
   * @return the new model.
   */
  public SimModel withSweepsDestroyed(final boolean value) {
    final SimModel model = copy();
    model.sweepsDestroyed = value;
    return model;
  }

  /**
   * With queue pair numbers used again at once, smallest first, or never.
   *
   * @param value whether they are used again.
   * @return the new model.
   */
  public SimModel withReusesQpNumbers(final boolean value) {
    final SimModel model = copy();
    model.reusesQpNumbers = value;
    return model;
  }

  /**
   * With a pollAndRearm of its own, which does it in one step, or the one made of poll and arm.
   *
   * @param value whether it is its own.
   * @return the new model.
   */
  public SimModel withNativePollAndRearm(final boolean value) {
    final SimModel model = copy();
    model.nativePollAndRearm = value;
    return model;
  }

  /**
   * With another latency of messages and of notifications, drawn anew each time. Unless it is set
   * it is 0 in real time and 1 to 5 microseconds in virtual time.
   *
   * @param minNanos the least.
   * @param maxNanos the most.
   * @return the new model.
   */
  public SimModel withLatency(final long minNanos, final long maxNanos) {
    checkRange("latency", minNanos, maxNanos);
    final SimModel model = copy();
    model.minLatencyNanos = minNanos;
    model.maxLatencyNanos = maxNanos;
    return model;
  }

  /**
   * With another latency of the connection manager's messages, drawn anew each time. Unless it is
   * set it is 0 in real time and 1 to 50 microseconds in virtual time.
   *
   * @param minNanos the least.
   * @param maxNanos the most.
   * @return the new model.
   */
  public SimModel withCmLatency(final long minNanos, final long maxNanos) {
    checkRange("cm-latency", minNanos, maxNanos);
    final SimModel model = copy();
    model.minCmLatencyNanos = minNanos;
    model.maxCmLatencyNanos = maxNanos;
    return model;
  }

  private static void checkRange(final String key, final long min, final long max) {
    if (min < 0 || max < min || max == Long.MAX_VALUE) {
      throw new IllegalArgumentException(
          key + "=" + min + ".." + max + ": expected 0 <= least <= most, in nanoseconds");
    }
  }

  /**
   * What a device of this model declares.
   *
   * @return the declaration.
   */
  public Declaration declaration() {
    return new Declaration(
        arm,
        switch (hint) {
          case NONE -> ArmHint.NONE;
          case EXACT, WITHOUT_ARM -> ArmHint.EXACT;
          case MAYBE -> ArmHint.MAYBE;
        },
        hint == Hint.WITHOUT_ARM ? ArmedAfterHint.NO : ArmedAfterHint.YES,
        secondArm,
        concurrency,
        notifiesInsideVerbs,
        solicited,
        lastWqe,
        PrivateDataLength.EXACT);
  }

  /**
   * The default model with some settings changed.
   *
   * @param text such as {@code arm=weak hint=exact cm-latency=1000..9000}; what it leaves out is
   *     the default. The keys and values are those {@link #toString} prints.
   * @return the model.
   * @throws VerbsException with EINVAL naming the key, the value, and what is allowed.
   */
  public static SimModel parse(final String text) {
    return DEFAULT.with(text);
  }

  /** This model with some settings changed. */
  SimModel with(final String text) {
    SimModel model = this;
    for (final String setting : text.strip().split("\\s+", -1)) {
      if (!setting.isEmpty()) {
        final int equals = setting.indexOf('=');
        model =
            model.with(
                equals < 0 ? setting : setting.substring(0, equals),
                equals < 0 ? "" : setting.substring(equals + 1));
      }
    }
    return model;
  }

  private SimModel with(final String key, final String value) {
    return switch (key) {
      case "arm" -> withArm(constant(ArmModel.class, key, value));
      case "hint" -> withHint(constant(Hint.class, key, value));
      case "second-arm" -> withSecondArm(constant(SecondArm.class, key, value));
      case "delivery" -> withDelivery(constant(Delivery.class, key, value));
      case "concurrency" -> withConcurrency(constant(NotificationConcurrency.class, key, value));
      case "inside-verbs" -> withNotifiesInsideVerbs(yes(key, value));
      case "solicited" -> withSolicited(constant(SolicitedSupport.class, key, value));
      case "last-wqe" -> withLastWqe(constant(LastWqe.class, key, value));
      case "sweep" -> withSweepsDestroyed(yes(key, value));
      case "reuse" -> withReusesQpNumbers(yes(key, value));
      case "native-rearm" -> withNativePollAndRearm(yes(key, value));
      case "latency" -> {
        final long[] range = range(key, value);
        yield withLatency(range[0], range[1]);
      }
      case "cm-latency" -> {
        final long[] range = range(key, value);
        yield withCmLatency(range[0], range[1]);
      }
      default ->
          throw invalid(
              key,
              value,
              "no such key; there are arm, hint, second-arm, delivery, concurrency, inside-verbs,"
                  + " solicited, last-wqe, sweep, reuse, native-rearm, latency, cm-latency");
    };
  }

  private static <E extends Enum<E>> E constant(
      final Class<E> type, final String key, final String value) {
    for (final E constant : type.getEnumConstants()) {
      if (word(constant).equals(value)) {
        return constant;
      }
    }
    throw invalid(
        key,
        value,
        Arrays.stream(type.getEnumConstants())
            .map(SimModel::word)
            .collect(Collectors.joining(", ", "expected one of ", "")));
  }

  private static String word(final Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static boolean yes(final String key, final String value) {
    return switch (value) {
      case "yes" -> true;
      case "no" -> false;
      default -> throw invalid(key, value, "expected yes or no");
    };
  }

  private static long[] range(final String key, final String value) {
    final String[] ends = value.split("\\.\\.", -1);
    try {
      final long min = Long.parseLong(ends[0]);
      final long max = ends.length == 1 ? min : Long.parseLong(ends[1]);
      if (ends.length <= 2 && min >= 0 && min <= max && max < Long.MAX_VALUE) {
        return new long[] {min, max};
      }
    } catch (final NumberFormatException e) {
      // said below
    }
    throw invalid(key, value, "expected nanoseconds, such as 500 or 1000..9000");
  }

  private static VerbsException invalid(
      final String key, final String value, final String expected) {
    return new VerbsException(
        "open_device", "sim", VerbsException.EINVAL, key + "=" + value + ": " + expected);
  }

  ArmModel arm() {
    return arm;
  }

  Hint hint() {
    return hint;
  }

  SecondArm secondArm() {
    return secondArm;
  }

  Delivery delivery() {
    return delivery;
  }

  boolean isSerial() {
    return concurrency == NotificationConcurrency.SERIAL;
  }

  boolean notifiesInsideVerbs() {
    return notifiesInsideVerbs && delivery == Delivery.PUSH;
  }

  SolicitedSupport solicited() {
    return solicited;
  }

  LastWqe lastWqe() {
    return lastWqe;
  }

  boolean sweepsDestroyed() {
    return sweepsDestroyed;
  }

  boolean reusesQpNumbers() {
    return reusesQpNumbers;
  }

  boolean nativePollAndRearm() {
    return nativePollAndRearm;
  }

  /** The latency of messages and notifications on a fabric. */
  Latency latency(final SimFabric fabric) {
    return maxLatencyNanos != UNSET
        ? new Latency(fabric, minLatencyNanos, maxLatencyNanos)
        : fabric.isVirtual() ? new Latency(fabric, 1_000, 5_000) : new Latency(fabric, 0, 0);
  }

  /** The latency of the connection manager's messages on a fabric. */
  Latency cmLatency(final SimFabric fabric) {
    return maxCmLatencyNanos != UNSET
        ? new Latency(fabric, minCmLatencyNanos, maxCmLatencyNanos)
        : fabric.isVirtual() ? new Latency(fabric, 1_000, 50_000) : new Latency(fabric, 0, 0);
  }

  @Override
  public boolean equals(final Object other) {
    return other instanceof SimModel && toString().equals(other.toString());
  }

  @Override
  public int hashCode() {
    return toString().hashCode();
  }

  /** The settings as {@link #parse} reads them. */
  @Override
  public String toString() {
    return "arm="
        + word(arm)
        + " hint="
        + word(hint)
        + " second-arm="
        + word(secondArm)
        + " delivery="
        + word(delivery)
        + " concurrency="
        + word(concurrency)
        + " inside-verbs="
        + word(notifiesInsideVerbs)
        + " solicited="
        + word(solicited)
        + " last-wqe="
        + word(lastWqe)
        + " sweep="
        + word(sweepsDestroyed)
        + " reuse="
        + word(reusesQpNumbers)
        + " native-rearm="
        + word(nativePollAndRearm)
        + (maxLatencyNanos == UNSET ? "" : " latency=" + minLatencyNanos + ".." + maxLatencyNanos)
        + (maxCmLatencyNanos == UNSET
            ? ""
            : " cm-latency=" + minCmLatencyNanos + ".." + maxCmLatencyNanos);
  }

  private static String word(final boolean yes) {
    return yes ? "yes" : "no";
  }
}
