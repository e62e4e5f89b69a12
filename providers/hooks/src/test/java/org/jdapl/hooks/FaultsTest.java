package org.jdapl.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

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
  void required_S03_aNotificationIsDropped(final Delivery delivery) {
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
  void required_S03_aNotificationIsRepeated(final Delivery delivery) {
    final Bed bed = messages(new Bed("duplicate notification@2", MODEL.withDelivery(delivery)), 2);
    assertThat(bed.told).as("%s", bed).hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void required_S03_aNotificationIsDelayed(final Delivery delivery) {
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
    bed.connect().pass(1_000_000);
    bed.postRecv(1);
    bed.arm();
    bed.postSend(0);
    bed.pass(1_000_000);
    assertThat(bed.faults.done()).as("both are under way: %s", bed).hasSize(2);
    bed.close();
    bed.told.clear();
    bed.settle();
    assertThat(bed.told).as("%s", bed).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void required_S03_aConnectionIsDelayedInOrder(final Delivery delivery) {
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
  void required_S03_eventsOfConnectionsAreDroppedAndRepeated() {
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
  void required_S03_aVerbIsRefused() {
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
  void shouldSayThatAVerbFailedThatDidItsWork() {
    final Bed bed = new Bed("misreport post_send@1=EINVAL; misreport poll_cq@1=EIO");
    bed.connect().settle();
    bed.postRecv(1);
    assertThat(bed.postSend(7)).isEqualTo(VerbsException.EINVAL);
    bed.settle();
    assertThatThrownBy(bed::poll).hasMessageContaining("the plan says 'misreport poll_cq@1=EIO'");
    assertThat(bed.poll()).as("it took them: %s", bed).isEmpty();
  }

  @Test
  void required_S03_completionsAreDroppedRepeatedAndDelayed() {
    final Bed bed =
        new Bed("drop completion@1; duplicate completion@3; delay completion@4=5ms", MODEL);
    bed.connect().settle();
    bed.told.clear();
    for (int i = 0; i < 3; i++) {
      bed.postRecv(100 + i);
      bed.postSend(i);
    }
    bed.settle();
    final long polled = bed.now();
    assertThat(bed.poll()).as("%s", bed).containsExactly(101L, 102L, 102L);
    assertThat(bed.arm()).isZero();
    assertThat(bed.until(() -> !bed.told.isEmpty())).isTrue();
    assertThat(bed.now() - polled).isEqualTo(5_000_000);
    assertThat(bed.told).containsExactly("notification");
    assertThat(bed.poll()).as("in order: %s", bed).containsExactly(0L, 1L, 2L);
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void shouldTellOfDelayedCompletionsThatCameBetweenPollAndArm(final Delivery delivery) {
    final Bed bed = new Bed("delay completion@1=5ms", MODEL.withDelivery(delivery));
    bed.connect().settle();
    bed.told.clear();
    bed.postRecv(1);
    bed.postSend(0);
    bed.settle();
    assertThat(bed.poll()).isEmpty();
    bed.settle();
    assertThat(bed.told).as("nobody asked: %s", bed).isEmpty();
    assertThat(bed.arm()).as("the hint is exact: %s", bed).isPositive();
    bed.settle();
    assertThat(bed.told).as("%s", bed).containsExactly("notification");
    assertThat(bed.poll()).hasSize(2);
  }

  @Test
  void required_S03_aCompletionComesBetweenPollAndArm() {
    final Bed bed = new Bed("blind poll_cq@1; blind poll_cq@3");
    bed.connect().settle();
    bed.postRecv(1);
    bed.postSend(0);
    bed.settle();
    assertThat(bed.poll(1)).isEmpty();
    assertThat(bed.poll(1)).hasSize(1);
    bed.arm();
    assertThat(bed.poll(1)).as("armed: %s", bed).hasSize(1);
  }

  @Test
  void shouldReturnMoreThanAskedForAndWhatNobodyPosted() {
    final Bed bed = new Bed("surplus poll_cq@1=2; invent poll_cq@2=77; garble failed-completion@1");
    bed.connect().settle();
    for (int i = 0; i < 2; i++) {
      bed.postRecv(100 + i);
      bed.postSend(i);
    }
    bed.settle();
    assertThat(bed.poll(1)).hasSize(3);
    assertThat(bed.poll(8)).hasSize(2).last().isEqualTo(77L);
  }

  @Test
  void shouldReadCountsWithLeadingZerosAsDecimal() {
    final Bed bed = messages(new Bed("surplus poll_cq@1=08; silence create_qp@9=010"), 1);
    assertThat(bed.faults.done()).as("%s", bed).hasSize(1);
    assertThat(Fault.parse("surplus poll_cq@1=08").count()).isEqualTo(8);
    assertThat(Fault.parse("silence create_qp@1=010").count()).isEqualTo(10);
  }

  @Test
  void shouldReturnAllThereIsIfMoreIsAskedForThanAnIntHolds() {
    final String many = "surplus poll_cq@1=999999999";
    final Bed bed = new Bed(many + "; " + many + "; " + many);
    bed.connect().settle();
    bed.postRecv(1);
    bed.postSend(2);
    bed.settle();
    assertThat(bed.poll(1)).as("%s", bed).hasSize(2);
  }

  /** Arguments at the ends of what a plan may have, and some that it may not. */
  private static final List<String> ARGUMENTS =
      List.of(
          "",
          "0",
          "08",
          "010",
          "999999999",
          "-7",
          "0x1f",
          Long.toString(Long.MIN_VALUE),
          Long.toString(Long.MAX_VALUE),
          "00ms",
          "08us",
          "86400s",
          "999999999ns",
          "999999999s",
          "ENOMEM",
          "unreachable",
          "anything");

  /** A verb that hangs needs threads; what a fabric is asked for is in its own language. */
  private static final Set<Fault.Action> NOT_HERE =
      EnumSet.of(Fault.Action.HANG, Fault.Action.FABRIC);

  /** All there is to do to a target, as far as {@code parse} accepts it. */
  private static List<String> accepted(final String target, final String nth) {
    final List<String> accepted = new ArrayList<>();
    for (final Fault.Action action : Fault.Action.values()) {
      for (final String argument : ARGUMENTS) {
        final String text =
            action + " " + target + "@" + nth + (argument.isEmpty() ? "" : "=" + argument);
        if (!NOT_HERE.contains(action) && isAccepted(text)) {
          accepted.add(text);
        }
      }
    }
    return accepted;
  }

  private static boolean isAccepted(final String text) {
    try {
      FaultPlan.parse(text);
      return true;
    } catch (final IllegalArgumentException e) {
      return false;
    }
  }

  private static Stream<String> targets() {
    return Stream.of(
            Stream.of("any", "notification", "completion", "failed-completion", "cm", "async"),
            Stream.of(CmEventType.values()).map(Fault::word),
            Stream.of(AsyncType.values()).map(Fault::word),
            Stream.of(Verb.values()).map(Verb::toString))
        .flatMap(each -> each);
  }

  @ParameterizedTest
  @MethodSource("targets")
  void shouldThrowOnlyWhatAVerbMayThrowWhateverThePlan(final String target) {
    for (final String nth : List.of("1+", "2")) {
      final List<String> faults = accepted(target, nth);
      assertThat(faults).isNotEmpty();
      for (final String fault : faults) {
        for (final int copies : new int[] {1, 3, 10}) { // what several ask for adds up
          final String plan = String.join("; ", Collections.nCopies(copies, fault));
          assertThatCode(() -> use(plan)).as("'%s'", plan).doesNotThrowAnyException();
        }
      }
    }
  }

  private static void use(final String plan) {
    try {
      final Bed bed = new Bed(plan);
      bed.connect();
      for (int i = 0; i < 3; i++) {
        bed.postRecv(i);
        bed.arm();
        bed.postSend(i);
        bed.settle(200);
        bed.poll();
      }
      bed.close();
      bed.settle(200);
    } catch (final VerbsException e) {
      assertThat(e).hasMessageContaining(" on "); // a verb that fails is what it was asked for
    }
  }

  @Test
  void shouldNotifyWithoutACompletion() {
    final Bed bed = new Bed("notify req_notify_cq@1=2us; notify destroy_cq@1=3us");
    bed.arm();
    bed.settle();
    assertThat(bed.told).containsExactly("notification");
    bed.close();
    bed.settle();
    assertThat(bed.told).as("%s", bed).containsExactly("notification", "notification");
  }

  @Test
  void required_S03_aQueueOverflows() {
    final Bed bed = new Bed("overflow poll_cq@2");
    bed.connect().settle();
    bed.postRecv(1);
    bed.told.clear();
    assertThat(bed.poll()).isEmpty();
    assertThatThrownBy(bed::poll).hasMessageContaining("overflowed");
    assertThatThrownBy(bed::arm).hasMessageContaining("overflowed");
    bed.settle();
    assertThat(bed.told).containsExactly("CQ_ERR cq");
    assertThat(bed.fabric.trace()).as("%s", bed).anyMatch(line -> line.endsWith("qp1 to error"));
    bed.close();
  }

  @Test
  void required_S03_aConnectReachesNobody() {
    final Bed bed = new Bed("answer connect@1=unreachable");
    bed.connect().settle();
    assertThat(bed.told).as("%s", bed).containsExactly("active UNREACHABLE");
    bed.connect().settle();
    assertThat(bed.told).contains("active ESTABLISHED");
    bed.close();
  }

  @Test
  void required_S03_aQueuePairAndItsConnectionFallSilent() {
    final Bed bed = new Bed("silence create_qp@1=2");
    bed.connect().settle();
    bed.told.clear();
    for (int i = 0; i < 3; i++) {
      bed.postRecv(100 + i);
      bed.postSend(i);
    }
    bed.settle();
    assertThat(bed.poll()).as("ESTABLISHED, one send: %s", bed).contains(0L).doesNotContain(1L, 2L);
    bed.accepted.get().disconnect();
    bed.settle();
    assertThat(bed.told).containsExactly("passive DISCONNECTED");
    bed.close();
  }

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void required_S03_theDeviceIsLost(final Delivery delivery) {
    final Bed bed = new Bed("lose post_send@2", MODEL.withDelivery(delivery));
    bed.connect().settle();
    bed.told.clear();
    bed.postRecv(1);
    assertThat(bed.postSend(0)).isZero();
    assertThat(bed.postSend(1)).isEqualTo(VerbsException.EIO);
    assertThat(bed.told).as("not inside the verb").isEmpty();
    bed.settle();
    assertThat(bed.told).contains("DEVICE_FATAL device");
    assertThatThrownBy(bed::poll).hasMessageContaining("the device is lost");
    assertThatThrownBy(bed.device::allocPd).hasMessageContaining("the device is lost");
    bed.close();
  }

  @Test
  void required_S03_theLastReceiveOfASharedQueueIsReportedLateOrNever() {
    final Bed bed = new Bed("drop qp-last-wqe-reached@1; delay qp-last-wqe-reached@2=1s");
    final SharedReceiveQueue srq = bed.device.createSrq(bed.pd, 4, 1);
    final QpAttributes shared = new QpAttributes(bed.pd, bed.cq, bed.cq, srq, 4, 0, 1, 0, 0);
    bed.device.createQp(shared).modifyToError();
    bed.settle();
    assertThat(bed.told).as("%s", bed).isEmpty();
    final long before = bed.now();
    bed.device.createQp(shared).modifyToError();
    bed.settle();
    assertThat(bed.told).as("%s", bed).containsExactly("QP_LAST_WQE_REACHED ?");
    assertThat(bed.now() - before).isBetween(1_000_000_000L, 1_001_000_000L);
  }

  @Test
  void shouldLoseADeviceThatIsBeingOpened() {
    assertThatThrownBy(() -> new Bed("lose any@1"))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("open_device on sim")
        .hasMessageContaining("the device is lost");
  }

  @Test
  void shouldDropAsynchronousEvents() {
    final Bed bed = new Bed("drop cq-err@1; overflow poll_cq@1");
    assertThatThrownBy(bed::poll).hasMessageContaining("overflowed");
    bed.settle();
    assertThat(bed.told).isEmpty();
    assertThat(bed.faults.notReached()).isEmpty();
  }

  @Test
  void shouldLetTheFabricDoWhatOnlyItCan() {
    final Bed bed = new Bed("fabric post_send@2=link-down sim0");
    final List<String> asked = new ArrayList<>();
    bed.faults.fabric(asked::add);
    bed.connect().settle();
    bed.postSend(0);
    assertThat(asked).isEmpty();
    bed.postSend(1);
    assertThat(asked).containsExactly("link-down sim0");
  }

  @Test
  void shouldSayThatThereIsNoFabric() {
    final Bed bed = new Bed("fabric post_send@1=link-down sim0");
    bed.connect().settle();
    assertThatThrownBy(() -> bed.postSend(0)).hasMessageContaining("give one by Faults.fabric");
  }

  @Test
  void shouldCountWhatHappenedAndWhatDidNot() {
    final Bed bed = messages(new Bed("drop notification@1+; drop notification@9"), 2);
    assertThat(bed.faults.done()).containsExactly(bed.faults.plan().faults().get(0));
    assertThat(bed.faults.notReached()).containsExactly(bed.faults.plan().faults().get(1));
    assertThat(bed.faults)
        .hasToString(
            "faults over sim[drop notification@1+ (done 2, seen 2);"
                + " drop notification@9 (done 0, seen 2)]");
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
