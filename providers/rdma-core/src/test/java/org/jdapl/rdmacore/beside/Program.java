package org.jdapl.rdmacore.beside;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A program of C that measures: a server, and a client that prints the figure. */
record Program(List<String> server, List<String> client, int tcpPort, Pattern figure)
    implements Contest {

  private static final long SECONDS = 60;
  private static final Path DAT_CONF = Path.of("/tmp/dat.conf");
  private static final String ADDRESS = "10.8.0.1";

  private static final String NUMBER = "([0-9]+\\.[0-9]+)";

  static Program pingpong(final int size, final int count, final String... options) {
    return of(
        "ibv_rc_pingpong -d rxe0 -g 1 -s "
            + size
            + " -n "
            + count
            + " "
            + String.join(" ", options),
        ADDRESS,
        18_515,
        NUMBER + " usec/iter");
  }

  static Program writeBw(final int size, final int count) {
    return of(
        "ib_write_bw -d rxe0 -x 1 -s " + size + " -n " + count,
        ADDRESS,
        18_515,
        size + " +" + count + " +[0-9.]+ +" + NUMBER);
  }

  static Program dtestcm(final int count, final int burst) {
    return of("dtestcm -c " + count + " -b " + burst, "-h " + ADDRESS, 15_828, "CPS +" + NUMBER);
  }

  private static Program of(
      final String command, final String toServer, final int tcpPort, final String figure) {
    return new Program(
        List.of(command.strip().split(" +")),
        List.of((command + " " + toServer).split(" +")),
        tcpPort,
        Pattern.compile(figure));
  }

  @Override
  public double drive() throws IOException, InterruptedException {
    final Path log = Files.createTempFile("client", ".log");
    end(start(client, log), client, log);
    final Matcher matcher = figure.matcher(Files.readString(log));
    if (!matcher.find()) {
      throw new IllegalStateException(client + " said no figure: " + Files.readString(log));
    }
    return Double.parseDouble(matcher.group(1));
  }

  @Override
  public void serve(final Runnable ready) throws IOException, InterruptedException {
    final Path log = Files.createTempFile("server", ".log");
    final Process serving = start(server, log);
    awaitListening(serving, log);
    ready.run();
    end(serving, server, log);
  }

  private static Process start(final List<String> command, final Path log) throws IOException {
    // The name is dtestcm's default; Debian's own file has none for soft-RoCE.
    Files.writeString(
        DAT_CONF,
        "ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"eth0 0\" \"\"\n");
    final ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(Map.of("DAT_OVERRIDE", DAT_CONF.toString()));
    return builder.start();
  }

  private static void end(final Process process, final List<String> command, final Path log)
      throws IOException, InterruptedException {
    if (!process.waitFor(SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
      process.destroyForcibly();
      throw new IllegalStateException(command + " failed: " + Files.readString(log));
    }
  }

  private void awaitListening(final Process process, final Path log)
      throws IOException, InterruptedException {
    final String listens = String.format(Locale.ROOT, ":%04X [0:.A-F]+ 0A ", tcpPort);
    final Pattern pattern = Pattern.compile(listens.replace(" ", " +"));
    while (!isListening(pattern)) {
      if (process.waitFor(20, TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException(server + " ended: " + Files.readString(log));
      }
    }
  }

  private static boolean isListening(final Pattern pattern) throws IOException {
    final List<String> tables = new ArrayList<>();
    for (final String table : new String[] {"/proc/net/tcp", "/proc/net/tcp6"}) {
      tables.add(Files.readString(Path.of(table), StandardCharsets.US_ASCII));
    }
    return tables.stream().anyMatch(table -> pattern.matcher(table).find());
  }
}
