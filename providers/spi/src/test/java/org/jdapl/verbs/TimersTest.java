package org.jdapl.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimersTest {

  @ParameterizedTest
  @CsvSource({"1, 8192", "10, 4194304", "14, 67108864", "31, 8796093022208"})
  void shouldTellAnAckTimeoutAsTheWireCodesIt(final int code, final long nanos) {
    assertThat(Timers.ackNanos(code)).isEqualTo(nanos);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 655360",
    "1, 10",
    "5, 60",
    "12, 640",
    "13, 960",
    "20, 10240",
    "30, 327680",
    "31, 491520"
  })
  void shouldTellATimerOfReceivesAsTheWireCodesIt(final int code, final long micros) {
    assertThat(Timers.rnrNanos(code)).isEqualTo(micros * 1_000);
  }

  @Test
  void shouldTakeTheNextLongerCode() {
    for (int code = 1; code <= 31; code++) {
      final long nanos = Timers.ackNanos(code);
      assertThat(Timers.ackCode(nanos)).isEqualTo(code);
      assertThat(Timers.ackCode(nanos - 1)).isEqualTo(code);
      assertThat(Timers.ackCode(nanos + 1)).isEqualTo(Math.min(31, code + 1));
      final long rnr = Timers.rnrNanos(code);
      assertThat(Timers.rnrCode(rnr)).isEqualTo(code);
      assertThat(Timers.rnrCode(rnr - 1)).isEqualTo(code);
      assertThat(Timers.rnrCode(rnr + 1)).isEqualTo((code + 1) % 32);
    }
    assertThat(Timers.ackCode(1)).as("never 0, which is no timeout at all").isEqualTo(1);
    assertThat(Timers.ackNanos(31)).isEqualTo(Timers.MAX_ACK_NANOS);
    assertThat(Timers.rnrNanos(0)).isEqualTo(Timers.MAX_RNR_NANOS);
    assertThat(Timers.rnrCode(Timers.MAX_RNR_NANOS)).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {-2, 0, 32})
  void shouldRefuseParametersWhoseAckTimeoutIsNoCode(final int code) {
    assertThatThrownBy(() -> new CmParameters(ByteBuffer.allocate(0), 1, 1, 7, 7, code, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("ackTimeout " + code + "; expected a code, 1 to 31, or Timers.PROVIDERS_OWN");
  }

  @ParameterizedTest
  @ValueSource(ints = {-2, 32})
  void shouldRefuseParametersWhoseTimerOfReceivesIsNoCode(final int code) {
    assertThatThrownBy(() -> new CmParameters(ByteBuffer.allocate(0), 1, 1, 7, 7, 1, code))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("rnrTimer " + code + "; expected a code, 0 to 31, or Timers.PROVIDERS_OWN");
  }
}
