package org.jdapl.evd;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ErrorHandler;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.ScriptedDevice.Behavior;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.jdapl.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is told of what upcalls throw, and how often. Isolated: it looks at what is logged. */
@Isolated
@Timeout(60)
@ExtendWith(HandBed.Closing.class)
class ErrorHandlerTest {

  private static final int EVENTS = 300;

  private record Told(Evd evd, Event event, Throwable error) {}

  /** Throws at each event; remembers them. */
  private static final class Throwing implements EventHandler {
    private final List<Object> seen = new CopyOnWriteArrayList<>();

    @Override
    public void onSoftware(final SoftwareEvent event) {
      seen.add(event.payload());
      throw new IllegalStateException("at " + event.payload());
    }
  }

  private final List<Told> told = new CopyOnWriteArrayList<>();
  private final ErrorHandler telling =
      (evd, event, error) -> told.add(new Told(evd, event == null ? null : event.copy(), error));
  private final Throwing throwing = new Throwing();
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private PrintStream standardError;

  @BeforeEach
  void readTheLog() {
    standardError = System.err;
    System.setErr(new PrintStream(log, true, UTF_8));
  }

  @AfterEach
  void restore() {
    System.setErr(standardError);
  }

  /** Those that this is about: threads of other tests may have something to say yet. */
  private List<String> errors() {
    return log.toString(UTF_8)
        .lines()
        .filter(line -> line.contains("ERROR"))
        .filter(line -> line.contains(" threw ") || line.contains(" (fault "))
        .toList();
  }

  private static void await(final BooleanSupplier condition) {
    final long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(end);
      Thread.onSpinWait();
    }
  }

  private static Jdapl.Builder runtime() {
    return Jdapl.with(SimFabric.realTime().provider(SimModel.DEFAULT));
  }

  private static Evd createEvd(final InterfaceAdapter ia) {
    return ia.createEvd(EVENTS, EventStream.SOFTWARE);
  }

  private static void post(final Evd evd, final int count) {
    for (int i = 0; i < count; i++) {
      evd.postSoftwareEvent(i);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_U10_theErrorHandlerIsToldEvdEventAndError(final boolean many) {
    try (Jdapl jdapl = runtime().errorHandler(telling).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(throwing, many ? Concurrency.many(1) : Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
      post(evd, 3);
      await(() -> told.size() == 3);
      for (int i = 0; i < 3; i++) {
        assertThat(told.get(i).evd()).isSameAs(evd);
        assertThat(((SoftwareEvent) told.get(i).event()).payload()).isEqualTo(i);
        assertThat(told.get(i).error()).hasMessage("at " + i);
      }
      evd.teardown();
      assertThat(errors()).as("it is told, and not logged").isEmpty();
      assertThat(evd.statistics().failures()).isEqualTo(3);
    }
  }

  @Test
  void required_U10_whatOtherMethodsThrowIsToldWithoutAnEvent() {
    final IllegalStateException turnEnd = new IllegalStateException("onTurnEnd");
    final IllegalStateException ready = new IllegalStateException("onReady");
    final EventHandler ending =
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {}

          @Override
          public void onTurnEnd(final Evd evd) {
            throw turnEnd;
          }
        };
    try (Jdapl jdapl = runtime().errorHandler(telling).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(ending);
      post(evd, 1);
      await(() -> told.size() == 1);
      evd.teardown();
      evd.notifyOnce(
          from -> {
            throw ready;
          },
          Invoke.ON_NEW);
      post(evd, 1);
      await(() -> told.size() == 2);
      assertThat(told).containsExactly(new Told(evd, null, turnEnd), new Told(evd, null, ready));
    }
  }

  @Test
  void shouldLogOnceAndCountEachOfAKindThatNobodyHandles() {
    try (Jdapl jdapl = runtime().start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(new EventHandler() {});
      post(evd, EVENTS);
      await(() -> evd.statistics().unhandled() == EVENTS);
      evd.teardown();
      assertThat(log.toString(UTF_8).lines())
          .filteredOn(line -> line.contains(evd.name() + ": the handler has no method for"))
          .hasSize(1);
    }
  }

  @Test
  void required_U10_anErrorHandlerThatThrowsLosesNothing() {
    final ErrorHandler broken =
        (evd, event, error) -> {
          telling.onError(evd, event, error);
          throw new AssertionError("the error handler is broken");
        };
    try (Jdapl jdapl = runtime().errorHandler(broken).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(throwing);
      post(evd, EVENTS);
      await(() -> told.size() == EVENTS);
      evd.teardown();
      assertThat(throwing.seen).hasSize(EVENTS).doesNotHaveDuplicates();
      assertThat(errors())
          .as("1, 2, 4 … 256")
          .hasSize(9)
          .allSatisfy(line -> assertThat(line).contains(evd.name(), "the error handler threw"));
    }
  }

  @Test
  void required_U10_anErrorHandlerMayDoWhatAHandlerMay() {
    final ErrorHandler disabling =
        (evd, event, error) -> {
          telling.onError(evd, event, error);
          evd.disable();
          evd.postSoftwareEvent("from the error handler");
        };
    try (Jdapl jdapl = runtime().errorHandler(disabling).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      post(evd, 3);
      evd.upcall(throwing);
      await(() -> told.size() == 1);
      evd.teardown();
      assertThat(evd.policy()).isEqualTo(UpcallPolicy.DISABLED);
      assertThat(throwing.seen).as("the upcall it disabled was the last").containsExactly(0);
      assertThat(evd.drain((Swallowing) event -> {}, 10)).isEqualTo(3);
    }
  }

  @FunctionalInterface
  private interface Swallowing extends EventHandler {
    @Override
    void onEvent(Event event);
  }

  @Test
  void required_U10_byHandTheCallerGetsItAndNobodyElse() {
    try (Jdapl jdapl = runtime().byHand().errorHandler(telling).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(throwing);
      post(evd, 1);
      assertThatThrownBy(jdapl::round).hasMessage("at 0");
      assertThat(told).isEmpty();
      assertThat(errors()).isEmpty();
    }
  }

  @Test
  void required_U10_byDefaultItIsLoggedWithItsEvdAndSeldomIfItIsOften() {
    try (Jdapl jdapl = runtime().start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia)) {
      evd.upcall(throwing);
      post(evd, EVENTS);
      await(() -> throwing.seen.size() == EVENTS);
      evd.teardown();
      assertThat(evd.statistics().failures()).isEqualTo(EVENTS);
      assertThat(errors()).as("1, 2, 4 … 256").hasSize(9);
      assertThat(errors().get(0)).contains(evd.name() + ": the handler threw at", "SOFTWARE");
      assertThat(errors().get(8)).contains("failure 256 of this EVD");
      assertThat(log.toString(UTF_8)).as("where").contains("ErrorHandlerTest$Throwing.onSoftware");
    }
  }

  @Test
  void shouldLogAProviderThatFailsForEverSeldom() {
    final ScriptedBed bed = new ScriptedBed(Behavior.WEAK, 1);
    for (int i = 0; i < 100; i++) {
      bed.cq().failPoll(() -> new VerbsException("poll_cq", "cq", VerbsException.EAGAIN, "again"));
    }
    bed.enable();
    for (int i = 0; i < 100; i++) {
      bed.pass(Duration.ofMillis(64));
    }
    assertThat(errors())
        .as("1, 2, 4 … 64")
        .hasSize(7)
        .allSatisfy(line -> assertThat(line).contains(bed.evd.name(), "poll of cq-0 failed"));
    assertThat(bed.faults()).singleElement().asString().contains("poll of cq-0 failed");
  }

  @Test
  void shouldRefuseNoErrorHandler() {
    assertThatThrownBy(() -> runtime().errorHandler(null)).hasMessageContaining("errorHandler");
  }
}
