package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What drivers do in their own ways, and what a device does that is going away. */
class DriverTest extends Bed {

  private static final int EPERM = 1;
  private static final int ENOSPC = 28;

  private static void assertErrno(final int errno, final ThrowingCallable use) {
    assertThatThrownBy(use)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno));
  }

  @Test
  void shouldUnderstandAnErrnoThatADriverNegates() {
    connect();
    Fake.failNext("ibv_modify_qp", -VerbsException.ENOMEM);
    assertErrno(VerbsException.ENOMEM, a.qp::modifyToError);
    Fake.failNext("ibv_modify_qp", -EPERM); // also what says "see errno", and there is none
    assertErrno(EPERM, a.qp::modifyToError);
    Fake.failNext("ibv_dereg_mr", -VerbsException.EBUSY);
    assertErrno(VerbsException.EBUSY, a.mr::close);
    Fake.failNext("req_notify_cq", -VerbsException.ENOMEM);
    assertErrno(VerbsException.ENOMEM, () -> a.sendCq.arm(ArmKind.NEXT));
    Fake.failNext("poll_cq", -VerbsException.ENOMEM);
    assertErrno(VerbsException.EIO, () -> Side.poll(a.sendCq, 1)); // the verb gives no errno
    Fake.failNext("ibv_alloc_pd", -VerbsException.ENOMEM);
    assertErrno(VerbsException.EIO, () -> a.device.allocPd()); // NULL, and errno is not set
  }

  @ParameterizedTest
  @ValueSource(ints = {ENOSPC, VerbsException.EAGAIN, VerbsException.ENOMEM})
  void required_P02_saysThatThereIsNoRoomWhateverADriverCallsIt(final int errno) {
    final QpAttributes attributes = new QpAttributes(a.pd, a.sendCq, a.recvCq, null, 1, 1, 1, 1, 0);
    Fake.failNext("ibv_create_qp", errno);
    assertErrno(VerbsException.ENOMEM, () -> a.device.createQp(attributes));
    Fake.failNext("ibv_create_cq", errno);
    assertErrno(VerbsException.ENOMEM, () -> a.device.createCq(1, queue -> {}));
    Fake.failNext("ibv_reg_mr", errno);
    assertErrno(VerbsException.ENOMEM, () -> a.device.regMr(a.pd, a.buffer, Set.of()));
  }

  @Test
  void shouldCountWhatWasPostedBeforeAnErrnoThatADriverNegates() {
    connect();
    final SendRequest[] sends = {
      a.send(1, WrOpcode.SEND, 0, 8), a.send(2, WrOpcode.SEND, 0, 8), a.send(3, WrOpcode.SEND, 0, 8)
    };
    Fake.failNext("post_send", -VerbsException.ENOMEM);
    assertThat(a.qp.postSends(sends, 3)).isZero();
    Fake.failNext("post_send", -VerbsException.ENOMEM);
    assertThat(a.qp.postSend(sends[0])).isEqualTo(VerbsException.ENOMEM);
    Fake.failNext("post_recv", -VerbsException.ENOMEM);
    assertThat(a.qp.postRecv(a.recv(1, 0, 8))).isEqualTo(VerbsException.ENOMEM);
  }

  @Test
  void shouldNeverFreeABufferThatAGoneDeviceMayWriteTo() {
    final WeakReference<ByteBuffer> gone = registerAndClose(VerbsException.EIO);
    final WeakReference<ByteBuffer> done = registerAndClose(0);
    while (done.get() != null) { // when this one is collected, the other could have been
      System.gc();
    }

    assertThat(gone.get()).as("the buffer that the device may write to").isNotNull();
  }

  /** A buffer that nobody but the provider may still know. */
  private WeakReference<ByteBuffer> registerAndClose(final int errno) {
    final ByteBuffer buffer = Layout.allocate(8);
    final ProtectionDomain pd = a.device.allocPd();
    final MemoryRegion region = a.device.regMr(pd, buffer, EnumSet.of(Access.LOCAL_WRITE));
    if (errno != 0) {
      Fake.failNext("ibv_dereg_mr", errno);
      region.close();
      assertThat(Fake.failed()).isEqualTo("ibv_dereg_mr");
      Fake.forget("mr"); // the process cannot get rid of it
      Fake.failNext("ibv_dealloc_pd", errno);
      pd.close();
      Fake.forget("pd");
    } else {
      region.close();
      pd.close();
    }
    return new WeakReference<>(buffer);
  }

  @Test
  void shouldKeepARegionWhoseCloseWasRefused() {
    connect();
    Fake.failNext("ibv_dereg_mr", VerbsException.EBUSY);
    assertErrno(VerbsException.EBUSY, a.mr::close);
    final SendRequest send = a.send(1, WrOpcode.SEND, 0, 8);
    send.inline = true;

    assertThat(a.qp.postSend(send)).as("its key is known").isZero();
    a.mr.close();
    assertThat(a.qp.postSend(send)).as("its key is dead").isEqualTo(VerbsException.EINVAL);
  }

  @Test
  void shouldTellThatTheDeviceIsGoneWhenItsEventsCannotBeRead() {
    Fake.raiseQp(a.qp.number(), 1);
    Fake.failNext("ibv_get_async_event", VerbsException.EIO);
    a.await(() -> !a.asyncs.isEmpty() && !b.asyncs.isEmpty());
    Fake.raiseQp(a.qp.number(), 1);
    channel.await(0);
    channel.await(0);

    assertThat(a.asyncs).containsExactly(new Side.Async(AsyncType.DEVICE_FATAL, a.device));
    assertThat(b.asyncs).containsExactly(new Side.Async(AsyncType.DEVICE_FATAL, b.device));
  }

  @Test
  void shouldTellThatTheDeviceIsGoneWhenItsCompletionsCannotBeRead() {
    connect();
    b.recvCq.arm(ArmKind.NEXT);
    b.qp.postRecv(b.recv(1, 0, 8));
    a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8));
    Fake.failNext("ibv_get_cq_event", VerbsException.ENODEV);
    b.await(() -> !b.asyncs.isEmpty());
    channel.await(0);

    assertThat(b.asyncs).containsExactly(new Side.Async(AsyncType.DEVICE_FATAL, b.device));
    assertThat(b.notified).isEmpty();
  }

  @Test
  void shouldReadNoMoreEventsThanThereAreQueues() {
    connect();
    b.recvCq.arm(ArmKind.NEXT);
    b.sendCq.arm(ArmKind.NEXT);
    b.qp.postRecv(b.recv(1, 0, 8));
    a.qp.postRecv(a.recv(2, 0, 8));
    a.qp.postSend(a.send(3, WrOpcode.SEND, 0, 8));
    b.qp.postSend(b.send(4, WrOpcode.SEND, 0, 8));
    Fake.failAt(0, 0);

    assertThat(channel.await(0)).isEqualTo(2);
    assertThat(Fake.calls())
        .as("one for each event; an acknowledgement counts for none")
        .isEqualTo(2);
  }

  @Test
  void shouldReadNoEventOfAContextThatTheLastAdapterLeft() throws Exception {
    final RdmaContext context = RdmaContext.acquire(((RdmaDevice) a.device).context());
    final Thread awaiting = new Thread(() -> channel.await(0), "awaiting");
    synchronized (context) {
      Fake.raiseDevice(10, 1);
      awaiting.start();
      while (!isBlockedIn(awaiting, "drain")) { // it knows that there are events
        Thread.onSpinWait();
      }
      a.close();
      b.close(); // librdmacm may close the context now
      Fake.sequence();
    }
    awaiting.join();
    context.release();

    assertThat(Fake.sequence()).as("calls").isZero();
  }

  private static boolean isBlockedIn(final Thread thread, final String method) {
    return thread.getState() == Thread.State.BLOCKED
        && Arrays.stream(thread.getStackTrace())
            .anyMatch(frame -> frame.getMethodName().equals(method));
  }

  @Test
  void shouldFlushWhatIsPostedWhileTheQueuePairGoesToTheErrorState() throws Exception {
    Fake.pauseAfter("ibv_modify_qp"); // the device flushed what there was
    final CompletableFuture<Void> moved =
        CompletableFuture.runAsync(b.qp::modifyToError, Bed::start);
    Fake.awaitPause();
    final int posted = b.qp.postRecv(b.recv(1, 0, 8));
    Fake.resume();
    moved.get();

    assertThat(posted).isZero();
    assertThat(Side.poll(b.recvCq, 2)).extracting(Side.Completion::wrId).containsExactly(1L);
  }
}
