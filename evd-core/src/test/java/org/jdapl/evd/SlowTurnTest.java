package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

/** A turn that takes long is logged once, and counted. Isolated: it looks at what is logged. */
@Isolated
@Timeout(60)
class SlowTurnTest {

  private final AtomicLong nanos = new AtomicLong();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private PrintStream standardError;

  /** Its event says how long it takes. */
  private final EventHandler slow =
      new EventHandler() {
        @Override
        public void onSoftware(final SoftwareEvent event) {
          nanos.addAndGet(((Duration) event.payload()).toNanos());
        }
      };

  @BeforeEach
  void readTheLog() {
    standardError = System.err;
    System.setErr(new PrintStream(log, true, UTF_8));
  }

  @AfterEach
  void restore() {
    System.setErr(standardError);
  }

  /** Those of one adapter: threads of other tests may have something to say yet. */
  private List<String> warnings(final InterfaceAdapter ia) {
    final String dispatcher = " " + ia.statistics().dispatchers().get(0).name() + " ";
    return log.toString(UTF_8)
        .lines()
        .filter(line -> line.contains("WARN") && line.contains(dispatcher))
        .toList();
  }

  private static Evd createEvd(final InterfaceAdapter ia) {
    return ia.createEvd(16, EventStream.SOFTWARE);
  }

  @Test
  void shouldCountSlowTurnsAndLogTheFirst() {
    final SimFabric fabric = SimFabric.realTime();
    try (Jdapl jdapl =
            Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(nanos::get).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(slow);
      for (final int millis : new int[] {1000, 1001, 30, 2500}) {
        assertThat(evd.postSoftwareEvent(Duration.ofMillis(millis))).isEqualTo(Outcome.SUCCESS);
        jdapl.round();
      }
      final EvdStatistics statistics = evd.statistics();
      assertThat(statistics.slowTurns()).isEqualTo(2);
      assertThat(statistics.longestTurnNanos()).isEqualTo(Duration.ofMillis(2500).toNanos());
      assertThat(warnings(ia))
          .singleElement()
          .asString()
          .contains(evd.name() + ": a turn took 1001 ms");
    }
  }

  @Test
  void shouldTakeTheBoundOfTheEvd() {
    final SimFabric fabric = SimFabric.realTime();
    try (Jdapl jdapl =
            Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(nanos::get).start();
        InterfaceAdapter ia = jdapl.open();
        Evd strict = createEvd(ia);
        Evd lenient = createEvd(ia)) {
      strict.slowAfter(Duration.ofMillis(5));
      lenient.slowAfter(Duration.ZERO);
      for (final Evd evd : List.of(strict, lenient)) {
        evd.upcall(slow);
        evd.postSoftwareEvent(Duration.ofHours(1));
      }
      jdapl.round();
      assertThat(strict.statistics().slowTurns()).isOne();
      assertThat(lenient.statistics().slowTurns()).isZero();
      assertThat(lenient.statistics().longestTurnNanos()).as("it was not timed").isZero();
      assertThat(warnings(ia)).singleElement().asString().contains(strict.name());
      assertThatThrownBy(() -> strict.slowAfter(Duration.ofMillis(-1)))
          .isInstanceOf(DatException.class)
          .hasMessageContaining(strict.name());
    }
  }

  @Test
  void shouldReadTheClockOnceForEachFurtherTurnOfARound() {
    final AtomicLong reads = new AtomicLong();
    final SimFabric fabric = SimFabric.realTime();
    try (Jdapl jdapl =
            Jdapl.with(fabric.provider(SimModel.DEFAULT))
                .byHand()
                .clock(reads::incrementAndGet)
                .start();
        InterfaceAdapter ia = jdapl.open()) {
      final List<Evd> evds = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        evds.add(createEvd(ia));
        evds.get(i).upcall(slow);
      }
      jdapl.round(); // they find nothing
      final long one = readsOfARound(jdapl, reads, evds.subList(0, 1));
      final long three = readsOfARound(jdapl, reads, evds);
      assertThat(three - one).isEqualTo(2);
      evds.forEach(Evd::close);
    }
  }

  private static long readsOfARound(
      final Jdapl jdapl, final AtomicLong reads, final List<Evd> ready) {
    ready.forEach(evd -> evd.postSoftwareEvent(Duration.ZERO));
    final long before = reads.get();
    jdapl.round();
    return reads.get() - before;
  }

  @Test
  void shouldLogATurnThatDoesNotEnd() throws Exception {
    final SimFabric fabric = SimFabric.realTime();
    final AtomicLong upcalls = new AtomicLong();
    try (Jdapl jdapl = Jdapl.with(fabric.provider(SimModel.DEFAULT)).clock(nanos::get).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              slow.onSoftware(event);
              while (!log.toString(UTF_8).contains("SlowTurnTest")) { // its stack is logged
                Thread.yield();
              }
              upcalls.incrementAndGet();
            }
          });
      evd.postSoftwareEvent(Duration.ofHours(1));
      while (evd.statistics().slowTurns() == 0) {
        Thread.yield();
      }
      assertThat(upcalls).hasValue(1);
      assertThat(warnings(ia))
          .singleElement()
          .asString()
          .contains(evd.name() + ": a turn has taken");
    }
  }

  @Test
  void shouldPrintAnAdapterWithAllItsEvds() {
    final SimFabric fabric = SimFabric.realTime();
    try (Jdapl jdapl =
            Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(nanos::get).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(slow);
      evd.postSoftwareEvent(Duration.ofMillis(3));
      jdapl.round();
      assertThat(ia.statistics().toString().lines())
          .hasSize(5)
          .satisfies(
              lines -> {
                assertThat(lines.get(0)).isEqualTo(ia.name() + ":");
                assertThat(lines.get(1)).isEqualTo("  open: 1 adapters, 1 EVDs");
                assertThat(lines.get(2))
                    .matches(
                        "  dispatcher-\\d+: [1-9]\\d* turns, 0 sleeps, 1 ready at most,"
                            + " 3000 us longest turn");
                assertThat(lines.get(3))
                    .isEqualTo(
                        "  "
                            + evd.name()
                            + ": 1 software, 1 upcalls, 1 in the lane at most,"
                            + " 3000 us longest turn");
                assertThat(lines.get(4)).isEqualTo("  " + ia.asyncEvd().name() + ": idle");
              });
    }
  }
}
