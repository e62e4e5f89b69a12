package org.jdapl.rdmacore.beside;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The other process, which does the same as this one: one drives, the other one, its child, serves.
 * They tell each other numbers over the child's standard streams.
 */
final class Partner implements AutoCloseable {

  private static final long PATIENCE = 60;

  private final Process child;
  private final DataInputStream in;
  private final DataOutputStream out;

  private Partner(final Process child, final InputStream in, final OutputStream out) {
    this.child = child;
    this.in = new DataInputStream(in);
    this.out = new DataOutputStream(out);
  }

  /** Starts the one that serves: this program, on a processor of its own, without arguments. */
  static Partner start(final Class<?> program, final int processor) throws IOException {
    final List<String> command = new ArrayList<>();
    command.addAll(List.of("taskset", "-c", "" + processor));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
    final Process child =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    return new Partner(child, child.getInputStream(), child.getOutputStream());
  }

  /** The one that drives, of which this process is the child. */
  static Partner parent() {
    return new Partner(null, System.in, System.out);
  }

  /** Whether it serves, and this process drives. */
  boolean serves() {
    return child != null;
  }

  void tell(final long number) {
    try {
      out.writeLong(number);
      out.flush();
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it tells; fails if it ended. */
  long hear() {
    try {
      return in.readLong();
    } catch (final IOException e) {
      throw new UncheckedIOException("the other process ended", e);
    }
  }

  /** Ends it; it ended well if it was told to. */
  @Override
  public void close() {
    if (child != null) {
      child.destroy();
    }
  }

  /** Waits until it ends, and fails if it does not end well. */
  void awaitEnd() throws InterruptedException {
    if (!child.waitFor(PATIENCE, TimeUnit.SECONDS) || child.exitValue() != 0) {
      throw new IllegalStateException("the process that serves did not end well");
    }
  }
}
