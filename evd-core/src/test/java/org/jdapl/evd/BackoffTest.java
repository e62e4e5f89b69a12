package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class BackoffTest {

  private final Backoff backoff = new Backoff(Duration.ofMillis(1), Duration.ofMillis(100));

  private List<Long> millis(final int tries) {
    return Stream.generate(backoff::next).limit(tries).map(Duration::toMillis).toList();
  }

  @Test
  void shouldDoubleUpToTheLastAndNotExceedIt() {
    assertThat(millis(9)).containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 64L, 100L, 100L);
  }

  @Test
  void shouldBeginAnewAfterAReset() {
    final List<Long> before = millis(9);
    backoff.reset();
    assertThat(millis(9)).isEqualTo(before);
  }
}
