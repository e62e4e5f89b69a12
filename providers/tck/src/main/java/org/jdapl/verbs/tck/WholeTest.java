package org.jdapl.verbs.tck;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Runs a test on a thread of its own, with its bed opened and closed around it, and gives it up
 * after its time: a verb that does not return fails its test, and does not stop the others.
 */
final class WholeTest implements InvocationInterceptor {

  private static final Set<String> CONNECTING = Set.of("listen", "connect");

  @Override
  public void interceptTestMethod(
      final Invocation<Void> invocation,
      final ReflectiveInvocationContext<Method> context,
      final ExtensionContext extension)
      throws Throwable {
    within((VerbsTck) context.getTarget().orElseThrow(), context.getExecutable(), invocation);
  }

  @Override
  public void interceptTestTemplateMethod(
      final Invocation<Void> invocation,
      final ReflectiveInvocationContext<Method> context,
      final ExtensionContext extension)
      throws Throwable {
    within((VerbsTck) context.getTarget().orElseThrow(), context.getExecutable(), invocation);
  }

  private static void within(
      final VerbsTck tck, final Method test, final Invocation<Void> invocation) throws Throwable {
    final TckBed bed = tck.bed();
    final String left = bed.without.get(test.getName());
    if (left != null) {
      invocation.skip();
      Assumptions.abort("skipped: " + left);
    }
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    final Thread thread = new Thread(() -> failure.set(run(tck, bed, invocation)), "provider-tck");
    thread.setDaemon(true);
    thread.start();
    thread.join(bed.test.toMillis());
    if (thread.isAlive()) {
      final String stuck = stack(thread);
      thread.interrupt();
      Assertions.fail(
          tck.report(
              "the test to end within " + seconds(bed.test),
              "it is stuck in\n" + stuck,
              "if the steps went on until now, a slow machine: TckBed.withTimes gives a test more."
                  + " Else a destroy that waits for an event to be acknowledged that nobody will,"
                  + " or that was called on the thread that owes it; a lost wake-up of a lock of"
                  + " the provider."));
    }
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private static Throwable run(
      final VerbsTck tck, final TckBed bed, final Invocation<Void> invocation) {
    Throwable failure = null;
    try {
      tck.open(bed);
      invocation.proceed();
    } catch (final Throwable e) {
      failure = inWords(tck, e);
    }
    try {
      tck.close();
    } catch (final Throwable e) {
      if (failure == null) {
        return e;
      }
      failure.addSuppressed(e);
    }
    return failure;
  }

  /** An exception that no test expected, with what was done. */
  private static Throwable inWords(final VerbsTck tck, final Throwable failure) {
    if (failure instanceof RuntimeException && !(failure instanceof TestAbortedException)) {
      return new AssertionError(
          tck.report("a call to be done that the contract allows", failure, often(failure)),
          failure);
    }
    return failure;
  }

  private static String often(final Throwable failure) {
    final boolean isConnections =
        failure instanceof VerbsException e
            && e.errno() == VerbsException.EOPNOTSUPP
            && CONNECTING.contains(e.verb());
    return isConnections
        ? "a provider that has no connections so far: its tests extend LocalProviderTck."
        : "a check of the provider that is too strict; its cause is below.";
  }

  private static String stack(final Thread thread) {
    return Arrays.stream(thread.getStackTrace())
        .limit(12)
        .map(frame -> "      " + frame)
        .collect(Collectors.joining("\n"));
  }

  static String seconds(final Duration time) {
    return time.toMillis() + " ms";
  }
}
