package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Whatever Java does wrong ends in an exception that says what was wrong. */
class MisuseTest extends Bed {

  private static void assertRefused(final int errno, final String why, final ThrowingCallable use) {
    assertThatThrownBy(use)
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.errno()).isEqualTo(errno))
        .hasMessageContaining(why);
  }

  private static void assertClosed(final ThrowingCallable use) {
    assertRefused(VerbsException.EINVAL, "it is closed", use);
  }

  @Test
  void shouldUseADeviceWhateverItsFilesLookLike() {
    final Diagnosis diagnosis = Diagnosis.run("address=" + Side.ADDRESS);

    assertThat(diagnosis.isUsable()).isTrue();
    assertThat(diagnosis.findings())
        .extracting(Diagnosis.Finding::what)
        .containsSubsequence("devices", "device files", "address", "objects");
    if (!new File("/dev/infiniband").exists()) {
      assertThat(diagnosis.findings())
          .filteredOn(finding -> finding.problem() != null)
          .extracting(finding -> finding.problem().reason())
          .startsWith(Problem.Reason.NO_DEVICE_FILES);
    }
  }

  @Test
  void required_N03_refusesWhatIsClosed() {
    final WorkCompletions batch = new WorkCompletions(1);
    final BindRequest bind = new BindRequest();
    final SharedReceiveQueue srq = a.own(a.device.createSrq(a.pd, 1, 1));
    a.close();
    a.close();
    assertClosed(() -> a.sendCq.poll(batch, 1));
    assertClosed(() -> a.sendCq.arm(ArmKind.NEXT));
    assertClosed(() -> a.sendCq.pollAndRearm(batch, 1, ArmKind.NEXT));
    assertClosed(() -> a.sendCq.resize(8));
    assertThat(a.qp.postSend(a.send(1, WrOpcode.SEND, 0, 8))).isEqualTo(VerbsException.EINVAL);
    assertThat(a.qp.postRecv(a.recv(1, 0, 8))).isEqualTo(VerbsException.EINVAL);
    assertThat(a.qp.postSends(null, 1)).isZero();
    assertThat(a.qp.postRecvs(null, 1)).isZero();
    assertThat(a.qp.postBind(bind)).isEqualTo(VerbsException.EINVAL);
    assertClosed(() -> a.qp.modifyToError());
    assertThat(srq.postRecv(a.recv(1, 0, 8))).isEqualTo(VerbsException.EINVAL);
    assertClosed(() -> srq.armLimit(1));
    assertClosed(() -> srq.resize(1));
    final int gone = VerbsException.ENODEV;
    assertRefused(gone, "the device is closed", () -> a.device.allocPd());
    assertRefused(gone, "the device is closed", () -> a.device.createCq(1, cq -> {}));
    assertRefused(gone, "the device is closed", () -> a.device.listen(0, 1, r -> {}));
    assertRefused(gone, "the device is closed", () -> a.device.regMr(a.pd, a.buffer, Set.of()));
    assertRefused(gone, "the device is closed", () -> a.device.createSrq(a.pd, 1, 1));
    assertRefused(gone, "the device is closed", () -> a.device.allocMw(a.pd, MwType.TYPE_1));
    assertRefused(gone, "the device is closed", () -> a.device.createQp(attributes(a, a)));
    assertRefused(
        gone, "the device is closed", () -> a.connect(b.device.address(), 1, Side.PARAMETERS));
  }

  private static QpAttributes attributes(final Side pd, final Side cq) {
    return new QpAttributes(pd.pd, cq.sendCq, cq.recvCq, null, 1, 1, 1, 1, 0);
  }

  @Test
  void required_N03_refusesWhatIsAnothers() {
    assertRefused(VerbsException.EINVAL, "open Pd", () -> a.device.regMr(b.pd, a.buffer, Set.of()));
    assertRefused(VerbsException.EINVAL, "open Cq", () -> a.device.createQp(attributes(a, b)));
    assertRefused(VerbsException.EINVAL, "open Pd", () -> a.device.createQp(attributes(b, a)));
    connect();
    final MemoryWindow window = b.own(b.device.allocMw(b.pd, MwType.TYPE_1));
    final BindRequest bind = new BindRequest();
    bind.window = window;
    bind.region = a.mr;
    bind.address = a.mr.address();
    bind.length = 8;
    assertThat(b.qp.postBind(bind)).isEqualTo(VerbsException.EINVAL);
    bind.region = b.mr;
    assertThat(b.qp.postBind(bind)).as("outside").isEqualTo(VerbsException.EINVAL);
    bind.address = b.mr.address();
    window.close();
    assertThat(b.qp.postBind(bind)).as("closed").isEqualTo(VerbsException.EINVAL);
  }

  @Test
  void required_N03_refusesWhatIsOfAnotherProvider() {
    final ProtectionDomain pd =
        new ProtectionDomain() {
          @Override
          public void close() {}
        };
    assertRefused(VerbsException.EINVAL, "open Pd", () -> a.device.regMr(pd, a.buffer, Set.of()));
    assertRefused(VerbsException.EINVAL, "open Pd", () -> a.device.createSrq(pd, 1, 1));
    assertRefused(VerbsException.EINVAL, "open Pd", () -> a.device.allocMw(pd, MwType.TYPE_1));
    assertRefused(VerbsException.EINVAL, "open Pd", () -> a.device.allocMw(null, MwType.TYPE_1));
    assertRefused(
        VerbsException.EINVAL,
        "open Qp",
        () -> a.device.connect(null, a.device.address(), 1, Side.PARAMETERS, a.handler()));
  }

  @Test
  void required_N03_refusesQueuesOfAnotherDevice() {
    final SharedReceiveQueue srq = b.own(b.device.createSrq(b.pd, 1, 1));
    assertRefused(
        VerbsException.EINVAL,
        "open Srq",
        () -> a.device.createQp(new QpAttributes(a.pd, a.sendCq, a.recvCq, srq, 1, 1, 1, 1, 0)));
    assertRefused(
        VerbsException.EINVAL,
        "open Qp",
        () -> a.device.connect(b.qp, a.device.address(), 1, Side.PARAMETERS, a.handler()));
    b.listen();
    a.connect(b, Side.PARAMETERS);
    b.await(() -> !b.requests.isEmpty());
    final CmRequest request = b.requests.remove(0);
    assertRefused(
        VerbsException.EINVAL, "open Qp", () -> request.accept(a.qp, Side.PARAMETERS, a.handler()));
    request.reject(CmHandler.CONSUMER_REJECT, null);
  }

  @Test
  void required_N03_refusesTheWrongOrder() {
    final SharedReceiveQueue srq = a.own(a.device.createSrq(a.pd, 1, 1));
    a.own(a.device.createQp(new QpAttributes(a.pd, a.sendCq, a.recvCq, srq, 1, 1, 1, 1, 0)));
    assertRefused(VerbsException.EBUSY, "objects use it", () -> a.pd.close());
    assertRefused(VerbsException.EBUSY, "objects use it", () -> a.sendCq.close());
    assertRefused(VerbsException.EBUSY, "objects use it", srq::close);
    assertRefused(VerbsException.EBUSY, "close them first", () -> a.device.close());
    assertRefused(VerbsException.EBUSY, "open devices", () -> channel.close());
    assertThat(Side.poll(a.sendCq, 1)).as("it is as it was").isEmpty();
    assertThat(srq.postRecv(a.recv(1, 0, 8))).as("it is as it was").isZero();
  }

  /** One object of each kind, which may be closed. */
  private Map<String, AutoCloseable> oneOfEach() {
    final Map<String, AutoCloseable> each = new LinkedHashMap<>();
    final EventChannel other = new RdmaCoreProvider().createEventChannel();
    final Device device = new RdmaCoreProvider().open("address=" + Side.ADDRESS, other);
    final ProtectionDomain pd = device.allocPd();
    final CompletionQueue cq = device.createCq(4, queue -> {});
    final SharedReceiveQueue srq = device.createSrq(pd, 4, 1);
    final QueuePair qp = device.createQp(new QpAttributes(pd, cq, cq, srq, 1, 1, 1, 1, 0));
    final CmListener listener = device.listen(0, 1, request -> {});
    each.put(
        "id",
        device.connect(qp, device.address(), 1, Side.PARAMETERS, (id, type, status, data) -> {}));
    each.put("listener", listener);
    each.put("queue pair", qp);
    each.put("memory window", device.allocMw(pd, MwType.TYPE_1));
    each.put("memory region", device.regMr(pd, a.buffer, Set.of()));
    each.put("shared receive queue", srq);
    each.put("completion queue", cq);
    each.put("protection domain", pd);
    each.put("device", device);
    each.put("channel", other);
    return each;
  }

  @Test
  void required_N03_closesTwiceWithoutEffect() {
    oneOfEach()
        .forEach(
            (kind, object) -> {
              Fake.sequence();
              assertThatCode(object::close).as(kind).doesNotThrowAnyException();
              assertThat(Fake.sequence() == 0)
                  .as(kind + " calls nothing")
                  .isEqualTo(kind.equals("channel"));
              assertThatCode(object::close).as(kind + " again").doesNotThrowAnyException();
              assertThat(Fake.sequence()).as(kind + ", calls of the second close").isZero();
            });
  }

  @Test
  void required_N03_closesOnceWhenTwoDoAtOnce() throws Exception {
    for (int round = 0; round < 20; round++) {
      for (final Map.Entry<String, AutoCloseable> each : oneOfEach().entrySet()) {
        final CompletableFuture<Void> other =
            CompletableFuture.runAsync(() -> close(each.getValue()), Bed::start);
        close(each.getValue());
        other.get();
      }
    }
  }

  private static void close(final AutoCloseable object) {
    try {
      object.close();
    } catch (final Exception e) {
      throw new AssertionError(object + " was closed by another thread", e);
    }
  }

  @Test
  void required_N03_doesNothingWithAConnectionThatIsClosed() {
    connect();
    a.id.close();
    Fake.sequence();
    a.id.disconnect();
    a.id.notifyEstablished();
    b.listener.close();
    Fake.sequence();

    assertThat(b.listener.service()).isPositive();
    assertThat(Fake.sequence()).isZero();
    assertRefused(
        VerbsException.EINVAL,
        "expected INIT, not connected",
        () -> a.connect(b.device.address(), b.listener.service(), Side.PARAMETERS));
  }

  @Test
  void required_N03_refusesWhatCannotBe() {
    assertRefused(
        VerbsException.EINVAL,
        "expected direct",
        () -> a.device.regMr(a.pd, ByteBuffer.allocate(8), Set.of()));
    assertRefused(
        VerbsException.EINVAL,
        "read-only",
        () ->
            a.device.regMr(
                a.pd, Layout.allocate(8).asReadOnlyBuffer(), EnumSet.of(Access.LOCAL_WRITE)));
    assertRefused(
        VerbsException.EINVAL,
        "need LOCAL_WRITE",
        () -> a.device.regMr(a.pd, a.buffer, EnumSet.of(Access.REMOTE_WRITE)));
    assertRefused(
        VerbsException.EINVAL, "entries 0; expected 1", () -> a.device.createCq(0, cq -> {}));
    assertRefused(VerbsException.EINVAL, "entries 4097", () -> a.device.createCq(4097, cq -> {}));
    final WorkCompletions full = new WorkCompletions(1);
    assertRefused(VerbsException.EINVAL, "max 0", () -> a.sendCq.poll(full, 0));
    connect();
    final var wide = a.send(1, WrOpcode.SEND, 0, 8);
    wide.addSge(0, 0, 0);
    final var wider = new org.jdapl.verbs.SendRequest(3);
    wider.addSge(0, 0, 0);
    wider.addSge(0, 0, 0);
    wider.addSge(0, 0, 0);
    assertThat(a.qp.postSend(wider)).isEqualTo(VerbsException.EINVAL);
  }

  @Test
  void required_N03_readsNoMemoryThatWasReleased() throws Exception {
    final Child child = new Child();
    if (Runtime.version().feature() < 22) {
      child.option("--add-modules", "jdk.incubator.foreign");
    }

    final Child.Result result = child.run(ReleasedMemory.class);

    assertThat(result.lines())
        .as("exit status %s", result.status())
        .containsExactly("before: 0", "after: " + VerbsException.EINVAL);
  }

  @Test
  void required_N03_closesWhileOthersUseIt() throws Exception {
    for (int round = 0; round < 50; round++) {
      final CompletionQueue cq = a.device.createCq(8, queue -> {});
      final QueuePair qp = a.device.createQp(new QpAttributes(a.pd, cq, cq, null, 4, 4, 2, 2, 0));
      final CountDownLatch begun = new CountDownLatch(2);
      final CompletableFuture<Void> polls =
          CompletableFuture.runAsync(
              () -> untilClosed(begun, () -> cq.poll(new WorkCompletions(8), 8)), Bed::start);
      final CompletableFuture<Void> posts =
          CompletableFuture.runAsync(
              () -> untilClosed(begun, () -> qp.postRecv(a.recv(1, 0, 8))), Bed::start);
      begun.await();
      qp.close();
      cq.close();
      polls.get();
      posts.get();
    }
  }

  private static void untilClosed(final CountDownLatch begun, final IntSupplier use) {
    begun.countDown();
    try {
      while (use.getAsInt() != VerbsException.EINVAL) {
        Thread.onSpinWait();
      }
    } catch (final VerbsException e) {
      assertThat(e).hasMessageContaining("it is closed");
    }
  }

  @Test
  void shouldSayWhatAParameterShouldBe() {
    final RdmaCoreProvider provider = new RdmaCoreProvider();
    for (final String wrong :
        new String[] {"port=x", "port=0", "name x", "name 1 2", "dev=x", "address=no such host"}) {
      assertThatThrownBy(() -> provider.open(wrong, channel))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("expected");
    }
    for (final String unknown : new String[] {"device=nosuch port=2", "nosuch 2"}) {
      assertThatThrownBy(() -> provider.open(unknown + " address=192.0.2.1", channel))
          .hasMessageContaining("device nosuch, port 2", "fake0");
    }
    assertThatThrownBy(() -> provider.open("", null)).hasMessageContaining("createEventChannel()");
  }
}
