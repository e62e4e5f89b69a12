package org.jdapl.evd;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.JarFile;
import java.util.stream.Stream;
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

  private static final ClassLoader LIBRARIES =
      new URLClassLoader(
          classPath().filter(BrokenCode::isLibrary).map(BrokenCode::url).toArray(URL[]::new),
          ClassLoader.getPlatformClassLoader());

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

  /**
   * A loader of the broken classes with all others of this project anew, over the libraries, which
   * are loaded once.
   *
   * @param classes where {@link #compile} put the class files.
   */
  public static URLClassLoader load(final Path classes) {
    return new URLClassLoader(
        Stream.concat(
                Stream.of(classes),
                Stream.concat(
                    Stream.of(Path.of("../providers/spi/target/test-classes")),
                    classPath().filter(entry -> !isLibrary(entry))))
            .map(BrokenCode::url)
            .toArray(URL[]::new),
        LIBRARIES);
  }

  private static Stream<Path> classPath() {
    return Stream.of(System.getProperty("java.class.path").split(":", -1)).map(Path::of);
  }

  /** Whether it is a jar with no class of this project. */
  private static boolean isLibrary(final Path entry) {
    if (!Files.isRegularFile(entry)) {
      return false;
    }
    try (JarFile jar = new JarFile(entry.toFile())) {
      return jar.stream().noneMatch(file -> file.getName().startsWith("org/jdapl/"));
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static URL url(final Path path) {
    try {
      return path.toUri().toURL();
    } catch (final MalformedURLException e) {
      throw new UncheckedIOException(e);
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
