package org.jdapl.examples.pingpong;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.evd.Jdapl;
import org.jdapl.evd.WaitStrategy;
import org.jdapl.examples.Opened;
import org.jdapl.verbs.VerbsProvider;

/**
 * One side: a dispatcher, an EVD for everything, an endpoint. It has one receive open, and one
 * message is on its way at any time, back or forth.
 */
abstract class Player implements EventHandler, AutoCloseable {

  private static final int EVD_LENGTH = 64;
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  private final int size;
  private final Jdapl runtime;
  private final InterfaceAdapter adapter;
  private final Opened opened;
  private final Evd evd;
  private final Endpoint endpoint;
  private final Lmr memory; // what is sent, then what is received
  private final AtomicReference<String> failure = new AtomicReference<>();
  private volatile String asked; // whom it connects to; null if none, or when it is connected

  Player(final VerbsProvider provider, final WaitStrategy strategy, final int size) {
    this.size = size;
    runtime = Jdapl.with(provider).waitStrategy(strategy).start();
    try {
      adapter = runtime.open();
    } catch (final RuntimeException e) {
      runtime.close();
      throw e;
    }
    opened = new Opened(adapter, CLOSE_BOUND);
    try {
      evd =
          opened.add(
              adapter.createEvd(
                  EVD_LENGTH,
                  EventStream.DTO,
                  EventStream.CONNECTION,
                  EventStream.CONNECTION_REQUEST,
                  EventStream.ASYNC));
      adapter.asyncEvd(evd);
      final ProtectionZone pz = opened.add(adapter.createPz());
      memory =
          opened.add(
              pz.createLmr(
                  ByteBuffer.allocateDirect(2 * size + 1),
                  Privilege.LOCAL_READ,
                  Privilege.LOCAL_WRITE));
      endpoint = opened.add(adapter.createEndpoint(pz, evd, EndpointAttributes.defaults()));
      postReceive();
    } catch (final RuntimeException e) {
      throw Opened.closed(this, e);
    }
  }

  /** The connection stands. */
  abstract void onEstablished();

  /** A message came, and the next one may come. */
  abstract void onMessage();

  /** No message follows. */
  abstract void onLast();

  /** Something went wrong; it was noted. */
  abstract void onFailure();

  final void start() {
    evd.upcall(this);
  }

  /** Listens at a service, 0 for any; returns which. */
  final long listen(final long service) {
    return opened
        .add(service == 0 ? adapter.createPsp(evd) : adapter.createPsp(service, evd))
        .connQual();
  }

  final void connect(final InetAddress peer, final long service) {
    asked = peer.getHostAddress() + " port " + service;
    endpoint.connect(peer, service, CONNECT_TIMEOUT, null);
  }

  final InetAddress address() {
    return adapter.address();
  }

  /** What went wrong first, or null. From any thread. */
  final String failure() {
    return failure.get();
  }

  /** From any thread. */
  final EvdStatistics statistics() {
    return evd.statistics();
  }

  final void send() {
    posted(endpoint.postSend(memory, 0, size, 0));
  }

  /** Says that no message follows: this one is a byte longer. */
  final void sendLast() {
    posted(endpoint.postSend(memory, 0, size + 1, 0));
  }

  private void postReceive() {
    posted(endpoint.postReceive(memory, size, size + 1, 0));
  }

  private static void posted(final Outcome outcome) {
    if (outcome != Outcome.SUCCESS) {
      throw new IllegalStateException("a post was answered with " + outcome);
    }
  }

  @Override
  public final void onRequest(final ConnectionRequestEvent event) {
    if (endpoint.state() == EndpointState.UNCONNECTED) {
      event.request().accept(endpoint, null);
    } else {
      event.request().reject(null); // the table is taken
    }
  }

  @Override
  public final void onConnection(final ConnectionEvent event) {
    if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
      asked = null;
      onEstablished();
    } else if (asked == null) {
      fail("the connection ended: " + event.kind());
    } else {
      fail("no connection to " + asked + ": " + event.kind() + "; start pingpong -s there first");
    }
  }

  @Override
  public final void onCompletion(final DtoCompletion event) {
    if (event.status() != DtoStatus.SUCCESS) {
      if (event.status() != DtoStatus.ERR_FLUSHED) { // else the end of the connection tells why
        fail(event.operation() + " ended with " + event.status());
      }
    } else if (event.operation() == DtoOperation.RECEIVE) {
      if (event.transferredLength() == size) {
        postReceive();
        onMessage();
      } else if (event.transferredLength() == size + 1) {
        onLast();
      } else {
        fail(
            "a message of "
                + event.transferredLength()
                + " bytes came; expected "
                + size
                + ": both sides need the same --size");
      }
    }
  }

  @Override
  public final void onAsync(final AsyncEvent event) {
    fail("async error " + event.kind() + ": " + event.reason());
  }

  private void fail(final String what) {
    failure.compareAndSet(null, what);
    onFailure();
  }

  @Override
  public final void close() {
    try {
      opened.close();
    } finally {
      runtime.close();
    }
  }
}
