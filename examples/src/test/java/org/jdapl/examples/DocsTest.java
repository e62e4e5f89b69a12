package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DocsTest {

  private static final Path MODULE = Path.of(System.getProperty("basedir", "."));

  @Test
  void readmeShouldQuoteTheConsumer() throws IOException {
    final String readme = Files.readString(MODULE.resolve("../README.md"));
    final String source =
        Files.readString(MODULE.resolve("src/main/java/org/jdapl/examples/Hello.java"));

    assertThat(between(readme, "```java\n", "```"))
        .isEqualTo(between(source, "// tag::hello[]\n", "// end::hello[]").stripIndent());
  }

  @ParameterizedTest
  @CsvSource({"## Testing on the virtual fabric, test", "### When things go wrong, faults"})
  void guideShouldQuoteTheTest(final String heading, final String tag) throws IOException {
    final String guide = Files.readString(MODULE.resolve("../dat-api/docs/guide.md"));
    final String source =
        Files.readString(MODULE.resolve("src/test/java/org/jdapl/examples/testkit/EchoTest.java"));

    final String chapter = between(guide + "\n#", "\n" + heading + "\n", "\n#");
    final String test = between(source, "// tag::" + tag + "[]\n", "// end::" + tag + "[]");
    assertThat(between(chapter, "```java\n", "```")).isEqualTo(test.stripIndent().strip() + "\n");
  }

  private static String between(final String text, final String start, final String end) {
    assertThat(text).containsOnlyOnce(start);
    final int from = text.indexOf(start) + start.length();
    return text.substring(from, text.indexOf(end, from));
  }
}
