package org.jdapl.examples.guide;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.CompletionFlags.DEFAULT;
import static org.jdapl.dat.CompletionFlags.SUPPRESS;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.EventStream.RMR_BIND;
import static org.jdapl.dat.ExtensionOp.FETCH_AND_ADD;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;
import static org.jdapl.dat.Privilege.REMOTE_ATOMIC;
import static org.jdapl.dat.Privilege.REMOTE_WRITE;
import static org.jdapl.examples.guide.Bed.SIZE;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.RmrBindCompletion;
import org.jdapl.dat.Segments;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the guides quote of windows, atomics and immediate data, running. */
class RemoteMemoryTest {

  private static final long LENT = 7;

  private final Bed bed = new Bed();
  private final List<String> log = new ArrayList<>();
  private final Evd evd = bed.adapter.createEvd(64, DTO, CONNECTION, RMR_BIND);
  private final Endpoint endpoint =
      bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
  private final Endpoint peer =
      bed.adapter.createEndpoint(bed.pz, evd, EndpointAttributes.defaults());
  private final ByteBuffer records = ByteBuffer.allocateDirect(4 * SIZE);
  private final Lmr region =
      bed.pz.createLmr(records, LOCAL_READ, LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC);
  private final Lmr memory = bed.memory;

  @BeforeEach
  void connect() {
    endpoint.postReceive(memory, 4 * SIZE, SIZE, 0);
    peer.postReceive(memory, 5 * SIZE, SIZE, 0);
    bed.connect(endpoint, peer);
  }

  @AfterEach
  void close() {
    bed.close();
  }

  @Test
  void shouldLendAPartOfARegion() {
    // tag::bind[]
    final Rmr rmr = bed.pz.createRmrForEndpoint(); // its peer may give it back
    rmr.bind(region, SIZE, SIZE, Set.of(REMOTE_WRITE), endpoint, LENT, null, DEFAULT);
    bed.buffer.putInt(0, rmr.rmrContext()).putLong(4, rmr.address());
    endpoint.postSend(memory, 0, 12, 0); // behind the bind: whoever reads it finds it open
    // end::bind[]
    evd.upcall(new Lender(peer, memory, log));

    bed.until(() -> log.contains("returned"));
    assertThat(log).containsSubsequence("open", "returned");
    assertThat(UTF_8.decode(records.slice(SIZE, 6)).toString()).isEqualTo("record");
    assertThat(rmr.lmr()).isNull();
    rmr.close();
    region.close();
  }

  // tag::lend[]
  /** Who lent a window, and, at the other end, who writes into it and gives it back. */
  record Lender(Endpoint peer, Lmr memory, List<String> log) implements EventHandler {

    @Override
    public void onRmrBind(final RmrBindCompletion event) {
      log.add(event.status() == DtoStatus.SUCCESS ? "open" : "not bound");
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      switch (event.operation()) {
        case RECEIVE -> { // at the peer: where the window is
          final int context = memory.buffer().getInt(5 * SIZE);
          final long address = memory.buffer().getLong(5 * SIZE + 4);
          memory.buffer().put(2 * SIZE, "record".getBytes(UTF_8));
          final Segments record = new Segments(1).add(memory, 2 * SIZE, 6);
          peer.postRdmaWrite(record, context, address, 0, null, SUPPRESS);
          peer.postSendWithInvalidate(memory, 2 * SIZE, 0, context, 0); // here it is again
        }
        case RECEIVE_WITH_INVALIDATE -> log.add("returned"); // nobody reaches it any more
        default -> {}
      }
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      if (event.kind().isTerminal()) {
        event.endpoint().close();
      }
    }
  }

  // end::lend[]

  @Test
  void shouldDrawTickets() {
    final int rmrContext = region.rmrContext();
    final long address = region.address();
    records.order(ByteOrder.nativeOrder()).putLong(0, 41);
    // tag::atomic[]
    peer.postFetchAndAdd(memory, 0, rmrContext, address, 1, 0, null, DEFAULT);
    peer.postCompareAndSwap(memory, 8, rmrContext, address, 42, 100, 1, null, DEFAULT);
    // end::atomic[]
    evd.upcall(
        new EventHandler() {
          // tag::fetched[]
          @Override
          public void onCompletion(final DtoCompletion event) {
            final ByteBuffer numbers = memory.buffer().order(ByteOrder.nativeOrder());
            switch (event.operation()) {
              case FETCH_AND_ADD -> log.add("ticket " + numbers.getLong(0));
              case COMPARE_AND_SWAP -> log.add(numbers.getLong(8) == 42 ? "swapped" : "not so");
              default -> {}
            }
          }

          // end::fetched[]

          @Override
          public void onConnection(final ConnectionEvent event) {}
        });

    bed.until(() -> log.size() == 2);
    assertThat(log).containsExactly("ticket 41", "swapped");
    assertThat(records.getLong(0)).isEqualTo(100);
  }

  @Test
  void shouldDrawATicketByName() {
    final int rmrContext = region.rmrContext();
    final long address = region.address();
    final long cookie = 5;
    records.order(ByteOrder.nativeOrder()).putLong(0, 41);
    // tag::extension[]
    if (bed.adapter.providerAttributes().extensions().contains(FETCH_AND_ADD)) {
      final Segments local = new Segments(1).add(memory, 0, 8);
      peer.extensionOp(FETCH_AND_ADD, local, rmrContext, address, 1, 0, cookie, null, DEFAULT);
    }
    // end::extension[]

    bed.until(() -> records.getLong(0) == 42);
  }

  @Test
  void shouldTellWhereItWrote() {
    final int rmrContext = region.rmrContext();
    final long address = region.address();
    bed.buffer.put(0, "record".getBytes(UTF_8));
    // tag::immediate[]
    final int slot = 3;
    final Segments record = new Segments(1).add(memory, 0, 6);
    peer.postRdmaWriteImmed(
        record, rmrContext, address + (long) slot * SIZE, slot, 0, null, SUPPRESS);
    // end::immediate[]
    evd.upcall(
        new EventHandler() {
          // tag::slot[]
          @Override
          public void onCompletion(final DtoCompletion event) {
            switch (event.operation()) {
              case RECEIVE_IMMED -> { // it used up a receive, whose memory was not touched
                log.add(UTF_8.decode(records.slice(event.immediateData() * SIZE, 6)).toString());
                event.endpoint().postReceive(memory, 4 * SIZE, SIZE, event.cookie());
              }
              case RECEIVE -> log.add("a message");
              default -> {}
            }
          }

          // end::slot[]

          @Override
          public void onConnection(final ConnectionEvent event) {}
        });

    bed.until(() -> log.contains("record"));
  }
}
