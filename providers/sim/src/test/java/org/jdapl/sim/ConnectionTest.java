package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionTest {

  private static final long SERVICE = 4711;

  private SimFabric fabric = SimFabric.virtual(41).keepTrace();
  private Side a = new Side(fabric);
  private Side b = new Side(fabric);
  private final List<CmRequest> requests = new ArrayList<>();

  private void restart(final long seed, final SimModel model) {
    fabric = SimFabric.virtual(seed).keepTrace();
    a = new Side(fabric, model);
    b = new Side(fabric, model);
  }

  private CmId connect(final String data) {
    return a.device.connect(
        a.qp, b.device.address(), SERVICE, Side.parameters(data, 1, 1), a::onCm);
  }

  private CmRequest request() {
    a.until(() -> !requests.isEmpty());
    return requests.get(0);
  }

  @Test
  void shouldCarryPrivateDataBothWaysWhenAccepted() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    final CmId id = connect("hello");
    final CmRequest request = request();
    assertThat(StandardCharsets.UTF_8.decode(request.privateData()).toString()).isEqualTo("hello");
    assertThat(request.remoteAddress()).isEqualTo(a.device.address());
    assertThat(a.events).isEmpty();
    final CmId other = request.accept(b.qp, Side.parameters("welcome", 1, 1), b::onCm);
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.ESTABLISHED);
    assertThat(a.privateData).containsExactly("welcome");
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED);
    assertThat(a.id).isSameAs(id);
    assertThat(b.id).isSameAs(other);
    listener.close();
  }

  @Test
  void shouldNegotiateReadsDownWhenAccepted() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    final CmId id =
        a.device.connect(
            a.qp, b.device.address(), SERVICE, new CmParameters(null, 3, 99, 7, 7), a::onCm);
    final CmRequest request = request();
    assertThat(id.readsIn()).as("asked for").isEqualTo(3);
    assertThat(id.readsOut()).as("of the device").isEqualTo(16);

    final CmId other = request.accept(b.qp, new CmParameters(null, 2, 5, 7, 7), b::onCm);

    assertThat(List.of(other.readsIn(), other.readsOut())).containsExactly(2, 3);
    a.settle();
    assertThat(List.of(id.readsIn(), id.readsOut())).containsExactly(3, 2);
    id.close();
    assertThat(List.of(id.readsIn(), id.readsOut())).as("closed").containsExactly(3, 2);
    listener.close();
  }

  @Test
  void shouldSayRejectedByTheConsumerWhenRejected() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    connect("hello");
    request()
        .reject(CmHandler.CONSUMER_REJECT, ByteBuffer.wrap("no".getBytes(StandardCharsets.UTF_8)));
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.REJECTED);
    assertThat(a.statuses).containsExactly(CmHandler.CONSUMER_REJECT);
    assertThat(a.privateData).containsExactly("no");
    assertThatThrownBy(() -> request().accept(b.qp, Side.PARAMETERS, b::onCm))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("answered already");
    requests.clear();
    connect("the queue pair may be used again");
    request().accept(b.qp, Side.PARAMETERS, b::onCm);
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.REJECTED, CmEventType.ESTABLISHED);
    listener.close();
  }

  @Test
  void shouldSayRejectedByNobodyWhenNobodyListens() {
    connect("");
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.REJECTED);
    assertThat(a.statuses.get(0)).isNotZero().isNotEqualTo(CmHandler.CONSUMER_REJECT);
  }

  @Test
  void shouldSayUnreachableWhenTheAddressIsUnknown() throws UnknownHostException {
    a.device.connect(
        a.qp,
        InetAddress.getByAddress(new byte[] {10, 0, 0, 1}),
        SERVICE,
        Side.PARAMETERS,
        a::onCm);
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.UNREACHABLE);
    assertThat(a.statuses).containsExactly(VerbsException.ETIMEDOUT);
  }

  @Test
  void shouldRefuseWhenTheBacklogIsFull() {
    final CmListener listener = b.device.listen(SERVICE, 2, requests::add);
    final Side[] sides = new Side[4];
    for (int i = 0; i < 3; i++) {
      final Side side = new Side(fabric);
      sides[i] = side;
      side.device.connect(side.qp, b.device.address(), SERVICE, Side.PARAMETERS, side::onCm);
      a.settle();
    }
    assertThat(requests).hasSize(2);
    assertThat(sides[2].events).containsExactly(CmEventType.REJECTED);
    assertThat(sides[2].statuses.get(0)).isNotEqualTo(CmHandler.CONSUMER_REJECT);
    requests.get(0).reject(CmHandler.CONSUMER_REJECT, null);
    connect("");
    a.settle();
    assertThat(requests).as("an answer makes room").hasSize(3);
    listener.close();
  }

  @Test
  void shouldMakeRoomInTheBacklogWhenTheInitiatorIsGone() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    final CmId id = connect("");
    request();
    id.close();
    a.settle();
    final Side c = new Side(fabric);
    c.device.connect(c.qp, b.device.address(), SERVICE, Side.PARAMETERS, c::onCm);
    a.settle();
    assertThat(requests).hasSize(2);
    requests.get(0).accept(b.qp, Side.PARAMETERS, b::onCm);
    a.settle();
    assertThat(b.events).containsExactly(CmEventType.REJECTED);
    assertThat(a.events).isEmpty();
    listener.close();
  }

  @Test
  void shouldRejectWhatWaitsWhenTheListenerOrItsDeviceCloses() {
    final CmListener listener = b.device.listen(SERVICE, 4, requests::add);
    connect("");
    request();
    listener.close();
    a.settle();
    assertThat(a.events).as("a delivered request stays valid").isEmpty();
    b.qp.close();
    b.sendCq.close();
    b.recvCq.close();
    b.mr.close();
    b.pd.close();
    b.device.close();
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.REJECTED);
    connect("");
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.REJECTED, CmEventType.REJECTED);
  }

  @Test
  void shouldRefuseToListenWhenTheServiceIsTaken() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    assertThatThrownBy(() -> a.device.listen(SERVICE, 1, requests::add))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EADDRINUSE));
    final CmListener one = a.device.listen(0, 1, requests::add);
    final CmListener two = a.device.listen(0, 1, requests::add);
    assertThat(one.service()).isNotEqualTo(two.service()).isPositive();
    listener.close();
    a.device.listen(SERVICE, 1, requests::add).close();
    one.close();
    two.close();
  }

  @Test
  void shouldRefuseTooMuchPrivateDataBeforeAnythingIsSent() {
    assertThatThrownBy(() -> connect("x".repeat(a.device.limits().connectPrivateData() + 1)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("57 bytes");
    connect("x".repeat(a.device.limits().connectPrivateData()));
  }

  @Test
  void shouldSayConnectErrorWhenTheQueuePairBrokeMeanwhile() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    connect("");
    request().accept(b.qp, Side.PARAMETERS, b::onCm);
    a.qp.modifyToError();
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.CONNECT_ERROR);
    assertThat(b.events).containsExactly(CmEventType.REJECTED);
    listener.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldDisconnectBothOnceWhenBothDoAtOnce(final long seed) {
    restart(seed, SimModel.DEFAULT);
    a.connect(b);
    a.postRecv(1, 0, 8);
    b.postRecv(1, 0, 8);
    a.id.disconnect();
    if (seed % 2 == 0) {
      b.id.disconnect();
      b.id.disconnect();
    }
    a.settle();
    a.id.disconnect();
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.ESTABLISHED, CmEventType.DISCONNECTED);
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED, CmEventType.DISCONNECTED);
    assertThat(Side.statuses(a.receives())).containsExactly(WcStatus.WR_FLUSH_ERR);
    assertThat(Side.statuses(b.receives())).containsExactly(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void shouldNotCallBackAnAttemptByADisconnect() {
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    final CmId id = connect("");
    id.disconnect(); // the request is under way
    final CmRequest request = request();
    id.disconnect(); // it has arrived
    request.accept(b.qp, Side.PARAMETERS, b::onCm);
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.ESTABLISHED);
    listener.close();
  }

  @Test
  void shouldDisconnectThePeerWhenTheIdIsClosed() {
    a.connect(b);
    a.id.close();
    a.settle();
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED, CmEventType.DISCONNECTED);
    assertThat(a.events).containsExactly(CmEventType.ESTABLISHED);
  }

  @Test
  void shouldDisconnectThePeerWhenTheDeviceIsClosed() {
    a.connect(b);
    a.qp.close();
    a.sendCq.close();
    a.recvCq.close();
    a.mr.close();
    a.pd.close();
    a.device.close();
    a.settle();
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED, CmEventType.DISCONNECTED);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void shouldEndOnBothSidesWhenThePassiveSideDisconnectsAtAnyMoment(final long seed) {
    restart(seed, SimModel.DEFAULT);
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    connect("");
    final CmId passive = request().accept(b.qp, Side.PARAMETERS, b::onCm);
    a.pass(5_000 * seed);
    passive.disconnect();
    a.settle();
    assertThat(a.events).containsExactly(CmEventType.ESTABLISHED, CmEventType.DISCONNECTED);
    assertThat(b.events).endsWith(CmEventType.DISCONNECTED).doesNotHaveDuplicates();
    listener.close();
  }

  private void accept() {
    restart(3, SimModel.DEFAULT.withLatency(100, 200).withCmLatency(50_000, 50_000));
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    connect("");
    b.postRecv(1, 0, 8);
    b.id = request().accept(b.qp, Side.PARAMETERS, b::onCm);
    listener.close();
    a.until(() -> !a.events.isEmpty());
    a.postSend(1, 0, 8);
    assertThat(b.nextReceive().status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(b.events).as("the receive came first").isEmpty();
  }

  @Test
  void shouldSayCommEstOnceWhenAMessageComesBeforeEstablished() {
    accept();
    b.postRecv(2, 0, 8);
    a.postSend(2, 0, 8);
    a.settle();
    assertThat(b.asyncs).containsExactly(AsyncType.COMM_EST);
    assertThat(b.asyncElements).containsExactly(b.qp);
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED);
  }

  @Test
  void shouldSayEstablishedAtOnceWhenTold() {
    accept();
    final long now = fabric.now();
    b.id.notifyEstablished();
    a.until(() -> !b.events.isEmpty());
    assertThat(fabric.now()).as("no message of the peer is awaited").isLessThanOrEqualTo(now + 200);
    a.settle();
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED);
  }

  @Test
  void shouldDeliverWhatThePassiveSideSentBeforeTheActiveSideStands() {
    restart(4, SimModel.DEFAULT.withLatency(1, 2).withCmLatency(900_000, 900_000));
    final CmListener listener = b.device.listen(SERVICE, 1, requests::add);
    a.postRecv(1, 0, 8);
    connect("");
    request().accept(b.qp, Side.parameters("", 0, 0), b::onCm);
    b.postSend(1, 0, 8);
    assertThat(b.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
    listener.close();
  }

  @Test
  void shouldDeliverNothingWhenClosed() {
    a.connect(b);
    b.id.disconnect();
    final AtomicReference<VerbsException> inside = new AtomicReference<>();
    a.settle();
    final int before = a.events.size();
    a.id.close();
    b.id.close();
    a.settle();
    assertThat(a.events).hasSize(before);
    final Side c = new Side(fabric);
    final CmId id =
        c.device.connect(
            c.qp,
            c.device.address(),
            SERVICE,
            Side.PARAMETERS,
            (self, type, status, data) -> {
              try {
                self.close();
              } catch (final VerbsException e) {
                inside.set(e);
              }
            });
    c.settle();
    assertThat(inside.get()).hasMessageContaining("inside its own handler");
    id.close();
  }
}
