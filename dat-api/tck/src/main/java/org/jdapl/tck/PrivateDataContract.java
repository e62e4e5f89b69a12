package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.dat.AdapterAttributes;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.junit.jupiter.api.Test;

/** Rule C03: private data. */
public abstract class PrivateDataContract extends Contract {

  /** Around the data in its buffer. */
  private static final int MARGIN = 5;

  /** A contract; its state lives for one test. */
  protected PrivateDataContract() {}

  @Test
  void required_C03_whatAConnectSaysArrivesUnchangedAsAPrefix() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = collectRequests(pair);

    for (final int length : lengths(pair.active.adapter.attributes().maxConnectPrivateData())) {
      final byte[] said = bytes(length);
      ask(pair, inTheMiddle(said));
      final ConnectionRequest came = next(request, pair);

      arrived(said, came.privateData(), came.isPrivateDataExact());
      came.reject(null);
      awaitTaking(pair.active.seen, pair.active::ended, "PEER_REJECTED");
      pair.renewActive();
    }
  }

  @Test
  void required_C03_whatAnAcceptSaysArrivesUnchangedAsAPrefix() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = collectRequests(pair);

    for (final int length : lengths(pair.passive.adapter.attributes().maxAcceptPrivateData())) {
      final byte[] said = bytes(length);
      pair.ask();
      final ByteBuffer given = inTheMiddle(said);
      next(request, pair).accept(pair.passive.endpoint, given);
      overwrite(given);
      awaitTaking(pair.active.seen, pair.active::established, "ESTABLISHED");

      arrived(said, last(pair.active, Kind.ESTABLISHED));
      pair.renew();
    }
  }

  @Test
  void required_C03_whatARejectSaysArrivesUnchangedAsAPrefix() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = collectRequests(pair);

    for (final int length : lengths(pair.passive.adapter.attributes().maxRejectPrivateData())) {
      final byte[] said = bytes(length);
      pair.ask();
      final ByteBuffer given = inTheMiddle(said);
      next(request, pair).reject(given);
      overwrite(given);
      awaitTaking(pair.active.seen, pair.active::ended, "PEER_REJECTED");

      arrived(said, last(pair.active, Kind.PEER_REJECTED));
      pair.renewActive();
    }
  }

  @Test
  void required_C03_tooMuchInAConnectIsRefusedBeforeAnythingIsSent() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = collectRequests(pair);
    final Endpoint endpoint = pair.active.endpoint;
    final InetAddress peer = pair.passive.adapter.address();
    final long at = pair.psp.connQual();
    final ByteBuffer tooMuch = tooMuch(pair.active.adapter.attributes().maxConnectPrivateData());

    tooMuch(4, "a connect", () -> endpoint.connect(peer, at, Pair.CONNECT, tooMuch));
    tooMuch(
        3,
        "a common connect",
        () -> endpoint.commonConnect(new InetSocketAddress(peer, (int) at), Pair.CONNECT, tooMuch));

    assertThat(endpoint.state()).as(why("as before")).isEqualTo(EndpointState.UNCONNECTED);
    ask(pair, inTheMiddle(bytes(1)));
    next(request, pair).accept(pair.passive.endpoint, null);
    awaitTaking(pair.active.seen, pair.active::established, "ESTABLISHED");
    final Endpoint other = pair.active.newEndpoint();
    tooMuch(3, "a connect to the same", () -> other.dupConnect(endpoint, Pair.CONNECT, tooMuch));
    assertThat(other.state()).as(why("as before")).isEqualTo(EndpointState.UNCONNECTED);
    onlyOneRequestCame(pair);
  }

  @Test
  void required_C03_tooMuchInAnAnswerIsRefusedBeforeAnythingIsSent() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = collectRequests(pair);
    final AdapterAttributes most = pair.passive.adapter.attributes();
    pair.ask();
    final ConnectionRequest came = next(request, pair);

    tooMuch(
        2,
        "an accept",
        () -> came.accept(pair.passive.endpoint, tooMuch(most.maxAcceptPrivateData())));
    tooMuch(1, "a reject", () -> came.reject(tooMuch(most.maxRejectPrivateData())));

    assertThat(pair.passive.endpoint.state())
        .as(why("as before"))
        .isEqualTo(EndpointState.UNCONNECTED);
    came.accept(pair.passive.endpoint, inTheMiddle(bytes(most.maxAcceptPrivateData())));
    awaitTaking(pair.active.seen, pair.active::established, "ESTABLISHED");
    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("what was refused was not sent"))
        .containsExactly(Kind.ESTABLISHED);
  }

  @Test
  void required_C03_theEventSaysWhetherItsLengthIsExact() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = collectRequests(pair);
    final boolean exact = pair.active.adapter.providerAttributes().isPrivateDataExact();
    final List<Boolean> live = new ArrayList<>();
    pair.active.seen.connection(event -> live.add(event.isPrivateDataExact()));
    ask(pair, inTheMiddle(bytes(3)));
    final ConnectionRequest came = next(request, pair);

    came.accept(pair.passive.endpoint, inTheMiddle(bytes(3)));
    awaitTaking(pair.active.seen, pair.active::established, "ESTABLISHED");
    pair.active.endpoint.disconnect(Endpoint.Disconnect.ABRUPT);
    awaitTaking(pair.active.seen, pair.active::ended, "DISCONNECTED");

    assertThat(came.isPrivateDataExact()).as(why("as the provider says")).isEqualTo(exact);
    assertThat(last(pair.active, Kind.ESTABLISHED).isPrivateDataExact())
        .as(why("as the provider says"))
        .isEqualTo(exact);
    assertThat(live).as(why("none is exact")).containsExactly(exact, true);
  }

  private AtomicReference<ConnectionRequest> collectRequests(final Pair pair) {
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    pair.passive.seen.answer(request::set);
    return request;
  }

  private ConnectionRequest next(
      final AtomicReference<ConnectionRequest> request, final Pair pair) {
    awaitTaking(pair.passive.seen, () -> request.get() != null, "a request");
    return request.getAndSet(null);
  }

  private static void ask(final Pair pair, final ByteBuffer privateData) {
    pair.active.endpoint.connect(
        pair.passive.adapter.address(), pair.psp.connQual(), Pair.CONNECT, privateData);
    overwrite(privateData);
  }

  private ConnectionEvent last(final Side side, final Kind kind) {
    ConnectionEvent last = null;
    for (final Event event : side.seen.events()) {
      if (event instanceof ConnectionEvent connection && connection.kind() == kind) {
        last = connection;
      }
    }
    assertThat(last).as(why(kind + " came")).isNotNull();
    return last;
  }

  private void arrived(final byte[] said, final ConnectionEvent event) {
    arrived(said, event.privateData(), event.isPrivateDataExact());
  }

  private void arrived(final byte[] said, final ByteBuffer shown, final boolean exact) {
    final byte[] heard = new byte[shown.remaining()];
    shown.get(heard);

    assertThat(shown.isReadOnly()).as(why("it is shown only")).isTrue();
    assertThat(heard.length).as(why("all of it")).isGreaterThanOrEqualTo(said.length);
    assertThat(Arrays.copyOf(heard, said.length)).as(why("as a prefix")).isEqualTo(said);
    if (exact) {
      assertThat(heard).as(why("nothing follows")).hasSameSizeAs(said);
    }
    for (int i = said.length; i < heard.length; i++) {
      assertThat(heard[i]).as(why("zeros may follow, at " + i)).isZero();
    }
  }

  private void tooMuch(final int argument, final String what, final ThrowingCallable call) {
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.valueOf("INVALID_ARG" + argument),
        what + " with one byte more than it carries",
        call);
  }

  private void onlyOneRequestCame(final Pair pair) {
    bench.settle();
    pair.passive.seen.takeAll();
    assertThat(
            pair.passive.seen.events().stream()
                .filter(event -> event.stream() == EventStream.CONNECTION_REQUEST))
        .as(why("what was refused was not sent"))
        .hasSize(1);
  }

  private static int[] lengths(final int most) {
    return new int[] {0, 1, most - 1, most};
  }

  /** The last one is zero, which padding must not hide. */
  private static byte[] bytes(final int length) {
    final byte[] bytes = new byte[length];
    for (int i = 0; i < length - 1; i++) {
      bytes[i] = (byte) (i + 1);
    }
    return bytes;
  }

  /** What is outside of position and limit is no private data. */
  private static ByteBuffer inTheMiddle(final byte[] bytes) {
    final ByteBuffer buffer = ByteBuffer.allocate(bytes.length + 2 * MARGIN);
    overwrite(buffer);
    return buffer.position(MARGIN).put(bytes).flip().position(MARGIN);
  }

  private static void overwrite(final ByteBuffer buffer) {
    for (int i = 0; i < buffer.limit(); i++) {
      buffer.put(i, (byte) 0x55);
    }
  }

  private static ByteBuffer tooMuch(final int most) {
    return ByteBuffer.allocate(most + 1);
  }
}
