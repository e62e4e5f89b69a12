package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Plants each mistake of {@link Mistakes} in a copy of the code, and expects the tests of its rule
 * to find it: a guard that nobody has seen fail is not tested.
 */
@Tag("mistakes")
class MistakesTest {

  private static final List<Path> SOURCES =
      List.of(
          Path.of("src/main/java/org/jdapl/evd"),
          Path.of("../providers/spi/src/main/java/org/jdapl/verbs"));
  private static final long SECONDS = 30;

  @TempDir Path sources;
  @TempDir Path classes;

  @ParameterizedTest
  @MethodSource("wanted")
  void shouldBeFound(final Mistake mistake) throws Exception {
    compile(mistake);

    final String found = run(mistake);

    System.out.println(mistake + "\n    found by " + found);
    assertThat(found).as(mistake + ": survives the tests of its rule").isNotNull();
  }

  /** All; -Djdapl.mistake=TEXT leaves those whose name has that text. */
  static Stream<Mistake> wanted() {
    final String wanted = System.getProperty("jdapl.mistake", "");
    return Mistakes.all().filter(mistake -> mistake.toString().contains(wanted));
  }

  /** Compiles the broken files; the class path has all others. */
  private void compile(final Mistake mistake) throws IOException {
    final Map<String, String> broken = new LinkedHashMap<>();
    for (final Mistake.Edit edit : mistake.edits()) {
      final String text =
          broken.containsKey(edit.file())
              ? broken.get(edit.file())
              : Files.readString(sourceOf(edit.file()));
      assertThat(text.split(Pattern.quote(edit.right()), -1))
          .as("%s: \"%s\" stands exactly once in %s", mistake, edit.right(), edit.file())
          .hasSize(2);
      broken.put(edit.file(), text.replace(edit.right(), edit.wrong()));
    }
    final List<Path> files = new ArrayList<>();
    for (final Map.Entry<String, String> file : broken.entrySet()) {
      files.add(Files.writeString(sources.resolve(file.getKey()), file.getValue()));
    }
    final JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    final StringWriter messages = new StringWriter();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      final boolean compiled =
          compiler
              .getTask(
                  messages,
                  manager,
                  null,
                  List.of("-proc:none", "-nowarn", "-d", classes.toString()),
                  null,
                  manager.getJavaFileObjectsFromPaths(files))
              .call();
      assertThat(compiled).as(mistake + " does not compile: " + messages).isTrue();
    }
  }

  private static Path sourceOf(final String file) {
    return SOURCES.stream()
        .map(folder -> folder.resolve(file))
        .filter(Files::exists)
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no source file " + file));
  }

  /** What found it; a test that does not end has found it as well. */
  private String run(final Mistake mistake) throws Exception {
    final String before = System.getProperty("jdapl.case", "");
    System.setProperty("jdapl.case", mistake.where());
    try (URLClassLoader loader = new URLClassLoader(classPath(), parent())) {
      loader.setDefaultAssertionStatus(!mistake.rule().equals("E10"));
      final Callable<?> tests =
          (Callable<?>)
              loader
                  .loadClass(MistakeRun.class.getName())
                  .getConstructor(String.class)
                  .newInstance(mistake.rule());
      final FutureTask<Object> task = new FutureTask<>(tests::call);
      final Thread thread = new Thread(task, mistake.toString());
      thread.setContextClassLoader(loader);
      thread.setDaemon(true);
      thread.start();
      return (String) task.get(SECONDS, TimeUnit.SECONDS);
    } catch (final TimeoutException e) {
      return "a test that did not end";
    } finally {
      System.setProperty("jdapl.case", before);
    }
  }

  private URL[] classPath() throws MalformedURLException {
    final List<URL> urls = new ArrayList<>();
    urls.add(classes.toUri().toURL());
    urls.add(Path.of("../providers/spi/target/test-classes").toUri().toURL());
    for (final String entry : System.getProperty("java.class.path").split(":", -1)) {
      urls.add(Path.of(entry).toUri().toURL());
    }
    return urls.toArray(URL[]::new);
  }

  private static ClassLoader parent() {
    return ClassLoader.getPlatformClassLoader();
  }
}
