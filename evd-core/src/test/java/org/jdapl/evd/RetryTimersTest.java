package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
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
import org.jdapl.sim.SimFabric;
import org.jdapl.sim.SimModel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How long a message is sent again before it fails, on virtual time. */
class RetryTimersTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  /** Beyond all that messages and notifications of a test take. */
  private static final Duration LATENCY = Duration.ofNanos(60_000);

  private static final Duration SIMULATORS_OWN = Duration.ofNanos(100_000);

  private final SimFabric fabric = SimFabric.virtual(42).keepTrace();
  private final Jdapl jdapl =
      Jdapl.with(fabric.provider(SimModel.DEFAULT)).byHand().clock(fabric.clock()).start();

  private final class Side {
    private final InterfaceAdapter ia = jdapl.open();
    private final ProtectionZone pz = ia.createPz();
    private final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    private final Evd evd =
        ia.createEvd(64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
    private final List<ConnectionEvent.Kind> kinds = new ArrayList<>();
    private final List<DtoStatus> statuses = new ArrayList<>();
    private final Endpoint endpoint;

    private Side(final EndpointAttributes attributes) {
      endpoint = ia.createEndpoint(pz, evd, attributes);
      evd.upcall(
          new EventHandler() {
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              event.request().accept(endpoint, null);
            }

            @Override
            public void onConnection(final ConnectionEvent event) {
              kinds.add(event.kind());
            }

            @Override
            public void onCompletion(final DtoCompletion event) {
              statuses.add(event.status());
            }
          });
    }
  }

  private Side a;
  private Side b;

  private void connect(final EndpointAttributes ofA, final EndpointAttributes ofB) {
    a = new Side(ofA);
    b = new Side(ofB);
    b.ia.createPsp(1, b.evd);
    a.endpoint.connect(b.ia.address(), 1, LONG, null);
    until(() -> !a.kinds.isEmpty() && !b.kinds.isEmpty());
  }

  @AfterEach
  void close() {
    a.ia.closeAbruptly(LONG);
    b.ia.closeAbruptly(LONG);
    jdapl.close();
    fabric.close();
  }

  private void until(final BooleanSupplier condition) {
    assertThat(jdapl.runUntil(condition, LONG)).as("%s: %s", fabric, fabric.trace()).isTrue();
  }

  private static EndpointAttributes attributes(
      final int retries, final int rnrRetries, final Duration ack, final Duration rnr) {
    return EndpointAttributes.defaults().withRetries(retries, rnrRetries).withTimers(ack, rnr);
  }

  private static Duration micros(final long micros) {
    return Duration.ofNanos(1_000 * micros);
  }

  /** A send of one side fails in that time, and with it the connection. */
  private void fails(final Side side, final DtoStatus status, final Duration after) {
    final long start = fabric.clock().nanoTime();
    assertThat(side.endpoint.postSend(side.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    until(() -> !side.statuses.isEmpty());
    final Duration took = Duration.ofNanos(fabric.clock().nanoTime() - start);

    assertThat(side.statuses).first().isEqualTo(status);
    assertThat(took).as("%s", fabric.trace()).isBetween(after, after.plus(LATENCY));
    until(() -> side.kinds.size() == 2);
    assertThat(side.kinds.get(1)).isEqualTo(ConnectionEvent.Kind.BROKEN);
  }

  /** 10 milliseconds are 10.24 on the wire. */
  @Test
  void required_C06_aMessageWithoutAReceiveIsSentAgainAfterTheTimerOfThePeer() {
    connect(
        attributes(7, 3, Duration.ofSeconds(1), micros(10)),
        attributes(7, 1, Duration.ofSeconds(1), Duration.ofMillis(10)));

    fails(a, DtoStatus.ERR_RECEIVER_NOT_READY, micros(3 * 10_240));
  }

  @Test
  void required_C06_thePassiveSideHasItsOwnRetriesAndThePeersTimer() {
    connect(
        attributes(7, 3, Duration.ofSeconds(1), micros(200)),
        attributes(7, 2, Duration.ofSeconds(1), Duration.ofMillis(10)));

    fails(b, DtoStatus.ERR_RECEIVER_NOT_READY, micros(2 * 240));
  }

  /** 50 milliseconds are 67.108864 on the wire. */
  @ParameterizedTest
  @ValueSource(ints = {0, 2, 7})
  void required_C06_aMessageWithoutAnAnswerFailsAfterATimeoutForEachTry(final int retries) {
    connect(
        attributes(retries, 7, Duration.ofMillis(50), Duration.ZERO),
        attributes(3, 7, micros(10), Duration.ZERO));
    fabric.linkDown("sim1");

    fails(a, DtoStatus.ERR_TRANSPORT, Duration.ofNanos((retries + 1) * 67_108_864L));
  }

  @Test
  void required_C06_theSimulatorsOwnTimersAreTakenWhereNoneAreGiven() {
    connect(EndpointAttributes.defaults(), EndpointAttributes.defaults());

    fails(a, DtoStatus.ERR_RECEIVER_NOT_READY, SIMULATORS_OWN.multipliedBy(6));
  }

  @Test
  void required_C06_theSimulatorsOwnTimeoutIsTakenWhereNoneIsGiven() {
    connect(EndpointAttributes.defaults(), EndpointAttributes.defaults());
    fabric.linkDown("sim1");

    fails(a, DtoStatus.ERR_TRANSPORT, SIMULATORS_OWN.multipliedBy(7));
  }

  @Test
  void required_C06_timersMayBeChangedUntilItConnects() {
    a = new Side(EndpointAttributes.defaults());
    b = new Side(attributes(7, 7, Duration.ZERO, Duration.ofMillis(300)));
    b.ia.createPsp(1, b.evd);
    b.endpoint.modify(
        b.endpoint
            .parameters()
            .withAttributes(attributes(7, 7, Duration.ZERO, Duration.ofMillis(1))));
    a.endpoint.connect(b.ia.address(), 1, LONG, null);
    until(() -> !a.kinds.isEmpty() && !b.kinds.isEmpty());

    fails(a, DtoStatus.ERR_RECEIVER_NOT_READY, micros(6 * 1_280));
  }
}
