package org.jdapl.examples.rping;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.function.Consumer;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.examples.Opened;

/**
 * One end of the connection. Each step of rping waits for one event, so this is a consumer without
 * upcalls: its thread takes the events where it waits for them.
 */
abstract class Side implements AutoCloseable {

  private static final int EVD_LENGTH = 64;
  private static final int SENT = 0;
  private static final int RECEIVED = Advert.BYTES;
  private static final int RNR_FOR_EVER = 7;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration FOR_EVER = Duration.ofDays(365);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  final InterfaceAdapter adapter;
  final Evd evd;
  final Lmr data;
  private final Endpoint endpoint;
  private final Opened opened;
  private final Lmr messages;
  private final Handler handler = new Handler();
  private final Consumer<String> debug;

  /**
   * Opens an adapter.
   *
   * @param bytes how much memory the peer may read and write.
   * @param debug gets each step.
   */
  Side(final String ia, final int bytes, final Consumer<String> debug) {
    this.debug = debug;
    adapter = Dat.open(ia);
    opened = new Opened(adapter, CLOSE_BOUND);
    try {
      evd =
          opened(
              adapter.createEvd(
                  EVD_LENGTH,
                  EventStream.DTO,
                  EventStream.CONNECTION,
                  EventStream.CONNECTION_REQUEST,
                  EventStream.ASYNC));
      adapter.asyncEvd(evd);
      final ProtectionZone pz = opened(adapter.createPz());
      data =
          opened(
              pz.createLmr(
                  ByteBuffer.allocateDirect(bytes),
                  Privilege.LOCAL_READ,
                  Privilege.LOCAL_WRITE,
                  Privilege.REMOTE_READ,
                  Privilege.REMOTE_WRITE));
      messages =
          opened(
              pz.createLmr(
                  ByteBuffer.allocateDirect(2 * Advert.BYTES),
                  Privilege.LOCAL_READ,
                  Privilege.LOCAL_WRITE));
      // rping of C has one read in flight each way, and its receive may come late.
      final EndpointAttributes attributes = EndpointAttributes.defaults();
      endpoint =
          opened(
              adapter.createEndpoint(
                  pz,
                  evd,
                  attributes
                      .withRdmaReads(1, 1)
                      .withRetries(attributes.retryCount(), RNR_FOR_EVER)));
      postReceive();
    } catch (final RuntimeException e) {
      throw Opened.closed(this, e);
    }
  }

  /** Asks the server for the connection, and waits for it. */
  final void connect(final InetAddress server, final long port)
      throws RpingException, InterruptedException {
    endpoint.connect(server, port, CONNECT_TIMEOUT, null);
    awaitEstablished(
        "to " + server.getHostAddress() + " port " + port, "; start rping -s there first");
  }

  /** Waits for the first client, as long as it takes, and for its connection. */
  final void accept() throws RpingException, InterruptedException {
    while (handler.request == null) {
      await(FOR_EVER);
    }
    handler.request.accept(endpoint, null);
    awaitEstablished("from " + handler.request.remoteAddress().getHostAddress(), "");
  }

  private void awaitEstablished(final String which, final String hint)
      throws RpingException, InterruptedException {
    while (handler.connection == null) {
      await(PATIENCE);
    }
    if (handler.connection != ConnectionEvent.Kind.ESTABLISHED) {
      throw new RpingException("no connection " + which + ": " + handler.connection + hint);
    }
    debug("connected " + which);
  }

  /** Ends the connection, and waits until that is done. */
  final void disconnect() throws RpingException, InterruptedException {
    endpoint.disconnect(Endpoint.Disconnect.GRACEFUL);
    while (!isDisconnected()) {
      await(PATIENCE);
    }
    debug("disconnected");
  }

  final boolean isDisconnected() {
    return handler.connection == ConnectionEvent.Kind.DISCONNECTED;
  }

  final void send(final Advert advert) {
    advert.encode(messages.buffer().slice(SENT, Advert.BYTES));
    posted(endpoint.postSend(messages, SENT, Advert.BYTES, 0));
    debug("sent " + advert);
  }

  /** Waits for the peer's next message; null if it disconnected instead. */
  final Advert receive() throws RpingException, InterruptedException {
    if (!await(DtoOperation.RECEIVE)) {
      return null;
    }
    if (handler.length != Advert.BYTES) {
      throw new RpingException(
          "a message of "
              + handler.length
              + " bytes came; rping's have "
              + Advert.BYTES
              + ": the peer is no rping");
    }
    final Advert advert = Advert.decode(messages.buffer().slice(RECEIVED, Advert.BYTES));
    postReceive();
    debug("received " + advert);
    return advert;
  }

  /** Reads from the peer's memory to the start of the data; false if the peer disconnected. */
  final boolean read(final Advert from) throws RpingException, InterruptedException {
    posted(endpoint.postRdmaRead(data, 0, from.size(), from.rmrContext(), from.address(), 0));
    return await(DtoOperation.RDMA_READ);
  }

  /** Writes from the start of the data to the peer's memory; false if the peer disconnected. */
  final boolean write(final int length, final Advert to)
      throws RpingException, InterruptedException {
    posted(endpoint.postRdmaWrite(data, 0, length, to.rmrContext(), to.address(), 0));
    return await(DtoOperation.RDMA_WRITE);
  }

  private void postReceive() {
    posted(endpoint.postReceive(messages, RECEIVED, Advert.BYTES, 0));
  }

  private static void posted(final Outcome outcome) {
    if (outcome != Outcome.SUCCESS) {
      throw new IllegalStateException("a post was answered with " + outcome);
    }
  }

  /** Waits for the end of an operation; false if the peer disconnected instead. */
  private boolean await(final DtoOperation operation) throws RpingException, InterruptedException {
    while (handler.done == null && !isDisconnected()) {
      await(PATIENCE);
    }
    final DtoOperation done = handler.done;
    handler.done = null;
    if (done != null && done != operation) {
      throw new RpingException("expected the end of " + operation + " but it was of " + done);
    }
    return done != null;
  }

  /** Has an object closed with this side, before those that were created earlier. */
  final <T extends DatObject> T opened(final T object) {
    return opened.add(object);
  }

  /** Takes one event. */
  private void await(final Duration patience) throws RpingException, InterruptedException {
    final Outcome outcome = evd.await(handler, 1, patience);
    if (outcome == Outcome.INTERRUPTED_CALL) {
      throw new InterruptedException();
    }
    if (outcome != Outcome.SUCCESS) {
      throw new RpingException(
          outcome == Outcome.TIMEOUT_EXPIRED
              ? "the peer was silent for " + patience.toSeconds() + " s"
              : "the wait for the peer ended: " + outcome);
    }
    if (handler.failure != null) {
      throw new RpingException(handler.failure);
    }
  }

  final void debug(final String step) {
    debug.accept(step);
  }

  @Override
  public final void close() {
    opened.close();
  }

  /** Notes what came. */
  private final class Handler implements EventHandler {

    private ConnectionRequest request;
    private ConnectionEvent.Kind connection;
    private DtoOperation done;
    private long length;
    private String failure;

    @Override
    public void onRequest(final ConnectionRequestEvent event) {
      if (request == null && endpoint.state() == EndpointState.UNCONNECTED) {
        request = event.request();
      } else {
        event.request().reject(null); // one client only
      }
    }

    @Override
    public void onConnection(final ConnectionEvent event) {
      debug("connection " + event.kind());
      if (connection != null && event.kind() != ConnectionEvent.Kind.DISCONNECTED) {
        failure = "the connection ended: " + event.kind();
      }
      connection = event.kind();
    }

    @Override
    public void onCompletion(final DtoCompletion event) {
      if (event.status() == DtoStatus.SUCCESS) {
        if (event.operation() != DtoOperation.SEND) { // its answer counts
          done = event.operation();
          length = event.transferredLength();
        }
      } else if (event.status() != DtoStatus.ERR_FLUSHED) { // else the connection tells why
        failure = event.operation() + " ended with " + event.status();
      }
    }

    @Override
    public void onAsync(final AsyncEvent event) {
      failure = "async error " + event.kind() + ": " + event.reason();
    }
  }
}
