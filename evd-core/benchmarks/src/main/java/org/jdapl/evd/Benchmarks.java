package org.jdapl.evd;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs each benchmark against its baseline, fork by fork in turn, and prints a table of the medians
 * over the forks. An exit status of 0 says that all were run, not that goals were met.
 */
public final class Benchmarks {

  private static final String USAGE =
      """
      usage: Benchmarks [NAME...] [--forks N] [--seconds S]
        NAME     B1 to B5, B7 or Lost, or the beginning of a line of the table; all by default
        N        JVMs for each side, 3 by default
        S        seconds that each JVM measures, 1 by default; it warms up as long
      """;

  /** What is run: a benchmark method with values of its parameters. */
  record Side(String name, String method, Map<String, String> parameters) {

    static Side of(
        final String name, final Class<?> benchmark, final String method, final String... values) {
      final Map<String, String> parameters = new TreeMap<>();
      for (final String value : values) {
        final int sign = value.indexOf('=');
        parameters.put(value.substring(0, sign), value.substring(sign + 1));
      }
      return new Side(name, benchmark.getName() + "." + method, parameters);
    }
  }

  /** What the issue is: how two figures in ns are compared. */
  enum Measure {
    /** How much ours takes longer. */
    OVER("%+.1f ns", "at most %+.0f ns"),
    /** How long ours takes. */
    TIME("%.1f ns", "at most %.0f ns"),
    /** Our rate by the other's. */
    RATE("%.2f of its rate", "at least %.1f of its rate"),
    /** Our time by the other's. */
    RATIO("%.2f of its time", "at most %.1f of its time");

    private final String figure;
    private final String goal;

    Measure(final String figure, final String goal) {
      this.figure = figure;
      this.goal = goal;
    }

    double of(final double ours, final double other) {
      return switch (this) {
        case OVER -> ours - other;
        case TIME -> ours;
        case RATE -> other / ours;
        case RATIO -> ours / other;
      };
    }

    boolean isMet(final double figureOfOurs, final double asked) {
      return this == RATE ? figureOfOurs >= asked : figureOfOurs <= asked;
    }
  }

  /** A line of the table; a goal of NaN is none. */
  record Duel(String name, Side ours, Side other, Measure measure, double goal) {}

  /** What the forks of a side said. */
  private static final class Figures {
    private final List<Double> median = new ArrayList<>();
    private final List<Double> p99 = new ArrayList<>();
    private final List<Double> bytes = new ArrayList<>();
    private final List<Double> sleeps = new ArrayList<>();

    private void add(final RunResult result) {
      final var primary = result.getPrimaryResult();
      final boolean sampled = primary.getLabel().contains("wakeUp");
      median.add(sampled ? primary.getStatistics().getPercentile(50) : primary.getScore());
      p99.add(sampled ? primary.getStatistics().getPercentile(99) : Double.NaN);
      result
          .getSecondaryResults()
          .forEach(
              (label, secondary) -> {
                if (label.endsWith("gc.alloc.rate.norm")) {
                  bytes.add(secondary.getScore());
                } else if (label.equals("sleeps")) {
                  sleeps.add(
                      1000
                          * secondary.getScore()
                          / result.getSecondaryResults().get("events").getScore());
                }
              });
    }

    private String print() {
      return String.format(
          Locale.ROOT,
          "%8.1f ns (%.1f..%.1f)%s%s%s",
          median(median),
          median.stream().min(Double::compare).orElseThrow(),
          median.stream().max(Double::compare).orElseThrow(),
          p99.get(0).isNaN() ? "" : String.format(Locale.ROOT, ", p99 %.0f ns", median(p99)),
          bytes.isEmpty() ? "" : String.format(Locale.ROOT, ", %.2f B", median(bytes)),
          sleeps.isEmpty()
              ? ""
              : String.format(Locale.ROOT, ", %.2f sleeps in 1000", median(sleeps)));
    }
  }

  private Benchmarks() {}

  private static double median(final List<Double> values) {
    final double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    final int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /** All lines, in the order of the table. */
  static List<Duel> duels() {
    final List<Duel> all = new ArrayList<>();
    for (final String burst : List.of("1", "16", "64", "4096")) {
      all.add(
          new Duel(
              "B1 dispatch, bursts of " + burst,
              Side.of("EVD", DispatchBenchmark.class, "evd", "burst=" + burst),
              Side.of("bare loop", DispatchBenchmark.class, "bareLoop", "burst=" + burst),
              burst.equals("1") ? Measure.TIME : Measure.OVER,
              burst.equals("1") ? 150 : 25));
    }
    for (final WaitStrategy strategy : WaitStrategy.values()) {
      all.add(posts("B2", strategy, 1, Consumer.Kind.DISRUPTOR, 0.5));
    }
    all.add(posts("B2", WaitStrategy.BUSY_SPIN, 1, Consumer.Kind.SPSC, Double.NaN));
    for (final int posters : new int[] {1, 2}) {
      for (final WaitStrategy strategy : WaitStrategy.values()) {
        all.add(posts("B3", strategy, posters, Consumer.Kind.MPSC_AND_FLAG, 0.8));
      }
      all.add(posts("B3", WaitStrategy.SPIN_THEN_BLOCK, posters, Consumer.Kind.EXECUTOR, 1.0));
    }
    all.add(
        new Duel(
            "Lost: the lane's queue without padding",
            posting(Consumer.Kind.LANE_QUEUE_UNPADDED, WaitStrategy.BUSY_SPIN, 1),
            posting(Consumer.Kind.LANE_QUEUE, WaitStrategy.BUSY_SPIN, 1),
            Measure.RATE,
            Double.NaN));
    all.add(wakes(WaitStrategy.BUSY_SPIN, Consumer.Kind.DISRUPTOR, 1.1));
    all.add(wakes(WaitStrategy.SPIN_THEN_BLOCK, Consumer.Kind.DISRUPTOR, 1.1));
    all.add(wakes(WaitStrategy.SPIN_THEN_BLOCK, Consumer.Kind.PARK, Double.NaN));
    all.add(wakes(WaitStrategy.SPIN_THEN_BLOCK, Consumer.Kind.SELECTOR, Double.NaN));
    all.add(mixes(WaitStrategy.BUSY_SPIN, Mixture.Kind.THREE_QUEUES));
    all.add(mixes(WaitStrategy.SPIN_THEN_BLOCK, Mixture.Kind.THREE_THREADS));
    all.add(
        new Duel(
            "B7 post of a send",
            Side.of("DAT", PostBenchmark.class, "dat"),
            Side.of("SPI", PostBenchmark.class, "spi"),
            Measure.OVER,
            30));
    return all;
  }

  private static Duel posts(
      final String name,
      final WaitStrategy strategy,
      final int posters,
      final Consumer.Kind other,
      final double goal) {
    return new Duel(
        name + " " + posters + (posters == 1 ? " poster, " : " posters, ") + strategy,
        posting(Consumer.Kind.EVD, strategy, posters),
        posting(other, strategy, posters),
        Measure.RATE,
        goal);
  }

  private static Side posting(
      final Consumer.Kind kind, final WaitStrategy strategy, final int posters) {
    return Side.of(
        kind.toString(),
        PosterBenchmark.class,
        "events",
        "kind=" + kind,
        "strategy=" + strategy,
        "posters=" + posters);
  }

  private static Duel wakes(
      final WaitStrategy strategy, final Consumer.Kind other, final double goal) {
    return new Duel(
        "B4 wake-up, " + strategy,
        waking(Consumer.Kind.EVD, strategy),
        waking(other, strategy),
        Measure.RATIO,
        goal);
  }

  private static Side waking(final Consumer.Kind kind, final WaitStrategy strategy) {
    return Side.of(
        kind.toString(), WakeUpBenchmark.class, "wakeUp", "kind=" + kind, "strategy=" + strategy);
  }

  private static Duel mixes(final WaitStrategy strategy, final Mixture.Kind other) {
    return new Duel(
        "B5 three sources, " + strategy,
        mixing(Mixture.Kind.EVD, strategy),
        mixing(other, strategy),
        Measure.RATE,
        Double.NaN);
  }

  private static Side mixing(final Mixture.Kind kind, final WaitStrategy strategy) {
    return Side.of(
        kind.toString(), MixtureBenchmark.class, "events", "kind=" + kind, "strategy=" + strategy);
  }

  /**
   * Runs what is asked for.
   *
   * @param arguments see the usage.
   * @throws RunnerException if a benchmark failed.
   */
  public static void main(final String[] arguments) throws RunnerException {
    final List<String> names = new ArrayList<>();
    int forks = 3;
    int seconds = 1;
    for (int i = 0; i < arguments.length; i++) {
      if (arguments[i].equals("--forks") && i + 1 < arguments.length) {
        forks = number(arguments[++i]);
      } else if (arguments[i].equals("--seconds") && i + 1 < arguments.length) {
        seconds = number(arguments[++i]);
      } else if (arguments[i].startsWith("-")) {
        throw usage("'" + arguments[i] + "' is no option, or its value is missing");
      } else {
        names.add(arguments[i]);
      }
    }
    final List<Duel> chosen =
        duels().stream()
            .filter(duel -> names.isEmpty() || names.stream().anyMatch(duel.name::startsWith))
            .toList();
    if (chosen.isEmpty()) {
      throw usage("no benchmark's name begins with one of " + names);
    }
    System.out.printf(
        Locale.ROOT,
        "Java %s, %s, %d processors; medians over %d JVMs (least..most), each %d s warm-up and %d s%n",
        Runtime.version(),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors(),
        forks,
        seconds,
        seconds);
    for (final Duel duel : chosen) {
      run(duel, forks, seconds);
    }
  }

  private static int number(final String argument) {
    try {
      final int number = Integer.parseInt(argument);
      if (number > 0) {
        return number;
      }
    } catch (final NumberFormatException e) {
      // as for one that is too small
    }
    throw usage("'" + argument + "' is not a number above 0");
  }

  private static IllegalArgumentException usage(final String problem) {
    return new IllegalArgumentException(problem + System.lineSeparator() + USAGE);
  }

  private static void run(final Duel duel, final int forks, final int seconds)
      throws RunnerException {
    final Figures ours = new Figures();
    final Figures other = new Figures();
    for (int fork = 0; fork < forks; fork++) {
      ours.add(run(duel.ours, seconds));
      other.add(run(duel.other, seconds));
    }
    final double figure = duel.measure.of(median(ours.median), median(other.median));
    System.out.printf(
        Locale.ROOT,
        "%s%n  %-14s %s%n  %-14s %s%n  %s%s%n",
        duel.name,
        duel.ours.name,
        ours.print(),
        duel.other.name,
        other.print(),
        String.format(Locale.ROOT, duel.measure.figure, figure),
        Double.isNaN(duel.goal)
            ? ""
            : "; goal: "
                + String.format(Locale.ROOT, duel.measure.goal, duel.goal)
                + (duel.measure.isMet(figure, duel.goal) ? ": met" : ": MISSED"));
  }

  private static RunResult run(final Side side, final int seconds) throws RunnerException {
    final OptionsBuilder options = new OptionsBuilder();
    options
        .include("^" + side.method.replace(".", "\\.") + "$")
        .forks(1)
        .warmupIterations(4)
        .warmupTime(TimeValue.milliseconds(250L * seconds))
        .measurementIterations(4)
        .measurementTime(TimeValue.milliseconds(250L * seconds))
        .jvmArgs("-Xmx512m", "-XX:+UseSerialGC", "-Djdapl.leakDetection=off")
        .shouldFailOnError(true)
        .verbosity(VerboseMode.SILENT);
    side.parameters.forEach((name, value) -> options.param(name, value));
    if (side.method.contains("PostBenchmark")) {
      options.addProfiler(GCProfiler.class);
    }
    return new Runner(options.build()).runSingle();
  }
}
