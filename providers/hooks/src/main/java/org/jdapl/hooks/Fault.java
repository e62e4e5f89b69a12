package org.jdapl.hooks;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.VerbsException;

/**
 * One thing that goes wrong: what is done, to what, and when.
 *
 * <p>As text it is {@code ACTION TARGET@NTH} or {@code ACTION TARGET@NTH=ARGUMENT}. A target is a
 * verb or a kind of event; every verb called and every event of that kind on the provider is
 * counted, and the fault happens at the {@code NTH}, counted from 1. {@code @3+} is the third and
 * all after it.
 *
 * <p>It is planned, for a test. What a provider does wrong of itself is not one of these: evd-core
 * counts that in its statistics, as {@code faults}, and logs it.
 *
 * @param action what is done.
 * @param target a verb such as {@code post_send}, {@code any} for any verb, or a kind of event: see
 *     {@link Action}.
 * @param nth when it happens first, from 1.
 * @param onwards whether it happens again each time after that.
 * @param argument more of it, as {@link Action} says; empty for none.
 */
public record Fault(Action action, String target, int nth, boolean onwards, String argument) {

  /** The target that is every verb. */
  static final String ANY = "any";

  static final String NOTIFICATION = "notification";
  static final String COMPLETION = "completion";
  static final String FAILED_COMPLETION = "failed-completion";
  static final String CM = "cm";
  static final String REQUEST = "request";
  static final String ASYNC = "async";

  private static final Pattern TEXT =
      Pattern.compile("([a-z]+) +([a-z_-]+)@([0-9]{1,9})(\\+?)(?:=(.*))?");

  private static final Map<String, Integer> ERRNOS = new TreeMap<>();
  private static final Map<String, CmEventType> OUTCOMES = new TreeMap<>();

  static {
    ERRNOS.put("EPERM", VerbsException.EPERM);
    ERRNOS.put("EIO", VerbsException.EIO);
    ERRNOS.put("EAGAIN", VerbsException.EAGAIN);
    ERRNOS.put("ENOMEM", VerbsException.ENOMEM);
    ERRNOS.put("EACCES", VerbsException.EACCES);
    ERRNOS.put("ENODEV", VerbsException.ENODEV);
    ERRNOS.put("EBUSY", VerbsException.EBUSY);
    ERRNOS.put("EINVAL", VerbsException.EINVAL);
    ERRNOS.put("EOPNOTSUPP", VerbsException.EOPNOTSUPP);
    ERRNOS.put("EADDRINUSE", VerbsException.EADDRINUSE);
    ERRNOS.put("ETIMEDOUT", VerbsException.ETIMEDOUT);
    for (final CmEventType failure : EnumSet.range(CmEventType.REJECTED, CmEventType.ROUTE_ERROR)) {
      OUTCOMES.put(word(failure), failure);
    }
  }

  /**
   * What goes wrong.
   *
   * <p>The kinds of events are {@code notification}, of a completion queue; {@code completion}, as
   * it is polled, and {@code failed-completion}, only those with an error; {@code cm}, any event of
   * a connection or listener, and each by its name, such as {@code established} and {@code
   * request}; {@code async}, any asynchronous event, and each by its name, such as {@code
   * device-fatal}.
   */
  public enum Action {
    /** An event never comes. */
    DROP(Targets.EVENTS, Argument.NONE),
    /**
     * An event comes later by a time such as {@code 5ms}. Events behind it of the same connection,
     * and completions behind it in the same queue, wait for it.
     */
    DELAY(Targets.EVENTS, Argument.TIME),
    /** An event comes twice. */
    DUPLICATE(Targets.EVENTS, Argument.NONE),
    /** What is not valid in a failed completion misleads. */
    GARBLE(Targets.FAILED, Argument.NONE),
    /** A verb fails with an errno such as {@code ENOMEM}, and has done nothing. */
    REFUSE(Targets.VERBS, Argument.ERRNO),
    /** A verb says it failed with an errno, but did its work. */
    MISREPORT(Targets.VERBS, Argument.ERRNO),
    /**
     * A verb does not begin for a time, or, without one, until {@link Faults#release}. Not on
     * virtual time, which has one thread.
     */
    HANG(Targets.VERBS, Argument.TIME_OR_NONE),
    /** A connect reaches nobody; its outcome is an event such as {@code unreachable}. */
    ANSWER(Targets.CONNECT, Argument.OUTCOME),
    /**
     * A poll finds nothing, as if what is there came right after it. Only while the queue is not
     * armed, for else that would be a lost completion.
     */
    BLIND(Targets.POLL, Argument.NONE),
    /** A poll returns as many completions more than asked for, if they are there. */
    SURPLUS(Targets.POLL, Argument.COUNT),
    /** A poll returns one more completion, of a wr_id that nobody posted: -1, or the argument. */
    INVENT(Targets.POLL, Argument.WRID_OR_NONE),
    /** A completion queue overflowed: CQ_ERR, its queue pairs are in error, it is of no use. */
    OVERFLOW(Targets.POLL, Argument.NONE),
    /** A notification without a completion, at an arm or after a destroy, at once or later. */
    NOTIFY(Targets.NOTIFYING, Argument.TIME_OR_NONE),
    /** A new queue pair falls silent, its connection too, after so many events; 0 without it. */
    SILENCE(Targets.QP, Argument.COUNT_OR_NONE),
    /** The device is lost: DEVICE_FATAL, and from now on all verbs that destroy nothing fail. */
    LOSE(Targets.VERBS, Argument.NONE),
    /** Something that only the provider's own fabric can do, in its language. */
    FABRIC(Targets.VERBS, Argument.TEXT);

    private final Targets targets;
    private final Argument argument;

    Action(final Targets targets, final Argument argument) {
      this.targets = targets;
      this.argument = argument;
    }

    /** The word in a plan. */
    @Override
    public String toString() {
      return word(this);
    }
  }

  private enum Targets {
    EVENTS,
    FAILED,
    VERBS,
    CONNECT,
    POLL,
    NOTIFYING,
    QP;

    boolean allow(final String target) {
      return names().contains(target);
    }

    Set<String> names() {
      final Set<String> names = new TreeSet<>();
      switch (this) {
        case EVENTS -> {
          names.addAll(
              Arrays.asList(NOTIFICATION, COMPLETION, FAILED_COMPLETION, CM, REQUEST, ASYNC));
          Arrays.stream(CmEventType.values()).map(Fault::word).forEach(names::add);
          Arrays.stream(AsyncType.values()).map(Fault::word).forEach(names::add);
        }
        case FAILED -> names.add(FAILED_COMPLETION);
        case VERBS -> {
          names.add(ANY);
          Arrays.stream(Verb.values()).map(Verb::toString).forEach(names::add);
        }
        case CONNECT -> names.add(Verb.CONNECT.toString());
        case POLL -> names.add(Verb.POLL_CQ.toString());
        case NOTIFYING -> {
          names.add(Verb.REQ_NOTIFY_CQ.toString());
          names.add(Verb.DESTROY_CQ.toString());
        }
        case QP -> names.add(Verb.CREATE_QP.toString());
        default -> throw new AssertionError(this);
      }
      return names;
    }
  }

  private enum Argument {
    NONE("nothing after the number"),
    TIME("=TIME, such as 5ms or 20us"),
    TIME_OR_NONE("nothing, or =TIME, such as 5ms or 20us"),
    ERRNO("=ERRNO, one of "),
    OUTCOME("=EVENT, one of "),
    COUNT("=COUNT, a number of at most 9 digits"),
    COUNT_OR_NONE("nothing, or =COUNT, a number of at most 9 digits"),
    WRID_OR_NONE("nothing, or =WRID, a number of 64 bits, such as -7 or 0x1f"),
    TEXT("=TEXT, without a semicolon");

    private final String expected;

    Argument(final String expected) {
      this.expected = expected;
    }

    private String expected() {
      return switch (this) {
        case ERRNO -> expected + String.join(" ", ERRNOS.keySet());
        case OUTCOME -> expected + String.join(" ", OUTCOMES.keySet());
        default -> expected;
      };
    }

    private boolean allows(final String text) {
      return switch (this) {
        case NONE -> text.isEmpty();
        case TIME -> Times.isTime(text);
        case TIME_OR_NONE -> text.isEmpty() || Times.isTime(text);
        case ERRNO -> ERRNOS.containsKey(text);
        case OUTCOME -> OUTCOMES.containsKey(text);
        case COUNT -> text.matches("[0-9]{1,9}");
        case COUNT_OR_NONE -> text.matches("[0-9]{0,9}");
        case WRID_OR_NONE -> text.isEmpty() || isWrId(text);
        case TEXT -> !text.isBlank() && text.equals(text.strip()) && !text.contains(";");
      };
    }

    private static boolean isWrId(final String text) {
      try {
        Long.decode(text);
        return true;
      } catch (final NumberFormatException e) {
        return false;
      }
    }
  }

  /**
   * A fault.
   *
   * @param action what is done.
   * @param target a verb or a kind of event.
   * @param nth when it happens first, from 1.
   * @param onwards whether it happens again each time after that.
   * @param argument more of it; empty for none.
   * @throws IllegalArgumentException if the action is not for that target or has no such argument;
   *     the message says what is expected.
   */
  public Fault {
    if (!action.targets.allow(target)) {
      throw new IllegalArgumentException(
          "'"
              + action
              + "' is not for '"
              + target
              + "': expected one of "
              + String.join(" ", action.targets.names()));
    }
    if (nth < 1) {
      throw new IllegalArgumentException(
          "'" + action + " " + target + "@" + nth + "': the first one is 1");
    }
    if (!action.argument.allows(argument)) {
      throw new IllegalArgumentException(
          "'"
              + text(action, target, nth, onwards, argument)
              + "': expected "
              + action.argument.expected());
    }
  }

  /** Reads one; see {@link FaultPlan#parse}. */
  static Fault parse(final String text) {
    final Matcher matcher = TEXT.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "': expected ACTION TARGET@NTH or ACTION TARGET@NTH=ARGUMENT, such as"
              + " 'drop notification@3' or 'refuse post_send@7=ENOMEM'");
    }
    final String word = matcher.group(1);
    final Action action =
        Arrays.stream(Action.values())
            .filter(value -> word(value).equals(word))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "'"
                            + text
                            + "': there is no '"
                            + word
                            + "'; expected one of "
                            + Arrays.stream(Action.values())
                                .map(Fault::word)
                                .collect(Collectors.joining(" "))));
    return new Fault(
        action,
        matcher.group(2),
        Integer.parseInt(matcher.group(3)),
        !matcher.group(4).isEmpty(),
        matcher.group(5) == null ? "" : matcher.group(5));
  }

  static String word(final Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The argument as a time; 0 if there is none. */
  long nanos() {
    return argument.isEmpty() ? 0 : Times.nanos(argument);
  }

  /** The argument as a count; 0 if there is none. */
  int count() {
    return argument.isEmpty() ? 0 : Integer.parseInt(argument);
  }

  /** The argument as a wr_id; -1 if there is none. */
  long wrId() {
    return argument.isEmpty() ? -1 : Long.decode(argument);
  }

  int errno() {
    return ERRNOS.get(argument);
  }

  CmEventType outcome() {
    return OUTCOMES.get(argument);
  }

  private static String text(
      final Action action,
      final String target,
      final int nth,
      final boolean onwards,
      final String argument) {
    return action
        + " "
        + target
        + "@"
        + nth
        + (onwards ? "+" : "")
        + (argument.isEmpty() ? "" : "=" + argument);
  }

  /** The fault as a plan's text has it. */
  @Override
  public String toString() {
    return text(action, target, nth, onwards, argument);
  }
}
