package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

class EventChannelTest extends Bed {

  private static final long FOR_EVER = TimeUnit.DAYS.toNanos(1);

  @Test
  void required_P05_callsHandlersInAwaitOnly() {
    connect();
    final Thread[] told = new Thread[1];
    final var cq = b.own(b.device.createCq(4, queue -> told[0] = Thread.currentThread()));
    cq.arm(ArmKind.NEXT);
    final var qp = b.own(b.device.createQp(new QpAttributes(b.pd, cq, cq, null, 1, 1, 1, 1, 0)));
    qp.modifyToError();
    qp.postRecv(new RecvRequest(1));
    assertThat(told[0]).isNull();
    b.await(() -> told[0] != null);

    assertThat(told[0]).isSameAs(Thread.currentThread());
  }

  @Test
  void required_P05_hasNoThreadOfItsOwn() {
    connect();

    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.contains("rdma") || name.contains("jdapl"));
  }

  @Test
  void required_P05_wakesUpFromAnyThread() throws Exception {
    final CompletableFuture<Integer> awaited =
        CompletableFuture.supplyAsync(() -> channel.await(FOR_EVER), Bed::start);
    channel.wakeup();

    assertThat(awaited.get(1, TimeUnit.MINUTES)).isZero();
  }

  @Test
  void shouldRememberAWakeUp() {
    channel.wakeup();
    channel.wakeup();
    channel.await(FOR_EVER);

    assertThat(channel.await(TimeUnit.MILLISECONDS.toNanos(1))).as("the time is over").isZero();
  }

  @Test
  void shouldNotifyOncePerArm() {
    connect();
    b.recvCq.arm(ArmKind.NEXT);
    for (int i = 0; i < 3; i++) {
      b.qp.postRecv(b.recv(i, 0, 8));
      a.qp.postSend(a.send(i, WrOpcode.SEND, 0, 8));
    }
    b.await(() -> !b.notified.isEmpty());
    channel.await(0);

    assertThat(b.notified).containsExactly(b.recvCq);
  }

  @Test
  void shouldNotNotifyOfAQueueThatIsClosed() {
    connect();
    b.recvCq.arm(ArmKind.NEXT);
    b.qp.postRecv(b.recv(1, 0, 8));
    a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8));
    b.qp.close();
    b.recvCq.close();
    channel.await(0);

    assertThat(b.notified).isEmpty();
  }

  @Test
  void required_T07_eachCloseOfAConnectionWaitsForItsHandler() throws Exception {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    final CmId id =
        a.device.connect(
            a.qp,
            a.device.address(),
            1,
            Side.PARAMETERS,
            (of, type, status, data) -> {
              inside.countDown();
              join(release);
            });
    final CompletableFuture<Void> awaiting =
        CompletableFuture.runAsync(() -> awaitUntil(inside), Bed::start);
    inside.await();
    final List<CompletableFuture<Long>> closes = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      final BlockingQueue<Thread> closer = new LinkedBlockingQueue<>();
      closes.add(
          CompletableFuture.supplyAsync(
              () -> {
                closer.add(Thread.currentThread());
                id.close();
                return release.getCount();
              },
              Bed::start));
      final Thread thread = closer.take();
      while (thread.getState() == Thread.State.RUNNABLE) {
        Thread.onSpinWait();
      }
    }
    release.countDown();

    for (final CompletableFuture<Long> close : closes) {
      assertThat(close.get()).as("handlers that ran when the close returned").isZero();
    }
    awaiting.get();
  }

  private void awaitUntil(final CountDownLatch opened) {
    while (opened.getCount() > 0) {
      channel.await(FOR_EVER);
    }
  }

  private static void join(final CountDownLatch latch) {
    try {
      latch.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void required_T08_isAcknowledgedWhenTheHandlerOfAQueueThrows() {
    connect();
    final CompletionQueue throwing =
        b.own(
            b.device.createCq(
                4,
                queue -> {
                  throw new IllegalStateException("planted");
                }));
    final QueuePair qp =
        b.own(b.device.createQp(new QpAttributes(b.pd, throwing, throwing, null, 1, 1, 1, 1, 0)));
    throwing.arm(ArmKind.NEXT);
    b.recvCq.arm(ArmKind.NEXT);
    qp.modifyToError();
    qp.postRecv(new RecvRequest(1));
    b.qp.postRecv(b.recv(1, 0, 8));
    a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8));

    assertThatThrownBy(() -> channel.await(0)).hasMessage("planted");
    assertThat(Fake.live()).doesNotContain(" event,");
    assertThat(b.notified).as("the other queue's event came with it").containsExactly(b.recvCq);
  }

  @Test
  void required_T08_destroysAQueueFromTheHandlerOfAnother() {
    connect();
    final CompletionQueue[] pair = new CompletionQueue[2];
    final QueuePair[] qps = new QueuePair[2];
    final List<CompletionQueue> notified = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      pair[i] =
          b.own(
              b.device.createCq(
                  4,
                  queue -> {
                    final int other = queue == pair[0] ? 1 : 0;
                    notified.add(queue);
                    qps[other].close();
                    pair[other].close(); // its event was read, and is not to be handed over
                  }));
      qps[i] =
          b.own(b.device.createQp(new QpAttributes(b.pd, pair[i], pair[i], null, 1, 1, 1, 1, 0)));
      pair[i].arm(ArmKind.NEXT);
      qps[i].modifyToError();
      qps[i].postRecv(new RecvRequest(1));
    }
    channel.await(0);

    assertThat(notified).containsExactly(pair[0]);
    assertThat(Fake.live()).doesNotContain(" event,");
  }

  @Test
  void shouldRefuseASecondWaiterAndACloseMeanwhile() throws Exception {
    final EventChannel other = new RdmaCoreProvider().createEventChannel();
    final CompletableFuture<Void> awaited =
        CompletableFuture.runAsync(
            () -> {
              while (isRefused(other, FOR_EVER)) {
                Thread.onSpinWait();
              }
            },
            Bed::start);
    while (!isRefused(other, 0)) {
      Thread.onSpinWait();
    }
    assertThatThrownBy(other::close).hasMessageContaining("a thread awaits in it");
    other.wakeup();
    awaited.get(1, TimeUnit.MINUTES);
    other.close();
  }

  private static boolean isRefused(final EventChannel channel, final long timeoutNanos) {
    try {
      channel.await(timeoutNanos);
      return false;
    } catch (final VerbsException e) {
      return e.getMessage().contains("another thread awaits here");
    }
  }

  @Test
  void shouldSayThatItIsClosed() {
    final EventChannel other = new RdmaCoreProvider().createEventChannel();
    other.close();
    other.close();
    other.wakeup();

    assertThatThrownBy(() -> other.await(0)).hasMessageContaining("the channel is closed");
    assertThatThrownBy(() -> new RdmaCoreProvider().open("", other))
        .isInstanceOf(VerbsException.class);
  }

  @Test
  void required_N05_adaptersOfADeviceShareItAndEachGetsItsEvents() {
    connect();
    final EventChannel other = new RdmaCoreProvider().createEventChannel();
    try (Side c = Side.open(other)) {
      assertThat(((RdmaDevice) c.device).context()).isEqualTo(((RdmaDevice) a.device).context());
      Fake.raiseQp(c.qp.number(), 1);
      channel.await(0); // reads the event of another channel's adapter, and passes it on
      assertThat(c.asyncs).isEmpty();
      other.await(FOR_EVER);
      assertThat(c.asyncs).containsExactly(new Side.Async(AsyncType.QP_FATAL, c.qp));
      assertThat(a.asyncs).isEmpty();
      Fake.raiseDevice(10, 1);
      other.await(FOR_EVER);
      other.await(0);
      a.await(() -> !a.asyncs.isEmpty() && !b.asyncs.isEmpty());
      assertThat(c.asyncs).contains(new Side.Async(AsyncType.PORT_ERR, c.device));
      Fake.raiseDevice(10, 2); // not its port
    }
    other.close();
    channel.await(0);
    assertThat(a.asyncs).hasSize(1);
  }

  @Test
  void required_N06_asksForNeitherForkSupportNorModeration() {
    connect();

    assertThat(Fake.called()).doesNotContain("ibv_fork_init", "ibv_modify_cq");
    assertThat(Fake.violations()).isEmpty();
  }
}
