package org.jdapl.evd;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import java.util.concurrent.Callable;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the tests of one rule; loaded together with the broken code by a class loader of its own.
 */
public final class MistakeRun implements Callable<String> {

  private static final List<Class<?>> TESTS =
      List.of(
          EventContractTest.class,
          UpcallContractTest.class,
          MergeContractTest.class,
          TeardownContractTest.class,
          ErrorContractTest.class,
          ArmContractTest.class,
          AllocationTest.class);

  private final String rule;

  /**
   * A run.
   *
   * @param rule whose tests to run.
   */
  public MistakeRun(final String rule) {
    this.rule = rule;
  }

  /**
   * Runs the tests.
   *
   * @return the test that found the mistake, and how; null if all passed.
   */
  @Override
  public String call() {
    final LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(TESTS.stream().map(test -> (DiscoverySelector) selectClass(test)).toList())
            .filters((PostDiscoveryFilter) this::isOfTheRule)
            .build();
    final SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    final TestExecutionSummary summary = listener.getSummary();
    if (summary.getTestsSucceededCount() + summary.getTestsFailedCount() == 0) {
      throw new IllegalStateException("no test of rule " + rule + " was run");
    }
    return summary.getFailures().stream()
        .findFirst()
        .map(
            failure -> failure.getTestIdentifier().getDisplayName() + ": " + failure.getException())
        .orElse(null);
  }

  private FilterResult isOfTheRule(final TestDescriptor test) {
    final boolean keep =
        test.getSource()
            .filter(MethodSource.class::isInstance)
            .map(source -> ((MethodSource) source).getMethodName())
            .map(name -> name.startsWith("required_" + rule + "_"))
            .orElse(true);
    return FilterResult.includedIf(keep);
  }
}
