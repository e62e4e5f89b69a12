package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.AsyncEvent;
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
import org.jdapl.evd.Jdapl;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The device is removed under a consumer, who has not closed anything. */
@NeedsNative
@Timeout(120)
class RemovalTest implements EventHandler {

  private static final Duration BOUND = Duration.ofSeconds(60);

  private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
  private Endpoint passive;

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    event.request().accept(passive, null);
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    seen.add(event.kind().toString());
  }

  @Override
  public void onCompletion(final DtoCompletion event) {}

  @Override
  public void onAsync(final AsyncEvent event) {
    seen.add(event.kind().toString());
  }

  @Test
  void required_T12_everyVerbsObjectIsDestroyedAndEverythingCanStillBeClosed() throws Exception {
    Fake.reset();
    try (Jdapl jdapl =
        Jdapl.with(new RdmaCoreProvider()).parameters("address=" + Side.ADDRESS).start()) {
      final InterfaceAdapter ia = jdapl.open();
      ia.asyncEvd().upcall(this);
      final Evd evd =
          ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      final ProtectionZone pz = ia.createPz();
      final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      final Endpoint active = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      passive = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
      evd.upcall(this);
      final var psp = ia.createPsp(4711, evd);
      active.connect(ia.address(), psp.connQual(), BOUND, null);
      awaitSeen("ESTABLISHED", "ESTABLISHED");
      assertThat(passive.postReceive(lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
      final Evd waited = ia.createEvd(4, EventStream.DTO);
      final CompletableFuture<Outcome> wait =
          CompletableFuture.supplyAsync(() -> waited.await(this, 1, BOUND), Bed::start);

      Fake.removeDevice();
      awaitSeen("BROKEN", "BROKEN", "IA_CATASTROPHIC");
      assertThat(wait.get(BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Outcome.ABORT);
      final long deadline = System.nanoTime() + BOUND.toNanos();
      while (!Fake.live().isEmpty() && System.nanoTime() - deadline < 0) {
        Thread.onSpinWait();
      }
      assertThat(Fake.live()).as("objects that live, before anything was closed").isEmpty();

      final DrainReport report =
          passive.closeAsync(BOUND).toCompletableFuture().get(BOUND.toSeconds(), TimeUnit.SECONDS);
      assertThat(report.complete()).isTrue();
      active.close();
      psp.close();
      lmr.close();
      pz.close();
      evd.close();
      waited.close();
      ia.close();
    }
    assertThat(Fake.violations()).as("violations").isEmpty();
  }

  private void awaitSeen(final String... all) {
    final long deadline = System.nanoTime() + BOUND.toNanos();
    while (!seen.containsAll(List.of(all)) || seen.size() < all.length) {
      assertThat(System.nanoTime() - deadline).as("time left; saw %s", seen).isNegative();
      Thread.onSpinWait();
    }
    assertThat(seen).containsExactlyInAnyOrder(all);
    seen.clear();
  }
}
