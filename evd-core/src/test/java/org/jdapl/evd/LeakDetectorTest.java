package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jdapl.dat.Cno;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ObjectCounts;
import org.jdapl.dat.OpenObject;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.evd.LeakDetector.Level;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class LeakDetectorTest {

  /** Behind it may come the name of the module. */
  private static final String CREATED_AT = " created at ";

  private static final String THERE = LeakDetectorTest.class.getName() + ".forgottenEvd(";

  private static Jdapl start(final Level level) {
    final SimFabric fabric = SimFabric.virtual(42);
    return Jdapl.with(fabric.provider(SimModel.DEFAULT))
        .byHand()
        .clock(fabric.clock())
        .leakDetection(level)
        .start();
  }

  private static Evd forgottenEvd(final InterfaceAdapter ia) {
    return ia.createEvd(8, EventStream.SOFTWARE);
  }

  private static List<OpenObject> openOn(final InterfaceAdapter ia) {
    return Dat.openObjects().stream().filter(object -> isOn(ia, object)).toList();
  }

  /** Other fabrics have adapters of the same name, but they were not opened here. */
  private static boolean isOn(final InterfaceAdapter ia, final OpenObject object) {
    return object.name().startsWith(ia.name())
        && object.createdAt().stream()
            .anyMatch(frame -> frame.getClassName().equals(LeakDetectorTest.class.getName()));
  }

  @Test
  void required_T10_theRefusalTellsWhereOpenObjectsWereCreated() {
    try (Jdapl jdapl = start(Level.EVERY);
        InterfaceAdapter ia = jdapl.open();
        Evd evd = forgottenEvd(ia)) {
      assertThatThrownBy(ia::close)
          .isInstanceOf(DatException.class)
          .hasMessageContaining(evd + CREATED_AT)
          .hasMessageContaining(THERE + "LeakDetectorTest.java:")
          .hasMessageNotContaining(Level.PROPERTY);
    }
  }

  @Test
  void required_T10_openObjectsAreCountedByKindUntilTheyAreClosed() {
    final Function<InterfaceAdapter, ObjectCounts> open = ia -> ia.statistics().open();
    try (Jdapl jdapl = start(Level.OFF)) {
      final InterfaceAdapter ia = jdapl.open();
      assertThat(open.apply(ia)).isEqualTo(new ObjectCounts(1, 0, 0, 0, 0, 0, 0, 0, 0, 0));
      final Evd evd =
          ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      final Cno cno = ia.createCno();
      final ProtectionZone pz = ia.createPz();
      final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.LOCAL_READ);
      final SharedReceiveQueue srq = ia.createSrq(pz, 4, 1);
      final Endpoint passive = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      final Endpoint active = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      final PublicServicePoint psp = ia.createPsp(1, evd);
      active.connect(ia.address(), 1, Duration.ofSeconds(1), null);
      assertThat(jdapl.runUntil(() -> open.apply(ia).connectionRequests() > 0, second())).isTrue();
      assertThat(open.apply(ia)).isEqualTo(new ObjectCounts(1, 1, 1, 1, 1, 0, 1, 2, 1, 1));
      assertThat(ia.statistics().toString())
          .contains(
              "open: 1 adapters, 1 EVDs, 1 CNOs, 1 protection zones, 1 memory regions, 1 shared"
                  + " receive queues, 2 endpoints, 1 service points, 1 connection requests\n");

      evd.drain(InterceptedBed.on(event -> {}), 10); // handed out, and not answered
      assertThat(open.apply(ia).connectionRequests()).isOne();
      psp.close();
      passive.close();
      active.close();
      srq.close();
      lmr.close();
      pz.close();
      cno.close();
      evd.close();
      assertThat(open.apply(ia)).isEqualTo(new ObjectCounts(1, 0, 0, 0, 0, 0, 0, 0, 0, 1));
      ia.closeAbruptly(second());
      assertThat(open.apply(ia)).isEqualTo(new ObjectCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
      assertThat(open.apply(ia)).hasToString("open: nothing");
    }
  }

  private static Duration second() {
    return Duration.ofSeconds(1);
  }

  @Test
  void required_T10_whatIsOpenIsListedWithItsPlaceUntilItIsClosed() {
    final InterfaceAdapter ia;
    try (Jdapl jdapl = start(Level.EVERY)) {
      ia = jdapl.open();
      final Evd evd = forgottenEvd(ia);
      assertThat(openOn(ia)).extracting(OpenObject::name).containsExactly(ia.name(), evd.name());
      assertThat(openOn(ia).get(1))
          .asString()
          .startsWith(evd.name() + CREATED_AT)
          .contains(THERE + "LeakDetectorTest.java:");
      evd.close();
      assertThat(openOn(ia)).extracting(OpenObject::name).containsExactly(ia.name());
      ia.close();
    }
    assertThat(openOn(ia)).isEmpty();
  }

  @Test
  void shouldNameOpenAdaptersWhenARuntimeIsClosed() {
    final Jdapl jdapl = start(Level.SAMPLED);
    final InterfaceAdapter ia = jdapl.open();
    assertThatThrownBy(jdapl::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(ia.name() + CREATED_AT)
        .hasMessageContaining(".shouldNameOpenAdaptersWhenARuntimeIsClosed(");
    ia.close();
    jdapl.close();
  }

  @Test
  void shouldRememberAFewIfSampled() {
    try (Jdapl jdapl = start(Level.SAMPLED);
        InterfaceAdapter ia = jdapl.open()) {
      final int count = 4000; // none is sampled once in 10^27 runs
      final List<Evd> evds = IntStream.range(0, count).mapToObj(i -> forgottenEvd(ia)).toList();
      final List<OpenObject> open = openOn(ia);
      assertThat(open.get(0).name()).isEqualTo(ia.name());
      assertThat(open).hasSizeBetween(2, count / 10);
      assertThatThrownBy(ia::close).hasMessageContaining("-Djdapl.leakDetection=every");
      evds.forEach(Evd::close);
      assertThat(openOn(ia)).hasSize(1);
    }
  }

  @Test
  void shouldRememberNothingIfOff() {
    try (Jdapl jdapl = start(Level.OFF);
        InterfaceAdapter ia = jdapl.open();
        Evd evd = forgottenEvd(ia)) {
      assertThat(openOn(ia)).isEmpty();
      assertThatThrownBy(ia::close)
          .hasMessageContaining(evd.name())
          .hasMessageContaining("-Djdapl.leakDetection=every")
          .hasMessageNotContaining(CREATED_AT);
    }
  }

  // What the system property does, and what is logged, in a JVM of its own.

  /** Closes an adapter abruptly, and forgets another one and its runtime. */
  static final class Forgetful {

    private Forgetful() {}

    /** Ends when that was told, or cannot be told any more. */
    public static void main(final String[] args) {
      final ByteArrayOutputStream log = new ByteArrayOutputStream();
      final PrintStream standardError = System.err;
      System.setErr(new PrintStream(log, true, UTF_8));
      try {
        closeAbruptly();
        final WeakReference<InterfaceAdapter> forgotten = forget();
        while (forgotten.get() != null
            || (Level.configured() != Level.OFF && !isComplete(log.toString(UTF_8)))) {
          System.gc();
        }
      } catch (final DatException e) {
        System.err.println(e.getMessage());
      }
      standardError.print(log.toString(UTF_8));
      Thread.getAllStackTraces().keySet().forEach(standardError::println);
    }

    /**
     * The adapter and its runtime, in any order. A stack is written line by line, and this class is
     * at its end.
     */
    private static boolean isComplete(final String log) {
      final String[] told = log.split("was not closed", -1);
      return told.length == 3
          && told[1].contains("Forgetful.main(")
          && told[2].contains("Forgetful.main(");
    }

    private static Jdapl start() {
      final SimFabric fabric = SimFabric.virtual(42);
      return Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(fabric.clock()).start();
    }

    private static void closeAbruptly() {
      try (Jdapl jdapl = start()) {
        final InterfaceAdapter ia = jdapl.open();
        forgottenEvd(ia);
        ia.closeAbruptly(second());
      }
    }

    private static WeakReference<InterfaceAdapter> forget() {
      final InterfaceAdapter ia = start().open();
      forgottenEvd(ia);
      return new WeakReference<>(ia);
    }
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void shouldLogWhatIsClosedAbruptlyAndWhatIsCollectedUnclosed() throws Exception {
    final String log = run("every");
    assertThat(log)
        .containsPattern(
            "WARN .*LeakDetector - sim0 created at .*Forgetful.closeAbruptly\\(.*: closed abruptly,"
                + " with these open: \\[sim0/evd-1\\(.*\\) created at .*forgottenEvd\\(")
        .containsPattern(
            "WARN .*LeakDetector - sim0 was not closed, and nothing refers to it any more; open on"
                + " it: \\[sim0/evd-1 created at .*forgottenEvd\\(")
        .containsPattern("sim0 was created here\n(\tat .*\n)*\tat .*Forgetful.forget\\(")
        .contains("jdapl-leaks");
    assertThat(log.split("was not closed", -1)).as("an adapter and its runtime: " + log).hasSize(3);
    assertThat(log.split("closed abruptly", -1)).as("once: " + log).hasSize(2);
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void shouldLogNothingAndHaveNoThreadIfOff() throws Exception {
    assertThat(run("off")).doesNotContain("LeakDetector").doesNotContain("jdapl-leaks");
  }

  @Test
  @Timeout(value = 60, unit = TimeUnit.SECONDS)
  void shouldRefuseALevelThatThereIsNot() throws Exception {
    assertThat(run("paranoid"))
        .startsWith(
            "INTERNAL_ERROR: system property jdapl.leakDetection is 'paranoid';"
                + " it takes off, sampled or every\n");
  }

  private static String run(final String level) throws IOException {
    return OwnJvm.run(Forgetful.class, List.of("-D" + Level.PROPERTY + "=" + level), Map.of());
  }
}
