package org.jdapl.verbs.tck;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Prints a line at the end of a provider's test class: how many tests ran, and why others did not.
 */
final class Summary implements TestWatcher {

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(Summary.class);
  private static final String NO_WORDS = "^(Assumption failed: )?(skipped: )?";

  /** What became of the tests of a class; told when JUnit has done with it. */
  private static final class Counts implements AutoCloseable {

    private final String name;
    private final Map<String, Integer> skipped = new TreeMap<>();
    private int passed;
    private int failed;

    Counts(final String name) {
      this.name = name;
    }

    synchronized void passed() {
      passed++;
    }

    synchronized void failed() {
      failed++;
    }

    synchronized void skipped(final String why) {
      skipped.merge(why.replaceFirst(NO_WORDS, ""), 1, Integer::sum);
    }

    @Override
    public synchronized void close() {
      final int left = skipped.values().stream().mapToInt(Integer::intValue).sum();
      final String why =
          skipped.entrySet().stream()
              .map(reason -> "\n  " + reason.getValue() + " x " + reason.getKey())
              .collect(Collectors.joining());
      System.out.println(
          name
              + ": "
              + (passed + failed)
              + " required tests ran, "
              + passed
              + " passed, "
              + failed
              + " failed; "
              + left
              + " were skipped"
              + (left == 0 ? "" : " because" + why));
    }
  }

  /** Those of the class that is not nested in another one. */
  private static Counts counts(final ExtensionContext test) {
    ExtensionContext outermost = test;
    Optional<ExtensionContext> next = test.getParent();
    while (next.flatMap(ExtensionContext::getTestClass).isPresent()) {
      outermost = next.get();
      next = outermost.getParent();
    }
    final String name = outermost.getRequiredTestClass().getSimpleName();
    return outermost
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Counts.class, key -> new Counts(name), Counts.class);
  }

  @Override
  public void testSuccessful(final ExtensionContext test) {
    counts(test).passed();
  }

  @Override
  public void testFailed(final ExtensionContext test, final Throwable cause) {
    counts(test).failed();
  }

  @Override
  public void testAborted(final ExtensionContext test, final Throwable cause) {
    counts(test).skipped(String.valueOf(cause.getMessage()));
  }

  @Override
  public void testDisabled(final ExtensionContext test, final Optional<String> reason) {
    counts(test).skipped(reason.orElse("it is disabled"));
  }
}
