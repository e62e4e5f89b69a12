package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.rdmacore.Side.CmEvent;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConnectionManagerTest extends Bed {

  private static final int INVALID_SERVICE = 8;
  private static final int VENDOR_OPTION = 35;

  private static CmParameters saying(final String text) {
    return new CmParameters(bytes(text), 4, 4, 7, 7);
  }

  private static ByteBuffer bytes(final String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  private CmRequest request(final String text) {
    a.connect(b, saying(text));
    b.await(() -> !b.requests.isEmpty());
    return b.requests.remove(0);
  }

  @Test
  void shouldCarryPrivateDataBothWays() {
    b.listen();
    final CmRequest request = request("hello");
    assertThat(new String(Side.text(request.privateData()))).startsWith("hello");
    assertThat(request.remoteAddress()).isEqualTo(a.device.address());
    b.id = b.own(request.accept(b.qp, saying("welcome"), b.handler()));
    a.await(() -> b.has(CmEventType.ESTABLISHED));

    assertThat(a.events).containsExactly(new CmEvent(CmEventType.ESTABLISHED, 0, "welcome"));
    assertThat(b.events).containsExactly(new CmEvent(CmEventType.ESTABLISHED, 0, ""));
  }

  /** The connection manager would give the queue pair other values, some of them the peer's. */
  @Test
  void shouldGiveTheQueuePairItsOwnRetriesTimersAndTheReadsThatWereNegotiated() {
    b.listen();
    a.connect(b, new CmParameters(bytes(""), 3, 9, 6, 2, 14, 20));
    b.await(() -> !b.requests.isEmpty());
    assertThat(List.of(a.id.readsIn(), a.id.readsOut())).as("asked for").containsExactly(3, 9);
    b.id =
        b.own(
            b.requests
                .remove(0)
                .accept(b.qp, new CmParameters(bytes(""), 2, 99, 7, 7, 31, 0), b.handler()));
    a.await(() -> a.has(CmEventType.ESTABLISHED) && b.has(CmEventType.ESTABLISHED));

    assertThat(List.of(a.id.readsIn(), a.id.readsOut())).containsExactly(3, 2);
    assertThat(List.of(b.id.readsIn(), b.id.readsOut())).containsExactly(2, 3);
    assertThat(Fake.attributes(a.qp.number())).containsExactly(14, 6, 2, 20, 2, 3);
    assertThat(Fake.attributes(b.qp.number())).containsExactly(31, 7, 7, 0, 3, 2);
  }

  @Test
  void shouldTakeTheTimeoutOfThePathAndItsOwnTimerWhereNoneAreGiven() {
    connect();

    assertThat(Fake.attributes(a.qp.number())).containsExactly(19, 7, 7, 12, 4, 4);
    assertThat(Fake.attributes(b.qp.number())).containsExactly(19, 7, 7, 12, 4, 4);
  }

  @Test
  void shouldTellTheConsumersRejectFromAnother() {
    b.listen();
    request("one").reject(CmHandler.CONSUMER_REJECT, bytes("no"));
    a.await(() -> !a.events.isEmpty());
    request("two").reject(1, bytes("not sent"));
    a.await(() -> a.events.size() == 2);

    assertThat(a.events)
        .containsExactly(
            new CmEvent(CmEventType.REJECTED, CmHandler.CONSUMER_REJECT, "no"),
            new CmEvent(CmEventType.REJECTED, VENDOR_OPTION, ""));
  }

  @Test
  void shouldRefuseWhenTheBacklogIsFull() {
    b.listener = b.own(b.device.listen(0, 1, b.requests::add));
    final CmRequest first = request("one");
    final Side c = Side.open(channel);
    try (c) {
      c.connect(b, saying("two"));
      c.await(() -> !c.events.isEmpty());
      assertThat(c.events).containsExactly(new CmEvent(CmEventType.REJECTED, VENDOR_OPTION, ""));
      first.reject(CmHandler.CONSUMER_REJECT, null);
      c.connect(b, saying("three"));
      c.await(() -> !b.requests.isEmpty());
    }
    assertThat(b.requests).hasSize(1);
  }

  @Test
  void shouldEndEveryAttemptWithOneEvent() throws Exception {
    a.own(a.connect(InetAddress.getByName("198.51.100.1"), 1, Side.PARAMETERS));
    a.await(() -> a.events.size() == 1);
    a.own(a.connect(InetAddress.getByName("198.51.100.2"), 1, Side.PARAMETERS));
    a.await(() -> a.events.size() == 2);
    a.own(a.connect(InetAddress.getByName("198.51.100.3"), 1, Side.PARAMETERS));
    a.await(() -> a.events.size() == 3);
    a.own(a.connect(a.device.address(), 65535, Side.PARAMETERS));
    a.await(() -> a.events.size() == 4);

    assertThat(a.events)
        .containsExactly(
            new CmEvent(CmEventType.ADDR_ERROR, 113, ""),
            new CmEvent(CmEventType.ROUTE_ERROR, VerbsException.ETIMEDOUT, ""),
            new CmEvent(CmEventType.UNREACHABLE, VerbsException.ETIMEDOUT, ""),
            new CmEvent(CmEventType.REJECTED, INVALID_SERVICE, ""));
  }

  @Test
  void shouldDisconnectBothSides() {
    connect();
    b.qp.postRecv(b.recv(1, 0, 8));
    a.id.disconnect();
    a.id.disconnect();
    a.await(() -> a.has(CmEventType.TIMEWAIT_EXIT) && b.has(CmEventType.DISCONNECTED));

    assertThat(a.events)
        .extracting(CmEvent::type)
        .containsExactly(
            CmEventType.ESTABLISHED, CmEventType.DISCONNECTED, CmEventType.TIMEWAIT_EXIT);
    assertThat(Side.poll(b.recvCq, 4))
        .extracting(Side.Completion::status)
        .containsExactly(WcStatus.WR_FLUSH_ERR);
    assertThat(a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8))).isZero();
    assertThat(Side.poll(a.sendCq, 4))
        .extracting(Side.Completion::status)
        .containsExactly(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void shouldDisconnectAlsoBeforeItIsEstablished() {
    b.listen();
    b.id = b.own(request("hello").accept(b.qp, Side.PARAMETERS, b.handler()));
    b.id.disconnect();
    a.await(() -> a.has(CmEventType.DISCONNECTED) && b.has(CmEventType.DISCONNECTED));

    assertThat(b.events).extracting(CmEvent::type).doesNotContain(CmEventType.ESTABLISHED);
  }

  @Test
  void shouldNotCallBackAnAttemptByADisconnect() {
    b.listen();
    a.connect(b, Side.PARAMETERS);
    a.id.disconnect(); // it resolves
    b.await(() -> !b.requests.isEmpty());
    a.id.disconnect(); // the peer was asked
    b.accept();
    a.await(() -> b.has(CmEventType.ESTABLISHED));

    assertThat(a.events).containsExactly(new CmEvent(CmEventType.ESTABLISHED, 0, ""));
  }

  @Test
  void shouldEndAnAcceptedIdWithItsDevice() throws Exception {
    final Side c = Side.open(channel);
    try (c) {
      c.listen();
      a.connect(c);
      c.qp.close();
      c.sendCq.close();
      c.recvCq.close();
      c.mr.close();
      c.pd.close();
      c.device.close();
      c.id.close();
      a.await(() -> a.has(CmEventType.DISCONNECTED));
    }
  }

  @Test
  void shouldCreateNoIdForAListenerThatItsDeviceEnded() {
    final RdmaListener ended = new RdmaListener((RdmaDevice) b.device, 0, 1, b.requests::add);
    ended.end();

    assertThatThrownBy(ended::listen)
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("the device is closed");
  }

  @Test
  void shouldCreateNoIdForAConnectionThatItsDeviceEnded() {
    final RdmaDevice device = (RdmaDevice) a.device;
    final RdmaCmId ended = new RdmaCmId(device, (RdmaQp) a.qp, Side.PARAMETERS, a.handler());
    ended.end();

    assertThatThrownBy(() -> ended.connect(device.address(), 1, new byte[0]))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("the device is closed");
  }

  @Test
  void shouldFailAQueuePairThatBecameReadyToReceiveOnly() {
    b.listen();
    final CmRequest request = request("hello");
    Fake.failAt(6, VerbsException.ENOMEM); // the attributes of INIT, RTR and RTS, and each move
    assertThatThrownBy(() -> request.accept(b.qp, Side.PARAMETERS, b.handler()))
        .isInstanceOf(VerbsException.class);
    assertThat(Fake.failed()).isEqualTo("ibv_modify_qp");
    Fake.failAt(0, 0);

    assertThat(b.qp.postSend(b.send(1, WrOpcode.SEND, 0, 8))).isZero();
    assertThat(Side.poll(b.sendCq, 1))
        .extracting(Side.Completion::status)
        .containsExactly(WcStatus.WR_FLUSH_ERR);
    request.reject(CmHandler.CONSUMER_REJECT, null);
  }

  @Test
  void shouldTellThePeerWhenAnIdIsClosed() {
    connect();
    a.qp.close();
    a.id.close();
    b.await(() -> b.has(CmEventType.DISCONNECTED));
  }

  @Test
  void shouldRejectForTheActiveSideThatWasClosedMeanwhile() {
    b.listen();
    final CmRequest request = request("hello");
    a.qp.modifyToError();
    b.id = b.own(request.accept(b.qp, Side.PARAMETERS, b.handler()));
    a.await(() -> a.has(CmEventType.CONNECT_ERROR) && b.has(CmEventType.REJECTED));
  }

  @Test
  void shouldTellWhoAcceptsThatThePeerIsGone() {
    b.listen();
    final CmRequest request = request("hello");
    a.id.close();
    b.id = b.own(request.accept(b.qp, Side.PARAMETERS, b.handler()));
    b.await(() -> b.has(CmEventType.UNREACHABLE));
  }

  /** As soon as the kernel has heard of it, it refuses with EINVAL, and tells nothing later. */
  @ParameterizedTest
  @ValueSource(strings = {"rdma_init_qp_attr", "rdma_accept"})
  void required_C02_tellsWhoAcceptsThatThePeerHasGone(final String refused) {
    b.listen();
    final CmRequest request = request("hello");
    Fake.failNext(refused, VerbsException.EINVAL);
    b.id = b.own(request.accept(b.qp, Side.PARAMETERS, b.handler()));

    assertThat(b.events).as("told on the thread that awaits").isEmpty();
    b.await(() -> !b.events.isEmpty());
    assertThat(b.events)
        .containsExactly(new CmEvent(CmEventType.CONNECT_ERROR, VerbsException.ENOTCONN, ""));
    b.qp.postRecv(b.recv(1, 0, 8));
    assertThat(Side.poll(b.recvCq, 1))
        .as("of a queue pair in the error state")
        .extracting(Side.Completion::status)
        .containsExactly(WcStatus.WR_FLUSH_ERR);
  }

  @Test
  void shouldTellNothingOfAPeerThatHadGoneOnceTheIdIsClosed() {
    b.listen();
    final CmRequest request = request("hello");
    Fake.failNext("rdma_accept", VerbsException.EINVAL);
    final CmId id = request.accept(b.qp, Side.PARAMETERS, b.handler());
    id.close();
    channel.await(0);

    assertThat(b.events).isEmpty();
  }

  @Test
  void shouldAnswerARequestOnce() {
    b.listen();
    final CmRequest request = request("hello");
    b.id = b.own(request.accept(b.qp, Side.PARAMETERS, b.handler()));

    assertThatThrownBy(() -> request.accept(b.qp, Side.PARAMETERS, b.handler()))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("answered already");
    assertThatThrownBy(() -> request.reject(CmHandler.CONSUMER_REJECT, null))
        .isInstanceOf(VerbsException.class);
  }

  @Test
  void shouldRefuseAServiceThatIsInUseOrIsNoPort() {
    b.listen();
    assertThatThrownBy(() -> a.device.listen(b.listener.service(), 1, a.requests::add))
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EADDRINUSE));
    assertThatThrownBy(() -> a.device.listen(65536, 1, a.requests::add))
        .hasMessageContaining("service 65536; expected 0 to 65535");
    assertThatThrownBy(() -> a.connect(a.device.address(), 0, Side.PARAMETERS))
        .hasMessageContaining("service 0; expected 1 to 65535");
  }

  @Test
  void shouldRefuseTooMuchPrivateData() {
    final CmParameters parameters = new CmParameters(ByteBuffer.allocate(57), 1, 1, 7, 7);
    assertThatThrownBy(() -> a.connect(a.device.address(), 1, parameters))
        .hasMessageContaining("57 bytes of private data; expected <= 56");
  }

  @Test
  void shouldNotConnectAQueuePairTwice() {
    connect();
    assertThatThrownBy(() -> a.connect(b.device.address(), 1, Side.PARAMETERS))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining("expected INIT, not connected");
  }

  @Test
  void shouldDropRequestsThatNobodyListensFor() {
    b.listen();
    a.connect(b, Side.PARAMETERS);
    // Two steps of the active side, so that the request is under way.
    channel.await(0);
    channel.await(0);
    b.listener.close();
    a.await(() -> a.has(CmEventType.REJECTED));

    assertThat(b.requests).isEmpty();
  }

  @Test
  void shouldRefuseARequestThatIsReadWhileItsDeviceCloses() throws Exception {
    final Device c = new RdmaCoreProvider().open("address=" + Side.ADDRESS, channel);
    final CmListener first = c.listen(0, 1, b.requests::add);
    final CmListener second = c.listen(0, 1, b.requests::add);
    a.own(a.connect(c.address(), second.service(), Side.PARAMETERS));
    channel.await(0);
    channel.await(0); // the request is under way
    Fake.pauseAfter("rdma_destroy_id"); // of the first listener
    final CompletableFuture<Void> closed = CompletableFuture.runAsync(c::close, Bed::start);
    Fake.awaitPause();
    channel.await(0);
    Fake.resume();
    closed.get();
    a.await(() -> !a.events.isEmpty());

    assertThat(a.events).containsExactly(new CmEvent(CmEventType.REJECTED, VENDOR_OPTION, ""));
    assertThat(b.requests).isEmpty();
    first.close();
  }

  @Test
  void shouldRefuseARequestWhoseListenerIsClosedWhileItIsRead() throws Exception {
    b.listen();
    a.connect(b, Side.PARAMETERS);
    channel.await(0);
    channel.await(0);
    Fake.pauseAfter("rdma_ack_cm_event"); // of the request
    final CompletableFuture<Integer> awaited =
        CompletableFuture.supplyAsync(() -> channel.await(0), Bed::start);
    Fake.awaitPause();
    b.listener.close();
    Fake.resume();
    awaited.get();
    a.await(() -> !a.events.isEmpty());

    assertThat(a.events).containsExactly(new CmEvent(CmEventType.REJECTED, VENDOR_OPTION, ""));
    assertThat(b.requests).isEmpty();
  }

  @Test
  void shouldNotSayThatTheConsumerRejectsWhenTheDeviceCloses() {
    final Device c = new RdmaCoreProvider().open("address=" + Side.ADDRESS, channel);
    final CmListener door = c.listen(0, 1, b.requests::add);
    a.own(a.connect(c.address(), door.service(), Side.PARAMETERS));
    a.await(() -> !b.requests.isEmpty());
    c.close();
    a.await(() -> !a.events.isEmpty());

    assertThat(a.events).containsExactly(new CmEvent(CmEventType.REJECTED, VENDOR_OPTION, ""));
  }

  @Test
  void shouldLeakNothingWhenADeviceClosesWhileItConnects() throws Exception {
    b.listen();
    for (int round = 0; round < 50; round++) {
      final Side c = Side.open(channel);
      final CountDownLatch begun = new CountDownLatch(1);
      final CompletableFuture<Void> connects =
          CompletableFuture.runAsync(
              () -> {
                begun.countDown();
                try {
                  while (true) {
                    c.connect(b.device.address(), b.listener.service(), Side.PARAMETERS);
                    c.qp.modifyToError(); // an exception, if it is closed
                  }
                } catch (final VerbsException e) {
                  // closed, or in the error state
                }
              },
              Bed::start);
      begun.await();
      c.close();
      connects.get();
    }
  }

  @Test
  void shouldLeakNothingWhenADeviceClosesWhileItAccepts() throws Exception {
    for (int round = 0; round < 64; round++) {
      final Side c = Side.open(channel);
      final Side d = Side.open(channel);
      c.listener = c.own(c.device.listen(0, 2, request -> accept(request, c)));
      d.connect(c, Side.PARAMETERS);
      final AtomicInteger steps = new AtomicInteger();
      final AtomicBoolean isOver = new AtomicBoolean();
      final CompletableFuture<Void> awaits =
          CompletableFuture.runAsync(
              () -> {
                while (!isOver.get()) {
                  channel.await(0);
                  steps.incrementAndGet();
                }
              },
              Bed::start);
      while (steps.get() < round % 8) {
        Thread.onSpinWait();
      }
      c.close();
      d.close();
      isOver.set(true);
      awaits.get();
    }
  }

  private static void accept(final CmRequest request, final Side by) {
    try {
      request.accept(by.qp, Side.PARAMETERS, (id, type, status, data) -> {});
    } catch (final VerbsException e) {
      // the queue pair, or the device, is closed
    }
  }

  @Test
  void shouldNotCloseAnIdInItsOwnHandler() {
    b.listen();
    final Throwable[] thrown = new Throwable[1];
    final CmId[] id = new CmId[1];
    id[0] =
        a.own(
            a.device.connect(
                a.qp,
                b.device.address(),
                b.listener.service(),
                Side.PARAMETERS,
                (of, type, status, data) -> {
                  try {
                    of.close();
                  } catch (final VerbsException e) {
                    thrown[0] = e;
                  }
                }));
    b.await(() -> !b.requests.isEmpty());
    b.requests.remove(0).reject(CmHandler.CONSUMER_REJECT, null);
    a.await(() -> thrown[0] != null);

    assertThat(thrown[0]).hasMessageContaining("called inside its own handler");
  }

  @Test
  void required_T08_isAcknowledgedWhenTheHandlerThrows() {
    b.listen();
    a.own(
        a.device.connect(
            a.qp,
            b.device.address(),
            b.listener.service(),
            Side.PARAMETERS,
            (of, type, status, data) -> {
              throw new IllegalStateException("planted");
            }));
    b.await(() -> !b.requests.isEmpty());
    b.requests.remove(0).reject(CmHandler.CONSUMER_REJECT, null);

    assertThatThrownBy(() -> a.await(() -> false)).hasMessage("planted");
    assertThat(Fake.live()).doesNotContain(" event,");
  }

  @Test
  void required_T08_closesFromAHandlerOfAnotherObject() {
    connect();
    final CmListener extra = b.device.listen(0, 1, b.requests::add);
    b.device.onAsync(
        (type, element) -> {
          extra.close();
          b.id.close(); // events of both may wait, read but not handed over
          b.asyncs.add(new Side.Async(type, element));
        });
    a.id.disconnect();
    Fake.raiseQp(b.qp.number(), 4);
    b.await(() -> !b.asyncs.isEmpty());

    assertThat(Fake.live()).doesNotContain(" event,");
  }

  @Test
  void required_T09_idsOwnNoQueuePair() {
    connect();
    a.qp.close(); // the queue pair first
    b.id.disconnect(); // leads to an event that would touch it
    b.await(() -> b.has(CmEventType.DISCONNECTED));
    a.id.close();

    assertThatThrownBy(() -> b.sendCq.close()).hasMessageContaining("1 objects use it");
    assertThatThrownBy(() -> b.device.close()).hasMessageContaining("1 queue pairs left");
    assertThatThrownBy(() -> channel.close()).hasMessageContaining("2 open devices");
  }

  @Test
  void shouldTellOfARemovedDeviceOnce() {
    connect();
    Fake.removeDevice();
    a.await(
        () ->
            a.has(CmEventType.DEVICE_REMOVAL)
                && b.has(CmEventType.DEVICE_REMOVAL)
                && !b.asyncs.isEmpty());
    Fake.raiseDevice(8, 0);
    channel.await(0);
    channel.await(0);

    assertThat(a.asyncs).containsExactly(new Side.Async(AsyncType.DEVICE_FATAL, a.device));
    assertThat(b.asyncs).containsExactly(new Side.Async(AsyncType.DEVICE_FATAL, b.device));
  }
}
