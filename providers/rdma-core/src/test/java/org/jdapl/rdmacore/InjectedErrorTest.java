package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdapl.rdmacore.jni.NativeLibrary;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every call into the libraries fails once; nothing may leak, hang or crash. */
@NeedsNative
@Timeout(120)
class InjectedErrorTest {

  /** A call of a verb, or one of the system, in C. */
  private static final Pattern CALL =
      Pattern.compile("\\b((?:ibv|rdma|epoll)_\\w+|eventfd\\w*|fcntl|close)\\)?\\(");

  /** What has no result that could be an error. */
  private static final Set<String> CANNOT_FAIL =
      Set.of(
          "free_device_list",
          "get_device_name",
          "ack_cq_events",
          "inc_rkey",
          "ack_async_event",
          "rdma_destroy_event_channel",
          "rdma_get_src_port",
          "rdma_ack_cm_event");

  @Test
  void shouldLeakNothingWhicheverCallFails() throws Exception {
    Scenario.run(); // whatever a first use opens for good
    final int before = openFiles();

    assertThat(Scenario.runWithEachCallFailing(VerbsException.ENOMEM)).isEmpty();
    assertThat(Scenario.runWithEachCallFailing(VerbsException.EBUSY)).isEmpty();

    assertThat(openFiles()).as("open files").isEqualTo(before);
    assertThat(Fake.live()).isEmpty();
  }

  private static int openFiles() {
    return new File("/proc/self/fd").list().length;
  }

  /** Every call in the C sources; what goes through the context has no prefix in the fake. */
  private static Set<String> calls() throws Exception {
    final Set<String> calls = new TreeSet<>();
    try (Stream<Path> sources = Files.list(Path.of("src/main/c"))) {
      for (final Path source : sources.filter(path -> path.toString().endsWith(".c")).toList()) {
        CALL.matcher(Files.readString(source))
            .results()
            .map(call -> withoutPrefix(call.group(1)))
            .forEach(calls::add);
      }
    }
    return calls;
  }

  private static String withoutPrefix(final String call) {
    return call.replaceFirst("^ibv_", "");
  }

  @Test
  void shouldKnowTheCallsInTheSources() throws Exception {
    assertThat(calls())
        .containsAll(CANNOT_FAIL)
        .contains("reg_mr", "query_port", "poll_cq", "rdma_reject_ece", "epoll_wait", "close")
        .hasSizeGreaterThan(50);
  }

  @Test
  void required_N03_isCleanUnderTheChecksOfJni() throws Exception {
    assertEachCallFailed(
        new Child()
            .option("-Xcheck:jni")
            .option("-D" + NativeLibrary.PATH + "=" + library("wrapped"))
            .run(Scenario.class));
  }

  @Test
  @NeedsSanitizers
  void required_N03_isCleanUnderSanitizers() throws Exception {
    assertEachCallFailed(sanitized().run(Scenario.class));
  }

  /** All was well, and every call that there is in C, and can fail, did so once at least. */
  private static void assertEachCallFailed(final Child.Result result) throws Exception {
    assertThat(result.output()).endsWith("all is well\n");
    assertThat(result.lines()).hasSize(2);
    assertThat(result.status()).isZero();
    final Set<String> failed = new TreeSet<>();
    for (final String call : result.lines().get(0).split(" ", -1)) {
      failed.add(withoutPrefix(call));
    }
    final Set<String> canFail = calls();
    canFail.removeAll(CANNOT_FAIL);
    assertThat(failed).as("calls that failed in turn").containsAll(canFail);
  }

  @Test
  void shouldLeakNothingWhenMemoryRunsOut() throws Exception {
    final Child.Result result =
        new Child().option("-XX:MaxDirectMemorySize=2m").run(ShortOfMemory.class);

    assertThat(result.output()).endsWith("all is well\n").doesNotContain(" failed 0 times");
    assertThat(result.lines()).hasSize(5);
    assertThat(result.status()).isZero();
  }

  @Test
  void shouldLeakNothingWhenMemoryRunsOutOnceTheDeviceCounts() {
    final EventChannel channel = new RdmaCoreProvider().createEventChannel();
    try (Side side = Side.open(channel)) {
      final String before = Fake.live();
      final Set<Access> rights =
          new AbstractSet<>() {
            @Override
            public Iterator<Access> iterator() {
              throw new OutOfMemoryError("planted");
            }

            @Override
            public int size() {
              return 1;
            }

            @Override
            public boolean contains(final Object right) {
              return right == Access.LOCAL_WRITE;
            }
          };
      assertThatThrownBy(() -> side.device.regMr(side.pd, side.buffer, rights))
          .hasMessage("planted");
      assertThat(Fake.live()).isEqualTo(before);
    } // which closes the domain and the device: neither counts a region
    channel.close();
  }

  private static Path library(final String variant) {
    return Child.NATIVE.resolve(variant).resolve("libjdapl-rdma-core.so");
  }

  @Test
  @NeedsSanitizers
  void shouldFindAMistakeUnderSanitizers() throws Exception {
    final Child.Result result = sanitized().with("FAKE_OVERRUN", "1").run(Scenario.class);

    assertThat(result.output()).contains("AddressSanitizer: heap-buffer-overflow", "poll_cq");
    assertThat(result.status()).isEqualTo(99);
  }

  /** The library and the fake ones, built with AddressSanitizer and UndefinedBehaviorSanitizer. */
  private static Child sanitized() throws Exception {
    final Path directory = Child.NATIVE.resolve("sanitized");
    return new Child()
        .with("LD_PRELOAD", Files.readString(directory.resolve("libasan")).strip())
        .with("LD_LIBRARY_PATH", directory.resolve("fake").toString())
        // Java handles SIGSEGV itself, and has leaks of its own; objects are counted by the fake.
        .with("ASAN_OPTIONS", "handle_segv=0:detect_leaks=0:exitcode=99")
        .option("-D" + NativeLibrary.PATH + "=" + library("sanitized"));
  }
}
