package org.jdapl.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The doctor's exit status, on devices of the fake libraries that provider-rdma-core tests with.
 */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class DoctorTest {

  private static final Path FAKE = Path.of("../providers/rdma-core/target/native-tests/fake");

  @BeforeEach
  void needFakeLibraries() {
    if (!"required".equals(System.getProperty("jdapl.native"))) {
      assumeTrue(Files.exists(FAKE), "the native part of provider-rdma-core was not built");
    }
  }

  /** In a process of its own, which finds the fake libraries. */
  private static Run doctor(final List<String> inside, final String noDevices) throws Exception {
    final List<String> command = new ArrayList<>(inside);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.addAll(List.of(Main.class.getName(), "doctor", "address=192.0.2.1"));
    final ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("LD_LIBRARY_PATH", FAKE.toAbsolutePath().normalize().toString());
    builder.environment().put("FAKE_NO_DEVICES", noDevices);
    final Process process = builder.start();
    final String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(1, TimeUnit.MINUTES)).as(out).isTrue();
    return new Run(process.exitValue(), out, "");
  }

  @Test
  void shouldSucceedWhereADeviceWorks() throws Exception {
    final Run run = doctor(List.of(), "");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out())
        .contains("ok    native library", "ok    objects", "A device works: use adapter rdma-core.")
        .doesNotContain("FAIL");
  }

  @Test
  void shouldFailWhereThereIsNoDevice() throws Exception {
    final Run run = doctor(List.of(), "1");

    assertThat(run.status()).isEqualTo(1);
    assertThat(run.out())
        .contains("FAIL  devices: ", "to do: ", "rdma link add", "No device works.");
  }

  @Test
  void shouldWarnAndSucceedWhereLittleMemoryMayBePinned() throws Exception {
    final Run run = doctor(List.of("sh", "-c", "ulimit -l 64 && exec \"$@\"", "sh"), "");

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(run.out())
        .contains("warn  memory to pin: This process may pin 65536 bytes only", "A device works");
  }
}
