package org.jdapl.examples.quickstart;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.EventStream;

/** What a side got, beside what it had to get. To be asked when its EVD is closed. */
final class Report {

  private static final List<EventStream> STREAMS =
      List.of(
          EventStream.DTO,
          EventStream.CONNECTION,
          EventStream.CONNECTION_REQUEST,
          EventStream.SOFTWARE);
  private static final int FAILURES_SHOWN = 5;

  private final Side side;

  Report(final Side side) {
    this.side = side;
  }

  void print(final PrintWriter out) {
    out.printf("%n%-25s%10s%10s%10s%n", side.name, "due", "got", "lost");
    long got = 0;
    long lost = 0;
    for (final EventStream stream : STREAMS) {
      out.printf("  %-23s%10d%10d%10d%n", stream, side.due(stream), got(stream), lost(stream));
      got += got(stream);
      lost += lost(stream);
    }
    out.printf("  %-23s%10d%10d%10d%n", "all", got + lost, got, lost);

    final EvdStatistics statistics = side.evd.statistics();
    final double upcalls = Math.max(1, statistics.upcalls());
    out.printf("  %-33s%10d%n", "upcalls", statistics.upcalls());
    out.printf(Locale.ROOT, "  %-33s%10.2f%n", "events per upcall", got / upcalls);
    out.printf(
        Locale.ROOT,
        "  %-33s%10.2f%n",
        "provider calls per upcall",
        statistics.providerCalls() / upcalls);
    out.printf("  %-33s%10d  (must be 1)%n", "most upcalls at once", side.meter.mostAtOnce());
    out.printf("  %-33s%10d  (must be 0)%n", "lost", lost);
    out.printf("  %-33s%10d  (must be 0)%n", "order violations", side.orderViolations());
  }

  /** Names the checks that failed, with their numbers. */
  List<String> problems() {
    final List<String> problems = new ArrayList<>();
    for (final EventStream stream : STREAMS) {
      if (lost(stream) != 0) {
        problems.add(
            "lost %d %s events: %d due, %d got"
                .formatted(lost(stream), stream, side.due(stream), got(stream)));
      }
    }
    if (side.meter.mostAtOnce() != 1) {
      problems.add("most upcalls at once was " + side.meter.mostAtOnce() + ", not 1");
    }
    if (side.orderViolations() != 0) {
      problems.add(side.orderViolations() + " order violations");
    }
    side.failures.stream().distinct().limit(FAILURES_SHOWN).forEach(problems::add);
    return problems;
  }

  private long got(final EventStream stream) {
    return side.meter.events(stream);
  }

  private long lost(final EventStream stream) {
    return side.due(stream) - got(stream);
  }
}
