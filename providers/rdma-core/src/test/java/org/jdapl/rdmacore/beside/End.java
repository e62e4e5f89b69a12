package org.jdapl.rdmacore.beside;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
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
import org.jdapl.evd.Jdapl;
import org.jdapl.rdmacore.RdmaCoreProvider;

/** One end of a connection; the partner has the other one. */
abstract class End implements EventHandler, AutoCloseable {

  private static final Duration BOUND = Duration.ofSeconds(30);

  final Jdapl runtime = Jdapl.with(new RdmaCoreProvider()).start();
  final InterfaceAdapter adapter = runtime.open();
  final Evd evd;
  final Lmr memory;
  final Endpoint endpoint;
  private final CountDownLatch connected = new CountDownLatch(1);

  /**
   * Opens an adapter.
   *
   * @param bytes how much memory it has.
   * @param requests how many may be open at once.
   */
  End(final int bytes, final int requests) {
    evd =
        adapter.createEvd(
            2 * requests, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
    final ProtectionZone pz = adapter.createPz();
    memory = pz.createLmr(ByteBuffer.allocateDirect(bytes), Privilege.values());
    endpoint =
        adapter.createEndpoint(
            pz, evd, EndpointAttributes.defaults().withMaxDtos(requests, requests));
  }

  /** Connects it to the other end; its EVD has an upcall until then. */
  final void connect(final Partner partner) throws InterruptedException {
    evd.upcall(this);
    if (partner.serves()) {
      endpoint.connect(adapter.address(), partner.hear(), BOUND, null);
    } else {
      partner.tell(adapter.createPsp(evd).connQual());
    }
    if (!connected.await(BOUND.toSeconds(), TimeUnit.SECONDS)) {
      throw new IllegalStateException("no connection within " + BOUND);
    }
    evd.teardown();
  }

  @Override
  public final void onRequest(final ConnectionRequestEvent event) {
    event.request().accept(endpoint, null);
  }

  @Override
  public final void onConnection(final ConnectionEvent event) {
    if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
      connected.countDown();
    }
  }

  @Override
  public final void onCompletion(final DtoCompletion event) {
    if (event.status() != DtoStatus.SUCCESS) {
      throw new IllegalStateException(event.operation() + " ended with " + event.status());
    }
    completed(event);
  }

  /** A request succeeded. */
  abstract void completed(DtoCompletion event);

  static void posted(final Outcome outcome) {
    if (outcome != Outcome.SUCCESS) {
      throw new IllegalStateException("a post was answered with " + outcome);
    }
  }

  @Override
  public final void close() {
    adapter.closeAbruptly(BOUND);
    runtime.close();
  }
}
