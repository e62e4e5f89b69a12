package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WindowTest {

  private static final Set<Access> BOTH = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE);
  private static final int START = 128;
  private static final int LENGTH = 64;

  private final SimFabric fabric = SimFabric.virtual(12).keepTrace();
  private Side a;
  private Side b;

  @BeforeEach
  void connect() {
    a = new Side(fabric);
    b = new Side(fabric);
    a.connect(b);
  }

  private BindRequest request(final MemoryWindow window, final MemoryRegion region) {
    final BindRequest bind = new BindRequest();
    bind.wrId = 9;
    bind.window = window;
    bind.region = region;
    bind.address = region.address() + START;
    bind.length = LENGTH;
    bind.access = BOTH;
    return bind;
  }

  private void bind(final MemoryWindow window) {
    bind(request(window, b.mr), WcStatus.SUCCESS);
  }

  private void bind(final BindRequest bind, final WcStatus expected) {
    assertThat(b.qp.postBind(bind)).isZero();
    final Side.Completion done = b.nextSend();
    assertThat(done.status()).as("%s", fabric.trace()).isEqualTo(expected);
    assertThat(done.wrId()).isEqualTo(bind.wrId);
    if (expected == WcStatus.SUCCESS) {
      assertThat(done.opcode()).isEqualTo(WcOpcode.BIND_MW);
    }
  }

  private void unbind(final MemoryWindow window) {
    final BindRequest bind = new BindRequest();
    bind.window = window;
    bind(bind, WcStatus.SUCCESS);
  }

  private WcStatus write(final int rkey, final int offset) {
    final SendRequest write = a.remote(WrOpcode.RDMA_WRITE, 1, 0, 8, b, offset);
    write.rkey = rkey;
    a.post(write);
    return a.nextSend().status();
  }

  private void isRefused(final int rkey, final int offset) {
    assertThat(write(rkey, offset)).as("%s", fabric.trace()).isEqualTo(WcStatus.REM_ACCESS_ERR);
    b.settle();
    assertThat(b.asyncs).contains(AsyncType.QP_ACCESS_ERR);
  }

  private WcStatus invalidate(final int rkey) {
    b.postRecv(5, 0, 64);
    final SendRequest send = a.request(WrOpcode.SEND_WITH_INV, 6, 0, 8);
    send.invalidateRkey = rkey;
    a.post(send);
    return a.nextSend().status();
  }

  @ParameterizedTest
  @EnumSource(MwType.class)
  void shouldOpenItsPartOfARegionAndNoMore(final MwType type) {
    final MemoryWindow window = b.device.allocMw(b.pd, type);
    bind(window);

    assertThat(write(window.rkey(), START)).isEqualTo(WcStatus.SUCCESS);
    assertThat(write(window.rkey(), START + LENGTH - 8)).isEqualTo(WcStatus.SUCCESS);
    isRefused(window.rkey(), START + LENGTH - 7);
  }

  @ParameterizedTest
  @EnumSource(MwType.class)
  void shouldHaveADeadKeyBeforeABindAndAfterItsEnd(final MwType type) {
    final MemoryWindow window = b.device.allocMw(b.pd, type);
    final int unbound = window.rkey();
    bind(window);
    assertThat(window.rkey()).isNotEqualTo(unbound);
    unbind(window);

    isRefused(window.rkey(), START);
  }

  @ParameterizedTest
  @EnumSource(MwType.class)
  void shouldHaveADeadKeyWhenItIsClosed(final MwType type) {
    final MemoryWindow window = b.device.allocMw(b.pd, type);
    bind(window);
    window.close();
    window.close();

    isRefused(window.rkey(), START);
  }

  @Test
  void shouldChangeItsKeyWithEachBind() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1);
    bind(window);
    final int first = window.rkey();
    bind(window);

    assertThat(write(window.rkey(), START)).isEqualTo(WcStatus.SUCCESS);
    isRefused(first, START);
  }

  @Test
  void shouldKeepItsOldKeyUntilTheNextBindIsCarriedOut() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1);
    bind(window);
    final int first = window.rkey();
    a.qp.modifyToError();
    b.qp.modifyToError();
    assertThat(b.qp.postBind(request(window, b.mr))).isZero();
    assertThat(b.nextSend().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    a.id.close();
    b.id.close();
    final Side peer = a;
    peer.qp = peer.createQp(null);
    b.qp = b.createQp(null);
    peer.events.clear();
    b.events.clear();
    peer.connect(b);

    assertThat(write(first, START)).isEqualTo(WcStatus.SUCCESS);
  }

  @Test
  void shouldGiveTheRightsOfTheBindOnly() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1);
    final BindRequest bind = request(window, b.mr);
    bind.access = Set.of(Access.REMOTE_READ);
    bind(bind, WcStatus.SUCCESS);

    isRefused(window.rkey(), START);
  }

  @Test
  void shouldEndAWindowOfType2ByAMessage() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_2);
    bind(window);
    final int rkey = window.rkey();
    assertThat(invalidate(rkey)).isEqualTo(WcStatus.SUCCESS);

    final WorkCompletions receive = new WorkCompletions(1);
    b.until(() -> b.recvCq.poll(receive, 1) == 1);
    assertThat(receive.opcode(0)).isEqualTo(WcOpcode.RECV);
    assertThat(receive.hasInvalidated(0)).isTrue();
    assertThat(receive.invalidatedRkey(0)).isEqualTo(rkey);
    assertThat(receive.hasImmediate(0)).isFalse();
    bind(window);
    assertThat(write(window.rkey(), START)).isEqualTo(WcStatus.SUCCESS);
    isRefused(rkey, START);
  }

  @Test
  void shouldEndNoWindowOfType1ByAMessage() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1);
    bind(window);

    assertThat(invalidate(window.rkey())).isEqualTo(WcStatus.REM_ACCESS_ERR);
    assertThat(b.nextReceive().status()).isEqualTo(WcStatus.LOC_ACCESS_ERR);
  }

  @Test
  void shouldFailToBindAWindowOfType2ThatIsBound() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_2);
    bind(window);

    bind(request(window, b.mr), WcStatus.MW_BIND_ERR);
    assertThat(b.qp.postBind(request(window, b.mr))).isZero();
    assertThat(b.nextSend().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void shouldFailToBindWhatTheRegionOrTheDomainForbids() {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(256);
    final MemoryRegion closedToWindows =
        b.device.regMr(b.pd, buffer, EnumSet.complementOf(EnumSet.of(Access.MW_BIND)));
    bind(request(b.device.allocMw(b.pd, MwType.TYPE_1), closedToWindows), WcStatus.MW_BIND_ERR);

    connect();
    final MemoryRegion readOnly = b.device.regMr(b.pd, buffer, EnumSet.of(Access.MW_BIND));
    bind(request(b.device.allocMw(b.pd, MwType.TYPE_1), readOnly), WcStatus.MW_BIND_ERR);

    connect();
    bind(request(b.device.allocMw(b.device.allocPd(), MwType.TYPE_1), b.mr), WcStatus.MW_BIND_ERR);
  }

  @Test
  void shouldRefuseWhatIsOfAnotherDeviceOrClosed() {
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_1);
    assertThat(a.qp.postBind(request(window, a.mr))).isEqualTo(VerbsException.EINVAL);
    assertThat(b.qp.postBind(request(window, a.mr))).isEqualTo(VerbsException.EINVAL);
    window.close();
    assertThat(b.qp.postBind(request(window, b.mr))).isEqualTo(VerbsException.EINVAL);
  }

  @Test
  void shouldKeepARegionOpenWhileAWindowIsBoundToIt() {
    final MemoryRegion region =
        b.device.regMr(b.pd, ByteBuffer.allocateDirect(256), EnumSet.allOf(Access.class));
    final MemoryWindow window = b.device.allocMw(b.pd, MwType.TYPE_2);
    bind(request(window, region), WcStatus.SUCCESS);

    assertThatThrownBy(region::close)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EBUSY));
    unbind(window);
    region.close();
  }
}
