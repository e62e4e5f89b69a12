package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TeardownTest {

  private final SimFabric fabric = SimFabric.virtual(51).keepTrace();

  private static void shouldBeBusy(final Runnable close, final String why) {
    assertThatThrownBy(close::run)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EBUSY))
        .hasMessageContaining(why);
  }

  @Test
  void shouldRefuseToCloseWhatIsInUse() {
    final Side a = new Side(fabric);
    shouldBeBusy(a.sendCq::close, "sim0/qp1 uses it");
    shouldBeBusy(a.recvCq::close, "sim0/qp1 uses it");
    shouldBeBusy(a.pd::close, "uses it; close that first");
    shouldBeBusy(a.device::close, "1 protection domains, 1 memory regions, 2 completion queues");
    final SharedReceiveQueue srq = a.device.createSrq(a.pd, 4, 1);
    final var qp = a.createQp(srq);
    shouldBeBusy(srq::close, "sim0/qp2 uses it");
    qp.close();
    srq.close();
    a.close();
    a.close();
    assertThatThrownBy(a.device::allocPd).hasMessageContaining("the device is closed");
  }

  @Test
  void shouldUseNumbersAgainAtOnceUnlessToldNotTo() {
    final Side a = new Side(fabric);
    final int number = a.qp.number();
    a.qp.close();
    a.qp = a.createQp(null);
    assertThat(a.qp.number()).isEqualTo(number);

    final Side b = new Side(fabric, SimModel.DEFAULT.withReusesQpNumbers(false));
    final int first = b.qp.number();
    b.qp.close();
    b.qp = b.createQp(null);
    assertThat(b.qp.number()).isNotEqualTo(first);
  }

  @ParameterizedTest
  @CsvSource({"false, 2", "true, 0"})
  void shouldKeepOrSweepCompletionsWhenTheQueuePairIsDestroyed(
      final boolean sweeps, final int left) {
    final Side a = new Side(fabric, SimModel.DEFAULT.withSweepsDestroyed(sweeps));
    final var other = a.createQp(null);
    a.postRecv(1, 0, 8);
    a.postRecv(2, 0, 8);
    assertThat(other.postRecv(a.recv(7, 0, 8))).isZero();
    a.qp.modifyToError();
    other.modifyToError();
    a.settle();
    final int number = a.qp.number();
    a.qp.close();
    a.qp = a.createQp(null);
    assertThat(a.qp.number()).isEqualTo(number);
    assertThat(a.receives())
        .hasSize(left + 1)
        .filteredOn(c -> c.qpNumber() == number)
        .extracting(Side.Completion::wrId)
        .containsExactlyElementsOf(sweeps ? java.util.List.of() : java.util.List.of(1L, 2L));
  }

  @Test
  void shouldCompleteNothingWhenDestroyedWithoutError() {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric);
    a.connect(b);
    a.postSend(1, 0, 8);
    a.postRecv(2, 0, 8);
    a.qp.close();
    a.settle();
    assertThat(a.sends()).isEmpty();
    assertThat(a.receives()).isEmpty();
    assertThat(a.qp.postRecv(a.recv(1, 0, 8))).isEqualTo(VerbsException.EINVAL);
    assertThat(a.qp.postSend(a.request(WrOpcode.SEND, 1, 0, 8))).isEqualTo(VerbsException.EINVAL);
    assertThatThrownBy(a.qp::modifyToError).hasMessageContaining("it is closed");
  }

  private SharedReceiveQueue share(final Side side, final int depth) {
    final SharedReceiveQueue srq = side.device.createSrq(side.pd, depth, 4);
    side.qp.close();
    side.qp = side.createQp(srq);
    return srq;
  }

  @Test
  void shouldTakeReceivesOfTheSharedQueueWhenMessagesArrive() {
    final Side a1 = new Side(fabric);
    final Side a2 = new Side(fabric);
    final Side b = new Side(fabric);
    final SharedReceiveQueue srq = share(b, 4);
    a1.connect(b);
    final var first = b.qp;
    b.qp = b.createQp(srq);
    b.events.clear();
    a2.connect(b);
    for (int i = 0; i < 4; i++) {
      assertThat(srq.postRecv(b.recv(i, 64 * i, 64))).isZero();
    }
    assertThat(srq.postRecv(b.recv(9, 0, 64))).isEqualTo(VerbsException.ENOMEM);
    assertThat(b.qp.postRecv(b.recv(9, 0, 64))).isEqualTo(VerbsException.EINVAL);
    a1.postSend(1, 0, 8);
    a2.postSend(1, 0, 8);
    a1.settle();
    assertThat(srq.postRecv(b.recv(9, 0, 64))).as("not polled").isEqualTo(VerbsException.ENOMEM);
    assertThat(b.receives())
        .extracting(Side.Completion::qpNumber)
        .containsExactlyInAnyOrder(first.number(), b.qp.number());
    assertThat(srq.postRecv(b.recv(9, 0, 64))).isZero();

    first.modifyToError();
    a1.settle();
    assertThat(b.receives()).as("the rest belongs to the others").isEmpty();
    assertThat(b.asyncs).containsExactly(AsyncType.QP_LAST_WQE_REACHED);
    assertThat(b.asyncElements).containsExactly(first);
    a2.postSend(2, 0, 8);
    assertThat(b.nextReceive().status()).isEqualTo(WcStatus.SUCCESS);
  }

  @Test
  void shouldSayNothingOfTheLastReceiveWhenTheModelNeverDoes() {
    final Side b = new Side(fabric, SimModel.DEFAULT.withLastWqe(LastWqe.NEVER));
    share(b, 4);
    b.qp.modifyToError();
    b.settle();
    assertThat(b.asyncs).isEmpty();
  }

  @Test
  void shouldReportTheWatermarkOncePerArm() {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric);
    final SharedReceiveQueue srq = share(b, 8);
    a.connect(b);
    for (int i = 0; i < 4; i++) {
      assertThat(srq.postRecv(b.recv(i, 0, 8))).isZero();
    }
    srq.armLimit(3);
    for (int i = 0; i < 3; i++) {
      a.postSend(i, 0, 8);
      a.settle();
      assertThat(b.asyncs).hasSize(i == 0 ? 0 : 1);
    }
    srq.armLimit(3);
    a.settle();
    assertThat(b.asyncs)
        .as("already below")
        .containsExactly(AsyncType.SRQ_LIMIT_REACHED, AsyncType.SRQ_LIMIT_REACHED);
  }

  @Test
  void shouldGiveBackSharedReceivesWhenTheirCompletionsAreSwept() {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric, SimModel.DEFAULT.withSweepsDestroyed(true));
    final SharedReceiveQueue srq = share(b, 2);
    a.connect(b);
    assertThat(srq.postRecv(b.recv(0, 0, 8))).isZero();
    assertThat(srq.postRecv(b.recv(1, 0, 8))).isZero();
    a.postSend(0, 0, 8);
    a.settle();
    b.qp.close();
    assertThat(srq.postRecv(b.recv(2, 0, 8))).isZero();
    assertThat(srq.postRecv(b.recv(3, 0, 8))).isEqualTo(VerbsException.ENOMEM);
  }

  @Test
  void shouldForgetAsyncEventsWhenTheirObjectIsClosed() {
    final Side b = new Side(fabric);
    share(b, 4);
    b.qp.modifyToError();
    b.qp.close();
    b.settle();
    assertThat(b.asyncs).isEmpty();
  }
}
