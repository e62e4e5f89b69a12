package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ProtectionTest {

  private static final Set<Access> ALL = EnumSet.allOf(Access.class);

  private final SimFabric fabric = SimFabric.virtual(11).keepTrace();
  private Side a;
  private Side b;

  @BeforeEach
  void connect() {
    a = new Side(fabric);
    b = new Side(fabric);
    a.connect(b);
  }

  private MemoryRegion region(final Side side, final Set<Access> access) {
    return side.device.regMr(side.pd, ByteBuffer.allocateDirect(64), access);
  }

  private MemoryRegion otherPd(final Side side) {
    return side.device.regMr(side.device.allocPd(), ByteBuffer.allocateDirect(64), ALL);
  }

  private static MemoryRegion closed(final MemoryRegion region) {
    region.close();
    return region;
  }

  private SendRequest send(final long address, final int length, final int lkey) {
    final SendRequest send = new SendRequest(1);
    send.addSge(address, length, lkey);
    return send;
  }

  private void shouldFailLocally(final SendRequest send) {
    b.postRecv(1, 0, 64);
    a.post(send);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    a.settle();
    assertThat(b.receives()).isEmpty();
    assertThat(a.qp.postSend(send)).isZero();
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void shouldFailAtTheSenderWhenTheKeyIsWrong() {
    shouldFailLocally(send(a.mr.address(), 8, a.mr.lkey() + 1));
  }

  @Test
  void shouldFailAtTheSenderWhenTheRemoteKeyIsUsedAsLocal() {
    shouldFailLocally(send(a.mr.address(), 8, a.mr.rkey()));
  }

  @Test
  void shouldFailAtTheSenderWhenTheRangeEndsOutside() {
    shouldFailLocally(send(a.mr.address() + Side.BYTES - 7, 8, a.mr.lkey()));
  }

  @Test
  void shouldFailAtTheSenderWhenTheRangeBeginsOutside() {
    shouldFailLocally(send(a.mr.address() - 1, 8, a.mr.lkey()));
  }

  @Test
  void shouldFailAtTheSenderWhenTheDomainDiffers() {
    final MemoryRegion other = otherPd(a);
    shouldFailLocally(send(other.address(), 8, other.lkey()));
  }

  @Test
  void shouldFailAtTheSenderWhenTheRegionIsClosed() {
    final MemoryRegion gone = closed(region(a, ALL));
    shouldFailLocally(send(gone.address(), 8, gone.lkey()));
  }

  @Test
  void shouldFailAtTheReaderWhenTheTargetIsNotWritable() {
    final MemoryRegion readOnly = region(a, Set.of());
    final SendRequest read = send(readOnly.address(), 8, readOnly.lkey());
    read.opcode = WrOpcode.RDMA_READ;
    read.remoteAddress = b.mr.address();
    read.rkey = b.mr.rkey();
    shouldFailLocally(read);
  }

  private void shouldFailAtTheReceiver(final long address, final int lkey) {
    final RecvRequest receive = new RecvRequest(1);
    receive.wrId = 5;
    receive.addSge(address, 64, lkey);
    assertThat(b.qp.postRecv(receive)).isZero();
    b.postRecv(6, 0, 64);
    a.postSend(1, 0, 8);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.REM_OP_ERR);
    a.settle();
    assertThat(b.receives())
        .extracting(Side.Completion::wrId, Side.Completion::status)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple(5L, WcStatus.LOC_PROT_ERR),
            org.assertj.core.groups.Tuple.tuple(6L, WcStatus.WR_FLUSH_ERR));
  }

  @Test
  void shouldFailAtTheReceiverWhenItsKeyIsWrong() {
    shouldFailAtTheReceiver(b.mr.address(), b.mr.lkey() ^ 1);
  }

  @Test
  void shouldFailAtTheReceiverWhenItsRegionIsNotWritable() {
    final MemoryRegion readOnly = region(b, Set.of());
    shouldFailAtTheReceiver(readOnly.address(), readOnly.lkey());
  }

  @Test
  void shouldFailAtTheReceiverWhenItsDomainDiffers() {
    final MemoryRegion other = otherPd(b);
    shouldFailAtTheReceiver(other.address(), other.lkey());
  }

  @Test
  void shouldFailAtBothWhenTheMessageIsTooLong() {
    b.postRecv(5, 0, 63);
    a.postSend(1, 0, 64);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.REM_INV_REQ_ERR);
    assertThat(b.nextReceive().status()).isEqualTo(WcStatus.LOC_LEN_ERR);
    a.settle();
    assertThat(b.qp.postSend(b.request(WrOpcode.SEND, 9, 0, 8))).isZero();
    assertThat(b.nextSend().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  private void shouldBeRefused(final WrOpcode opcode, final long address, final int rkey) {
    final byte[] before = b.bytes(0, Side.BYTES);
    final SendRequest request = a.request(opcode, 1, 0, 8);
    request.remoteAddress = address;
    request.rkey = rkey;
    a.fill(0, 8, 77);
    a.post(request);
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
    a.settle();
    assertThat(b.asyncs).containsExactly(AsyncType.QP_ACCESS_ERR);
    assertThat(b.asyncElements).containsExactly(b.qp);
    assertThat(b.bytes(0, Side.BYTES)).isEqualTo(before);
    assertThat(b.qp.postSend(b.request(WrOpcode.SEND, 9, 0, 8))).isZero();
    assertThat(b.nextSend().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA_WRITE", "RDMA_READ", "ATOMIC_FETCH_AND_ADD", "ATOMIC_CMP_AND_SWP"})
  void shouldRefuseThePeerWhenTheKeyIsWrong(final WrOpcode opcode) {
    shouldBeRefused(opcode, b.mr.address(), b.mr.rkey() + 1);
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA_WRITE", "RDMA_READ", "ATOMIC_FETCH_AND_ADD", "ATOMIC_CMP_AND_SWP"})
  void shouldRefuseThePeerWhenTheRangeIsOutside(final WrOpcode opcode) {
    shouldBeRefused(opcode, b.mr.address() + Side.BYTES, b.mr.rkey());
  }

  @ParameterizedTest
  @EnumSource(names = {"RDMA_WRITE", "RDMA_READ", "ATOMIC_FETCH_AND_ADD", "ATOMIC_CMP_AND_SWP"})
  void shouldRefuseThePeerWhenTheRightIsMissing(final WrOpcode opcode) {
    final EnumSet<Access> others = EnumSet.allOf(Access.class);
    switch (opcode) {
      case RDMA_WRITE -> others.remove(Access.REMOTE_WRITE);
      case RDMA_READ -> others.remove(Access.REMOTE_READ);
      default -> others.remove(Access.REMOTE_ATOMIC);
    }
    final MemoryRegion region = region(b, others);
    shouldBeRefused(opcode, region.address(), region.rkey());
  }

  @Test
  void shouldRefuseThePeerWhenTheDomainDiffers() {
    final MemoryRegion other = otherPd(b);
    shouldBeRefused(WrOpcode.RDMA_WRITE, other.address(), other.rkey());
  }

  @Test
  void shouldRefuseThePeerWhenTheRegionIsClosed() {
    final MemoryRegion gone = closed(region(b, ALL));
    shouldBeRefused(WrOpcode.RDMA_WRITE, gone.address(), gone.rkey());
  }

  @Test
  void shouldRefuseTheAtomicWhenItIsNotAligned() {
    a.post(a.remote(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, 0, 8, b, 4));
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.REM_INV_REQ_ERR);
    a.settle();
    assertThat(b.asyncs).containsExactly(AsyncType.QP_REQ_ERR);
  }

  private void shouldNotRegister(final ByteBuffer buffer, final Access... access) {
    assertThatThrownBy(() -> a.device.regMr(a.pd, buffer, Set.of(access)))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EINVAL));
  }

  @Test
  void shouldNotRegisterWhenTheBufferIsUnfit() {
    shouldNotRegister(ByteBuffer.allocate(8));
    shouldNotRegister(ByteBuffer.allocateDirect(8).asReadOnlyBuffer(), Access.LOCAL_WRITE);
    shouldNotRegister(ByteBuffer.allocateDirect(8), Access.REMOTE_WRITE);
    assertThatThrownBy(() -> a.device.regMr(b.pd, ByteBuffer.allocateDirect(8), Set.of()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("sim1/pd");
  }

  @Test
  void shouldGiveEachRegionItsOwnKeysWhenManyAreRegistered() {
    final Consumer<MemoryRegion> sendFrom =
        region -> {
          b.postRecv(1, 0, 64);
          a.post(send(region.address(), 8, region.lkey()));
          assertThat(a.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
          assertThat(b.nextReceive().status()).isEqualTo(WcStatus.SUCCESS);
        };
    for (int i = 0; i < 200; i++) {
      final MemoryRegion region = region(a, ALL);
      sendFrom.accept(region);
      if (i % 3 == 0) {
        region.close();
      }
    }
    sendFrom.accept(a.mr);
  }
}
