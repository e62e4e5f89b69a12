package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdapl.rdmacore.jni.NativeLibrary;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every call into the libraries fails once; nothing may leak, hang or crash. */
@NeedsNative
@Timeout(120)
class InjectedErrorTest {

  private static final Pattern NAME = Pattern.compile("f\\(((?:ibv|rdma)_\\w+)\\)");
  private static final Set<String> THROUGH_THE_CONTEXT =
      Set.of(
          "poll_cq",
          "req_notify_cq",
          "post_send",
          "post_recv",
          "post_srq_recv",
          "alloc_mw",
          "dealloc_mw",
          "bind_mw");

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

  @Test
  void shouldCallEveryVerbThatIsLookedUp() throws Exception {
    final Set<String> verbs = new TreeSet<>(THROUGH_THE_CONTEXT);
    final Matcher name = NAME.matcher(Files.readString(Path.of("src/main/c/jdapl.h")));
    while (name.find()) {
      verbs.add(name.group(1));
    }

    assertThat(Scenario.run()).isNull();

    assertThat(Set.of(Fake.called().split("\n", -1))).containsAll(verbs);
  }

  @Test
  void required_N03_isCleanUnderTheChecksOfJni() throws Exception {
    final Child.Result result = new Child().option("-Xcheck:jni").run(Scenario.class);

    assertThat(result.lines()).containsExactly("all is well");
    assertThat(result.status()).isZero();
  }

  @Test
  void required_N03_isCleanUnderSanitizers() throws Exception {
    final Child.Result result = sanitized().run(Scenario.class);

    assertThat(result.lines()).containsExactly("all is well");
    assertThat(result.status()).isZero();
  }

  @Test
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
        .option("-D" + NativeLibrary.PATH + "=" + directory.resolve("libjdapl-rdma-core.so"));
  }
}
