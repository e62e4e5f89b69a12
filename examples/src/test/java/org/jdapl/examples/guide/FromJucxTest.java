package org.jdapl.examples.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.dat.Privilege.REMOTE_READ;
import static org.jdapl.examples.guide.Bed.SIZE;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Segments;
import org.junit.jupiter.api.Test;

/** What the guide from jucx quotes, running. */
class FromJucxTest {

  @Test
  void shouldCallBackForEachRequest() {
    try (Bed bed = new Bed()) {
      final Evd evd = bed.adapter.createEvd(64, DTO, CONNECTION);
      final Endpoint endpoint =
          bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
      final Endpoint peer = bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
      final Lmr memory = bed.memory;
      final List<String> log = new ArrayList<>();
      bed.connect(endpoint, peer);

      // tag::callbacks[]
      evd.upcall(new Callbacks());
      final Segments segments = new Segments(1);
      final Consumer<DtoCompletion> received =
          event -> log.add("received " + event.transferredLength());
      final Consumer<DtoCompletion> sent = event -> log.add("sent");
      peer.postReceive(segments.clear().add(memory, SIZE, SIZE), 0, received);
      endpoint.postSend(segments.clear().add(memory, 0, 5), 0, sent, CompletionFlags.DEFAULT);
      // end::callbacks[]

      bed.until(() -> log.size() == 2);
      assertThat(log).containsExactlyInAnyOrder("received 5", "sent");
    }
  }

  // tag::callback[]
  /** Calls what was posted along with each request. */
  static final class Callbacks implements EventHandler {

    @Override
    @SuppressWarnings("unchecked")
    public void onCompletion(final DtoCompletion event) {
      if (event.status() == DtoStatus.SUCCESS) {
        ((Consumer<DtoCompletion>) event.context()).accept(event);
      } // else the connection is over, which onConnection tells
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      if (event.kind().isTerminal()) {
        event.endpoint().close();
      }
    }
  }

  // end::callback[]

  @Test
  void shouldGetFromThePeersMemory() {
    try (Bed bed = new Bed()) {
      final Evd evd = bed.adapter.createEvd(64, DTO, CONNECTION);
      final Endpoint endpoint =
          bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
      final Endpoint peer = bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
      final ByteBuffer file = ByteBuffer.allocateDirect(SIZE).put(0, "a file".getBytes(UTF_8));
      final List<String> log = new ArrayList<>();
      bed.connect(endpoint, peer);
      evd.upcall(new Callbacks());

      // tag::key[]
      final Lmr shared = bed.pz.createLmr(file, LOCAL_READ, REMOTE_READ);
      final ByteBuffer key = // what the peer gets: in private data, or in a message
          ByteBuffer.allocate(20)
              .putInt(shared.rmrContext())
              .putLong(shared.address())
              .putLong(shared.length())
              .flip();
      // end::key[]

      // tag::get[]
      final int rmrContext = key.getInt();
      final long address = key.getLong();
      final long length = key.getLong();
      final Lmr local = bed.pz.createLmr(ByteBuffer.allocateDirect((int) length), LOCAL_WRITE);
      final Consumer<DtoCompletion> got =
          event -> log.add(UTF_8.decode(local.buffer().slice(0, 6)).toString());
      endpoint.postRdmaRead(
          new Segments(1).add(local, 0, length),
          rmrContext,
          address,
          0,
          got,
          CompletionFlags.DEFAULT);
      // end::get[]

      bed.until(() -> log.equals(List.of("a file")));
    }
  }
}
