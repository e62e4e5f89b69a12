package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import consumer.ModulePathProbe;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.jdapl.rdmacore.jni.NativeLibrary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What is said where the library, its surroundings or a device is missing; each in a process. */
@NeedsNative
@Timeout(120)
class LoadingTest {

  @Test
  void required_N02_loadsWithoutAnyFlag() throws Exception {
    final Child.Result result = new Child().run(Probe.class);

    assertThat(result.output())
        .contains("problem: Optional.empty", "open 0: works", "open 1: works")
        .doesNotContain("--add-");
    assertThat(result.status()).isZero();
  }

  @Test
  void required_N02_loadsAsAModuleWithoutAnyFlag() throws Exception {
    final Child.Result result =
        new Child()
            .onModulePath("org.jdapl.rdmacore")
            .run(ModulePathProbe.class, "address=" + Side.ADDRESS);

    assertThat(result.lines()).containsExactly("org.jdapl.rdmacore works");
    assertThat(result.status()).isZero();
  }

  @Test
  void required_N02_saysThatThereIsNoRdmaCore() throws Exception {
    final Path none = Files.createDirectories(Child.NATIVE.resolve("broken"));
    Files.writeString(none.resolve("libibverbs.so.1"), "not a library");

    assertSays(new Child().with("LD_LIBRARY_PATH", none.toString()), "NO_RDMA_CORE")
        .contains("libibverbs.so.1", "apt-get install ibverbs-providers librdmacm1");
  }

  @Test
  void required_N02_saysThatRdmaCoreIsTooOld() throws Exception {
    final String old = Child.NATIVE.resolve("old").toString();

    assertSays(new Child().with("LD_LIBRARY_PATH", old), "NO_RDMA_CORE")
        .contains("ibv_get_device_list is not in the installed libraries; they are too old");
  }

  @Test
  void required_N02_saysThatThereIsNoDevice() throws Exception {
    assertSays(new Child().with("FAKE_NO_DEVICES", "1"), "NO_DEVICE").contains("rdma link add");
  }

  @Test
  void required_N02_saysThatThisPlatformHasNoLibrary() throws Exception {
    assertSays(new Child().option("-Dos.arch=riscv64"), "PLATFORM")
        .contains("linux-riscv64", "there are linux-");
  }

  @Test
  void required_N02_saysThatTheLibraryIsOfAnotherBuild() throws Exception {
    final String other = Child.NATIVE.resolve("other-abi/libjdapl-rdma-core.so").toString();

    assertSays(new Child().option("-D" + NativeLibrary.PATH + "=" + other), "ABI_MISMATCH")
        .contains("of build another");
  }

  @Test
  void required_N02_saysThatTheFileIsAnotherLibrary() throws Exception {
    assertSays(new Child().option("-D" + NativeLibrary.PATH + "=" + otherLibrary()), "ABI_MISMATCH")
        .contains("do not fit", otherLibrary().toString());
  }

  /** One that this process has loaded: its C library's. */
  private static Path otherLibrary() throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.map(line -> line.replaceFirst("^[^/]*", ""))
          .filter(file -> file.matches(".*/libm[.-].*so.*"))
          .map(Path::of)
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void required_N02_saysThatTheFileIsNotThere(@TempDir final Path directory) throws Exception {
    final Path absent = directory.resolve("absent.so");

    assertSays(new Child().option("-D" + NativeLibrary.PATH + "=" + absent), "UNLOADABLE")
        .contains(absent.toString());
  }

  @Test
  void required_N02_saysThatItCannotBeUnpacked(@TempDir final Path directory) throws Exception {
    final Path file = Files.createFile(directory.resolve("file"));

    assertSays(new Child().option("-D" + NativeLibrary.WORK_DIRECTORY + "=" + file), "WORK_DIR")
        .contains("cannot be unpacked", "-Djdapl.native.workdir=DIRECTORY");
  }

  @Test
  void required_N02_saysThatTheWorkDirectoryMayNotRunAnything(@TempDir final Path directory)
      throws Exception {
    assumeTrue(canMount(), "this user may not mount file systems, in a namespace of its own");
    final String mount = "mount -t tmpfs -o noexec none '" + directory + "' && exec \"$@\"";

    assertSays(
            new Child()
                .inside("unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh")
                .option("-Djava.io.tmpdir=" + directory),
            "WORK_DIRECTORY")
        .contains("noexec", "-Djdapl.native.workdir=DIRECTORY");
  }

  private static boolean canMount() throws InterruptedException {
    try {
      final Process process =
          new ProcessBuilder("unshare", "--map-root-user", "--mount", "true")
              .redirectErrorStream(true)
              .start();
      process.getInputStream().readAllBytes();
      return process.waitFor() == 0;
    } catch (final IOException e) {
      return false; // there is no such command
    }
  }

  @Test
  void shouldLeaveNoFileBehind(@TempDir final Path directory) throws Exception {
    new Child().option("-D" + NativeLibrary.WORK_DIRECTORY + "=" + directory).run(Probe.class);

    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void shouldHaveEveryNativeMethodInOneTable() throws Exception {
    int declared = 0;
    final Path sources = Path.of("src/main/java/org/jdapl/rdmacore/jni");
    try (Stream<Path> files = Files.list(sources)) {
      for (final Path file : files.toList()) {
        final String name = file.getFileName().toString().replace(".java", "");
        if (!name.equals("package-info")) {
          declared += natives(load("org.jdapl.rdmacore.jni." + name));
        }
      }
    }
    int registered = 0;
    try (Stream<Path> files = Files.list(Path.of("src/main/c"))) {
      for (final Path file : files.filter(path -> path.toString().endsWith(".c")).toList()) {
        registered += Files.readString(file).split("    METHOD\\(", -1).length - 1;
      }
    }
    assertThat(declared).as("native methods in org.jdapl.rdmacore.jni").isEqualTo(registered);
  }

  /** Not initialized: that would call methods that are not registered in this process. */
  private static Class<?> load(final String name) throws ClassNotFoundException {
    return Class.forName(name, false, LoadingTest.class.getClassLoader());
  }

  private static int natives(final Class<?> type) {
    final Stream<Method> methods = Arrays.stream(type.getDeclaredMethods());
    return (int) methods.filter(method -> Modifier.isNative(method.getModifiers())).count();
  }

  /** The first and the second attempt say the same, and the program goes on. */
  private static org.assertj.core.api.AbstractStringAssert<?> assertSays(
      final Child child, final String reason) throws Exception {
    final Child.Result result = child.run(Probe.class);
    assertThat(result.output()).contains("problem: Optional[" + reason);
    final String first = result.output().replaceFirst("(?s).*open 0: (.*)\nopen 1: .*", "$1");
    final String second = result.output().replaceFirst("(?s).*open 1: (.*)\n.*", "$1");
    assertThat(second.strip()).isEqualTo(first.strip()).isNotEqualTo("works");
    assertThat(result.status()).isZero();
    return assertThat(first);
  }
}
