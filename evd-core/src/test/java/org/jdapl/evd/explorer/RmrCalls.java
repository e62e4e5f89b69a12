package org.jdapl.evd.explorer;

import java.util.EnumSet;
import java.util.Set;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.Rmr;

/** The calls of a consumer that are about remote memory regions, and what must come of each. */
final class RmrCalls {

  private static final long FEW_PLACES = 8L * Memory.PLACE;

  private final ScriptRun run;
  private final Inventory all;
  private final TransferCalls transfers;

  RmrCalls(final ScriptRun run, final TransferCalls transfers) {
    this.run = run;
    this.transfers = transfers;
    all = run.all;
  }

  void create(final AdapterBook adapter, final int b) {
    run.attempt(
        "createRmr",
        () -> {
          final Rmr rmr = b % 2 == 0 ? adapter.pz.createRmr() : adapter.pz.createRmrForEndpoint();
          all.rmrs.add(new RmrBook(run, adapter, rmr));
        });
  }

  /** Binds a window of an endpoint's adapter to a part of a region, with some rights. */
  void bind(final EndpointBook endpoint, final int b, final int c) {
    if (endpoint == null || endpoint.adapter.lmrs.isEmpty()) {
      return;
    }
    final RmrBook rmr = all.rmr(b, endpoint.adapter);
    if (rmr == null) {
      return;
    }
    final long from = c % 4 == 2 ? Memory.target(0) : 0;
    final long length =
        switch (c % 4) {
          case 0 -> Memory.LENGTH;
          case 1, 2 -> Memory.target(0);
          default -> FEW_PLACES;
        };
    final Set<Privilege> rights = EnumSet.noneOf(Privilege.class);
    if (c / 4 % 4 != 1) {
      rights.add(Privilege.REMOTE_WRITE);
    }
    if (c / 4 % 4 != 2) {
      rights.add(Privilege.REMOTE_READ);
    }
    if (c / 16 % 2 == 0) {
      rights.add(Privilege.REMOTE_ATOMIC);
    }
    final Lmr lmr = endpoint.adapter.lmrs.get(b % endpoint.adapter.lmrs.size());
    bind(endpoint, rmr, lmr, from, length, rights, b % 8 == 7);
  }

  /** Closes a window where it was bound, mostly. */
  void unbind(final int b, final int c) {
    final RmrBook rmr = Inventory.pick(all.rmrs, b, book -> !book.isClosed());
    if (rmr != null && rmr.last() != null) {
      bind(rmr.last().at, rmr, null, 0, 0, Set.of(), c % 8 == 7);
    }
  }

  private void bind(
      final EndpointBook endpoint,
      final RmrBook rmr,
      final Lmr lmr,
      final long from,
      final long length,
      final Set<Privilege> rights,
      final boolean suppressed) {
    final long cookie = transfers.nextCookie();
    final int flags = suppressed ? CompletionFlags.SUPPRESS : CompletionFlags.DEFAULT;
    final Outcome[] outcome = new Outcome[1];
    run.attempt(
        "bind",
        () ->
            outcome[0] =
                rmr.rmr.bind(lmr, from, length, rights, endpoint.endpoint, cookie, rmr, flags));
    if (outcome[0] == Outcome.SUCCESS) {
      final RmrBook.Bind bind = rmr.posted(endpoint, lmr, cookie, from, length, rights);
      endpoint.posted(
          new EndpointBook.Post(DtoOperation.BIND_MW, lmr, cookie, 0, flags, null, bind, null));
    } else if (outcome[0] == Outcome.INSUFFICIENT_RESOURCES && !run.isFaulty()) {
      endpoint.refused(DtoOperation.BIND_MW);
    }
  }

  void close(final RmrBook rmr) {
    if (rmr == null || rmr.isClosed() || rmr.adapter.closed) {
      return;
    }
    final DatException refused = run.attempt("close", rmr.rmr::close);
    if (refused == null) {
      rmr.closes();
    } else {
      rmr.refusedToClose(refused);
    }
  }
}
