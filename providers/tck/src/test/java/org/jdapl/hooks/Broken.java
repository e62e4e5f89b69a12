package org.jdapl.hooks;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/** A provider over a right one that does all as that does; a mistake overrides one thing. */
class Broken extends Interposer {

  /** A completion on its way. */
  record Entry(
      long wrId,
      WcStatus status,
      WcOpcode opcode,
      int byteLength,
      int qpNumber,
      boolean hasImmediate,
      int immediate,
      boolean hasInvalidated) {

    boolean isError() {
      return status != WcStatus.SUCCESS;
    }

    Entry withWrId(final long value) {
      return new Entry(
          value, status, opcode, byteLength, qpNumber, hasImmediate, immediate, hasInvalidated);
    }

    Entry withQpNumber(final int value) {
      return new Entry(
          wrId, status, opcode, byteLength, value, hasImmediate, immediate, hasInvalidated);
    }

    Entry withByteLength(final int value) {
      return new Entry(
          wrId, status, opcode, value, qpNumber, hasImmediate, immediate, hasInvalidated);
    }

    Entry withImmediate(final int value) {
      return new Entry(
          wrId, status, opcode, byteLength, qpNumber, hasImmediate, value, hasInvalidated);
    }

    Entry withOpcode(final WcOpcode value) {
      return new Entry(
          wrId, status, value, byteLength, qpNumber, hasImmediate, immediate, hasInvalidated);
    }

    Entry withInvalidated(final boolean is, final int rkey) {
      return new Entry(wrId, status, opcode, byteLength, qpNumber, false, rkey, is);
    }
  }

  /** The handlers of completion queues, for those who keep them; the oldest queue first. */
  final Map<CompletionQueue, CqHandler> handlers = new LinkedHashMap<>();

  private final Deque<Runnable> later = new ArrayDeque<>();

  Broken(final VerbsProvider behind) {
    super(behind);
  }

  @Override
  Object onVerb(final Call call) {
    return call.proceed();
  }

  @Override
  void onEvent(final Event event) {
    event.deliver();
  }

  /** Has something done in the next step of virtual time. */
  final void later(final Runnable action) {
    later.add(action);
  }

  @Override
  NanoClock clock(final NanoClock clock) {
    return clock instanceof SteppedClock stepped ? new LateClock(stepped) : clock;
  }

  private final class LateClock implements SteppedClock {
    private final SteppedClock clock;

    LateClock(final SteppedClock clock) {
      this.clock = clock;
    }

    @Override
    public long nanoTime() {
      return clock.nanoTime();
    }

    @Override
    public boolean step(final long limitNanos) {
      final Runnable action = later.poll();
      if (action != null) {
        action.run();
        return true;
      }
      return clock.step(limitNanos);
    }
  }

  static boolean polls(final Call call) {
    return call.verb == Verb.POLL_CQ || call.verb == Verb.POLL_AND_REARM_CQ;
  }

  /** Changes what a poll takes; what is more than there is room for is left out. */
  static Object polled(final Call call, final UnaryOperator<List<Entry>> change) {
    final WorkCompletions into = (WorkCompletions) call.arguments[0];
    final WorkCompletions taken = new WorkCompletions(into.capacity());
    call.arguments[0] = taken;
    final Object result = call.proceed();
    final List<Entry> entries = new java.util.ArrayList<>();
    for (int i = 0; i < taken.size(); i++) {
      entries.add(
          new Entry(
              taken.wrId(i),
              taken.status(i),
              taken.opcode(i),
              taken.byteLength(i),
              taken.qpNumber(i),
              taken.hasImmediate(i),
              taken.immediate(i), // as well the key of a window
              taken.hasInvalidated(i)));
    }
    final int max = (Integer) call.arguments[1];
    int added = 0;
    for (final Entry e : change.apply(entries)) {
      if (added < max) {
        into.add(
            e.wrId(),
            e.status(),
            e.opcode(),
            e.byteLength(),
            e.qpNumber(),
            0,
            e.hasImmediate(),
            e.immediate());
        if (e.hasInvalidated()) {
          into.setInvalidated(e.immediate());
        }
        added++;
      }
    }
    return result instanceof Integer ? added : result;
  }
}
