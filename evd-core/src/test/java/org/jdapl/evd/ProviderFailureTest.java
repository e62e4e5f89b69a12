package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.jdapl.dat.DatException;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(HandBed.Closing.class)
class ProviderFailureTest {

  @Test
  void required_R03_aProvidersFailureKeepsItsCause() {
    final DatException refused = failToOpen(VerbsException.ENODEV);

    assertThat(refused).hasMessageContainingAll("fails", "open_device", "no such device", "fan0");
    assertThat(refused.getCause()).isInstanceOf(VerbsException.class);
    assertThat(((VerbsException) refused.getCause()).errno()).isEqualTo(VerbsException.ENODEV);
    assertThat(((VerbsException) refused.getCause()).verb()).isEqualTo("open_device");
  }

  @ParameterizedTest
  @CsvSource({
    VerbsException.ENOMEM + ", INSUFFICIENT_RESOURCES",
    VerbsException.EADDRINUSE + ", CONN_QUAL_IN_USE",
    VerbsException.EOPNOTSUPP + ", MODEL_NOT_SUPPORTED",
    VerbsException.EINVAL + ", INTERNAL_ERROR"
  })
  void required_R03_itsErrnoGivesTheType(final int errno, final ReturnType type) {
    assertThat(failToOpen(errno).type()).isEqualTo(type);
  }

  @ParameterizedTest
  @ValueSource(strings = {"post_send", "post_recv"})
  void required_R03_soDoesAPostThatTheProviderThrowsOutOf(final String verb) {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.provider.refuse(verb);
    final DatException refused =
        catchThrowableOfType(
            DatException.class,
            () -> {
              final var unused =
                  verb.equals("post_send")
                      ? bed.endpoint.postSend(bed.lmr, 0, 8, 1)
                      : bed.endpoint.postReceive(bed.lmr, 0, 8, 1);
            });

    assertThat(refused).hasMessageContainingAll(bed.endpoint.name(), verb, "the test says no");
    assertThat(refused.getCause()).isInstanceOf(VerbsException.class);
  }

  private static DatException failToOpen(final int errno) {
    final VerbsProvider provider =
        new VerbsProvider() {
          @Override
          public String name() {
            return "fails";
          }

          @Override
          public Device open(final String parameters, final EventChannel channel) {
            throw new VerbsException("open_device", "fan0", errno, "there is only fan1");
          }
        };
    try (Jdapl jdapl = Jdapl.with(provider).byHand().start()) {
      return catchThrowableOfType(DatException.class, jdapl::open);
    }
  }
}
