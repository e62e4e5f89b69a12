package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DrainReport;
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
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.tck.Bench;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The two sides of a connection take down each other, on two dispatchers, over the models. */
class TwoSidesTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int POSTS = 8;

  /** An endpoint with an EVD of its own; at a software event it takes down the other side. */
  private final class Side implements EventHandler {
    private final Evd evd;
    private final Endpoint endpoint;
    private final List<Long> outcomes = Collections.synchronizedList(new ArrayList<>());
    private final CompletableFuture<DrainReport> taken = new CompletableFuture<>();
    private final CompletableFuture<DrainReport> gone = new CompletableFuture<>();
    private volatile Side other;
    private volatile boolean established;
    private final AtomicInteger eventsAfterTheEnd = new AtomicInteger();

    private Side() {
      evd =
          ia.createEvd(
              64,
              EventStream.DTO,
              EventStream.CONNECTION,
              EventStream.CONNECTION_REQUEST,
              EventStream.SOFTWARE);
      endpoint =
          ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(POSTS, POSTS));
      evd.upcall(this);
    }

    private void post() {
      for (int i = 0; i < POSTS; i++) {
        assertThat(endpoint.postReceive(lmr, 0, 8, i)).isEqualTo(Outcome.SUCCESS);
      }
    }

    private void send() {
      for (int i = 0; i < POSTS; i++) {
        assertThat(endpoint.postSend(lmr, 0, 8, POSTS + i)).isEqualTo(Outcome.SUCCESS);
      }
    }

    private void look() {
      if (gone.isDone()) {
        eventsAfterTheEnd.incrementAndGet();
      }
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().accept(endpoint, null);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      look();
      established |= event.kind() == ConnectionEvent.Kind.ESTABLISHED;
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      look();
      outcomes.add(event.cookie());
    }

    @Override
    public void onSoftware(final SoftwareEvent event) {
      look();
      together();
      final var unused =
          other
              .endpoint
              .closeAsync(LONG)
              .thenCompose(
                  report -> {
                    taken.complete(report);
                    return other.evd.closeAsync(LONG);
                  })
              .whenComplete(
                  (report, failure) -> {
                    if (failure == null) {
                      other.gone.complete(report);
                    } else {
                      other.gone.completeExceptionally(failure);
                    }
                  });
    }
  }

  private Bench bench;
  private InterfaceAdapter ia;
  private ProtectionZone pz;
  private Lmr lmr;
  private CyclicBarrier barrier;

  static Stream<SimCase> models() {
    return SimCase.all()
        .map(one -> new SimCase(one.virtual(), one.model(), one.notification(), 2, one.seed()));
  }

  /** With threads: both are in their upcalls. */
  private void together() {
    if (!bench.isVirtual()) {
      try {
        barrier.await(LONG.toSeconds(), TimeUnit.SECONDS);
      } catch (final InterruptedException | BrokenBarrierException | TimeoutException e) {
        throw new AssertionError("the upcalls of the two sides do not overlap", e);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void required_T01_bothSidesCloseEachOthersEndpointAndEvdInTheirUpcalls(final SimCase origin) {
    try (Bench opened = origin.open()) {
      bench = opened;
      ia = bench.open();
      pz = ia.createPz();
      lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
      barrier = new CyclicBarrier(2);
      final Side active = new Side();
      final Side passive = new Side();
      active.other = passive;
      passive.other = active;
      active.post();
      passive.post();
      final PublicServicePoint psp = ia.createPsp(1, passive.evd);
      active.endpoint.connect(ia.address(), psp.connQual(), LONG, null);
      assertThat(bench.runUntil(() -> active.established && passive.established)).isTrue();
      psp.close();
      active.send();
      passive.send();

      assertThat(active.evd.postSoftwareEvent("close")).isEqualTo(Outcome.SUCCESS);
      assertThat(passive.evd.postSoftwareEvent("close")).isEqualTo(Outcome.SUCCESS);
      assertThat(bench.runUntil(() -> active.gone.isDone() && passive.gone.isDone()))
          .as("both are gone [%s]", bench.replay())
          .isTrue();
      bench.settle();

      for (final Side side : List.of(active, passive)) {
        assertThat(side.gone.join().complete()).as(bench.replay()).isTrue();
        assertThat(side.eventsAfterTheEnd.get()).as(bench.replay()).isZero();
        final List<Long> outcomes = new ArrayList<>(side.outcomes);
        side.other.taken.join().requests().forEach(request -> outcomes.add(request.cookie()));
        assertThat(outcomes)
            .as("each post has one outcome [%s]", bench.replay())
            .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 2 * POSTS).boxed().toList());
      }
      lmr.close();
      pz.close();
      ia.close();
    }
  }
}
