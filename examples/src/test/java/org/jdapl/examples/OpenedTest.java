package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OpenedTest {

  @Test
  void shouldKeepTheFailureOfAConstructorWhoseCloseFailsToo() {
    final RuntimeException failure = new IllegalStateException("no memory");
    final RuntimeException second = new IllegalStateException("interrupted");

    final RuntimeException thrown =
        Opened.closed(
            () -> {
              throw second;
            },
            failure);

    assertThat(thrown).isSameAs(failure).hasSuppressedException(second);
  }
}
