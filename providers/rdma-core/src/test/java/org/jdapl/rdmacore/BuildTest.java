package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the build of the native part does where something is missing, and what it makes. */
@NeedsNative
@Timeout(60)
class BuildTest {

  private static final String LIBRARY = "libjdapl-rdma-core.so";

  @TempDir private Path directory;
  private Path tools;
  private Path out;

  private record Result(int status, String output) {}

  /** A path on which there is what the script needs, and no compiler. */
  @BeforeEach
  void findTools() throws Exception {
    tools = Files.createDirectory(directory.resolve("tools"));
    out = directory.resolve("out");
    for (final String tool :
        List.of("cat", "cut", "dirname", "env", "find", "ln", "mkdir", "mktemp", "mv", "rm")) {
      link(tool, tool);
    }
    link("bash", "bash");
    link("sha256sum", "sha256sum");
    link("uname", "uname");
  }

  private static Path which(final String tool) {
    return Stream.of("/usr/local/bin", "/usr/bin", "/bin")
        .map(folder -> Path.of(folder, tool))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + tool));
  }

  private void link(final String name, final String tool) throws IOException {
    Files.createSymbolicLink(tools.resolve(name), which(tool));
  }

  /** A compiler that finds no header but its own. */
  private void addCompilerWithoutHeaders(final String name) throws IOException {
    final Path compiler = tools.resolve(name);
    Files.writeString(compiler, "#!/bin/sh\nexec " + which("cc") + " -nostdinc \"$@\"\n");
    Files.setPosixFilePermissions(compiler, PosixFilePermissions.fromString("rwx------"));
  }

  private Result build(final String mode, final String what) throws Exception {
    final ProcessBuilder builder =
        new ProcessBuilder("src/main/c/build", mode, what, out.toString());
    builder.environment().put("PATH", tools.toString());
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    final Process process = builder.redirectErrorStream(true).start();
    final String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(50, TimeUnit.SECONDS)).isTrue();
    return new Result(process.exitValue(), output);
  }

  private static void assertSaysWhatToDo(final Result result, final String why) {
    assertThat(result.output()).contains(why, "providers/rdma-core/provision");
  }

  @Test
  void shouldSayLoudlyThatThereIsNoCompiler() throws Exception {
    for (final String what : List.of("library", "tests")) {
      final Result result = build("auto", what);

      assertThat(result.status()).as(result.output()).isZero();
      assertThat(result.output()).contains("*** NOT BUILT: native part of provider-rdma-core");
      assertSaysWhatToDo(result, "there is no C compiler");
    }
    assertThat(Files.readString(out.resolve("platforms"))).isBlank();
  }

  @Test
  void shouldFailWithoutACompilerWhereTheNativePartIsRequired() throws Exception {
    for (final String what : List.of("library", "tests")) {
      final Result result = build("required", what);

      assertThat(result.status()).isEqualTo(1);
      assertSaysWhatToDo(result, "there is no C compiler");
    }
  }

  @Test
  void shouldSayLoudlyThatThereAreNoHeaders() throws Exception {
    addCompilerWithoutHeaders("cc");
    for (final String what : List.of("library", "tests")) {
      final Result result = build("auto", what);

      assertThat(result.status()).as(result.output()).isZero();
      assertThat(result.output()).contains("*** NOT BUILT");
      assertSaysWhatToDo(result, what.equals("library") ? "infiniband/verbs.h" : "no header");
    }
  }

  @Test
  void shouldFailWithoutHeadersWhereTheNativePartIsRequired() throws Exception {
    addCompilerWithoutHeaders("cc");
    final Result result = build("required", "library");

    assertThat(result.status()).isEqualTo(1);
    assertSaysWhatToDo(result, "infiniband/verbs.h, rdma/rdma_cma.h or jni.h");
  }

  @Test
  void shouldFailWithoutACrossCompilerWhereItIsRequired() throws Exception {
    link("cc", "cc");
    for (final String tool : List.of("as", "ld")) {
      link(tool, tool);
    }
    final Result result = build("required", "library");

    assertThat(result.status()).isEqualTo(1);
    assertSaysWhatToDo(result, "-linux-gnu-gcc");
  }

  /** Of a platform, as this build made it: the words of a tool's output that start so. */
  private static List<String> read(final String platform, final String... command)
      throws Exception {
    final List<String> words = new ArrayList<>(List.of(command));
    words.add("target/classes/native/" + platform + "/" + LIBRARY);
    final Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
    final String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().toList();
  }

  private static List<String> platforms() throws IOException {
    return List.of(
        Files.readString(Path.of("target/classes/native/platforms")).strip().split(" ", -1));
  }

  @Test
  void shouldBuildForBothArchitecturesWhereThatIsRequired() throws Exception {
    if (NeedsNative.Condition.isRequired()) {
      assertThat(platforms()).containsExactlyInAnyOrder("linux-x86_64", "linux-aarch64");
    }
    for (final String platform : platforms()) {
      assertThat(read(platform, "readelf", "--file-header"))
          .filteredOn(line -> line.contains("Machine:"))
          .singleElement()
          .asString()
          .containsAnyOf("X86-64", "AArch64")
          .contains(platform.endsWith("x86_64") ? "X86-64" : "AArch64");
    }
  }

  @Test
  void shouldExportOneFunctionAndNeedNeitherLibrary() throws Exception {
    for (final String platform : platforms()) {
      assertThat(read(platform, "nm", "--dynamic", "--defined-only"))
          .as("hidden visibility, and tables")
          .singleElement()
          .asString()
          .endsWith(" T JNI_OnLoad");
      assertThat(String.join("\n", read(platform, "readelf", "--dynamic")))
          .as("opened at run time")
          .contains("NEEDED")
          .doesNotContain("libibverbs", "librdmacm");
    }
  }

  @Test
  void shouldTakeEveryWarningOfTheCompilerForAnError() throws Exception {
    assertThat(Files.readString(Path.of("src/main/c/build")))
        .contains("-Wall -Wextra -Werror -fvisibility=hidden");
  }
}
