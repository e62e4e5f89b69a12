package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.Set;
import org.jdapl.rdmacore.Side.Completion;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

class TransferTest extends Bed {

  @Test
  void shouldSendMessagesInOrder() {
    connect();
    a.buffer.putLong(0, 41).putLong(8, 42);
    b.qp.postRecv(b.recv(1, 100, 8));
    b.qp.postRecv(b.recv(2, 200, 64));
    a.qp.postSend(a.send(3, WrOpcode.SEND, 0, 8));
    a.qp.postSend(a.send(4, WrOpcode.SEND, 8, 8));

    assertThat(Side.poll(b.recvCq, 4))
        .containsExactly(
            new Completion(1, WcStatus.SUCCESS, WcOpcode.RECV, 8, null),
            new Completion(2, WcStatus.SUCCESS, WcOpcode.RECV, 8, null));
    assertThat(Side.poll(a.sendCq, 4))
        .containsExactly(
            new Completion(3, WcStatus.SUCCESS, WcOpcode.SEND, 8, null),
            new Completion(4, WcStatus.SUCCESS, WcOpcode.SEND, 8, null));
    assertThat(b.buffer.getLong(100)).isEqualTo(41);
    assertThat(b.buffer.getLong(200)).isEqualTo(42);
  }

  @Test
  void shouldCarryImmediateData() {
    connect();
    b.qp.postRecv(b.recv(1, 0, 64));
    b.qp.postRecv(b.recv(2, 0, 64));
    final SendRequest send = a.send(3, WrOpcode.SEND_WITH_IMM, 0, 4);
    send.immediate = 0x12345678;
    a.qp.postSend(send);
    final SendRequest write = a.remote(4, WrOpcode.RDMA_WRITE_WITH_IMM, 32, b, 64);
    write.immediate = 0xCAFEBABE;
    a.qp.postSend(write);

    assertThat(Side.poll(b.recvCq, 4))
        .containsExactly(
            new Completion(1, WcStatus.SUCCESS, WcOpcode.RECV, 4, 0x12345678),
            new Completion(2, WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM, 32, 0xCAFEBABE));
    assertThat(Side.poll(a.sendCq, 4)).extracting(Completion::immediate).containsOnlyNulls();
  }

  @Test
  void shouldWriteReadAndDoAtomics() {
    connect();
    a.buffer.putLong(0, 7);
    b.buffer.putLong(512, 30).putLong(520, 5);
    a.qp.postSend(a.remote(1, WrOpcode.RDMA_WRITE, 8, b, 256));
    assertThat(b.buffer.getLong(256)).isEqualTo(7);
    a.qp.postSend(a.remote(2, WrOpcode.RDMA_READ, 8, b, 512));
    assertThat(a.buffer.getLong(0)).isEqualTo(30);
    final SendRequest add = a.remote(3, WrOpcode.ATOMIC_FETCH_AND_ADD, 8, b, 512);
    add.compareAdd = 12;
    a.qp.postSend(add);
    assertThat(a.buffer.getLong(0)).isEqualTo(30);
    assertThat(b.buffer.getLong(512)).isEqualTo(42);
    final SendRequest swap = a.remote(4, WrOpcode.ATOMIC_CMP_AND_SWP, 8, b, 520);
    swap.compareAdd = 5;
    swap.swap = 6;
    a.qp.postSend(swap);
    assertThat(a.buffer.getLong(0)).isEqualTo(5);
    assertThat(b.buffer.getLong(520)).isEqualTo(6);

    assertThat(Side.poll(a.sendCq, 8))
        .extracting(Completion::opcode)
        .containsExactly(
            WcOpcode.RDMA_WRITE, WcOpcode.RDMA_READ, WcOpcode.FETCH_ADD, WcOpcode.COMP_SWAP);
  }

  @Test
  void shouldTakeInlineDataWhenPosting() {
    connect();
    final SendRequest send = a.send(1, WrOpcode.SEND, 0, 8);
    send.inline = true;
    a.buffer.putLong(0, 77);
    assertThat(a.qp.postSend(send)).isZero(); // waits for a receive
    a.buffer.putLong(0, 0);
    b.qp.postRecv(b.recv(2, 0, 8));

    assertThat(b.buffer.getLong(0)).isEqualTo(77);
    assertThat(a.qp.maxInline()).isEqualTo(64);
  }

  @Test
  void shouldRefuseInlineDataThatIsTooLongOrNotInARegion() {
    connect();
    final SendRequest send = a.send(1, WrOpcode.SEND, 0, 65);
    send.inline = true;
    assertThat(a.qp.postSend(send)).isEqualTo(VerbsException.EINVAL);
    send.clearSge();
    send.addSge(a.mr.address() + Side.SIZE - 4, 8, a.mr.lkey());
    assertThat(a.qp.postSend(send)).as("beyond the end").isEqualTo(VerbsException.EINVAL);
    send.clearSge();
    send.addSge(a.mr.address(), 8, a.mr.lkey() + 1);
    assertThat(a.qp.postSend(send)).as("no such key").isEqualTo(VerbsException.EINVAL);
    final MemoryRegion closed = a.device.regMr(a.pd, a.buffer, Set.of());
    send.clearSge();
    send.addSge(closed.address(), 8, closed.lkey());
    closed.close();
    assertThat(a.qp.postSend(send)).as("closed").isEqualTo(VerbsException.EINVAL);
  }

  @Test
  void shouldPostListsAndSayHowManyWerePosted() {
    connect();
    final RecvRequest[] recvs = new RecvRequest[Side.WR + 2];
    for (int i = 0; i < recvs.length; i++) {
      recvs[i] = b.recv(i, 0, 8);
    }
    assertThat(b.qp.postRecvs(recvs, recvs.length)).isEqualTo(Side.WR);
    assertThat(b.qp.postRecv(recvs[Side.WR])).isEqualTo(VerbsException.ENOMEM);
    final SendRequest[] sends = new SendRequest[4];
    for (int i = 0; i < sends.length; i++) {
      sends[i] = a.send(i, WrOpcode.SEND, 0, 8);
    }
    sends[2].addSge(0, 0, 0);
    sends[2].inline = true;
    assertThat(a.qp.postSends(sends, 4)).as("the third is not valid").isEqualTo(2);
    assertThat(a.qp.postSends(sends, 2)).isEqualTo(2);

    assertThat(Side.poll(b.recvCq, 8)).hasSize(4);
  }

  @Test
  void shouldShareReceivesAndTellOfTheLimit() {
    b.close();
    b = new Side(channel);
    b.create(true);
    connect();
    assertThat(b.qp.postRecv(b.recv(1, 0, 8))).isEqualTo(VerbsException.EINVAL);
    assertThat(b.srq.postRecv(b.recv(1, 0, 8))).isZero();
    assertThat(b.srq.postRecv(b.recv(2, 0, 8))).isZero();
    b.srq.armLimit(2);
    a.qp.postSend(a.send(3, WrOpcode.SEND, 0, 8));
    b.await(() -> !b.asyncs.isEmpty());

    assertThat(b.asyncs).containsExactly(new Side.Async(AsyncType.SRQ_LIMIT_REACHED, b.srq));
    assertThat(Side.poll(b.recvCq, 4)).extracting(Completion::wrId).containsExactly(1L);
  }

  @Test
  void shouldResizeASharedQueueAndLoseNothing() {
    b.close();
    b = new Side(channel);
    b.create(true);
    connect();
    assertThat(b.device.capabilities()).contains(Capability.SRQ_RESIZE);
    assertThat(b.srq.postRecv(b.recv(1, 0, 8))).isZero();
    assertThat(b.srq.postRecv(b.recv(2, 0, 8))).isZero();

    b.srq.resize(2);
    assertThat(b.srq.postRecv(b.recv(3, 0, 8))).as("full").isEqualTo(VerbsException.ENOMEM);
    assertThatThrownBy(() -> b.srq.resize(1)).hasMessageContaining("modify_srq");
    b.srq.resize(3);
    assertThat(b.srq.postRecv(b.recv(3, 0, 8))).isZero();
    for (int i = 0; i < 3; i++) {
      a.qp.postSend(a.send(i, WrOpcode.SEND, 0, 8));
    }

    assertThat(Side.poll(b.recvCq, 4)).extracting(Completion::wrId).containsExactly(1L, 2L, 3L);
  }

  @Test
  void shouldOpenAWindowAndCloseIt() {
    connect();
    try (MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1)) {
      final BindRequest bind = new BindRequest();
      bind.wrId = 9;
      bind.window = window;
      bind.region = b.mr;
      bind.address = b.mr.address() + 128;
      bind.length = 8;
      bind.access = EnumSet.of(Access.REMOTE_WRITE);
      final int before = window.rkey();
      assertThat(b.qp.postBind(bind)).isZero();
      assertThat(window.rkey()).isNotEqualTo(before);
      final SendRequest write = a.remote(1, WrOpcode.RDMA_WRITE, 8, b, 128);
      write.rkey = window.rkey();
      a.buffer.putLong(0, 99);
      a.qp.postSend(write);
      assertThat(b.buffer.getLong(128)).isEqualTo(99);
      write.remoteAddress += 8;
      a.qp.postSend(write);

      assertThat(Side.poll(a.sendCq, 4))
          .extracting(Completion::status)
          .containsExactly(WcStatus.SUCCESS, WcStatus.REM_ACCESS_ERR);
      assertThat(Side.poll(b.sendCq, 4))
          .containsExactly(new Completion(9, WcStatus.SUCCESS, WcOpcode.BIND_MW, 0, null));
    }
  }

  private BindRequest bindOf(final MemoryWindow window, final long wrId, final long length) {
    final BindRequest bind = new BindRequest();
    bind.wrId = wrId;
    bind.window = window;
    bind.region = length == 0 ? null : b.mr;
    bind.address = length == 0 ? 0 : b.mr.address() + 128;
    bind.length = length;
    bind.access = EnumSet.of(Access.REMOTE_WRITE);
    bind.fence = true;
    return bind;
  }

  private void writeThrough(final int rkey, final long wrId, final WcStatus expected) {
    final SendRequest write = a.remote(wrId, WrOpcode.RDMA_WRITE, 8, b, 128);
    write.rkey = rkey;
    a.qp.postSend(write);
    assertThat(Side.poll(a.sendCq, 4)).extracting(Completion::status).containsExactly(expected);
  }

  @Test
  void shouldLetAMessageEndAWindowOfTheQueuePair() {
    connect();
    try (MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_2)) {
      assertThat(b.qp.postBind(bindOf(window, 1, 8))).isZero();
      final int first = window.rkey();
      writeThrough(first, 1, WcStatus.SUCCESS);
      assertThat(b.qp.postRecv(b.recv(2, 0, 8))).isZero();
      final SendRequest send = a.send(3, WrOpcode.SEND_WITH_INV, 0, 8);
      send.invalidateRkey = first;
      assertThat(a.qp.postSend(send)).isZero();

      final WorkCompletions receive = new WorkCompletions(4);
      assertThat(b.recvCq.poll(receive, 4)).isEqualTo(1);
      assertThat(receive.opcode(0)).isEqualTo(WcOpcode.RECV);
      assertThat(receive.hasInvalidated(0)).isTrue();
      assertThat(receive.hasImmediate(0)).isFalse();
      assertThat(receive.invalidatedRkey(0)).isEqualTo(first);

      assertThat(b.qp.postBind(bindOf(window, 4, 8))).isZero();
      assertThat(window.rkey()).isNotEqualTo(first);
      assertThat(b.qp.postBind(bindOf(window, 5, 0))).isZero();
      assertThat(Side.poll(b.sendCq, 4))
          .extracting(Completion::opcode)
          .containsExactly(WcOpcode.BIND_MW, WcOpcode.BIND_MW, WcOpcode.BIND_MW);
      assertThat(Side.poll(a.sendCq, 4))
          .extracting(Completion::status)
          .containsExactly(WcStatus.SUCCESS);
      writeThrough(window.rkey(), 6, WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void shouldCloseAWindowOfTheDomainByABindOfNoLength() {
    connect();
    try (MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1)) {
      assertThat(b.qp.postBind(bindOf(window, 1, 8))).isZero();
      writeThrough(window.rkey(), 1, WcStatus.SUCCESS);
      assertThat(b.qp.postBind(bindOf(window, 2, 0))).isZero();
      writeThrough(window.rkey(), 2, WcStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void shouldTellOfErrorsByStatusOnly() {
    connect();
    final SendRequest write = a.remote(1, WrOpcode.RDMA_WRITE, 8, b, Side.SIZE);
    write.signaled = false;
    a.qp.postSend(write);
    a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8));
    b.await(() -> !b.asyncs.isEmpty());

    assertThat(Side.poll(a.sendCq, 4))
        .containsExactly(
            new Completion(1, WcStatus.REM_ACCESS_ERR, null, -1, null),
            new Completion(2, WcStatus.WR_FLUSH_ERR, null, -1, null));
    assertThat(b.asyncs).containsExactly(new Side.Async(AsyncType.QP_ACCESS_ERR, b.qp));
  }

  @Test
  void shouldFlushWhatIsPostedInTheErrorState() {
    b.qp.postRecv(b.recv(1, 0, 8));
    assertThat(b.qp.postSend(b.send(2, WrOpcode.SEND, 0, 8))).isEqualTo(VerbsException.EINVAL);
    b.qp.modifyToError();
    b.qp.modifyToError();
    assertThat(b.qp.postSend(b.send(3, WrOpcode.SEND, 0, 8))).isZero();
    assertThat(b.qp.postRecv(b.recv(4, 0, 8))).isZero();

    assertThat(Side.poll(b.recvCq, 4)).extracting(Completion::wrId).containsExactly(1L, 4L);
    assertThat(Side.poll(b.sendCq, 4))
        .containsExactly(new Completion(3, WcStatus.WR_FLUSH_ERR, null, -1, null));
  }

  @Test
  void shouldDrainAndRearmAsTheTableSays() {
    connect();
    final WorkCompletions batch = new WorkCompletions(4);
    assertThat(b.recvCq.pollAndRearm(batch, 4, ArmKind.NEXT)).isEqualTo(RearmOutcome.NOT_DONE);
    for (int i = 0; i < 5; i++) {
      b.qp.postRecv(b.recv(i, 0, 8));
      a.qp.postSend(a.send(i, WrOpcode.SEND, 0, 8));
    }
    assertThat(b.recvCq.pollAndRearm(batch, 4, ArmKind.NEXT)).isEqualTo(RearmOutcome.SUCCESS);
    assertThat(batch.size()).isEqualTo(4);
    batch.clear();
    assertThat(b.recvCq.pollAndRearm(batch, 4, ArmKind.NEXT)).isEqualTo(RearmOutcome.COMPLETED);
    assertThat(batch.size()).isEqualTo(1);
  }

  @Test
  void shouldKeepCompletionsWhenResized() {
    connect();
    b.qp.postRecv(b.recv(1, 0, 8));
    a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8));
    b.recvCq.resize(100);

    assertThat(b.recvCq.capacity()).isEqualTo(100);
    assertThat(Side.poll(b.recvCq, 4)).hasSize(1);
  }
}
