package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A device is what it can do. Its name and its maker are for people. */
@NeedsNative
@Timeout(60)
class CapabilityTest {

  /** Names of devices, and the makers' numbers, as they occur; and some that do not. */
  private static final Map<String, Integer> DEVICES = new TreeMap<>();

  static {
    final List<String> names =
        List.of(
            "mlx4_0",
            "mlx5_0",
            "mlx5_bond_0",
            "irdma0",
            "i40iw0",
            "bnxt_re0",
            "cxgb4_0",
            "siw0",
            "rxe0",
            "erdma_0",
            "efa_0",
            "hns_0",
            "hfi1_0",
            "qib0",
            "ocrdma0",
            "qedr0",
            "mthca0",
            "vmw_pvrdma0",
            "usnic_0",
            "mana_0",
            "rocep1s0f0",
            "iwp3s0",
            "ibp0s3",
            "fake0",
            "0",
            "a name with spaces",
            "one-that-is-as-long-as-the-kernel-lets-it-be-which-is-63-bytes");
    final int[] makers = {0, 0x02c9, 0x15b3, 0x8086, 0x14e4, 0x1425, 0x1d0f, 0x19e5, 0xffffff};
    for (int i = 0; i < names.size(); i++) {
      DEVICES.put(names.get(i), makers[i % makers.length]);
    }
  }

  private EventChannel channel;
  private Side side;

  @BeforeEach
  void open() {
    Fake.reset();
    channel = new RdmaCoreProvider().createEventChannel();
    side = new Side(channel);
  }

  @AfterEach
  void close() {
    side.close();
    channel.close();
    assertThat(Fake.live()).as("objects that live").isEmpty();
    assertThat(Fake.violations()).as("violations").isEmpty();
    Fake.reset();
  }

  @Test
  void required_N01_doesTheSameWhateverADeviceIsCalled() {
    Scenario.run(); // what is done once is done
    final Map<String, Long> sequences = new TreeMap<>();
    DEVICES.forEach(
        (name, maker) -> {
          Fake.identify(name, maker);
          Fake.sequence();
          assertThat(Scenario.run()).as(name).isNull();
          sequences.put(name, Fake.sequence());
        });

    assertThat(sequences).hasSameSizeAs(DEVICES).doesNotContainValue(0L);
    assertThat(sequences.values()).as("calls of verbs, in order").containsOnly(sequences.get("0"));
  }

  @Test
  void required_N01_tellsTheNameAndFindsADeviceByIt() {
    Fake.identify("irdma0", 0x8086);
    try (Device device =
        new RdmaCoreProvider().open("device=irdma0 address=" + Side.ADDRESS, channel)) {
      assertThat(device.name()).isEqualTo("irdma0");
    }
    assertThatThrownBy(
            () -> new RdmaCoreProvider().open("device=fake0 address=" + Side.ADDRESS, channel))
        .hasMessageContaining("device fake0", "irdma0");
  }

  @Test
  void required_N01_namesNoDeviceOrDriver() throws IOException {
    final Pattern known =
        Pattern.compile(
            "\\b(mlx|mthca|irdma|i40iw|bnxt|cxgb|siw|rxe|erdma|efa|hns|hfi|qib|ipath|ocrdma|qedr"
                + "|vmw_pvrdma|usnic|mana_|nes_|vendor_id|vendor_part_id|hw_ver|fw_ver|node_guid)",
            Pattern.CASE_INSENSITIVE);
    final Predicate<String> isAdvice = line -> line.contains("rdma link add"); // for people
    try (Stream<Path> files = Files.walk(Path.of("src/main"))) {
      for (final Path file : files.filter(Files::isRegularFile).toList()) {
        final String code = Files.readString(file).replaceAll("(?s)/\\*.*?\\*/", "");
        assertThat(code.lines().filter(isAdvice.negate()).filter(known.asPredicate()))
            .as(file.toString())
            .isEmpty();
      }
    }
  }

  private static void assertUnsupported(final ThrowingCallable use) {
    assertThatThrownBy(use)
        .isInstanceOfSatisfying(
            VerbsException.class, e -> assertThat(e.errno()).isEqualTo(VerbsException.EOPNOTSUPP));
  }

  /** Everything that such a device has works. */
  private void openWith(final int srqs, final int windows, final boolean atomics, final int bytes) {
    Fake.limit(srqs, windows, atomics, bytes);
    final EnumSet<Access> access =
        EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ, Access.REMOTE_WRITE);
    if (atomics) {
      access.add(Access.REMOTE_ATOMIC);
    }
    if (windows > 0) {
      access.add(Access.MW_BIND);
    }
    side.create(srqs > 0, access, bytes);
  }

  @Test
  void required_N01_worksWithTheLeastOfDevices() {
    openWith(0, 0, false, 0);
    final Side peer = new Side(channel);
    try (peer) {
      peer.create(false, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE), 0);
      peer.listen();
      side.connect(peer);
      peer.qp.postRecv(peer.recv(1, 0, 8));

      assertThat(side.qp.postSend(side.send(2, WrOpcode.SEND, 0, 8))).isZero();
      assertThat(Side.poll(peer.recvCq, 2)).extracting(Side.Completion::wrId).containsExactly(1L);
    }
  }

  @Test
  void required_N01_saysThatThereAreNoSharedReceiveQueues() {
    openWith(0, 1, true, 32);

    assertThat(side.device.limits().maxSrq()).isZero();
    assertUnsupported(() -> side.device.createSrq(side.pd, 1, 1));
  }

  @Test
  void required_N01_saysThatThereAreNoMemoryWindows() {
    openWith(1, 0, true, 32);

    assertThat(side.device.limits().maxMw()).isZero();
    assertUnsupported(() -> side.device.allocMw(side.pd, MwType.TYPE_1));
  }

  @Test
  void required_N01_saysThatThereAreNoWindowsOfType2() {
    openWith(1, 1, true, 32);

    side.device.allocMw(side.pd, MwType.TYPE_1).close();
    assertUnsupported(() -> side.device.allocMw(side.pd, MwType.TYPE_2));
    assertThat(side.qp.postSend(side.send(1, WrOpcode.SEND_WITH_INV, 0, 8)))
        .isEqualTo(VerbsException.EOPNOTSUPP);
  }

  @Test
  void required_N01_refusesAtomicsThatThereAreNot() {
    openWith(1, 1, false, 32);
    assertThat(side.device.capabilities()).doesNotContain(Capability.ATOMICS);
    final Side peer = new Side(channel);
    try (peer) {
      peer.create(false, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE), 0);
      peer.listen();
      side.connect(peer);
      final SendRequest add = side.remote(1, WrOpcode.ATOMIC_FETCH_AND_ADD, 8, peer, 0);

      assertThat(side.qp.postSend(add)).isEqualTo(VerbsException.EINVAL);
      assertThat(side.qp.postSend(side.remote(2, WrOpcode.RDMA_WRITE, 8, peer, 0))).isZero();
    }
    assertThatThrownBy(
            () -> side.device.regMr(side.pd, side.buffer, EnumSet.allOf(Access.class)).close())
        .hasMessageContaining("reg_mr");
  }

  @Test
  void required_N01_saysThatThereAreAtomicsAndImmediateData() {
    openWith(1, 1, true, 32);

    assertThat(side.device.capabilities())
        .contains(Capability.ATOMICS, Capability.RDMA_WRITE_WITH_IMM);
  }

  @Test
  void required_N01_takesTheInlineDataThatThereIs() {
    openWith(1, 1, true, 16);
    assertThat(side.qp.maxInline()).isEqualTo(16);
    final QpAttributes tooMuch =
        new QpAttributes(side.pd, side.sendCq, side.recvCq, null, 1, 1, 1, 1, 17);

    assertThatThrownBy(() -> side.device.createQp(tooMuch)).hasMessageContaining("create_qp");
  }
}
