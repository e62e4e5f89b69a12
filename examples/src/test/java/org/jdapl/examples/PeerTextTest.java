package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PeerTextTest {

  @ParameterizedTest
  @ValueSource(ints = {'\n', 0x1b, 0x7f, 0x85, 0x200b, 0x2028, 0x2029, 0x202e, 0x2066, 0xfeff})
  void shouldShowNothingThatTurnsOrBreaksALine(final int character) {
    assertThat(PeerText.printable("a" + Character.toString(character) + "é日")).isEqualTo("a?é日");
  }
}
