package org.jdapl.examples.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jdapl.examples.Run;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class PingpongTest {

  private static final int ITERATIONS = 500;

  private static Run pingpong(final String options) {
    return Run.of(("pingpong --iterations " + ITERATIONS + " " + options).strip().split(" +"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"spin", "park", "channel"})
  void shouldMeasureRoundTrips(final String wait) {
    final Run run = pingpong("--json --wait " + wait);

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out().lines()).hasSize(1);
    final JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
    assertThat(json.get("ia").getAsString()).isEqualTo("sim");
    assertThat(json.get("wait").getAsString()).isEqualTo(wait);
    assertThat(json.get("size").getAsInt()).isEqualTo(64);
    assertThat(json.get("iterations").getAsLong()).isEqualTo(ITERATIONS);
    final JsonObject nanos = json.getAsJsonObject("nanos");
    final long[] ascending =
        Stream.of("min", "p50", "p90", "p99", "p99.9", "max")
            .mapToLong(name -> nanos.get(name).getAsLong())
            .toArray();
    assertThat(ascending).isSorted();
    assertThat(ascending[0]).isPositive();
    assertThat(nanos.get("mean").getAsDouble())
        .isBetween((double) ascending[0], (double) ascending[5]);

    // ESTABLISHED, and a send and a receive each time; the last send may not have been handed out.
    final long roundTrips = json.get("warmUp").getAsLong() + ITERATIONS;
    assertThat(json.get("warmUp").getAsLong()).isPositive();
    final JsonObject client = json.getAsJsonObject("client");
    final JsonObject server = json.getAsJsonObject("server");
    assertThat(client.get("events").getAsLong()).isBetween(2 * roundTrips, 2 * roundTrips + 1);
    assertThat(server.get("events").getAsLong()).isBetween(2 * roundTrips + 1, 2 * roundTrips + 2);
    for (final JsonObject side : new JsonObject[] {client, server}) {
      assertThat(side.get("upcalls").getAsLong()).isBetween(1L, side.get("events").getAsLong());
      assertThat(side.get("providerCalls").getAsLong()).isPositive();
    }
  }

  @Test
  void shouldPlotForPeople() {
    final Run run = pingpong("");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out().lines()).allMatch(line -> line.length() <= 80);
    assertThat(run.out()).startsWith(ITERATIONS + " round trips of 64 bytes");
    assertThat(run.out()).contains("p99.9 ", "mean ", "client ", "server ");
    final long plotted =
        run.out()
            .lines()
            .filter(line -> line.contains(" us |"))
            .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
            .sum();
    assertThat(plotted).isEqualTo(ITERATIONS);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 100_000})
  void shouldTakeMessagesOfSize(final int size) {
    final Run run = pingpong("--json --size " + size);

    assertThat(run.status()).as(run::toString).isZero();
    final JsonObject json = JsonParser.parseString(run.out()).getAsJsonObject();
    assertThat(json.get("size").getAsInt()).isEqualTo(size);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--iterations 0",
        "--iterations -1",
        "--iterations 9223372036854775807",
        "--iterations many",
        "--size -1",
        "--size 16777217",
        "--size 99999999999",
        "--wait sleep"
      })
  void shouldRefuseWrongUse(final String options) {
    final Run run = Run.of(("pingpong " + options).split(" "));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.out()).isEmpty();
    assertThat(run.err().lines())
        .singleElement()
        .asString()
        .contains(options.substring(0, options.indexOf(" ")), "--help");
  }

  @Test
  void shouldSayHowOneMayWaitAsTheHelpDoes() {
    assertThat(Run.of("pingpong", "--wait=foo").err()).contains("spin, park or channel", "'foo'");
    assertThat(pingpong("--wait SPIN").status()).isZero();
  }

  @Test
  void shouldWaitAsLongAsAnswersCome() throws InterruptedException {
    final CountDownLatch latch = new CountDownLatch(1);
    final AtomicLong answers = new AtomicLong();

    final boolean isOpen =
        Pingpong.await(
            latch,
            () -> {
              if (answers.incrementAndGet() == 5) {
                latch.countDown();
              }
              return answers.get();
            },
            1);

    assertThat(isOpen).isTrue();
  }

  @Test
  void shouldGiveUpWhenNoAnswerComes() throws InterruptedException {
    assertThat(Pingpong.await(new CountDownLatch(1), () -> 7, 3)).isFalse();
  }

  @Test
  void shouldNameAnAdapterThatDoesNotExist() {
    final Run run = pingpong("--ia nosuch");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.err().lines()).singleElement().asString().contains("'nosuch'", "sim");
  }
}
