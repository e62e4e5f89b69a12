package org.jdapl.sim;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;

/** A connection request at its listener. Its state is guarded by the wire. */
final class SimRequest implements CmRequest {

  private final SimListener listener;
  private final SimCmId initiator;
  private final byte[] data;
  private boolean waiting = true;
  private boolean delivered;
  private boolean answered;

  SimRequest(final SimListener listener, final SimCmId initiator, final byte[] data) {
    this.listener = listener;
    this.initiator = initiator;
    this.data = data;
    listener.device().add(this);
  }

  @Override
  public InetAddress remoteAddress() {
    return initiator.device().address();
  }

  @Override
  public ByteBuffer privateData() {
    return ByteBuffer.wrap(data).asReadOnlyBuffer();
  }

  @Override
  public CmId accept(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
    final SimDevice device = listener.device();
    synchronized (device.fabric().wire) {
      checkNotAnswered("accept");
      final SimQp accepting = device.own("accept", SimQp.class, qp);
      final byte[] reply = SimDevice.LIMITS.copyForAccept(device.name(), parameters.privateData());
      final SimCmId id =
          new SimCmId(device, accepting, parameters, handler, SimCmId.State.ACCEPTED);
      answered();
      id.accept(initiator, initiator.qp(), reply);
      return id;
    }
  }

  @Override
  public void reject(final int status, final ByteBuffer privateData) {
    final SimDevice device = listener.device();
    synchronized (device.fabric().wire) {
      checkNotAnswered("reject");
      final byte[] reply = SimDevice.LIMITS.copyForReject(device.name(), privateData);
      answered();
      initiator.reject(device, status, reply);
    }
  }

  private void checkNotAnswered(final String verb) {
    if (answered) {
      throw new VerbsException(
          verb, listener.toString(), VerbsException.EINVAL, "the request was answered already");
    }
  }

  private void answered() {
    answered = true;
    listener.device().remove(this);
    leave();
  }

  /** Nobody waits for the answer any more; it may still be given. */
  void initiatorGone() {
    leave();
  }

  private void leave() {
    if (waiting) {
      waiting = false;
      listener.left();
    }
  }

  /** Whether the handler is still to see it. */
  boolean deliver() {
    delivered = true;
    return !answered;
  }

  boolean isUndeliveredTo(final SimListener ended) {
    return listener == ended && !delivered;
  }

  /** Nobody is left to answer it. */
  void drop() {
    answered();
    initiator.reject(listener.device(), SimListener.NOBODY_LISTENS, new byte[0]);
  }

  @Override
  public String toString() {
    return listener + " request";
  }
}
