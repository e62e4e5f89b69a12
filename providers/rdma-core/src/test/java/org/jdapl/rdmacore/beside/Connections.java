package org.jdapl.rdmacore.beside;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.evd.Jdapl;
import org.jdapl.rdmacore.RdmaCoreProvider;

/** Connections, some at a time; endpoints are there before and closed afterwards, as in dtestcm. */
final class Connections implements AutoCloseable {

  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(1, 1);
  private static final int MOST = 1_000;

  private final Side client = new Side();
  private final Side server = new Side();
  private final InetAddress address = server.adapter.address();
  private final long service = server.adapter.createPsp(server.evd).connQual();

  /** Makes connections; returns how many a second. */
  double run(final int count, final int burst) throws InterruptedException {
    final List<Endpoint> endpoints = client.create(count);
    final List<Endpoint> accepting = server.create(count);
    server.free.addAll(accepting);
    final long start = System.nanoTime();
    for (int next = 0; next < count; next += burst) {
      final int end = Math.min(next + burst, count);
      for (final Endpoint endpoint : endpoints.subList(next, end)) {
        endpoint.connect(address, service, BOUND, null);
      }
      client.await(client.established, end - next);
    }
    final double seconds = (System.nanoTime() - start) / 1e9;
    server.await(server.established, count);
    endpoints.forEach(endpoint -> endpoint.disconnect(Endpoint.Disconnect.ABRUPT));
    client.await(client.ended, count);
    server.await(server.ended, count);
    endpoints.forEach(Endpoint::close);
    accepting.forEach(Endpoint::close);
    return count / seconds;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }

  /** One end of all connections. */
  private static final class Side implements EventHandler, AutoCloseable {

    private final Jdapl runtime = Jdapl.with(new RdmaCoreProvider()).start();
    private final InterfaceAdapter adapter = runtime.open();
    private final ProtectionZone pz = adapter.createPz();
    private final Queue<Endpoint> free = new ArrayDeque<>();
    private final Semaphore established = new Semaphore(0);
    private final Semaphore ended = new Semaphore(0);
    private final Evd evd =
        adapter.createEvd(
            2 * MOST, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);

    Side() {
      evd.upcall(this);
    }

    List<Endpoint> create(final int count) {
      final List<Endpoint> created = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        created.add(adapter.createEndpoint(pz, evd, ATTRIBUTES));
      }
      return created;
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().accept(free.remove(), null);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      switch (event.kind()) {
        case ESTABLISHED -> established.release();
        case DISCONNECTED -> ended.release();
        default -> throw new IllegalStateException("a connection ended: " + event.kind());
      }
    }

    void await(final Semaphore events, final int count) throws InterruptedException {
      if (!events.tryAcquire(count, BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new IllegalStateException(
            events.availablePermits() + " of " + count + " events came within " + BOUND);
      }
    }

    @Override
    public void close() {
      adapter.closeAbruptly(BOUND);
      runtime.close();
    }
  }
}
