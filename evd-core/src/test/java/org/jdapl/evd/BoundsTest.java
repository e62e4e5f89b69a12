package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.jdapl.dat.Bounds;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.CmEventType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a transport never sends is waited for as long as the endpoint's bounds say; that of the last
 * receive is in {@link SharedReceiveScenarioTest}.
 */
@ExtendWith(HandBed.Closing.class)
class BoundsTest {

  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final EndpointAttributes ATTRIBUTES =
      EndpointAttributes.defaults().withMaxDtos(4, 4);

  private final InterceptedBed bed = new InterceptedBed();

  private Endpoint create(final Bounds bounds) {
    return bed.ia.createEndpoint(bed.pz, bed.evd, ATTRIBUTES.withBounds(bounds));
  }

  private void pass(final Duration time) {
    bed.clock.advance(time);
    bed.settle();
  }

  /** Just before a bound, and at it. */
  private void passBound(final EndpointState before, final Endpoint endpoint) {
    pass(SHORT.minusNanos(1));
    assertThat(endpoint.state()).as("before the bound").isEqualTo(before);
    pass(Duration.ofNanos(1));
    assertThat(endpoint.state()).as("at the bound").isEqualTo(EndpointState.DISCONNECTED);
  }

  private void connected(final Endpoint endpoint) {
    bed.connect(endpoint);
    bed.provider.tell(CmEventType.ESTABLISHED, 0);
    bed.settle();
  }

  @Test
  void required_C05_theWaitForAConnectionThatWasAcceptedCanBeSet() {
    final Endpoint endpoint = create(new Bounds(SHORT, LONG, LONG, LONG));
    bed.ia.createPsp(1, bed.evd);
    bed.provider.ask();
    bed.evd.upcall(
        InterceptedBed.on(
            event -> {
              if (event instanceof ConnectionRequestEvent request) {
                request.request().accept(endpoint, null);
              } else {
                bed.kinds.add(((ConnectionEvent) event).kind());
              }
            }));
    bed.settle();

    passBound(EndpointState.COMPLETION_PENDING, endpoint);
    assertThat(bed.kinds).containsExactly(Kind.ACCEPT_COMPLETION_ERROR);
  }

  @Test
  void required_C05_theWaitForTheRequestsOfADisconnectCanBeSet() {
    final Endpoint endpoint = create(new Bounds(LONG, SHORT, LONG, LONG));
    connected(endpoint);
    bed.provider.holdsNotifications = true;
    assertThat(endpoint.postSend(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
    bed.settle();

    passBound(EndpointState.DISCONNECT_PENDING, endpoint);
  }

  @Test
  void required_C05_theWaitForEstablishedBeforeACompletionCanBeSet() {
    final Endpoint endpoint = create(new Bounds(LONG, LONG, SHORT, LONG));
    assertThat(endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    bed.evd.upcall(bed.recording());
    bed.connect(endpoint);
    bed.provider.receive(1);
    bed.settle();

    passBound(EndpointState.ACTIVE_CONNECTION_PENDING, endpoint);
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.BROKEN);
  }

  @Test
  void required_C05_theWaitForTheEndOfAConnectionWhoseRequestsAreFlushedCanBeSet() {
    final Endpoint endpoint = create(new Bounds(LONG, LONG, SHORT, LONG));
    assertThat(endpoint.postReceive(bed.lmr, 0, 8, 1)).isEqualTo(Outcome.SUCCESS);
    bed.evd.upcall(bed.recording());
    connected(endpoint);
    bed.provider.flush(1);
    bed.settle();

    passBound(EndpointState.CONNECTED, endpoint);
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.BROKEN);
  }

  @Test
  void required_C05_theWaitOfAnEndForTheLastCompletionsCanBeSet() {
    final Endpoint endpoint = create(new Bounds(LONG, LONG, SHORT, LONG));
    bed.evd.upcall(bed.recording());
    connected(endpoint);
    bed.provider.holdsNotifications = true;
    bed.provider.tell(CmEventType.DISCONNECTED, 0);
    bed.settle();

    pass(SHORT.minusNanos(1));
    assertThat(bed.kinds).as("before the bound").containsExactly(Kind.ESTABLISHED);
    pass(Duration.ofNanos(1));
    assertThat(bed.kinds).containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
    assertThat(bed.evd.statistics().overdueEnds()).isOne();
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0S", "PT-1S"})
  void required_C05_aBoundIsAboveZero(final String value) {
    final Duration bad = Duration.parse(value);
    assertRefused(new Bounds(bad, LONG, LONG, LONG));
    assertRefused(new Bounds(LONG, bad, LONG, LONG));
    assertRefused(new Bounds(LONG, LONG, bad, LONG));
    assertRefused(new Bounds(LONG, LONG, LONG, bad));
    assertRefused(new Bounds(LONG, LONG, LONG, null));
    assertRefused(null);
  }

  private void assertRefused(final Bounds bounds) {
    assertThatThrownBy(() -> create(bounds))
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_PARAMETER))
        .hasMessageContaining("bounds above 0")
        .hasMessageContaining("bounds=" + bounds);
  }
}
