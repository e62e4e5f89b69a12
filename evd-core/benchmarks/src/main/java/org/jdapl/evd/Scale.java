package org.jdapl.evd;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SoftwareEvent;
import org.openjdk.jol.info.GraphLayout;

/**
 * How the EVD core scales: bytes of an idle EVD, time to create and close, cost of an event beside
 * idle EVDs, and how long a ready EVD waits for its turn. Prints tables and writes plots.
 */
public final class Scale {

  private static final int LENGTH = 16;
  private static final int MEASURED = 1000;
  private static final int EVENTS = 1 << 20;
  private static final int RUN = 8;
  private static final int RUNS = 3;
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Object PAYLOAD = new Object();
  private static final EndpointAttributes SMALL =
      EndpointAttributes.defaults().withMaxDtos(LENGTH / 4, LENGTH / 4);

  /** Counts, on any dispatcher. */
  private static final class Count implements EventHandler {
    private final AtomicLong count = new AtomicLong();

    @Override
    public void onSoftware(final SoftwareEvent event) {
      count.lazySet(count.getPlain() + 1);
    }
  }

  private Scale() {}

  /**
   * Measures.
   *
   * @param arguments the most EVDs, 100000 by default, and a folder for the plots, none by default.
   * @throws IOException if a plot cannot be written.
   */
  public static void main(final String[] arguments) throws IOException {
    final int most = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100_000;
    final Path folder =
        arguments.length > 1 ? Files.createDirectories(Path.of(arguments[1])) : null;
    System.out.printf(
        Locale.ROOT,
        "Java %s, %s, %d processors%n",
        Runtime.version(),
        System.getProperty("os.arch"),
        Runtime.getRuntime().availableProcessors());
    bytes();
    distances();
    final Plot times = new Plot("Create and close, us", "EVDs with an endpoint each");
    final Plot costs = new Plot("ns for an event", "EVDs, most of them idle");
    System.out.println(
        "EVDs and endpoints: us to create and to close one of each; ns for an event");
    System.out.println(
        "dispatchers    EVDs  create   close  1 busy  1 % busy  10 % busy  all busy");
    for (int dispatchers = 1; dispatchers <= 2; dispatchers++) {
      for (int evds = 1; evds <= most; evds *= 10) {
        measure(dispatchers, evds, times, costs);
      }
    }
    if (folder != null) {
      Files.writeString(folder.resolve("scale-times.svg"), times.svg());
      Files.writeString(folder.resolve("scale-costs.svg"), costs.svg());
      System.out.println("plots: " + folder.resolve("scale-*.svg"));
    }
  }

  private static void bytes() {
    final ArrayDevice device = new ArrayDevice();
    final Jdapl jdapl = Jdapl.with(device).byHand().clock(() -> 0).start();
    final InterfaceAdapter ia = jdapl.open();
    final ProtectionZone pz = ia.createPz();
    final long none = size(ia);
    final List<Evd> evds = new ArrayList<>();
    for (int i = 0; i < MEASURED; i++) {
      evds.add(ia.createEvd(LENGTH, EventStream.SOFTWARE));
      evds.get(i).upcall(new Count());
    }
    final long withEvds = size(ia);
    evds.forEach(Scale::post);
    while (jdapl.round()) {
      Thread.onSpinWait();
    }
    final long afterEvents = size(ia);
    for (int i = 0; i < MEASURED; i++) {
      final Evd evd = createEvd(ia);
      ia.createEndpoint(pz, evd, SMALL);
    }
    final long withEndpoints = size(ia);
    System.out.printf(
        Locale.ROOT,
        "bytes of an idle EVD of length %d: %d (goal: below 1536), %d after its first software"
            + " event; with an endpoint of %d requests and %d receives and its device's queues: %d%n",
        LENGTH,
        (withEvds - none) / MEASURED,
        (afterEvents - none) / MEASURED,
        LENGTH / 4,
        LENGTH / 4,
        (withEndpoints - afterEvents) / MEASURED);
    ia.closeAbruptly(LONG);
    jdapl.close();
  }

  private static long size(final InterfaceAdapter ia) {
    return GraphLayout.parseInstance(ia).totalSize();
  }

  private static Evd createEvd(final InterfaceAdapter ia) {
    return ia.createEvd(LENGTH, EventStream.DTO, EventStream.CONNECTION, EventStream.SOFTWARE);
  }

  /** By hand, so that it is a count and no time: the events of others between two of one's own. */
  private static void distances() {
    System.out.println("ready EVDs: most events of others between two turns of one (U11: 64 each)");
    for (int ready = 1; ready <= 1000; ready *= 10) {
      final Jdapl jdapl =
          Jdapl.with(new ArrayDevice()).byHand().clock(() -> 0).capacity(2048).start();
      final InterfaceAdapter ia = jdapl.open();
      final Distance[] all = new Distance[ready];
      final long[] total = new long[1];
      for (int i = 0; i < ready; i++) {
        all[i] = new Distance(total);
        final Evd evd = ia.createEvd(256, EventStream.SOFTWARE);
        evd.upcall(all[i]);
        for (int event = 0; event < 256; event++) {
          post(evd);
        }
      }
      while (jdapl.round()) {
        Thread.onSpinWait();
      }
      long most = 0;
      for (final Distance each : all) {
        most = Math.max(most, each.most);
      }
      System.out.printf(Locale.ROOT, "%6d: %d of %d allowed%n", ready, most, (ready - 1) * 64);
      ia.closeAbruptly(LONG);
      jdapl.close();
    }
  }

  private static final class Distance implements EventHandler {
    private final long[] total;
    private long last = -1;
    private long most;

    private Distance(final long[] total) {
      this.total = total;
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      most = last < 0 ? 0 : Math.max(most, total[0] - last - 1);
      last = total[0]++;
    }
  }

  private static void measure(
      final int dispatchers, final int evds, final Plot times, final Plot costs) {
    final Jdapl jdapl =
        Jdapl.with(new ArrayDevice()).dispatchers(dispatchers).capacity(2 * evds + 2).start();
    final InterfaceAdapter ia = jdapl.open();
    final ProtectionZone pz = ia.createPz();
    final List<Evd> all = new ArrayList<>();
    final List<Count> counts = new ArrayList<>();
    final List<Endpoint> endpoints = new ArrayList<>();
    final long began = System.nanoTime();
    for (int i = 0; i < evds; i++) {
      final Evd evd = createEvd(ia);
      final Count count = new Count();
      evd.upcall(count);
      endpoints.add(ia.createEndpoint(pz, evd, SMALL));
      all.add(evd);
      counts.add(count);
    }
    final double create = (System.nanoTime() - began) / 1e3 / evds;
    final double one = cost(all, counts, 1);
    final double hundredth = cost(all, counts, Math.max(1, evds / 100));
    final double tenth = cost(all, counts, Math.max(1, evds / 10));
    final double busy = cost(all, counts, evds);
    final long closes = System.nanoTime();
    await(endpoints.stream().map(endpoint -> endpoint.closeAsync(LONG)).toList());
    await(all.stream().map(evd -> evd.closeAsync(LONG)).toList());
    final double close = (System.nanoTime() - closes) / 1e3 / evds;
    pz.close();
    ia.close();
    jdapl.close();
    System.out.printf(
        Locale.ROOT,
        "%11d %7d %7.1f %7.1f %7.1f %9.1f %10.1f %9.1f%n",
        dispatchers,
        evds,
        create,
        close,
        one,
        hundredth,
        tenth,
        busy);
    final String on = dispatchers == 1 ? ", 1 dispatcher" : ", 2 dispatchers";
    times.add("create" + on, evds, create);
    times.add("close" + on, evds, close);
    costs.add("1 busy" + on, evds, one);
    costs.add("all busy" + on, evds, busy);
  }

  private static void await(final List<? extends CompletionStage<?>> stages) {
    stages.forEach(stage -> stage.toCompletableFuture().join());
  }

  /** The least of some runs: what others do on the machine only adds. */
  private static double cost(final List<Evd> evds, final List<Count> counts, final int busy) {
    double least = Double.MAX_VALUE;
    for (int run = 0; run < RUNS; run++) {
      final long[] before = new long[busy];
      for (int i = 0; i < busy; i++) {
        before[i] = counts.get(i * (evds.size() / busy)).count.get();
      }
      final long rounds = Math.max(1, EVENTS / RUN / busy);
      final long began = System.nanoTime();
      for (long round = 0; round < rounds; round++) {
        for (int i = 0; i < busy; i++) {
          for (int event = 0; event < RUN; event++) {
            post(evds.get(i * (evds.size() / busy)));
          }
        }
      }
      for (int i = 0; i < busy; i++) {
        final AtomicLong count = counts.get(i * (evds.size() / busy)).count;
        while (count.get() - before[i] < rounds * RUN) {
          Thread.onSpinWait();
        }
      }
      least = Math.min(least, (double) (System.nanoTime() - began) / (rounds * busy * RUN));
    }
    return least;
  }

  private static void post(final Evd evd) {
    for (int spins = 0; evd.postSoftwareEvent(PAYLOAD) != Outcome.SUCCESS; spins++) {
      if (spins < 200) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }
}
