package org.jdapl.rdmacore.beside;

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
final class Connections implements Contest, EventHandler, AutoCloseable {

  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(1, 1);

  private final int count;
  private final int burst;
  private final Jdapl runtime = Jdapl.with(new RdmaCoreProvider()).start();
  private final InterfaceAdapter adapter = runtime.open();
  private final ProtectionZone pz = adapter.createPz();
  private final Evd evd;
  private final long service;
  private final Queue<Endpoint> free = new ArrayDeque<>();
  private final Semaphore established = new Semaphore(0);
  private final Semaphore ended = new Semaphore(0);

  Connections(final Partner partner, final int count, final int burst) {
    this.count = count;
    this.burst = burst;
    evd =
        adapter.createEvd(
            4 * count, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
    evd.upcall(this);
    if (partner.serves()) {
      service = partner.hear();
    } else {
      service = adapter.createPsp(evd).connQual();
      partner.tell(service);
    }
  }

  private List<Endpoint> createEndpoints() {
    final List<Endpoint> created = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      created.add(adapter.createEndpoint(pz, evd, ATTRIBUTES));
    }
    return created;
  }

  /** How many a second. */
  @Override
  public double drive() throws InterruptedException {
    final List<Endpoint> endpoints = createEndpoints();
    final long start = System.nanoTime();
    for (int next = 0; next < count; next += burst) {
      final int end = Math.min(next + burst, count);
      for (final Endpoint endpoint : endpoints.subList(next, end)) {
        endpoint.connect(adapter.address(), service, BOUND, null);
      }
      await(established, end - next);
    }
    final double seconds = (System.nanoTime() - start) / 1e9;
    endpoints.forEach(endpoint -> endpoint.disconnect(Endpoint.Disconnect.ABRUPT));
    await(ended, count);
    endpoints.forEach(Endpoint::close);
    return count / seconds;
  }

  @Override
  public void serve(final Runnable ready) throws InterruptedException {
    final List<Endpoint> endpoints = createEndpoints();
    free.addAll(endpoints);
    ready.run();
    await(established, count);
    await(ended, count);
    endpoints.forEach(Endpoint::close);
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

  private static void await(final Semaphore events, final int count) throws InterruptedException {
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
