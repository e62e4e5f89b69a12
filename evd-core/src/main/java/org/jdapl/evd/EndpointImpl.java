package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;

/**
 * An endpoint: two work queues on a queue pair, a {@link Connection}, and an {@link EndpointDrain}.
 */
final class EndpointImpl implements Endpoint, EndpointTable.Owner {

  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);

  private final String name;
  private final IaImpl ia;
  private final PzImpl pz;
  private final EvdImpl receiveEvd;
  private final EvdImpl requestEvd;
  private final EvdImpl connectEvd;
  private final SrqImpl srq;
  private final EndpointAttributes attributes;
  private final long tag;
  private final WorkQueue receives;
  private final WorkQueue requests;
  private final Connection connection;
  private final EndpointDrain drain;
  private final Set<EvdImpl> evds = new LinkedHashSet<>();
  private final AsyncSlot asyncSlot = new AsyncSlot(this);
  private CqFeed receiveFeed;
  private CqFeed requestFeed;
  private int qpNumber;
  private QueuePair qp;

  EndpointImpl(
      final String name,
      final IaImpl ia,
      final PzImpl pz,
      final EvdImpl receiveEvd,
      final EvdImpl requestEvd,
      final EvdImpl connectEvd,
      final SrqImpl srq,
      final EndpointAttributes attributes,
      final long tag) {
    this.name = name;
    this.ia = ia;
    this.pz = pz;
    this.receiveEvd = receiveEvd;
    this.requestEvd = requestEvd;
    this.connectEvd = connectEvd;
    this.srq = srq;
    this.attributes = attributes;
    this.tag = tag;
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
    connection = new Connection(this, connectEvd, attributes);
    drain = new EndpointDrain(this, connection);
    evds.add(receiveEvd);
    evds.add(requestEvd);
    evds.add(connectEvd);
  }

  /** Reserves what it needs, and creates the queue pair; all or nothing. */
  void open() {
    CqFeed ofReceives = null;
    CqFeed ofRequests = null;
    boolean opened = false;
    try {
      pz.addUser(this);
      receiveEvd.addUser(this, attributes.receiveFlags() == CompletionFlags.SOLICITED_WAIT);
      requestEvd.addUser(this, false);
      connectEvd.addUser(this, false);
      if (srq != null) {
        srq.addUser(this);
      }
      ofReceives =
          srq != null
              ? srq.reserveRoom(receiveEvd)
              : receiveEvd.reserveRoom(attributes.maxReceiveDtos());
      ofRequests = requestEvd.reserveRoom(attributes.maxRequestDtos());
      qp = createQp(ofReceives, ofRequests);
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(
          name + ": the queue pair could not be created", e, ReturnSubtype.RESOURCE_TEP);
    } finally {
      if (!opened) {
        release(ofReceives, ofRequests);
      }
    }
    receiveFeed = ofReceives;
    requestFeed = ofRequests;
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
            attributes.maxRequestDtos() + WorkQueue.MARKERS,
            srq == null ? attributes.maxReceiveDtos() + WorkQueue.MARKERS : 0,
            attributes.maxRequestIov(),
            srq == null ? attributes.maxReceiveIov() : 0,
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
      for (final QueuePair unused : kept) {
        try {
          unused.close();
        } catch (final VerbsException e) {
          ia.destroyLater(unused::close);
        }
      }
    }
  }

  /** It is closed: gives back what it took. */
  void release() {
    ia.endpoints().free(tag);
    release(receiveFeed, requestFeed);
    ia.remove(this);
  }

  /** Gives back what {@link #open} took; a feed is null where nothing was reserved. */
  private void release(final CqFeed ofReceives, final CqFeed ofRequests) {
    if (ofReceives != null && srq != null) {
      srq.releaseRoom(receiveEvd);
    } else if (ofReceives != null) {
      ofReceives.giveRoom(attributes.maxReceiveDtos() + WorkQueue.MARKERS);
      receiveEvd.releaseRoom(attributes.maxReceiveDtos());
    }
    if (ofRequests != null) {
      ofRequests.giveRoom(attributes.maxRequestDtos() + WorkQueue.MARKERS);
      requestEvd.releaseRoom(attributes.maxRequestDtos());
    }
    for (final EvdImpl evd : evds) {
      evd.removeUser(this);
    }
    if (srq != null) {
      srq.removeUser(this);
    }
    pz.removeUser(this);
  }

  EndpointAttributes attributes() {
    return attributes;
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

  boolean uses(final LmrImpl lmr) {
    return receives.uses(lmr) || requests.uses(lmr);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public EndpointState state() {
    return connection.state();
  }

  @Override
  public String toString() {
    return name + "(" + connection.state() + ")";
  }

  // Connecting.

  @Override
  public void connect(
      final InetAddress remote,
      final long connQual,
      final Duration timeout,
      final ByteBuffer privateData) {
    connection.connect(remote, connQual, timeout, privateData);
  }

  @Override
  public void disconnect(final Disconnect how) {
    connection.disconnect(how);
  }

  // Posting.

  @Override
  public Outcome postSend(final Lmr lmr, final long offset, final long length, final long cookie) {
    return request(DtoOperation.SEND, lmr, offset, length, null, 0, 0, cookie, null, 0);
  }

  @Override
  public Outcome postSend(
      final Segments segments, final long cookie, final Object context, final int flags) {
    return request(DtoOperation.SEND, null, 0, 0, segments, 0, 0, cookie, context, flags);
  }

  @Override
  public Outcome postRdmaWrite(
      final Lmr lmr,
      final long offset,
      final long length,
      final int rmrContext,
      final long remoteAddress,
      final long cookie) {
    return request(
        DtoOperation.RDMA_WRITE,
        lmr,
        offset,
        length,
        null,
        rmrContext,
        remoteAddress,
        cookie,
        null,
        0);
  }

  @Override
  public Outcome postRdmaWrite(
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final long cookie,
      final Object context,
      final int flags) {
    return request(
        DtoOperation.RDMA_WRITE,
        null,
        0,
        0,
        segments,
        rmrContext,
        remoteAddress,
        cookie,
        context,
        flags);
  }

  @Override
  public Outcome postRdmaRead(
      final Lmr lmr,
      final long offset,
      final long length,
      final int rmrContext,
      final long remoteAddress,
      final long cookie) {
    return request(
        DtoOperation.RDMA_READ,
        lmr,
        offset,
        length,
        null,
        rmrContext,
        remoteAddress,
        cookie,
        null,
        0);
  }

  @Override
  public Outcome postRdmaRead(
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final long cookie,
      final Object context,
      final int flags) {
    return request(
        DtoOperation.RDMA_READ,
        null,
        0,
        0,
        segments,
        rmrContext,
        remoteAddress,
        cookie,
        context,
        flags);
  }

  private Outcome request(
      final DtoOperation operation,
      final Lmr lmr,
      final long offset,
      final long length,
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final long cookie,
      final Object context,
      final int flags) {
    checkFlags(operation, flags);
    final Privilege need =
        operation == DtoOperation.RDMA_READ ? Privilege.LOCAL_WRITE : Privilege.LOCAL_READ;
    requests.lock();
    try {
      checkMayPost(operation);
      if (requests.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final SendRequest send = requests.sendRequest();
      final Segments list = segments == null ? requests.single(lmr, offset, length) : segments;
      final long total = requests.use(pz, list, send, need, name);
      send.opcode = opcode(operation);
      send.solicited = (flags & CompletionFlags.SOLICITED_WAIT) != 0;
      send.fence = (flags & CompletionFlags.BARRIER_FENCE) != 0;
      send.rkey = rmrContext;
      send.remoteAddress = remoteAddress;
      final boolean suppress = (flags & CompletionFlags.SUPPRESS) != 0;
      int errno = requests.postSend(qp, operation, total, cookie, context, suppress);
      if (errno == VerbsException.EINVAL && connection.state() == EndpointState.DISCONNECTED) {
        qp.modifyToError(); // it ended before it was connected; what is posted now is flushed
        errno = requests.postSend(qp, operation, total, cookie, context, suppress);
      }
      return outcome(errno, operation);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": post of " + operation, e);
    } finally {
      requests.unlock();
    }
  }

  @Override
  public Outcome postReceive(
      final Lmr lmr, final long offset, final long length, final long cookie) {
    return receive(lmr, offset, length, null, cookie, null);
  }

  @Override
  public Outcome postReceive(final Segments segments, final long cookie, final Object context) {
    return receive(null, 0, 0, segments, cookie, context);
  }

  private Outcome receive(
      final Lmr lmr,
      final long offset,
      final long length,
      final Segments segments,
      final long cookie,
      final Object context) {
    if (srq != null) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          name + ".postReceive: it takes its receives from " + srq + "; post there");
    }
    receives.lock();
    try {
      if (receives.isSealed()) {
        throw connection.wrongState("post of RECEIVE");
      }
      if (receives.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final RecvRequest receive = receives.receiveRequest();
      final Segments list = segments == null ? receives.single(lmr, offset, length) : segments;
      final long total = receives.use(pz, list, receive, Privilege.LOCAL_WRITE, name);
      return outcome(receives.postReceive(qp, total, cookie, context), DtoOperation.RECEIVE);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": post of RECEIVE", e);
    } finally {
      receives.unlock();
    }
  }

  private void checkMayPost(final DtoOperation operation) {
    final EndpointState state = connection.state();
    if (requests.isSealed()
        || (state != EndpointState.CONNECTED && state != EndpointState.DISCONNECTED)) {
      throw connection.wrongState("post of " + operation);
    }
  }

  private void checkFlags(final DtoOperation operation, final int flags) {
    final int legal =
        CompletionFlags.SUPPRESS
            | CompletionFlags.BARRIER_FENCE
            | (operation == DtoOperation.SEND ? CompletionFlags.SOLICITED_WAIT : 0);
    if ((flags & ~legal) != 0) {
      throw Misuse.argument(
          flagsArgument(operation),
          name + ": completion flags " + flags + " are not legal for " + operation);
    }
  }

  private static int flagsArgument(final DtoOperation operation) {
    return operation == DtoOperation.SEND ? 4 : 6;
  }

  private Outcome outcome(final int errno, final DtoOperation operation) {
    if (errno == 0) {
      return Outcome.SUCCESS;
    }
    if (errno == VerbsException.ENOMEM) {
      return Outcome.INSUFFICIENT_RESOURCES;
    }
    throw Misuse.failed(
        name + ": post of " + operation,
        new VerbsException("post", ia.device().name(), errno, "in state " + connection.state()));
  }

  private static WrOpcode opcode(final DtoOperation operation) {
    return switch (operation) {
      case SEND -> WrOpcode.SEND;
      case RDMA_WRITE -> WrOpcode.RDMA_WRITE;
      case RDMA_READ -> WrOpcode.RDMA_READ;
      case RECEIVE -> throw new IllegalArgumentException("not a request: " + operation);
    };
  }

  // Closing.

  @Override
  public void close() {
    ia.await(drain.start(CLOSE_BOUND), CLOSE_BOUND, this);
  }

  @Override
  public CompletionStage<DrainReport> closeAsync(final Duration bound) {
    Misuse.checkBound(bound, name + ".closeAsync");
    return ia.stage(drain.start(bound));
  }
}
