package org.jdapl.rdmacore;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.VerbsException;

/**
 * One side of a connection. librdmacm is not told of the queue pair, and so does nothing to it
 * while it reads an event: what is to be done to it is done here, when the event is handed over.
 */
final class RdmaCmId extends CmObject implements CmId {

  private enum State {
    RESOLVING,
    CONNECTING,
    ACCEPTED,
    ESTABLISHED,
    DISCONNECTING,
    OVER
  }

  private static final int RESOLVE_MILLIS = 2000;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private final RdmaQp qp;
  private final CmParameters parameters;
  private final CmHandler handler;
  private volatile int readsIn; // written under the monitor
  private volatile int readsOut;
  private byte[] data;
  private volatile State state; // written under the monitor

  RdmaCmId(
      final RdmaDevice device,
      final RdmaQp qp,
      final CmParameters parameters,
      final CmHandler handler) {
    super(device, "id of " + qp);
    this.qp = qp;
    this.parameters = parameters;
    this.handler = handler;
    readsIn = Math.min(parameters.readsIn(), device.limits().maxReadsIn());
    readsOut = Math.min(parameters.readsOut(), device.limits().maxReadsOut());
  }

  boolean isOver() {
    return state == State.OVER || isEnded();
  }

  // The two sides.

  /** Asks the peer; on a failure the caller ends it. */
  synchronized void connect(final InetAddress remote, final int service, final byte[] privateData) {
    data = privateData;
    state = State.RESOLVING;
    qp.attach("connect", this);
    create();
    final int bound = device.bind(pointer(), 0);
    Results.check(bound, "bind_addr", this, "address " + device.address());
    final int resolving =
        Cm.resolveAddr(
            pointer(), remote.getAddress(), RdmaDevice.scope(remote), service, RESOLVE_MILLIS);
    Results.check(resolving, "resolve_addr", this, "address " + remote.getHostAddress());
  }

  /**
   * Accepts a request, whose id is this one's if this returns. If the peer has gone, that is told
   * by an event. By no other one as well: of an id that was not accepted the kernel tells nothing.
   */
  synchronized void accept(
      final long id, final byte[] privateData, final int wantedIn, final int allowedOut) {
    checkNotEnded("accept");
    state = State.OVER; // until it is accepted
    qp.attach("accept", this);
    negotiate(wantedIn, allowedOut);
    int result = qp.connect(id, this, parameters);
    if (result == 0) {
      Cm.setToken(id, token()); // before events of it come
      result =
          Cm.accept(
              id,
              qp.number(),
              qp.hasSrq() ? 1 : 0,
              readsIn,
              readsOut,
              parameters.rnrRetryCount(),
              privateData);
      if (result < 0) {
        qp.fail();
      }
    }
    if (result == -VerbsException.ENOTCONN) {
      qp.fail();
      device.post(this::tellGone);
    } else {
      Results.check(result, "accept", qp, "to RTS, and the answer to the peer");
      state = State.ACCEPTED;
    }
    own(id);
  }

  /** The peer had gone when its request was accepted. */
  private int tellGone() {
    if (!upcalls.enter()) {
      return 0;
    }
    try {
      handler.onCmEvent(this, CmEventType.CONNECT_ERROR, VerbsException.ENOTCONN, NOTHING);
      return 1;
    } finally {
      upcalls.exit();
    }
  }

  /** What this side asked for, and the peer allows. */
  private void negotiate(final int wantedIn, final int allowedOut) {
    readsIn = Math.min(readsIn, wantedIn);
    readsOut = Math.min(readsOut, allowedOut);
  }

  @Override
  public int readsIn() {
    return readsIn;
  }

  @Override
  public int readsOut() {
    return readsOut;
  }

  /** It was not accepted: its id stays the request's. */
  void abandon() {
    disown();
    device.remove(this);
  }

  // Events.

  @Override
  int onEvent(final CmEvents event) {
    if (!upcalls.enter()) {
      return 0;
    }
    try {
      final CmEventType type = advance(event);
      if (type == null) {
        return 0;
      }
      if (event.type() == CmEvents.REJECTED) {
        tellReject(event);
      } else {
        final boolean carries =
            event.type() == CmEvents.CONNECT_RESPONSE || event.type() == CmEvents.ESTABLISHED;
        handler.onCmEvent(
            this,
            type,
            failure != 0 ? failure : event.status(),
            carries ? ByteBuffer.wrap(event.privateData()).asReadOnlyBuffer() : NOTHING);
      }
      return 1;
    } finally {
      upcalls.exit();
    }
  }

  private void tellReject(final CmEvents event) {
    int status = event.status();
    byte[] said = event.privateData();
    if (device.isIwarp()) {
      status = IwarpReject.status(status, said);
      said = IwarpReject.untag(said);
    }
    handler.onCmEvent(this, CmEventType.REJECTED, status, ByteBuffer.wrap(said).asReadOnlyBuffer());
  }

  private int failure; // of a step that an event led to; of the thread that awaits

  /**
   * Does what an event asks for.
   *
   * @return what to tell the handler; null for nothing.
   */
  private synchronized CmEventType advance(final CmEvents event) {
    failure = 0;
    if (pointer() == 0) {
      return null;
    }
    return switch (event.type()) {
      case CmEvents.ADDR_RESOLVED ->
          step(Cm.resolveRoute(pointer(), RESOLVE_MILLIS), CmEventType.ROUTE_ERROR);
      case CmEvents.ROUTE_RESOLVED -> {
        state = State.CONNECTING;
        yield step(ask(), CmEventType.CONNECT_ERROR);
      }
      case CmEvents.CONNECT_RESPONSE -> onResponse(event);
      case CmEvents.ESTABLISHED -> onEstablished(event);
      case CmEvents.ADDR_ERROR -> over(CmEventType.ADDR_ERROR);
      case CmEvents.ROUTE_ERROR -> over(CmEventType.ROUTE_ERROR);
      case CmEvents.CONNECT_ERROR -> over(CmEventType.CONNECT_ERROR);
      case CmEvents.UNREACHABLE -> over(CmEventType.UNREACHABLE);
      case CmEvents.REJECTED -> over(CmEventType.REJECTED);
      case CmEvents.DISCONNECTED -> onDisconnected();
      case CmEvents.DEVICE_REMOVAL -> {
        device.onDeviceEvent(AsyncType.DEVICE_FATAL, 0);
        state = State.OVER;
        yield CmEventType.DEVICE_REMOVAL;
      }
      case CmEvents.TIMEWAIT_EXIT -> CmEventType.TIMEWAIT_EXIT;
      default -> null;
    };
  }

  private CmEventType step(final int result, final CmEventType ifFailed) {
    if (result >= 0) {
      return null;
    }
    failure = -result;
    state = State.OVER;
    return ifFailed;
  }

  private int ask() {
    return Cm.connect(
        pointer(),
        qp.number(),
        qp.hasSrq() ? 1 : 0,
        readsIn,
        readsOut,
        parameters.retryCount(),
        parameters.rnrRetryCount(),
        data);
  }

  /** The peer accepted: connects the queue pair, and tells the peer. */
  private CmEventType onResponse(final CmEvents event) {
    if (state != State.CONNECTING) {
      return null;
    }
    negotiate(event.readsIn(), event.readsOut());
    int result = qp.connect(pointer(), this, parameters);
    if (result == 0) {
      result = Cm.establish(pointer());
    }
    if (result < 0) {
      qp.fail();
      Cm.reject(pointer(), new byte[0]); // if it fails, the end of the id tells the peer
      return step(result, CmEventType.CONNECT_ERROR);
    }
    state = State.ESTABLISHED;
    return CmEventType.ESTABLISHED;
  }

  private CmEventType onEstablished(final CmEvents event) {
    if (state == State.DISCONNECTING) {
      Cm.disconnect(pointer()); // before this the peer could not be told
      return null;
    }
    if (state != State.ACCEPTED && state != State.CONNECTING) {
      return null;
    }
    if (state == State.CONNECTING) { // with iWARP the active side is connected by the device
      negotiate(event.readsIn(), event.readsOut());
      qp.connected();
    }
    state = State.ESTABLISHED;
    return CmEventType.ESTABLISHED;
  }

  private CmEventType onDisconnected() {
    if (state == State.OVER) {
      return null;
    }
    if (state != State.DISCONNECTING) {
      qp.fail();
      Cm.disconnect(pointer()); // the answer, which the peer waits for; if it fails, that times out
    }
    state = State.OVER;
    return CmEventType.DISCONNECTED;
  }

  private CmEventType over(final CmEventType type) {
    if (state == State.ACCEPTED || state == State.DISCONNECTING) {
      qp.fail();
    }
    state = State.OVER;
    return type;
  }

  // The verbs.

  @Override
  public synchronized void disconnect() {
    if ((state != State.ACCEPTED && state != State.ESTABLISHED) || pointer() == 0) {
      return;
    }
    state = State.DISCONNECTING;
    qp.fail();
    final int result = Cm.disconnect(pointer());
    if (result < 0 && result != -VerbsException.EINVAL && result != -VerbsException.ENOTCONN) {
      Results.check(result, "disconnect", this, "the peer learns of it when the id is closed");
    }
  }

  @Override
  public synchronized void notifyEstablished() {
    if (state == State.ACCEPTED && pointer() != 0) {
      Cm.notifyEstablished(pointer()); // EISCONN and the like: ESTABLISHED comes anyway
    }
  }

  @Override
  public void close() {
    end();
  }
}
