package org.jdapl.examples.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.EventStream.SOFTWARE;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.dat.Privilege.REMOTE_WRITE;
import static org.jdapl.examples.guide.Bed.SIZE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SoftwareEvent;
import org.junit.jupiter.api.Test;

/** What the guide from C DAPL quotes, running. */
class FromCDaplTest {

  private static final long CONN_QUAL = 4712;
  private static final long HEADER = 1;

  @Test
  void shouldConsumeAsInKdapl() throws Exception {
    final CompletableFuture<ByteBuffer> answer = new CompletableFuture<>();
    // tag::create[]
    final InterfaceAdapter ia = Dat.open("sim");
    final Evd evd = ia.createEvd(64, DTO, CONNECTION, CONNECTION_REQUEST); // disabled
    final ProtectionZone pz = ia.createPz();
    final ByteBuffer buffer = ByteBuffer.allocateDirect(2 * SIZE);
    final Lmr lmr = pz.createLmr(buffer, LOCAL_READ, LOCAL_WRITE);
    final Endpoint ep = ia.createEndpoint(pz, evd, EndpointAttributes.defaults());
    final PublicServicePoint psp = ia.createPsp(CONN_QUAL, evd);

    if (ep.postReceive(lmr, SIZE, SIZE, HEADER) != Outcome.SUCCESS) {
      throw new IllegalStateException("more receives than the endpoint may have");
    }
    evd.upcall(new Responder(ep, lmr));
    // end::create[]
    final Evd events = ia.createEvd(64, DTO, CONNECTION);
    final Endpoint peer = ia.createEndpoint(pz, events, EndpointAttributes.defaults());
    final ByteBuffer memory = ByteBuffer.allocateDirect(2 * SIZE).put(0, "ping".getBytes(UTF_8));
    final Lmr region = pz.createLmr(memory, LOCAL_READ, LOCAL_WRITE);
    peer.postReceive(region, SIZE, SIZE, HEADER);
    events.upcall(
        new EventHandler() {
          @Override
          public void onConnection(final ConnectionEvent event) {
            if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
              peer.postSend(region, 0, 4, 0);
            }
          }

          @Override
          public void onCompletion(final DtoCompletion event) {
            if (event.operation() == DtoOperation.RECEIVE && event.status() == DtoStatus.SUCCESS) {
              answer.complete(memory.slice(SIZE, (int) event.transferredLength()));
            }
          }
        });

    // tag::connect[]
    peer.connect(ia.address(), CONN_QUAL, Duration.ofSeconds(10), null);
    // end::connect[]

    assertThat(UTF_8.decode(answer.get(30, SECONDS)).toString()).isEqualTo("ping");
    events.teardown();
    peer.close();
    region.close();
    events.close();

    // tag::free[]
    psp.close();
    evd.teardown();
    ep.close(); // in any state; ends the connection, and waits until everything is drained
    lmr.close();
    pz.close();
    evd.close();
    ia.close();
    // end::free[]
  }

  // tag::upcall[]
  /** Sends back what comes. */
  record Responder(Endpoint ep, Lmr lmr) implements EventHandler {

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().accept(ep, null);
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      if (event.kind().isTerminal()) {
        ep.close(); // inside an upcall it does not wait
      }
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (event.status() == DtoStatus.SUCCESS && event.cookie() == HEADER) {
        ep.postSend(lmr, SIZE, event.transferredLength(), 0);
      }
    }
  }

  // end::upcall[]

  @Test
  void shouldWaitAsInUdapl() {
    try (Bed bed = new Bed()) {
      final Evd evd = bed.adapter.createEvd(8, SOFTWARE);
      final List<Object> got = new ArrayList<>();
      final EventHandler handler =
          new EventHandler() {
            @Override
            public void onSoftware(final SoftwareEvent event) {
              got.add(event.payload());
            }
          };
      evd.postSoftwareEvent("first");
      evd.postSoftwareEvent("second");
      // tag::wait[]
      switch (evd.await(handler, 1, Duration.ofSeconds(5))) {
        case SUCCESS -> evd.drain(handler, 64); // it handed out one; take the rest as well
        case TIMEOUT_EXPIRED -> throw new IllegalStateException("nothing came for 5 seconds");
        default -> throw new IllegalStateException("interrupted, or closed meanwhile");
      }
      // end::wait[]
      assertThat(got).containsExactly("first", "second");
    }
  }

  @Test
  void shouldWriteIntoThePeersMemoryAndTellIt() {
    try (Bed bed = new Bed()) {
      final Evd evd = bed.adapter.createEvd(64, DTO, CONNECTION);
      final Endpoint ep =
          bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults().withMaxIov(1, 2));
      final Endpoint peer = bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
      final ByteBuffer memory = ByteBuffer.allocateDirect(SIZE);
      // tag::share[]
      final Lmr target = bed.pz.createLmr(memory, LOCAL_WRITE, REMOTE_WRITE);
      final int rmrContext = target.rmrContext(); // these two go to the peer,
      final long address = target.address(); // in private data or in a message
      // end::share[]
      final Lmr lmr = bed.memory;
      bed.buffer.put(0, "head".getBytes(UTF_8)).put(SIZE, "body".getBytes(UTF_8));
      peer.postReceive(lmr, 2 * SIZE, SIZE, 0);
      bed.connect(ep, peer);
      final List<DtoOperation> completed = new ArrayList<>();
      evd.upcall(
          new EventHandler() {
            @Override
            public void onConnection(final ConnectionEvent event) {}

            @Override
            public void onCompletion(final DtoCompletion event) {
              completed.add(event.operation());
            }
          });

      // tag::write[]
      final Segments iov = new Segments(2).add(lmr, 0, 4).add(lmr, SIZE, 4);
      ep.postRdmaWrite(iov, rmrContext, address, 0, null, CompletionFlags.SUPPRESS);
      ep.postSend(lmr, 0, 4, 0); // arrives behind what was written
      // end::write[]

      bed.until(() -> completed.contains(DtoOperation.RECEIVE));
      assertThat(UTF_8.decode(memory.slice(0, 8)).toString()).isEqualTo("headbody");
      assertThat(completed).doesNotContain(DtoOperation.RDMA_WRITE);
    }
  }

  @Test
  void shouldThrowTheReturnCodeOfAMistake() {
    try (Bed bed = new Bed()) {
      final Evd evd = bed.adapter.createEvd(8, SOFTWARE);
      final List<String> told = new ArrayList<>();
      // tag::mistake[]
      try {
        bed.adapter.createPsp(CONN_QUAL, evd);
      } catch (final DatException e) {
        if (e.type() == ReturnType.INVALID_HANDLE
            && e.subtype() == ReturnSubtype.INVALID_HANDLE_EVD_CR) {
          told.add(Integer.toHexString(e.code()) + ": " + e.getMessage()); // the DAT_RETURN
        }
      }
      // end::mistake[]
      assertThat(told).singleElement().asString().contains("CONNECTION_REQUEST");
    }
  }
}
