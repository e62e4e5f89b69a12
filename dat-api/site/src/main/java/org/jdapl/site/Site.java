package org.jdapl.site;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;

/**
 * The project's documents and its Javadoc as one site. Every link must lead somewhere, and every
 * Java snippet must be quoted from the sources; what is not so is a problem, and there is no site.
 */
public final class Site {

  private static final Pattern MODULE = Pattern.compile("(?m)^(?:open )?module (\\S+) \\{");

  private final Path root;
  private final Map<String, Document> documents =
      new TreeMap<>(
          Comparator.comparing((String path) -> !path.equals("README.md"))
              .thenComparing(Comparator.naturalOrder()));
  private final List<Path> java = new ArrayList<>();

  /**
   * Reads the documents of a project, and looks where its Java sources are.
   *
   * @param root the folder of the project.
   * @throws IOException if something cannot be read.
   */
  Site(final Path root) throws IOException {
    this.root = root;
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(final Path dir, final BasicFileAttributes a) {
            final String name = dir.equals(root) ? "" : dir.getFileName().toString();
            return name.equals("target") || name.startsWith(".")
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(final Path file, final BasicFileAttributes a)
              throws IOException {
            final String name = file.getFileName().toString();
            if (name.endsWith(".md")) {
              final String path = path(file);
              documents.put(path, Document.parse(path, Files.readString(file)));
            } else if (name.endsWith(".java")) {
              java.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Builds the site.
   *
   * @param args the folder of the project, and that of the site.
   * @throws IOException if something cannot be read or written.
   */
  public static void main(final String[] args) throws IOException {
    final Site site = new Site(Path.of(args[0]).toRealPath());
    final Path target = Path.of(args[1]).toAbsolutePath().normalize();
    final List<String> problems = site.problems();
    problems.forEach(System.err::println);
    if (!problems.isEmpty() || site.javadoc(target.resolve("api")) != 0) {
      System.exit(1);
    }
    site.write(target);
    System.out.println("the site is at " + target.resolve("index.html").toUri());
  }

  /** What is wrong in the documents: file, line, and what was expected. */
  List<String> problems() throws IOException {
    final List<String> problems = new ArrayList<>();
    final Sources sources = new Sources(root, java);
    for (final Document document : documents.values()) {
      for (final Document.Reference link : document.links()) {
        final String problem = problem(document, link.destination());
        if (problem != null) {
          problems.add(document.path() + ":" + link.line() + ": " + problem);
        }
      }
      for (final Document.Snippet snippet : document.snippets()) {
        if (snippet.info().matches("java\\b.*")) {
          final String problem = problem(sources, snippet);
          if (problem != null) {
            problems.add(document.path() + ":" + snippet.line() + ": " + problem);
          }
        }
      }
    }
    problems.addAll(sources.unquoted());
    return problems;
  }

  private String problem(final Document document, final String destination) {
    if (Document.isElsewhere(destination)) {
      return null;
    }
    final String[] parts = destination.split("#", 2);
    final Path file =
        parts[0].isEmpty()
            ? root.resolve(document.path())
            : root.resolve(document.path()).resolveSibling(parts[0]).normalize();
    if (!file.startsWith(root) || !Files.isRegularFile(file)) {
      return "the link " + destination + " leads to no file of the project";
    }
    final Document other = documents.get(path(file));
    if (parts.length == 2 && (other == null || !other.anchors().contains(parts[1]))) {
      return "the link " + destination + " leads to no heading of " + path(file);
    }
    return null;
  }

  private static String problem(final Sources sources, final Document.Snippet snippet)
      throws IOException {
    try {
      final String fresh = sources.region(snippet.info().substring("java".length()).strip());
      return snippet.text().strip().equals(fresh)
          ? null
          : snippet.info() + " is not what the source has, which is\n" + fresh + "\n";
    } catch (final IllegalArgumentException e) {
      return "```" + snippet.info() + " " + e.getMessage();
    }
  }

  /** Writes a page for each document, and copies the other files that documents point to. */
  void write(final Path target) throws IOException {
    try (InputStream style = Site.class.getResourceAsStream("style.css")) {
      Files.createDirectories(target);
      Files.copy(style, target.resolve("style.css"), StandardCopyOption.REPLACE_EXISTING);
    }
    for (final Document document : documents.values()) {
      final Path page = target.resolve(Document.page(document.path()));
      Files.createDirectories(page.getParent());
      Files.writeString(page, page(document));
      for (final Document.Reference link : document.links()) {
        final String name = link.destination().replaceFirst("#.*", "");
        if (!name.isEmpty() && !name.endsWith(".md") && !Document.isElsewhere(name)) {
          final Path copy = page.resolveSibling(name).normalize();
          Files.createDirectories(copy.getParent());
          Files.copy(
              root.resolve(document.path()).resolveSibling(name).normalize(),
              copy,
              StandardCopyOption.REPLACE_EXISTING);
        }
      }
    }
  }

  private String page(final Document document) {
    final String up = "../".repeat((int) document.path().chars().filter(c -> c == '/').count());
    final StringBuilder links = new StringBuilder();
    for (final Document other : documents.values()) {
      links.append(
          "<a href=\"%s\">%s</a>\n"
              .formatted(up + Document.page(other.path()), escaped(other.title())));
    }
    return """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="UTF-8">
        <meta name="viewport" content="width=device-width">
        <title>%1$s</title>
        <link rel="stylesheet" href="%2$sstyle.css">
        </head>
        <body>
        <nav>
        %3$s<a href="%2$sapi/index.html">Javadoc</a>
        </nav>
        <main>
        %4$s</main>
        </body>
        </html>
        """
        .formatted(escaped(document.title()), up, links, document.html());
  }

  private static String escaped(final String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;");
  }

  /**
   * The Javadoc of all modules; what they need is on this program's own class path. That no comment
   * is missing is the compiler's to see.
   */
  private int javadoc(final Path target) throws IOException {
    final List<String> args =
        new ArrayList<>(
            List.of(
                "-quiet",
                "-Werror",
                "-Xdoclint:all,-missing",
                "-notimestamp",
                "-d",
                target.toString()));
    args.addAll(List.of("-windowtitle", "jDAPL", "-doctitle", "jDAPL"));
    args.addAll(List.of("-header", "<a href=\"{@docRoot}/../index.html\">Guides</a>"));
    args.addAll(List.of("--module-path", System.getProperty("java.class.path")));
    final List<String> modules = new ArrayList<>();
    for (final Path file : java) {
      if (file.endsWith("src/main/java/module-info.java")) {
        final Matcher module = MODULE.matcher(Files.readString(file, UTF_8));
        if (module.find()) {
          modules.add(module.group(1));
          args.addAll(List.of("--module-source-path", module.group(1) + "=" + file.getParent()));
        }
      }
    }
    args.addAll(List.of("--module", String.join(",", modules)));
    return ToolProvider.findFirst("javadoc")
        .orElseThrow(() -> new IllegalStateException("no javadoc: run this with a JDK"))
        .run(System.out, System.err, args.toArray(String[]::new));
  }

  /** From the root, with forward slashes. */
  private String path(final Path file) {
    return root.relativize(file).toString().replace('\\', '/');
  }
}
