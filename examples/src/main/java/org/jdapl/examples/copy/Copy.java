package org.jdapl.examples.copy;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jdapl.examples.AdapterOption;
import org.jdapl.examples.PeerOptions;
import org.jdapl.examples.Progress;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copies a file from a sender to a receiver, which have nothing in common but the network. */
@Command(
    name = "copy",
    header = "Copies a file by RDMA writes.",
    description = {
      "A sender reads SOURCE and writes it into a receiver's memory, as long as it has",
      "credits; the receiver writes TARGET. Both compute a digest, which are compared.",
      "TARGET gets its name when it is complete. It has the permissions of SOURCE,",
      "less those of the umask; owner and times are not copied.",
      "Each side can be a process of its own: copy -s TARGET, then copy -c SOURCE; the",
      "TARGET of such a server has the permissions of a new file."
    },
    sortOptions = false)
public final class Copy implements Callable<Integer> {

  static final long SERVICE = 4712;

  @Parameters(index = "0", paramLabel = "SOURCE", description = "The file to read.")
  private Path first;

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "TARGET",
      description = "The file to write. With -s or -c, only one is named.")
  private Path second;

  @Option(
      names = "--force",
      description = {
        "Replace TARGET if it exists; of a symbolic link,",
        "the link and not the file it leads to."
      })
  private boolean force;

  @Mixin private PeerOptions peer;

  @Mixin private AdapterOption ia;

  @Spec private CommandSpec spec;

  private volatile boolean isInterrupted;

  @Override
  public Integer call() throws InterruptedException {
    final PrintWriter out = spec.commandLine().getOut();
    final PrintWriter err = spec.commandLine().getErr();
    peer.check(spec);
    checkPaths();
    try {
      if (peer.isServer()) {
        receive(new Target(first, force), out);
      } else if (peer.isClient()) {
        send(out);
      } else {
        try (Source source = Source.open(first)) {
          expectOther();
          print(copy(source, new Target(second, force)), out);
        }
      }
      return ExitCode.OK;
    } catch (final CopyException e) {
      if (!isInterrupted) {
        err.println(e.getMessage());
      }
      return ExitCode.SOFTWARE;
    }
  }

  private void checkPaths() {
    final boolean isOneSide = peer.isServer() || peer.isClient();
    if (isOneSide && second != null) {
      throw new ParameterException(
          spec.commandLine(),
          "expected one file, " + (peer.isServer() ? "TARGET" : "SOURCE") + ", but also " + second);
    }
    if (!isOneSide && second == null) {
      throw new ParameterException(
          spec.commandLine(), "Missing required parameter: 'TARGET'; or one of -s and -c");
    }
  }

  /** The server's side alone. */
  private void receive(final Target target, final PrintWriter out)
      throws CopyException, InterruptedException {
    try (Receiver receiver = new Receiver(ia.name(), peer.port(SERVICE), target, Link.PATIENCE)) {
      final Thread hook = new Thread(() -> interrupt(target, first), "copy-interrupt");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        target.open();
        out.println(
            "listening at "
                + receiver.address().getHostAddress()
                + " port "
                + receiver.service()
                + ", for "
                + Link.PATIENCE.toSeconds()
                + " s");
        receiver.receive();
      } finally {
        target.close();
        remove(hook);
      }
      out.printf("received %d bytes%n", receiver.received());
    }
  }

  /** The client's side alone. */
  @SuppressWarnings("try") // the progress shows itself
  private void send(final PrintWriter out) throws CopyException, InterruptedException {
    final Sender.Result result;
    try (Source source = Source.open(first);
        Sender sender = new Sender(ia.name(), source, Link.PATIENCE);
        Progress shown = progress(source, sender)) {
      result = sender.send(peer.address(sender.address()), peer.port(SERVICE));
    }
    print(result, out);
  }

  private Progress progress(final Source source, final Sender sender) {
    return Progress.start(
        spec.commandLine().getErr(),
        "copying",
        Progress.Unit.BYTES,
        source.size(),
        sender::written);
  }

  private void expectOther() throws CopyException {
    boolean same = false;
    try {
      same = Files.isSameFile(first, second);
    } catch (final IOException e) {
      // there is no such target, or what else is wrong will be found soon
    }
    if (same) {
      throw new CopyException(first + " and " + second + " are the same file");
    }
  }

  private Sender.Result copy(final Source source, final Target target)
      throws CopyException, InterruptedException {
    final long service = peer.port(SERVICE);
    try (Receiver receiver = new Receiver(ia.name(), service, target, Link.PATIENCE);
        Sender sender = new Sender(ia.name(), source, Link.PATIENCE);
        Progress progress = progress(source, sender)) {
      final Thread hook = new Thread(() -> interrupt(target, progress), "copy-interrupt");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        target.open(source.permissions());
        return copy(sender, receiver);
      } finally {
        target.close();
        remove(hook);
      }
    }
  }

  private static Sender.Result copy(final Sender sender, final Receiver receiver)
      throws CopyException, InterruptedException {
    final FutureTask<Void> receiving =
        new FutureTask<>(
            () -> {
              receiver.receive();
              return null;
            });
    new Thread(receiving, "copy-receiver").start();
    final Sender.Result result;
    try {
      result = sender.send(receiver.address(), receiver.service());
    } finally {
      receiver.stop();
      awaitDone(receiving);
    }
    return result;
  }

  /** Whatever went wrong there, the sender knows. */
  private static void awaitDone(final FutureTask<Void> receiving) throws InterruptedException {
    try {
      receiving.get();
    } catch (final ExecutionException e) {
      // told to the sender
    }
  }

  /** Runs at the end of the JVM, whose exit status tells the signal. */
  private void interrupt(final Target target, final Progress progress) {
    isInterrupted = true;
    progress.close();
    interrupt(target, second);
  }

  private void interrupt(final Target target, final Path path) {
    isInterrupted = true;
    final boolean isLeftOut = target.discard();
    spec.commandLine()
        .getErr()
        .println(
            isLeftOut
                ? "interrupted; " + path + " was not written"
                : "interrupted; " + path + " is complete");
  }

  private static void remove(final Thread hook) {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (final IllegalStateException e) {
      // it runs
    }
  }

  private static void print(final Sender.Result result, final PrintWriter out) {
    final double seconds = result.nanos() / 1e9;
    out.printf(
        Locale.ROOT,
        "copied %d bytes in %.3f s: %.1f MiB/s%n",
        result.bytes(),
        seconds,
        result.bytes() / seconds / (1 << 20));
    out.printf("  %-26s%d%n", "chunks", result.chunks());
    out.printf("  %-26s%d%n", "waited for credits", result.waits());
    out.printf(
        "  %-26s%d  (must be %d)%n", "bytes of RDMA writes", result.written(), result.bytes());
    out.printf("  %-26s%s  (of both sides)%n", "SHA-256", result.digest());
  }
}
