package org.jdapl.evd;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Goes through all states that a {@link Model} can reach, depth first, each state once.
 *
 * <p>Steps are of two kinds. A <i>spontaneous</i> one may happen or not; each happens finitely
 * often. All others must happen sooner or later: where none of them is possible the model is
 * settled, and a way from a state back to itself is work that never ends.
 */
final class StateWalk {

  /** What is explored. It is in one state at a time, which is loaded and saved. */
  interface Model {

    /** Bytes of a saved state. */
    int size();

    void save(byte[] to, int offset);

    void load(byte[] from, int offset);

    /** How many steps there are in all. */
    int steps();

    /**
     * Does a step.
     *
     * @return false if it is not possible in this state, which is unchanged then.
     * @throws Violation if the step must not happen.
     */
    boolean step(int step);

    boolean isSpontaneous(int step);

    String nameOf(int step);

    /** Checks what must hold in every state. */
    void check();

    /** Checks what must hold where nothing more happens by itself. */
    void checkSettled();
  }

  /** A property does not hold. */
  static final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Violation(final String message) {
      super(message, null, false, false);
    }
  }

  private static final byte ON_PATH = 1;
  private static final byte DONE = 2;

  private final Model model;
  private final int size;
  private final byte[] scratch;

  private byte[] arena;
  private byte[] marks = new byte[1 << 12];
  private int[] table = new int[1 << 13];
  private int count;
  private int[] path = new int[256];
  private int depth;

  private StateWalk(final Model model) {
    this.model = model;
    size = model.size();
    scratch = new byte[size];
    arena = new byte[size << 12];
    Arrays.fill(table, -1);
  }

  /**
   * Explores a model from its present state.
   *
   * @return the number of states.
   * @throws AssertionError if a property does not hold, with the steps that lead there.
   */
  static int explore(final Model model) {
    final byte[] initial = new byte[model.size()];
    model.save(initial, 0);
    final StateWalk walk = new StateWalk(model);
    try {
      model.check();
      walk.visit(walk.find(initial));
    } catch (final Violation e) {
      walk.shorten(initial);
      throw new AssertionError(e.getMessage() + walk.describePath(initial), e);
    }
    return walk.count;
  }

  /** Looks for the shortest way to a property that does not hold; keeps the one it has if none. */
  private void shorten(final byte[] initial) {
    final StateWalk wide = new StateWalk(model);
    wide.find(initial);
    int[] from = new int[1 << 12];
    int[] by = new int[1 << 12];
    for (int state = 0; state < wide.count; state++) {
      boolean settled = true;
      for (int step = 0; step <= model.steps(); step++) {
        try {
          model.load(wide.arena, state * size);
          if (step == model.steps()) {
            if (settled) {
              model.checkSettled();
            }
          } else if (model.step(step)) {
            settled &= model.isSpontaneous(step);
            model.check();
            model.save(scratch, 0);
            final int known = wide.count;
            if (wide.find(scratch) == known) {
              from = Arrays.copyOf(from, Math.max(from.length, wide.table.length));
              by = Arrays.copyOf(by, from.length);
              from[known] = state;
              by[known] = step;
            }
          }
        } catch (final Violation e) {
          backtrack(from, by, state, step);
          return;
        }
      }
    }
  }

  private void backtrack(final int[] from, final int[] by, final int last, final int step) {
    depth = 0;
    if (step < model.steps()) {
      push(step);
    }
    for (int state = last; state != 0; state = from[state]) {
      push(by[state]);
    }
    for (int i = 0; i < depth / 2; i++) {
      final int swapped = path[i];
      path[i] = path[depth - 1 - i];
      path[depth - 1 - i] = swapped;
    }
  }

  private void visit(final int state) {
    marks[state] = ON_PATH;
    boolean settled = true;
    model.load(arena, state * size);
    for (int step = 0; step < model.steps(); step++) {
      push(step);
      if (model.step(step)) {
        settled &= model.isSpontaneous(step);
        model.check();
        model.save(scratch, 0);
        final int known = count;
        final int next = find(scratch);
        if (next == known) {
          visit(next);
        } else if (marks[next] == ON_PATH) {
          throw new Violation("this may go on for ever");
        }
        model.load(arena, state * size); // what is not possible leaves it as it is
      }
      depth--;
    }
    if (settled) {
      model.checkSettled();
    }
    marks[state] = DONE;
  }

  private void push(final int step) {
    if (depth == path.length) {
      path = Arrays.copyOf(path, 2 * depth);
    }
    path[depth++] = step;
  }

  /** The number of a state; the next free number if it is a new one. */
  private int find(final byte[] state) {
    if (2 * count >= table.length) {
      grow();
    }
    int at = slot(state, 0);
    while (table[at] >= 0) {
      final int known = table[at] * size;
      if (Arrays.equals(arena, known, known + size, state, 0, size)) {
        return table[at];
      }
      at = (at + 1) & (table.length - 1);
    }
    table[at] = count;
    System.arraycopy(state, 0, arena, count * size, size);
    return count++;
  }

  private void grow() {
    table = new int[2 * table.length];
    Arrays.fill(table, -1);
    marks = Arrays.copyOf(marks, table.length / 2);
    arena = Arrays.copyOf(arena, size * (table.length / 2));
    for (int state = 0; state < count; state++) {
      int at = slot(arena, state * size);
      while (table[at] >= 0) {
        at = (at + 1) & (table.length - 1);
      }
      table[at] = state;
    }
  }

  private int slot(final byte[] state, final int offset) {
    int hash = 0;
    for (int i = offset; i < offset + size; i++) {
      hash = 31 * hash + state[i];
    }
    hash *= 0x9E3779B9;
    return (hash >>> 8) & (table.length - 1);
  }

  private String describePath(final byte[] initial) {
    final List<String> lines = new ArrayList<>();
    System.arraycopy(initial, 0, scratch, 0, size);
    model.load(scratch, 0);
    lines.add("after " + depth + " steps from " + model);
    for (int i = 0; i < depth; i++) {
      model.load(scratch, 0);
      String line = (i + 1) + ". " + model.nameOf(path[i]);
      try {
        model.step(path[i]);
        line += " -> " + model;
      } catch (final Violation e) {
        line += " -> " + e.getMessage();
      }
      lines.add(line);
      model.save(scratch, 0);
    }
    return lines.stream().map(line -> "\n  " + line).reduce("", String::concat);
  }
}
