package org.jdapl.rdmacore.beside;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jdapl.rdmacore.jni.Crossings;

/**
 * Measures this provider under the dispatcher beside programs of C that do the same, in turn, in
 * one run on one machine with soft-RoCE. Each side is a process on a processor of its own, those of
 * C on the same. Calls into the native library are counted where assertions are on for their
 * package.
 */
public final class BesideC {

  private static final int SIZE = 64;
  private static final int WRITE_SIZE = 64 << 10;
  private static final int POLLS = 2_000;
  private static final int EVENTS = 1_000;
  private static final int WRITES = 300;
  private static final int CONNECTS = 100;
  private static final int BURST = 20;
  private static final int WARM_UPS = 30;
  private static final int PROCESSOR = 1;
  private static final long END = -1;
  private static final PrintStream OUT = System.out;

  private BesideC() {}

  /**
   * Two figures to compare; the ratio is above 1 where ours is worse.
   *
   * @param isRate whether more is better.
   * @param operations of a round.
   */
  private record Pair(String name, boolean isRate, int operations, Contest ours, Contest c) {

    double ratio(final double ourFigure, final double figureOfC) {
      return isRate ? figureOfC / ourFigure : ourFigure / figureOfC;
    }
  }

  /**
   * Measures and prints; without arguments, serves the process that does.
   *
   * @param arguments how many rounds.
   */
  public static void main(final String... arguments) throws Exception {
    try (Partner partner =
            arguments.length == 0 ? Partner.parent() : Partner.start(BesideC.class, PROCESSOR);
        RoundTrips polling = new RoundTrips(partner, SIZE, POLLS, true);
        VerbsRoundTrips verbs = new VerbsRoundTrips(partner, SIZE, POLLS);
        RoundTrips events = new RoundTrips(partner, SIZE, EVENTS, false);
        Writes writes = new Writes(partner, WRITE_SIZE, WRITES);
        Connections connections = new Connections(partner, CONNECTS, BURST)) {
      final Program pingpong = Program.pingpong(SIZE, POLLS);
      final List<Pair> pairs =
          List.of(
              new Pair("64 B round trip, polling, us", false, POLLS, polling, pingpong),
              new Pair(
                  "64 B round trip, polling, the provider alone, us",
                  false,
                  POLLS,
                  verbs,
                  pingpong),
              new Pair(
                  "64 B round trip, event-driven, us",
                  false,
                  EVENTS,
                  events,
                  Program.pingpong(SIZE, EVENTS, "-e")),
              new Pair(
                  "64 KiB RDMA write, MiB/s",
                  true,
                  WRITES,
                  writes,
                  Program.writeBw(WRITE_SIZE, WRITES)),
              new Pair(
                  "connections, " + BURST + " at a time, /s",
                  true,
                  CONNECTS,
                  connections,
                  Program.dtestcm(CONNECTS, BURST)));
      if (arguments.length == 0) {
        serve(partner, pairs);
      } else {
        compare(partner, pairs, Integer.parseInt(arguments[0]));
      }
    }
  }

  private static void serve(final Partner partner, final List<Pair> pairs) throws Exception {
    for (long order; (order = partner.hear()) != END; ) {
      final Pair pair = pairs.get((int) order / 2);
      (order % 2 == 0 ? pair.ours : pair.c).serve(() -> partner.tell(0));
    }
  }

  private static void compare(final Partner partner, final List<Pair> pairs, final int rounds)
      throws Exception {
    OUT.println("| | ours | C | ours / C in time | calls into C for one |");
    OUT.println("|---|---|---|---|---|");
    for (int i = 0; i < pairs.size(); i++) {
      new Race(partner, pairs.get(i), 2L * i).run(rounds);
    }
    partner.tell(END);
    partner.awaitEnd();
  }

  /** The rounds of a pair. */
  private record Race(Partner partner, Pair pair, long order) {

    private double ours() throws Exception {
      partner.tell(order);
      partner.hear();
      return pair.ours.drive();
    }

    private double c() throws Exception {
      partner.tell(order + 1);
      partner.hear();
      return pair.c.drive();
    }

    void run(final int rounds) throws Exception {
      warmUp();
      final double[] ours = new double[rounds];
      final double[] c = new double[rounds];
      final double[] ratios = new double[rounds];
      long crossings = 0;
      for (int i = 0; i < rounds; i++) {
        c[i] = c();
        final long before = Crossings.count();
        ours[i] = ours();
        crossings += Crossings.count() - before;
        ratios[i] = pair.ratio(ours[i], c[i]);
        System.err.printf(Locale.ROOT, "%s: %.1f and %.1f of C%n", pair.name, ours[i], c[i]);
      }
      OUT.printf(
          Locale.ROOT,
          "| %s | %s | %s | %.2f | %.1f |%n",
          pair.name,
          figures(ours),
          figures(c),
          median(ratios),
          (double) crossings / rounds / pair.operations);
    }

    private void warmUp() throws Exception {
      for (int i = 0; i < WARM_UPS; i++) {
        System.err.printf(Locale.ROOT, "warming up %s: %.1f%n", pair.name, ours());
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
