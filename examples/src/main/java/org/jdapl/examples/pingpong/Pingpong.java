package org.jdapl.examples.pingpong;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jdapl.evd.Jdapl;
import org.jdapl.evd.WaitStrategy;
import org.jdapl.examples.AdapterOption;
import org.jdapl.examples.PeerOptions;
import org.jdapl.examples.Progress;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.VerbsProvider;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * Measures round trips.
 *
 * <p>How dispatchers wait is chosen where a runtime is composed. So this example composes its own,
 * with {@code org.jdapl.evd}, while most others know {@code org.jdapl.dat} only.
 */
@Command(
    name = "pingpong",
    header = "Measures how long a message and its answer take.",
    description = {
      "A client sends a message, and the next one when a server answered. Each side",
      "has a dispatcher of its own; with -s and -c each is a process of its own.",
      "--ia takes the name of a provider, with its default device, and none of",
      "dat.conf."
    },
    sortOptions = false)
public final class Pingpong implements Callable<Integer> {

  /** How a dispatcher waits for work. */
  enum Wait {
    SPIN,
    PARK,
    CHANNEL;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Picocli's own converter would name the constants, not what is to be written. */
  private static final class WaitConverter implements ITypeConverter<Wait> {

    @Override
    public Wait convert(final String value) {
      return Stream.of(Wait.values())
          .filter(wait -> wait.toString().equalsIgnoreCase(value))
          .findFirst()
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "expected spin, park or channel but was '" + value + "'"));
    }
  }

  private static final long SERVICE = 4713;
  private static final long MAX_ITERATIONS = 1_000_000_000_000L;
  private static final int MAX_SIZE = 16 << 20;
  private static final int SPINNING = 2;
  private static final long LOOK_MILLIS = 100;
  private static final int STALL_LOOKS = 200;

  @Option(
      names = "--iterations",
      paramLabel = "N",
      defaultValue = "100000",
      description = "Round trips to measure (${DEFAULT-VALUE}).")
  private long iterations;

  @Option(
      names = "--size",
      paramLabel = "BYTES",
      defaultValue = "64",
      description = "The size of a message, 0 to " + MAX_SIZE + " (${DEFAULT-VALUE}).")
  private int size;

  @Option(
      names = "--wait",
      paramLabel = "HOW",
      defaultValue = "park",
      converter = WaitConverter.class,
      description = {
        "How a dispatcher waits (${DEFAULT-VALUE}):",
        "spin     spin all the time; takes a core for each",
        "park     spin briefly, then park",
        "channel  spin briefly, then sleep in the",
        "         provider's event channel"
      })
  private Wait wait;

  @Option(
      names = "--json",
      description = "Print one JSON object and nothing else, times in nanoseconds.")
  private boolean json;

  @Mixin private PeerOptions peer;

  @Mixin private AdapterOption ia;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws InterruptedException {
    if (iterations < 1 || iterations > MAX_ITERATIONS) {
      throw wrong("--iterations must be 1 to " + MAX_ITERATIONS + " and is " + iterations);
    }
    if (size < 0 || size > MAX_SIZE) {
      throw wrong("--size must be 0 to " + MAX_SIZE + " and is " + size);
    }
    peer.check(spec);
    final PrintWriter out = spec.commandLine().getOut();
    final PrintWriter err = spec.commandLine().getErr();
    final VerbsProvider provider = provider();
    final int processors = Runtime.getRuntime().availableProcessors();
    if (wait == Wait.SPIN && processors < SPINNING + 1) {
      err.println(
          SPINNING
              + " dispatchers spin, and there are "
              + processors
              + " processors: they take turns with the provider's threads, and the times show it");
    }
    final WaitStrategy strategy =
        wait == Wait.SPIN ? WaitStrategy.BUSY_SPIN : WaitStrategy.SPIN_THEN_BLOCK;
    if (peer.isServer()) {
      try (Server server = new Server(provider, strategy, size)) {
        return serve(server, out, err);
      }
    }
    try (Server server = peer.isClient() ? null : new Server(provider, strategy, size);
        Client client = new Client(provider, strategy, size, iterations)) {
      final String failure = play(client, server);
      if (failure != null) {
        err.println(failure);
        return ExitCode.SOFTWARE;
      }
      final Result result =
          new Result(
              ia.name(),
              wait.toString(),
              size,
              client.warmUp(),
              client.nanos(),
              client.statistics(),
              server == null ? null : server.statistics());
      if (json) {
        out.println(result.toJson());
      } else {
        result.print(out);
      }
      return ExitCode.OK;
    }
  }

  /** The server's side alone. */
  private int serve(final Server server, final PrintWriter out, final PrintWriter err)
      throws InterruptedException {
    final long service = server.listen(peer.port(SERVICE));
    server.start();
    out.println("listening at " + server.address().getHostAddress() + " port " + service);
    server.connected().await(); // as long as it takes; Ctrl-C ends it
    String failure = server.failure();
    if (failure == null && !await(server.finished(), server::answers, STALL_LOOKS)) {
      failure = "no message for " + STALL_LOOKS * LOOK_MILLIS / 1_000 + " s";
    }
    failure = failure == null ? server.failure() : failure;
    if (failure != null) {
      err.println(failure + ", after " + server.answers() + " answers");
      return ExitCode.SOFTWARE;
    }
    out.println("answered " + server.answers() + " messages");
    return ExitCode.OK;
  }

  /** Returns what failed; null if nothing did. */
  private String play(final Client client, final Server server) throws InterruptedException {
    long service = peer.port(SERVICE);
    if (server != null) {
      service = server.listen(service);
      server.start();
    }
    client.start();
    client.connect(peer.address(client.address()), service);
    if (!await(client.warm(), client::roundTrips, STALL_LOOKS) || !measure(client)) {
      return "no answer for "
          + STALL_LOOKS * LOOK_MILLIS / 1_000
          + " s after "
          + client.roundTrips()
          + " round trips, those to warm up included";
    }
    final String failure = client.failure();
    if (server == null) {
      if (failure == null) {
        client.leave();
      }
      return failure;
    }
    return server.failure() != null ? server.failure() : failure;
  }

  /** Waits for all that are measured; false if one does not end. */
  private boolean measure(final Client client) throws InterruptedException {
    final Progress progress =
        Progress.start(
            spec.commandLine().getErr(),
            "pingpong",
            Progress.Unit.TIMES,
            iterations,
            client::measured);
    try {
      return await(client.finished(), client::roundTrips, STALL_LOOKS);
    } finally {
      progress.close();
    }
  }

  /**
   * Waits as long as a count grows. What counts is how often it looked and saw it stand still, not
   * the time: a process that was stopped meanwhile goes on.
   *
   * @param looks how often it may stand still in a row, 100 ms each time.
   * @return whether the latch opened.
   */
  static boolean await(final CountDownLatch latch, final LongSupplier count, final int looks)
      throws InterruptedException {
    long before = count.getAsLong();
    for (int still = 0; still < looks; still++) {
      if (latch.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
        return true;
      }
      final long now = count.getAsLong();
      if (now != before) {
        before = now;
        still = -1;
      }
    }
    return false;
  }

  private VerbsProvider provider() {
    final String name = ia.name();
    final VerbsProvider found = Jdapl.with(name).provider();
    if (wait == Wait.CHANNEL && found.delivery() != Delivery.CHANNEL) {
      if (!name.equals("sim")) {
        throw wrong("--wait channel: " + name + " has no event channels; expected spin or park");
      }
      return SimFabric.shared().provider(SimModel.DEFAULT.withDelivery(Delivery.CHANNEL));
    }
    if (wait == Wait.PARK && found.delivery() == Delivery.CHANNEL) {
      throw wrong("--wait park: " + name + " has event channels; expected spin or channel");
    }
    return found;
  }

  private ParameterException wrong(final String what) {
    return new ParameterException(spec.commandLine(), what);
  }
}
