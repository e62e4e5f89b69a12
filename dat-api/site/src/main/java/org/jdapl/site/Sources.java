package org.jdapl.site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What documents quote: regions of Java sources. A region is what stands between {@code //
 * tag::NAME[]} and {@code // end::NAME[]}, without its common indentation.
 */
final class Sources {

  private static final String TAG = "// tag::";
  private static final String END = "// end::";

  private final Path root;
  private final List<Path> files;
  private final Set<String> quoted = new HashSet<>();

  Sources(final Path root, final List<Path> files) {
    this.root = root;
    this.files = files;
  }

  /**
   * The text of a region.
   *
   * @param reference {@code NAME.java#TAG}, with folders before the name where several files have
   *     it.
   * @throws IllegalArgumentException if there is no such region.
   */
  String region(final String reference) throws IOException {
    final int hash = reference.indexOf('#');
    if (hash < 0) {
      throw new IllegalArgumentException(
          "does not say what it quotes, as ```java NAME.java#TAG does");
    }
    final String name = reference.substring(0, hash);
    final List<Path> named = files.stream().filter(file -> file.endsWith(name)).toList();
    if (named.size() != 1) {
      throw new IllegalArgumentException(
          "names "
              + named.size()
              + " files; give folders before the name until it is one: "
              + named.stream().map(root::relativize).toList());
    }
    final String tag = reference.substring(hash + 1) + "[]";
    final List<String> lines = Files.readAllLines(named.get(0));
    final List<String> stripped = lines.stream().map(String::strip).toList();
    final int from = stripped.indexOf(TAG + tag);
    final int to = stripped.indexOf(END + tag);
    if (from < 0 || to < from || from != stripped.lastIndexOf(TAG + tag)) {
      throw new IllegalArgumentException(
          "needs one line " + TAG + tag + " and after it " + END + tag + " in " + named.get(0));
    }
    quoted.add(named.get(0) + "#" + tag);
    return lines.subList(from + 1, to).stream()
        .filter(line -> !line.strip().startsWith(TAG) && !line.strip().startsWith(END))
        .reduce("", (text, line) -> text + line + "\n")
        .stripTrailing()
        .stripIndent()
        .strip();
  }

  /** The regions that nobody asked for. */
  List<String> unquoted() throws IOException {
    final List<String> unquoted = new ArrayList<>();
    for (final Path file : files) {
      for (final String line : Files.readAllLines(file)) {
        if (line.strip().startsWith(TAG)) {
          final String tag = line.strip().substring(TAG.length());
          if (!quoted.contains(file + "#" + tag)) {
            unquoted.add(root.relativize(file) + ": no document quotes " + tag.replace("[]", ""));
          }
        }
      }
    }
    return unquoted;
  }
}
