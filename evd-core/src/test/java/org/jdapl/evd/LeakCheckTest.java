package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.List;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.tck.LeakCheck;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary.Failure;

/** Test classes that leave something open fail, each for what is its own. */
class LeakCheckTest {

  private static Jdapl runtime;
  private static InterfaceAdapter adapter;
  private static Evd evd;

  @ExtendWith(LeakCheck.class)
  static class Tidy {
    @Test
    void tidy() {
      try (Jdapl jdapl = start();
          InterfaceAdapter ia = jdapl.open()) {
        assertThat(ia.name()).isNotEmpty();
      }
    }
  }

  @ExtendWith(LeakCheck.class)
  static class Untidy {
    @Test
    void untidy() {
      runtime = start();
      adapter = runtime.open();
      evd = adapter.createEvd(8, EventStream.SOFTWARE);
    }
  }

  private static Jdapl start() {
    return Jdapl.with(SimFabric.realTime().provider(SimModel.DEFAULT))
        .leakDetection(LeakDetector.Level.EVERY)
        .start();
  }

  @Test
  void shouldPassAClassThatClosesWhatItOpens() throws Exception {
    assertThat(run(Tidy.class)).isEmpty();
  }

  @Test
  void shouldFailAClassThatLeavesObjectsOpenWithTheirNamesAndPlaces() throws Exception {
    try {
      final List<Failure> failures = run(Untidy.class);
      assertThat(failures).hasSize(1);
      assertThat(failures.get(0).getTestIdentifier().getDisplayName()).contains("Untidy");
      assertThat(failures.get(0).getException())
          .hasMessageStartingWith(Untidy.class.getName() + " leaves open:\n  ")
          .hasMessageContaining("\n  runtime-")
          .hasMessageContaining("\n  " + adapter.name() + "\n      at ")
          .hasMessageContaining("\n  " + evd.name() + "\n      at ")
          .hasMessageContaining(Untidy.class.getName() + ".untidy(LeakCheckTest.java:");
    } finally {
      evd.close();
      adapter.close();
      runtime.close();
    }
  }

  private static List<Failure> run(final Class<?> test) throws InterruptedException {
    final SummaryGeneratingListener listener = new SummaryGeneratingListener();
    final Thread thread = new Thread(new Run(test, listener), "launcher");
    thread.start();
    thread.join();
    assertThat(listener.getSummary().getTestsSucceededCount()).isOne();
    return listener.getSummary().getFailures();
  }

  /** On a thread of its own, so that the class above stands in no stack of theirs. */
  private record Run(Class<?> test, SummaryGeneratingListener listener) implements Runnable {

    @Override
    public void run() {
      final LauncherDiscoveryRequest request =
          LauncherDiscoveryRequestBuilder.request()
              .selectors(selectClass(test))
              .configurationParameter("junit.jupiter.extensions.autodetection.enabled", "false")
              .build();
      LauncherFactory.create().execute(request, listener);
    }
  }
}
