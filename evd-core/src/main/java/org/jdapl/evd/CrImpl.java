package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.evd.StateTable.Machine;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;

/** A connection request. It is answered once. */
final class CrImpl extends ObjectBase implements ConnectionRequest {

  /** The states of a connection request. */
  enum State {
    /** It waits for an answer. */
    PENDING,
    /** It was accepted. */
    ACCEPTED,
    /** It was rejected. */
    REJECTED,
    /** It was handed to another service point. */
    HANDED_OFF
  }

  /** What moves a connection request. */
  enum Trigger {
    /** The consumer accepts it. */
    ACCEPT,
    /** The accept could not be sent. */
    ACCEPT_FAILED,
    /** The consumer or the framework says no. */
    REJECT,
    /** The consumer hands it to another service point. */
    HANDOFF
  }

  static final StateTable<State, Trigger> TABLE =
      new StateTable<>(State.class, Trigger.class)
          .on(State.PENDING, Trigger.ACCEPT, State.ACCEPTED)
          .on(State.PENDING, Trigger.REJECT, State.REJECTED)
          .on(State.PENDING, Trigger.HANDOFF, State.HANDED_OFF)
          .on(State.ACCEPTED, Trigger.ACCEPT_FAILED, State.PENDING);

  private final IaImpl ia;
  private final CmRequest request;
  private final Machine<State, Trigger> machine = TABLE.startIn(State.PENDING);

  /** Of the reserved service point it came to; null if it came to another one. */
  private volatile EndpointImpl endpoint;

  /** Somebody who says no may find it accepted, by an accept that fails. */
  private volatile boolean unwanted;

  CrImpl(final String name, final IaImpl ia, final CmRequest request) {
    super(HandleType.CR, name);
    this.ia = ia;
    this.request = request;
  }

  /** It came to a reserved service point. Before anybody sees it. */
  void isFor(final EndpointImpl reserved) {
    endpoint = reserved;
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
  public boolean isPrivateDataExact() {
    return ia.limits().isExact(request.privateData());
  }

  @Override
  public Endpoint endpoint() {
    return endpoint;
  }

  @Override
  public void accept(final Endpoint with, final ByteBuffer privateData) {
    final EndpointImpl to = checked(with);
    answer(Trigger.ACCEPT, "accept");
    try {
      to.now().connection().accept(this, privateData);
    } catch (final Throwable e) {
      machine.move(Trigger.ACCEPT_FAILED); // not sent: another endpoint may be tried, or a reject
      if (unwanted || (endpoint != null && to.state() == EndpointState.CLOSED)) {
        closeAfter(e); // or the close of the only endpoint it can have found it accepted
      }
      throw e;
    }
    ia.remove(this);
  }

  private void closeAfter(final Throwable failure) {
    try {
      close();
    } catch (final Throwable e) {
      failure.addSuppressed(e);
    }
  }

  private EndpointImpl checked(final Endpoint with) {
    final EndpointImpl reserved = endpoint;
    if (reserved != null && (with == null || with == reserved)) {
      return reserved;
    }
    if (reserved != null) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EP,
          name + ".accept: " + with + " is not " + reserved + ", for which it came; give null");
    }
    if (!(with instanceof EndpointImpl to) || to.ia() != ia) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EP,
          name + ".accept: " + with + " is not an endpoint of " + ia.name());
    }
    return to;
  }

  CmId acceptWith(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
    return request.accept(qp, parameters, handler);
  }

  @Override
  public void reject(final ByteBuffer privateData) {
    final int limit = ia.device().limits().rejectPrivateData();
    final ByteBuffer data = PrivateData.checked(privateData, limit, 1, name + ".reject");
    answer(Trigger.REJECT, "reject");
    reject(CmHandler.CONSUMER_REJECT, data);
  }

  /** The framework says no. */
  void refuse(final int status) {
    unwanted = true;
    if (machine.move(Trigger.REJECT) != null) {
      reject(status, PrivateData.NONE);
    }
  }

  private void reject(final int status, final ByteBuffer data) {
    ia.remove(this);
    final EndpointImpl reserved = endpoint;
    if (reserved != null) {
      reserved.now().connection().rejected(this);
    }
    try {
      request.reject(status, data);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ".reject", e);
    }
  }

  @Override
  public void handoff(final long connQual) {
    final SpImpl to = ia.servicePointAt(connQual);
    if (to == null) {
      throw new DatException(
          ReturnType.CONN_QUAL_UNAVAILABLE,
          ReturnSubtype.NO_SUBTYPE,
          name + ".handoff: no service point of " + ia.name() + " listens at " + connQual);
    }
    answer(Trigger.HANDOFF, "handoff");
    ia.remove(this);
    final EndpointImpl reserved = endpoint;
    if (reserved != null) {
      reserved.now().connection().rejected(this);
    }
    to.onRequest(request);
  }

  private void answer(final Trigger how, final String call) {
    if (machine.move(how) == null) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          name + "." + call + ": the request was answered already, it is " + machine.state());
    }
  }

  State state() {
    return machine.state();
  }

  @Override
  public void close() {
    refuse(CmHandler.CONSUMER_REJECT);
  }

  @Override
  IaImpl ia() {
    return ia;
  }

  @Override
  public String toString() {
    return name
        + "(from "
        + request.remoteAddress()
        + (machine.state() == State.PENDING ? ")" : ", answered)");
  }
}
