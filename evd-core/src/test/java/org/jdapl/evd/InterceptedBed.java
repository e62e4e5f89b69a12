package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.verbs.CmEventType;

/**
 * By hand over a {@link InterceptedProvider}: one EVD for everything, and one endpoint. There is
 * nothing behind it that would have to be closed.
 */
final class InterceptedBed {

  private static final int TURNS_AT_MOST = 1000;

  final InterceptedProvider provider = new InterceptedProvider();
  final HandClock clock = new HandClock();
  final Jdapl jdapl =
      Jdapl.with(provider).clock(clock).byHand().leakDetection(LeakDetector.Level.OFF).start();
  final InterfaceAdapter ia = jdapl.open();
  final EvdImpl evd = createEvd();
  final ProtectionZone pz = ia.createPz();
  final Lmr lmr = createLmr();
  final EndpointImpl endpoint = createEndpoint();

  /** Kinds of the connection events of {@link #recording}. */
  final List<ConnectionEvent.Kind> kinds = new ArrayList<>();

  EvdImpl createEvd() {
    return (EvdImpl)
        ia.createEvd(
            64,
            EventStream.DTO,
            EventStream.CONNECTION,
            EventStream.CONNECTION_REQUEST,
            EventStream.SOFTWARE);
  }

  Lmr createLmr() {
    return pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
  }

  EndpointImpl createEndpoint() {
    return (EndpointImpl)
        ia.createEndpoint(pz, evd, EndpointAttributes.defaults().withMaxDtos(4, 4));
  }

  void connect(final Endpoint from) {
    from.connect(ia.address(), 1, Duration.ofSeconds(60), null);
  }

  void connected() {
    connect(endpoint);
    provider.tell(CmEventType.ESTABLISHED, 0);
    settle();
  }

  /** Turns until nothing is to be done now. */
  void settle() {
    for (int turns = 0; jdapl.turn(); turns++) {
      if (turns == TURNS_AT_MOST) {
        throw new AssertionError("does not come to rest: " + evd);
      }
    }
  }

  EventHandler recording() {
    return on(
        event -> {
          if (event instanceof ConnectionEvent connection) {
            kinds.add(connection.kind());
          }
        });
  }

  /** A handler that does one thing whatever the event. */
  static EventHandler on(final Consumer<Event> action) {
    return new EventHandler() {
      @Override
      public void onEvent(final Event event) {
        action.accept(event);
      }
    };
  }
}
