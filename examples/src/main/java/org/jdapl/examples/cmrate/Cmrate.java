package org.jdapl.examples.cmrate;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jdapl.examples.AdapterOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures connections per second, as dtestcm of C DAPL does: each side may be of C. */
@Command(
    name = "cmrate",
    header = "Measures connections per second, also with the dtestcm of C DAPL.",
    description = {
      "A client connects many endpoints to a server, and ends the connections when",
      "all stand. Options are those of dtestcm(1), and either side can be its.",
      "Without -s and -h both sides are in this process."
    },
    sortOptions = false)
public final class Cmrate implements Callable<Integer> {

  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int MAX_PORT = 65_535;
  private static final int MAX_CONNECTIONS = 100_000;

  @Option(names = "-s", description = "Be the side that listens; the other runs elsewhere.")
  private boolean isServer;

  @Option(
      names = "-h",
      paramLabel = "HOST",
      description = "Be the side that connects, to this server; it is asked by TCP first.")
  private String host;

  @Option(
      names = "-c",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Connections to make; the same at both sides (${DEFAULT-VALUE}).")
  private int connections;

  @Option(
      names = "-b",
      paramLabel = "N",
      defaultValue = "100",
      description = "Connections that a client makes at a time (${DEFAULT-VALUE}).")
  private int burst;

  @Option(
      names = "-p",
      paramLabel = "PORT",
      defaultValue = "45248",
      description = "With -s or -h: where the server listens (${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "-P",
      paramLabel = "NAME",
      defaultValue = "ofa-v2-ib0",
      description = "With -s: what a client of C opens, of its dat.conf (${DEFAULT-VALUE}).")
  private String provider;

  @Mixin private AdapterOption ia;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    check();
    try {
      if (isServer) {
        serve();
      } else if (host != null) {
        final Whereabouts server = Whereabouts.ask(host, Whereabouts.PORT, PATIENCE);
        try (Client client = new Client(ia.name(), connections)) {
          connect(client, server.address(), port);
        }
      } else {
        both();
      }
      return ExitCode.OK;
    } catch (final CmrateException e) {
      spec.commandLine().getErr().println(e.getMessage());
      return ExitCode.SOFTWARE;
    }
  }

  private void check() {
    if (isServer && host != null) {
      throw wrong("-s and -h are two processes; expected one of them");
    }
    if (connections < 1 || connections > MAX_CONNECTIONS) {
      throw wrong("-c must be 1 to " + MAX_CONNECTIONS + " and is " + connections);
    }
    if (burst < 1) {
      throw wrong("-b must be at least 1 and is " + burst);
    }
    if (port < 1 || port > MAX_PORT) {
      throw wrong("-p must be 1 to " + MAX_PORT + " and is " + port);
    }
    if (provider.length() > Whereabouts.MAX_PROVIDER) {
      throw wrong(
          "-P must have at most "
              + Whereabouts.MAX_PROVIDER
              + " characters and has "
              + provider.length());
    }
  }

  private void serve() throws CmrateException, InterruptedException {
    try (Server server = new Server(ia.name(), connections);
        ServerSocket socket = new ServerSocket(Whereabouts.PORT)) {
      final InetAddress address = server.adapter.address();
      final long service = server.listen(port);
      out().println("listening at " + address.getHostAddress() + " port " + service);
      new Whereabouts(address, provider).tell(socket);
      server.serve();
      out().println("accepted " + connections + " connections");
    } catch (final IOException e) {
      throw new CmrateException("cannot tell a client of this server: " + e);
    }
  }

  private void both() throws CmrateException, InterruptedException {
    try (Server server = new Server(ia.name(), connections);
        Client client = new Client(ia.name(), connections)) {
      final long service = server.listen(0);
      final FutureTask<Void> serving =
          new FutureTask<>(
              () -> {
                try (server) { // which ends the connections, so that the client hears of a failure
                  server.serve();
                }
                return null;
              });
      new Thread(serving, "cmrate-server").start();
      connect(client, server.adapter.address(), service);
      serving.get();
    } catch (final ExecutionException e) {
      throw new CmrateException("the server failed: " + e.getCause());
    }
  }

  private void connect(final Client client, final InetAddress server, final long service)
      throws CmrateException, InterruptedException {
    final double seconds = client.connect(server, service, burst) / 1e9;
    client.disconnect();
    out()
        .printf(
            Locale.ROOT,
            "%d connections in %.3f s, %d at a time: %.1f per second%n",
            connections,
            seconds,
            Math.min(burst, connections),
            connections / seconds);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private ParameterException wrong(final String what) {
    return new ParameterException(spec.commandLine(), what);
  }
}
