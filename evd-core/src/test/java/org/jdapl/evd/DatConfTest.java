package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jdapl.dat.ProviderInfo;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DatConfTest {

  private static final String FILE = "dat.conf";
  private static final String GOOD = "ib0 u2.0 threadsafe default sim sim.0.1 \"arm=weak\" \"\"";
  private static final int FILES = 100_000;

  private static String only(final DatConf conf) {
    assertThat(conf.entries()).isEmpty();
    assertThat(conf.unused()).hasSize(1);
    assertThat(conf.unused().get(0).isMistake()).isTrue();
    return conf.unused().get(0).reason();
  }

  @Test
  void shouldReadTheEightFields() {
    final DatConf conf = DatConf.parse(FILE, GOOD);

    assertThat(conf.unused()).isEmpty();
    assertThat(conf.entries())
        .containsExactly(
            new DatConf.Entry(
                new ProviderInfo("ib0", 2, 0, true, true), "sim", "arm=weak", "dat.conf:1"));
  }

  @Test
  void shouldReadTheOtherWords() {
    assertThat(
            DatConf.parse(FILE, "x k1.22 nonthreadsafe nondefault p id.7.0 \"\" \"y\"").entries())
        .containsExactly(
            new DatConf.Entry(new ProviderInfo("x", 1, 22, false, false), "p", "", "dat.conf:1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " \t\r", "# " + GOOD, "  #", "#\"", "\r\n\n#\n"})
  void shouldPassOverEmptyLinesAndComments(final String text) {
    assertThat(DatConf.parse(FILE, text)).isEqualTo(DatConf.EMPTY);
  }

  @Test
  void shouldEndALineWithAComment() {
    assertThat(DatConf.parse(FILE, GOOD + " # the first one\n" + GOOD + "# so here").entries())
        .extracting(DatConf.Entry::where)
        .containsExactly("dat.conf:1", "dat.conf:2");
  }

  /** What the file has, and what the provider gets. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "`\"two words\"`, two words",
        "`\"say \\\"hi\\\"\"`, `say \"hi\"`",
        "`\"back\\\\slash\"`, `back\\slash`",
        "`\"no \\new line\"`, `no new line`",
        "`\"no # comment\"`, `no # comment`",
        "no#comment, no#comment",
        "`C:\\word`, `C:\\word`",
        "`wo\"rd`, `wo\"rd`",
        "`\"\"`, ``"
      })
  void shouldReadQuotesAndEscapes(final String written, final String meant) {
    final DatConf conf =
        DatConf.parse(FILE, "x u2.0 threadsafe default sim sim.0.1 " + written + " \"\"");

    assertThat(conf.entries()).extracting(DatConf.Entry::parameters).containsExactly(meant);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`\"\" u2.0`|field 1 (ia_name) is ''; expected a name of 1 to 255 characters",
        "x|field 2 (api_version) is missing; expected u or k and a version, such as u2.0",
        "x 2.0|field 2 (api_version) is '2.0'; expected u or k and a version, such as u2.0",
        "x u2|field 2 (api_version) is 'u2'; expected",
        "x u2.9999999999|field 2 (api_version) is 'u2.9999999999'; expected",
        "x u2.0 safe|field 3 (thread_safety) is 'safe'; expected threadsafe or nonthreadsafe",
        "x u2.0 threadsafe yes|field 4 (default) is 'yes'; expected default or nondefault",
        "x u2.0 threadsafe default|field 5 (library) is missing; expected the name of a provider",
        "`x u2.0 threadsafe default \"\"`|field 5 (library) is ''; expected the name of a provider",
        "x u2.0 threadsafe default p p|field 6 (provider_version) is 'p'; expected an id and a",
        "x u2.0 threadsafe default p .1.0|field 6 (provider_version) is '.1.0'; expected an id",
        "x u2.0 threadsafe default p p.1.0|field 7 (ia_params) is missing; expected",
        "`x u2.0 threadsafe default p p.1.0 \"`|field 7 (ia_params) is '' and its double quote is not",
        "`x u2.0 threadsafe default p p.1.0 \"\\\"`|field 7 (ia_params) is '\"' and its double quote",
        "`x u2.0 threadsafe default p p.1.0 \"\"`|field 8 (platform_params) is missing; expected",
        "x u2.0 threadsafe default p p.1.0 a b c d|field 9 is 'c'; expected no more than 8",
      })
  void shouldTellFileLineFieldAndWhatWasExpected(final String line, final String expected) {
    assertThat(only(DatConf.parse(FILE, "\n\n" + line))).startsWith("dat.conf:3: " + expected);
  }

  @Test
  void shouldRefuseANameThatDatHasNoRoomFor() {
    final String longest = "n".repeat(255);

    assertThat(DatConf.parse(FILE, GOOD.replace("ib0", longest)).entries()).hasSize(1);
    assertThat(only(DatConf.parse(FILE, GOOD.replace("ib0", longest + "n"))))
        .hasSizeLessThan(200)
        .contains("field 1 (ia_name) is 'nnnn", "nn...'; expected");
  }

  @Test
  void shouldTellOfAMistakeOnOneLineWhateverStandsThere() {
    assertThat(only(DatConf.parse(FILE, "x \u001b[31m\0\u2028\r")))
        .contains("field 2 (api_version) is '?[31m??'; expected");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "libdaplofa.so.2",
        "/usr/lib64/libdat.so",
        "/usr/lib/udapl_tavor.so.1",
        "dapl2-ofa-scm.dll",
        "C:\\DAT\\dapl"
      })
  void shouldSkipLinesForCLibrariesAndTellWhy(final String library) {
    final DatConf conf =
        DatConf.parse(
            FILE, "ofa u2.0 nonthreadsafe default " + library + " dapl.2.0 \"ib0 0\" \"\"");

    assertThat(conf.entries()).isEmpty();
    assertThat(conf.unused())
        .containsExactly(
            new DatConf.Unused(
                "ofa", false, "dat.conf:1 is for the C library '" + library + "', and is skipped"));
  }

  @Test
  void required_P01_aLineThatIsWrongSpoilsNoOther() {
    final String bad = GOOD.replace("u2.0", "\"u2.0");
    final DatConf conf = DatConf.parse(FILE, String.join("\n", bad, GOOD, bad, GOOD, GOOD));

    assertThat(conf.unused())
        .extracting(DatConf.Unused::reason)
        .satisfiesExactly(
            first -> assertThat(first).startsWith("dat.conf:1: field 2 (api_version)"),
            second -> assertThat(second).startsWith("dat.conf:3: field 2 (api_version)"));
    assertThat(conf.entries())
        .extracting(DatConf.Entry::where)
        .containsExactly("dat.conf:2", "dat.conf:4", "dat.conf:5");
  }

  @Test
  void shouldReadTheExampleOfTheGuide() throws IOException {
    final String guide = Files.readString(Path.of("../dat-api/docs/guide.md"));
    final int from = guide.indexOf("# name  API");
    final DatConf conf = DatConf.parse(FILE, guide.substring(from, guide.indexOf("```", from)));

    assertThat(conf.unused()).isEmpty();
    assertThat(conf.entries())
        .extracting(DatConf.Entry::parameters)
        .containsExactly("device=mlx5_0 port=1", "address=192.0.2.1", "arm=weak hint=none");
  }

  // Files made up from a seed: lines that are right, and anything else between them.

  @Test
  void shouldNeverFailAndKeepEachGoodLineWhateverStandsBesideIt() {
    final Long wanted = Long.getLong("jdapl.seed");
    final long first = wanted == null ? 0 : wanted;
    for (long seed = first; seed < (wanted == null ? FILES : first + 1); seed++) {
      final Random random = new Random(seed);
      final List<DatConf.Entry> good = new ArrayList<>();
      final String text = file(random, good);
      try {
        check(DatConf.parse(FILE, text), good, text);
        DatConf.parse(FILE, mutated(random, text));
      } catch (final RuntimeException | AssertionError e) {
        throw new AssertionError("again with -Djdapl.seed=" + seed + ": " + e, e);
      }
    }
  }

  private static void check(final DatConf conf, final List<DatConf.Entry> good, final String text) {
    if (!conf.entries().containsAll(good)) {
      throw new AssertionError("missing from " + conf.entries() + ": one of " + good);
    }
    final int lines = text.split("\n", -1).length;
    if (conf.entries().size() + conf.unused().size() > lines) {
      throw new AssertionError("more than a line each: " + conf);
    }
    for (final DatConf.Unused line : conf.unused()) {
      if (!line.reason().startsWith(FILE + ":") || !line.reason().matches("[^\\p{C}\\u2028]+")) {
        throw new AssertionError("tells no line, or is none: " + line);
      }
    }
  }

  private static String file(final Random random, final List<DatConf.Entry> good) {
    final StringBuilder text = new StringBuilder();
    final int lines = 1 + random.nextInt(6);
    for (int number = 1; number <= lines; number++) {
      final DatConf.Entry entry = entry(random, FILE + ":" + number);
      if (random.nextBoolean()) {
        good.add(entry);
        text.append(written(random, entry));
      } else if (random.nextBoolean()) {
        text.append(mutated(random, written(random, entry)).replace('\n', ' '));
      } else {
        text.append(anything(random, 40).replace('\n', ' '));
      }
      text.append(number < lines || random.nextBoolean() ? "\n" : "");
    }
    return text.toString();
  }

  private static DatConf.Entry entry(final Random random, final String where) {
    return new DatConf.Entry(
        new ProviderInfo(
            "n" + anything(random, 5).replace('\n', ' '),
            random.nextInt(1_000_000_000),
            random.nextInt(3),
            random.nextBoolean(),
            random.nextBoolean()),
        random.nextBoolean() ? "sim" : "rdma-core",
        anything(random, 20).replace('\n', ' '),
        where);
  }

  private static String written(final Random random, final DatConf.Entry entry) {
    final ProviderInfo info = entry.info();
    final String[] fields = {
      quoted(info.name()),
      (random.nextBoolean() ? "u" : "k") + info.major() + "." + info.minor(),
      info.threadSafe() ? "threadsafe" : "nonthreadsafe",
      info.isDefault() ? "default" : "nondefault",
      random.nextBoolean() ? entry.provider() : quoted(entry.provider()),
      "p." + random.nextInt(10) + ".0",
      quoted(entry.parameters()),
      quoted(anything(random, 10).replace('\n', ' '))
    };
    final StringBuilder line = new StringBuilder();
    for (final String field : fields) {
      line.append(blanks(random, line.length() == 0 ? 0 : 1)).append(field);
    }
    return line.append(blanks(random, 0)).append(random.nextBoolean() ? "" : "# \"").toString();
  }

  private static String quoted(final String value) {
    return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static String blanks(final Random random, final int atLeast) {
    final StringBuilder blanks = new StringBuilder();
    for (int i = random.nextInt(3) + atLeast; i > 0; i--) {
      blanks.append(" \t\r\f\u000b".charAt(random.nextInt(5)));
    }
    return blanks.toString();
  }

  /** Any characters, those that mean something more often than others. */
  private static String anything(final Random random, final int length) {
    final StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(length); i > 0; i--) {
      text.append(
          switch (random.nextInt(4)) {
            case 0 -> "\"\\# \t\n\r\0u2.k/".charAt(random.nextInt(13));
            case 1 -> (char) random.nextInt(1 << 16);
            default -> (char) (' ' + random.nextInt(95));
          });
    }
    return text.toString();
  }

  private static String mutated(final Random random, final String text) {
    final StringBuilder mutated = new StringBuilder(text);
    for (int i = random.nextInt(4); i >= 0; i--) {
      final int from = random.nextInt(mutated.length() + 1);
      final int to = Math.min(mutated.length(), from + random.nextInt(4));
      mutated.replace(from, to, anything(random, 4));
    }
    return mutated.toString();
  }
}
