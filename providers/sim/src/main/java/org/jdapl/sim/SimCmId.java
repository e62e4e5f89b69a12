package org.jdapl.sim;

import java.nio.ByteBuffer;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.VerbsException;

/** One side of a connection. Its state is guarded by the wire. */
final class SimCmId implements CmId {

  /** Where a side is between its request, or its answer, and its end. */
  enum State {
    CONNECTING,
    ACCEPTED,
    ESTABLISHED,
    DISCONNECTING,
    OVER
  }

  /** The status of a REJECTED without a consumer: the request was not valid any more. */
  static final int STALE = 10;

  /** After how long a message without an answer is given up. */
  static final long TIMEOUT_NANOS = 4_000_000_000L;

  private static final byte[] NOTHING = {};

  private final SimDevice device;
  private final SimFabric fabric;
  private final SimQp qp;
  private final CmParameters parameters;
  private final CmHandler handler;
  private final Upcalls upcalls;
  private volatile int readsIn; // written holding the wire
  private volatile int readsOut;
  private State state;
  private SimCmId peer;
  private SimRequest request;
  private long lastSent;
  private boolean closed;

  /** Called holding the wire. */
  SimCmId(
      final SimDevice device,
      final SimQp qp,
      final CmParameters parameters,
      final CmHandler handler,
      final State state) {
    this.device = device;
    this.fabric = device.fabric();
    this.qp = qp;
    this.parameters = parameters;
    this.handler = handler;
    this.state = state;
    readsIn = Math.min(parameters.readsIn(), SimDevice.LIMITS.maxReadsIn());
    readsOut = Math.min(parameters.readsOut(), SimDevice.LIMITS.maxReadsOut());
    upcalls = device.upcalls("id of qp" + qp.number());
    qp.attach(state == State.CONNECTING ? "connect" : "accept", this);
    device.add(this);
  }

  boolean isOver() {
    return closed || state == State.OVER;
  }

  boolean isWaitingForEstablished() {
    return state == State.ACCEPTED;
  }

  SimDevice device() {
    return device;
  }

  /** Has the peer do something when the message is there; messages of one side stay in order. */
  void send(final Runnable action) {
    final Latency latency = device.cmLatency();
    long delay = latency.draw();
    if (fabric.isVirtual() || !latency.isZero()) {
      final long now = fabric.now();
      lastSent = Math.max(now + delay, lastSent + 1);
      delay = lastSent - now;
    }
    fabric.later(delay, action);
  }

  /** Sends to a peer; if it does not arrive, something else happens after a time. */
  private void send(final SimDevice to, final Runnable action, final Runnable otherwise) {
    send(
        () -> {
          if (device.reachesManager(to)) {
            action.run();
          } else {
            fabric.later(TIMEOUT_NANOS, otherwise);
          }
        });
  }

  private void event(final CmEventType type, final int status, final byte[] data) {
    upcalls.post(
        () -> {
          if (fabric.isTracing()) {
            fabric.note(this + " " + type);
          }
          handler.onCmEvent(this, type, status, ByteBuffer.wrap(data).asReadOnlyBuffer());
        });
  }

  /** The request waits for the peer's consumer. */
  void waitsIn(final SimRequest waiting) {
    request = waiting;
  }

  boolean isClosed() {
    return closed;
  }

  /** The answer to a request is no; sent back by whoever says so. */
  void reject(final SimDevice from, final int status, final byte[] data) {
    fabric.later(
        device.cmLatency().draw(),
        () -> {
          if (!device.reachesManager(from)) {
            fabric.later(
                TIMEOUT_NANOS, () -> failed(CmEventType.UNREACHABLE, VerbsException.ETIMEDOUT));
          } else if (state == State.CONNECTING) {
            state = State.OVER;
            event(CmEventType.REJECTED, status, data);
          }
        });
  }

  /** The request failed. */
  void failed(final CmEventType type, final int status) {
    if (state == State.CONNECTING) {
      state = State.OVER;
      event(type, status, NOTHING);
    }
  }

  /** The passive side accepts: connects its queue pair, and tells the active side. */
  void accept(final SimCmId active, final SimQp activeQp, final byte[] data) {
    peer = active;
    negotiate();
    qp.connect(activeQp, parameters, readsIn, readsOut);
    send(
        active.device,
        () -> active.accepted(this, data),
        () -> {
          active.failed(CmEventType.UNREACHABLE, VerbsException.ETIMEDOUT);
          unanswered();
        });
  }

  private void negotiate() {
    readsIn = Math.min(readsIn, peer.readsOut);
    readsOut = Math.min(readsOut, peer.readsIn);
  }

  @Override
  public int readsIn() {
    return readsIn;
  }

  @Override
  public int readsOut() {
    return readsOut;
  }

  SimQp qp() {
    return qp;
  }

  private void accepted(final SimCmId passive, final byte[] data) {
    if (closed || state != State.CONNECTING) {
      send(passive.device, passive::refused, passive::unanswered);
      return;
    }
    if (!qp.isInit()) {
      failed(CmEventType.CONNECT_ERROR, VerbsException.EINVAL);
      send(passive.device, passive::refused, passive::unanswered);
      return;
    }
    peer = passive;
    negotiate();
    state = State.ESTABLISHED;
    qp.connect(passive.qp, parameters, readsIn, readsOut);
    event(CmEventType.ESTABLISHED, 0, data);
    send(passive.device, passive::establish, passive::unanswered);
  }

  private void refused() {
    if (state == State.ACCEPTED) {
      state = State.OVER;
      qp.fail();
      event(CmEventType.REJECTED, STALE, NOTHING);
    } else if (state == State.DISCONNECTING) {
      disconnected();
    }
  }

  /** The answer to a request was not confirmed. */
  private void unanswered() {
    if (state == State.ACCEPTED) {
      state = State.OVER;
      qp.fail();
      event(CmEventType.UNREACHABLE, VerbsException.ETIMEDOUT, NOTHING);
    }
  }

  /** The device is gone. */
  void removed() {
    if (state != State.OVER) {
      state = State.OVER;
      event(CmEventType.DEVICE_REMOVAL, 0, NOTHING);
    }
  }

  private void establish() {
    if (state == State.ACCEPTED) {
      state = State.ESTABLISHED;
      event(CmEventType.ESTABLISHED, 0, NOTHING);
    }
  }

  private void disconnected() {
    if (state != State.OVER) {
      state = State.OVER;
      qp.fail();
      event(CmEventType.DISCONNECTED, 0, NOTHING);
    }
  }

  private void disconnectArrived(final SimCmId from) {
    // Also if this side is over: else the other waits for ever.
    send(from.device, from::disconnected, from::disconnected);
    if (state != State.CONNECTING) { // else the answer to its request was lost, and that ends it
      disconnected();
    }
  }

  @Override
  public void disconnect() {
    synchronized (fabric.wire) {
      if (state == State.ACCEPTED || state == State.ESTABLISHED) {
        state = State.DISCONNECTING;
        qp.fail();
        sendDisconnect();
      }
    }
  }

  private void sendDisconnect() {
    final SimCmId to = peer;
    lastSent = Math.max(lastSent, to.qp.lastAnswer());
    send(to.device, () -> to.disconnectArrived(this), this::disconnected);
  }

  @Override
  public void notifyEstablished() {
    synchronized (fabric.wire) {
      establish();
    }
  }

  void refuseInside() {
    upcalls.refuseInside("destroy_id");
  }

  @Override
  public void close() {
    refuseInside();
    synchronized (fabric.wire) {
      if (!closed) {
        closed = true;
        device.remove(this);
        if (state == State.ACCEPTED || state == State.ESTABLISHED) {
          sendDisconnect();
        } else if (request != null) {
          final SimRequest left = request;
          send(left::initiatorGone);
        }
        state = State.OVER;
      }
    }
    upcalls.close();
  }

  @Override
  public String toString() {
    return qp + " id";
  }
}
