package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import org.jdapl.rdmacore.Side.Completion;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What goes wrong on a real device is a result, and neither a hang nor a crash. Runs in a guest:
 * {@link VerbsIT}.
 */
@Timeout(120)
class SoftRoce {

  private EventChannel channel;
  private Side a;
  private Side b;

  @BeforeEach
  void open() {
    channel = new RdmaCoreProvider().createEventChannel();
    a = Side.open(channel);
    b = Side.open(channel);
  }

  @AfterEach
  void close() {
    a.close();
    b.close();
    channel.close();
  }

  private void connect() {
    b.listen();
    a.connect(b);
  }

  /** The next completion of a queue. */
  private static Completion next(final Side side, final CompletionQueue cq) {
    final WorkCompletions batch = new WorkCompletions(1);
    side.await(() -> cq.poll(batch, 1) > 0);
    return Side.completions(batch).get(0);
  }

  @Test
  void shouldSendAndReceive() {
    connect();
    a.buffer.putLong(0, 41);
    b.qp.postRecv(b.recv(1, 100, 64));
    a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8));

    assertThat(next(b, b.recvCq).length()).isEqualTo(8);
    assertThat(next(a, a.sendCq).status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(b.buffer.getLong(100)).isEqualTo(41);
  }

  @Test
  void shouldFailWriteWithWrongRkey() {
    connect();
    final SendRequest write = a.remote(1, WrOpcode.RDMA_WRITE, 8, b, 0);
    write.rkey += 0x100;
    a.qp.postSend(write);

    assertThat(next(a, a.sendCq).status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
  }

  @Test
  void shouldFailWriteBeyondRemoteRegion() {
    connect();
    a.qp.postSend(a.remote(1, WrOpcode.RDMA_WRITE, 64, b, Side.SIZE - 8));

    assertThat(next(a, a.sendCq).status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
  }

  @Test
  void shouldFailSendFromBeyondLocalRegion() {
    connect();
    b.qp.postRecv(b.recv(1, 0, 64));
    a.qp.postSend(a.send(2, WrOpcode.SEND, Side.SIZE - 8, 64));

    assertThat(next(a, a.sendCq).status())
        .isIn(WcStatus.LOC_PROT_ERR, WcStatus.LOC_QP_OP_ERR, WcStatus.LOC_LEN_ERR);
  }

  @Test
  void shouldFailSendThatFindsNoReceive() {
    b.listen();
    final CmParameters noRetry = new CmParameters(null, 4, 4, 7, 0);
    a.connect(b, noRetry);
    b.await(() -> !b.requests.isEmpty());
    b.id = b.own(b.requests.remove(0).accept(b.qp, noRetry, b.handler()));
    a.await(() -> a.has(CmEventType.ESTABLISHED));
    a.qp.postSend(a.send(1, WrOpcode.SEND, 0, 8));

    assertThat(next(a, a.sendCq).status()).isEqualTo(WcStatus.RNR_RETRY_EXC_ERR);
  }

  @Test
  void shouldTellOfCompletionQueueThatOverflows() {
    final CompletionQueue small = a.own(a.device.createCq(1, a.notified::add));
    a.qp.close();
    a.qp =
        a.own(
            a.device.createQp(
                new QpAttributes(a.pd, small, a.recvCq, null, Side.WR, Side.WR, 2, 2, 0)));
    connect();
    int posted = 0;
    while (a.asyncs.isEmpty() && posted < 10_000) {
      if (a.qp.postSend(a.remote(posted, WrOpcode.RDMA_WRITE, 8, b, 0)) == 0) {
        posted++;
      }
      channel.await(1_000_000);
    }

    assertThat(a.asyncs).extracting(Side.Async::type).contains(AsyncType.CQ_ERR);
  }

  @ParameterizedTest
  @EnumSource(MwType.class)
  void shouldOpenWindowOrSayThatThereIsNone(final MwType type) {
    connect();
    final MemoryWindow window;
    try {
      window = a.own(a.device.allocMw(a.pd, type));
    } catch (final VerbsException e) {
      assertThat(e.errno()).isEqualTo(VerbsException.EOPNOTSUPP);
      return;
    }
    final BindRequest bind = new BindRequest();
    bind.wrId = 9;
    bind.window = window;
    bind.region = a.mr;
    bind.address = a.mr.address();
    bind.length = 8;
    bind.access = EnumSet.of(Access.REMOTE_WRITE);
    assertThat(a.qp.postBind(bind)).isZero();

    assertThat(next(a, a.sendCq).status()).isEqualTo(WcStatus.SUCCESS);
  }

  @Test
  void shouldResizeCompletionQueueOrSayThatItCannot() {
    try {
      a.recvCq.resize(100);
    } catch (final VerbsException e) {
      assertThat(List.of(VerbsException.EOPNOTSUPP)).contains(e.errno());
      return;
    }
    assertThat(a.recvCq.capacity()).isGreaterThanOrEqualTo(100);
  }
}
