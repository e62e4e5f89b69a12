package org.jdapl.rdmacore;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;

/** A connection request: an id that is accepted, or destroyed. */
final class RdmaRequest extends CmObject implements CmRequest {

  private final RdmaListener listener;
  private final InetAddress peer;
  private final ByteBuffer data;
  private final int readsIn;
  private final int readsOut;
  private boolean admitted; // before it is handed over

  RdmaRequest(final RdmaListener listener, final CmEvents event) {
    super(listener.device, "request at " + listener.service());
    this.listener = listener;
    peer = event.peer();
    data = ByteBuffer.wrap(event.privateData()).asReadOnlyBuffer();
    readsIn = event.readsIn();
    readsOut = event.readsOut();
    own(event.newId());
    Cm.setToken(event.newId(), token());
  }

  /**
   * Hands it to the listener's handler.
   *
   * @return the number of handler calls made.
   */
  int deliver() {
    if (!listener.admit()) {
      refuse();
      return 0;
    }
    admitted = true;
    if (listener.deliver(this)) {
      return 1;
    }
    refuse();
    return 0;
  }

  @Override
  int onEvent(final CmEvents event) {
    return 0; // of an id that is not accepted the kernel tells the removal of its device at most
  }

  @Override
  public InetAddress remoteAddress() {
    return peer;
  }

  @Override
  public ByteBuffer privateData() {
    return data.duplicate();
  }

  @Override
  public CmId accept(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
    final RdmaQp accepting = device.own("accept", RdmaQp.class, qp);
    final byte[] reply = device.limits().copyForAccept(device.name(), parameters.privateData());
    final RdmaCmId id = device.add(new RdmaCmId(device, accepting, parameters, handler));
    try {
      synchronized (this) {
        checkNotAnswered("accept");
        id.accept(pointer(), reply, readsIn, readsOut);
        disown();
      }
    } catch (final Throwable e) {
      id.abandon();
      throw e;
    }
    device.remove(this);
    left();
    return id;
  }

  @Override
  public void reject(final int status, final ByteBuffer privateData) {
    final byte[] said = device.limits().copyForReject(device.name(), privateData);
    final byte[] reply = device.isIwarp() ? IwarpReject.tag(said) : said;
    synchronized (this) {
      checkNotAnswered("reject");
      final int result =
          status == CmHandler.CONSUMER_REJECT ? Cm.reject(pointer(), reply) : Cm.refuse(pointer());
      if (result < 0 && result != -VerbsException.ENOTCONN) { // the peer is gone
        Results.check(result, "reject", this, "status " + status);
      }
    }
    drop();
  }

  /** Ends it without an answer of the consumer; the peer is told that nobody is there. */
  void refuse() {
    synchronized (this) {
      if (pointer() != 0) {
        Cm.refuse(pointer()); // if it fails, the end of the id rejects it
      }
    }
    drop();
  }

  /** As {@link #refuse}: that the consumer said no would not be true. */
  @Override
  void endWithDevice() {
    refuse();
  }

  private void drop() {
    end();
    left();
  }

  private void left() {
    if (admitted) {
      listener.left();
    }
  }

  private void checkNotAnswered(final String verb) {
    if (isEnded()) {
      throw new VerbsException(
          verb,
          toString(),
          VerbsException.EINVAL,
          "the request was answered already, or its device is closed");
    }
  }
}
