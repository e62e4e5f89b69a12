package org.jdapl.examples.guide;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.EventStream.SOFTWARE;
import static org.jdapl.examples.guide.Bed.SIZE;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
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
    final EventHandler handler =
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            got.add(event.payload());
          }
        };
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
}
