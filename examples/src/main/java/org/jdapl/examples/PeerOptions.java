package org.jdapl.examples;

import java.net.InetAddress;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options that give a process one side only, named as those of rping; a mixin. */
public final class PeerOptions {

  private static final long MAX_PORT = 65_535;

  @Option(
      names = {"-s", "--server"},
      description = "Be the side that listens; the other runs elsewhere.")
  private boolean isServer;

  @Option(
      names = {"-c", "--client"},
      description = "Be the side that connects; the other runs elsewhere.")
  private boolean isClient;

  @Option(
      names = {"-a", "--address"},
      paramLabel = "ADDR",
      description = "With -c: where the server is (the adapter's own).")
  private InetAddress address;

  @Option(
      names = {"-p", "--port"},
      paramLabel = "PORT",
      description = "Where the server listens; with -s, 0 for any that is free.")
  private Long port;

  /** Whether this process is the server only. */
  public boolean isServer() {
    return isServer;
  }

  /** Whether this process is the client only. */
  public boolean isClient() {
    return isClient;
  }

  /** Where the server is, if that was said. */
  public InetAddress address(final InetAddress own) {
    return address != null ? address : own;
  }

  /** Where the server listens, if that was said. */
  public long port(final long byDefault) {
    return port != null ? port : byDefault;
  }

  /** Refuses what does not go together. */
  public void check(final CommandSpec spec) {
    checkSides(spec);
    if (address != null && !isClient) {
      throw wrong(spec, "-a says where a client finds the server; expected -c with it");
    }
  }

  /** Refuses what does not go together, where a server may be told at which address to listen. */
  public void checkSides(final CommandSpec spec) {
    if (isServer && isClient) {
      throw wrong(spec, "-s and -c are two processes; expected one of them");
    }
    final long least = isServer ? 0 : 1;
    if (port != null && (port < least || port > MAX_PORT)) {
      throw wrong(spec, "-p must be " + least + " to " + MAX_PORT + " and is " + port);
    }
  }

  private static ParameterException wrong(final CommandSpec spec, final String what) {
    return new ParameterException(spec.commandLine(), what);
  }
}
