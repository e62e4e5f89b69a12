package org.jdapl.examples.copy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@Timeout(value = 2, unit = TimeUnit.MINUTES)
class TargetTest {

  private static final FileAttribute<?> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  @TempDir private Path directory;

  /** Opens the target and writes its text; then both do the last step at once. */
  private static Callable<Boolean> writer(
      final Path path, final String text, final CyclicBarrier barrier) {
    return () -> {
      try (Target target = new Target(path, false)) {
        target.open();
        target.write(UTF_8.encode(text), 0);
        barrier.await();
        target.complete();
        return true;
      } catch (final CopyException e) {
        assertThat(e).hasMessageContaining("it exists");
        return false;
      }
    };
  }

  @RepeatedTest(100)
  void shouldNotReplaceWhatAppearsAtTheLastMoment() throws Exception {
    final Path path = directory.resolve("target");
    final CyclicBarrier barrier = new CyclicBarrier(2);
    final ExecutorService threads = Executors.newFixedThreadPool(2);
    try {
      final Future<Boolean> one = threads.submit(writer(path, "one", barrier));
      final Future<Boolean> two = threads.submit(writer(path, "two", barrier));

      assertThat(one.get()).as("one is written, two: %s", two.get()).isNotEqualTo(two.get());
      assertThat(path).hasContent(one.get() ? "one" : "two");
      try (Stream<Path> files = Files.list(directory)) {
        assertThat(files).containsExactly(path);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "needs the permissions of POSIX")
  void shouldHaveItsPermissionsBeforeItHasBytes() throws Exception {
    try (Target target = new Target(directory.resolve("target"), false)) {
      target.open(PRIVATE);

      try (Stream<Path> files = Files.list(directory)) {
        final Path partial = files.findFirst().orElseThrow();
        assertThat(Files.getPosixFilePermissions(partial)).isEqualTo(PRIVATE.value());
      }
    }
  }

  @Test
  void shouldLeaveOutPermissionsWhereThereAreNone() throws Exception {
    try (FileSystem disk = Jimfs.newFileSystem(Configuration.windows());
        Target target = new Target(disk.getPath("C:\\target"), false)) {
      target.open(PRIVATE);
      target.complete();

      assertThat(disk.getPath("C:\\target")).isEmptyFile();
    }
  }
}
