package org.jdapl.examples.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.jdapl.examples.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class StressTest {

  @Test
  void shouldBalanceTheBooks() {
    final Run run = Run.of("stress", "--time", "3", "--seed", "7", "--posters", "1");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out()).contains("seed 7", "all is well");
    assertThat(run.out().lines()).allMatch(line -> line.length() < 80);
    assertThat(run.out().lines().filter(line -> line.matches("  [A-Z_]+ +\\d.*")))
        .hasSize(4)
        .allMatch(line -> line.endsWith(" 0"));
  }

  @Test
  void shouldFitItsLineIntoATerminal() {
    assertThat(Stress.line(9_999, 9_999_999_999L, 9_999_999, 9_999_999, 999_999))
        .hasSizeLessThan(80);
  }

  @Test
  void shouldPrintNothingButTheErrorWhenThereIsNoAdapter() {
    final Run run = Run.of("stress", "--ia", "nosuch");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).singleElement().asString().contains("'nosuch'", "sim");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--time 0",
        "--posters 65",
        "--connections 0",
        "--dispatchers -1",
        "--seed x",
        "-s -c",
        "-a 127.0.0.1"
      })
  void shouldRefuseWrongUse(final String options) {
    final Run run = Run.of(("stress " + options).split(" "));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).singleElement().asString().contains("--help");
  }
}
