package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.Test;

/** The consumer and the connection manager both told of one end, when both sides disconnected. */
class SimultaneousDisconnectTest {

  private static final int CONNECTIONS = 10_000;
  private static final int LATENCY = 2000;
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Endpoint.Disconnect[] WAYS = Endpoint.Disconnect.values();

  private final long seed = Long.getLong("jdapl.seed", 42);
  private final Random random = new Random(seed);
  private final SimFabric fabric = SimFabric.virtual(seed);
  private final Jdapl jdapl =
      Jdapl.with(fabric.provider(SimModel.DEFAULT.withLatency(0, LATENCY)))
          .clock(fabric.clock())
          .byHand()
          .start();

  private final List<ConnectionEvent.Kind> ofOne = new ArrayList<>();
  private final List<ConnectionEvent.Kind> ofOther = new ArrayList<>();
  private Endpoint one;
  private Endpoint other;

  @Test
  void required_M04_eachOfTenThousandConnectionsEndsOnceThoughBothSidesDisconnect() {
    try (jdapl;
        InterfaceAdapter adapter = jdapl.open();
        Evd evd = adapter.createEvd(16, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
        var pz = adapter.createPz();
        PublicServicePoint door = adapter.createPsp(evd)) {
      final EndpointAttributes none = EndpointAttributes.defaults().withMaxDtos(0, 0);
      one = adapter.createEndpoint(pz, null, null, evd, none);
      other = adapter.createEndpoint(pz, null, null, evd, none);
      evd.upcall(InterceptedBed.on(this::onEvent));
      for (int i = 0; i < CONNECTIONS; i++) {
        connectAndEnd(adapter, door, "connection " + i + ", seed " + seed);
      }
      one.close();
      other.close();
    }
  }

  private void connectAndEnd(
      final InterfaceAdapter adapter, final PublicServicePoint door, final String what) {
    ofOne.clear();
    ofOther.clear();
    one.connect(adapter.address(), door.connQual(), LONG, null);
    until(() -> areBoth(EndpointState.CONNECTED), what);

    final boolean isFirst = random.nextBoolean();
    (isFirst ? one : other).disconnect(WAYS[random.nextInt(2)]);
    final var unused = jdapl.runUntil(() -> false, Duration.ofNanos(random.nextInt(LATENCY)));
    (isFirst ? other : one).disconnect(WAYS[random.nextInt(2)]);
    until(() -> areBoth(EndpointState.DISCONNECTED), what);
    one.reset();
    other.reset();

    for (final List<ConnectionEvent.Kind> kinds : List.of(ofOne, ofOther)) {
      assertThat(kinds)
          .as(what)
          .containsExactly(ConnectionEvent.Kind.ESTABLISHED, ConnectionEvent.Kind.DISCONNECTED);
    }
  }

  private void onEvent(final Event event) {
    if (event instanceof ConnectionRequestEvent request) {
      request.request().accept(other, null);
    } else if (event instanceof ConnectionEvent connection) {
      (connection.endpoint() == one ? ofOne : ofOther).add(connection.kind());
    }
  }

  private boolean areBoth(final EndpointState state) {
    return one.state() == state && other.state() == state;
  }

  private void until(final BooleanSupplier condition, final String what) {
    assertThat(jdapl.runUntil(condition, LONG)).as(what).isTrue();
  }
}
