package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Makes a script that finds something smaller, as long as it finds something of the same kind. */
final class ScriptShrinker {

  private final Function<Script, String> runner;
  private final String kind;

  private ScriptShrinker(final Script script, final Function<Script, String> runner) {
    this.runner = runner;
    kind = kind(script);
  }

  /**
   * Shrinks a script: none of its actions or faults can be left out then.
   *
   * @param runner what a script finds.
   */
  static Script shrink(final Script script, final Function<Script, String> runner) {
    return new ScriptShrinker(script, runner).shrink(script);
  }

  private Script shrink(final Script script) {
    Script small = withoutFaults(script);
    for (int part = Math.max(1, script.actions().size() / 2); part > 0; ) {
      final Script smaller = without(small, part);
      if (smaller.actions().size() == small.actions().size()) {
        part /= 2;
      }
      small = smaller;
    }
    return withoutFaults(small);
  }

  private Script withoutFaults(final Script script) {
    Script small = script;
    for (int i = script.plan().size() - 1; i >= 0; i--) {
      final Script candidate = small.with(small.plan().without(i), small.actions());
      if (kind.equals(kind(candidate))) {
        small = candidate;
      }
    }
    return small;
  }

  /** Leaves out each part of some length that is not needed. */
  private Script without(final Script script, final int part) {
    Script small = script;
    for (int from = script.actions().size() - part; from > -part; from -= part) {
      final List<Action> fewer = new ArrayList<>(small.actions());
      final int first = Math.max(0, from);
      if (first < fewer.size()) {
        fewer.subList(first, Math.min(from + part, fewer.size())).clear();
        final Script candidate = small.with(small.plan(), fewer);
        if (kind.equals(kind(candidate))) {
          small = candidate;
        }
      }
    }
    return small;
  }

  /** Which oracle a script offends; empty for none. */
  private String kind(final Script script) {
    final String found = runner.apply(script);
    return found == null ? "" : found.substring(0, found.indexOf(':'));
  }
}
