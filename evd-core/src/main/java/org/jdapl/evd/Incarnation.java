package org.jdapl.evd;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.VerbsException;

/**
 * An endpoint from its creation, or a reset, to the next reset or its close: two work queues on a
 * queue pair, a {@link Connection}, and an {@link EndpointDrain}.
 */
final class Incarnation implements EndpointTable.Owner {

  private final EndpointImpl endpoint;
  private final IaImpl ia;
  private final PzImpl pz;
  private final EvdImpl receiveEvd;
  private final EvdImpl requestEvd;
  private final EvdImpl connectEvd;
  private final SrqImpl srq;
  private final long tag;
  private final WorkQueue receives;
  private final WorkQueue requests;
  private final Connection connection;
  private final ConnectionGate gate; // at hand: each completion goes through it
  private final EndpointDrain drain;
  private final Set<EvdImpl> evds = new LinkedHashSet<>();
  private final AsyncSlot asyncSlot;
  private final BoundRmrs bound = new BoundRmrs();
  private volatile EndpointParameters parameters;
  private CqFeed receiveFeed;
  private CqFeed requestFeed;
  private int qpNumber;
  private QueuePair qp;

  /**
   * Nothing yet: see {@link #open}.
   *
   * @param parameters checked.
   */
  Incarnation(final EndpointImpl endpoint, final EndpointParameters parameters) {
    this.endpoint = endpoint;
    this.parameters = parameters;
    ia = endpoint.ia();
    tag = ia.endpoints().allocate();
    pz = (PzImpl) parameters.pz();
    connectEvd = (EvdImpl) parameters.connectEvd();
    receiveEvd = orConnectEvd(parameters.receiveEvd());
    requestEvd = orConnectEvd(parameters.requestEvd());
    srq = (SrqImpl) parameters.srq();
    final EndpointAttributes attributes = parameters.attributes();
    final SharedReceives shared =
        srq == null ? null : new SharedReceives(this, receiveEvd, srq, tag);
    receives =
        srq != null
            ? shared
            : new WorkQueue(
                false,
                receiveEvd.counters(),
                tag,
                attributes.maxReceiveDtos(),
                attributes.maxReceiveIov());
    requests =
        new WorkQueue(
            true,
            requestEvd.counters(),
            tag,
            attributes.maxRequestDtos(),
            attributes.maxRequestIov());
    requests.tell(shared);
    connection = new Connection(this, connectEvd);
    gate = connection.gate();
    drain = new EndpointDrain(this, connection);
    asyncSlot = new AsyncSlot(endpoint, drain);
    evds.add(receiveEvd);
    evds.add(requestEvd);
    evds.add(connectEvd);
  }

  /** A queue in which nothing can be posted has no EVD of its own: its markers go there. */
  private EvdImpl orConnectEvd(final Evd evd) {
    return evd == null ? connectEvd : (EvdImpl) evd;
  }

  /** Reserves what it needs, and creates the queue pair; all or nothing. */
  void open() {
    CqFeed ofReceives = null;
    CqFeed ofRequests = null;
    boolean opened = false;
    try {
      pz.addUser(endpoint);
      receiveEvd
          .room()
          .addUser(endpoint, attributes().receiveFlags() == CompletionFlags.SOLICITED_WAIT);
      requestEvd.room().addUser(endpoint, false);
      connectEvd.room().addUser(endpoint, false);
      if (srq != null) {
        srq.addUser(endpoint);
      }
      ofReceives =
          srq != null
              ? srq.reserveRoom(receiveEvd)
              : receiveEvd.room().reserve(attributes().maxReceiveDtos());
      ofRequests = requestEvd.room().reserve(attributes().maxRequestDtos());
      qp = createQp(ofReceives, ofRequests);
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(
          endpoint.name() + ": the queue pair could not be created", e, ReturnSubtype.RESOURCE_TEP);
    } finally {
      if (!opened) {
        ia.endpoints().free(tag);
        release(ofReceives, ofRequests);
      }
    }
    receiveFeed = ofReceives;
    requestFeed = ofRequests;
    ia.endpoints().put(this);
  }

  /**
   * On a shared receive queue, completions are told apart by the number of their queue pair: one
   * with a number of which some may be left is not used, but kept until there is another.
   */
  private QueuePair createQp(final CqFeed ofReceives, final CqFeed ofRequests) {
    final QpAttributes wanted =
        new QpAttributes(
            pz.pd(),
            ofRequests.cq(),
            ofReceives.cq(),
            srq == null ? null : srq.queue(),
            attributes().maxRequestDtos() + WorkQueue.MARKERS,
            srq == null ? attributes().maxReceiveDtos() + WorkQueue.MARKERS : 0,
            attributes().maxRequestIov(),
            srq == null ? attributes().maxReceiveIov() : 0,
            0);
    final List<QueuePair> kept = new ArrayList<>(0);
    try {
      QueuePair created = ia.device().createQp(wanted);
      while (srq != null && !srq.addNumber(this, created.number())) {
        kept.add(created);
        created = ia.device().createQp(wanted);
      }
      return created;
    } finally {
      for (final QueuePair other : kept) {
        final var unused = ia.destroy(other::close); // or later: the endpoint is made
      }
    }
  }

  /** It is closed: gives back what it took. */
  void release() {
    ia.endpoints().free(tag);
    release(receiveFeed, requestFeed);
    endpoint.life().onReleased();
  }

  /** Gives back what {@link #open} took; a feed is null where nothing was reserved. */
  private void release(final CqFeed ofReceives, final CqFeed ofRequests) {
    if (ofReceives != null && srq != null) {
      srq.releaseRoom(receiveEvd);
    } else if (ofReceives != null) {
      ofReceives.giveRoom(attributes().maxReceiveDtos() + WorkQueue.MARKERS);
      receiveEvd.room().release(attributes().maxReceiveDtos());
    }
    if (ofRequests != null) {
      ofRequests.giveRoom(attributes().maxRequestDtos() + WorkQueue.MARKERS);
      requestEvd.room().release(attributes().maxRequestDtos());
    }
    for (final EvdImpl evd : evds) {
      evd.room().removeUser(endpoint);
    }
    if (srq != null) {
      srq.removeNumber(this);
      srq.removeUser(endpoint);
    }
    pz.removeUser(endpoint);
  }

  /** The endpoint it is. */
  EndpointImpl endpoint() {
    return endpoint;
  }

  EndpointParameters parameters() {
    return parameters;
  }

  /** What it can do otherwise without another queue pair. */
  void parameters(final EndpointParameters other) {
    parameters = other;
  }

  EndpointAttributes attributes() {
    return parameters.attributes();
  }

  /** Whether it can be made of something without another queue pair. */
  boolean suits(final EndpointParameters other) {
    final EndpointAttributes own = attributes();
    final EndpointAttributes others = other.attributes();
    return parameters.withAttributes(others).equals(other)
        && own.maxReceiveDtos() == others.maxReceiveDtos()
        && own.maxRequestDtos() == others.maxRequestDtos()
        && own.maxReceiveIov() == others.maxReceiveIov()
        && own.maxRequestIov() == others.maxRequestIov()
        && own.receiveFlags() == others.receiveFlags();
  }

  @Override
  public long tag() {
    return tag;
  }

  /** Its shared receive queue, or null. */
  SrqImpl srq() {
    return srq;
  }

  /** The number of its queue pair, if it is on a shared receive queue. */
  int qpNumber() {
    return qpNumber;
  }

  void qpNumber(final int number) {
    qpNumber = number;
  }

  CqFeed receiveFeed() {
    return receiveFeed;
  }

  EvdImpl receiveEvd() {
    return receiveEvd;
  }

  EvdImpl requestEvd() {
    return requestEvd;
  }

  /** Its queue pair, in the error state, has taken its last receive of a shared queue. */
  void onLastReceiveTaken() {
    if (receives instanceof SharedReceives shared) {
      shared.onLastTaken();
    }
  }

  IaImpl ia() {
    return ia;
  }

  PzImpl pz() {
    return pz;
  }

  QueuePair qp() {
    return qp;
  }

  AsyncSlot asyncSlot() {
    return asyncSlot;
  }

  Connection connection() {
    return connection;
  }

  ConnectionGate gate() {
    return gate;
  }

  EndpointDrain drain() {
    return drain;
  }

  /** Its EVDs, each once. */
  Set<EvdImpl> evds() {
    return evds;
  }

  EvdImpl connectEvd() {
    return connectEvd;
  }

  EvdImpl evdOf(final WorkQueue queue) {
    return queue == receives ? receiveEvd : requestEvd;
  }

  WorkQueue receives() {
    return receives;
  }

  WorkQueue requests() {
    return requests;
  }

  WorkQueue queue(final long wrId) {
    return (wrId & WorkQueue.REQUEST_QUEUE) != 0 ? requests : receives;
  }

  /** What is to be posted is an operation, or a window to be bound. Not under the guard. */
  void checkMayPost(final Object what) {
    final EndpointState state = connection.state();
    if (state == EndpointState.DISCONNECTED) {
      connection.stop();
    } else if (state != EndpointState.CONNECTED) {
      throw endpoint.life().wrongState(this, "post of " + what);
    }
  }

  /** The same under the guard: an endpoint that was closed meanwhile takes nothing more. */
  void checkTakesPosts(final Object what) {
    if (requests.isSealed()) {
      throw endpoint.life().wrongState(this, "post of " + what);
    }
  }

  /** What a post says for what the device said. */
  Outcome outcome(final int errno, final DtoOperation operation) {
    if (errno == 0) {
      return Outcome.SUCCESS;
    }
    if (errno == VerbsException.ENOMEM) {
      return Outcome.INSUFFICIENT_RESOURCES;
    }
    throw Misuse.failed(
        name() + ": post of " + operation,
        new VerbsException("post", ia.device().name(), errno, "in state " + endpoint.state()));
  }

  /** Its completions of binds go to the EVD of its requests, which must want them. */
  void checkTakesBinds(final RmrImpl rmr) {
    if (!requestEvd.takes(EventStream.RMR_BIND)) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EVD_REQUEST,
          rmr.name()
              + ".bind: "
              + requestEvd
              + ", the EVD for requests of "
              + endpoint
              + ", does not take RMR_BIND; create it with that stream too");
    }
  }

  /** The remote memory regions that its peer may end. */
  BoundRmrs bound() {
    return bound;
  }

  boolean uses(final LmrImpl lmr) {
    return receives.uses(lmr) || requests.uses(lmr);
  }

  String name() {
    return endpoint.name();
  }

  @Override
  public String toString() {
    return endpoint.toString();
  }
}
