package org.jdapl.site;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SiteTest {

  private static final Path PROJECT = Path.of(System.getProperty("basedir", "."), "../..");

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

  private static final String QUOTE =
      """

      ```java Code.java#sum
      int sum(final int a, final int b) {
        return a + b;
      }
      ```
      """;

  private final FileSystem files = Jimfs.newFileSystem(Configuration.unix());
  private final Path root = files.getPath("/project");

  @BeforeEach
  void createProject() throws IOException {
    write("src/Code.java", SOURCE);
    write(
        "README.md",
        "# Sums & more\n\nThe [guide](docs/guide.md#how-to-add), [code](src/Code.java)");
    write("docs/guide.md", "# Guide\n\nBack to [it](../README.md).\n\n## How to add?\n" + QUOTE);
    write("target/old.md", "[nowhere](nothing.md)");
  }

  @AfterEach
  void close() throws IOException {
    files.close();
  }

  @Test
  void documentsOfThisProjectShouldLinkAndQuoteWhatIsThere() throws IOException {
    assertThat(String.join("\n", new Site(PROJECT.toRealPath()).problems())).isEmpty();
  }

  @Test
  void shouldFindNothingWrongInADocumentThatIsRight() throws IOException {
    assertThat(new Site(root).problems()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "[a](b.md), page.md:4: the link b.md leads to no file of the project",
    "[a](../other/README.md), page.md:4: the link ../other/README.md leads to no file",
    "[a](docs/guide.md#how), page.md:4: the link docs/guide.md#how leads to no heading",
    "[a](#page-2), page.md:4: the link #page-2 leads to no heading of page.md",
    "[a](src/Code.java#sum), leads to no heading of src/Code.java",
  })
  void shouldRefuseALinkThatLeadsNowhere(final String link, final String problem)
      throws IOException {
    write("page.md", "# Page\n\nLook at\n" + link);

    assertThat(new Site(root).problems()).singleElement().asString().contains(problem);
  }

  @ParameterizedTest
  @CsvSource({
    "a + b, a - b, 'is not what the source has, which is\nint sum(final int a'",
    "' Code.java#sum', '', does not say what it quotes",
    "Code.java, Core.java, names 0 files",
    "#sum, #difference, needs one line // tag::difference[]",
  })
  void shouldRefuseASnippetThatIsNotQuoted(
      final String text, final String other, final String problem) throws IOException {
    write("page.md", "# Page\n" + QUOTE.replace(text, other));

    assertThat(new Site(root).problems())
        .singleElement()
        .asString()
        .startsWith("page.md:3: ")
        .contains(problem);
  }

  @Test
  void shouldTellOfARegionThatNoDocumentQuotes() throws IOException {
    write("docs/guide.md", "# Guide\n\n## How to add?\n");

    assertThat(new Site(root).problems()).containsExactly("src/Code.java: no document quotes sum");
  }

  @Test
  void shouldWritePagesThatLinkToPages() throws IOException {
    final Path target = root.resolve("target/site");

    new Site(root).write(target);

    assertThat(Files.readString(target.resolve("index.html")))
        .contains("<title>Sums &amp; more</title>", "href=\"docs/guide.html#how-to-add\"");
    assertThat(Files.readString(target.resolve("docs/guide.html")))
        .contains("href=\"../index.html\"", "id=\"how-to-add\"", "return a + b;");
    assertThat(target.resolve("src/Code.java")).hasContent(SOURCE);
    assertThat(target.resolve("style.css")).exists();
  }

  private void write(final String path, final String text) throws IOException {
    final Path file = root.resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
