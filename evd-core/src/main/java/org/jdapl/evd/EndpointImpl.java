package org.jdapl.evd;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.ExtensionOp;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WrOpcode;

/** An endpoint, which posts to its {@link Incarnation} of now. */
final class EndpointImpl extends ObjectBase implements Endpoint {

  private final IaImpl ia;

  private final EndpointLife life = new EndpointLife(this);

  EndpointImpl(final String name, final IaImpl ia) {
    super(HandleType.EP, name);
    this.ia = ia;
  }

  /** What it is now. */
  Incarnation now() {
    return life.now();
  }

  /** What it was, is and will be. */
  EndpointLife life() {
    return life;
  }

  @Override
  IaImpl ia() {
    return ia;
  }

  @Override
  public EndpointState state() {
    return life.state();
  }

  @Override
  public String toString() {
    return name + "(" + state() + ")";
  }

  // Connecting.

  @Override
  public void connect(
      final InetAddress remote,
      final long connQual,
      final Duration timeout,
      final ByteBuffer privateData) {
    final String call = name + ".connect";
    if (remote == null) {
      throw Misuse.argument(1, call + ": the remote address is null");
    }
    IaImpl.checkConnQual(2, connQual, call);
    final Connection.Peer peer = new Connection.Peer(remote, connQual);
    now().connection().connect(peer, timeout, privateData, call, 3);
  }

  @Override
  public void dupConnect(
      final Endpoint other, final Duration timeout, final ByteBuffer privateData) {
    final Connection.Peer peer =
        other instanceof EndpointImpl own && own.ia == ia ? own.now().connection().asked() : null;
    if (peer == null) {
      throw Misuse.argument(
          1, name + ".dupConnect: " + other + " is not an endpoint of " + ia + " that connected");
    }
    now().connection().connect(peer, timeout, privateData, name + ".dupConnect", 2);
  }

  @Override
  public void commonConnect(
      final InetSocketAddress remote, final Duration timeout, final ByteBuffer privateData) {
    final String call = name + ".commonConnect";
    if (remote == null || remote.isUnresolved()) {
      throw Misuse.argument(1, call + ": the remote address " + remote + " is not resolved");
    }
    IaImpl.checkConnQual(1, remote.getPort(), call);
    final Connection.Peer peer = new Connection.Peer(remote.getAddress(), remote.getPort());
    now().connection().connect(peer, timeout, privateData, call, 2);
  }

  @Override
  public void disconnect(final Disconnect how) {
    now().connection().disconnect(how);
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

  @Override
  public Outcome postSendWithInvalidate(
      final Lmr lmr,
      final long offset,
      final long length,
      final int rmrContext,
      final long cookie) {
    return request(
        DtoOperation.SEND, true, lmr, offset, length, null, rmrContext, 0, 0, 0, cookie, null, 0);
  }

  @Override
  public Outcome postSendWithInvalidate(
      final Segments segments,
      final int rmrContext,
      final long cookie,
      final Object context,
      final int flags) {
    checkFlags(DtoOperation.SEND, flags, 5);
    return request(
        DtoOperation.SEND, true, null, 0, 0, segments, rmrContext, 0, 0, 0, cookie, context, flags);
  }

  @Override
  public Outcome postRdmaWriteImmed(
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final int immediateData,
      final long cookie,
      final Object context,
      final int flags) {
    checkFlags(DtoOperation.RDMA_WRITE_IMMED, flags, 7);
    return extension(
        ExtensionOp.RDMA_WRITE_IMMED,
        null,
        0,
        segments,
        rmrContext,
        remoteAddress,
        immediateData,
        0,
        cookie,
        context,
        flags);
  }

  @Override
  public Outcome postFetchAndAdd(
      final Lmr lmr,
      final long offset,
      final int rmrContext,
      final long remoteAddress,
      final long add,
      final long cookie,
      final Object context,
      final int flags) {
    checkFlags(DtoOperation.FETCH_AND_ADD, flags, 8);
    return extension(
        ExtensionOp.FETCH_AND_ADD,
        lmr,
        offset,
        null,
        rmrContext,
        remoteAddress,
        add,
        0,
        cookie,
        context,
        flags);
  }

  @Override
  public Outcome postCompareAndSwap(
      final Lmr lmr,
      final long offset,
      final int rmrContext,
      final long remoteAddress,
      final long compare,
      final long swap,
      final long cookie,
      final Object context,
      final int flags) {
    checkFlags(DtoOperation.COMPARE_AND_SWAP, flags, 9);
    return extension(
        ExtensionOp.COMPARE_AND_SWAP,
        lmr,
        offset,
        null,
        rmrContext,
        remoteAddress,
        compare,
        swap,
        cookie,
        context,
        flags);
  }

  @Override
  public Outcome extensionOp(
      final ExtensionOp operation,
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final long operand,
      final long swap,
      final long cookie,
      final Object context,
      final int flags) {
    if (operation == null) {
      throw Misuse.argument(1, name + ".extensionOp: the operation is null");
    }
    if (operation == ExtensionOp.RDMA_WRITE_IMMED) {
      checkImmediateData(operand);
    } else if (segments != null) {
      checkEightBytes(operation, segments);
    }
    checkFlags(operation.operation(), flags, 9);
    return extension(
        operation,
        null,
        0,
        segments,
        rmrContext,
        remoteAddress,
        operand,
        swap,
        cookie,
        context,
        flags);
  }

  private void checkImmediateData(final long operand) {
    final int data = (int) operand;
    if (operand != data && operand != Integer.toUnsignedLong(data)) {
      throw Misuse.argument(
          5, name + ".extensionOp: the immediate data " + operand + " has more than 32 bits");
    }
  }

  private void checkEightBytes(final ExtensionOp operation, final Segments segments) {
    long total = 0;
    for (int i = 0; i < segments.count(); i++) {
      total += segments.length(i);
    }
    if (total != Long.BYTES) {
      throw new DatException(
          ReturnType.LENGTH_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          name + ".extensionOp: " + operation + " of " + total + " bytes; it takes " + Long.BYTES);
    }
  }

  /** Posts an extension, whose flags were checked; an atomic without segments, of eight bytes. */
  private Outcome extension(
      final ExtensionOp operation,
      final Lmr lmr,
      final long offset,
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final long operand,
      final long swap,
      final long cookie,
      final Object context,
      final int flags) {
    ia.limits().checkExtension(operation, name);
    return request(
        operation.operation(),
        false,
        lmr,
        offset,
        Long.BYTES,
        segments,
        rmrContext,
        remoteAddress,
        operand,
        swap,
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
    checkFlags(operation, flags, operation == DtoOperation.SEND ? 4 : 6);
    return request(
        operation,
        false,
        lmr,
        offset,
        length,
        segments,
        rmrContext,
        remoteAddress,
        0,
        0,
        cookie,
        context,
        flags);
  }

  /**
   * Posts a request, whose flags were checked.
   *
   * @param invalidate whether a send is to end the window that the RMR context names.
   * @param segments what it is of; null for one of the region.
   * @param operand the immediate data, or what to add, or to compare with.
   * @param swap what to put in place.
   */
  private Outcome request(
      final DtoOperation operation,
      final boolean invalidate,
      final Lmr lmr,
      final long offset,
      final long length,
      final Segments segments,
      final int rmrContext,
      final long remoteAddress,
      final long operand,
      final long swap,
      final long cookie,
      final Object context,
      final int flags) {
    final Incarnation incarnation = now();
    final WorkQueue requests = incarnation.requests();
    final Privilege need = isFetching(operation) ? Privilege.LOCAL_WRITE : Privilege.LOCAL_READ;
    incarnation.checkMayPost(operation);
    requests.lock();
    try {
      incarnation.checkTakesPosts(operation);
      if (requests.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final SendRequest send = requests.sendRequest();
      final Segments list = segments == null ? requests.single(lmr, offset, length) : segments;
      final long total = requests.use(incarnation.pz(), list, send, need, name);
      send.opcode = invalidate ? WrOpcode.SEND_WITH_INV : opcode(operation);
      send.invalidateRkey = rmrContext;
      send.rkey = rmrContext;
      send.remoteAddress = remoteAddress;
      send.immediate = (int) operand;
      send.compareAdd = operand;
      send.swap = swap;
      return post(incarnation, operation, total, cookie, context, flags);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": post of " + operation, e);
    } finally {
      requests.unlock();
    }
  }

  /** Posts the request that was filled in. Under the guard. */
  private Outcome post(
      final Incarnation incarnation,
      final DtoOperation operation,
      final long total,
      final long cookie,
      final Object context,
      final int flags) {
    final WorkQueue requests = incarnation.requests();
    final SendRequest send = requests.sendRequest();
    send.solicited = (flags & CompletionFlags.SOLICITED_WAIT) != 0;
    send.fence = (flags & CompletionFlags.BARRIER_FENCE) != 0;
    final boolean suppress = (flags & CompletionFlags.SUPPRESS) != 0;
    final boolean unsignalled = (flags & CompletionFlags.UNSIGNALLED) != 0;
    if (unsignalled) {
      incarnation.requestEvd().expectUnsignalled();
    }
    return incarnation.outcome(
        requests.postSend(
            incarnation.qp(), operation, total, cookie, context, suppress, unsignalled),
        operation);
  }

  @Override
  public Outcome postRdmaReadToRmr(
      final Rmr rmr,
      final long offset,
      final long length,
      final int rmrContext,
      final long remoteAddress,
      final long cookie,
      final Object context,
      final int flags) {
    checkFlags(DtoOperation.RDMA_READ, flags, 8);
    if (!(rmr instanceof RmrImpl into) || into.ia() != ia) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_RMR,
          name + ".postRdmaReadToRmr: " + rmr + " is not a remote memory region of " + ia);
    }
    final Incarnation incarnation = now();
    final WorkQueue requests = incarnation.requests();
    incarnation.checkMayPost(DtoOperation.RDMA_READ);
    requests.lock();
    try {
      incarnation.checkTakesPosts(DtoOperation.RDMA_READ);
      if (requests.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final Segments list = into.checkRead(incarnation, offset, length, name);
      final SendRequest send = requests.sendRequest();
      final long total = requests.use(incarnation.pz(), list, send, Privilege.REMOTE_WRITE, name);
      send.opcode = WrOpcode.RDMA_READ;
      send.rkey = rmrContext;
      send.remoteAddress = remoteAddress;
      return post(incarnation, DtoOperation.RDMA_READ, total, cookie, context, flags);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ".postRdmaReadToRmr", e);
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
    final Incarnation incarnation = now();
    final SrqImpl srq = incarnation.srq();
    if (srq != null) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          name + ".postReceive: it takes its receives from " + srq + "; post there");
    }
    final WorkQueue receives = incarnation.receives();
    receives.lock();
    try {
      if (receives.isSealed()) {
        throw life.wrongState(incarnation, "post of RECEIVE");
      }
      if (receives.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final RecvRequest receive = receives.receiveRequest();
      final Segments list = segments == null ? receives.single(lmr, offset, length) : segments;
      final long total = receives.use(incarnation.pz(), list, receive, Privilege.LOCAL_WRITE, name);
      return incarnation.outcome(
          receives.postReceive(incarnation.qp(), total, cookie, context), DtoOperation.RECEIVE);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ": post of RECEIVE", e);
    } finally {
      receives.unlock();
    }
  }

  private void checkFlags(final DtoOperation operation, final int flags, final int argument) {
    final int legal =
        CompletionFlags.SUPPRESS
            | CompletionFlags.BARRIER_FENCE
            | CompletionFlags.UNSIGNALLED
            | (completesAtPeer(operation) ? CompletionFlags.SOLICITED_WAIT : 0);
    Misuse.checkFlags(flags, legal, argument, operation, name);
  }

  /** Whether what is at the peer comes here. */
  private static boolean isFetching(final DtoOperation operation) {
    return operation == DtoOperation.RDMA_READ
        || operation == DtoOperation.FETCH_AND_ADD
        || operation == DtoOperation.COMPARE_AND_SWAP;
  }

  private static boolean completesAtPeer(final DtoOperation operation) {
    return operation == DtoOperation.SEND || operation == DtoOperation.RDMA_WRITE_IMMED;
  }

  private static WrOpcode opcode(final DtoOperation operation) {
    return switch (operation) {
      case SEND -> WrOpcode.SEND;
      case RDMA_WRITE -> WrOpcode.RDMA_WRITE;
      case RDMA_READ -> WrOpcode.RDMA_READ;
      case RDMA_WRITE_IMMED -> WrOpcode.RDMA_WRITE_WITH_IMM;
      case FETCH_AND_ADD -> WrOpcode.ATOMIC_FETCH_AND_ADD;
      case COMPARE_AND_SWAP -> WrOpcode.ATOMIC_CMP_AND_SWP;
      case RECEIVE, RECEIVE_WITH_INVALIDATE, RECEIVE_IMMED, RECEIVE_MESSAGE_IMMED, BIND_MW ->
          throw new IllegalArgumentException("not a request: " + operation);
    };
  }

  // Asking and changing.

  @Override
  public EndpointParameters parameters() {
    return now().parameters();
  }

  @Override
  public InetAddress remoteAddress() {
    return now().connection().remoteAddress();
  }

  @Override
  public int rdmaReadsIn() {
    return now().connection().rdmaReadsIn();
  }

  @Override
  public int rdmaReadsOut() {
    return now().connection().rdmaReadsOut();
  }

  @Override
  public boolean isReceiveIdle() {
    return now().receives().isIdle();
  }

  @Override
  public int openReceives() {
    final Incarnation incarnation = now();
    if (incarnation.srq() != null) {
      throw new DatException(
          ReturnType.MODEL_NOT_SUPPORTED,
          ReturnSubtype.NO_SUBTYPE,
          name
              + ".openReceives: no device tells how many it took of "
              + incarnation.srq()
              + ", which tells its own");
    }
    return incarnation.receives().open();
  }

  @Override
  public void watermarks(final int softHigh, final int hardHigh) {
    if (softHigh < 0 || hardHigh < 0) {
      throw Misuse.argument(
          softHigh < 0 ? 1 : 2,
          name + ".watermarks: " + softHigh + ", " + hardHigh + "; at least 0, which is for none");
    }
    if (state() == EndpointState.CLOSED) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_EP, this, "watermarks");
    }
    if (softHigh > 0 || hardHigh > 0) {
      throw new DatException(
          ReturnType.MODEL_NOT_SUPPORTED,
          ReturnSubtype.NO_SUBTYPE,
          name
              + ".watermarks: no device counts what one endpoint holds of a shared receive queue;"
              + " SharedReceiveQueue.lowWatermark watches the queue");
    }
  }

  @Override
  public boolean isRequestIdle() {
    return now().requests().isIdle();
  }

  @Override
  public void modify(final EndpointParameters parameters) {
    ia.check(parameters, 1, name + ".modify");
    life.modify(parameters);
  }

  @Override
  public void reset() {
    life.await(life.reset(EndpointLife.CLOSE_BOUND));
  }

  @Override
  public CompletionStage<DrainReport> resetAsync(final Duration bound) {
    Misuse.checkBound(bound, name + ".resetAsync");
    return ia.stage(life.reset(bound));
  }

  // Closing.

  @Override
  public void close() {
    ia.await(life.close(EndpointLife.CLOSE_BOUND), EndpointLife.CLOSE_BOUND, this);
  }

  @Override
  public CompletionStage<DrainReport> closeAsync(final Duration bound) {
    Misuse.checkBound(bound, name + ".closeAsync");
    return ia.stage(life.close(bound));
  }
}
