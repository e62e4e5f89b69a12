package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorTest {

  private final SimFabric fabric = SimFabric.virtual(21).keepTrace();
  private final Side a = new Side(fabric);
  private final Side b = new Side(fabric);

  /** Beyond all that the messages of a test take, in nanoseconds, and below each timer's step. */
  private static final long LATENCY = 40_000;

  @Test
  void shouldSendAgainUntilThereIsAReceiveWhenRetriesAreUnlimited() {
    a.connect(b);
    a.fill(0, 8, 1);
    a.postSend(1, 0, 8);
    a.pass(50_000_000);
    assertThat(a.sends()).isEmpty();
    b.postRecv(1, 0, 8);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(b.bytes(0, 8)).isEqualTo(a.bytes(0, 8));
  }

  @Test
  void shouldGiveUpWhenThereIsNoReceiveAfterTheRetries() {
    a.connect(b, Side.parameters("", 7, 2));
    a.postSend(1, 0, 8);
    a.postSend(2, 0, 8);
    final long start = fabric.now();
    final List<Side.Completion> sends = a.await(a.sendCq, 2);
    assertThat(Side.statuses(sends))
        .containsExactly(WcStatus.RNR_RETRY_EXC_ERR, WcStatus.WR_FLUSH_ERR);
    assertThat(fabric.now() - start).isGreaterThanOrEqualTo(200_000);
  }

  private static CmParameters timed(
      final int retries, final int rnrRetries, final int ackTimeout, final int rnrTimer) {
    return new CmParameters(null, 4, 4, retries, rnrRetries, ackTimeout, rnrTimer);
  }

  /** How long a send takes, in nanoseconds, to end otherwise than in success. */
  private long failure(final Side of, final WcStatus status) {
    of.postSend(1, 0, 8);
    final long start = fabric.now();
    assertThat(of.nextSend().status()).isEqualTo(status);
    return fabric.now() - start;
  }

  @Test
  void shouldWaitThePeersTimerBeforeEachRetryWhenThereIsNoReceive() {
    a.connect(b, timed(7, 3, 8, 5), timed(7, 1, 8, 20)); // 60 microseconds, and 10.24 milliseconds

    assertThat(failure(a, WcStatus.RNR_RETRY_EXC_ERR))
        .isBetween(3 * 10_240_000L, 3 * 10_240_000L + LATENCY);
  }

  @Test
  void shouldTakeItsOwnRetriesWhenThePeersAreOthers() {
    a.connect(b, timed(7, 3, 8, 5), timed(7, 1, 8, 20));

    assertThat(failure(b, WcStatus.RNR_RETRY_EXC_ERR)).isBetween(60_000L, 60_000L + LATENCY);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7})
  void shouldGiveUpAfterATimeoutForEachTryWhenNobodyAnswers(final int retries) {
    a.connect(b, timed(retries, 0, 10, 0), timed(3, 0, 1, 0)); // 4.194304 milliseconds
    b.qp.close();

    assertThat(failure(a, WcStatus.RETRY_EXC_ERR))
        .isBetween((retries + 1) * 4_194_304L, (retries + 1) * 4_194_304L + LATENCY);
  }

  @Test
  void shouldTakeTheSimulatorsOwnTimersWhenNoneAreGiven() {
    a.connect(b, Side.parameters("", 1, 2));
    assertThat(failure(b, WcStatus.RNR_RETRY_EXC_ERR)).isBetween(200_000L, 200_000L + LATENCY);
    a.postRecv(1, 0, 8); // b is in error now, and does not answer
    assertThat(failure(a, WcStatus.RETRY_EXC_ERR)).isBetween(200_000L, 200_000L + LATENCY);
  }

  @Test
  void shouldSucceedWhenThePeerAnswersBeforeTheLastTry() {
    a.connect(b, timed(2, 0, 10, 0), timed(2, 0, 10, 0));
    b.postRecv(1, 0, 8);
    fabric.linkDown(b.device.name());
    a.postSend(1, 0, 8);
    a.pass(2 * 4_194_304 - 1_000);
    fabric.linkUp(b.device.name());

    assertThat(a.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
  }

  @Test
  void shouldFailWhenThePeerAnswersAfterTheLastTry() {
    a.connect(b, timed(2, 0, 10, 0), timed(2, 0, 10, 0));
    b.postRecv(1, 0, 8);
    fabric.linkDown(b.device.name());
    a.postSend(1, 0, 8);
    a.pass(2 * 4_194_304 + 100_000);
    fabric.linkUp(b.device.name());

    assertThat(a.nextSend().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
  }

  @Test
  void shouldFlushAtOnceWhenItEndsWhileNobodyAnswers() {
    a.connect(b, timed(0, 0, 31, 0), timed(0, 0, 31, 0)); // for hours
    b.qp.close();
    a.postSend(1, 0, 8);
    a.pass(1_000_000);
    a.qp.modifyToError();
    final long start = fabric.now();

    assertThat(a.nextSend().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    assertThat(fabric.now() - start).isLessThan(LATENCY);
  }

  @Test
  void shouldWaitForAReceiveWhenAWriteCarriesImmediateData() {
    a.connect(b, Side.parameters("", 7, 0));
    a.post(a.remote(WrOpcode.RDMA_WRITE_WITH_IMM, 1, 0, 8, b, 0));
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
  }

  @ParameterizedTest
  @EnumSource(
      value = WrOpcode.class,
      names = {"RDMA_READ", "ATOMIC_CMP_AND_SWP", "ATOMIC_FETCH_AND_ADD"})
  void shouldRefuseAReadWhenNoneWereNegotiated(final WrOpcode opcode) {
    a.connect(b, Side.parameters("", 7, 1), new CmParameters(null, 0, 4, 7, 7));
    b.post(b.remote(opcode, 1, 0, 8, a, 0));
    assertThat(b.nextSend().status()).as("of the other side").isEqualTo(WcStatus.SUCCESS);
    a.postSend(2, 0, 8);
    b.postRecv(3, 8, 8);
    assertThat(a.nextSend().status()).as("what is no read").isEqualTo(WcStatus.SUCCESS);
    a.fill(0, 8, 1);
    b.fill(0, 8, 2);
    final byte[] before = b.bytes(0, 8);

    a.post(a.remote(opcode, 4, 0, 8, b, 0));
    a.postSend(5, 0, 8);

    assertThat(Side.statuses(a.await(a.sendCq, 2)))
        .containsExactly(WcStatus.REM_INV_REQ_ERR, WcStatus.WR_FLUSH_ERR);
    b.postRecv(6, 8, 8);
    assertThat(b.await(b.recvCq, 2).get(1).status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    assertThat(b.asyncs).containsExactly(AsyncType.QP_REQ_ERR);
    assertThat(b.bytes(0, 8)).isEqualTo(before);
  }

  @Test
  void shouldGiveUpWhenThePeerIsGone() {
    a.connect(b);
    b.qp.close();
    a.postSend(1, 0, 8);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
  }

  @Test
  void shouldGiveUpWhenThePeerIsInError() {
    a.connect(b);
    b.postRecv(1, 0, 8);
    b.qp.modifyToError();
    a.postSend(1, 0, 8);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.RETRY_EXC_ERR);
    assertThat(b.nextReceive().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldCompleteEachRequestOnceAndInOrderWhenBrokenAtAnyMoment(final long seed) {
    final SimFabric other = SimFabric.virtual(seed).keepTrace();
    final Side c = new Side(other);
    final Side d = new Side(other);
    c.connect(d);
    for (int i = 0; i < Side.WR; i++) {
      d.postRecv(100 + i, 0, 8);
      c.postRecv(200 + i, 0, 8);
      final SendRequest send = c.request(WrOpcode.SEND, i, 0, 8);
      send.signaled = i % 2 == 0;
      c.post(send);
    }
    c.pass(1_000 * seed);
    c.qp.modifyToError();
    c.qp.modifyToError();
    d.qp.modifyToError();
    c.settle();

    final List<Side.Completion> sends = c.sends();
    final List<Long> ids = Side.wrIds(sends);
    assertThat(ids).isSorted().doesNotHaveDuplicates();
    // What is missing are silent successes, so they come before the first flush.
    final long firstFlush =
        sends.stream()
            .filter(s -> s.status() == WcStatus.WR_FLUSH_ERR)
            .mapToLong(Side.Completion::wrId)
            .findFirst()
            .orElse(Side.WR);
    for (long i = 0; i < Side.WR; i++) {
      if (!ids.contains(i)) {
        assertThat(i).as("%s", other.trace()).isOdd().isLessThan(firstFlush);
      }
    }
    assertThat(Side.wrIds(d.receives()))
        .containsExactlyElementsOf(LongStream.range(100, 100 + Side.WR).boxed().toList());
    assertThat(Side.wrIds(c.receives()))
        .containsExactlyElementsOf(LongStream.range(200, 200 + Side.WR).boxed().toList());
  }

  @Test
  void shouldTakeAndFlushWhenPostedInError() {
    a.connect(b);
    a.qp.modifyToError();
    final SendRequest silent = a.request(WrOpcode.SEND, 1, 0, 8);
    silent.signaled = false;
    a.post(silent);
    a.postSend(2, 0, 8);
    a.postRecv(3, 0, 8);
    assertThat(a.sends()).as("not on the stack of the post").isEmpty();
    a.settle();
    assertThat(Side.wrIds(a.sends())).containsExactly(1L, 2L);
    assertThat(Side.statuses(a.receives())).containsExactly(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void shouldFlushReceivesWhenNeverConnected() {
    a.postRecv(1, 0, 8);
    a.postRecv(2, 0, 8);
    a.qp.modifyToError();
    assertThat(Side.wrIds(a.await(a.recvCq, 2))).containsExactly(1L, 2L);
  }

  @Test
  void shouldFillWhatIsNotValidWithGarbageWhenItFailed() {
    a.connect(b);
    a.qp.modifyToError();
    a.postSend(2, 0, 8);
    a.postRecv(3, 0, 8);
    final Side.Completion send = a.nextSend();
    final Side.Completion receive = a.nextReceive();
    assertThat(send.opcode()).isNotEqualTo(WcOpcode.SEND);
    assertThat(receive.opcode()).isNotEqualTo(WcOpcode.RECV);
    assertThat(List.of(send.byteLength(), receive.byteLength())).doesNotContain(0, 8);
    assertThat(send.qpNumber()).isEqualTo(a.qp.number());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void shouldConserveRequestsWhenTrafficBreaksOff(final long seed) {
    final SimFabric other = SimFabric.virtual(seed);
    final Side c = new Side(other);
    final Side d = new Side(other);
    c.connect(d);
    final List<Long> done = new ArrayList<>();
    final List<Long> received = new ArrayList<>();
    long posted = 0;
    long provided = 0;
    for (int round = 0; round < 50; round++) {
      while (c.qp.postSend(c.request(WrOpcode.SEND, posted, 0, 8)) == 0) {
        posted++;
      }
      while (d.qp.postRecv(d.recv(provided, 0, 8)) == 0) {
        provided++;
      }
      c.pass(3_000);
      done.addAll(Side.wrIds(c.sends()));
      received.addAll(Side.wrIds(d.receives()));
    }
    d.id.disconnect();
    c.settle();
    done.addAll(Side.wrIds(c.sends()));
    received.addAll(Side.wrIds(d.receives()));
    assertThat(done).containsExactlyElementsOf(LongStream.range(0, posted).boxed().toList());
    assertThat(received).containsExactlyElementsOf(LongStream.range(0, provided).boxed().toList());
    assertThat(posted).isGreaterThan(Side.WR);
  }
}
