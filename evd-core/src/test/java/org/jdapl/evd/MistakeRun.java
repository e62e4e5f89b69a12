package org.jdapl.evd;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.TemplateInvocationValidationException;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.platform.engine.discovery.MethodSelector;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs the tests of one rule; loaded together with the broken code by a class loader of its own.
 */
public final class MistakeRun implements Callable<String> {

  private static final List<String> TESTS =
      List.of(
          "org.jdapl.evd.EventContractTest",
          "org.jdapl.evd.EventThreadsContractTest",
          "org.jdapl.evd.UpcallContractTest",
          "org.jdapl.evd.UpcallCornerTest",
          "org.jdapl.evd.UpcallThreadsContractTest",
          "org.jdapl.evd.UpcallVirtualContractTest",
          "org.jdapl.evd.WaitContractTest",
          "org.jdapl.evd.WaitThreadsContractTest",
          "org.jdapl.evd.MergeContractTest",
          "org.jdapl.evd.ConnectionContractTest",
          "org.jdapl.evd.StatesTest",
          "org.jdapl.evd.CrossingCallsTest",
          "org.jdapl.evd.TeardownContractTest",
          "org.jdapl.evd.TeardownThreadsContractTest",
          "org.jdapl.evd.SharedReceiveContractTest",
          "org.jdapl.evd.RmrContractTest",
          "org.jdapl.evd.RmrTest",
          "org.jdapl.evd.ErrorContractTest",
          "org.jdapl.evd.TransferContractTest",
          "org.jdapl.evd.PostContractTest",
          "org.jdapl.evd.RetryContractTest",
          "org.jdapl.evd.RetryTimersTest",
          "org.jdapl.evd.PrivateDataContractTest",
          "org.jdapl.evd.PrivateDataTest",
          "org.jdapl.evd.ErrorHandlerTest",
          "org.jdapl.evd.ArmContractTest",
          "org.jdapl.evd.VerbsScenarioTest",
          "org.jdapl.evd.SharedReceiveScenarioTest",
          "org.jdapl.evd.SharedDepthTest",
          "org.jdapl.evd.ProviderFaultContractTest",
          "org.jdapl.evd.ErrorFieldsTest",
          "org.jdapl.evd.LeakDetectorTest",
          "org.jdapl.evd.LaneTest",
          "org.jdapl.evd.LockTest",
          "org.jdapl.evd.DispatcherTest",
          "org.jdapl.evd.WaitStrategyTest",
          "org.jdapl.evd.AllocationTest",
          "org.jdapl.evd.ProviderFailureTest",
          "org.jdapl.evd.ProviderRegressionTest",
          "org.jdapl.evd.SerializerRegressionTest",
          "org.jdapl.evd.WatchdogTest",
          "org.jdapl.evd.DeviceLossTest",
          "org.jdapl.evd.DestructionScenarioTest",
          "org.jdapl.evd.CmScenarioTest",
          "org.jdapl.evd.DatScenarioTest",
          "org.jdapl.evd.SimultaneousDisconnectTest",
          "org.jdapl.evd.StuckHandlerTest",
          "org.jdapl.evd.StuckVerbTest",
          "org.jdapl.evd.ReaperTest",
          "org.jdapl.evd.BoundsTest",
          "org.jdapl.evd.TwoSidesTest",
          "org.jdapl.evd.LmrTest",
          "org.jdapl.evd.PostTest",
          "org.jdapl.evd.DatConfTest",
          "org.jdapl.evd.RegistryTest",
          "org.jdapl.verbs.RearmAdapterTest");

  private final String rule;
  private final String by;

  /**
   * A run.
   *
   * @param rule whose tests to run.
   * @param by of these, only those whose names have this text.
   * @param where the cases they run over.
   */
  public MistakeRun(final String rule, final String by, final String where) {
    this.rule = rule;
    this.by = by;
    SimCase.want(where); // that of this class loader
  }

  /**
   * Runs the tests until one fails.
   *
   * @return the test that found the mistake, and how; null if all passed.
   */
  @Override
  public String call() {
    StopAtFirstFailure.want();
    final LauncherDiscoveryRequest request =
        LauncherDiscoveryRequestBuilder.request()
            .selectors(
                tests(rule, TESTS.stream())
                    .filter(test -> test.getMethodName().contains(by))
                    .toList())
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "false")
            .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "true")
            .configurationParameter(
                "junit.jupiter.extensions.autodetection.include",
                StopAtFirstFailure.class.getName())
            .build();
    final SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(request, listener);
    final TestExecutionSummary summary = listener.getSummary();
    if (summary.getTestsSucceededCount() + summary.getTestsFailedCount() == 0) {
      throw new IllegalStateException("no test " + by + " of rule " + rule + " was run");
    }
    return summary.getFailures().stream()
        .filter(
            failure -> !(failure.getException() instanceof TemplateInvocationValidationException))
        .findFirst() // a class none of whose cases is wanted has found nothing
        .map(failure -> nameOf(failure.getTestIdentifier()) + ": " + failure.getException())
        .orElse(null);
  }

  private static String nameOf(final TestIdentifier test) {
    return test.getSource()
        .filter(MethodSource.class::isInstance)
        .map(MethodSource.class::cast)
        .map(method -> method.getJavaClass().getSimpleName() + "." + method.getMethodName())
        .orElse(test.getDisplayName());
  }

  /** Whether a class of this module that has tests of a rule is {@link Isolated}. */
  static boolean isIsolated(final String rule) {
    return tests(rule, TESTS.stream().filter(name -> name.startsWith("org.jdapl.evd.")))
        .anyMatch(test -> test.getJavaClass().isAnnotationPresent(Isolated.class));
  }

  private static Stream<MethodSelector> tests(final String rule, final Stream<String> classes) {
    return classes
        .map(MistakeRun::classOf)
        .flatMap(
            test ->
                Stream.<Class<?>>iterate(test, Objects::nonNull, Class::getSuperclass)
                    .flatMap(type -> Stream.of(type.getDeclaredMethods()))
                    .filter(method -> method.getName().startsWith("required_" + rule + "_"))
                    .map(method -> selectMethod(test, method)));
  }

  private static Class<?> classOf(final String name) {
    try {
      return Class.forName(name);
    } catch (final ClassNotFoundException e) {
      throw new IllegalStateException("no test class " + name, e);
    }
  }
}
