package org.jdapl.rdmacore.beside;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;
import org.jdapl.rdmacore.jni.Crossings;

/**
 * Measures this provider under the dispatcher beside programs of C that do the same, in turn, in
 * one run on one machine with soft-RoCE. Calls into the native library are counted where assertions
 * are on for their package.
 */
public final class BesideC {

  private static final int SIZE = 64;
  private static final int WRITE_SIZE = 64 << 10;
  private static final int POLLS = 5_000;
  private static final int EVENTS = 2_000;
  private static final int WRITES = 300;
  private static final int CONNECTS = 100;
  private static final int BURST = 20;
  private static final int MOST_WARM_UPS = 20;

  /** So many rounds in a row without one that was faster, and by how much, end the warm-up. */
  private static final int QUIET = 5;

  private static final double FASTER = 0.97;

  private static final PrintStream OUT = System.out;

  private BesideC() {}

  /** Makes the operations of a round; returns the figure. */
  private interface Ours {
    double run() throws Exception;
  }

  /**
   * Two figures to compare; the ratio is above 1 where ours is worse.
   *
   * @param isRate whether more is better.
   * @param operations of a round.
   * @param scale to the unit that the program of C has.
   */
  private record Pair(
      String name,
      String unit,
      boolean isRate,
      int operations,
      DoubleUnaryOperator scale,
      Ours ours,
      Program c) {

    double ratio(final double ourFigure, final double figureOfC) {
      return isRate ? figureOfC / ourFigure : ourFigure / figureOfC;
    }
  }

  /**
   * Measures and prints.
   *
   * @param arguments how many rounds.
   */
  public static void main(final String... arguments) throws Exception {
    final int rounds = Integer.parseInt(arguments[0]);
    try (VerbsRoundTrips verbs = new VerbsRoundTrips(SIZE);
        RoundTrips polling = new RoundTrips(SIZE, true);
        RoundTrips events = new RoundTrips(SIZE, false);
        Writes writes = new Writes(WRITE_SIZE);
        Connections connections = new Connections()) {
      final List<Pair> pairs =
          List.of(
              new Pair(
                  "64 B round trip, polling",
                  "us",
                  false,
                  POLLS,
                  nanos -> nanos / 1e3,
                  () -> polling.run(POLLS),
                  Program.pingpong(SIZE, POLLS)),
              new Pair(
                  "64 B round trip, polling, the provider alone",
                  "us",
                  false,
                  POLLS,
                  nanos -> nanos / 1e3,
                  () -> verbs.run(POLLS),
                  Program.pingpong(SIZE, POLLS)),
              new Pair(
                  "64 B round trip, event-driven",
                  "us",
                  false,
                  EVENTS,
                  nanos -> nanos / 1e3,
                  () -> events.run(EVENTS),
                  Program.pingpong(SIZE, EVENTS, "-e")),
              new Pair(
                  "64 KiB RDMA write",
                  "MiB/s",
                  true,
                  WRITES,
                  bytes -> bytes / (1 << 20),
                  () -> writes.run(WRITES),
                  Program.writeBw(WRITE_SIZE, WRITES)),
              new Pair(
                  "connections, " + BURST + " at a time",
                  "/s",
                  true,
                  CONNECTS,
                  rate -> rate,
                  () -> connections.run(CONNECTS, BURST),
                  Program.dtestcm(CONNECTS, BURST)));
      OUT.println("| | ours | C | ours / C in time | calls into C for one |");
      OUT.println("|---|---|---|---|---|");
      for (final Pair pair : pairs) {
        compare(pair, rounds);
      }
    }
  }

  private static void compare(final Pair pair, final int rounds) throws Exception {
    warmUp(pair);
    final double[] ours = new double[rounds];
    final double[] c = new double[rounds];
    final double[] ratios = new double[rounds];
    long crossings = 0;
    for (int i = 0; i < rounds; i++) {
      c[i] = pair.c.run();
      final long before = Crossings.count();
      ours[i] = pair.scale.applyAsDouble(pair.ours.run());
      crossings += Crossings.count() - before;
      ratios[i] = pair.ratio(ours[i], c[i]);
      System.err.printf(Locale.ROOT, "%s: %.1f and %.1f of C%n", pair.name, ours[i], c[i]);
    }
    OUT.printf(
        Locale.ROOT,
        "| %s, %s | %s | %s | %.2f | %.1f |%n",
        pair.name,
        pair.unit,
        figures(ours),
        figures(c),
        median(ratios),
        (double) crossings / rounds / pair.operations);
  }

  /** Until it gets no faster. */
  private static void warmUp(final Pair pair) throws Exception {
    double best = pair.ours.run();
    int since = 0;
    for (int made = 1; since < QUIET && made < MOST_WARM_UPS; made++) {
      final double figure = pair.ours.run();
      System.err.printf(
          Locale.ROOT, "warming up %s: %.1f%n", pair.name, pair.scale.applyAsDouble(figure));
      if (pair.ratio(figure, best) < FASTER) {
        best = figure;
        since = 0;
      } else {
        since++;
      }
    }
  }

  private static String figures(final double[] all) {
    final double[] sorted = all.clone();
    Arrays.sort(sorted);
    return String.format(
        Locale.ROOT, "%.1f (%.1f..%.1f)", median(all), sorted[0], sorted[sorted.length - 1]);
  }

  private static double median(final double[] all) {
    final double[] sorted = all.clone();
    Arrays.sort(sorted);
    final int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
