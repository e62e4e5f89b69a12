package org.jdapl.verbs.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** A provider's class ends with a line that says what ran. */
class SummaryTest {

  /** As a provider has it, with tests of two parts; not found by its name. */
  static final class Subject {

    abstract static class Part extends VerbsTck {
      @Override
      protected TckBed bed() {
        return TckBed.of(SimFabric.virtual(42).provider(SimModel.parse("")))
            .without("required_X04_isNotServed", "the bed is too short");
      }
    }

    @Nested
    class One extends Part {
      @Test
      void required_X01_passes() {}

      @Test
      void required_X02_fails() {
        check(false, "a failure", "one", "what a test of tests wants.");
      }
    }

    @Nested
    class Other extends Part {
      @Test
      void required_X03_isSkipped() {
        needs(false, "it has no wings");
      }

      @Test
      void required_X04_isNotServed() {}

      @Test
      void required_X05_isSkippedForTheSame() {
        needs(false, "it has no wings");
      }
    }
  }

  @Test
  void shouldSayWhatRanAndWhyTheRestDidNot() {
    final PrintStream before = System.out;
    final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(DiscoverySelectors.selectClass(Subject.class))
                  .build());
    } finally {
      System.setOut(before);
    }
    assertThat(printed.toString(StandardCharsets.UTF_8).lines())
        .containsExactly(
            "Subject: 2 required tests ran, 1 passed, 1 failed; 3 were skipped because",
            "  2 x it has no wings",
            "  1 x the bed is too short");
  }
}
