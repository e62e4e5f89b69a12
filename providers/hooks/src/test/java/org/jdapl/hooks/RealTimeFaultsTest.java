package org.jdapl.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Faults on a device with threads. */
@Timeout(60)
class RealTimeFaultsTest {

  private final SimFabric fabric = SimFabric.realTime();

  @AfterEach
  void close() {
    fabric.close();
  }

  private Faults faults(final String plan, final Delivery delivery) {
    return Faults.over(
        fabric.provider(SimModel.DEFAULT.withDelivery(delivery)), FaultPlan.parse(plan));
  }

  @Test
  void required_S03_aCallDoesNotReturnUntilReleased() throws Exception {
    final Faults faults = faults("hang alloc_pd@1", Delivery.PUSH);
    final Device device = faults.open("", null);
    final CompletableFuture<Void> returned = CompletableFuture.runAsync(device::allocPd);
    while (faults.hanging() == 0) {
      Thread.onSpinWait();
    }
    assertThat(returned).isNotDone();
    device.allocPd();
    faults.release();
    returned.get(30, TimeUnit.SECONDS);
    assertThat(faults.hanging()).isZero();
  }

  @Test
  void shouldHangForATime() {
    final Device device = faults("hang alloc_pd@1=20ms", Delivery.PUSH).open("", null);
    final long before = System.nanoTime();
    device.allocPd();
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(20_000_000L);
  }

  @Test
  void shouldNotHeedAnInterruptWhileItHangs() throws Exception {
    final Faults faults = faults("hang alloc_pd@1", Delivery.PUSH);
    final Device device = faults.open("", null);
    final AtomicReference<Boolean> interrupted = new AtomicReference<>();
    final Thread thread =
        new Thread(
            () -> {
              device.allocPd();
              interrupted.set(Thread.currentThread().isInterrupted());
            });
    thread.start();
    while (faults.hanging() == 0) {
      Thread.onSpinWait();
    }
    thread.interrupt();
    faults.release();
    thread.join();
    assertThat(interrupted.get()).isTrue();
  }

  @Test
  void shouldDelayOnAThreadOfItsOwn() throws Exception {
    final Device device = faults("notify req_notify_cq@1=20ms", Delivery.PUSH).open("", null);
    final CompletableFuture<String> told = new CompletableFuture<>();
    final CompletionQueue cq =
        device.createCq(1, of -> told.complete(Thread.currentThread().getName()));
    final long before = System.nanoTime();
    cq.arm(ArmKind.NEXT);
    assertThat(told.get(30, TimeUnit.SECONDS)).isEqualTo("faults");
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(20_000_000L);
  }

  @Test
  void shouldDelayInsideTheChannel() {
    final Faults faults = faults("notify req_notify_cq@1=20ms", Delivery.CHANNEL);
    final EventChannel channel = faults.createEventChannel();
    final Device device = faults.open("", channel);
    final AtomicReference<Thread> told = new AtomicReference<>();
    final CompletionQueue cq = device.createCq(1, of -> told.set(Thread.currentThread()));
    cq.arm(ArmKind.NEXT);
    while (told.get() == null) {
      channel.await(TimeUnit.HOURS.toNanos(1));
    }
    assertThat(told.get()).isSameAs(Thread.currentThread());
    cq.close();
    device.close();
    channel.close();
  }

  @Test
  void shouldWaitInADestroyForADelayedEventThatIsBeingDelivered() throws Exception {
    final CountDownLatch inside = new CountDownLatch(1);
    final CountDownLatch leave = new CountDownLatch(1);
    final Faults faults = faults("lose alloc_pd@1; delay device-fatal@1=1ms", Delivery.PUSH);
    final Device device = faults.open("", null);
    device.onAsync(
        (type, element) -> {
          inside.countDown();
          try {
            leave.await();
          } catch (final InterruptedException e) {
            throw new AssertionError(e);
          }
        });
    assertThatThrownBy(device::allocPd).hasMessageContaining("the device is lost");
    inside.await();
    final Thread closing = new Thread(device::close);
    closing.start();
    while (closing.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    leave.countDown();
    closing.join();
  }
}
