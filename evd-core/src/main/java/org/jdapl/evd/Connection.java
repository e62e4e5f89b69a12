package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import org.jdapl.dat.Bounds;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.EndpointState;
import org.jdapl.evd.EndpointStates.Trigger;
import org.jdapl.evd.StateTable.Machine;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.Timers;
import org.jdapl.verbs.VerbsException;

/**
 * The connection of an endpoint: its states, and its events.
 *
 * <p>What happens to the connection moves its {@link EndpointStates} where it happens, on any
 * thread, and puts an event into the lane of the connect EVD. The provider is only called back by
 * the consumer's calls, in turns, and by the reaper. In which order the events are handed out among
 * completions is the business of its {@link ConnectionGate}.
 */
final class Connection implements CmHandler {

  /**
   * Where a peer listens.
   *
   * @param address its address.
   * @param connQual where there.
   */
  record Peer(InetAddress address, long connQual) {}

  private static final int NO_MORE = Integer.MIN_VALUE / 2;

  private final Incarnation incarnation;
  private final EvdImpl evd;
  private final ConnectionGate gate;
  private final Machine<EndpointState, Trigger> machine =
      EndpointStates.TABLE.startIn(EndpointState.UNCONNECTED);

  private volatile CmId cmId;

  /** How many calls of the provider, or events, are in progress; negative when calls have ended. */
  private final AtomicInteger inProgress = new AtomicInteger();

  /** Of several turns: a shared receive queue shows many flushes. */
  private final AtomicBoolean flushTimed = new AtomicBoolean();

  /** The service point it is reserved for, and the request that came there and waits. */
  private RspImpl reservedFor;

  private CrImpl reservedRequest;

  /** Guards these two, so that they belong to the state. Nothing is called under it. */
  private final Object reserving = new Object();

  /** Whom the consumer asked for a connection, and where; null on the passive side. */
  private volatile Peer asked;

  /** Whose request the consumer accepts; null on the active side. */
  private volatile InetAddress accepted;

  private volatile boolean passive;
  private volatile boolean broken;
  private volatile ConnectionEventImpl establishedEvent;
  private volatile ConnectionEventImpl endEvent;
  private volatile ConnectionEventImpl ownEnd;

  Connection(final Incarnation incarnation, final EvdImpl evd) {
    this.incarnation = incarnation;
    this.evd = evd;
    gate = new ConnectionGate(this, incarnation, evd);
  }

  ConnectionGate gate() {
    return gate;
  }

  EndpointState state() {
    return machine.state();
  }

  Bounds bounds() {
    return incarnation.attributes().bounds();
  }

  /** Whether an EVD gets the events of this connection. */
  boolean isOf(final EvdImpl other) {
    return evd == other;
  }

  // The consumer's calls.

  /**
   * Connects.
   *
   * @param argument the number of the timeout among the call's arguments; the private data follows.
   */
  void connect(
      final Peer peer,
      final Duration timeout,
      final ByteBuffer privateData,
      final String call,
      final int argument) {
    if (timeout == null || timeout.isZero() || timeout.isNegative()) {
      throw Misuse.argument(argument, call + ": timeout " + timeout + " is not positive");
    }
    final CmParameters parameters =
        parameters(
            privateData,
            incarnation.ia().device().limits().connectPrivateData(),
            argument + 1,
            call);
    final String what = "connect to " + peer.address() + ":" + peer.connQual();
    enter();
    try {
      move(Trigger.CONNECT, what);
      asked = peer;
      ask(
          () ->
              incarnation
                  .ia()
                  .device()
                  .connect(incarnation.qp(), peer.address(), peer.connQual(), parameters, this),
          Trigger.CONNECT_FAILED,
          what);
    } finally {
      exit();
    }
    schedule(timeout, () -> timeOut(ConnectionEvent.Kind.TIMED_OUT));
  }

  /** Has the provider connect or accept. If it does not, the move to pending is undone. */
  private void ask(final Supplier<CmId> provider, final Trigger undo, final String call) {
    try {
      cmId = provider.get();
    } catch (final VerbsException e) {
      if (undo(undo)) {
        throw Misuse.failed(incarnation.name() + "." + call, e);
      }
      final DatException refusal = refused(call); // it failed because of what moved it meanwhile
      refusal.addSuppressed(e);
      throw refusal;
    } catch (final Throwable e) {
      undo(undo);
      throw e;
    }
    if (isOver()) {
      hangUp();
    }
  }

  /** Returns false if it was closed, or ended, meanwhile. */
  private boolean undo(final Trigger undo) {
    asked = null;
    passive = false;
    accepted = null;
    return machine.move(undo) != null;
  }

  /** Whom the consumer asked for a connection; null if nobody yet. */
  Peer asked() {
    return asked;
  }

  InetAddress remoteAddress() {
    final Peer peer = asked;
    return peer == null ? accepted : peer.address();
  }

  int rdmaReadsIn() {
    final CmId id = cmId;
    final int told = id == null ? CmId.NOT_TOLD : id.readsIn();
    return told < 0 ? incarnation.attributes().rdmaReadsIn() : told;
  }

  int rdmaReadsOut() {
    final CmId id = cmId;
    final int told = id == null ? CmId.NOT_TOLD : id.readsOut();
    return told < 0 ? incarnation.attributes().rdmaReadsOut() : told;
  }

  /** What can be changed without another queue pair is. */
  void modify(final EndpointParameters parameters) {
    switch (machine.state()) {
      case UNCONNECTED, RESERVED, PASSIVE_CONNECTION_PENDING -> incarnation.parameters(parameters);
      default -> throw refused("modify");
    }
  }

  // Reserved for a service point.

  void reserve(final RspImpl servicePoint) {
    final boolean legal;
    synchronized (reserving) {
      legal = machine.move(Trigger.RESERVE) != null;
      if (legal) {
        reservedFor = servicePoint;
      }
    }
    if (!legal) {
      throw refused("createRsp");
    }
  }

  /** The service point is closed; does nothing if the endpoint is not reserved for it any more. */
  void unreserve(final RspImpl servicePoint) {
    synchronized (reserving) {
      if (reservedFor == servicePoint) {
        machine.move(Trigger.UNRESERVE);
      }
    }
  }

  /** A request came there: false if the endpoint is not reserved for it any more. */
  boolean request(final RspImpl servicePoint, final CrImpl request) {
    synchronized (reserving) {
      final boolean legal = reservedFor == servicePoint && machine.move(Trigger.REQUEST) != null;
      if (legal) {
        reservedRequest = request;
      }
      return legal;
    }
  }

  /** That request found no room in its EVD: false if the endpoint waits for none any more. */
  boolean requestLost() {
    return machine.move(Trigger.REQUEST_LOST) != null;
  }

  /** A request was rejected, or handed to another service point. */
  void rejected(final CrImpl request) {
    synchronized (reserving) {
      if (reservedRequest == request) {
        machine.move(Trigger.REJECT);
      }
    }
  }

  /** Accepts a request; the caller knows that it was not answered. */
  void accept(final CrImpl request, final ByteBuffer privateData) {
    final CmParameters parameters =
        parameters(
            privateData,
            incarnation.ia().device().limits().acceptPrivateData(),
            2,
            request.name() + ".accept");
    final String what = "accept of " + request.name();
    enter();
    try {
      final boolean reserved = request.endpoint() != null;
      move(reserved ? Trigger.RESERVED_ACCEPT : Trigger.ACCEPT, what);
      passive = true;
      accepted = request.remoteAddress();
      ask(
          () -> request.acceptWith(incarnation.qp(), parameters, this),
          reserved ? Trigger.RESERVED_ACCEPT_FAILED : Trigger.ACCEPT_FAILED,
          what);
    } finally {
      exit();
    }
    schedule(bounds().accept(), () -> timeOut(ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR));
  }

  private CmParameters parameters(
      final ByteBuffer privateData, final int limit, final int argument, final String call) {
    final ByteBuffer data = PrivateData.checked(privateData, limit, argument, call);
    final EndpointAttributes attributes = incarnation.attributes();
    return new CmParameters(
        data,
        attributes.rdmaReadsIn(),
        attributes.rdmaReadsOut(),
        attributes.retryCount(),
        attributes.rnrRetryCount(),
        code(attributes.ackTimeout(), Timers::ackCode),
        code(attributes.rnrTimer(), Timers::rnrCode));
  }

  private static int code(final Duration timer, final LongToIntFunction codes) {
    return timer.isZero() ? Timers.PROVIDERS_OWN : codes.applyAsInt(timer.toNanos());
  }

  private void move(final Trigger trigger, final String call) {
    if (machine.move(trigger) == null) {
      throw refused(call);
    }
  }

  private DatException refused(final String call) {
    return incarnation.endpoint().life().refused(incarnation, call);
  }

  void disconnect(final Endpoint.Disconnect how) {
    if (how == null) {
      throw Misuse.argument(1, incarnation.name() + ".disconnect: how is null");
    }
    final EndpointState state = incarnation.endpoint().state();
    if (state == EndpointState.DISCONNECTED) {
      return;
    }
    if (!isConnecting(state)) {
      throw refused("disconnect");
    }
    if (how == Endpoint.Disconnect.ABRUPT
        || (state != EndpointState.CONNECTED && state != EndpointState.DISCONNECT_PENDING)) {
      endByConsumer(Trigger.END);
    } else if (machine.move(Trigger.DISCONNECT) != null) {
      if (!isMarked()) {
        endByConsumer(Trigger.END);
      } else {
        schedule(bounds().disconnect(), () -> endByConsumer(Trigger.END));
      }
    }
  }

  /** Whether there are requests to wait for, and a marker that says when they are done. */
  private boolean isMarked() {
    try {
      return !incarnation.requests().isIdle()
          && incarnation.requests().postMarker(incarnation.qp(), false) == 0;
    } catch (final Throwable e) {
      evd.onProviderFault(FaultLog.Call.DRAIN, incarnation.endpoint(), "failed: " + e, e);
      return false;
    }
  }

  /** Has something done after a delay, if the endpoint is not closed then. */
  void schedule(final Duration delay, final Runnable action) {
    incarnation.ia().reaper().schedule(delay, incarnation.drain().closed(), action);
  }

  // What happens to the connection. From any thread; never calls the provider.

  @Override
  public void onCmEvent(
      final CmId id, final CmEventType type, final int status, final ByteBuffer privateData) {
    enter();
    cmId = id; // connect and accept may not have returned
    try {
      switch (type) {
        case ESTABLISHED -> onEstablished(PrivateData.copy(privateData));
        case REJECTED -> {
          if (passive) {
            end(ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR);
          } else {
            end(
                Trigger.END,
                status == CmHandler.CONSUMER_REJECT
                    ? ConnectionEvent.Kind.PEER_REJECTED
                    : ConnectionEvent.Kind.NON_PEER_REJECTED,
                PrivateData.copy(privateData));
          }
        }
        case UNREACHABLE, CONNECT_ERROR, ADDR_ERROR, ROUTE_ERROR ->
            end(
                passive
                    ? ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR
                    : ConnectionEvent.Kind.UNREACHABLE);
        case DISCONNECTED -> end(ConnectionEvent.Kind.DISCONNECTED);
        case DEVICE_REMOVAL -> {
          incarnation.ia().onDeviceLost(type);
          onDeviceLost();
        }
        case TIMEWAIT_EXIT -> {}
      }
    } finally {
      exit();
    }
  }

  private void onEstablished(final ByteBuffer privateData) {
    if (machine.move(Trigger.ESTABLISH) != null) {
      final ConnectionEventImpl event =
          new ConnectionEventImpl(incarnation, ConnectionEvent.Kind.ESTABLISHED, privateData);
      establishedEvent = event;
      evd.offer(event);
    } else if (isOver()) {
      later(this::hangUp); // too late: the peer must not stay connected
    }
  }

  /** Whether there is a connection to be ended. */
  private static boolean isConnecting(final EndpointState state) {
    return switch (state) {
      case ACTIVE_CONNECTION_PENDING, COMPLETION_PENDING, CONNECTED, DISCONNECT_PENDING -> true;
      default -> false;
    };
  }

  /** Whether an event that ends the connection was put into the lane in a state, or before. */
  static boolean isEndExpected(final EndpointState before) {
    return before == EndpointState.DISCONNECTED || isConnecting(before);
  }

  boolean isOver() {
    final EndpointState state = machine.state();
    return state == EndpointState.DISCONNECTED || state == EndpointState.CLOSED;
  }

  /** It did not come about in time, unless it just did. */
  private void timeOut(final ConnectionEvent.Kind kind) {
    end(Trigger.TIME_OUT, kind, PrivateData.NONE);
  }

  private void end(final ConnectionEvent.Kind kind) {
    end(Trigger.END, kind, PrivateData.NONE);
  }

  private void end(
      final Trigger trigger, final ConnectionEvent.Kind kind, final ByteBuffer privateData) {
    enter();
    try {
      final EndpointState before = machine.move(trigger);
      if (before != null) {
        final ConnectionEvent.Kind known =
            isUp(before) == (kind == ConnectionEvent.Kind.DISCONNECTED) ? kind : failed(before);
        offerEnd(new ConnectionEventImpl(incarnation, known, privateData));
      }
    } finally {
      exit();
    }
  }

  /** The consumer ends the connection. */
  private void endByConsumer(final Trigger trigger) {
    enter();
    try {
      final ConnectionEventImpl event =
          new ConnectionEventImpl(incarnation, ConnectionEvent.Kind.DISCONNECTED, PrivateData.NONE);
      if (trigger == Trigger.CLOSE || machine.move(trigger) != null) {
        ownEnd = event;
        offerEnd(event);
      }
    } finally {
      exit();
    }
  }

  /** The device is gone, and with it the connection. */
  void onDeviceLost() {
    enter();
    try {
      final EndpointState before = machine.move(Trigger.END);
      if (before != null) {
        offerEnd(new ConnectionEventImpl(incarnation, failed(before), PrivateData.NONE));
      }
    } finally {
      exit();
    }
    incarnation.onLastReceiveTaken(); // nobody will say so
  }

  /** How a connection fails in a state: only one that did come about breaks. */
  private static ConnectionEvent.Kind failed(final EndpointState before) {
    return switch (before) {
      case ACTIVE_CONNECTION_PENDING -> ConnectionEvent.Kind.UNREACHABLE;
      case COMPLETION_PENDING -> ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR;
      default -> ConnectionEvent.Kind.BROKEN;
    };
  }

  private void offerEnd(final ConnectionEventImpl event) {
    endEvent = event;
    evd.offer(event);
    later(this::hangUp); // of its own: if it is stuck, the queue pair is stopped all the same
    later(this::flush);
  }

  /** A completion or an async error says that the connection does not stand any more. */
  void onBroken() {
    broken = true;
    end(ConnectionEvent.Kind.BROKEN);
  }

  /**
   * A request was flushed, so the connection does not stand any more. DISCONNECTED mostly says why;
   * over iWARP it may never come.
   */
  void onFlushed() {
    if (isUp() && !flushTimed.getAndSet(true)) {
      schedule(
          bounds().order(),
          () -> {
            if (isUp()) {
              onBroken();
            }
          });
    }
  }

  private boolean isUp() {
    return isUp(machine.state());
  }

  private static boolean isUp(final EndpointState state) {
    return state == EndpointState.CONNECTED || state == EndpointState.DISCONNECT_PENDING;
  }

  /**
   * The event to hand out for one that waited; of the connect EVD's turn. A peer that disconnects
   * because a request broke the connection may be heard of before the request's completion is seen:
   * it is BROKEN all the same. So is a connect or accept that failed before a completion was seen
   * that made ESTABLISHED be handed out.
   */
  ConnectionEventImpl revised(final ConnectionEventImpl event) {
    final boolean isBroken =
        switch (event.what()) {
          case ESTABLISHED, BROKEN -> false;
          case DISCONNECTED -> broken && event != ownEnd;
          default -> gate.isEstablished();
        };
    return isBroken
        ? new ConnectionEventImpl(incarnation, ConnectionEvent.Kind.BROKEN, PrivateData.NONE)
        : event;
  }

  /** Whether the consumer accepted it. */
  boolean isPassive() {
    return passive;
  }

  /** A completion came first: the connection stands, if it is not over. */
  void establish() {
    if (machine.move(Trigger.ESTABLISH) != null) {
      onMessage();
    }
  }

  /** ESTABLISHED, once it was put into the lane; null before. */
  ConnectionEventImpl establishedEvent() {
    return establishedEvent;
  }

  /** The end, once it was put into the lane; null before. */
  ConnectionEventImpl endEvent() {
    return endEvent;
  }

  /** A message came before the connection was known to stand: tells the connection manager. */
  void onMessage() {
    later(this::notifyEstablished);
  }

  private void notifyEstablished() {
    final CmId id = cmId;
    if (id != null && machine.state() != EndpointState.CLOSED) {
      try {
        id.notifyEstablished();
      } catch (final Throwable e) { // the connection stands all the same
        evd.onProviderFault(FaultLog.Call.CONNECTION, incarnation.endpoint(), "failed: " + e, e);
      }
    }
  }

  /**
   * The connection is over, or did not come about: what is posted from now on is flushed, though
   * the reaper has not come to it yet. By a poster, without its guard: the verb may block.
   */
  void stop() {
    if (!incarnation.drain().isStopped() && inProgress.incrementAndGet() > 0) {
      try {
        incarnation.drain().stop();
      } catch (final Throwable e) {
        // Told by who flushes. Whether the device takes the post all the same, that says.
      } finally {
        exit();
      }
    }
  }

  /** The connection is over: everything open completes, and a marker says when. */
  private void flush() {
    try {
      incarnation.drain().stop();
      if (incarnation.receives().postMarker(incarnation.qp(), false) != 0
          || incarnation.requests().postMarker(incarnation.qp(), false) != 0) {
        evd.control(gate::open);
      }
    } catch (final Throwable e) {
      evd.onProviderFault(FaultLog.Call.FLUSH, incarnation.endpoint(), "failed: " + e, e);
      evd.control(gate::open);
    }
  }

  /** A marker came by in a queue. */
  void onMarker(final WorkQueue queue, final boolean success) {
    if (!success) {
      queue.markFlushing();
    } else if (machine.state() == EndpointState.DISCONNECT_PENDING) {
      endByConsumer(Trigger.END);
    }
  }

  // The close.

  /**
   * The consumer resets or modifies the endpoint: another incarnation is to follow this one.
   *
   * @return its state before; null if that is not legal in it.
   */
  EndpointState renew(final Trigger trigger) {
    return machine.move(trigger);
  }

  /**
   * The consumer closes the endpoint.
   *
   * @return its state before; null if it is closed already.
   */
  EndpointState close() {
    final EndpointState before;
    final RspImpl servicePoint;
    final CrImpl request;
    synchronized (reserving) {
      before = machine.move(Trigger.CLOSE);
      servicePoint = reservedFor;
      request = reservedRequest;
    }
    if (before == EndpointState.RESERVED) {
      later(servicePoint::withdraw);
    } else if (before == EndpointState.PASSIVE_CONNECTION_PENDING) {
      later(request::close);
    } else if (before != null && isConnecting(before)) {
      endByConsumer(Trigger.CLOSE);
    }
    return before;
  }

  /** Tells the peer, if there is one. If that fails, the peer learns it from its completions. */
  void hangUp() {
    final CmId id = cmId;
    if (id != null) {
      try {
        id.disconnect();
      } catch (final Throwable e) {
        evd.onProviderFault(FaultLog.Call.CONNECTION, incarnation.endpoint(), "failed: " + e, e);
      }
    }
  }

  /**
   * Has the reaper call the provider, so that neither a turn nor a provider's upcall does. Such a
   * call may block. After {@link #endCalls} none is made.
   */
  void later(final Runnable call) {
    if (inProgress.incrementAndGet() <= 0) {
      return;
    }
    incarnation
        .ia()
        .reaper()
        .execute(
            () -> {
              try {
                call.run();
              } finally {
                exit();
              }
            });
  }

  /** Something that may call the provider, or put an event into the lane, begins. */
  private void enter() {
    inProgress.incrementAndGet();
  }

  private void exit() {
    if (inProgress.decrementAndGet() == 0 && machine.state() == EndpointState.CLOSED) {
      evd.control(() -> {}); // the close may have waited for that
    }
  }

  /** Whether a call of the provider, or an event, is in progress. */
  boolean isBusy() {
    return inProgress.get() > 0;
  }

  /**
   * Ends all calls of the provider.
   *
   * @return false if one is in progress, and then nothing ended.
   */
  boolean endCalls() {
    return inProgress.compareAndSet(0, NO_MORE);
  }

  /** Destroys the id. By the reaper. */
  void release() {
    final CmId id = cmId;
    if (id != null) {
      id.close();
    }
  }
}
