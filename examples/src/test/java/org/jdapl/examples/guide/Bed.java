package org.jdapl.examples.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.evd.Jdapl;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;

/** What the guides' snippets run on: an adapter of a virtual fabric, driven by hand. */
final class Bed implements AutoCloseable {

  static final int SIZE = 64;

  private final SimFabric fabric = SimFabric.virtual(1).keepTrace();
  private final Jdapl jdapl =
      Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(fabric.clock()).start();
  final InterfaceAdapter adapter = jdapl.open();
  final ProtectionZone pz = adapter.createPz();
  final ByteBuffer buffer = ByteBuffer.allocateDirect(1024 * SIZE);
  final Lmr memory = pz.createLmr(buffer, LOCAL_READ, LOCAL_WRITE);

  /** Lets the fabric go on until it is so, or the test fails. */
  void until(final BooleanSupplier condition) {
    assertThat(jdapl.runUntil(condition, Duration.ofSeconds(10)))
        .as(() -> fabric + String.join("\n", fabric.trace()))
        .isTrue();
  }

  /** Connects two endpoints of the adapter; their events stay in their EVDs. */
  void connect(final Endpoint active, final Endpoint passive) {
    final Evd requests = adapter.createEvd(1, CONNECTION_REQUEST);
    final PublicServicePoint door = adapter.createPsp(requests);
    requests.upcall(
        new EventHandler() {
          @Override
          public void onRequest(final ConnectionRequestEvent event) {
            event.request().accept(passive, null);
          }
        });
    active.connect(adapter.address(), door.connQual(), Duration.ofSeconds(1), null);
    until(
        () ->
            active.state() == EndpointState.CONNECTED
                && passive.state() == EndpointState.CONNECTED);
    door.close();
    requests.close();
  }

  @Override
  public void close() {
    adapter.closeAbruptly(Duration.ofSeconds(1));
    jdapl.close();
  }
}
