package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.PrivateDataLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Private data of a device that does not say whether it pads. */
@ExtendWith(HandBed.Closing.class)
class PrivateDataTest {

  private final InterceptedBed bed = new InterceptedBed();
  private final List<ConnectionEvent> seen = new ArrayList<>();

  @Test
  void required_C03_aLengthThatIsNotKnownIsNotExact() {
    assertThat(bed.provider.declaration().privateData()).isEqualTo(PrivateDataLength.UNKNOWN);

    established(1, 2, 0, 0);

    assertThat(bed.ia.providerAttributes().isPrivateDataExact()).isFalse();
    assertThat(seen.get(0).isPrivateDataExact()).as("zeros may be padding").isFalse();
  }

  @Test
  void required_C03_nothingIsExactlyNothing() {
    established();

    assertThat(seen.get(0).isPrivateDataExact()).isTrue();
  }

  @Test
  void required_C03_whatIsShownOutlivesTheProvidersCall() {
    final byte[] shown = established(1, 2, 3);

    Arrays.fill(shown, (byte) 9);

    assertThat(seen.get(0).privateData().get(0)).isEqualTo((byte) 1);
  }

  /** Returns what the provider showed. */
  private byte[] established(final int... data) {
    final byte[] shown = new byte[data.length];
    for (int i = 0; i < data.length; i++) {
      shown[i] = (byte) data[i];
    }
    bed.evd.upcall(InterceptedBed.on(event -> seen.add((ConnectionEvent) event.copy())));
    bed.connect(bed.endpoint);
    bed.provider.tell(CmEventType.ESTABLISHED, 0, shown);
    bed.settle();
    assertThat(seen).hasSize(1);
    return shown;
  }
}
