package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is told of this machine, and what to do. */
@NeedsNative
@Timeout(60)
class DiagnosisTest {

  private static final String DROP = "--bounding-set=-dac_override,-dac_read_search";

  @TempDir private Path directory;

  @BeforeEach
  @AfterEach
  void reset() {
    Fake.reset();
  }

  private void create(final String name, final String permissions) throws Exception {
    Files.setPosixFilePermissions(
        Files.createFile(directory.resolve(name)), PosixFilePermissions.fromString(permissions));
  }

  private static boolean canDrop() throws InterruptedException {
    try {
      final Process process =
          new ProcessBuilder("setpriv", DROP, "true").redirectErrorStream(true).start();
      process.getInputStream().readAllBytes();
      return process.waitFor() == 0;
    } catch (final IOException e) {
      return false; // there is no such command
    }
  }

  /** What a user sees to whom permissions apply, as they do not to root. */
  private List<String> look() throws Exception {
    final Child child = new Child();
    if (ProcessHandle.current().info().user().filter("root"::equals).isPresent()) {
      assumeTrue(canDrop(), "this root may not give up its rights");
      child.inside("setpriv", DROP);
    }
    final Child.Result result = child.run(DeviceFilesProbe.class, directory.toString());
    assertThat(result.status()).as(result.output()).isZero();
    return result.lines();
  }

  @Test
  void required_N02_saysThatThereAreNoDeviceFiles() throws Exception {
    assertThat(look().get(0)).startsWith("bad: NO_DEVICE_FILES").contains("known0", "modprobe");
    assertThat(look().get(1)).isEqualTo("none: nothing");
  }

  @Test
  void required_N02_saysThatThereIsNoConnectionManager() throws Exception {
    create("uverbs0", "rw-------");

    assertThat(look().get(0))
        .startsWith("bad: NO_CONNECTION_MANAGER")
        .contains(directory + "/rdma_cm", "modprobe rdma_ucm");
  }

  @Test
  void required_N02_saysNothingWhereAllCanBeOpened() throws Exception {
    create("uverbs0", "rw-------");
    create("rdma_cm", "rw-------");

    assertThat(look()).containsExactly("bad: nothing", "none: nothing");
  }

  @Test
  void required_N02_saysThatADeviceMayNotBeOpened() throws Exception {
    create("uverbs0", "r--------");
    create("uverbs1", "rw-------");
    create("rdma_cm", "rw-------");

    assertThat(look().get(0))
        .startsWith("bad: PERMISSION")
        .contains(directory + "/uverbs0;", "add the user to the group that owns it");
    assertThat(look().get(1)).as("the other can be").isEqualTo("none: nothing");
  }

  @Test
  void required_N02_saysThatNoDeviceMayBeOpened() throws Exception {
    create("uverbs0", "---------");
    create("uverbs1", "-w-------");
    create("rdma_cm", "rw-------");

    assertThat(look().get(1))
        .startsWith("none: PERMISSION")
        .contains(directory + "/uverbs0, " + directory + "/uverbs1;");
  }

  @Test
  void required_N02_saysThatTheConnectionManagerMayNotBeOpened() throws Exception {
    create("uverbs0", "rw-------");
    create("rdma_cm", "---------");

    assertThat(look().get(1)).startsWith("none: PERMISSION").contains(directory + "/rdma_cm;");
  }

  @Test
  void required_N02_saysThatLittleMemoryMayBePinned() throws Exception {
    final Child.Result result =
        new Child()
            .inside("sh", "-c", "ulimit -l 64 && exec \"$@\"", "sh")
            .run(DiagnosisProbe.class);

    assertThat(result.output())
        .contains("memory to pin: MEMLOCK", "65536 bytes", "raise the limit, which ulimit -l");
    assertThat(result.status()).as("a device works all the same").isZero();
  }

  @Test
  void required_N02_saysThatMemoryCouldNotBePinned() {
    Fake.failNext("ibv_reg_mr", VerbsException.ENOMEM);
    final Diagnosis diagnosis = Diagnosis.run("address=" + Side.ADDRESS);

    assertThat(diagnosis.isUsable()).isFalse();
    assertThat(diagnosis.findings())
        .filteredOn(finding -> finding.what().startsWith("use of any device"))
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.problem().reason()).isEqualTo(Problem.Reason.MEMLOCK);
              assertThat(finding.problem().cause()).contains("reg_mr", "65536 bytes");
              assertThat(finding.problem().remedy()).contains("ulimit -l");
            });
    assertThat(Fake.live()).isEmpty();
  }

  @Test
  void required_N02_saysThatAVerbFailed() {
    Fake.failNext("ibv_create_cq", VerbsException.EINVAL);
    final Diagnosis diagnosis = Diagnosis.run("address=" + Side.ADDRESS);

    assertThat(diagnosis.isUsable()).isFalse();
    assertThat(diagnosis.findings())
        .extracting(Diagnosis.Finding::problem)
        .filteredOn(problem -> problem != null && problem.reason() == Problem.Reason.DEVICE)
        .singleElement()
        .satisfies(problem -> assertThat(problem.cause()).contains("create_cq"));
    assertThat(Fake.live()).isEmpty();
  }
}
