package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jdapl.dat.ProviderInfo;

/**
 * A file that registers interface adapters, {@code dat.conf}: eight fields a line, as DAT has them.
 * Blanks separate them; in double quotes they may have blanks, and a backslash makes the next
 * character itself. A # where a field could begin starts a comment.
 *
 * @param entries the lines that register an adapter, in the order of the file.
 * @param unused the other ones, without those that are empty.
 */
record DatConf(List<Entry> entries, List<Unused> unused) {

  /**
   * An adapter that is registered.
   *
   * @param info what the registry lists.
   * @param provider the name of its provider; DAT has the path of a library there.
   * @param parameters what the provider opens.
   * @param where the file and the number of the line.
   */
  record Entry(ProviderInfo info, String provider, String parameters, String where) {

    @Override
    public String toString() {
      return info + " (" + where + ")";
    }
  }

  /**
   * A line that registers nothing.
   *
   * @param name the name it begins with.
   * @param isMistake whether it is wrong; else it is for somebody else.
   * @param reason why, with file and line.
   */
  record Unused(String name, boolean isMistake, String reason) {}

  /** The fields of a line, in their order. */
  private enum Field {
    IA_NAME(".{1,255}", "a name of 1 to 255 characters"),
    API_VERSION("[uk][0-9]{1,9}\\.[0-9]{1,9}", "u or k and a version, such as u2.0"),
    THREAD_SAFETY("(non)?threadsafe", "threadsafe or nonthreadsafe"),
    DEFAULT("(non)?default", "default or nondefault"),
    LIBRARY(".+", "the name of a provider, such as sim"),
    PROVIDER_VERSION("[^.]+\\.[0-9]+\\.[0-9]+", "an id and a version, such as sim.0.1"),
    IA_PARAMS(".*", "the provider's parameters in double quotes, \"\" for none"),
    PLATFORM_PARAMS(".*", "text in double quotes, \"\" for none");

    private final Pattern legal;
    private final String expected;

    Field(final String legal, final String expected) {
      this.legal = Pattern.compile(legal, Pattern.DOTALL);
      this.expected = expected;
    }
  }

  /** What a C library is called there: a path, or the name of a file. */
  private static final Pattern C_LIBRARY =
      Pattern.compile(".*[/\\\\].*|.*\\.(so([.0-9]+)?|dll|dylib|sl)", Pattern.DOTALL);

  private static final List<Field> FIELDS = List.of(Field.values());
  private static final int SHOWN = 80;

  static final DatConf EMPTY = new DatConf(List.of(), List.of());

  static DatConf read(final Path file) throws IOException {
    return parse(file.toString(), new String(Files.readAllBytes(file), UTF_8));
  }

  /** Never fails: what is wrong is in a line, and spoils this line only. */
  static DatConf parse(final String file, final String text) {
    final DatConf conf = new DatConf(new ArrayList<>(), new ArrayList<>());
    int number = 0;
    for (final String line : text.split("\n", -1)) {
      conf.add(file + ":" + ++number, line);
    }
    return conf;
  }

  private void add(final String where, final String line) {
    final List<String> values = new ArrayList<>();
    final boolean isClosed = split(line, values);
    if (values.isEmpty()) {
      return;
    }
    final Map<Field, String> fields = new EnumMap<>(Field.class);
    for (int i = 0; i < Math.min(values.size(), FIELDS.size()); i++) {
      fields.put(FIELDS.get(i), values.get(i));
    }
    final String name = fields.get(Field.IA_NAME);
    final String library = fields.get(Field.LIBRARY);
    if (library != null && C_LIBRARY.matcher(library).matches()) {
      final String reason = " is for the C library " + shown(library) + ", and is skipped";
      unused.add(new Unused(name, false, where + reason));
      return;
    }
    final String mistake = mistake(values, isClosed);
    if (mistake != null) {
      unused.add(new Unused(name, true, where + ": " + mistake));
      return;
    }
    final String[] version = fields.get(Field.API_VERSION).substring(1).split("\\.", -1);
    final ProviderInfo info =
        new ProviderInfo(
            name,
            Integer.parseInt(version[0]),
            Integer.parseInt(version[1]),
            fields.get(Field.THREAD_SAFETY).equals("threadsafe"),
            fields.get(Field.DEFAULT).equals("default"));
    entries.add(new Entry(info, library, fields.get(Field.IA_PARAMS), where));
  }

  /**
   * Splits a line into its fields.
   *
   * @return whether the quotes of the last one are closed.
   */
  private static boolean split(final String line, final List<String> values) {
    final int end = line.length();
    int at = 0;
    while (true) {
      while (at < end && isBlank(line.charAt(at))) {
        at++;
      }
      if (at == end || line.charAt(at) == '#') {
        return true;
      }
      final StringBuilder value = new StringBuilder();
      if (line.charAt(at) == '"') {
        at++;
        while (at < end && line.charAt(at) != '"') {
          if (line.charAt(at) == '\\' && at + 1 < end) {
            at++;
          }
          value.append(line.charAt(at++));
        }
        values.add(value.toString());
        if (at++ == end) {
          return false;
        }
      } else {
        while (at < end && !isBlank(line.charAt(at))) {
          value.append(line.charAt(at++));
        }
        values.add(value.toString());
      }
    }
  }

  private static boolean isBlank(final char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
  }

  /** What is wrong first; null if nothing is. */
  private static String mistake(final List<String> values, final boolean isClosed) {
    for (int i = 0; i < FIELDS.size(); i++) {
      final Field field = FIELDS.get(i);
      final String its = "field " + (i + 1) + " (" + field.name().toLowerCase(Locale.ROOT) + ")";
      if (i == values.size()) {
        return its + " is missing; expected " + field.expected;
      }
      final String found = its + " is " + shown(values.get(i));
      if (i == values.size() - 1 && !isClosed) {
        return found + " and its double quote is not closed; expected that on the same line";
      }
      if (!field.legal.matcher(values.get(i)).matches()) {
        return found + "; expected " + field.expected;
      }
    }
    final int count = FIELDS.size();
    return values.size() == count
        ? null
        : "field " + (count + 1) + " is " + shown(values.get(count)) + "; expected no more than 8";
  }

  /** As it may stand in a log: on one line, not too long. */
  private static String shown(final String value) {
    final String text = value.length() <= SHOWN ? value : value.substring(0, SHOWN) + "...";
    return "'" + text.replaceAll("[\\p{C}\\u2028\\u2029]", "?") + "'";
  }
}
