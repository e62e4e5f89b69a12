package org.jdapl.verbs.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** What is said to who begins: of a limit that was forgotten, and of connections. */
class WordsTest {

  private static volatile DeviceLimits told;

  /** A provider that is begun; not found by its name. */
  static final class Subject extends ProviderTck {
    @Override
    protected TckBed bed() {
      return TckBed.of(new Begun());
    }
  }

  /** The simulator with the limits that are told, without connections. */
  private static final class Begun implements VerbsProvider {

    private final VerbsProvider behind = SimFabric.virtual(42).provider(SimModel.parse(""));

    @Override
    public String name() {
      return "begun";
    }

    @Override
    public Device open(final String parameters, final EventChannel channel) {
      final Device device = behind.open(parameters, channel);
      return (Device)
          Proxy.newProxyInstance(
              Device.class.getClassLoader(),
              new Class<?>[] {Device.class},
              (proxy, method, arguments) -> {
                if ("limits".equals(method.getName())) {
                  return told;
                }
                if ("listen".equals(method.getName())) {
                  throw VerbsException.unsupported("listen", name());
                }
                if ("createCq".equals(method.getName())) {
                  told.checkCq("create_cq", name(), (Integer) arguments[0]);
                }
                try {
                  return method.invoke(device, arguments);
                } catch (final InvocationTargetException e) {
                  throw e.getCause();
                }
              });
    }
  }

  private static DeviceLimits.Builder some() {
    return new DeviceLimits.Builder()
        .maxQp(100)
        .maxSge(4)
        .maxCq(100)
        .maxMr(100)
        .maxPd(100)
        .maxMessageBytes(1 << 20);
  }

  private static String failure(
      final DeviceLimits limits, final Class<? extends VerbsTck> part, final String test) {
    told = limits;
    final List<Throwable> failures = new ArrayList<>();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request()
                .selectors(
                    DiscoverySelectors.selectNestedMethod(List.of(Subject.class), part, test))
                .build(),
            new TestExecutionListener() {
              @Override
              public void executionFinished(
                  final TestIdentifier test, final TestExecutionResult result) {
                result.getThrowable().ifPresent(failures::add);
              }
            });
    assertThat(failures).hasSize(1);
    return failures.get(0).getMessage();
  }

  @Test
  void shouldNameTheLimitsThatWereForgotten() {
    assertThat(
            failure(
                some().build(),
                LocalProviderTck.Arming.class,
                "required_A01_anArmedQueueNotifiesOfTheNextCompletion"))
        .contains("entries 64; expected 1 to 0", "not told: maxCqe, maxQpWr. ");
  }

  @Test
  void shouldPointToTheTestsThatNeedNoConnections() {
    assertThat(
            failure(
                some().maxCqe(1 << 16).maxQpWr(1 << 10).build(),
                ProviderTck.Connections.class,
                "required_C02_aConnectionIsEstablishedOnBothSidesOnce"))
        .contains("listen on begun: operation not supported", "extend LocalProviderTck");
  }
}
