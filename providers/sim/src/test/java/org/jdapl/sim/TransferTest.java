package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransferTest {

  /** Of each way, in nanoseconds; beyond all else that messages take. */
  private static final long LATENCY = 1_000_000;

  private static final int READS = 12;

  private SimFabric fabric = SimFabric.virtual(1).keepTrace();
  private Side a;
  private Side b;

  private void connect() {
    a = new Side(fabric);
    b = new Side(fabric);
    a.connect(b);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void shouldDeliverDataInOrderWhenSent(final long seed) {
    fabric = SimFabric.virtual(seed).keepTrace();
    connect();
    a.fill(0, 16 * 64, (int) seed);
    for (int i = 0; i < 16; i++) {
      b.postRecv(100 + i, i * 64, 64);
      a.postSend(i, i * 64, 64);
    }
    final List<Side.Completion> receives = b.await(b.recvCq, 16);
    final List<Side.Completion> sends = a.await(a.sendCq, 16);
    assertThat(b.bytes(0, 16 * 64)).isEqualTo(a.bytes(0, 16 * 64));
    assertThat(Side.wrIds(sends))
        .containsExactlyElementsOf(LongStream.range(0, 16).boxed().toList());
    assertThat(Side.wrIds(receives))
        .containsExactlyElementsOf(LongStream.range(100, 116).boxed().toList());
    assertThat(receives)
        .allMatch(c -> c.status() == WcStatus.SUCCESS && c.opcode() == WcOpcode.RECV)
        .allMatch(c -> c.byteLength() == 64 && c.qpNumber() == b.qp.number());
    assertThat(sends).allMatch(c -> c.opcode() == WcOpcode.SEND && c.qpNumber() == a.qp.number());
  }

  @Test
  void shouldCompleteTheSendAfterTheReceiveWhenBothArePolled() {
    connect();
    b.postRecv(1, 0, 64);
    a.postSend(1, 0, 64);
    final List<String> order = new ArrayList<>();
    a.until(
        () -> {
          if (!a.sends().isEmpty()) {
            order.add("send");
          }
          if (!b.receives().isEmpty()) {
            order.add("receive");
          }
          return order.size() == 2;
        });
    assertThat(order).containsExactly("receive", "send");
  }

  @Test
  void shouldCarryImmediateDataWhenAsked() {
    connect();
    b.postRecv(7, 0, 64);
    b.postRecv(8, 0, 64);
    final SendRequest send = a.request(WrOpcode.SEND_WITH_IMM, 1, 0, 10);
    send.immediate = 0x12345678;
    a.post(send);
    final SendRequest write = a.remote(WrOpcode.RDMA_WRITE_WITH_IMM, 2, 0, 32, b, 1024);
    write.immediate = 0x0BADCAFE;
    a.post(write);
    final List<Side.Completion> receives = b.await(b.recvCq, 2);
    assertThat(receives)
        .containsExactly(
            new Side.Completion(7, WcStatus.SUCCESS, WcOpcode.RECV, 10, b.qp.number(), 0x12345678),
            new Side.Completion(
                8, WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM, 32, b.qp.number(), 0x0BADCAFE));
  }

  @Test
  void shouldMoveDataWhenWrittenAndRead() {
    connect();
    a.fill(0, 512, 3);
    b.fill(2048, 512, 9);
    a.post(a.remote(WrOpcode.RDMA_WRITE, 1, 0, 512, b, 100));
    a.post(a.remote(WrOpcode.RDMA_READ, 2, 1000, 512, b, 2048));
    final List<Side.Completion> sends = a.await(a.sendCq, 2);
    assertThat(b.bytes(100, 512)).isEqualTo(a.bytes(0, 512));
    assertThat(a.bytes(1000, 512)).isEqualTo(b.bytes(2048, 512));
    assertThat(sends)
        .extracting(Side.Completion::opcode)
        .containsExactly(WcOpcode.RDMA_WRITE, WcOpcode.RDMA_READ);
    assertThat(b.receives()).isEmpty();
  }

  @Test
  void shouldShowTheWriteWhenALaterSendWasReceived() {
    connect();
    a.fill(0, 256, 5);
    b.postRecv(1, 4000, 8);
    a.post(a.remote(WrOpcode.RDMA_WRITE, 1, 0, 256, b, 0));
    a.postSend(2, 0, 8);
    assertThat(b.nextReceive().wrId()).isEqualTo(1);
    assertThat(b.bytes(0, 256)).isEqualTo(a.bytes(0, 256));
  }

  @Test
  void shouldGatherAndScatterWhenElementsDiffer() {
    connect();
    a.fill(0, 300, 1);
    final SendRequest send = new SendRequest(4);
    send.addSge(a.mr.address(), 100, a.mr.lkey());
    send.addSge(a.mr.address() + 100, 0, 0);
    send.addSge(a.mr.address() + 100, 150, a.mr.lkey());
    send.addSge(a.mr.address() + 250, 50, a.mr.lkey());
    final RecvRequest recv = new RecvRequest(4);
    recv.addSge(b.mr.address(), 7, b.mr.lkey());
    recv.addSge(b.mr.address() + 1000, 200, b.mr.lkey());
    recv.addSge(b.mr.address() + 2000, 93, b.mr.lkey());
    recv.addSge(0, 1000, 12345); // not reached, so not looked at
    assertThat(b.qp.postRecv(recv)).isZero();
    a.post(send);
    assertThat(b.nextReceive().byteLength()).isEqualTo(300);
    assertThat(b.bytes(0, 7)).isEqualTo(a.bytes(0, 7));
    assertThat(b.bytes(1000, 200)).isEqualTo(a.bytes(7, 200));
    assertThat(b.bytes(2000, 93)).isEqualTo(a.bytes(207, 93));
  }

  @Test
  void shouldSendWhatWasThereWhenInline() {
    connect();
    b.postRecv(1, 0, 64);
    a.fill(0, 64, 1);
    final byte[] before = a.bytes(0, 64);
    final SendRequest send = a.request(WrOpcode.SEND, 1, 0, 64);
    send.inline = true;
    a.post(send);
    a.fill(0, 64, 99);
    assertThat(b.nextReceive().byteLength()).isEqualTo(64);
    assertThat(b.bytes(0, 64)).isEqualTo(before);
  }

  @Test
  void shouldReceiveNothingWhenTheMessageIsEmpty() {
    connect();
    assertThat(b.qp.postRecv(new RecvRequest(1))).isZero();
    a.post(new SendRequest(1));
    assertThat(b.nextReceive().byteLength()).isZero();
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
  }

  @Test
  void shouldCompleteOnlySignaledRequestsWhenAllSucceed() {
    connect();
    for (int i = 0; i < 8; i++) {
      b.postRecv(i, 0, 64);
      final SendRequest send = a.request(WrOpcode.SEND, i, 0, 64);
      send.signaled = i == 7;
      a.post(send);
    }
    a.settle();
    assertThat(Side.wrIds(a.sends())).containsExactly(7L);
    assertThat(b.receives()).hasSize(8);
  }

  @Test
  void shouldDoAtomicsWhenAligned() {
    connect();
    a.buffer.order(ByteOrder.nativeOrder());
    b.buffer.order(ByteOrder.nativeOrder());
    b.buffer.putLong(64, 40);
    final SendRequest add = a.remote(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, 0, 8, b, 64);
    add.compareAdd = 2;
    final SendRequest swap = a.remote(WrOpcode.ATOMIC_CMP_AND_SWP, 2, 8, 8, b, 64);
    swap.compareAdd = 42;
    swap.swap = -1;
    final SendRequest lost = a.remote(WrOpcode.ATOMIC_CMP_AND_SWP, 3, 16, 8, b, 64);
    lost.compareAdd = 42;
    lost.swap = 7;
    a.post(add);
    a.post(swap);
    a.post(lost);
    assertThat(a.await(a.sendCq, 3))
        .extracting(Side.Completion::opcode)
        .containsExactly(WcOpcode.FETCH_ADD, WcOpcode.COMP_SWAP, WcOpcode.COMP_SWAP);
    assertThat(a.buffer.getLong(0)).isEqualTo(40);
    assertThat(a.buffer.getLong(8)).isEqualTo(42);
    assertThat(a.buffer.getLong(16)).isEqualTo(-1);
    assertThat(b.buffer.getLong(64)).isEqualTo(-1);
  }

  @Test
  void shouldRefuseThePostWhenItIsNotValid() {
    connect();
    final SendRequest tooMany = new SendRequest(5);
    for (int i = 0; i < 5; i++) {
      tooMany.addSge(a.mr.address(), 1, a.mr.lkey());
    }
    assertThat(a.qp.postSend(tooMany)).isEqualTo(VerbsException.EINVAL);
    assertThat(a.qp.postSend(a.request(WrOpcode.SEND, 1, 0, -1))).isEqualTo(VerbsException.EINVAL);
    assertThat(a.qp.postRecv(a.recv(1, 0, -1))).isEqualTo(VerbsException.EINVAL);
    assertThat(a.qp.postSend(a.remote(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, 0, 4, b, 0)))
        .isEqualTo(VerbsException.EINVAL);
    final Side unconnected = new Side(fabric);
    assertThat(unconnected.qp.postSend(unconnected.request(WrOpcode.SEND, 1, 0, 1)))
        .isEqualTo(VerbsException.EINVAL);
  }

  @Test
  void shouldSayFullUntilACompletionWasPolled() {
    connect();
    for (int i = 0; i < Side.WR; i++) {
      b.postRecv(i, 0, 64);
      a.postSend(i, 0, 64);
    }
    assertThat(b.qp.postRecv(b.recv(99, 0, 64))).isEqualTo(VerbsException.ENOMEM);
    a.settle();
    assertThat(a.qp.postSend(a.request(WrOpcode.SEND, 99, 0, 64)))
        .as("done, but not polled")
        .isEqualTo(VerbsException.ENOMEM);
    assertThat(Side.poll(a.sendCq, 1)).hasSize(1);
    assertThat(Side.poll(b.recvCq, 1)).hasSize(1);
    assertThat(a.qp.postSend(a.request(WrOpcode.SEND, 99, 0, 64))).isZero();
    assertThat(b.qp.postRecv(b.recv(99, 0, 64))).isZero();
  }

  /** How long some reads and a send behind them take. */
  private long read(final int in, final int out) {
    final SimModel slow = SimModel.DEFAULT.withLatency(LATENCY, LATENCY);
    a = new Side(fabric, slow);
    b = new Side(fabric, slow);
    a.connect(b, reads(4, out), reads(in, 4));
    b.postRecv(1, 0, 8);
    final long start = fabric.now();
    for (int i = 0; i < READS; i++) {
      final boolean isAtomic = i % 2 == 1;
      a.post(
          a.remote(
              isAtomic ? WrOpcode.ATOMIC_FETCH_AND_ADD : WrOpcode.RDMA_READ, i, 8 * i, 8, b, 64));
    }
    a.postSend(READS, 0, 8);

    final List<Side.Completion> sends = a.await(a.sendCq, READS + 1);
    assertThat(Side.wrIds(sends))
        .containsExactlyElementsOf(LongStream.rangeClosed(0, READS).boxed().toList());
    assertThat(sends).allMatch(send -> send.status() == WcStatus.SUCCESS);
    return fabric.now() - start;
  }

  private static CmParameters reads(final int in, final int out) {
    return new CmParameters(null, in, out, 7, 7);
  }

  @ParameterizedTest
  @CsvSource({"1, 16", "16, 1", "2, 4", "4, 2", "3, 3", "16, 16"})
  void shouldHaveAsManyReadsOnTheirWayAsWereNegotiated(final int in, final int out) {
    final int atOnce = Math.min(in, out);
    final int rounds = (READS + atOnce - 1) / atOnce;
    final long least = 2L * LATENCY * rounds;
    // The send behind the last reads goes with them; beside the latencies there are some steps.
    assertThat(read(in, out)).isBetween(least, least + LATENCY);
  }
}
