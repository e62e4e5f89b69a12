package org.jdapl.examples.stress;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jdapl.evd.Jdapl;
import org.jdapl.examples.AdapterOption;
import org.jdapl.examples.PeerOptions;
import org.jdapl.examples.Progress;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Everything at once, and then the account. */
@Command(
    name = "stress",
    header = "Does everything at once, and balances the books at the end.",
    description = {
      "Posters of software events, connections with traffic both ways that end in",
      "every way and begin again, policies that change all the time, dequeues, EVDs",
      "that are closed in the middle, a slow consumer and one that throws: on real",
      "threads, for a given time. It checks that each event came once, in order, and",
      "no more upcalls at once than may be. What is done follows from the seed; what",
      "the threads make of it does not.",
      "With -s and -c each side is a process of its own, with an account of its own;",
      "both get the same --connections. A side ends when its time is over, which for a",
      "server begins with its client, or when its peer said nothing for 30 s.",
      "--ia takes the name of a provider, with its default device, and none of",
      "dat.conf."
    },
    sortOptions = false)
public final class Stress implements Callable<Integer> {

  private static final int MAX_POSTERS = 64;
  static final int MAX_CONNECTIONS = 60;
  private static final Duration SILENCE = Duration.ofSeconds(30);
  private static final long SERVICE = 4714;
  private static final long LOOK_PERIOD = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LINE_PERIOD = TimeUnit.SECONDS.toNanos(10);
  private static final long TERMINAL_PERIOD = TimeUnit.SECONDS.toNanos(1);

  @Option(
      names = "--time",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "How long (${DEFAULT-VALUE}).")
  private long seconds;

  @Option(
      names = "--posters",
      paramLabel = "P",
      defaultValue = "2",
      description =
          "Threads that post software events, 1 to " + MAX_POSTERS + " (${DEFAULT-VALUE}).")
  private int posters;

  @Option(
      names = "--connections",
      paramLabel = "Q",
      defaultValue = "8",
      description = "Connections at once, 1 to " + MAX_CONNECTIONS + " (${DEFAULT-VALUE}).")
  private int connections;

  @Option(
      names = "--dispatchers",
      paramLabel = "N",
      defaultValue = "2",
      description = "Threads that give the EVDs their turns (${DEFAULT-VALUE}).")
  private int dispatchers;

  @Option(
      names = "--seed",
      paramLabel = "SEED",
      description = "Where all choices come from; another one each time by default.")
  private Long seed;

  @Mixin private PeerOptions peer;

  @Mixin private AdapterOption ia;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    requireRange("--time", seconds, TimeUnit.DAYS.toSeconds(365));
    requireRange("--posters", posters, MAX_POSTERS);
    requireRange("--connections", connections, MAX_CONNECTIONS);
    requireRange("--dispatchers", dispatchers, MAX_POSTERS);
    final long chosen = seed != null ? seed : System.nanoTime() & 0xFFFF_FFFFL;
    // Its consumer throws on purpose, thousands of times.
    System.setProperty("org.slf4j.simpleLogger.log.org.jdapl.dat.Evd", "off");

    peer.check(spec);
    final PrintWriter out = spec.commandLine().getOut();
    final Account account = new Account(!peer.isServer() && !peer.isClient());
    final String which;
    try (Jdapl jdapl = Jdapl.with(ia.name()).dispatchers(dispatchers).start()) {
      final Arena arena = new Arena(jdapl, dispatchers, account, chosen, posters, connections);
      open(arena, out);
      which = peer.isClient() ? " to " + server(arena) : "";
      out.printf(
          "stress for %d s, seed %d: %d posters, %d connections, %d dispatchers on %s%n",
          seconds, chosen, posters, connections, dispatchers, ia.name());
      out.flush();
      arena.start();
      try {
        run(arena, account);
      } finally {
        arena.finish();
      }
    }
    account.balance();
    account.print(out);
    printMore(out, account);
    out.flush();
    return verdict(account, chosen, which);
  }

  /** Opens what is of this process, and waits for the peer of a server as long as it takes. */
  private void open(final Arena arena, final PrintWriter out) throws InterruptedException {
    long service = peer.port(SERVICE);
    if (!peer.isClient()) {
      service = arena.serve(service);
    }
    if (!peer.isServer()) {
      arena.connect(peer::address, service);
      return;
    }
    out.println("listening at " + arena.address().getHostAddress() + " port " + service);
    out.flush();
    while (!arena.hasHeard()) {
      TimeUnit.NANOSECONDS.sleep(LOOK_PERIOD);
    }
  }

  private String server(final Arena arena) {
    return peer.address(arena.address()).getHostAddress() + " port " + peer.port(SERVICE);
  }

  /** Lets it go on until the time is over, something went wrong, or the peer is lost. */
  private void run(final Arena arena, final Account account) throws InterruptedException {
    final boolean terminal = Progress.isTerminal();
    final PrintWriter err = spec.commandLine().getErr();
    final long start = System.nanoTime();
    final long end = start + TimeUnit.SECONDS.toNanos(seconds);
    long nextLine = start;
    long eventsBefore = 0;
    long lineBefore = start;
    while (System.nanoTime() - end < 0 && !account.isBreached() && !isLost(arena, account)) {
      account.awaitBreach(LOOK_PERIOD);
      final long now = System.nanoTime();
      arena.checkProgress(now);
      if (now - nextLine >= 0) {
        final long events = account.delivered();
        final String line =
            line(
                TimeUnit.NANOSECONDS.toSeconds(now - start),
                events,
                (events - eventsBefore) * 1e9 / Math.max(1, now - lineBefore),
                arena.wakes(),
                account.connections.sum());
        if (terminal) {
          err.print(Progress.overwriting(line));
        } else {
          err.println(line);
        }
        err.flush();
        eventsBefore = events;
        lineBefore = now;
        nextLine = now + (terminal ? TERMINAL_PERIOD : LINE_PERIOD);
      }
    }
    if (terminal) {
      err.println();
    }
  }

  /** Whether the peer is gone; which is no breach where it is another process. */
  private boolean isLost(final Arena arena, final Account account) {
    if (!arena.isSilent(SILENCE, System.nanoTime())) {
      return false;
    }
    final String silent = "the peer said nothing for " + SILENCE.toSeconds() + " s";
    if (account.isWhole()) {
      account.breach(silent);
    } else {
      spec.commandLine().getOut().println(silent);
    }
    return true;
  }

  /** How far it is, in 79 columns for the first hours. */
  static String line(
      final long seconds,
      final long events,
      final double perSecond,
      final long wakes,
      final long connections) {
    return String.format(
        Locale.ROOT,
        "%4d s: %,13d events, %,9.0f/s, %,9d wakes, %,7d connections",
        seconds,
        events,
        perSecond,
        wakes,
        connections);
  }

  private static void printMore(final PrintWriter out, final Account account) {
    out.printf(Locale.ROOT, "%n");
    print(out, "events", account.delivered());
    print(out, "arm-idle-wake cycles", account.wakes.sum());
    print(out, "dispatchers slept", account.sleeps.sum());
    print(out, "connections, each end", account.connections.sum());
    print(out, "peers that did not answer", account.silences.sum());
    print(out, "strangers that were rejected", account.strangers.sum());
    print(out, "policy changes", account.policyChanges.sum());
    print(out, "dequeued", account.dequeued.sum());
    print(out, "calls refused, as they should", account.refusals.sum());
    print(out, "handler failures, on purpose", account.thrown.sum());
    print(out, "EVDs closed", account.closedEvds.sum());
  }

  private static void print(final PrintWriter out, final String what, final long count) {
    out.printf(Locale.ROOT, "  %-32s%,16d%n", what, count);
  }

  private int verdict(final Account account, final long chosen, final String which) {
    final PrintWriter err = spec.commandLine().getErr();
    if (!account.isBreached() && account.connections.sum() == 0) {
      err.printf(
          "no connection%s was made, the last one came to %s: %s%n",
          which,
          account.outcome,
          peer.isClient() ? "start stress -s there first" : "give it more --time");
      return ExitCode.SOFTWARE;
    }
    if (!account.isBreached()) {
      spec.commandLine()
          .getOut()
          .println("posted = delivered + reported + suppressed: all is well");
      return ExitCode.OK;
    }
    account.breaches().forEach(breach -> err.println("BREACH: " + breach));
    err.printf(
        "FAILED: %d breaches; again with --seed %d --posters %d --connections %d --dispatchers"
            + " %d%n",
        account.breachCount(), chosen, posters, connections, dispatchers);
    return ExitCode.SOFTWARE;
  }

  private void requireRange(final String option, final long value, final long most) {
    if (value < 1 || value > most) {
      throw new ParameterException(
          spec.commandLine(), option + " must be 1 to " + most + " and is " + value);
    }
  }
}
