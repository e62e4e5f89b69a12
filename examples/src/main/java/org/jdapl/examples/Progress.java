package org.jdapl.examples;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.Timer;
import java.util.TimerTask;
import java.util.function.LongSupplier;

/**
 * Says how far something is that takes longer than a moment: by a bar on a terminal, else by a line
 * now and then.
 */
public final class Progress implements AutoCloseable {

  /** What is counted. */
  public enum Unit {
    /** Bytes, shown in binary multiples. */
    BYTES,
    /** Anything. */
    TIMES
  }

  /** Set by examples/run, which can tell whether errors go to a terminal; Java 17 cannot. */
  private static final String TERMINAL = "jdapl.examples.terminal";

  private static final long BAR_DELAY_MILLIS = 500;
  private static final long BAR_PERIOD_MILLIS = 200;
  private static final long LINE_DELAY_MILLIS = 2_000;
  private static final long LINE_PERIOD_MILLIS = 5_000;
  private static final int COLUMNS = 79;
  private static final int BAR_LENGTH = 14;

  private final PrintWriter to;
  private final String what;
  private final Unit unit;
  private final long total;
  private final LongSupplier done;
  private final boolean isBar;
  private final long start = System.nanoTime();
  private final Timer timer = new Timer("progress", true);
  private boolean isClosed;
  private boolean isShown;

  private Progress(
      final PrintWriter to,
      final String what,
      final Unit unit,
      final long total,
      final LongSupplier done,
      final boolean isBar) {
    this.to = to;
    this.what = what;
    this.unit = unit;
    this.total = total;
    this.done = done;
    this.isBar = isBar;
  }

  /**
   * Begins to say it. Nothing is printed if it is closed within a moment.
   *
   * @param to where to print.
   * @param what a word for what is done.
   * @param unit what is counted.
   * @param total how many there will be.
   * @param done how many are done; asked by another thread.
   */
  public static Progress start(
      final PrintWriter to,
      final String what,
      final Unit unit,
      final long total,
      final LongSupplier done) {
    final boolean isBar = isTerminal();
    final Progress progress = new Progress(to, what, unit, total, done, isBar);
    progress.timer.schedule(
        new TimerTask() {
          @Override
          public void run() {
            progress.print();
          }
        },
        isBar ? BAR_DELAY_MILLIS : LINE_DELAY_MILLIS,
        isBar ? BAR_PERIOD_MILLIS : LINE_PERIOD_MILLIS);
    return progress;
  }

  /** Whether errors go to a terminal, so that a line may be printed over the one before. */
  public static boolean isTerminal() {
    return Boolean.getBoolean(TERMINAL);
  }

  /**
   * What to print to have a line over the one before it, cut off where it is too long: a terminal
   * keeps each line that is longer than it is wide.
   */
  public static String overwriting(final String line) {
    return "\r" + padded(line);
  }

  private synchronized void print() {
    if (isClosed) {
      return;
    }
    final String line = line(what, unit, done.getAsLong(), total, System.nanoTime() - start, isBar);
    if (isBar) {
      to.print(overwriting(line));
      to.flush();
      isShown = true;
    } else {
      to.println(line);
    }
  }

  private static String padded(final String line) {
    return line.length() >= COLUMNS
        ? line.substring(0, COLUMNS)
        : line + " ".repeat(COLUMNS - line.length());
  }

  /** How far it is after some time. */
  static String line(
      final String what,
      final Unit unit,
      final long done,
      final long total,
      final long nanos,
      final boolean withBar) {
    final double part = total == 0 ? 1 : Math.min(1, (double) done / total);
    final double perSecond = done / Math.max(1e-9, nanos / 1e9);
    final StringBuilder line = new StringBuilder(what);
    if (withBar) {
      final int filled = (int) (part * BAR_LENGTH);
      line.append(" [").append("=".repeat(filled)).append(" ".repeat(BAR_LENGTH - filled));
      line.append(']');
    }
    line.append(String.format(Locale.ROOT, " %3.0f%%", Math.floor(100 * part)));
    line.append(", ").append(amount(unit, done)).append(" of ").append(amount(unit, total));
    line.append(", ").append(amount(unit, (long) perSecond)).append("/s");
    if (done > 0) {
      line.append(", ").append(duration((long) ((total - done) / perSecond))).append(" left");
    }
    return line.toString();
  }

  private static String amount(final Unit unit, final long count) {
    if (unit == Unit.TIMES) {
      return Long.toString(count);
    }
    if (count < 1 << 10) {
      return count + " B";
    }
    final int power = Math.min(6, (63 - Long.numberOfLeadingZeros(count)) / 10);
    final double scaled = count / Math.pow(1 << 10, power);
    return String.format(
        Locale.ROOT, scaled < 100 ? "%.1f %ciB" : "%.0f %ciB", scaled, "KMGTPE".charAt(power - 1));
  }

  private static String duration(final long seconds) {
    if (seconds < 60) {
      return seconds + " s";
    }
    return seconds < 3600
        ? String.format(Locale.ROOT, "%d:%02d min", seconds / 60, seconds % 60)
        : String.format(Locale.ROOT, "%d:%02d h", seconds / 3600, seconds / 60 % 60);
  }

  /** Prints nothing more, and removes the bar. From any thread, also twice. */
  @Override
  public synchronized void close() {
    timer.cancel();
    if (isShown && !isClosed) {
      to.print("\r" + " ".repeat(COLUMNS) + "\r");
      to.flush();
    }
    isClosed = true;
  }
}
