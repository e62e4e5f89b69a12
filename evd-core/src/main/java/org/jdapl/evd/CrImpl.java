package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;

/** A connection request. It is answered once. */
final class CrImpl implements ConnectionRequest {

  private final String name;
  private final PspImpl psp;
  private final CmRequest request;
  private final AtomicBoolean answered = new AtomicBoolean();

  CrImpl(final String name, final PspImpl psp, final CmRequest request) {
    this.name = name;
    this.psp = psp;
    this.request = request;
  }

  PspImpl psp() {
    return psp;
  }

  @Override
  public InetAddress remoteAddress() {
    return request.remoteAddress();
  }

  @Override
  public ByteBuffer privateData() {
    return request.privateData().duplicate();
  }

  @Override
  public void accept(final Endpoint endpoint, final ByteBuffer privateData) {
    if (!(endpoint instanceof EndpointImpl to) || to.ia() != psp.ia()) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EP,
          name + ".accept: " + endpoint + " is not an endpoint of " + psp.ia().name());
    }
    answer("accept");
    try {
      to.connection().accept(this, privateData);
    } catch (final RuntimeException e) {
      answered.set(false); // it was not sent: the consumer may try another endpoint, or reject
      throw e;
    }
    psp.ia().remove(this);
  }

  CmId acceptWith(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
    return request.accept(qp, parameters, handler);
  }

  @Override
  public void reject(final ByteBuffer privateData) {
    final int limit = psp.ia().device().limits().rejectPrivateData();
    final ByteBuffer data = PrivateData.checked(privateData, limit, 1, name + ".reject");
    answer("reject");
    reject(CmHandler.CONSUMER_REJECT, data);
  }

  /** The framework says no. */
  void refuse(final int status) {
    if (answered.compareAndSet(false, true)) {
      reject(status, PrivateData.NONE);
    }
  }

  private void reject(final int status, final ByteBuffer data) {
    psp.ia().remove(this);
    try {
      request.reject(status, data);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ".reject", e);
    }
  }

  private void answer(final String call) {
    if (!answered.compareAndSet(false, true)) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE, name + "." + call + ": the request was answered already");
    }
  }

  @Override
  public void close() {
    refuse(CmHandler.CONSUMER_REJECT);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String toString() {
    return name + "(from " + request.remoteAddress() + (answered.get() ? ", answered)" : ")");
  }
}
