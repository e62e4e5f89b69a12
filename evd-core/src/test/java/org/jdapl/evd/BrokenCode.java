package org.jdapl.evd;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Compiles the code with changes; whoever puts the result first on a class path runs it. */
public final class BrokenCode {

  private static final List<String> SOURCES =
      List.of(
          "evd-core/src/main/java/org/jdapl/evd",
          "providers/spi/src/main/java/org/jdapl/verbs",
          "providers/sim/src/main/java/org/jdapl/sim");

  private BrokenCode() {}

  /**
   * Compiles the changed files; the class path has all others.
   *
   * @param name of the changes, for messages.
   * @param root of the repository.
   * @param classes where the class files go.
   * @throws AssertionError if a text is not found exactly once, or the code does not compile.
   */
  public static void compile(
      final String name, final List<Mistake.Edit> edits, final Path root, final Path classes)
      throws IOException {
    final Map<String, String> broken = new LinkedHashMap<>();
    for (final Mistake.Edit edit : edits) {
      final String before =
          broken.containsKey(edit.file())
              ? broken.get(edit.file())
              : Files.readString(sourceOf(edit.file(), root));
      final int at = before.indexOf(edit.right());
      if (at < 0 || before.indexOf(edit.right(), at + 1) >= 0) {
        throw new AssertionError(
            name + ": \"" + edit.right() + "\" must stand exactly once in " + edit.file());
      }
      broken.put(edit.file(), before.replace(edit.right(), edit.wrong()));
    }
    final List<JavaFileObject> files = new ArrayList<>();
    broken.forEach((file, text) -> files.add(new Source(file, text)));
    final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    final StringWriter messages = new StringWriter();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      final List<String> options = List.of("-proc:none", "-nowarn", "-d", classes.toString());
      if (!compiler.getTask(messages, manager, null, options, null, files).call()) {
        throw new AssertionError(name + " does not compile: " + messages);
      }
    }
  }

  private static Path sourceOf(final String file, final Path root) {
    return SOURCES.stream()
        .map(folder -> root.resolve(folder).resolve(file))
        .filter(Files::exists)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no source file " + file));
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    private Source(final String file, final String text) {
      super(URI.create("string:///" + file), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(final boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
