package org.jdapl.evd.explorer;

import java.util.List;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;

/** The calls of a consumer that transfer data, and what must come of each. */
final class TransferCalls {

  private final ScriptRun run;
  private final Inventory all;
  private long cookies;

  TransferCalls(final ScriptRun run) {
    this.run = run;
    all = run.all;
  }

  void createSrq(final AdapterBook adapter, final int depth) {
    run.attempt(
        "createSrq",
        () -> {
          final SharedReceiveQueue srq = adapter.adapter.createSrq(adapter.pz, 1 + depth % 8, 1);
          all.srqs.add(new SrqBook(run, adapter, srq));
        });
  }

  void createLmr(final AdapterBook adapter) {
    run.attempt(
        "createLmr",
        () -> adapter.lmrs.add(adapter.pz.createLmr(run.memory.bytes(), Privilege.values())));
  }

  void receive(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint != null && endpoint.srq != null) {
      postShared(endpoint.srq, b);
    } else {
      post(DtoOperation.RECEIVE, endpoint, b, c);
    }
  }

  void postShared(final SrqBook srq, final int b) {
    if (srq == null || srq.adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = Inventory.pick(srq.adapter.lmrs, b, book -> true);
    for (int left = 1 + b % 3; left > 0; left--) {
      final long cookie = ++cookies;
      final Outcome[] outcome = new Outcome[1];
      run.attempt(
          "post of a shared receive",
          () ->
              outcome[0] = srq.srq.postReceive(place(lmr, cookie, Memory.PLACE), cookie, srq.srq));
      if (outcome[0] == Outcome.SUCCESS) {
        srq.posted(lmr, cookie);
      } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !run.isFaulty()) {
        srq.refused();
      }
    }
  }

  void watermark(final SrqBook srq, final int b) {
    if (srq != null) {
      srq.watermark(); // it may be told of before the call returns
      run.attempt("lowWatermark", () -> srq.srq.lowWatermark(b % (srq.srq.maxReceives() + 1)));
    }
  }

  void resizeSrq(final SrqBook srq, final int b) {
    if (srq == null) {
      return;
    }
    final int receives = 1 + b % 12;
    final int open = srq.srq.openReceives();
    final int watermark = srq.srq.lowWatermark();
    final DatException refused = run.attempt("resize", () -> srq.srq.resize(receives));
    if (srq.isClosed() || srq.adapter.closed || run.isExcused(srq.adapter)) {
      return;
    }
    if (refused == null && (srq.srq.maxReceives() != receives || open > receives)) {
      run.fail(
          "T13",
          srq
              + ": may have "
              + srq.srq.maxReceives()
              + " receives after a resize to "
              + receives
              + " with "
              + open
              + " open");
    } else if (refused != null
        && refused.type() == ReturnType.INVALID_STATE
        && Math.max(open, watermark) <= receives) {
      run.fail("T13", srq + ": has room, and cannot be resized: " + refused);
    }
  }

  /** A number for a request, and so a place of the memory. */
  long nextCookie() {
    return ++cookies;
  }

  /** What a request names of its peer's memory. */
  private record Remote(AdapterBook adapter, int key, long address, RmrBook.Use use) {}

  /** Part of a region of any adapter by its own context or by a window's, or of none. */
  private Remote remote(
      final int number,
      final Privilege right,
      final ToIntFunction<AdapterBook> place,
      final int length) {
    final Remote[] remote = new Remote[1];
    run.attempt("rmrContext", () -> remote[0] = ofWindowOrRegion(number, right, place, length));
    return remote[0];
  }

  private Remote ofWindowOrRegion(
      final int number,
      final Privilege right,
      final ToIntFunction<AdapterBook> place,
      final int length) {
    final RmrBook.Bind bind = all.bind(number);
    if (bind != null && number % 3 > 0) {
      final AdapterBook adapter = bind.rmr().adapter;
      final int at = place.applyAsInt(adapter);
      return new Remote(
          adapter, bind.context, bind.address(at), bind.rmr().use(bind, right, at, length));
    }
    final AdapterBook adapter = all.adapter(number);
    final int at = place.applyAsInt(adapter);
    return new Remote(adapter, key(number), address(number) + at, null);
  }

  /** A send that ends a window of its peer, mostly. */
  void sendInvalidate(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null || endpoint.adapter.lmrs.isEmpty() || all.binds.isEmpty()) {
      return;
    }
    final List<RmrBook.Bind> peers =
        all.binds.stream().filter(bind -> bind.at == endpoint.partner()).toList();
    final RmrBook.Bind bind =
        peers.isEmpty() || c % 8 == 7 ? all.bind(c) : peers.get(peers.size() - 1);
    final Lmr lmr = Inventory.pick(endpoint.adapter.lmrs, b, book -> true);
    final long cookie = nextCookie();
    final int length = Memory.LEAST + c % 57;
    final Outcome[] outcome = new Outcome[1];
    run.memory.fill(Memory.local(cookie), cookie, length);
    run.attempt(
        "post of a send with invalidate",
        () ->
            outcome[0] =
                endpoint.endpoint.postSendWithInvalidate(
                    place(lmr, cookie, length),
                    bind.context,
                    cookie,
                    lmr,
                    flags(DtoOperation.SEND, b, c)));
    if (outcome[0] == Outcome.SUCCESS) {
      run.memory.posted(cookie, new Memory.Message(endpoint, length, false, bind));
      endpoint.posted(
          new EndpointBook.Post(
              DtoOperation.SEND,
              lmr,
              cookie,
              length,
              flags(DtoOperation.SEND, b, c),
              bind.rmr().use(bind, null, 0, 0),
              null,
              null));
    } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !run.isFaulty()) {
      endpoint.refused(DtoOperation.SEND);
    }
  }

  void readToRmr(final EndpointBook endpoint, final int b, final int c) {
    final RmrBook rmr = endpoint == null ? null : all.rmr(b, endpoint.adapter);
    final RmrBook.Bind bind = rmr == null ? null : rmr.last();
    if (bind == null) {
      return;
    }
    final long cookie = nextCookie();
    final int length = Memory.LEAST + c % 57;
    final int flags = flags(DtoOperation.RDMA_READ, b, c);
    final long offset = Memory.local(cookie) - bind.from();
    final boolean takes = bind.lmr == rmr.rmr.lmr() && bind.takes(Memory.local(cookie), length);
    final Remote remote =
        remote(c, Privilege.REMOTE_READ, adapter -> Memory.source(cookie), length);
    if (remote == null) {
      return; // the region is closed with its adapter
    }
    final Outcome[] outcome = new Outcome[1];
    final DatException refused =
        run.attempt(
            "post of a read to an RMR",
            () ->
                outcome[0] =
                    endpoint.endpoint.postRdmaReadToRmr(
                        rmr.rmr, offset, length, remote.key, remote.address, cookie, rmr, flags),
            ReturnType.PROTECTION_VIOLATION,
            ReturnType.PRIVILEGES_VIOLATION,
            ReturnType.LENGTH_ERROR);
    if (outcome[0] == Outcome.SUCCESS) {
      final boolean mine = rmr.rmr.scope() == Rmr.Scope.PZ || bind.at == endpoint;
      if (!takes || !mine) {
        run.fail("D02", endpoint + ": a read may go into " + bind + ", which does not take it");
      }
      endpoint.posted(
          new EndpointBook.Post(
              DtoOperation.RDMA_READ, bind.lmr, cookie, length, flags, remote.use, null, null));
    } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !run.isFaulty()) {
      endpoint.refused(DtoOperation.RDMA_READ);
    } else if (refused != null
        && takes
        && (refused.type() == ReturnType.LENGTH_ERROR
            || refused.type() == ReturnType.PRIVILEGES_VIOLATION)) {
      run.fail("D02", endpoint + ": a read may not go into " + bind + ": " + refused);
    }
  }

  private static int flags(final DtoOperation operation, final int b, final int c) {
    if (operation == DtoOperation.RECEIVE) {
      return CompletionFlags.DEFAULT;
    }
    final boolean completesAtPeer =
        operation == DtoOperation.SEND || operation == DtoOperation.RDMA_WRITE_IMMED;
    return (b % 4 == 0 ? CompletionFlags.SUPPRESS : 0)
        | (b % 8 == 5 ? CompletionFlags.UNSIGNALLED : 0)
        | (completesAtPeer && c % 4 == 0 ? CompletionFlags.SOLICITED_WAIT : 0)
        | (c % 8 == 1 ? CompletionFlags.BARRIER_FENCE : 0);
  }

  private static Privilege rightFor(final DtoOperation operation) {
    return switch (operation) {
      case RDMA_READ -> Privilege.REMOTE_READ;
      case FETCH_AND_ADD, COMPARE_AND_SWAP -> Privilege.REMOTE_ATOMIC;
      default -> Privilege.REMOTE_WRITE;
    };
  }

  void post(final DtoOperation operation, final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null || endpoint.adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = Inventory.pick(endpoint.adapter.lmrs, b, book -> true);
    final long cookie = ++cookies;
    final boolean isAtomic =
        operation == DtoOperation.FETCH_AND_ADD || operation == DtoOperation.COMPARE_AND_SWAP;
    final int length =
        isAtomic
            ? Long.BYTES
            : operation == DtoOperation.RECEIVE ? Memory.PLACE : Memory.LEAST + c % 57;
    final int flags = flags(operation, b, c);
    final Outcome[] outcome = new Outcome[1];
    final Endpoint to = endpoint.endpoint;
    final boolean isNamed = operation != DtoOperation.SEND && operation != DtoOperation.RECEIVE;
    final Remote remote =
        isNamed
            ? remote(
                c,
                rightFor(operation),
                adapter ->
                    isAtomic
                        ? adapter.cell.at()
                        : operation == DtoOperation.RDMA_READ
                            ? Memory.source(cookie)
                            : Memory.target(cookie),
                length)
            : null;
    if (isNamed && remote == null) {
      return; // the region is closed with its adapter
    }
    final long expected = isAtomic ? remote.adapter.cell.value() : 0;
    final long operand = Cell.operand(cookie);
    if (operation == DtoOperation.SEND
        || operation == DtoOperation.RDMA_WRITE
        || operation == DtoOperation.RDMA_WRITE_IMMED) {
      run.memory.fill(Memory.local(cookie), cookie, length);
    }
    run.attempt(
        "post of " + operation,
        () -> {
          final Segments list = place(lmr, cookie, length);
          outcome[0] =
              switch (operation) {
                case SEND -> to.postSend(list, cookie, lmr, flags);
                case RECEIVE -> to.postReceive(list, cookie, lmr);
                case RDMA_WRITE ->
                    to.postRdmaWrite(list, remote.key, remote.address, cookie, lmr, flags);
                case RDMA_READ ->
                    to.postRdmaRead(list, remote.key, remote.address, cookie, lmr, flags);
                case RDMA_WRITE_IMMED ->
                    to.postRdmaWriteImmed(
                        list, remote.key, remote.address, (int) cookie, cookie, lmr, flags);
                case FETCH_AND_ADD ->
                    to.postFetchAndAdd(
                        lmr,
                        Memory.local(cookie),
                        remote.key,
                        remote.address,
                        operand,
                        cookie,
                        lmr,
                        flags);
                case COMPARE_AND_SWAP ->
                    to.postCompareAndSwap(
                        lmr,
                        Memory.local(cookie),
                        remote.key,
                        remote.address,
                        expected,
                        expected + operand,
                        cookie,
                        lmr,
                        flags);
                default -> throw new IllegalArgumentException("no step of a script: " + operation);
              };
        });
    if (outcome[0] == Outcome.SUCCESS) {
      switch (operation) {
        case SEND -> run.memory.posted(cookie, new Memory.Message(endpoint, length, false, null));
        case RDMA_WRITE_IMMED ->
            run.memory.posted(cookie, new Memory.Message(endpoint, length, true, null));
        case FETCH_AND_ADD -> remote.adapter.cell.adds(endpoint, cookie, operand);
        case COMPARE_AND_SWAP ->
            remote.adapter.cell.swaps(endpoint, cookie, expected, expected + operand);
        default -> {}
      }
      endpoint.posted(
          new EndpointBook.Post(
              operation,
              lmr,
              cookie,
              length,
              flags,
              remote == null ? null : remote.use,
              null,
              isAtomic ? remote.adapter.cell : null));
    } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !run.isFaulty()) {
      endpoint.refused(operation);
    }
  }

  private static Segments place(final Lmr lmr, final long cookie, final int length) {
    return new Segments(1).add(lmr, Memory.local(cookie), length);
  }

  /** A key of a region of any adapter, or of none. */
  private int key(final int number) {
    final List<Lmr> lmrs = all.adapter(number).lmrs;
    return lmrs.isEmpty() || number % 8 == 7
        ? 1
        : of(lmrs.get(number % lmrs.size()), Lmr::rmrContext);
  }

  private long address(final int number) {
    final List<Lmr> lmrs = all.adapter(number).lmrs;
    return lmrs.isEmpty() ? 0 : of(lmrs.get(number % lmrs.size()), Lmr::address);
  }

  private static <T extends Number> T of(final Lmr lmr, final Function<Lmr, T> what) {
    return what.apply(lmr);
  }
}
