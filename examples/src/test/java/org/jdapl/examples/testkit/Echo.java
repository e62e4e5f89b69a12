package org.jdapl.examples.testkit;

import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;

import java.nio.ByteBuffer;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;

/** A small consumer: serves one connection at a time, and sends back what it gets. */
final class Echo implements EventHandler, AutoCloseable {

  private static final int SLOTS = 8;
  private static final int SLOT_BYTES = 64;

  private final InterfaceAdapter adapter;
  private final Evd evd;
  private final ProtectionZone pz;
  private final Lmr slots;
  private final PublicServicePoint servicePoint;
  private Endpoint endpoint;

  Echo(final InterfaceAdapter adapter, final long connQual) {
    this.adapter = adapter;
    evd = adapter.createEvd(4 * SLOTS, DTO, CONNECTION, CONNECTION_REQUEST);
    pz = adapter.createPz();
    final ByteBuffer memory = ByteBuffer.allocateDirect(SLOTS * SLOT_BYTES);
    slots = pz.createLmr(memory, LOCAL_READ, LOCAL_WRITE);
    endpoint = newEndpoint();
    evd.upcall(this);
    servicePoint = adapter.createPsp(connQual, evd);
  }

  long connQual() {
    return servicePoint.connQual();
  }

  private Endpoint newEndpoint() {
    final Endpoint fresh =
        adapter.createEndpoint(
            pz, evd, EndpointAttributes.defaults().withMaxDtos(SLOTS, SLOTS).withRetries(7, 7));
    for (long slot = 0; slot < SLOTS; slot++) {
      fresh.postReceive(slots, slot * SLOT_BYTES, SLOT_BYTES, slot);
    }
    return fresh;
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    event.request().accept(endpoint, null);
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    if (event.endpoint() == endpoint && event.status() == DtoStatus.SUCCESS) {
      final long slot = event.cookie();
      switch (event.operation()) {
        case RECEIVE ->
            endpoint.postSend(slots, slot * SLOT_BYTES, event.transferredLength(), slot);
        case SEND -> endpoint.postReceive(slots, slot * SLOT_BYTES, SLOT_BYTES, slot);
        default -> throw new IllegalStateException("not asked for: " + event);
      }
    }
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    if (event.kind().isTerminal()) {
      event.endpoint().close(); // inside an upcall it does not wait
      endpoint = newEndpoint();
    }
  }

  @Override
  public void close() {
    servicePoint.close();
    evd.teardown();
    endpoint.close();
    slots.close();
    pz.close();
    evd.close();
  }
}
