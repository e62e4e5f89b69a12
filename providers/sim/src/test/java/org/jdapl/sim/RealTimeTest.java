package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RealTimeTest {

  private final SimFabric fabric = SimFabric.realTime();

  @AfterEach
  void close() {
    fabric.close();
  }

  private void transfer(final SimModel model, final int messages) {
    final Side a = new Side(fabric, model);
    final Side b = new Side(fabric, model);
    a.connect(b);
    long sent = 0;
    long completed = 0;
    long received = 0;
    long provided = 0;
    while (received < messages || completed < messages) {
      while (provided < messages && b.qp.postRecv(b.recv(provided, 0, 64)) == 0) {
        provided++;
      }
      while (sent < messages && a.qp.postSend(a.request(WrOpcode.SEND, sent, 0, 64)) == 0) {
        sent++;
      }
      for (final Side.Completion send : a.sends()) {
        assertThat(send.status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(send.wrId()).isEqualTo(completed++);
      }
      for (final Side.Completion receive : b.receives()) {
        assertThat(receive.wrId()).isEqualTo(received++);
      }
    }
    a.id.disconnect();
    a.until(
        () ->
            a.events.contains(CmEventType.DISCONNECTED)
                && b.events.contains(CmEventType.DISCONNECTED));
    a.close();
    b.close();
  }

  @Test
  void required_S02_messagesArriveInOrderOnThreads() {
    transfer(SimModel.DEFAULT, 20_000);
  }

  @Test
  void shouldTransferInOrderWhenMessagesTakeTime() {
    transfer(SimModel.DEFAULT.withLatency(0, 20_000).withCmLatency(0, 20_000), 500);
  }

  @Test
  void shouldWakeTheWireWhenItParked() {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric);
    a.connect(b);
    for (int i = 0; i < 2_000; i++) {
      b.postRecv(i, 0, 8);
      a.postSend(i, 0, 8);
      assertThat(b.nextReceive().wrId()).isEqualTo(i);
      assertThat(a.nextSend().wrId()).isEqualTo(i);
      if (i % 100 == 0) {
        final long since = System.nanoTime();
        a.until(() -> System.nanoTime() - since > 100_000); // longer than it spins
      }
    }
  }

  @Test
  void shouldRunNotificationsAtOnceWhenConcurrent() throws InterruptedException {
    final Side a =
        new Side(
            fabric,
            SimModel.DEFAULT
                .withConcurrency(NotificationConcurrency.CONCURRENT)
                .withSecondArm(SecondArm.COUNTED));
    final CyclicBarrier both = new CyclicBarrier(2);
    final CountDownLatch met = new CountDownLatch(2);
    final CompletionQueue cq =
        a.device.createCq(
            8,
            self -> {
              try {
                both.await(20, TimeUnit.SECONDS);
                met.countDown();
              } catch (final Exception e) {
                throw new IllegalStateException(e);
              }
            });
    a.qp.close();
    a.qp = a.device.createQp(new QpAttributes(a.pd, a.sendCq, cq, null, 4, 4, 4, 4, 0));
    assertThat(cq.arm(ArmKind.NEXT)).isZero();
    assertThat(cq.arm(ArmKind.NEXT)).isZero();
    a.postRecv(1, 0, 8);
    a.postRecv(2, 0, 8);
    a.qp.modifyToError();
    assertThat(met.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(fabric.lastHandlerFailure()).isNull();
  }

  @Test
  void shouldWaitForTheRunningNotificationWhenClosed() throws InterruptedException {
    final Side a = new Side(fabric);
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch go = new CountDownLatch(1);
    final AtomicBoolean returned = new AtomicBoolean();
    final CompletionQueue cq =
        a.device.createCq(
            8,
            self -> {
              inside.countDown();
              try {
                go.await();
              } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
              }
              returned.set(true);
            });
    a.qp.close();
    a.qp = a.device.createQp(new QpAttributes(a.pd, a.sendCq, cq, null, 4, 4, 4, 4, 0));
    assertThat(cq.arm(ArmKind.NEXT)).isZero();
    a.postRecv(1, 0, 8);
    a.qp.modifyToError();
    inside.await();
    a.qp.close();
    final AtomicBoolean sawReturned = new AtomicBoolean();
    final Thread closer =
        new Thread(
            () -> {
              cq.close();
              sawReturned.set(returned.get());
            });
    closer.start();
    a.until(() -> closer.getState() == Thread.State.WAITING);
    go.countDown();
    closer.join();
    assertThat(sawReturned).isTrue();
  }

  @Test
  void shouldGoOnWhenAHandlerThrows() {
    final Side a = new Side(fabric);
    final AtomicInteger calls = new AtomicInteger();
    final CompletionQueue cq =
        a.device.createCq(
            8,
            self -> {
              calls.incrementAndGet();
              throw new IllegalStateException("planted");
            });
    a.qp.close();
    a.qp = a.device.createQp(new QpAttributes(a.pd, a.sendCq, cq, null, 4, 4, 4, 4, 0));
    a.qp.modifyToError();
    for (int i = 1; i <= 3; i++) {
      final int expected = i;
      a.until(() -> fabric.handlerFailures() == expected - 1);
      assertThat(cq.arm(ArmKind.NEXT)).isBetween(0, 1);
      a.postRecv(i, 0, 8);
      a.until(() -> calls.get() == expected);
    }
    a.until(() -> fabric.handlerFailures() == 3);
    assertThat(fabric.lastHandlerFailure()).hasMessage("planted");
  }

  @Test
  void required_S01_aTaskThatThrowsEndsNothingElse() throws InterruptedException {
    final AtomicReference<Throwable> reported = new AtomicReference<>();
    final CountDownLatch installed = new CountDownLatch(1);
    fabric.later(
        0,
        () -> {
          Thread.currentThread().setUncaughtExceptionHandler((on, e) -> reported.set(e));
          installed.countDown();
        });
    assertThat(installed.await(20, TimeUnit.SECONDS)).isTrue();
    fabric.later(
        0,
        () -> {
          throw new IllegalStateException("planted");
        });
    transfer(SimModel.DEFAULT, 100);
    assertThat(reported.get()).hasMessage("planted");
  }

  /** Memory of an arena, a type that came with Java 22. */
  private record Foreign(AutoCloseable arena, ByteBuffer buffer) {

    static Foreign of(final String kind) throws ReflectiveOperationException {
      final Class<?> arenas = Class.forName("java.lang.foreign.Arena");
      final Object arena = arenas.getMethod(kind).invoke(null);
      final Object segment =
          arenas
              .getMethod("allocate", long.class, long.class)
              .invoke(arena, (long) Side.BYTES, (long) Long.BYTES);
      final Class<?> segments = Class.forName("java.lang.foreign.MemorySegment");
      final Object buffer = segments.getMethod("asByteBuffer").invoke(segment);
      return new Foreign((AutoCloseable) arena, (ByteBuffer) buffer);
    }

    MemoryRegion register(final Side side) {
      return side.device.regMr(side.pd, buffer, EnumSet.allOf(Access.class));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ofConfined", "ofShared"})
  @EnabledForJreRange(minVersion = 22)
  void required_P04_memoryOutOfReachFailsItsRequestAndNobodyElses(final String kind)
      throws Exception {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric);
    a.connect(b);
    final Foreign memory = Foreign.of(kind);
    final MemoryRegion region = memory.register(a);
    final SendRequest request = new SendRequest(1);
    request.addSge(region.address(), 8, region.lkey());
    if (kind.equals("ofShared")) { // the other is this thread's, and not the wire's
      memory.arena.close();
      request.inline = true;
      assertThat(a.qp.postSend(request)).isEqualTo(VerbsException.EINVAL);
      request.inline = false;
    }
    b.postRecv(1, 0, 8);
    assertThat(a.qp.postSend(request)).isZero();
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.LOC_PROT_ERR);
    transfer(SimModel.DEFAULT, 100);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @EnabledForJreRange(minVersion = 22)
  void required_P04_memoryOfThePeerOutOfReachIsNoAccess(final boolean isWindow) throws Exception {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric);
    a.connect(b);
    final Foreign memory = Foreign.of("ofShared");
    final MemoryRegion region = memory.register(b);
    final BindRequest bind = new BindRequest();
    bind.window = b.device.allocMw(b.pd, MwType.TYPE_1);
    bind.region = region;
    bind.address = region.address();
    bind.length = Side.BYTES;
    bind.access = EnumSet.of(Access.REMOTE_WRITE);
    assertThat(b.qp.postBind(bind)).isZero();
    assertThat(b.nextSend().status()).isEqualTo(WcStatus.SUCCESS);
    memory.arena.close();
    final SendRequest request = a.request(WrOpcode.RDMA_WRITE, 1, 0, 8);
    request.remoteAddress = region.address();
    request.rkey = isWindow ? bind.window.rkey() : region.rkey();
    assertThat(a.qp.postSend(request)).isZero();
    assertThat(a.nextSend().status()).isEqualTo(WcStatus.REM_ACCESS_ERR);
    transfer(SimModel.DEFAULT, 100);
  }

  @Test
  void shouldLoseNoWakeupWhenArmingRacesCompletions() throws InterruptedException {
    final Side a = new Side(fabric);
    final Side b = new Side(fabric, SimModel.DEFAULT.withHint(SimModel.Hint.NONE));
    a.connect(b);
    final int messages = 20_000;
    final Thread sender =
        new Thread(
            () -> {
              for (long sent = 0, done = 0; done < messages; done += a.sends().size()) {
                while (sent < messages
                    && a.qp.postSend(a.request(WrOpcode.SEND, sent, 0, 8)) == 0) {
                  sent++;
                }
              }
            });
    long received = 0;
    long provided = 0;
    while (provided < Side.WR && b.qp.postRecv(b.recv(provided, 0, 8)) == 0) {
      provided++;
    }
    sender.start();
    while (received < messages) {
      final int before = b.recvNotifications.get();
      int found = b.receives().size();
      if (found == 0) {
        assertThat(b.recvCq.arm(ArmKind.NEXT)).isZero();
        found = b.receives().size(); // the look after the arm
        if (found == 0) {
          b.until(() -> b.recvNotifications.get() != before);
        }
      }
      received += found;
      for (; provided < received + Side.WR && provided < messages; provided++) {
        if (b.qp.postRecv(b.recv(provided, 0, 8)) != 0) {
          break;
        }
      }
    }
    sender.join();
  }

  /** Posts on both queues until told to stop, and polls all of it back. */
  private static final class Poster extends Thread {
    private final Side side;
    private final AtomicBoolean stop;
    private boolean sends;
    long posted;
    long polled;

    Poster(final Side side, final AtomicBoolean stop) {
      this.side = side;
      this.stop = stop;
      setDaemon(true);
    }

    @Override
    public void run() {
      while (!stop.get()) {
        post();
        poll();
      }
      while (polled < posted) {
        poll();
      }
    }

    private void post() {
      // By turns, for a flush helps both queues out.
      final int errno =
          sends
              ? side.qp.postSend(side.request(WrOpcode.SEND, posted, 8, 8))
              : side.qp.postRecv(side.recv(posted, 0, 8));
      sends = !sends;
      posted += errno == 0 ? 1 : 0;
    }

    private void poll() {
      polled += side.sends().size() + side.receives().size();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void shouldCompleteEachRequestOnceWhenDisconnectedInTheMiddle(final boolean insideVerbs)
      throws InterruptedException {
    final SimModel model = SimModel.DEFAULT.withNotifiesInsideVerbs(insideVerbs);
    final Side a = new Side(fabric, model);
    final Side b = new Side(fabric, model);
    for (int round = 0; round < 500; round++) {
      a.events.clear();
      b.events.clear();
      a.connect(b);
      final AtomicBoolean stop = new AtomicBoolean();
      final Poster one = new Poster(a, stop);
      final Poster two = new Poster(b, stop);
      one.start();
      two.start();
      for (int i = 0; i < round; i++) {
        Thread.onSpinWait();
      }
      stop.set(true); // the last post races the error: no later one helps it out
      (round % 2 == 0 ? a : b).id.disconnect();
      if (round % 3 == 0) {
        b.qp.modifyToError();
      }
      one.join();
      two.join();
      a.until(() -> a.events.size() == 2 && b.events.size() == 2);
      assertThat(one.polled).isEqualTo(one.posted);
      assertThat(two.polled).isEqualTo(two.posted);
      a.id.close();
      b.id.close();
      a.qp.close();
      b.qp.close();
      a.qp = a.createQp(null);
      b.qp = b.createQp(null);
    }
    a.close();
    b.close();
    assertThat(fabric.lastHandlerFailure()).isNull();
  }

  @Test
  void shouldShareOneFabricWhenOpenedByName() {
    final List<Device> devices =
        List.of(new SimProvider().open("", null), new SimProvider().open("arm=strong", null));
    assertThat(devices).extracting(Device::name).doesNotHaveDuplicates();
    assertThat(devices.get(0).address()).isEqualTo(devices.get(1).address());
    devices.forEach(Device::close);
    assertThatThrownBy(SimFabric.shared()::close).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> fabric.runUntil(() -> true)).isInstanceOf(IllegalStateException.class);
  }
}
