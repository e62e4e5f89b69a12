package org.jdapl.examples.copy;

import static java.nio.file.attribute.PosixFilePermission.OWNER_EXECUTE;
import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Feature;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jdapl.dat.Dat;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.examples.Run;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class CopyTest {

  private static final int SLOT = Link.SLOT_BYTES;
  private static final int RING = Link.SLOTS * SLOT;
  private static final Configuration WITHOUT_LINKS =
      Configuration.unix().toBuilder().setSupportedFeatures(Feature.FILE_CHANNEL).build();

  @TempDir private Path directory;
  private Path source;
  private Path target;

  @BeforeEach
  void createSource() throws IOException {
    source = randomFile(directory.resolve("source"), 3 * SLOT + 17);
    target = directory.resolve("target");
  }

  private static Path randomFile(final Path path, final int size) throws IOException {
    final byte[] bytes = new byte[size];
    new Random(size).nextBytes(bytes);
    return Files.write(path, bytes);
  }

  private static Run copy(final Path from, final Path to, final String... options) {
    final Stream<String> arguments =
        Stream.of(Stream.of("copy"), Stream.of(options), Stream.of(from.toString(), to.toString()))
            .flatMap(words -> words);
    return Run.of(from.getFileSystem(), arguments.toArray(String[]::new));
  }

  private static List<String> namesIn(final Path parent) throws IOException {
    try (Stream<Path> files = Files.list(parent)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  /** What went wrong, a line each; a slow machine sees the progress there too. */
  static Stream<String> errors(final Stream<String> lines) {
    return lines.filter(line -> !line.startsWith("copying "));
  }

  private void expectRefusal(final Run run, final String... words) throws IOException {
    assertThat(run.status()).as(run::toString).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(errors(run.err().lines())).singleElement().asString().contains(words);
    assertThat(namesIn(directory)).noneMatch(name -> name.startsWith(".copy"));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, SLOT - 1, SLOT, SLOT + 1, RING - 1, RING, RING + 1, 3 * RING + 12345})
  void shouldCopyEachByte(final int size) throws Exception {
    randomFile(source, size);

    final Run run = copy(source, target);

    assertThat(run.status()).as(run::toString).isZero();
    assertThat(errors(run.err().lines())).isEmpty();
    assertThat(Files.mismatch(source, target)).isEqualTo(-1);
    assertThat(namesIn(directory)).containsExactly("source", "target");
    final String digest =
        HexFormat.of()
            .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(source)));
    assertThat(run.out())
        .startsWith("copied " + size + " bytes in ")
        .containsPattern("chunks +" + (size + SLOT - 1) / SLOT + "\n")
        .containsPattern("bytes of RDMA writes +" + size + "  \\(must be " + size + "\\)\n")
        .containsPattern("SHA-256 +" + digest);
  }

  @Test
  void shouldRefuseAMissingSource() throws IOException {
    Files.delete(source);

    expectRefusal(copy(source, target), "cannot read " + source, "no such file");
    assertThat(namesIn(directory)).isEmpty();
  }

  @Test
  void shouldRefuseADirectoryAsSource() throws IOException {
    expectRefusal(copy(directory, target), "cannot read " + directory, "directory");
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the files and permissions of POSIX")
  void shouldRefuseADeviceAsSource() throws IOException {
    expectRefusal(copy(Path.of("/dev/null"), target), "/dev/null", "not a regular file");
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the files and permissions of POSIX")
  void shouldNotWaitAtAPipe() throws Exception {
    final Path pipe = directory.resolve("pipe");
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);

    expectRefusal(copy(pipe, target), pipe.toString(), "not a regular file");
    expectRefusal(copy(source, pipe, "--force"), pipe.toString(), "not a regular file");
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the files and permissions of POSIX")
  void shouldRefuseASourceThatMayNotBeRead() throws IOException {
    Files.setPosixFilePermissions(source, Set.of());
    assumeFalse(Files.isReadable(source), "this user may read everything");

    expectRefusal(copy(source, target), "cannot read " + source, "permission denied");
  }

  @Test
  void shouldKeepATargetThatExists() throws IOException {
    Files.writeString(target, "old");

    expectRefusal(copy(source, target), target + ": it exists", "--force");
    assertThat(target).hasContent("old");
  }

  @Test
  void shouldReplaceATargetByForce() throws IOException {
    Files.writeString(target, "old");

    assertThat(copy(source, target, "--force").status()).isZero();
    assertThat(Files.mismatch(source, target)).isEqualTo(-1);
    assertThat(namesIn(directory)).containsExactly("source", "target");
  }

  @ParameterizedTest
  @ValueSource(strings = {"rw-------", "r--------", "rwx------"})
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the files and permissions of POSIX")
  void shouldCopyPermissions(final String permissions) throws IOException {
    Files.setPosixFilePermissions(source, PosixFilePermissions.fromString(permissions));
    assumeTrue(Files.isReadable(source));

    assertThat(copy(source, target).status()).isZero();

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
        .isEqualTo(permissions);
  }

  @Test
  void shouldRefuseADirectoryAsTarget() throws IOException {
    expectRefusal(copy(source, directory, "--force"), directory.toString(), "directory");
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the files and permissions of POSIX")
  void shouldNotReplaceADevice() throws IOException {
    expectRefusal(copy(source, Path.of("/dev/null"), "--force"), "/dev/null", "regular file");
  }

  @Test
  void shouldRefuseATargetInNoDirectory() throws IOException {
    expectRefusal(
        copy(source, directory.resolve("no/target")),
        "cannot write " + directory.resolve("no/target"),
        "no directory " + directory.resolve("no"));
    expectRefusal(copy(source, source.resolve("target")), "cannot write");
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the files and permissions of POSIX")
  void shouldRefuseADirectoryThatMayNotBeChanged() throws IOException {
    final Path closed = Files.createDirectory(directory.resolve("closed"));
    Files.setPosixFilePermissions(closed, Set.of(OWNER_READ, OWNER_EXECUTE));
    assumeFalse(Files.isWritable(closed), "this user may write everywhere");

    expectRefusal(copy(source, closed.resolve("target")), "cannot write", "permission denied");
  }

  @Test
  void shouldRefuseToCopyAFileOntoItself() throws IOException {
    final Path link = Files.createLink(directory.resolve("link"), source);
    final Path symbolic = Files.createSymbolicLink(directory.resolve("symbolic"), source);
    final byte[] before = Files.readAllBytes(source);

    for (final Path same : List.of(source, link, symbolic)) {
      expectRefusal(copy(source, same, "--force"), "same file");
    }
    assertThat(source).hasBinaryContent(before);
  }

  @Test
  void shouldReplaceASymbolicLinkAndNotWhatItLeadsTo() throws IOException {
    final Path other = Files.writeString(directory.resolve("other"), "other");
    Files.createSymbolicLink(target, other);

    expectRefusal(copy(source, target), "exists");
    assertThat(copy(source, target, "--force").status()).isZero();

    assertThat(target).isRegularFile();
    assertThat(Files.isSymbolicLink(target)).isFalse();
    assertThat(Files.mismatch(source, target)).isEqualTo(-1);
    assertThat(other).hasContent("other");
  }

  @Test
  void shouldNotFollowALinkThatLeadsNowhere() throws IOException {
    Files.createSymbolicLink(target, directory.resolve("nowhere"));

    expectRefusal(copy(source, target), "exists");
    assertThat(namesIn(directory)).containsExactly("source", "target");
  }

  @Test
  void shouldCopyWhereThereAreNoLinks() throws IOException {
    try (FileSystem disk = Jimfs.newFileSystem(WITHOUT_LINKS)) {
      final Path from = randomFile(disk.getPath("/source"), SLOT + 1);
      final Path to = disk.getPath("/target");

      final Run run = copy(from, to);

      assertThat(run.status()).as(run::toString).isZero();
      assertThat(errors(run.err().lines())).isEmpty();

      assertThat(Files.mismatch(from, to)).isEqualTo(-1);
      assertThat(copy(from, to).err()).contains("exists");
      assertThat(namesIn(disk.getPath("/"))).containsExactly("source", "target", "work");
    }
  }

  @Test
  void shouldLeaveNothingOnAFullDisk() throws IOException {
    final Configuration small =
        Configuration.unix().toBuilder().setMaxSize(2L * RING).setBlockSize(4096).build();
    try (FileSystem disk = Jimfs.newFileSystem(small)) {
      final Path from = randomFile(disk.getPath("/source"), RING + SLOT);
      final Path to = disk.getPath("/target");

      final Run run = copy(from, to);

      assertThat(run.status()).as(run::toString).isEqualTo(1);
      assertThat(errors(run.err().lines())).singleElement().asString().contains("/target", "space");
      assertThat(namesIn(disk.getPath("/"))).containsExactly("source", "work");
    }
  }

  @Test
  void shouldNameAnAdapterThatDoesNotExist() throws IOException {
    expectRefusal(copy(source, target, "--ia", "nosuch"), "NAME_NOT_REGISTERED", "'nosuch'");
    assertThat(target).doesNotExist();
  }

  @Test
  void shouldSayThatItsServiceIsTaken() throws IOException {
    try (InterfaceAdapter other = Dat.open("sim")) {
      other.createPsp(Copy.SERVICE, other.createEvd(1, EventStream.CONNECTION_REQUEST));

      expectRefusal(copy(source, target), "CONN_QUAL_IN_USE");
      other.closeAbruptly(java.time.Duration.ofSeconds(5));
    }
    assertThat(target).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"copy", "copy a", "copy a b c", "copy --bad a b"})
  void shouldRefuseWrongUse(final String arguments) {
    final Run run = Run.of(arguments.split(" "));

    assertThat(run.status()).isEqualTo(2);
    assertThat(run.err().lines()).singleElement().asString().contains("--help");
  }
}
