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
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.verbs.CmEventType;

/** By hand over a {@link InterceptedProvider}: one EVD for everything, and one endpoint. */
final class InterceptedBed extends HandBed {

  private static final int CAPACITY = 1 << 12;

  final InterceptedProvider provider;
  final EvdImpl evd = createEvd();
  final ProtectionZone pz = ia.createPz();
  final Lmr lmr = createLmr();
  final EndpointImpl endpoint = createEndpoint();

  /** Kinds of the connection events of {@link #recording}. */
  final List<ConnectionEvent.Kind> kinds = new ArrayList<>();

  InterceptedBed() {
    this(new InterceptedProvider());
  }

  private InterceptedBed(final InterceptedProvider provider) {
    super(provider, CAPACITY);
    this.provider = provider;
  }

  EvdImpl createEvd() {
    return (EvdImpl)
        ia.createEvd(
            64,
            EventStream.DTO,
            EventStream.RMR_BIND,
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
