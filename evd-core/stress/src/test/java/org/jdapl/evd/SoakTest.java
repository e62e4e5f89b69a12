package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jdapl.dat.Dat;
import org.jdapl.evd.Storm.Account;
import org.jdapl.hooks.Fault;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.hooks.Faults;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.Delivery;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Connections are made and closed all the time, 1000 endpoints at once, by four threads over
 * devices with faults; then nothing may be left, no object, thread or direct buffer, and the
 * process may not have grown. {@code -Psoak} has it run for ten minutes, or {@code
 * -Djdapl.soak=SECONDS}.
 */
@Tag("soak")
class SoakTest {

  private static final List<ArmModel> ARMS = List.of(ArmModel.values());
  private static final int STORMS = 4;

  /** Some of them are between a close and the next creation. */
  private static final int CONNECTIONS = 540;

  private static final int FAULTS = 150;

  /** A runtime, a fabric and a plan live so long. */
  private static final long ROUND = TimeUnit.SECONDS.toNanos(20);

  private static final long LINE = TimeUnit.SECONDS.toNanos(5);
  private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);
  private static final long NAP = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long MB = 1 << 20;

  /** How much may come and go, of the whole process. */
  private static final double FLAT = 0.05;

  private static final Path STATUS = Path.of("/proc/self/status");

  private record Sample(double seconds, double residentMb) {}

  private final Account account = new Account();
  private final List<Sample> samples = new ArrayList<>();
  private long began;
  private long nextLine;

  @Test
  void shouldLeaveNothingBehind() throws Exception {
    final long seconds = Long.getLong("jdapl.soak", 15);
    final long seed = Long.getLong("jdapl.seed", System.nanoTime() & 0xFFFF_FFFFL);
    System.out.println("soak for " + seconds + " s, seed " + seed + " (-Djdapl.seed=" + seed + ")");
    final SplittableRandom seeds = new SplittableRandom(seed);
    began = System.nanoTime();
    final long end = began + TimeUnit.SECONDS.toNanos(seconds);
    round(seeds.split(), began + Math.min(ROUND, end - began) / 5); // loads what is never unloaded
    final Set<Thread> threads = threads();
    final long buffers = directBuffers();
    for (long now = System.nanoTime(); now - end < 0 && account.breaches.isEmpty(); ) {
      final long left = end - now;
      round(seeds.split(), now + (left < 2 * ROUND ? left : ROUND));
      now = System.nanoTime();
    }

    final String replay = " [seed " + seed + "]";
    assertThat(account.breaches).as("breaches" + replay).isEmpty();
    assertThat(account.open).as("endpoints" + replay).hasValue(0);
    assertThat(Dat.openObjects()).as("what is open" + replay).isEmpty();
    await(
        () -> {
          System.gc();
          return directBuffers() <= buffers && threads.containsAll(threads());
        });
    assertThat(threads()).as("threads" + replay).isSubsetOf(threads);
    assertThat(directBuffers()).as("direct buffers" + replay).isLessThanOrEqualTo(buffers);
    line();
    System.out.println(
        "nothing is open; threads and direct buffers are as at the start; "
            + growth(seconds / 2.0));
    assertThat(account.mostOpen).as("endpoints at once" + replay).hasValueGreaterThan(CONNECTIONS);
    if (seconds >= 300) { // else the compiler of the JVM is what one would see
      assertThat(account.mostOpen).as("endpoints at once" + replay).hasValueGreaterThan(1000);
      assertThat(relativeGrowth(seconds / 2.0)).as("growth" + replay).isLessThan(FLAT);
    }
  }

  private void round(final SplittableRandom random, final long end) throws InterruptedException {
    final SimModel model = model(random);
    final FaultPlan plan = plan(random);
    final SimFabric fabric = SimFabric.realTime();
    final Faults faults = Faults.over(fabric.provider(model), plan);
    try (fabric;
        Jdapl jdapl = Jdapl.with(faults).dispatchers(2).start()) {
      final List<Thread> storms = new ArrayList<>();
      for (int i = 0; i < STORMS; i++) {
        final Storm storm = new Storm(account, random.split(), CONNECTIONS / STORMS);
        final Thread thread =
            new Thread(
                () -> {
                  try {
                    storm.run(jdapl, () -> System.nanoTime() - end > 0);
                  } catch (final RuntimeException | Error e) {
                    account.breaches.add(e + " with " + model + " and " + plan);
                    e.printStackTrace();
                  }
                },
                "storm-" + i);
        storms.add(thread);
        thread.start();
      }
      for (final Thread storm : storms) {
        while (storm.isAlive()) {
          storm.join(100);
          if (System.nanoTime() - nextLine >= 0) {
            nextLine = System.nanoTime() + LINE;
            line();
          }
        }
      }
    }
    account.faults.addAndGet(faults.done().size());
  }

  private static SimModel model(final SplittableRandom random) {
    return SimModel.DEFAULT
        .withArm(ARMS.get(random.nextInt(ARMS.size())))
        .withDelivery(random.nextBoolean() ? Delivery.PUSH : Delivery.CHANNEL);
  }

  /** Faults that go on through the round, not only at its beginning. */
  private static FaultPlan plan(final SplittableRandom random) {
    return new FaultPlan(
        FaultPlan.random(random.nextLong(), FAULTS).faults().stream()
            .map(
                fault ->
                    new Fault(
                        fault.action(),
                        fault.target(),
                        fault.nth() * random.nextInt(1, 500),
                        fault.onwards(),
                        fault.argument()))
            .toList());
  }

  // What there is.

  private static Set<Thread> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread -> !thread.getName().startsWith("ForkJoinPool.commonPool")) // they come and go
        .collect(Collectors.toSet());
  }

  private static long directBuffers() {
    return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
        .filter(pool -> pool.getName().equals("direct"))
        .mapToLong(BufferPoolMXBean::getMemoryUsed)
        .sum();
  }

  /** In MB; 0 where the system does not tell. */
  private static double resident() {
    try {
      return Files.readAllLines(STATUS).stream()
          .filter(line -> line.startsWith("VmRSS:"))
          .mapToDouble(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024.0)
          .sum();
    } catch (final IOException e) {
      return 0;
    }
  }

  private void line() {
    final double seconds = (System.nanoTime() - began) / 1e9;
    final double resident = resident();
    samples.add(new Sample(seconds, resident));
    final Runtime runtime = Runtime.getRuntime();
    System.out.printf(
        "%5.0f s: %,d lives (%,d abrupt), %,d connects, %,d established, %,d ended, %,d completions,"
            + " %,d endpoints closed (%d incomplete), %,d faults, %,d refusals; open %d, most %d;"
            + " %d threads, direct %.1f MB, heap %d MB, resident %.1f MB%n",
        seconds,
        account.lives.get(),
        account.abrupt.get(),
        account.asked.get(),
        account.established.get(),
        account.ended.get(),
        account.completions.get(),
        account.closed.get(),
        account.incomplete.get(),
        account.faults.get(),
        account.refused.get(),
        account.open.get(),
        account.mostOpen.get(),
        Thread.activeCount(),
        directBuffers() / (double) MB,
        (runtime.totalMemory() - runtime.freeMemory()) / MB,
        resident);
  }

  private String growth(final double from) {
    return "resident memory over the second half: %+.1f %%".formatted(100 * relativeGrowth(from));
  }

  /** The slope of a line through the samples, times their time, as a part of their mean. */
  private double relativeGrowth(final double from) {
    final List<Sample> half = samples.stream().filter(s -> s.seconds >= from).toList();
    final double meanTime = half.stream().mapToDouble(Sample::seconds).average().orElse(0);
    final double mean = half.stream().mapToDouble(Sample::residentMb).average().orElse(0);
    double covariance = 0;
    double variance = 0;
    for (final Sample sample : half) {
      covariance += (sample.seconds - meanTime) * (sample.residentMb - mean);
      variance += (sample.seconds - meanTime) * (sample.seconds - meanTime);
    }
    if (variance == 0 || mean == 0) {
      return 0;
    }
    final double time = half.get(half.size() - 1).seconds - half.get(0).seconds;
    return covariance / variance * time / mean;
  }

  private static void await(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + PATIENCE;
    while (!condition.getAsBoolean() && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(NAP);
    }
  }
}
