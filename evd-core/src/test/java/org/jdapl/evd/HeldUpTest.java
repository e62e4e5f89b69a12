package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler keeps the dispatcher that reads the provider's channel. */
class HeldUpTest implements EventHandler {

  private static final Duration LONG = Duration.ofSeconds(60);

  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch letGo = new CountDownLatch(1);
  private final CountDownLatch connected = new CountDownLatch(1);
  private final CountDownLatch received = new CountDownLatch(1);
  private Endpoint passive;

  @Override
  public void onSoftware(final SoftwareEvent event) {
    held.countDown();
    try {
      letGo.await();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    event.request().accept(passive, null);
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    connected.countDown();
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    if (event.operation() == DtoOperation.RECEIVE) {
      received.countDown();
    }
  }

  private static void await(final CountDownLatch latch) {
    try {
      assertThat(latch.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    } catch (final InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void letGo() {
    letGo.countDown();
  }

  @Test
  void required_U05_upcallsOfManyOverlapThoughOneKeepsTheReaderOfTheChannel() {
    try (SimFabric fabric = SimFabric.realTime();
        Jdapl jdapl =
            Jdapl.with(fabric.provider(SimModel.parse("delivery=channel")))
                .dispatchers(2)
                .start()) {
      final InterfaceAdapter ia = jdapl.open(); // its channel is that of dispatcher 0
      final Evd holding = ia.createEvd(8, EventStream.SOFTWARE);
      jdapl.place(holding, 0);
      final Evd evd =
          ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      final ProtectionZone pz = ia.createPz();
      final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.values());
      passive = ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
      final Endpoint active =
          ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
      evd.upcall(this, Concurrency.many(2), Invoke.ON_ANY);
      holding.upcall(this);
      ia.createPsp(7, evd);
      assertThat(passive.postReceive(lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
      assertThat(holding.postSoftwareEvent("stay")).isEqualTo(Outcome.SUCCESS);
      await(held);

      active.connect(ia.address(), 7, LONG, null);
      await(connected);
      assertThat(active.postSend(lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
      await(received);

      letGo.countDown();
      ia.closeAbruptly(LONG);
    }
  }
}
