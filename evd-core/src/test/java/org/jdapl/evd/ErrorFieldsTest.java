package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.Segments;
import org.jdapl.tck.Bench;
import org.jdapl.verbs.WcStatus;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Completions with errors. The simulator fills what is not valid in them with what misleads: a
 * receive's operation for a request and the other way round, a length, immediate data.
 */
class ErrorFieldsTest {

  private static final int COUNT = 6;

  /** One side: its endpoint, and copies of its completions. */
  private static final class Side implements EventHandler {
    private final Evd evd;
    private final Endpoint endpoint;
    private final Lmr lmr;
    private final List<DtoCompletion> seen = new ArrayList<>();

    private Side(final InterfaceAdapter ia, final ProtectionZone pz) {
      evd =
          ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
      endpoint =
          ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(COUNT, COUNT));
      lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      evd.upcall(this);
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      event.request().accept(endpoint, null);
    }

    @Override
    public synchronized void onCompletion(final DtoCompletion event) {
      seen.add(event.copy());
    }

    @Override
    public void onEvent(final Event event) {}

    private synchronized int count() {
      return seen.size();
    }

    /** What came of one queue, in order. */
    private synchronized List<DtoCompletion> of(final boolean receives) {
      return seen.stream()
          .filter(event -> (event.operation() == DtoOperation.RECEIVE) == receives)
          .toList();
    }

    private void receives() {
      for (int i = 0; i < COUNT; i++) {
        assertThat(endpoint.postReceive(segment(), receiveCookie(i), "receive " + i))
            .isEqualTo(Outcome.SUCCESS);
      }
    }

    private Segments segment() {
      return new Segments(1).add(lmr, 0, 8);
    }
  }

  private static long receiveCookie(final int number) {
    return -1L - number;
  }

  private static long requestCookie(final int number) {
    return Long.MIN_VALUE + number;
  }

  static java.util.stream.Stream<SimCase> cases() {
    return SimCase.all();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void required_T06_aFailedRequestIsKnownByItsIdOnly(final SimCase origin) {
    try (Bench bench = origin.open()) {
      final InterfaceAdapter ia = bench.open();
      final ProtectionZone pz = ia.createPz();
      final Side active = new Side(ia, pz);
      final Side passive = new Side(ia, pz);
      ia.createPsp(7, passive.evd);
      active.receives();
      active.endpoint.connect(ia.address(), 7, Duration.ofSeconds(5), null);
      assertThat(bench.runUntil(() -> active.endpoint.state() == EndpointState.CONNECTED)).isTrue();

      final DtoOperation[] posted = new DtoOperation[COUNT];
      for (int i = 0; i < COUNT; i++) {
        posted[i] = post(active, i);
      }
      assertThat(bench.runUntil(() -> active.count() == 2 * COUNT)).as(bench.replay()).isTrue();

      final List<DtoCompletion> requests = active.of(false);
      assertThat(requests).extracting(DtoCompletion::operation).containsExactly(posted);
      assertThat(requests.get(0).status()).isEqualTo(DtoStatus.ERR_REMOTE_ACCESS);
      assertThat(requests.get(0).vendorError()).isEqualTo(WcStatus.REM_ACCESS_ERR.code());
      assertThat(requests.subList(1, COUNT)).allMatch(ErrorFieldsTest::isFlushed);
      for (int i = 0; i < COUNT; i++) {
        assertOwn(requests.get(i), active.endpoint, requestCookie(i), "request " + i);
      }
      final List<DtoCompletion> receives = active.of(true);
      assertThat(receives).hasSize(COUNT).allMatch(ErrorFieldsTest::isFlushed);
      for (int i = 0; i < COUNT; i++) {
        assertOwn(receives.get(i), active.endpoint, receiveCookie(i), "receive " + i);
      }
    }
  }

  /** The first one writes where it may not; those behind it are flushed, a kind each. */
  private static DtoOperation post(final Side side, final int number) {
    final long cookie = requestCookie(number);
    final Object context = "request " + number;
    final int rmrContext = side.lmr.rmrContext() ^ 0x5a5a5a5a;
    switch (number % 3) {
      case 0 -> {
        assertThat(side.endpoint.postRdmaWrite(side.segment(), rmrContext, 0, cookie, context, 0))
            .isEqualTo(Outcome.SUCCESS);
        return DtoOperation.RDMA_WRITE;
      }
      case 1 -> {
        assertThat(side.endpoint.postSend(side.segment(), cookie, context, 0))
            .isEqualTo(Outcome.SUCCESS);
        return DtoOperation.SEND;
      }
      default -> {
        assertThat(side.endpoint.postRdmaRead(side.segment(), rmrContext, 0, cookie, context, 0))
            .isEqualTo(Outcome.SUCCESS);
        return DtoOperation.RDMA_READ;
      }
    }
  }

  private static boolean isFlushed(final DtoCompletion event) {
    return event.status() == DtoStatus.ERR_FLUSHED;
  }

  private static void assertOwn(
      final DtoCompletion event, final Endpoint endpoint, final long cookie, final Object context) {
    assertThat(event.endpoint()).isSameAs(endpoint);
    assertThat(event.cookie()).isEqualTo(cookie);
    assertThat(event.context()).isEqualTo(context);
    assertThat(event.transferredLength()).as("nothing is said to be transferred").isZero();
  }
}
