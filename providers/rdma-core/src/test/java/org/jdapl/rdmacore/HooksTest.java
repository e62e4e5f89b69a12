package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.hooks.Faults;
import org.jdapl.hooks.Trace;
import org.jdapl.tck.Bench;
import org.jdapl.tck.MergeContract;
import org.jdapl.tck.TeardownContract;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Fault plans and traces over native devices. */
@NeedsNative
@Timeout(120)
class HooksTest {

  private static VerbsProvider faulty(final String plan) {
    return Trace.over(
        Faults.over(new RdmaCoreProvider(), FaultPlan.parse(plan)), new Trace.Tail(100));
  }

  @Test
  void required_P03_faultsAndTracesWrapANativeProvider() {
    Fake.reset();
    final Trace.Tail trace = new Trace.Tail(100);
    final Faults faults =
        Faults.over(
            new RdmaCoreProvider(), FaultPlan.parse("refuse alloc_pd@2=ENOMEM; lose alloc_pd@3"));
    final VerbsProvider provider = Trace.over(faults, trace);
    final EventChannel channel = provider.createEventChannel();
    final Device device = provider.open("address=" + Side.ADDRESS, channel);
    final List<AsyncType> asyncs = new ArrayList<>();
    device.onAsync(
        (type, element) -> {
          assertThat(element).isSameAs(device);
          asyncs.add(type);
        });
    final ProtectionDomain pd = device.allocPd();
    assertThatThrownBy(device::allocPd)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("cannot allocate memory");
    assertThatThrownBy(device::allocPd).hasMessageContaining("the device is lost");
    while (asyncs.isEmpty()) {
      channel.await(TimeUnit.SECONDS.toNanos(1));
    }
    assertThat(asyncs).containsExactly(AsyncType.DEVICE_FATAL);
    pd.close();
    device.close();
    channel.close();
    assertThat(Fake.live()).isEmpty();
    assertThat(faults.notReached()).isEmpty();
    assertThat(trace.toString().lines().map(line -> line.replaceFirst("^[0-9]+ ", "")))
        .contains(
            device.name() + " -> device-fatal",
            pd + ".dealloc_pd()",
            device.name() + ".close_device()");
  }

  @Nested
  class Late extends TeardownContract {
    @Override
    protected Bench bench() {
      return new RdmaBench(faulty("delay cm@1+=200us; delay notification@1+=100us"));
    }
  }

  @Nested
  class Misleading extends MergeContract {
    @Override
    protected Bench bench() {
      return new RdmaBench(
          faulty(
              "duplicate notification@1+; invent poll_cq@2; surplus poll_cq@1+=9;"
                  + " garble failed-completion@1+; delay completion@5=300us"));
    }
  }
}
