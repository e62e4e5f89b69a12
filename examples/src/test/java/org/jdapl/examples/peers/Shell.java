package org.jdapl.examples.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jdapl.guests.Guest;

/** Runs lines of bash in a guest that is up, one after the other. */
final class Shell {

  /** What a guest runs for it. */
  static final String COMMAND =
      "for ((i = 1; ; i++)); do until [[ -e /out/$i.sh ]]; do sleep 0.1; done;"
          + " bash /out/$i.sh >/out/$i.log 2>&1; echo $? >/out/status;"
          + " mv /out/status /out/$i.status; done";

  private static final long NAP = TimeUnit.MILLISECONDS.toNanos(20);

  private final Guest guest;
  private int started;

  Shell(final Guest guest) {
    this.guest = guest;
  }

  /** Starts a line. */
  Job start(final String line) {
    started++;
    final Path written = guest.out().resolve("script");
    try {
      Files.writeString(written, line + "\n");
      Files.move(written, file("sh"), StandardCopyOption.ATOMIC_MOVE);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
    return new Job(line, file("log"), file("status"));
  }

  /** Starts a server, and waits until it listens for connections. */
  Job serve(final String line) {
    final Job job =
        start(
            "rdma resource show cm_id | grep LISTEN && exit 1; " // of a job before this one
                + line
                + " & until rdma resource show cm_id | grep -q LISTEN; do kill -0 $! || break;"
                + " sleep 0.1; done; echo it listens; wait $!");
    job.await(() -> job.isEnded() || job.output().contains("it listens"));
    assertThat(job.isEnded()).as(job::toString).isFalse();
    return job;
  }

  private Path file(final String type) {
    return guest.out().resolve(started + "." + type);
  }

  /** A line that was started. */
  final class Job {

    private final String line;
    private final Path log;
    private final Path status;

    private Job(final String line, final Path log, final Path status) {
      this.line = line;
      this.log = log;
      this.status = status;
    }

    private boolean isEnded() {
      return Files.exists(status);
    }

    private void await(final BooleanSupplier condition) {
      while (!condition.getAsBoolean()) { // the guest ends at its bound
        assertThat(guest.isRunning()).as(() -> this + guest.lastWords()).isTrue();
        LockSupport.parkNanos(NAP);
      }
    }

    /** Waits until it ended well; returns what it printed. */
    String awaitSuccess() {
      await(this::isEnded);
      assertThat(read(status)).as(this::toString).isEqualToIgnoringNewLines("0");
      return output();
    }

    private String output() {
      return Files.exists(log) ? read(log) : "";
    }

    private static String read(final Path file) {
      try {
        return Files.readString(file);
      } catch (final IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public String toString() {
      return line + "\n" + output() + "\n";
    }
  }
}
