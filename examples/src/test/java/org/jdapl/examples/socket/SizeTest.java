package org.jdapl.examples.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the guide for providers says of the size of this one. */
class SizeTest {

  private static final Path SOURCES = Path.of("src/main/java/org/jdapl/examples/socket");
  private static final Pattern CODE = Pattern.compile("\\s*(?!//|/\\*|\\*)\\S.*");

  @Test
  void shouldHaveLessThan600LinesThatAreNeitherBlankNorComment() throws IOException {
    final List<String> lines = new ArrayList<>();
    try (Stream<Path> files = Files.list(SOURCES)) {
      for (final Path file : files.toList()) {
        lines.addAll(Files.readAllLines(file));
      }
    }

    assertThat(lines.stream().filter(line -> CODE.matcher(line).matches()).count())
        .isBetween(400L, 599L);
  }
}
