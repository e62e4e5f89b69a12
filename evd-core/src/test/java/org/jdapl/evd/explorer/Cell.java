package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Eight bytes that the atomics of a run change at an adapter. They only grow, so that each step is
 * a range of its own: no two may overlap, and what is fetched is a border of one.
 */
final class Cell {

  /** More than fits into an int, as are the steps. */
  static final long FIRST = (1L << 40) + 5;

  private static final long STEP = 1L << 33;

  /** What an atomic is to do; it adds if nothing is compared. */
  private record Atomic(EndpointBook by, boolean swaps, long compare, long operand, long seen) {
    private long after(final long before) {
      return !swaps ? before + operand : before == compare ? operand : before;
    }

    /** How much it may have added at most. */
    private long most() {
      return swaps ? operand - compare : operand;
    }
  }

  private record Step(long before, long after) {}

  private final ScriptRun run;
  private final int at;
  private final Map<Long, Atomic> open = new HashMap<>();
  private final List<Step> steps = new ArrayList<>();
  private final Map<EndpointBook, Long> last = new HashMap<>();
  private long seen = FIRST;

  /**
   * @param at where in the memory.
   */
  Cell(final ScriptRun run, final int at) {
    this.run = run;
    this.at = at;
  }

  int at() {
    return at;
  }

  /** What is there now. */
  long value() {
    return run.memory.counterAt(at);
  }

  static long operand(final long cookie) {
    return STEP + cookie;
  }

  void adds(final EndpointBook by, final long cookie, final long add) {
    open.put(cookie, new Atomic(by, false, 0, add, seen));
  }

  void swaps(final EndpointBook by, final long cookie, final long compare, final long swap) {
    open.put(cookie, new Atomic(by, true, compare, swap, seen));
  }

  /** An atomic succeeded, and fetched something. */
  void done(final long cookie, final long fetched, final String what) {
    final Atomic atomic = open.remove(cookie);
    if (atomic == null) {
      return; // its queue says that it comes twice
    }
    final long after = atomic.after(fetched);
    for (final Step step : steps) {
      if (step.before < Math.max(after, fetched + 1)
          && fetched < step.after
          && !(after == fetched && fetched == step.before)) {
        run.fail(
            "D01",
            what
                + " made "
                + after
                + " of "
                + fetched
                + ", and another one "
                + step.after
                + " of "
                + step.before);
      }
    }
    if (fetched < atomic.seen || fetched < last.getOrDefault(atomic.by, FIRST)) {
      run.fail("D01", what + " fetched " + fetched + ", which an earlier one had changed");
    }
    if (value() < after) {
      run.fail("D01", what + " made " + after + ", and " + value() + " is there");
    }
    last.put(atomic.by, after);
    seen = Math.max(seen, after);
    if (after > fetched) {
      steps.add(new Step(fetched, after));
    }
  }

  /** Nothing more happens: what is there was made by those that were done. */
  void onRest() {
    final long sure = steps.stream().mapToLong(step -> step.after - step.before).sum();
    final long most = open.values().stream().mapToLong(Atomic::most).sum();
    final long grown = value() - FIRST;
    if (grown < sure || grown > sure + most) {
      run.fail(
          "D01",
          "atomics added "
              + sure
              + " and perhaps "
              + most
              + ", and what they change has grown by "
              + grown);
    }
  }
}
