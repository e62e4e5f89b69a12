package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.evd.ScriptedDevice.Wc;
import org.jdapl.verbs.WcOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Changes of policy made inside an upcall, by hand. */
@ExtendWith(HandBed.Closing.class)
class UpcallCornerTest {

  /** Does something at one of its software events. */
  private static final class Changing extends ScriptedBed {

    private final int at;
    private Runnable change = () -> {};

    Changing(final int at) {
      super(Behavior.WEAK, 100);
      this.at = at;
    }

    void post(final int count) {
      for (int i = 0; i < count; i++) {
        assertThat(evd.postSoftwareEvent(i)).isEqualTo(Outcome.SUCCESS);
      }
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      super.onSoftware(event);
      if (payloads.size() == at) {
        change.run();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 63, 64, 65})
  void required_U06_onNewInAnUpcallHoldsWhatIsThere(final int at) {
    final Changing bed = new Changing(at);
    bed.change = () -> bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.post(at + 3);
    bed.enable();
    assertThat(bed.payloads).as("no upcall for what was there").hasSize(at);
    bed.post(1);
    bed.settle();
    assertThat(bed.payloads).hasSize(at + 4);
  }

  @Test
  void required_U06_notifyOnNewInAnUpcallHoldsWhatIsThere() {
    final int[] notified = {0};
    final Changing bed = new Changing(1);
    bed.change = () -> bed.evd.notifyOnce(ready -> notified[0]++, Invoke.ON_NEW);
    bed.post(3);
    bed.enable();
    assertThat(notified[0]).as("nothing new came").isZero();
    bed.post(1);
    bed.settle();
    assertThat(notified[0]).isOne();
    assertThat(bed.evd.drain(bed, 100)).isEqualTo(3);
  }

  @Test
  void required_U06_manyOnNewInAnUpcallHoldsWhatIsThere() {
    final Changing bed = new Changing(1);
    bed.change = () -> bed.evd.upcall(bed, Concurrency.many(2), Invoke.ON_NEW);
    bed.post(3);
    bed.enable();
    assertThat(bed.payloads).hasSize(1);
    bed.post(1);
    bed.settle();
    assertThat(bed.payloads).hasSize(4);
  }

  @Test
  void required_U06_onNewInsideAnUpcallOfManyHoldsWhatIsThere() {
    final Changing bed = new Changing(1);
    bed.change = () -> bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.post(3);
    bed.evd.upcall(bed, Concurrency.many(2), Invoke.ON_ANY);
    bed.settle();
    assertThat(bed.payloads).hasSize(1);
    bed.post(1);
    bed.settle();
    assertThat(bed.payloads).hasSize(4);
  }

  @Test
  void required_U06_aNotificationThatBringsNoEventLetsNothingGo() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 4);
    bed.connect();
    bed.complete(2);
    bed.evd.upcall(bed, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bed.settle();
    bed.cq().notifyNow();
    bed.settle();
    bed.cq().add(Wc.success(1L << 40, WcOpcode.RECV, 1)); // of nobody
    bed.settle();
    assertThat(bed.cookies).as("nothing new came").isEmpty();
    bed.complete(1);
    bed.settle();
    bed.assertDelivered(3);
  }

  /** While it fails it leaves a thread behind that spins. */
  @Test
  void required_U08_aDequeueInAnUpcallThatEnabledManyDoesNotHang() throws InterruptedException {
    final Changing bed = new Changing(1);
    bed.change =
        () -> {
          bed.evd.upcall(bed, Concurrency.many(2), Invoke.ON_ANY);
          assertThat(bed.evd.dequeue(bed)).isEqualTo(Outcome.SUCCESS);
        };
    bed.post(3);
    final Thread driver = new Thread(bed::enable, "drives by hand");
    driver.setDaemon(true);
    driver.start();
    driver.join(Duration.ofMinutes(1).toMillis());
    assertThat(driver.isAlive()).isFalse();
    assertThat(bed.payloads).containsExactly(0, 1, 2);
  }
}
