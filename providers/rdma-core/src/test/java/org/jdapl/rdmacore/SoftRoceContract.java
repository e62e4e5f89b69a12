package org.jdapl.rdmacore;

import java.time.Duration;
import org.jdapl.verbs.tck.ProviderTck;
import org.jdapl.verbs.tck.TckBed;

/** The contract of the SPI on a real device. Runs in a guest: {@link VerbsIT}. */
class SoftRoceContract extends ProviderTck {

  @Override
  protected TckBed bed() {
    return TckBed.of(new RdmaCoreProvider())
        .withDevices("address=" + Side.ADDRESS, "address=" + Side.ADDRESS)
        .withTimes(Duration.ofSeconds(60), Duration.ofMillis(50), Duration.ofSeconds(180));
  }
}
