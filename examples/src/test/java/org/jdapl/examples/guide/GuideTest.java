package org.jdapl.examples.guide;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.EventStream.SOFTWARE;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.examples.guide.Bed.SIZE;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;
import org.jdapl.evd.Jdapl;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the consumer's guide quotes, running. */
class GuideTest {

  private final Bed bed = new Bed();
  private final InterfaceAdapter adapter = bed.adapter;
  private final ProtectionZone pz = bed.pz;
  private final Lmr memory = bed.memory;

  @AfterEach
  void close() {
    bed.close();
  }

  @Test
  void shouldTellAnErrorHandlerAndDisable() throws Exception {
    final CompletableFuture<String> alarm = new CompletableFuture<>();
    // tag::errors[]
    final Jdapl runtime =
        Jdapl.with("sim")
            .errorHandler(
                (evd, event, error) -> {
                  evd.disable(); // the other events wait until somebody looked
                  alarm.complete(evd.name() + ": " + event + ": " + error);
                })
            .start();
    final InterfaceAdapter adapter = runtime.open(); // to be closed before the runtime
    // end::errors[]
    final Evd evd = adapter.createEvd(8, SOFTWARE);
    evd.upcall(
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            throw new IllegalStateException("cannot do " + event.payload());
          }
        });

    evd.postSoftwareEvent("the dishes");

    assertThat(alarm.get(30, SECONDS)).contains(evd.name(), "cannot do the dishes");
    assertThat(evd.policy()).isEqualTo(UpcallPolicy.DISABLED);
    evd.close();
    adapter.close();
    runtime.close();
  }

  @Test
  void shouldReceiveFromASharedQueue() {
    final Evd evd = adapter.createEvd(2048, DTO, CONNECTION);
    // tag::srq[]
    final SharedReceiveQueue srq = adapter.createSrq(pz, 1024, 1);
    for (long i = 0; i < 1024; i++) {
      srq.postReceive(memory, i * SIZE, SIZE, i);
    }
    final Endpoint endpoint =
        adapter.createEndpoint(pz, evd, evd, evd, srq, EndpointAttributes.defaults());
    // end::srq[]
    final Endpoint peer = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
    final List<Endpoint> receivers = new ArrayList<>();
    evd.upcall(
        new EventHandler() {
          @Override
          public void onCompletion(final DtoCompletion event) {
            if (event.operation() == DtoOperation.RECEIVE) {
              receivers.add(event.endpoint());
            }
          }
        });
    bed.connect(peer, endpoint);

    peer.postSend(memory, 0, SIZE, 0);

    bed.until(() -> receivers.equals(List.of(endpoint)));
    assertThat(srq.openReceives()).isEqualTo(1023);
  }

  @Test
  void shouldHandOutAllThatCameWhileItWaited() {
    final Evd evd = adapter.createEvd(8, SOFTWARE);
    final List<Object> got = new ArrayList<>();
    final EventHandler handler = gather(got);
    for (int i = 0; i < 5; i++) {
      evd.postSoftwareEvent(i);
    }

    // tag::await[]
    while (evd.await(handler, 1, Duration.ofSeconds(1)) == Outcome.SUCCESS) {
      evd.drain(handler, evd.length());
    }
    // end::await[]

    assertThat(got).containsExactly(0, 1, 2, 3, 4);
  }

  @Test
  void shouldRunSeveralUpcallsAtOnce() throws Exception {
    final CountDownLatch both = new CountDownLatch(2);
    final EventHandler handler =
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            both.countDown();
            try {
              both.await(); // each waits for the other one
            } catch (final InterruptedException e) {
              throw new AssertionError(e);
            }
          }
        };
    try (Jdapl runtime = Jdapl.with("sim").dispatchers(2).start();
        InterfaceAdapter adapter = runtime.open();
        Evd evd = adapter.createEvd(8, SOFTWARE)) {
      // tag::many[]
      evd.upcall(handler, Concurrency.many(4), Invoke.ON_ANY);
      // end::many[]

      evd.postSoftwareEvent("one");
      evd.postSoftwareEvent("other");

      assertThat(both.await(30, SECONDS)).isTrue();
    }
  }

  @Test
  void shouldBeServedByAThreadOfTheConsumers() {
    final Evd evd = adapter.createEvd(8, SOFTWARE);
    final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    final List<Object> got = new ArrayList<>();
    evd.postSoftwareEvent(0);

    evd.notifyOnce(new Loop(tasks::add, gather(got)), Invoke.ON_ANY);
    bed.until(() -> !tasks.isEmpty());
    evd.postSoftwareEvent(1);
    tasks.remove().run();
    evd.postSoftwareEvent(2);
    bed.until(() -> !tasks.isEmpty());
    tasks.remove().run();

    assertThat(got).containsExactly(0, 1, 2);
  }

  // tag::notify[]
  /** Serves EVDs on the threads of an executor. */
  record Loop(Executor executor, EventHandler handler) implements NotifyHandler {

    @Override
    public void onReady(final Evd evd) {
      executor.execute(() -> serve(evd));
    }

    private void serve(final Evd evd) {
      while (evd.drain(handler, 64) > 0) {
        // again, until it is empty
      }
      evd.notifyOnce(this, Invoke.ON_ANY); // also for what came since
    }
  }

  // end::notify[]

  @Test
  void shouldHoldEventsBackWhileDisabled() {
    final Evd evd = adapter.createEvd(8, SOFTWARE);
    final List<Object> got = new ArrayList<>();
    final EventHandler handler = gather(got);
    evd.upcall(handler);
    evd.postSoftwareEvent(0);
    bed.until(() -> got.size() == 1);

    // tag::disable[]
    evd.disable();
    evd.postSoftwareEvent("while it was disabled");
    evd.upcall(handler); // the handler gets it now
    // end::disable[]

    bed.until(() -> got.size() == 2);
    assertThat(got).containsExactly(0, "while it was disabled");
  }

  @Test
  void shouldSayThatTheListOfSegmentsIsNull() {
    final Evd evd = adapter.createEvd(64, DTO, CONNECTION);
    final Endpoint endpoint = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
    final Segments none = null;

    assertThatExceptionOfType(DatException.class)
        .isThrownBy(() -> endpoint.postReceive(none, 0, null))
        .withMessageContaining(endpoint.name() + ": the region, or the list of segments, is null");
  }

  @Test
  void shouldKeepTheEndpointBusyAndLoseNothing() {
    final Evd evd = adapter.createEvd(256, DTO, CONNECTION);
    final EndpointAttributes four = EndpointAttributes.defaults().withMaxDtos(4, 4);
    final Endpoint endpoint = adapter.createEndpoint(pz, evd, four);
    final Endpoint peer =
        adapter.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(100, 1));
    final List<Long> received = new ArrayList<>();
    for (long i = 0; i < 100; i++) {
      peer.postReceive(memory, (100 + i) * SIZE, SIZE, i);
    }
    bed.connect(endpoint, peer);
    final Sender sender = new Sender(endpoint, memory);
    for (long i = 0; i < 100; i++) {
      sender.send(i); // no handler yet, so nobody else is there
    }

    evd.upcall(
        new EventHandler() {
          @Override
          public void onConnection(final ConnectionEvent event) {}

          @Override
          public void onCompletion(final DtoCompletion event) {
            if (event.endpoint() == endpoint) {
              sender.onCompletion(event);
            } else {
              received.add(event.cookie());
            }
          }
        });

    bed.until(() -> received.size() == 100);
    assertThat(received).isSorted();
    assertThat(sender.refused).isPositive();
  }

  // tag::window[]
  /** Sends slots of a region, in order, as fast as the endpoint takes them. */
  static final class Sender implements EventHandler {

    private final Endpoint endpoint;
    private final Lmr memory;
    private final Deque<Long> waiting = new ArrayDeque<>();
    private long refused;

    Sender(final Endpoint endpoint, final Lmr memory) {
      this.endpoint = endpoint;
      this.memory = memory;
    }

    /** In a handler, so that nobody else is here. */
    void send(final long slot) {
      waiting.add(slot);
      post();
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      post(); // one is done, so there is room for one
    }

    private void post() {
      while (!waiting.isEmpty()) {
        final long slot = waiting.peek();
        if (endpoint.postSend(memory, slot * SIZE, SIZE, slot) != Outcome.SUCCESS) {
          refused++; // it stays where it is, until the next completion
          return;
        }
        waiting.remove();
      }
    }
  }

  // end::window[]

  @Test
  void shouldAccountForWhatWasOpenWhenItCloses() {
    final Set<Long> released = new TreeSet<>();
    final InterfaceAdapter adapter = Dat.open("sim");
    final Evd evd = adapter.createEvd(64, DTO, CONNECTION, CONNECTION_REQUEST);
    final ProtectionZone pz = adapter.createPz();
    final ByteBuffer buffer = ByteBuffer.allocateDirect(8 * SIZE);
    final Lmr memory = pz.createLmr(buffer, LOCAL_READ, LOCAL_WRITE);
    final Endpoint endpoint = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
    final PublicServicePoint door = adapter.createPsp(evd);
    evd.upcall(new EventHandler() {});
    for (long slot = 0; slot < 8; slot++) {
      endpoint.postReceive(memory, slot * SIZE, SIZE, slot);
    }

    // tag::close[]
    door.close(); // no request comes any more
    evd.teardown(); // no handler runs any more
    final DrainReport report =
        endpoint.closeAsync(Duration.ofSeconds(5)).toCompletableFuture().join();
    for (final DrainReport.Request request : report.requests()) {
      released.add(request.cookie()); // was open, and no handler heard of it
    }
    memory.close();
    pz.close();
    evd.close();
    adapter.close();
    // end::close[]

    assertThat(released).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
    assertThat(report.complete()).isTrue();
  }

  /** Connects again when a connection ended. */
  private static final class Again implements EventHandler {
    private final Endpoint endpoint;
    private final InetAddress server;
    private final long port;
    private final Set<Long> open = new TreeSet<>();
    private int retries = 2;

    Again(final Endpoint endpoint, final InetAddress server, final long port) {
      this.endpoint = endpoint;
      this.server = server;
      this.port = port;
    }

    private static boolean isEnd(final ConnectionEvent.Kind kind) {
      return kind != ConnectionEvent.Kind.ESTABLISHED;
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      open.remove(event.cookie());
    }

    @Override
    // tag::again[]
    public void onConnection(final ConnectionEvent event) {
      if (event.endpoint() == endpoint && isEnd(event.kind()) && retries-- > 0) {
        endpoint
            .resetAsync(Duration.ofSeconds(5)) // reset() would not wait in here
            .thenAccept(
                report -> {
                  report.requests().forEach(request -> open.remove(request.cookie()));
                  endpoint.connect(server, port, Duration.ofSeconds(1), null);
                });
      }
    }
    // end::again[]
  }

  @Test
  void shouldConnectAgainFromAHandler() {
    try (Bed bed = new Bed();
        Evd evd = bed.adapter.createEvd(64, DTO, CONNECTION);
        Endpoint active = bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
        Evd requests = bed.adapter.createEvd(4, CONNECTION_REQUEST);
        PublicServicePoint door = bed.adapter.createPsp(requests)) {
      final AtomicInteger rejected = new AtomicInteger();
      requests.upcall(
          new EventHandler() {
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              event.request().reject(null);
              rejected.incrementAndGet();
            }
          });
      final Again again = new Again(active, bed.adapter.address(), door.connQual());
      for (long slot = 0; slot < 4; slot++) {
        again.open.add(slot);
        active.postReceive(bed.memory, slot * SIZE, SIZE, slot);
      }
      evd.upcall(again);
      active.connect(bed.adapter.address(), door.connQual(), Duration.ofSeconds(1), null);

      bed.until(() -> again.retries < 0);
      assertThat(rejected).hasValue(3);
      assertThat(active.state()).isEqualTo(EndpointState.DISCONNECTED);
      assertThat(again.open).as("neither handed out nor reported").isEmpty();
    }
  }

  private static EventHandler gather(final List<Object> payloads) {
    return new EventHandler() {
      @Override
      public void onSoftware(final SoftwareEvent event) {
        payloads.add(event.payload());
      }
    };
  }
}
