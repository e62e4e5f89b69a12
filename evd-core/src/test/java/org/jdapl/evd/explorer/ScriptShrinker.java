package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;

/** Makes a script that finds something smaller, as long as it finds something of the same kind. */
final class ScriptShrinker {

  private ScriptShrinker() {}

  /** The smallest script that was found; none of its actions can be left out. */
  static Script shrink(final Script script) {
    final String kind = kind(script);
    Script small = withoutFaults(script, kind);
    for (int part = Math.max(1, script.actions().size() / 2); part > 0; ) {
      final Script smaller = without(small, part, kind);
      if (smaller.actions().size() == small.actions().size()) {
        part /= 2;
      }
      small = smaller;
    }
    return withoutFaults(small, kind);
  }

  private static Script withoutFaults(final Script script, final String kind) {
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
  private static Script without(final Script script, final int part, final String kind) {
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
  private static String kind(final Script script) {
    final String found = ScriptRun.run(script);
    return found == null ? "" : found.substring(0, found.indexOf(':'));
  }
}
