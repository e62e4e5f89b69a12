package org.jdapl.examples.rping;

import java.io.PrintWriter;
import java.net.InetAddress;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.jdapl.examples.AdapterOption;
import org.jdapl.examples.PeerOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The RDMA ping-pong of rdma-core's rping, and its wire protocol: each side may be of C. */
@Command(
    name = "rping",
    header = "RDMA ping-pong, also with the rping of C.",
    description = {
      "A client offers a ping; the server reads it by RDMA, and writes it back as the",
      "pong. Options are those of rping(1), and either side can be its. With -s, -a is",
      "where to listen. Without -s and -c both sides are in this process."
    },
    sortOptions = false)
public final class Rping implements Callable<Integer> {

  private static final long SERVICE = 7174;
  private static final int MIN_SIZE = 23;
  private static final int MAX_SIZE = (64 << 10) - 1;
  private static final long COUNT = 10;

  @Option(
      names = {"-C", "--count"},
      paramLabel = "N",
      description = "Pings of a client, 0 for no end (with -c 0, else " + COUNT + ").")
  private Long count;

  @Option(
      names = {"-S", "--size"},
      paramLabel = "BYTES",
      defaultValue = "64",
      description = "The size of a ping, " + MIN_SIZE + " to " + MAX_SIZE + " (${DEFAULT-VALUE}).")
  private int size;

  @Option(names = "-v", description = "Show the data of each ping.")
  private boolean isVerbose;

  @Option(names = "-V", description = "Compare the pongs with the pings.")
  private boolean isValidated;

  @Option(names = "-d", description = "Show each step.")
  private boolean isDebugged;

  @Mixin private PeerOptions peer;

  @Mixin private AdapterOption ia;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    peer.checkSides(spec);
    if (count != null && count < 0) {
      throw wrong("-C must not be negative and is " + count);
    }
    if (size < MIN_SIZE || size > MAX_SIZE) {
      throw wrong("-S must be " + MIN_SIZE + " to " + MAX_SIZE + " and is " + size);
    }
    try {
      if (peer.isServer()) {
        serve();
      } else if (peer.isClient()) {
        try (Client client = client()) {
          client.ping(peer.address(client.adapter.address()), peer.port(SERVICE), count(0));
        }
      } else {
        both();
      }
      return ExitCode.OK;
    } catch (final RpingException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return ExitCode.SOFTWARE;
    }
  }

  private void serve() throws RpingException, InterruptedException {
    try (Server server = server()) {
      final InetAddress address = peer.address(server.adapter.address());
      final long port = server.listen(address, peer.port(SERVICE));
      out().println("listening at " + address.getHostAddress() + " port " + port);
      server.serve();
      out().println("answered " + server.pings() + " pings");
    }
  }

  private void both() throws RpingException, InterruptedException {
    try (Server server = server();
        Client client = client()) {
      final InetAddress address = peer.address(server.adapter.address());
      final long port = server.listen(address, peer.port(0));
      final FutureTask<Void> serving =
          new FutureTask<>(
              () -> {
                try (server) { // which ends the connection, so that the client hears of a failure
                  server.serve();
                }
                return null;
              });
      new Thread(serving, "rping-server").start();
      client.ping(address, port, count(COUNT));
      serving.get();
      out().println("answered " + server.pings() + " pings of " + size + " bytes");
    } catch (final ExecutionException e) {
      throw new RpingException("the server failed: " + e.getCause());
    }
  }

  private long count(final long byDefault) {
    return count != null ? count : byDefault;
  }

  private Server server() {
    return new Server(ia.name(), size, shown(isVerbose), shown(isDebugged));
  }

  private Client client() {
    return new Client(ia.name(), size, isValidated, shown(isVerbose), shown(isDebugged));
  }

  private Consumer<String> shown(final boolean isWanted) {
    return isWanted ? out()::println : line -> {};
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private ParameterException wrong(final String what) {
    return new ParameterException(spec.commandLine(), what);
  }
}
