package org.jdapl.examples.guide;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
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
import org.junit.jupiter.api.Test;

/**
 * What the guide from DiSNI quotes, running: a ping-pong of an active server and a polling client.
 */
class FromDisniTest {

  private static final int SIZE = 64;
  private static final long PORT = 4713;
  private static final Duration BOUND = Duration.ofSeconds(30);

  @Test
  void shouldPlayPingPong() {
    assertThat(play("sim")).isEqualTo(100);
  }

  // tag::play[]
  static long play(final String ia) {
    try (InterfaceAdapter adapter = Dat.open(ia);
        Server server = new Server(adapter);
        Client client = new Client(adapter)) {
      client.connect(server.address());
      client.play(100);
      return client.rounds;
    }
  }

  // end::play[]

  // tag::server[]
  /** In place of a group, its factory and a server endpoint. */
  static final class Server implements EventHandler, AutoCloseable {

    private final InterfaceAdapter adapter;
    private final Evd evd;
    private final ProtectionZone pz;
    private final PublicServicePoint servicePoint;

    Server(final InterfaceAdapter adapter) {
      this.adapter = adapter;
      pz = adapter.createPz();
      evd = adapter.createEvd(1024, DTO, CONNECTION, CONNECTION_REQUEST);
      evd.upcall(this); // the thread that calls dispatchCqEvent and dispatchCmEvent
      servicePoint = adapter.createPsp(PORT, evd); // bind
    }

    InetAddress address() {
      return adapter.address();
    }

    @Override
    public void onRequest(final ConnectionRequestEvent event) { // accept, and the factory
      final Session session = new Session(adapter, pz, evd);
      event.request().accept(session.endpoint, null);
    }

    @Override
    public void onConnection(final ConnectionEvent event) { // dispatchCmEvent
      if (event.kind().isTerminal()) {
        ((Session) event.endpoint().context()).close();
      }
    }

    @Override
    public void onCompletion(final DtoCompletion event) { // dispatchCqEvent
      ((Session) event.endpoint().context()).onCompletion(event);
    }

    @Override
    public void close() {
      servicePoint.close();
      adapter.closeAbruptly(BOUND); // with all sessions that are left
    }
  }

  // end::server[]

  // tag::session[]
  /** In place of a class that extends RdmaActiveEndpoint. */
  static final class Session {

    private final Endpoint endpoint;
    private final Lmr memory; // what is sent, then what is received

    Session(final InterfaceAdapter adapter, final ProtectionZone pz, final Evd evd) { // init
      memory = pz.createLmr(ByteBuffer.allocateDirect(2 * SIZE), LOCAL_READ, LOCAL_WRITE);
      endpoint = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
      endpoint.context(this);
      endpoint.postReceive(memory, SIZE, SIZE, 0);
    }

    void onCompletion(final DtoCompletion event) {
      if (event.status() == DtoStatus.SUCCESS && event.operation() == DtoOperation.RECEIVE) {
        memory.buffer().putLong(0, memory.buffer().getLong(SIZE));
        endpoint.postReceive(memory, SIZE, SIZE, 0); // before the peer can send again
        endpoint.postSend(memory, 0, SIZE, 0);
      }
    }

    void close() { // in a handler: it does not wait, and the memory is in use until it is over
      endpoint.closeAsync(BOUND).thenRun(memory::close);
    }
  }

  // end::session[]

  // tag::client[]
  /** In place of an endpoint of an RdmaPassiveEndpointGroup, which polls. */
  static final class Client implements EventHandler, AutoCloseable {

    private final Evd evd;
    private final ProtectionZone pz;
    private final Lmr memory;
    private final Endpoint endpoint;
    private boolean connected;
    private long rounds;

    Client(final InterfaceAdapter adapter) {
      evd = adapter.createEvd(64, DTO, CONNECTION); // no upcalls: this thread takes the events
      pz = adapter.createPz();
      memory = pz.createLmr(ByteBuffer.allocateDirect(2 * SIZE), LOCAL_READ, LOCAL_WRITE);
      endpoint = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
    }

    void connect(final InetAddress server) {
      endpoint.connect(server, PORT, BOUND, null);
      while (!connected) {
        if (evd.await(this, 1, BOUND) != Outcome.SUCCESS) {
          throw new IllegalStateException("no answer from " + server);
        }
      }
    }

    void play(final long messages) {
      for (long i = 0; i < messages; i++) {
        memory.buffer().putLong(0, i);
        endpoint.postReceive(memory, SIZE, SIZE, 0);
        endpoint.postSend(memory, 0, SIZE, 0);
        while (rounds == i) {
          if (evd.dequeue(this) == Outcome.QUEUE_EMPTY) { // the poll
            Thread.onSpinWait();
          }
        }
        if (memory.buffer().getLong(SIZE) != i) {
          throw new IllegalStateException("answer " + i + " is " + memory.buffer().getLong(SIZE));
        }
      }
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (event.status() != DtoStatus.SUCCESS) {
        throw new IllegalStateException(event.operation() + " ended with " + event.status());
      }
      if (event.operation() == DtoOperation.RECEIVE) {
        rounds++;
      }
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      connected = event.kind() == ConnectionEvent.Kind.ESTABLISHED;
      if (!connected) {
        throw new IllegalStateException("no connection: " + event.kind());
      }
    }

    @Override
    public void close() {
      endpoint.close();
      memory.close();
      pz.close();
      evd.close();
    }
  }
  // end::client[]
}
