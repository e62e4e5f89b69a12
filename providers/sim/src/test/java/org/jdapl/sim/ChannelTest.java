package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChannelTest {

  private static final SimModel MODEL = SimModel.DEFAULT.withDelivery(Delivery.CHANNEL);
  private static final long LONG = TimeUnit.SECONDS.toNanos(20);

  private final SimFabric real = SimFabric.realTime();

  @AfterEach
  void close() {
    real.close();
  }

  @Test
  void shouldDeliverEverythingInsideAwaitOnly() {
    final SimFabric fabric = SimFabric.virtual(61).keepTrace();
    final EventChannel channel = fabric.provider(MODEL).createEventChannel();
    final Side a = new Side(fabric);
    final Side b = new Side(fabric, MODEL, channel, 8);
    final CmListener listener =
        b.device.listen(7, 1, request -> b.id = request.accept(b.qp, Side.PARAMETERS, b::onCm));
    a.id = a.device.connect(a.qp, b.device.address(), 7, Side.PARAMETERS, a::onCm);
    a.settle();
    assertThat(b.id).isNull();
    assertThat(channel.await(0)).isEqualTo(1);
    assertThat(b.id).isNotNull();
    b.postRecv(1, 0, 8);
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    a.settle();
    a.postSend(1, 0, 8);
    a.settle();
    assertThat(b.events).isEmpty();
    assertThat(b.recvNotifications).hasValue(0);
    assertThat(channel.await(Long.MAX_VALUE)).as("virtual time does not block").isEqualTo(2);
    assertThat(b.events).containsExactly(CmEventType.ESTABLISHED);
    assertThat(b.recvNotifications).hasValue(1);
    a.post(a.remote(org.jdapl.verbs.WrOpcode.RDMA_WRITE, 2, 0, 8, b, Side.BYTES));
    a.settle();
    assertThat(b.asyncs).isEmpty();
    assertThat(channel.await(0)).isEqualTo(1);
    assertThat(b.asyncs).containsExactly(AsyncType.QP_ACCESS_ERR);
    assertThat(channel.await(0)).isZero();
    listener.close();
    assertThatThrownBy(channel::close).isInstanceOf(VerbsException.class);
    b.close();
    channel.close();
  }

  @Test
  void shouldReturnWhenWokenBeforeOrDuring() throws InterruptedException {
    final EventChannel channel = real.provider(MODEL).createEventChannel();
    channel.wakeup();
    channel.wakeup();
    assertThat(channel.await(LONG)).isZero();
    final Thread waker = new Thread(channel::wakeup);
    waker.start();
    assertThat(channel.await(LONG)).isZero();
    waker.join();
    assertThat(channel.await(1)).as("wake-ups do not add up").isZero();
    channel.close();
    channel.wakeup();
  }

  @Test
  void shouldCallHandlersOnTheAwaitingThreadWhenInRealTime() {
    final EventChannel channel = real.provider(MODEL).createEventChannel();
    final Side a = new Side(real);
    final Side b = new Side(real, MODEL, channel, 8);
    final Thread[] caller = new Thread[1];
    final CmListener listener =
        b.device.listen(
            7,
            1,
            request -> {
              caller[0] = Thread.currentThread();
              b.id = request.accept(b.qp, Side.PARAMETERS, b::onCm);
            });
    a.id = a.device.connect(a.qp, b.device.address(), 7, Side.PARAMETERS, a::onCm);
    b.postRecv(1, 0, 8);
    assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
    while (b.events.isEmpty()) {
      channel.await(LONG);
    }
    a.until(() -> !a.events.isEmpty());
    a.postSend(1, 0, 8);
    while (b.recvNotifications.get() == 0) {
      channel.await(LONG);
    }
    assertThat(caller[0]).isSameAs(Thread.currentThread());
    listener.close();
    a.close();
    b.close();
    channel.close();
  }

  @Test
  void shouldRefuseToOpenWhenTheChannelIsWrong() {
    final VerbsProvider pushes = real.provider(SimModel.DEFAULT);
    final VerbsProvider channels = real.provider(MODEL);
    assertThatThrownBy(pushes::createEventChannel).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> channels.open("", null)).isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> pushes.open("", channels.createEventChannel()))
        .isInstanceOf(VerbsException.class);
    assertThatThrownBy(() -> pushes.open("delivery=channel", null))
        .hasMessageContaining("delivery cannot be chosen here");
  }
}
