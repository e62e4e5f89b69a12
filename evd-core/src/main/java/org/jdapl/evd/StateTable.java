package org.jdapl.evd;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The state of an object, and the complete table of its moves: what is not there is not legal. Each
 * move is one compare-and-set, so that of two things that would end something only one does.
 *
 * @param <S> the states.
 * @param <T> what moves it: calls and events.
 */
final class StateTable<S extends Enum<S>, T extends Enum<T>> {

  private final Map<S, Map<T, S>> moves;

  StateTable(final Class<S> states, final Class<T> triggers) {
    moves = new EnumMap<>(states);
    for (final S state : states.getEnumConstants()) {
      moves.put(state, new EnumMap<>(triggers));
    }
  }

  /** While the table is being made. */
  StateTable<S, T> on(final S from, final T trigger, final S to) {
    if (moves.get(from).put(trigger, to) != null) {
      throw new IllegalArgumentException("twice: " + from + ", " + trigger);
    }
    return this;
  }

  /** Where a trigger leads to, or null if it is not legal there. */
  S next(final S from, final T trigger) {
    return moves.get(from).get(trigger);
  }

  /** An object that moves by this table. */
  Machine<S, T> startIn(final S first) {
    return new Machine<>(this, first);
  }

  /** The state of one object. */
  static final class Machine<S extends Enum<S>, T extends Enum<T>> {

    private final StateTable<S, T> table;
    private final AtomicReference<S> state;

    private Machine(final StateTable<S, T> table, final S first) {
      this.table = table;
      state = new AtomicReference<>(first);
    }

    S state() {
      return state.get();
    }

    /**
     * Moves.
     *
     * @return the state before; null if the trigger is not legal in it, and nothing changed.
     */
    S move(final T trigger) {
      while (true) {
        final S from = state.get();
        final S to = table.next(from, trigger);
        if (to == null) {
          return null;
        }
        if (state.compareAndSet(from, to)) {
          return from;
        }
      }
    }
  }
}
