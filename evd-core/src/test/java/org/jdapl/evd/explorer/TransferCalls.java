package org.jdapl.evd.explorer;

import java.util.List;
import java.util.function.Function;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
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

  void post(final DtoOperation operation, final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null || endpoint.adapter.lmrs.isEmpty()) {
      return;
    }
    final Lmr lmr = Inventory.pick(endpoint.adapter.lmrs, b, book -> true);
    final long cookie = ++cookies;
    final int length = operation == DtoOperation.RECEIVE ? Memory.PLACE : Memory.LEAST + c % 57;
    final boolean suppressed = operation != DtoOperation.RECEIVE && b % 4 == 0;
    final int flags =
        (suppressed ? CompletionFlags.SUPPRESS : 0)
            | (operation == DtoOperation.SEND && c % 4 == 0 ? CompletionFlags.SOLICITED_WAIT : 0)
            | (operation != DtoOperation.RECEIVE && c % 8 == 1 ? CompletionFlags.BARRIER_FENCE : 0);
    final Outcome[] outcome = new Outcome[1];
    final Endpoint to = endpoint.endpoint;
    if (operation == DtoOperation.SEND || operation == DtoOperation.RDMA_WRITE) {
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
                    to.postRdmaWrite(
                        list, key(c), address(c) + Memory.target(cookie), cookie, lmr, flags);
                case RDMA_READ ->
                    to.postRdmaRead(
                        list, key(c), address(c) + Memory.source(cookie), cookie, lmr, flags);
              };
        });
    if (outcome[0] == Outcome.SUCCESS) {
      endpoint.posted(operation, lmr, cookie, length, suppressed);
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
