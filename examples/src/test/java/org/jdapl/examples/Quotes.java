package org.jdapl.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * What documents quote from the sources. A Java snippet of a document begins with <code>
 * ```java NAME.java#TAG</code>, and has the lines between <code>// tag::TAG[]</code> and <code>
 * // end::TAG[]</code> of that file, without their common indentation.
 */
final class Quotes {

  private static final String TAG = "// tag::";
  private static final String END = "// end::";

  private final Path root;
  private final List<Path> files = new ArrayList<>();
  private final TreeSet<String> quoted = new TreeSet<>();

  /** Looks for documents and sources under a folder, but not in what was built there. */
  Quotes(final Path root) throws IOException {
    this.root = root;
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(final Path dir, final BasicFileAttributes a) {
            final String name = dir.getFileName().toString();
            final boolean built =
                name.equals("target") || name.startsWith(".") && !dir.equals(root);
            return built ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(final Path file, final BasicFileAttributes a) {
            if (file.toString().endsWith(".md") || file.toString().endsWith(".java")) {
              files.add(file);
            }
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** What is wrong in the documents: where, what was expected, and the fresh text. */
  List<String> problems() {
    final List<String> problems = new ArrayList<>();
    for (final Path file : files) {
      if (file.toString().endsWith(".md")) {
        problems.addAll(problems(root.relativize(file).toString(), lines(file)));
      }
    }
    return problems;
  }

  /** The tagged regions that no document quoted when the problems were looked for. */
  List<String> unquoted() {
    final List<String> unquoted = new ArrayList<>();
    for (final Path file : files) {
      if (file.toString().endsWith(".java")) {
        for (final String line : lines(file)) {
          if (line.strip().startsWith(TAG)) {
            final String tag = line.strip().substring(TAG.length()).replace("[]", "");
            if (!quoted.contains(file + "#" + tag)) {
              unquoted.add(root.relativize(file) + "#" + tag);
            }
          }
        }
      }
    }
    return unquoted;
  }

  private List<String> problems(final String document, final List<String> lines) {
    final List<String> problems = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      final String fence = lines.get(i).strip();
      if (fence.startsWith("```")) {
        final int start = i++;
        while (i < lines.size() && !lines.get(i).strip().equals("```")) {
          i++;
        }
        if (fence.startsWith("```java")) {
          try {
            final String quote = text(lines.subList(start + 1, Math.min(i, lines.size())));
            final String fresh = region(fence.substring("```java".length()).strip());
            if (!quote.equals(fresh)) {
              throw new IllegalArgumentException(
                  "is not what the source has; it should be\n" + fresh);
            }
          } catch (final IllegalArgumentException e) {
            problems.add(document + ":" + (start + 1) + ": " + fence + " " + e.getMessage());
          }
        }
      }
    }
    return problems;
  }

  private String region(final String reference) {
    final int hash = reference.indexOf('#');
    if (hash < 0) {
      throw new IllegalArgumentException("does not say what it quotes: ```java NAME.java#TAG does");
    }
    final String name = reference.substring(0, hash);
    final List<Path> named =
        files.stream().filter(file -> file.endsWith(name) && name.endsWith(".java")).toList();
    if (named.size() != 1) {
      throw new IllegalArgumentException(
          "names "
              + named.size()
              + " files; give as many folders before the name as make it one: "
              + named);
    }
    final String tag = reference.substring(hash + 1);
    final List<String> lines = lines(named.get(0));
    final List<String> stripped = lines.stream().map(String::strip).toList();
    final int from = stripped.indexOf(TAG + tag + "[]");
    final int to = stripped.indexOf(END + tag + "[]");
    if (from < 0 || to < from || from != stripped.lastIndexOf(TAG + tag + "[]")) {
      throw new IllegalArgumentException(
          "needs one " + TAG + tag + "[] and after it one " + END + tag + "[] in " + named.get(0));
    }
    quoted.add(named.get(0) + "#" + tag);
    return text(lines.subList(from + 1, to));
  }

  /** Lines without common indentation, blank ends, and the tags of regions within. */
  private static String text(final List<String> lines) {
    final List<String> kept =
        lines.stream()
            .filter(line -> !line.strip().startsWith(TAG) && !line.strip().startsWith(END))
            .toList();
    return String.join("\n", kept).stripTrailing().stripIndent().strip();
  }

  private static List<String> lines(final Path file) {
    try {
      return Files.readAllLines(file);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
