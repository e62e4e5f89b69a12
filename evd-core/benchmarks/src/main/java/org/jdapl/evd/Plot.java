package org.jdapl.evd;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Lines over logarithmic axes, as SVG. */
final class Plot {

  private static final int LEFT = 60;
  private static final int TOP = 40;
  private static final int WIDTH = 480;
  private static final int HEIGHT = 280;
  private static final String[] COLOURS = {"#1b6ca8", "#c0392b", "#27ae60", "#8e44ad"};

  private record Point(double x, double y) {}

  private final String title;
  private final String xTitle;
  private final Map<String, List<Point>> lines = new LinkedHashMap<>();

  Plot(final String title, final String xTitle) {
    this.title = title;
    this.xTitle = xTitle;
  }

  /** Adds a point to a line; both above 0. */
  void add(final String line, final double x, final double y) {
    lines.computeIfAbsent(line, name -> new ArrayList<>()).add(new Point(x, y));
  }

  String svg() {
    final List<Point> all = lines.values().stream().flatMap(List::stream).toList();
    final double xFrom = floor(all.stream().mapToDouble(Point::x).min().orElse(1));
    final double xTo = ceil(all.stream().mapToDouble(Point::x).max().orElse(10), xFrom);
    final double yFrom = floor(all.stream().mapToDouble(Point::y).min().orElse(1));
    final double yTo = ceil(all.stream().mapToDouble(Point::y).max().orElse(10), yFrom);
    final StringBuilder svg = new StringBuilder();
    append(
        svg,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'"
            + " font-family='sans-serif' font-size='12'>%n",
        LEFT + WIDTH + 20,
        TOP + HEIGHT + 60 + 18 * lines.size());
    append(svg, "<text x='%d' y='20' font-size='14'>%s</text>%n", LEFT, title);
    append(svg, "<text x='%d' y='%d'>%s</text>%n", LEFT, TOP + HEIGHT + 40, xTitle);
    for (double power = xFrom; power <= xTo; power++) {
      final double x = LEFT + WIDTH * (power - xFrom) / (xTo - xFrom);
      append(
          svg,
          "<path d='M%.1f %d V%d' stroke='#ddd'/><text x='%.1f' y='%d'>%s</text>%n",
          x,
          TOP,
          TOP + HEIGHT,
          x,
          TOP + HEIGHT + 18,
          label(power));
    }
    for (double power = yFrom; power <= yTo; power++) {
      final double y = TOP + HEIGHT - HEIGHT * (power - yFrom) / (yTo - yFrom);
      append(
          svg,
          "<path d='M%d %.1f H%d' stroke='#ddd'/><text x='4' y='%.1f'>%s</text>%n",
          LEFT,
          y,
          LEFT + WIDTH,
          y + 4,
          label(power));
    }
    int line = 0;
    for (final Map.Entry<String, List<Point>> each : lines.entrySet()) {
      final String colour = COLOURS[line % COLOURS.length];
      svg.append("<polyline fill='none' stroke='").append(colour).append("' points='");
      for (final Point point : each.getValue()) {
        append(
            svg,
            "%.1f,%.1f ",
            LEFT + WIDTH * (Math.log10(point.x) - xFrom) / (xTo - xFrom),
            TOP + HEIGHT - HEIGHT * (Math.log10(point.y) - yFrom) / (yTo - yFrom));
      }
      append(
          svg,
          "'/>%n<text x='%d' y='%d' fill='%s'>%s</text>%n",
          LEFT,
          TOP + HEIGHT + 60 + 18 * line++,
          colour,
          each.getKey());
    }
    return svg.append("</svg>").append(System.lineSeparator()).toString();
  }

  private static double floor(final double value) {
    return Math.floor(Math.log10(value));
  }

  private static double ceil(final double value, final double from) {
    return Math.max(from + 1, Math.ceil(Math.log10(value)));
  }

  private static String label(final double power) {
    return power < 0
        ? String.format(Locale.ROOT, "%." + (int) -power + "f", Math.pow(10, power))
        : String.format(Locale.ROOT, "%.0f", Math.pow(10, power));
  }

  private static void append(final StringBuilder to, final String format, final Object... values) {
    to.append(String.format(Locale.ROOT, format, values));
  }
}
