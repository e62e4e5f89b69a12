package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The diagram of the design's document is what {@link EvdState#next} does: a walk through every
 * state of the word, with all operations that may come there, seen as a few phases. If it differs,
 * the message has the right one.
 */
class StateDiagramTest {

  private static final Path DESIGN = Path.of("docs/design.md");
  private static final Pattern DIAGRAM = Pattern.compile("(?s)```mermaid\n(.*?)```");
  private static final int MOST_RUNNING = 2;

  /** What a state of the word is about. */
  private enum Phase {
    DISABLED,
    IDLE,
    READY,
    UPCALL,
    MANY,
    TURN,
    WAITING,
    CLOSED;

    static Phase of(final long s) {
      if ((s & EvdState.CLOSED) != 0) {
        return CLOSED;
      }
      if ((s & EvdState.WAITER) != 0) {
        return WAITING;
      }
      if ((s & EvdState.TURN) != 0) {
        return (s & EvdState.UPCALL) != 0 ? UPCALL : TURN;
      }
      if ((s & EvdState.RUNNING) != 0) {
        return MANY;
      }
      if ((s & EvdState.TOKEN) != 0) {
        return READY;
      }
      return EvdState.isEnabled(s) ? IDLE : DISABLED;
    }
  }

  /** Who holds the turn; the word does not say. */
  private enum Holder {
    NOBODY,
    DISPATCHER,
    CONSUMER,
    WAITER
  }

  private record Situation(long word, Holder holder) {}

  private enum Operation {
    SIGNAL(EvdState.SIGNAL),
    POP(EvdState.POP),
    TAKE(EvdState.TAKE),
    TAKE_INSIDE(EvdState.TAKE_INSIDE),
    RESUME(EvdState.RESUME),
    END(EvdState.END),
    LEAVE(EvdState.LEAVE),
    NOTIFIED(EvdState.NOTIFIED),
    PASS(EvdState.PASS),
    DONE(EvdState.DONE),
    SET_POLICY(EvdState.SET_POLICY),
    CLOSE(EvdState.CLOSE),
    AWAIT(EvdState.AWAIT),
    SLEEP(EvdState.SLEEP),
    SET_UNWAITABLE(EvdState.SET_UNWAITABLE),
    CLEAR_UNWAITABLE(EvdState.CLEAR_UNWAITABLE),
    RETURN(EvdState.RETURN),
    SET_CNO(EvdState.SET_CNO);

    private final int code;

    Operation(final int code) {
      this.code = code;
    }

    long[] arguments() {
      return switch (this) {
        case SIGNAL -> new long[] {EvdState.CQ, EvdState.LANE, EvdState.CONTROL};
        case LEAVE, PASS, RETURN -> new long[] {0, EvdState.CQ, EvdState.LANE, EvdState.WORK};
        case SET_POLICY ->
            new long[] {
              EvdState.DISABLED,
              EvdState.DISABLED | EvdState.WORK,
              EvdState.SINGLE,
              EvdState.SINGLE | EvdState.WORK,
              EvdState.NOTIFY,
              EvdState.NOTIFY | EvdState.WORK,
              EvdState.MANY | EvdState.limit(MOST_RUNNING),
              EvdState.MANY | EvdState.limit(MOST_RUNNING) | EvdState.WORK
            };
        case SET_CNO -> new long[] {0, EvdState.CNO};
        default -> new long[] {0};
      };
    }

    /** Whether somebody may do it there. */
    boolean mayCome(final long s, final Holder holder) {
      final boolean inUpcall = holder == Holder.DISPATCHER && (s & EvdState.UPCALL) != 0;
      return switch (this) {
        case POP -> (s & EvdState.TOKEN) != 0;
        case RESUME -> holder != Holder.NOBODY;
        case END, NOTIFIED -> inUpcall;
        case PASS -> inUpcall && running(s) < MOST_RUNNING;
        case LEAVE -> holder == Holder.DISPATCHER || holder == Holder.CONSUMER;
        case SLEEP, RETURN -> holder == Holder.WAITER;
        case TAKE_INSIDE, DONE -> running(s) > 0;
        default -> true;
      };
    }

    private static long running(final long s) {
      return (s & EvdState.RUNNING) / EvdState.ONE_RUNNING;
    }

    Holder after(final Holder before, final long now) {
      if ((now & EvdState.TURN) == 0) {
        return Holder.NOBODY;
      }
      if (before != Holder.NOBODY) {
        return before;
      }
      return this == POP ? Holder.DISPATCHER : this == AWAIT ? Holder.WAITER : Holder.CONSUMER;
    }
  }

  @Test
  void shouldBeInTheDesign() throws Exception {
    final Matcher found = DIAGRAM.matcher(Files.readString(DESIGN));

    assertThat(found.find()).as("a mermaid diagram in %s", DESIGN).isTrue();
    final String right = diagram();
    assertThat(found.group(1))
        .as("%s: put this between ```mermaid and ```:%n%s%n", DESIGN, right)
        .isEqualTo(right);
  }

  private static String diagram() {
    final Map<Phase, Map<Phase, Set<Operation>>> moves = walk();
    final StringBuilder text = new StringBuilder("stateDiagram-v2\n  state OPEN {\n");
    text.append("    [*] --> ").append(Phase.of(0)).append('\n');
    final Set<String> ends = new TreeSet<>();
    moves.forEach(
        (from, next) ->
            next.forEach(
                (to, by) -> {
                  final String label =
                      by.stream().map(Operation::name).collect(Collectors.joining(", "));
                  if (to == Phase.CLOSED) {
                    ends.add(label);
                  } else {
                    text.append("    %s --> %s : %s\n".formatted(from, to, label));
                  }
                }));
    assertThat(moves).as("closed for ever").doesNotContainKey(Phase.CLOSED);
    assertThat(moves.values()).allMatch(next -> next.containsKey(Phase.CLOSED));
    assertThat(ends).as("what closes it, from wherever").hasSize(1);
    return text + "  }\n  OPEN --> CLOSED : " + ends.iterator().next() + "\n";
  }

  /** By which operations a phase follows another one. */
  private static Map<Phase, Map<Phase, Set<Operation>>> walk() {
    final Map<Phase, Map<Phase, Set<Operation>>> moves = new EnumMap<>(Phase.class);
    final Set<Situation> seen = new HashSet<>();
    final Queue<Situation> open = new ArrayDeque<>();
    final Situation first = new Situation(0, Holder.NOBODY);
    seen.add(first);
    open.add(first);
    Situation here;
    while ((here = open.poll()) != null) {
      for (final Operation operation : Operation.values()) {
        for (final long argument : operation.arguments()) {
          final long before = here.word;
          if (!operation.mayCome(before, here.holder)) {
            continue;
          }
          final long now = EvdState.next(before, operation.code, argument);
          if (now < 0) {
            continue;
          }
          if (Phase.of(now) != Phase.of(before)) {
            moves
                .computeIfAbsent(Phase.of(before), from -> new EnumMap<>(Phase.class))
                .computeIfAbsent(Phase.of(now), to -> new TreeSet<>())
                .add(operation);
          }
          final Situation there = new Situation(now, operation.after(here.holder, now));
          if (seen.add(there)) {
            open.add(there);
          }
        }
      }
    }
    return moves;
  }
}
