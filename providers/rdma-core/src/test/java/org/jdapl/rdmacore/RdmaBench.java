package org.jdapl.rdmacore;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.evd.Jdapl;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.VerbsProvider;

/** The contract tests' bench over this provider, with threads; each adapter has its own runtime. */
final class RdmaBench implements Bench {

  private static final long BOUND = TimeUnit.MINUTES.toNanos(1);
  private static final long NAP = TimeUnit.MICROSECONDS.toNanos(50);
  private static final long LONG_NAP = TimeUnit.MILLISECONDS.toNanos(4);
  private static final int SILENT_LOOKS = 5;
  private static final Path TASKS = Path.of("/proc/self/task");
  private static final Pattern AWAKE = Pattern.compile("^\\d+ \\(jdapl-.*\\) R ");

  private final List<Jdapl> runtimes = new ArrayList<>();
  private final List<InterfaceAdapter> adapters = new ArrayList<>();

  private final VerbsProvider provider;

  RdmaBench() {
    this(new RdmaCoreProvider());
  }

  /** With another provider before the real one. */
  RdmaBench(final VerbsProvider provider) {
    this.provider = provider;
  }

  @Override
  public InterfaceAdapter open() {
    final Jdapl runtime = Jdapl.with(provider).parameters("address=" + Side.ADDRESS).start();
    runtimes.add(runtime);
    final InterfaceAdapter adapter = runtime.open();
    adapters.add(adapter);
    return adapter;
  }

  @Override
  public boolean runUntil(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + BOUND;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      LockSupport.parkNanos(NAP);
    }
    return true;
  }

  /**
   * Until no thread of a runtime runs, or would if the machine let it, at so many looks. The kernel
   * says so: for Java, a thread that sleeps in a channel runs.
   */
  @Override
  public void settle() {
    final long deadline = System.nanoTime() + BOUND;
    for (int silent = 0; silent < SILENT_LOOKS && System.nanoTime() - deadline < 0; silent++) {
      LockSupport.parkNanos(LONG_NAP);
      if (isAnyAwake()) {
        silent = -1;
      }
    }
  }

  private static boolean isAnyAwake() {
    try (Stream<Path> tasks = Files.list(TASKS)) {
      return tasks.anyMatch(RdmaBench::isAwake);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isAwake(final Path task) {
    try {
      return AWAKE.matcher(Files.readString(task.resolve("stat"))).find();
    } catch (final IOException e) {
      return false; // it ended
    }
  }

  @Override
  public boolean isVirtual() {
    return false;
  }

  @Override
  public String replay() {
    return provider.toString();
  }

  @Override
  public void close() {
    adapters.forEach(adapter -> adapter.closeAbruptly(Duration.ofSeconds(6)));
    runtimes.forEach(Jdapl::close);
  }
}
