package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jdapl.dat.DatException;
import org.jdapl.dat.ReturnSubtype;

/** The tables of the page about states: how they are read, and how they are made. */
final class StateTables {

  /** The page. */
  static final Path PAGE = Path.of("../dat-api/docs/states.md");

  private static final String IMPOSSIBLE = "x";
  private static final String STAYS = "-";
  private static final String OWN_REFUSAL = "!";

  /** Where an object and all around it lives, fresh for each cell. */
  interface Stage {

    /** The short name of the object's state now. */
    String state();

    /** What is said where a state does not allow a call; null if the object has no such code. */
    String refusal();

    /** Lets everything happen that is to happen now. */
    void settle();

    /** What the consumer and the peer were told since the last call, in order. */
    List<String> told();
  }

  /** Brings the object into a state. */
  interface Bringing<S extends Stage> {
    void bring(S stage);
  }

  /** A call, or something that happens; false if it cannot be or happen there. */
  interface Step<S extends Stage> {
    boolean take(S stage);
  }

  private record Row<S extends Stage>(String name, Bringing<S> before, Step<S> step) {}

  /**
   * A table: each pair of a state and a step is tried.
   *
   * @param <S> where.
   */
  static final class Table<S extends Stage> {

    private final String heading;
    private final Supplier<S> stages;
    private final Map<String, Bringing<S>> columns = new LinkedHashMap<>();
    private final List<Row<S>> rows = new ArrayList<>();

    Table(final String heading, final Supplier<S> stages) {
      this.heading = heading;
      this.stages = stages;
    }

    Table<S> state(final String name, final Bringing<S> bringing) {
      columns.put(name, bringing);
      return this;
    }

    Table<S> row(final String name, final Step<S> step) {
      return row(name, stage -> {}, step);
    }

    /** With something that is to be done before the object is brought into the state. */
    Table<S> row(final String name, final Bringing<S> before, final Step<S> step) {
      rows.add(new Row<>(name, before, step));
      return this;
    }

    /** Compares the page's table with what is so. */
    void check() throws IOException {
      final List<String> right = made();
      assertThat(onPage(heading))
          .as("%s: the table below '%s' is to be:%n%s%n", PAGE, heading, String.join("\n", right))
          .isEqualTo(right);
    }

    private List<String> made() {
      final List<String> lines = new ArrayList<>();
      final boolean calls = heading.endsWith("calls");
      lines.add(
          "| " + (calls ? "call" : "event") + " | " + String.join(" | ", columns.keySet()) + " |");
      lines.add("|---".repeat(columns.size() + 1) + "|");
      for (final Row<S> row : rows) {
        final List<String> cells = new ArrayList<>();
        columns.forEach((name, bringing) -> cells.add(cell(row, name, bringing)));
        lines.add("| " + row.name + " | " + String.join(" | ", cells) + " |");
      }
      return lines;
    }

    private String cell(final Row<S> row, final String name, final Bringing<S> bringing) {
      final S stage = stages.get();
      final String pair = heading + ": " + row.name + " in " + name;
      try {
        row.before.bring(stage);
        bringing.bring(stage);
        assertThat(stage.state()).as(pair + ": the state it was brought into").isEqualTo(name);
        final var unused = stage.told();
        return take(row, name, stage);
      } catch (final RuntimeException | AssertionError e) {
        throw new AssertionError(pair + ": " + e, e);
      }
    }

    private String take(final Row<S> row, final String before, final S stage) {
      final String own = stage.refusal();
      String outcome;
      try {
        if (!row.step.take(stage)) {
          return IMPOSSIBLE;
        }
        outcome = null;
      } catch (final DatException e) {
        outcome = code(e);
      }
      final String after = stage.state();
      stage.settle();
      final List<String> told = stage.told();
      if (outcome != null) {
        assertThat(after).as("refused with " + outcome + ": the state after").isEqualTo(before);
        assertThat(told).as("refused with " + outcome + ": what was told of").isEmpty();
        return outcome.equals(own) ? OWN_REFUSAL : outcome;
      }
      told.add(0, after.equals(before) ? STAYS : after);
      return String.join(", ", told);
    }

    /** The states that follow each other by the table, as "UNC ACT". */
    List<String> moves() throws IOException {
      final List<String> lines = onPage(heading);
      final List<String> states = cells(lines.get(0));
      final List<String> moves = new ArrayList<>();
      for (final String line : lines.subList(2, lines.size())) {
        final List<String> cells = cells(line);
        for (int i = 1; i < states.size(); i++) {
          final String to = cells.get(i).split(",", 2)[0];
          if (states.contains(to)) {
            moves.add(states.get(i) + " " + to);
          }
        }
      }
      return moves;
    }
  }

  private StateTables() {}

  /** A code as the page has it. */
  static String code(final DatException e) {
    return e.subtype() == ReturnSubtype.NO_SUBTYPE
        ? e.type().name()
        : e.type() + "/" + e.subtype().name().replaceFirst("^INVALID_(STATE|HANDLE)_", "");
  }

  /** The lines of the table below a heading. */
  static List<String> onPage(final String heading) throws IOException {
    final List<String> lines = Files.readAllLines(PAGE);
    int at = lines.indexOf(heading);
    assertThat(at).as("'%s' in %s", heading, PAGE).isNotNegative();
    while (at < lines.size() && !lines.get(at).startsWith("|")) {
      at++;
    }
    final int first = at;
    while (at < lines.size() && lines.get(at).startsWith("|")) {
      at++;
    }
    return List.copyOf(lines.subList(first, at));
  }

  /** The cells of a line. */
  static List<String> cells(final String line) {
    final String[] cells = line.split("\\|", -1);
    final List<String> trimmed = new ArrayList<>();
    for (int i = 1; i < cells.length - 1; i++) {
      trimmed.add(cells[i].trim());
    }
    return trimmed;
  }
}
