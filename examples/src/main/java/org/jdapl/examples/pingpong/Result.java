package org.jdapl.examples.pingpong;

import java.io.PrintWriter;
import java.util.Arrays;
import java.util.Locale;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.jdapl.dat.EvdStatistics;

/**
 * What was measured, for people or for machines.
 *
 * @param nanos how long the round trips took.
 * @param client of the client's EVD, the warm-up included.
 * @param server of the server's EVD, the warm-up included.
 */
record Result(
    String ia,
    String waiting,
    int size,
    long warmUp,
    Histogram nanos,
    EvdStatistics client,
    EvdStatistics server) {

  private static final double[] PERCENTILES = {50, 90, 99, 99.9};
  private static final int MAX_ROWS = 16;
  private static final double LEAST_RATIO = Math.pow(2, 0.25);
  private static final int BAR_LENGTH = 50;
  private static final double NANOS_PER_MICRO = 1_000;

  void print(final PrintWriter out) {
    out.printf(
        "%d round trips of %d bytes after %d to warm up, --ia %s --wait %s%n%n",
        nanos.getTotalCount(), size, warmUp, ia, waiting);
    out.printf("%10s%12s%n", "", "us");
    row(out, "min", micros(nanos.getMinValue()));
    for (final double percentile : PERCENTILES) {
      row(out, name(percentile), micros(nanos.getValueAtPercentile(percentile)));
    }
    row(out, "max", micros(nanos.getMaxValue()));
    row(out, "mean", nanos.getMean() / NANOS_PER_MICRO);
    out.println();
    plot(out);
    out.printf("%nof all round trips, those to warm up included:%n");
    out.printf("%10s%12s%12s%18s%n", "", "events", "upcalls", "provider calls");
    row(out, "client", client);
    if (server != null) {
      row(out, "server", server);
    }
  }

  private static void row(final PrintWriter out, final String name, final double micros) {
    out.printf(Locale.ROOT, "%-10s%12.2f%n", name, micros);
  }

  private static double micros(final long nanos) {
    return nanos / NANOS_PER_MICRO;
  }

  private static void row(final PrintWriter out, final String name, final EvdStatistics counted) {
    out.printf(
        "%-10s%12d%12d%18d%n", name, counted.events(), counted.upcalls(), counted.providerCalls());
  }

  private static String name(final double percentile) {
    return percentile == Math.rint(percentile) ? "p" + (long) percentile : "p" + percentile;
  }

  /** A bar for each range of times; each range is as much longer than the one before. */
  private void plot(final PrintWriter out) {
    final double least = Math.max(micros(1), micros(nanos.getMinValue()));
    final double range = micros(nanos.getMaxValue()) / least;
    final double ratio = Math.max(LEAST_RATIO, Math.pow(range, 1.0 / (MAX_ROWS - 1)));
    final long[] counts = new long[MAX_ROWS];
    int rows = 0;
    for (final HistogramIterationValue value : nanos.recordedValues()) {
      final double logarithm =
          Math.log(micros(value.getValueIteratedTo()) / least) / Math.log(ratio);
      final int row = (int) Math.min(MAX_ROWS - 1, Math.max(0, logarithm));
      counts[row] += value.getCountAddedInThisIterationStep();
      rows = Math.max(rows, row + 1);
    }
    final long highest = Math.max(1, Arrays.stream(counts).max().orElse(0));
    for (int row = 0; row < rows; row++) {
      final int length = (int) Math.ceil((double) BAR_LENGTH * counts[row] / highest);
      out.printf(
          Locale.ROOT,
          "%10.2f us |%-50s%12d%n",
          least * Math.pow(ratio, row),
          "#".repeat(length),
          counts[row]);
    }
  }

  /** One object; all times are in nanoseconds. */
  String toJson() {
    final StringBuilder json = new StringBuilder(512);
    json.append("{\"ia\": ").append(quoted(ia));
    json.append(", \"wait\": ").append(quoted(waiting));
    json.append(", \"size\": ").append(size);
    json.append(", \"warmUp\": ").append(warmUp);
    json.append(", \"iterations\": ").append(nanos.getTotalCount());
    json.append(", \"nanos\": {\"min\": ").append(nanos.getMinValue());
    for (final double percentile : PERCENTILES) {
      json.append(", ").append(quoted(name(percentile))).append(": ");
      json.append(nanos.getValueAtPercentile(percentile));
    }
    json.append(", \"max\": ").append(nanos.getMaxValue());
    json.append(", \"mean\": ").append(String.format(Locale.ROOT, "%.1f", nanos.getMean()));
    json.append("}, \"client\": ").append(json(client));
    if (server != null) {
      json.append(", \"server\": ").append(json(server));
    }
    return json.append('}').toString();
  }

  private static String json(final EvdStatistics counted) {
    return "{\"events\": "
        + counted.events()
        + ", \"upcalls\": "
        + counted.upcalls()
        + ", \"providerCalls\": "
        + counted.providerCalls()
        + "}";
  }

  private static String quoted(final String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
