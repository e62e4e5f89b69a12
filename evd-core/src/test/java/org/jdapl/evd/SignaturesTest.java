package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jdapl.dat.Dat;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What consumers and providers are compiled against is as it was recorded, in {@code
 * signatures.txt} of its module: a change is made on purpose. What is marked experimental is not
 * recorded, and may change.
 */
class SignaturesTest {

  private static final String RECORD =
      "mvn -pl evd-core -am test -Dtest=SignaturesTest -Dsurefire.failIfNoSpecifiedTests=false"
          + " -Djdapl.signatures=record";

  /** A package that others are compiled against, a class of it, and where its record is. */
  record Api(Class<?> member, Path recorded) {

    @Override
    public String toString() {
      return member.getPackageName();
    }
  }

  static Stream<Api> apis() {
    return Stream.of(
        new Api(Dat.class, Path.of("../dat-api/signatures.txt")),
        new Api(VerbsProvider.class, Path.of("../providers/spi/signatures.txt")));
  }

  @ParameterizedTest
  @MethodSource("apis")
  void shouldBeWhatWasRecorded(final Api api) throws Exception {
    final List<String> now = signatures(api.member());
    if ("record".equals(System.getProperty("jdapl.signatures"))) {
      Files.write(api.recorded(), now);
    }
    final List<String> then = Files.readAllLines(api.recorded());
    assertThat(minus(then, now).isEmpty() && minus(now, then).isEmpty())
        .as(
            "%s is not what %s says.%n  gone:%n%s%n  new:%n%s%nIf that is meant, record it: %s",
            api, api.recorded(), lines(minus(then, now)), lines(minus(now, then)), RECORD)
        .isTrue();
    assertThat(now).hasSizeGreaterThan(100);
  }

  /** What is settled would change with what is not. */
  @ParameterizedTest
  @MethodSource("apis")
  void shouldNotNameAnExperimentalTypeInWhatIsSettled(final Api api) throws Exception {
    final List<String> experimental = new ArrayList<>();
    for (final String name : classes(api.member())) {
      if (isExperimental(Class.forName(name, false, api.member().getClassLoader()))) {
        experimental.add(name);
      }
    }
    assertThat(experimental).isNotEmpty();
    for (final String line : signatures(api.member())) {
      for (final String name : experimental) {
        assertThat(line.matches(".*\\b" + Pattern.quote(name) + "\\b.*"))
            .as("%s%nnames %s; one of them is @Experimental and the other is not", line, name)
            .isFalse();
      }
    }
  }

  private static List<String> minus(final List<String> from, final List<String> what) {
    final List<String> rest = new ArrayList<>(from);
    rest.removeAll(what);
    return rest;
  }

  private static String lines(final List<String> lines) {
    return lines.stream().map(line -> "    " + line).collect(Collectors.joining("\n"));
  }

  /** A line for each type and member that others can see, sorted. */
  private static List<String> signatures(final Class<?> member) throws Exception {
    final TreeSet<String> lines = new TreeSet<>();
    for (final String name : classes(member)) {
      final Class<?> type = Class.forName(name, false, member.getClassLoader());
      if (isVisible(type) && !isExperimental(type)) {
        lines.add(name + " " + describe(type));
        for (final Field field : type.getDeclaredFields()) {
          addIfVisible(lines, name, field, field.toString());
        }
        for (final Method method : type.getDeclaredMethods()) {
          addIfVisible(lines, name, method, method.toGenericString());
        }
        for (final Constructor<?> constructor : type.getDeclaredConstructors()) {
          addIfVisible(lines, name, constructor, constructor.toGenericString());
        }
      }
    }
    return List.copyOf(lines);
  }

  private static <T extends AnnotatedElement & Member> void addIfVisible(
      final Set<String> lines, final String type, final T member, final String text) {
    final int modifiers = member.getModifiers();
    if (!member.isSynthetic()
        && !isExperimental(member)
        && (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers))) {
      lines.add(type + " : " + text);
    }
  }

  private static boolean isExperimental(final AnnotatedElement element) {
    return element.isAnnotationPresent(org.jdapl.dat.Experimental.class)
        || element.isAnnotationPresent(org.jdapl.verbs.Experimental.class);
  }

  private static boolean isVisible(final Class<?> type) {
    return (Modifier.isPublic(type.getModifiers()) || Modifier.isProtected(type.getModifiers()))
        && (type.getDeclaringClass() == null || isVisible(type.getDeclaringClass()));
  }

  private static String describe(final Class<?> type) {
    final String permitted =
        type.isSealed()
            ? " permits "
                + Arrays.stream(type.getPermittedSubclasses())
                    .map(Class::getSimpleName)
                    .collect(Collectors.joining(", "))
            : "";
    final String constants =
        type.isEnum()
            ? " "
                + Arrays.stream(type.getFields())
                    .filter(field -> field.isEnumConstant() && !isExperimental(field))
                    .map(Field::getName)
                    .toList()
            : "";
    return type.toGenericString()
        + " extends "
        + type.getGenericSuperclass()
        + " implements "
        + Arrays.toString(type.getGenericInterfaces())
        + permitted
        + constants;
  }

  private static List<String> classes(final Class<?> member)
      throws IOException, URISyntaxException {
    final URI location = member.getProtectionDomain().getCodeSource().getLocation().toURI();
    final Path path = Path.of(location);
    if (Files.isDirectory(path)) {
      return classes(path, member);
    }
    try (FileSystem jar = FileSystems.newFileSystem(path)) {
      return classes(jar.getPath("/"), member);
    }
  }

  private static List<String> classes(final Path root, final Class<?> member) throws IOException {
    final Path folder = root.resolve(member.getPackageName().replace('.', '/'));
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
          .map(file -> member.getPackageName() + "." + file.replaceFirst("\\.class$", ""))
          .sorted()
          .toList();
    }
  }
}
