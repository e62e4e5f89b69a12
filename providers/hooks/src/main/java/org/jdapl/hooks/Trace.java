package org.jdapl.hooks;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.StringJoiner;
import java.util.function.Consumer;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WorkCompletions;

/**
 * A provider before any other one that writes down each verb and each event in a line, and changes
 * nothing.
 *
 * <p>A line is the time in nanoseconds of the device's clock, the object, the verb with its
 * arguments and what it returned or threw; or the object, an arrow, and the event. A verb's line is
 * written when it returns, so that of a notification inside it comes first.
 */
public final class Trace extends Interposer {

  private final Consumer<String> sink;
  private volatile NanoClock clock = () -> 0;

  private Trace(final VerbsProvider provider, final Consumer<String> sink) {
    super(provider);
    this.sink = sink;
  }

  /**
   * Writes down what goes on between a provider and its user.
   *
   * @param provider any provider.
   * @param sink gets each line, on the thread of the verb or the event, from several at once; a
   *     {@link Tail} keeps the last ones.
   * @return the provider to use.
   */
  public static Trace over(final VerbsProvider provider, final Consumer<String> sink) {
    return new Trace(provider, Objects.requireNonNull(sink, "sink"));
  }

  /** The last lines of a trace, for a failure's report. From any thread. */
  public static final class Tail implements Consumer<String> {

    private final int length;
    private final Queue<String> lines = new ArrayDeque<>();

    /**
     * Keeps nothing yet.
     *
     * @param length how many lines it keeps at most, at least 1.
     */
    public Tail(final int length) {
      if (length < 1) {
        throw new IllegalArgumentException("Tail(" + length + "): at least 1 line");
      }
      this.length = length;
    }

    @Override
    public synchronized void accept(final String line) {
      if (lines.size() == length) {
        lines.remove();
      }
      lines.add(line);
    }

    /** The lines, oldest first. */
    @Override
    public synchronized String toString() {
      return String.join("\n", lines);
    }
  }

  @Override
  NanoClock clock(final NanoClock clockBehind) {
    clock = clockBehind;
    return clockBehind;
  }

  @Override
  void opened(final Hooked device, final EventChannel channel) {
    clock = ((Device) device.behind()).clock();
  }

  @Override
  Object onVerb(final Call call) {
    final WorkCompletions polled =
        call.arguments.length > 0 && call.arguments[0] instanceof WorkCompletions batch
            ? batch
            : null;
    final int before = polled == null ? 0 : polled.size();
    final String what = call.self + "." + call.verb + arguments(call.arguments);
    final Object result;
    try {
      result = call.proceed();
    } catch (final RuntimeException | Error e) {
      write(what + " threw " + e);
      throw e;
    }
    write(what + (result == null ? "" : " = " + result) + completions(polled, before));
    return result;
  }

  @Override
  void onEvent(final Event event) {
    write(event.source + " -> " + event.name + event.detail);
    event.deliver();
  }

  private void write(final String what) {
    sink.accept(clock.nanoTime() + " " + what);
  }

  private static String arguments(final Object[] arguments) {
    final StringJoiner all = new StringJoiner(", ", "(", ")");
    for (final Object argument : arguments) {
      final String text = text(argument);
      if (!text.isEmpty()) {
        all.add(text);
      }
    }
    return all.toString();
  }

  /** An argument; empty for what says nothing. */
  private static String text(final Object argument) {
    if (argument == null
        || argument instanceof WorkCompletions
        || argument instanceof EventChannel
        || argument instanceof CqHandler
        || argument instanceof CmHandler
        || argument instanceof CmListenHandler) {
      return "";
    }
    if (argument instanceof SendRequest request) {
      return request.opcode
          + " wrId="
          + request.wrId
          + " bytes="
          + length(request)
          + (request.signaled ? "" : " silent")
          + (request.solicited ? " solicited" : "");
    }
    if (argument instanceof RecvRequest request) {
      return "wrId=" + request.wrId + " bytes=" + length(request);
    }
    if (argument instanceof QpAttributes attributes) {
      return "send=" + attributes.sendCq() + " recv=" + attributes.recvCq();
    }
    if (argument instanceof CmParameters parameters) {
      return bytes(parameters.privateData()).strip();
    }
    return argument.toString();
  }

  private static long length(final SgeList list) {
    long length = 0;
    for (int i = 0; i < list.sgeCount(); i++) {
      length += list.sgeLength(i);
    }
    return length;
  }

  private static String completions(final WorkCompletions polled, final int from) {
    if (polled == null || polled.size() == from) {
      return "";
    }
    final StringJoiner all = new StringJoiner(", ", " [", "]");
    for (int i = from; i < polled.size(); i++) {
      all.add("wrId=" + polled.wrId(i) + " " + polled.status(i) + " qp=" + polled.qpNumber(i));
    }
    return all.toString();
  }
}
