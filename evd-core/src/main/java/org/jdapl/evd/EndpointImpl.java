package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Event;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.evd.EndpointMachine.Trigger;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;

/**
 * An endpoint: two work queues on a queue pair, a connection, and the gate that orders the one
 * against the other on a shared EVD.
 *
 * <p>What happens to the connection moves the {@link EndpointMachine} where it happens, on any
 * thread, and puts an event into the connect EVD's lane. The provider is only called back by the
 * consumer's calls and in turns. Fields named as of a turn are confined to the holder of the turn
 * of the EVD they belong to.
 */
final class EndpointImpl implements Endpoint, CmHandler {

  private static final long GRACE = TimeUnit.SECONDS.toNanos(2);
  private static final long GATE_BOUND = TimeUnit.SECONDS.toNanos(2);
  private static final long ESTABLISH_BOUND = TimeUnit.SECONDS.toNanos(2);
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0).asReadOnlyBuffer();

  private final String name;
  private final IaImpl ia;
  private final PzImpl pz;
  private final EvdImpl receiveEvd;
  private final EvdImpl requestEvd;
  private final EvdImpl connectEvd;
  private final EndpointAttributes attributes;
  private final long tag;
  private final WorkQueue receives;
  private final WorkQueue requests;
  private final EndpointMachine machine = new EndpointMachine();
  private final AsyncSlot asyncSlot = new AsyncSlot(this);
  private CqFeed receiveFeed;
  private CqFeed requestFeed;
  private QueuePair qp;

  private volatile CmId cmId;
  private final AtomicInteger cmCalls = new AtomicInteger();
  private volatile boolean passive;
  private volatile boolean broken;
  private volatile ConnectionEventImpl ownEnd;

  // Of the connect EVD's turn.
  private final Stash.Fifo heldBack = new Stash.Fifo();
  private boolean established;
  private boolean establishBound;
  private boolean flushStarted;
  private boolean ended;
  private ConnectionEventImpl heldEnd;

  private final AtomicInteger upcalls = new AtomicInteger();
  private final AtomicInteger partsOpen = new AtomicInteger();
  private final CompletableFuture<DrainReport> closed = new CompletableFuture<>();
  private final List<Event> droppedEvents = new ArrayList<>(0);
  private volatile ConnectionEventImpl establishedEvent;
  private volatile ConnectionEventImpl endEvent;
  private volatile boolean endExpected;
  private volatile boolean forced;

  EndpointImpl(
      final String name,
      final IaImpl ia,
      final PzImpl pz,
      final EvdImpl receiveEvd,
      final EvdImpl requestEvd,
      final EvdImpl connectEvd,
      final EndpointAttributes attributes,
      final long tag) {
    this.name = name;
    this.ia = ia;
    this.pz = pz;
    this.receiveEvd = receiveEvd;
    this.requestEvd = requestEvd;
    this.connectEvd = connectEvd;
    this.attributes = attributes;
    this.tag = tag;
    receives =
        new WorkQueue(
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
  }

  /** Reserves what it needs, and creates the queue pair; all or nothing. */
  void open() {
    CqFeed ofReceives = null;
    CqFeed ofRequests = null;
    boolean opened = false;
    try {
      pz.addUser(this);
      for (final EvdImpl evd : evds()) {
        evd.addUser(this);
      }
      ofReceives = receiveEvd.reserveRoom(attributes.maxReceiveDtos());
      ofRequests = requestEvd.reserveRoom(attributes.maxRequestDtos());
      qp = createQp(ofReceives, ofRequests);
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": the queue pair could not be created", e);
    } finally {
      if (!opened) {
        release(ofReceives, ofRequests);
      }
    }
    receiveFeed = ofReceives;
    requestFeed = ofRequests;
  }

  private QueuePair createQp(final CqFeed ofReceives, final CqFeed ofRequests) {
    return ia.device()
        .createQp(
            new QpAttributes(
                pz.pd(),
                ofRequests.cq(),
                ofReceives.cq(),
                null,
                attributes.maxRequestDtos() + WorkQueue.MARKERS,
                attributes.maxReceiveDtos() + WorkQueue.MARKERS,
                attributes.maxRequestIov(),
                attributes.maxReceiveIov()));
  }

  /** Gives back what {@link #open} took; a feed is null where nothing was reserved. */
  private void release(final CqFeed ofReceives, final CqFeed ofRequests) {
    if (ofReceives != null) {
      ofReceives.giveRoom(attributes.maxReceiveDtos() + WorkQueue.MARKERS);
      receiveEvd.releaseRoom(attributes.maxReceiveDtos());
    }
    if (ofRequests != null) {
      ofRequests.giveRoom(attributes.maxRequestDtos() + WorkQueue.MARKERS);
      requestEvd.releaseRoom(attributes.maxRequestDtos());
    }
    for (final EvdImpl evd : evds()) {
      evd.removeUser(this);
    }
    pz.removeUser(this);
  }

  long tag() {
    return tag;
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
    return machine.state();
  }

  @Override
  public String toString() {
    return name + "(" + machine.state() + ")";
  }

  // Connecting.

  @Override
  public void connect(
      final InetAddress remote,
      final long connQual,
      final Duration timeout,
      final ByteBuffer privateData) {
    if (remote == null) {
      throw Misuse.argument(1, name + ".connect: the remote address is null");
    }
    if (timeout == null || timeout.isZero() || timeout.isNegative()) {
      throw Misuse.argument(3, name + ".connect: timeout " + timeout + " is not positive");
    }
    final CmParameters parameters =
        parameters(privateData, ia.device().limits().connectPrivateData(), 4, "connect");
    move(Trigger.CONNECT, "connect");
    cmCalls.incrementAndGet();
    try {
      cmId = ia.device().connect(qp, remote, connQual, parameters, this);
    } catch (final VerbsException e) {
      machine.move(Trigger.CONNECT_FAILED);
      throw Misuse.failed(name + ".connect to " + remote + ":" + connQual, e);
    } finally {
      cmCalls.decrementAndGet();
    }
    ia.reaper().schedule(nanos(timeout), () -> endIfPending(ConnectionEvent.Kind.TIMED_OUT));
  }

  /** Accepts a request; the caller knows that it was not answered. */
  void accept(final CrImpl request, final ByteBuffer privateData) {
    final CmParameters parameters =
        parameters(privateData, ia.device().limits().acceptPrivateData(), 2, "accept");
    move(Trigger.ACCEPT, "accept");
    passive = true;
    cmCalls.incrementAndGet();
    try {
      cmId = request.acceptWith(qp, parameters, this);
    } catch (final VerbsException e) {
      machine.move(Trigger.ACCEPT_FAILED);
      throw Misuse.failed(name + ".accept of " + request, e);
    } finally {
      cmCalls.decrementAndGet();
    }
    ia.reaper()
        .schedule(
            nanos(CLOSE_BOUND), () -> endIfPending(ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR));
  }

  private CmParameters parameters(
      final ByteBuffer privateData, final int limit, final int argument, final String call) {
    final ByteBuffer data = privateData == null ? ByteBuffer.allocate(0) : privateData.duplicate();
    if (data.remaining() > limit) {
      throw Misuse.argument(
          argument,
          name
              + "."
              + call
              + ": private data of "
              + data.remaining()
              + " bytes is longer than the "
              + limit
              + " the provider carries");
    }
    return new CmParameters(
        data,
        attributes.rdmaReadsIn(),
        attributes.rdmaReadsOut(),
        attributes.retryCount(),
        attributes.rnrRetryCount());
  }

  private void move(final Trigger trigger, final String call) {
    if (machine.move(trigger) == null) {
      throw machine.state() == EndpointState.CLOSED
          ? Misuse.closed(ReturnSubtype.INVALID_HANDLE_EP, this, call)
          : wrongState(call);
    }
  }

  private DatException wrongState(final String call) {
    final EndpointState state = machine.state();
    if (state == EndpointState.CLOSED) {
      return Misuse.state(ReturnSubtype.NO_SUBTYPE, name + "." + call + ": the endpoint is closed");
    }
    return Misuse.state(
        switch (state) {
          case UNCONNECTED -> ReturnSubtype.INVALID_STATE_EP_UNCONNECTED;
          case COMPLETION_PENDING -> ReturnSubtype.INVALID_STATE_EP_COMPLPENDING;
          case ACTIVE_CONNECTION_PENDING -> ReturnSubtype.INVALID_STATE_EP_ACTCONNPENDING;
          case CONNECTED -> ReturnSubtype.INVALID_STATE_EP_CONNECTED;
          case DISCONNECT_PENDING -> ReturnSubtype.INVALID_STATE_EP_DISCPENDING;
          case DISCONNECTED -> ReturnSubtype.INVALID_STATE_EP_DISCONNECTED;
          case CLOSED -> ReturnSubtype.NO_SUBTYPE;
        },
        name + "." + call + ": not legal in state " + state);
  }

  @Override
  public void disconnect(final Disconnect how) {
    final EndpointState state = machine.state();
    if (state == EndpointState.DISCONNECTED) {
      return;
    }
    if (state == EndpointState.UNCONNECTED || state == EndpointState.CLOSED) {
      throw state == EndpointState.CLOSED
          ? Misuse.closed(ReturnSubtype.INVALID_HANDLE_EP, this, "disconnect")
          : wrongState("disconnect");
    }
    if (how == Disconnect.ABRUPT
        || (state != EndpointState.CONNECTED && state != EndpointState.DISCONNECT_PENDING)) {
      endByConsumer(Trigger.END);
    } else if (machine.move(Trigger.DISCONNECT) != null) {
      if (requests.isIdle() || requests.postMarker(qp, false) != 0) {
        endByConsumer(Trigger.END);
      } else {
        ia.reaper().schedule(GRACE, () -> endByConsumer(Trigger.END));
      }
    }
  }

  // What happens to the connection. From any thread; never calls the provider.

  @Override
  public void onCmEvent(
      final CmId id, final CmEventType type, final int status, final ByteBuffer privateData) {
    cmCalls.incrementAndGet();
    try {
      switch (type) {
        case ESTABLISHED -> onEstablished(copy(privateData));
        case REJECTED -> {
          if (passive) {
            end(ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR);
          } else {
            end(
                status == CmHandler.CONSUMER_REJECT
                    ? ConnectionEvent.Kind.PEER_REJECTED
                    : ConnectionEvent.Kind.NON_PEER_REJECTED,
                copy(privateData));
          }
        }
        case UNREACHABLE, CONNECT_ERROR, ADDR_ERROR, ROUTE_ERROR ->
            end(
                passive
                    ? ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR
                    : ConnectionEvent.Kind.UNREACHABLE);
        case DISCONNECTED ->
            end(
                passive && machine.state() == EndpointState.COMPLETION_PENDING
                    ? ConnectionEvent.Kind.ACCEPT_COMPLETION_ERROR
                    : ConnectionEvent.Kind.DISCONNECTED);
        case DEVICE_REMOVAL -> end(ConnectionEvent.Kind.BROKEN);
        case TIMEWAIT_EXIT -> {}
      }
    } finally {
      cmCalls.decrementAndGet();
    }
  }

  private static ByteBuffer copy(final ByteBuffer data) {
    return ByteBuffer.allocate(data.remaining()).put(data.duplicate()).flip().asReadOnlyBuffer();
  }

  private void onEstablished(final ByteBuffer privateData) {
    if (machine.move(Trigger.ESTABLISH) != null) {
      final ConnectionEventImpl event =
          new ConnectionEventImpl(this, ConnectionEvent.Kind.ESTABLISHED, privateData);
      establishedEvent = event;
      connectEvd.offer(event);
    }
  }

  private void endIfPending(final ConnectionEvent.Kind kind) {
    final EndpointState state = machine.state();
    if (state == EndpointState.ACTIVE_CONNECTION_PENDING
        || state == EndpointState.COMPLETION_PENDING) {
      end(kind);
    }
  }

  private void end(final ConnectionEvent.Kind kind) {
    end(kind, NOTHING);
  }

  private void end(final ConnectionEvent.Kind kind, final ByteBuffer privateData) {
    if (machine.move(Trigger.END) != null) {
      offerEnd(new ConnectionEventImpl(this, kind, privateData));
    }
  }

  /** The consumer ends the connection. */
  private void endByConsumer(final Trigger trigger) {
    final ConnectionEventImpl event =
        new ConnectionEventImpl(this, ConnectionEvent.Kind.DISCONNECTED, NOTHING);
    if (trigger == Trigger.CLOSE || machine.move(trigger) != null) {
      ownEnd = event;
      offerEnd(event);
    }
  }

  private void offerEnd(final ConnectionEventImpl event) {
    endEvent = event;
    connectEvd.offer(event);
  }

  /** A completion or an async error says that the connection does not stand any more. */
  void onBroken() {
    broken = true;
    end(ConnectionEvent.Kind.BROKEN);
  }

  /**
   * The event to hand out for one that waited. A peer that disconnects because a request broke the
   * connection may be heard of before the request's completion is seen: it is BROKEN all the same.
   */
  ConnectionEventImpl revised(final ConnectionEventImpl event) {
    return broken && event.what() == ConnectionEvent.Kind.DISCONNECTED && event != ownEnd
        ? new ConnectionEventImpl(this, ConnectionEvent.Kind.BROKEN, NOTHING)
        : event;
  }

  /** A message came before the connection was known to stand: tell the connection manager. */
  void notifyEstablished() {
    final CmId id = cmId;
    if (id != null && machine.state() != EndpointState.CLOSED) {
      id.notifyEstablished();
    }
  }

  // The gate. Of the turn of the EVD that hands out.

  /** Completions that wait for ESTABLISHED. */
  Stash.Fifo heldBack() {
    return heldBack;
  }

  /** Whether an EVD gets this endpoint's connection events. */
  boolean isConnectedBy(final EvdImpl evd) {
    return evd == connectEvd;
  }

  private boolean shares(final WorkQueue queue) {
    return connectEvd == (queue == receives ? receiveEvd : requestEvd);
  }

  /** Whether ESTABLISHED must be handed out before a successful completion of a queue. */
  boolean mustBeEstablished(final WorkQueue queue) {
    return !established && !ended && shares(queue);
  }

  /**
   * ESTABLISHED ahead of its time, because a completion came first: the passive side knows by that
   * that the connection stands. On the active side the answer, with its private data, must come.
   *
   * @return the event; null if the completion must wait.
   */
  ConnectionEventImpl establishEarly() {
    if (!passive && !establishBound && machine.state() != EndpointState.CLOSED) {
      if (heldBack.isEmpty()) {
        ia.reaper().schedule(ESTABLISH_BOUND, () -> connectEvd.control(this::establishBound));
      }
      return null;
    }
    final ConnectionEventImpl waiting = establishedEvent;
    if (machine.move(Trigger.ESTABLISH) != null) {
      notifyEstablished();
    }
    established = true;
    return waiting != null
        ? waiting
        : new ConnectionEventImpl(this, ConnectionEvent.Kind.ESTABLISHED, NOTHING);
  }

  private void establishBound() {
    if (!established && !ended) {
      unhold();
      onBroken();
    }
  }

  /** ESTABLISHED will not come: what waits for it is handed out all the same, behind one. */
  private void unhold() {
    establishBound = true;
    connectEvd.merger().unhold(this);
  }

  /** ESTABLISHED came out of the lane: whether it is still to be handed out. */
  boolean handOutEstablished() {
    if (established || ended) {
      return false;
    }
    established = true;
    return true;
  }

  /** The end of the connection came out of the lane: whether it is to be handed out now. */
  boolean handOutEnd(final ConnectionEventImpl event) {
    if (ended) {
      return false;
    }
    startFlush();
    if (!heldBack.isEmpty()) {
      unhold();
    }
    if (!isGateOpen()) {
      heldEnd = event;
      return false;
    }
    ended = true;
    return true;
  }

  /**
   * Something passed the gate: the end of the connection, if it waits and may be handed out now.
   */
  ConnectionEventImpl releaseEnd(final EvdImpl by) {
    if (by != connectEvd) {
      return null;
    }
    final ConnectionEventImpl event = heldEnd;
    if (event == null || !isGateOpen()) {
      return null;
    }
    heldEnd = null;
    ended = true;
    return event;
  }

  private boolean isGateOpen() {
    return (!shares(receives) || receives.isFlushing())
        && (!shares(requests) || requests.isFlushing());
  }

  /** The connection is over: everything open completes, and a marker says when. */
  private void startFlush() {
    if (flushStarted) {
      return;
    }
    flushStarted = true;
    try {
      final CmId id = cmId;
      if (id != null) {
        id.disconnect();
      }
      qp.modifyToError();
      flush(receives);
      flush(requests);
      ia.reaper().schedule(GATE_BOUND, () -> connectEvd.control(this::openGate));
    } catch (final RuntimeException e) {
      connectEvd.onProviderFault("flush of " + this + " failed: " + e, e);
      openGate();
    }
  }

  private void flush(final WorkQueue queue) {
    if (shares(queue) && !queue.isFlushing() && queue.postMarker(qp, false) != 0) {
      queue.flush();
    }
  }

  private void openGate() {
    if (shares(receives)) {
      receives.flush();
    }
    if (shares(requests)) {
      requests.flush();
    }
    final ConnectionEventImpl event = heldEnd;
    if (event != null) {
      heldEnd = null;
      connectEvd.offer(event);
    }
  }

  /** A marker came by in a queue. */
  void onMarker(final WorkQueue queue, final boolean success) {
    if (!success) {
      queue.flush();
    } else if (machine.state() == EndpointState.DISCONNECT_PENDING) {
      endByConsumer(Trigger.END);
    }
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
    final int legal =
        operation == DtoOperation.SEND
            ? CompletionFlags.SUPPRESS
                | CompletionFlags.SOLICITED_WAIT
                | CompletionFlags.BARRIER_FENCE
            : CompletionFlags.SUPPRESS | CompletionFlags.BARRIER_FENCE;
    if ((flags & ~legal) != 0) {
      throw Misuse.argument(
          10, name + ": completion flags " + flags + " are not legal for " + operation);
    }
    final Privilege need =
        operation == DtoOperation.RDMA_READ ? Privilege.LOCAL_WRITE : Privilege.LOCAL_READ;
    requests.lock();
    try {
      checkMayPost(operation);
      if (requests.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final SendRequest send = requests.sendRequest();
      send.clearSge();
      send.opcode = opcode(operation);
      send.solicited = (flags & CompletionFlags.SOLICITED_WAIT) != 0;
      send.fence = (flags & CompletionFlags.BARRIER_FENCE) != 0;
      send.rkey = rmrContext;
      send.remoteAddress = remoteAddress;
      long total = length;
      if (segments == null) {
        send.addSge(
            use(requests, 0, lmr, offset, length, need), (int) length, ((LmrImpl) lmr).lkey());
      } else {
        checkCount(segments, attributes.maxRequestIov(), operation);
        total = 0;
        for (int i = 0; i < segments.count(); i++) {
          final long part = segments.length(i);
          final Lmr region = segments.lmr(i);
          send.addSge(
              use(requests, i, region, segments.offset(i), part, need),
              (int) part,
              ((LmrImpl) region).lkey());
          total += part;
        }
      }
      checkLength(total);
      final boolean suppress = (flags & CompletionFlags.SUPPRESS) != 0;
      int errno = requests.postSend(qp, operation, total, cookie, context, suppress);
      if (errno == VerbsException.EINVAL && machine.state() == EndpointState.DISCONNECTED) {
        qp.modifyToError(); // it ended before it was connected; what is posted now is flushed
        errno = requests.postSend(qp, operation, total, cookie, context, suppress);
      }
      return outcome(errno, operation);
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
    receives.lock();
    try {
      if (receives.isSealed()) {
        throw wrongState("postReceive");
      }
      if (receives.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final RecvRequest receive = receives.receiveRequest();
      receive.clearSge();
      long total = length;
      if (segments == null) {
        receive.addSge(
            use(receives, 0, lmr, offset, length, Privilege.LOCAL_WRITE),
            (int) length,
            ((LmrImpl) lmr).lkey());
      } else {
        checkCount(segments, attributes.maxReceiveIov(), DtoOperation.RECEIVE);
        total = 0;
        for (int i = 0; i < segments.count(); i++) {
          final long part = segments.length(i);
          final Lmr region = segments.lmr(i);
          receive.addSge(
              use(receives, i, region, segments.offset(i), part, Privilege.LOCAL_WRITE),
              (int) part,
              ((LmrImpl) region).lkey());
          total += part;
        }
      }
      checkLength(total);
      return outcome(receives.postReceive(qp, total, cookie, context), DtoOperation.RECEIVE);
    } finally {
      receives.unlock();
    }
  }

  private void checkMayPost(final DtoOperation operation) {
    final EndpointState state = machine.state();
    if (requests.isSealed()
        || (state != EndpointState.CONNECTED && state != EndpointState.DISCONNECTED)) {
      throw wrongState("post of " + operation);
    }
  }

  private long use(
      final WorkQueue queue,
      final int segment,
      final Lmr lmr,
      final long offset,
      final long length,
      final Privilege need) {
    if (!(lmr instanceof LmrImpl region)) {
      throw Misuse.handle(ReturnSubtype.INVALID_HANDLE_LMR, name + ": the region is " + lmr);
    }
    region.checkUse(pz, offset, length, need, name);
    queue.use(region, segment);
    return region.address() + offset;
  }

  private void checkCount(final Segments segments, final int most, final DtoOperation operation) {
    if (segments.count() > most) {
      throw Misuse.argument(
          2,
          name
              + ": "
              + segments.count()
              + " segments for a "
              + operation
              + " are more than the "
              + most
              + " of its attributes");
    }
  }

  private void checkLength(final long total) {
    if (total > ia.device().limits().maxMessageBytes()) {
      throw new DatException(
          ReturnType.LENGTH_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          name
              + ": "
              + total
              + " bytes are more than the "
              + ia.device().limits().maxMessageBytes()
              + " of a message");
    }
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
        new VerbsException("post", ia.device().name(), errno, "in state " + machine.state()));
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
    ia.await(closeAsync(CLOSE_BOUND), CLOSE_BOUND.plusSeconds(1), this);
  }

  @Override
  public CompletionStage<DrainReport> closeAsync(final Duration bound) {
    final EndpointState before = machine.move(Trigger.CLOSE);
    if (before == null) {
      return closed.copy();
    }
    endExpected = before != EndpointState.UNCONNECTED;
    if (endExpected && before != EndpointState.DISCONNECTED) {
      endByConsumer(Trigger.CLOSE);
    }
    final Set<EvdImpl> evds = evds();
    partsOpen.set(evds.size());
    drain();
    for (final EvdImpl evd : evds) {
      evd.drainOf(this);
    }
    ia.reaper().schedule(nanos(bound), this::force);
    return closed.copy();
  }

  private Set<EvdImpl> evds() {
    final Set<EvdImpl> evds = new LinkedHashSet<>();
    evds.add(receiveEvd);
    evds.add(requestEvd);
    evds.add(connectEvd);
    return evds;
  }

  private void drain() {
    try {
      final CmId id = cmId;
      if (id != null) {
        id.disconnect();
      }
      qp.modifyToError();
      if (receives.postMarker(qp, true) == 0 && requests.postMarker(qp, true) == 0) {
        return;
      }
    } catch (final RuntimeException e) {
      connectEvd.onProviderFault("drain of " + this + " failed: " + e, e);
    }
    receives.seal();
    requests.seal();
    forced = true;
  }

  private void force() {
    if (!closed.isDone()) {
      forced = true;
      for (final EvdImpl evd : evds()) {
        evd.control(() -> {});
      }
    }
  }

  /**
   * Goes on with the close as far as one EVD is concerned. Of that EVD's turn.
   *
   * @return whether nothing of this endpoint is left there.
   */
  boolean advanceClose(final EvdImpl evd, final boolean enabled) {
    final boolean open =
        isUndrained(receives, receiveEvd, evd) || isUndrained(requests, requestEvd, evd);
    if (open && (forced || !enabled)) {
      evd.merger().sweep(this);
      if (forced) {
        abandon(receives, receiveEvd, evd);
        abandon(requests, requestEvd, evd);
      }
    }
    if (isUndrained(receives, receiveEvd, evd)
        || isUndrained(requests, requestEvd, evd)
        || (upcalls.get() > 0 && !forced)) {
      return false;
    }
    if (evd == connectEvd && endExpected && !ended) {
      final ConnectionEventImpl end = endEvent;
      if (end == null || (enabled && !forced)) {
        return false;
      }
      dropEvent(established ? null : establishedEvent);
      dropEvent(end);
      established = true;
      ended = true;
      heldEnd = null;
    }
    if (partsOpen.decrementAndGet() == 0) {
      ia.reaper().execute(this::finishClose);
    }
    return true;
  }

  /** An upcall of MANY with an event of this endpoint starts. Of the turn. */
  void upcallStarts() {
    upcalls.incrementAndGet();
  }

  /**
   * An upcall of MANY with an event of this endpoint returned.
   *
   * @return whether the endpoint's close may wait for that.
   */
  boolean upcallReturns() {
    return upcalls.decrementAndGet() == 0 && machine.state() == EndpointState.CLOSED;
  }

  private static boolean isUndrained(
      final WorkQueue queue, final EvdImpl feeds, final EvdImpl evd) {
    return feeds == evd && !queue.isDrained();
  }

  private static void abandon(final WorkQueue queue, final EvdImpl feeds, final EvdImpl evd) {
    if (isUndrained(queue, feeds, evd)) {
      queue.abandon();
    }
  }

  private void dropEvent(final ConnectionEventImpl event) {
    if (event != null) {
      event.handOut(connectEvd, this, -1);
      droppedEvents.add(event);
    }
  }

  private void finishClose() {
    if (cmCalls.get() > 0) {
      ia.reaper().execute(this::finishClose);
      return;
    }
    try {
      qp.close();
      final CmId id = cmId;
      if (id != null) {
        id.close();
      }
    } catch (final RuntimeException e) {
      connectEvd.onProviderFault("close of " + this + " failed: " + e, e);
    }
    ia.endpoints().free(tag);
    release(receiveFeed, requestFeed);
    ia.remove(this);
    final List<DrainReport.Request> open = new ArrayList<>(receives.report());
    open.addAll(requests.report());
    closed.complete(
        new DrainReport(open, receives.suppressed() + requests.suppressed(), droppedEvents));
  }

  private static long nanos(final Duration duration) {
    try {
      return duration.toNanos();
    } catch (final ArithmeticException e) {
      return Long.MAX_VALUE / 4;
    }
  }
}
