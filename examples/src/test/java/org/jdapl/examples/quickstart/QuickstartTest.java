package org.jdapl.examples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jdapl.examples.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class QuickstartTest {

  @Test
  void shouldGetEveryEventOnceAndInOrder() {
    final Run run = Run.of("quickstart", "--messages", "50");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("server   finds \"" + Server.QUESTION + "\"")
        .contains("client   reads \"" + Server.ANSWER + "\"");
    // 51 sends and 51 receives, 16 receives flushed at the end; the client's RDMA write and read.
    assertThat(row(run, "DTO")).containsExactly("120 120 0", "118 118 0");
    assertThat(row(run, "CONNECTION")).containsExactly("2 2 0", "2 2 0");
    assertThat(row(run, "CONNECTION_REQUEST")).containsExactly("0 0 0", "1 1 0");
    assertThat(row(run, "SOFTWARE")).containsExactly("200 200 0", "200 200 0");
    assertThat(row(run, "all")).containsExactly("322 322 0", "321 321 0");
    assertThat(row(run, "most upcalls at once")).containsOnly("1 (must be 1)").hasSize(2);
    assertThat(row(run, "lost")).containsOnly("0 (must be 0)").hasSize(2);
    assertThat(row(run, "order violations")).containsOnly("0 (must be 0)").hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--messages none", "--messages 0", "--posters -1"})
  void shouldRefuseWrongUse(final String options) {
    final Run run = Run.of(("quickstart " + options).split(" "));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines()).singleElement().asString().contains("--help");
  }

  @Test
  void shouldNameAnAdapterThatDoesNotExist() {
    final Run run = Run.of("quickstart", "--ia", "nosuch");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.err().lines())
        .singleElement()
        .asString()
        .contains("NAME_NOT_REGISTERED", "'nosuch'", "sim");
  }

  /** What stands in the rows of that name, the client's first. */
  private static List<String> row(final Run run, final String name) {
    return run.out()
        .lines()
        .filter(line -> line.matches("  \\Q" + name + "\\E +\\d.*"))
        .map(line -> line.substring(2 + name.length()).strip().replaceAll(" +", " "))
        .toList();
  }
}
