package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jdapl.verbs.tck.ProviderTck;
import org.jdapl.verbs.tck.TckBed;

/** The contract of the SPI over fake libraries. */
@NeedsNative
class RdmaContractTest extends ProviderTck {

  @Override
  protected TckBed bed() {
    Fake.reset();
    return TckBed.of(new RdmaCoreProvider())
        .withDevices("address=" + Side.ADDRESS, "address=" + Side.ADDRESS)
        .withTimes(Duration.ofSeconds(5), Duration.ofMillis(20), Duration.ofSeconds(20))
        .withEnd(
            () -> {
              assertThat(Fake.live()).as("objects that live").isEmpty();
              assertThat(Fake.violations()).as("violations").isEmpty();
            });
  }
}
