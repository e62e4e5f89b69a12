package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
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
import org.jdapl.hooks.Trace;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Consumers on the virtual fabric while it fails as a plan says. */
class FaultScenarioTest {

  private static final Duration BOUND = Duration.ofSeconds(20);

  /** Two connected endpoints on two devices, sim0 and sim1. */
  private static final class Scene implements AutoCloseable {

    final SimFabric fabric;
    final Faults faults;
    final Trace.Tail trace = new Trace.Tail(1000);
    final Jdapl jdapl;
    final Side active;
    final Side passive;

    Scene(final long seed, final String plan) {
      fabric = SimFabric.virtual(seed);
      faults =
          Faults.over(fabric.provider(SimModel.DEFAULT), FaultPlan.parse(plan), fabric.clock())
              .fabric(fabric::perform);
      jdapl = Jdapl.with(Trace.over(faults, trace)).byHand().clock(faults.clock()).start();
      active = new Side(jdapl.open());
      passive = new Side(jdapl.open());
      passive.ia.createPsp(7, passive.evd);
      active.endpoint.connect(passive.ia.address(), 7, Duration.ofSeconds(10), null);
      run(() -> passive.seen.contains("ESTABLISHED"));
    }

    void run(final BooleanSupplier condition) {
      assertThat(jdapl.runUntil(condition, BOUND))
          .as(() -> active.seen + " " + passive.seen + " " + this)
          .isTrue();
    }

    @Override
    public void close() {
      active.ia.closeAbruptly(BOUND);
      passive.ia.closeAbruptly(BOUND);
      jdapl.close();
    }

    @Override
    public String toString() {
      return fabric + " " + faults + "\n" + trace;
    }
  }

  /** One adapter with one endpoint, and what it was told. */
  private static final class Side implements EventHandler {

    final InterfaceAdapter ia;
    final Evd evd;
    final Lmr memory;
    final Endpoint endpoint;
    final List<String> seen = new ArrayList<>();

    Side(final InterfaceAdapter ia) {
      this.ia = ia;
      evd =
          ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      final ProtectionZone pz = ia.createPz();
      memory =
          pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.LOCAL_READ, Privilege.LOCAL_WRITE);
      endpoint = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      evd.upcall(this);
      ia.asyncEvd().upcall(this);
    }

    void receive() {
      assertThat(endpoint.postReceive(memory, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    }

    void send() {
      assertThat(endpoint.postSend(memory, 0, 8, 2)).isEqualTo(Outcome.SUCCESS);
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().accept(endpoint, null);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      seen.add(event.kind().toString());
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      seen.add(event.operation() + " " + event.status());
    }

    @Override
    public void onAsync(final AsyncEvent event) {
      seen.add(event.kind().toString());
    }
  }

  @Test
  void required_S03_aLinkThatGoesDownBreaksTheConnectionAtBothSides() {
    try (Scene scene = new Scene(1, "fabric post_send@1=link-down sim1")) {
      scene.active.send();
      scene.passive.send();
      scene.run(() -> scene.active.seen.contains("BROKEN"));
      scene.run(() -> scene.passive.seen.contains("BROKEN"));
      assertThat(scene.active.seen).contains("SEND ERR_TRANSPORT");
    }
  }

  @Test
  void required_S03_aSilentPeerDoesNotKeepADisconnectFromEnding() {
    try (Scene scene = new Scene(2, "")) {
      scene.fabric.silence("sim1");
      final long before = scene.faults.clock().nanoTime();
      scene.active.endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
      scene.run(() -> scene.active.seen.contains("DISCONNECTED"));
      assertThat(scene.faults.clock().nanoTime() - before)
          .as("its own bound, not the connection manager's: %s", scene)
          .isLessThan(3_000_000_000L);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"lose post_recv@1", "fabric post_recv@1=remove sim0"})
  void required_S03_aDeviceThatIsLostEndsItsAdapter(final String plan) {
    try (Scene scene = new Scene(3, plan)) {
      assertThatThrownBy(scene.active::receive)
          .isInstanceOf(DatException.class)
          .hasMessageContaining("input/output error");
      scene.run(() -> scene.active.seen.contains("IA_CATASTROPHIC"));
      scene.run(() -> scene.trace.toString().contains("sim0.close_device()"));
    }
  }

  @Test
  void required_S05_aConsumersTestHasFaultsAndTheSameSeedReplaysThem() {
    final List<String> traces = new ArrayList<>();
    for (final long seed : new long[] {4, 4, 5}) {
      try (Scene scene = new Scene(seed, "drop notification@2; delay completion@3=2ms")) {
        for (int i = 0; i < 8; i++) {
          scene.passive.receive();
          scene.active.send();
        }
        scene.run(
            () ->
                scene.passive.seen.stream().filter("RECEIVE SUCCESS"::equals).count() == 8
                    && scene.faults.notReached().isEmpty());
        traces.add(scene.trace.toString());
      }
    }
    assertThat(traces.get(1)).isEqualTo(traces.get(0));
    assertThat(traces.get(2)).isNotEqualTo(traces.get(0));
  }

  @Test
  void required_S04_aFailureOfTheContractPrintsSeedPlanAndTrace() {
    final SimCase origin = SimCase.virtualTime().findFirst().orElseThrow();
    final SimBench plain = new SimBench(origin);
    final SimBench faulty = new SimBench(origin, FaultPlan.parse("drop notification@99"));
    for (final SimBench bench : List.of(plain, faulty)) {
      final InterfaceAdapter ia = bench.open();
      final Evd evd = ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION);
      ia.createEndpoint(ia.createPz(), evd, EndpointAttributes.defaults())
          .connect(ia.address(), 9, Duration.ofSeconds(1), null);
      bench.settle();
      assertThat(bench.replay()).contains("seed " + origin.seed(), origin.model().toString());
    }
    assertThat(plain.replay()).containsPattern("\n[0-9]+ sim0/qp1 id REJECTED");
    assertThat(faulty.replay())
        .contains("drop notification@99 (done 0")
        .containsPattern("\n[0-9]+ sim0/qp1 id -> rejected status=8");
    plain.close();
    faulty.close();
  }
}
