package org.jdapl.rdmacore.beside;

import java.net.InetAddress;
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

/** One end of a connection, with a runtime of its own. */
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

  /** Connects two ends; their EVDs have upcalls until then. */
  static void connect(final End client, final End server) throws InterruptedException {
    final InetAddress address = server.adapter.address();
    client.evd.upcall(client);
    server.evd.upcall(server);
    client.endpoint.connect(address, server.adapter.createPsp(server.evd).connQual(), BOUND, null);
    for (final End end : new End[] {client, server}) {
      if (!end.connected.await(BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException("no connection within " + BOUND);
      }
      end.evd.teardown();
    }
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
