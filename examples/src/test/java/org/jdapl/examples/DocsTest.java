package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** That the documents quote what is compiled, and that {@link Quotes} would find it if not. */
class DocsTest {

  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");

  private static final String SOURCE =
      """
      class Code {
        // %s::sum[]
        int sum(final int a, final int b) {
          return a + b;
        }
        // %s::sum[]
      }
      """
          .formatted("tag", "end"); // this file has no region itself

  @Test
  void everyJavaSnippetShouldBeQuotedFromCompiledCode() throws IOException {
    final Quotes quotes = new Quotes(ROOT);

    assertThat(String.join("\n\n", quotes.problems())).isEmpty();
    assertThat(quotes.unquoted()).as("regions that no document quotes").isEmpty();
  }

  @Test
  void shouldTakeAQuoteThatIsTheSource() throws IOException {
    try (FileSystem files = Jimfs.newFileSystem(Configuration.unix())) {
      final Quotes quotes = quotes(files, "Code.java#sum", "return a + b;");

      assertThat(quotes.problems()).isEmpty();
      assertThat(quotes.unquoted()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "Code.java#sum, return a - b;, 'is not what the source has; it should be\nint sum('",
    "'', return a + b;, does not say what it quotes",
    "Core.java#sum, return a + b;, names 0 files",
    "Code.java#difference, return a + b;, needs one // tag::difference[]",
  })
  void shouldRefuseAnyOtherSnippet(final String reference, final String line, final String problem)
      throws IOException {
    try (FileSystem files = Jimfs.newFileSystem(Configuration.unix())) {
      final Quotes quotes = quotes(files, reference, line);

      assertThat(quotes.problems()).hasSize(1);
      assertThat(quotes.problems().get(0)).startsWith("docs/page.md:3: ```java").contains(problem);
    }
  }

  @Test
  void shouldTellOfARegionThatNobodyQuotes() throws IOException {
    try (FileSystem files = Jimfs.newFileSystem(Configuration.unix())) {
      assertThat(quotes(files, "", "").unquoted()).containsExactly("src/Code.java#sum");
    }
  }

  private static Quotes quotes(final FileSystem files, final String reference, final String line)
      throws IOException {
    final Path root = files.getPath("/project");
    final String page =
        """
        A sum:

        ```java %s
        int sum(final int a, final int b) {
          %s
        }
        ```
        """
            .formatted(reference, line);
    Files.createDirectories(root.resolve("src"));
    Files.createDirectories(root.resolve("docs"));
    Files.writeString(root.resolve("src/Code.java"), SOURCE);
    Files.writeString(root.resolve("docs/page.md"), page);
    return new Quotes(root);
  }
}
