package org.jdapl.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FaultsTest {

  private static final SimModel MODEL =
      SimModel.DEFAULT.withLatency(1000, 1000).withCmLatency(1000, 1000);

  /** Sends that arrive, and a notification asked for before each. */
  private static Bed messages(final Bed bed, final int count) {
    bed.connect().settle();
    bed.told.clear();
    for (int i = 0; i < count; i++) {
      assertThat(bed.postRecv(100 + i)).isZero();
      bed.arm();
      assertThat(bed.postSend(i)).isZero();
      bed.settle();
      bed.poll();
    }
    return bed;
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void shouldChangeNothingWithoutFaults(final Delivery delivery) {
    final Bed bed = messages(new Bed("", MODEL.withDelivery(delivery)), 3);
    assertThat(bed.told)
        .as("%s", bed)
        .containsExactly("notification", "notification", "notification");
    bed.close();
    assertThat(bed.fabric.handlerFailures()).isZero();
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void shouldDropANotification(final Delivery delivery) {
    final Bed bed = messages(new Bed("drop notification@2", MODEL.withDelivery(delivery)), 3);
    assertThat(bed.told).as("%s", bed).containsExactly("notification", "notification");
    assertThat(bed.faults.done()).hasSize(1);
  }

  @Test
  void shouldDropAllFromThere() {
    final Bed bed = messages(new Bed("drop notification@2+"), 4);
    assertThat(bed.told).as("%s", bed).containsExactly("notification");
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void shouldRepeatANotification(final Delivery delivery) {
    final Bed bed = messages(new Bed("duplicate notification@2", MODEL.withDelivery(delivery)), 2);
    assertThat(bed.told).as("%s", bed).hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void shouldDelayANotification(final Delivery delivery) {
    final Bed bed = new Bed("delay notification@1=5ms", MODEL.withDelivery(delivery));
    bed.connect().settle();
    bed.told.clear();
    bed.postRecv(1);
    bed.arm();
    bed.postSend(0);
    final long sent = bed.now();
    assertThat(bed.until(() -> !bed.told.isEmpty())).isTrue();
    assertThat(bed.now() - sent).isBetween(5_000_000L, 5_010_000L);
  }

  @Test
  void shouldDropWhatIsDelayedPastTheEndOfItsQueue() {
    final Bed bed = new Bed("delay notification@1=5ms; delay established@2=5ms");
    bed.connect().settle();
    bed.postRecv(1);
    bed.arm();
    bed.postSend(0);
    assertThat(bed.until(() -> bed.now() >= 100_000)).isTrue();
    bed.close();
    bed.told.clear();
    bed.settle();
    assertThat(bed.told).as("%s", bed).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void shouldKeepTheOrderOfAConnectionThatIsDelayed(final Delivery delivery) {
    final Bed bed = new Bed("delay established@1=5ms", MODEL.withDelivery(delivery));
    bed.connect();
    assertThat(bed.until(() -> bed.told.contains("passive ESTABLISHED"))).isTrue();
    bed.accepted.get().disconnect();
    bed.settle();
    assertThat(bed.told)
        .as("%s", bed)
        .containsExactly(
            "request",
            "passive ESTABLISHED",
            "passive DISCONNECTED",
            "active ESTABLISHED",
            "active DISCONNECTED");
  }

  @Test
  void shouldDropAndRepeatEventsOfConnections() {
    final Bed dropped = new Bed("drop established@1");
    dropped.connect().settle();
    assertThat(dropped.told).containsExactly("request", "passive ESTABLISHED");
    final Bed repeated = new Bed("duplicate cm@2");
    repeated.connect().settle();
    assertThat(repeated.told)
        .containsExactly(
            "request", "active ESTABLISHED", "active ESTABLISHED", "passive ESTABLISHED");
    final Bed unasked = new Bed("drop request@1");
    unasked.connect().settle();
    assertThat(unasked.told).isEmpty();
  }

  @Test
  void shouldRefuseAVerb() {
    final Bed bed =
        new Bed("refuse post_send@2=ENOMEM; refuse poll_cq@3=EIO; refuse connect@1=EADDRINUSE");
    assertThatThrownBy(bed::connect)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("connect on sim0")
        .hasMessageContaining("the plan says 'refuse connect@1=EADDRINUSE'");
    bed.connect().settle();
    bed.postRecv(1);
    assertThat(bed.postSend(0)).isZero();
    assertThat(bed.postSend(1)).isEqualTo(VerbsException.ENOMEM);
    bed.settle();
    assertThat(bed.poll()).containsExactlyInAnyOrder(0L, 1L);
    assertThat(bed.poll()).isEmpty();
    assertThatThrownBy(bed::poll).isInstanceOf(VerbsException.class);
    assertThat(bed.faults.notReached()).isEmpty();
  }

  @Test
  void shouldSayThatNoVerbMayHangOnVirtualTime() {
    assertThatThrownBy(() -> new Bed("hang destroy_qp@1"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'hang destroy_qp@1': on virtual time there is one thread");
  }

  @Test
  void shouldSayThatVirtualTimeNeedsItsClock() {
    final Faults faults = Faults.over(SimFabric.virtual(1).provider(MODEL), FaultPlan.NONE);
    assertThatThrownBy(() -> faults.open("", null).clock()).hasMessageContaining("virtual time");
  }
}
