package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdapl.dat.Cno;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.hooks.FaultPlan;
import org.jdapl.hooks.Faults;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Providers that lose a notification, and such that do not. */
@ExtendWith(HandBed.Closing.class)
class WatchdogTest {

  /** A model, and which notification is lost; -1 for none. */
  record Case(String model, int lost) {

    Faults on(final SimFabric fabric) {
      return Faults.over(
          fabric.provider(SimModel.parse(model)),
          lost < 0 ? FaultPlan.NONE : FaultPlan.parse("drop notification@" + (lost + 1)),
          fabric.clock());
    }
  }

  static Stream<Case> cases() {
    return models()
        .flatMap(model -> IntStream.range(-1, 8).mapToObj(lost -> new Case(model, lost)));
  }

  /** A sample; -Djdapl.models=all takes every combination. */
  private static Stream<String> models() {
    return "all".equals(System.getProperty("jdapl.models"))
        ? SimCase.virtualTime().map(of -> of.model().toString()).distinct()
        : Stream.of(
            "arm=weak hint=none",
            "arm=weak hint=exact",
            "arm=strong hint=maybe second-arm=counted",
            "arm=weak hint=without-arm second-arm=overwrites",
            "arm=weak hint=none delivery=channel");
  }

  @ParameterizedTest
  @MethodSource("cases")
  void required_A10_aLostNotificationDelaysAnEventAndLosesNone(final Case of) {
    final SimFabric fabric = SimFabric.virtual(of.lost());
    final Faults provider = of.on(fabric);
    final int messages = 10;
    final List<Long> received = new ArrayList<>();
    try (Jdapl jdapl = Jdapl.with(provider).byHand().clock(provider.clock()).start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = createEvd(ia);
        ProtectionZone pz = ia.createPz();
        Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
        Endpoint alice = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
        Endpoint bob = ia.createEndpoint(pz, evd, EndpointAttributes.defaults())) {
      evd.upcall(
          new EventHandler() {
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              event.request().accept(bob, null);
            }

            @Override
            public void onCompletion(final DtoCompletion event) {
              if (event.operation() == DtoOperation.RECEIVE) {
                received.add(event.cookie());
              }
            }
          });
      ia.createPsp(7, evd);
      for (int i = 0; i < messages; i++) {
        bob.postReceive(lmr, 0, 8, i);
      }
      alice.connect(ia.address(), 7, Duration.ofSeconds(1), null);
      jdapl.runUntil(() -> alice.state() == EndpointState.CONNECTED, Duration.ofSeconds(1));
      for (int i = 0; i < messages; i++) {
        alice.postSend(lmr, 0, 8, i);
        final int due = i + 1;
        assertThat(jdapl.runUntil(() -> received.size() == due, Duration.ofSeconds(1)))
            .as(of + ": message " + i)
            .isTrue();
      }
      assertThat(received).as(of.toString()).isSorted().hasSize(messages);
      final long rescued = evd.statistics().rescued();
      if (of.lost() < 0) {
        assertThat(rescued).as(of + ": nothing was lost").isZero();
      } else {
        assertThat(provider.notReached()).as(of + ": that many were given").isEmpty();
        assertThat(rescued).as(of + ": one was lost").isBetween(1L, 4L);
      }
      ia.closeAbruptly(Duration.ofSeconds(1));
    }
  }

  /**
   * Each message is sent when the one before arrived: what was rescued leads to what takes time.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void required_A10_whatWasRescuedGoesOnInTheSameRun(final Case of) {
    final SimFabric fabric = SimFabric.virtual(of.lost());
    final Faults provider = of.on(fabric);
    try (Jdapl jdapl = Jdapl.with(provider).byHand().clock(provider.clock()).start();
        InterfaceAdapter ia = jdapl.open()) {
      final Line line = new Line(ia, 10);
      line.connect(jdapl);
      line.evd.upcall(line);
      line.send();
      assertThat(jdapl.runUntil(line::isDone, Duration.ofSeconds(1))).as(of.toString()).isTrue();
      assertThat(line.received).isSorted();
      ia.closeAbruptly(Duration.ofSeconds(1));
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void required_A10_whoDequeuesOrWaitsLosesNoneEither(final Case of) {
    for (final Way way : Way.values()) {
      final SimFabric fabric = SimFabric.virtual(of.lost());
      final Faults provider = of.on(fabric);
      try (Jdapl jdapl = Jdapl.with(provider).byHand().clock(provider.clock()).start();
          InterfaceAdapter ia = jdapl.open()) {
        final Line line = new Line(ia, 10);
        line.connect(jdapl);
        line.send();
        switch (way) {
          case DEQUEUE ->
              jdapl.runUntil(
                  () -> {
                    line.evd.drain(line, 100);
                    return line.isDone();
                  },
                  Duration.ofSeconds(1));
          case AWAIT -> {
            while (line.evd.await(line, 1, Duration.ofSeconds(1)) == Outcome.SUCCESS) {}
          }
          case CNO -> {
            final Cno cno = ia.createCno();
            line.evd.cno(cno);
            while (cno.await(evd -> evd.drain(line, 100), Duration.ofSeconds(1))
                == Outcome.SUCCESS) {}
          }
        }
        assertThat(line.isDone()).as("%s, %s: %s", of, way, line.received).isTrue();
        ia.closeAbruptly(Duration.ofSeconds(1));
      }
    }
  }

  private enum Way {
    DEQUEUE,
    AWAIT,
    CNO
  }

  /** Messages from one endpoint to another, each sent when the one before arrived. */
  private static final class Line implements EventHandler {
    private final Evd evd;
    private final Lmr lmr;
    private final Endpoint alice;
    private final Endpoint bob;
    private final int messages;
    private final List<Long> received = new ArrayList<>();

    Line(final InterfaceAdapter ia, final int messages) {
      this.messages = messages;
      evd = createEvd(ia);
      final ProtectionZone pz = ia.createPz();
      lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      alice = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      bob = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      ia.createPsp(7, evd);
      for (int i = 0; i < messages; i++) {
        bob.postReceive(lmr, 0, 8, i);
      }
      alice.connect(ia.address(), 7, Duration.ofSeconds(1), null);
    }

    void connect(final Jdapl jdapl) {
      jdapl.runUntil(
          () -> {
            evd.drain(this, 100);
            return alice.state() == EndpointState.CONNECTED;
          },
          Duration.ofSeconds(1));
    }

    void send() {
      assertThat(alice.postSend(lmr, 0, 8, received.size())).isEqualTo(Outcome.SUCCESS);
    }

    boolean isDone() {
      return received.size() == messages;
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().accept(bob, null);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {}

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (event.operation() == DtoOperation.RECEIVE) {
        received.add(event.cookie());
        if (!isDone()) {
          send();
        }
      }
    }
  }

  private static Evd createEvd(final InterfaceAdapter ia) {
    return ia.createEvd(
        128, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
  }

  @Test
  void required_A10_theWatchdogLooksOnTheClock() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.evd.upcall(bed.recording());
    bed.endpoint.postReceive(bed.lmr, 0, 8, 1);
    bed.settle();
    bed.provider.holdsNotifications = true; // for ever
    bed.provider.receive(0);
    bed.settle();
    assertThat(bed.evd.statistics().completions()).as("no notification came").isZero();

    bed.clock.advance(Duration.ofSeconds(1));
    bed.settle();
    assertThat(bed.evd.statistics().completions()).isOne();
    assertThat(bed.evd.statistics().rescued()).isOne();
  }

  @Test
  void required_A10_aDisabledEvdIsItsConsumersOwn() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.endpoint.postReceive(bed.lmr, 0, 8, 1);
    bed.provider.receive(0);
    bed.settle();
    final long calls = bed.evd.statistics().providerCalls();
    bed.clock.advance(Duration.ofSeconds(1));
    bed.settle();

    assertThat(bed.evd.statistics().rescued()).isZero();
    assertThat(bed.evd.statistics().providerCalls()).isEqualTo(calls);
  }

  /** No notification was asked for, so none is late. */
  @Test
  void required_A10_aQueueThatWasDequeuedAndNotArmedIsNotRescued() {
    final InterceptedBed bed = new InterceptedBed();
    bed.connected();
    bed.endpoint.postReceive(bed.lmr, 0, 8, 1);
    bed.evd.drain(bed.recording(), 100);
    bed.provider.receive(0);
    bed.settle();
    final long calls = bed.evd.statistics().providerCalls();
    bed.clock.advance(Duration.ofSeconds(1));
    bed.settle();

    assertThat(bed.evd.statistics().rescued()).isZero();
    assertThat(bed.evd.statistics().providerCalls()).isEqualTo(calls);
    assertThat(bed.evd.drain(bed.recording(), 100)).isOne();
  }

  @Test
  void required_A10_aNotificationThatIsUnderWayIsNotLost() {
    final SimFabric fabric = SimFabric.virtual(1);
    final SimModel slow = SimModel.DEFAULT.withLatency(50_000, 50_000);
    final Jdapl jdapl = Jdapl.with(fabric.provider(slow)).byHand().clock(fabric.clock()).start();
    final InterfaceAdapter ia = jdapl.open();
    final Evd evd = ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
    final Endpoint endpoint = ia.createEndpoint(ia.createPz(), evd, EndpointAttributes.defaults());
    evd.upcall(InterceptedBed.on(event -> {}));
    jdapl.runUntil(() -> false, Duration.ofNanos(1));
    endpoint.closeAsync(Duration.ofSeconds(1));
    for (int i = 0; i < 200; i++) {
      jdapl.runUntil(() -> false, Duration.ofNanos(1_000));
    }

    assertThat(endpoint.state()).isEqualTo(EndpointState.CLOSED);
    assertThat(evd.statistics().rescued()).isZero();
    ia.closeAbruptly(Duration.ofSeconds(1));
    jdapl.close();
  }
}
