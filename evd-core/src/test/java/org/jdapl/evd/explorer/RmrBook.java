package org.jdapl.evd.explorer;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.Rmr;

/** What is known of a remote memory region, and must be so: what peers may do by each bind. */
final class RmrBook {

  /** A bind, and so a context: what its holder may do, and until when. */
  final class Bind {
    final EndpointBook at;

    /** The region; null if the bind closes the window. */
    final Lmr lmr;

    final int context;
    private final long cookie;
    private final long regionAddress;
    private final long from;
    private final long length;
    private final Set<Privilege> rights;

    /** Whether its outcome is still to come; of a suppressed one, whether it may be. */
    private boolean pending = true;

    /** Whether it is done, for sure: from now on it is open, if nothing was asked that ends it. */
    private boolean done;

    /** How often something was asked that may end it. */
    private int endings;

    /** Whether it is dead for sure. */
    private boolean over;

    private Bind(
        final EndpointBook at,
        final Lmr lmr,
        final int context,
        final long cookie,
        final long from,
        final long length,
        final Set<Privilege> rights) {
      this.at = at;
      this.lmr = lmr;
      this.context = context;
      this.cookie = cookie;
      this.from = from;
      this.length = length;
      this.rights = rights;
      regionAddress = lmr == null ? 0 : lmr.address();
    }

    RmrBook rmr() {
      return RmrBook.this;
    }

    /** Where a peer finds a byte of the region. */
    long address(final long offset) {
      return regionAddress + offset;
    }

    long from() {
      return from;
    }

    void asksToEnd() {
      endings++;
    }

    private boolean isOpen() {
      return done && endings == 0 && !over;
    }

    private boolean grants(final Privilege right, final long offset, final long bytes) {
      return lmr != null
          && rights.contains(right)
          && offset >= from
          && offset + bytes <= from + length;
    }

    /** Whether a read may go into a part of it. */
    boolean takes(final long offset, final long bytes) {
      return grants(Privilege.REMOTE_WRITE, offset, bytes);
    }

    /** It is done, and each bind of the window that was posted before it is dead. */
    void done() {
      pending = false;
      done = true;
      for (final Bind before : binds.subList(0, binds.indexOf(this))) {
        before.over = true;
      }
      over |= lmr == null;
    }

    /** It failed, or nobody can say. */
    void failed() {
      pending = false;
      endings++;
    }

    /** A message of the peer that ended it was handed out. */
    void invalidated() {
      over = true;
      if (rmr.lmr() != null && last() == this) {
        run.fail("D01", this + ": a message ended it, and it counts as bound to " + rmr.lmr());
      }
    }

    /** The peer has a message that was posted behind it: it is done, whether it is told or not. */
    void heardOfBy(final long number) {
      done |= cookie < number && pending;
    }

    @Override
    public String toString() {
      return rmr.name() + " by context " + Integer.toHexString(context) + " " + rights;
    }
  }

  /** A request that names a context, and what was known of it when the request was posted. */
  final class Use {
    private final Bind bind;
    private final Privilege right;
    private final long offset;
    private final long bytes;
    private final boolean wasOver;
    private final boolean wasOpen;
    private final int endings;

    /**
     * @param right what the request needs; null if it ends the window.
     */
    private Use(final Bind bind, final Privilege right, final long offset, final long bytes) {
      this.bind = bind;
      this.right = right;
      this.offset = offset;
      this.bytes = bytes;
      wasOver = bind.over;
      wasOpen = bind.isOpen();
      if (right == null) {
        bind.asksToEnd();
      }
      endings = bind.endings;
    }

    private boolean isGranted(final EndpointBook peer) {
      final boolean mine = scope == Rmr.Scope.EP ? bind.at == peer : peer.adapter == adapter;
      return mine && (right == null ? scope == Rmr.Scope.EP : bind.grants(right, offset, bytes));
    }

    /**
     * It ended.
     *
     * @param by the endpoint it was posted to.
     * @param refused whether the peer's memory did not allow it; else it was done.
     */
    void ended(final EndpointBook by, final boolean refused, final String what) {
      final EndpointBook peer = by.partner();
      if (peer == null) {
        return; // a late completion of another one
      }
      if (refused) {
        final boolean isOpen = wasOpen && endings == bind.endings && !adapter.closed;
        if (isOpen && isGranted(peer) && !run.isExcused(adapter)) {
          run.fail("D02", what + " was refused, and " + bind + " is open for it");
        }
      } else if (wasOver) {
        run.fail("D02", what + " was done, and " + bind + " was dead");
      } else if (!isGranted(peer)) {
        run.fail("D02", what + " was done, and " + bind + " does not give that to " + by);
      }
    }
  }

  final Rmr rmr;
  final AdapterBook adapter;
  private final ScriptRun run;
  private final Rmr.Scope scope;
  private final List<Bind> binds = new ArrayList<>();
  private boolean closed;

  RmrBook(final ScriptRun run, final AdapterBook adapter, final Rmr rmr) {
    this.run = run;
    this.adapter = adapter;
    this.rmr = rmr;
    scope = rmr.scope();
  }

  boolean isClosed() {
    return closed;
  }

  /** The bind that was posted last; null if there was none. */
  Bind last() {
    return binds.isEmpty() ? null : binds.get(binds.size() - 1);
  }

  /** A request names a context. */
  Use use(final Bind bind, final Privilege right, final long offset, final long bytes) {
    return new Use(bind, right, offset, bytes);
  }

  /** A bind was posted. */
  Bind posted(
      final EndpointBook at,
      final Lmr lmr,
      final long cookie,
      final long from,
      final long length,
      final Set<Privilege> rights) {
    final Bind before = last();
    final int context = rmr.rmrContext();
    if (closed) {
      run.fail("T03", rmr + ": a bind was accepted after its close");
    }
    if (scope == Rmr.Scope.EP && before != null && before.isOpen() && before.lmr != null) {
      if (lmr != null || before.at != at) {
        run.fail("D01", before + " was bound again, and is open at " + before.at);
      }
    }
    if (lmr != null && run.all.binds.stream().anyMatch(b -> b.context == context)) {
      run.fail("D01", rmr + ": a bind has the context of one before it");
    }
    if (lmr != null
        && (rmr.lmr() != lmr
            || rmr.length() != length
            || rmr.address() != lmr.address() + from
            || !rmr.privileges().equals(rights))) {
      run.fail(
          "D01",
          rmr
              + ": says "
              + rmr.length()
              + " bytes at "
              + rmr.address()
              + " of "
              + rmr.lmr()
              + " with "
              + rmr.privileges()
              + ", not what was asked for");
    }
    binds.forEach(Bind::asksToEnd);
    final Bind bind = new Bind(at, lmr, context, cookie, from, length, rights);
    binds.add(bind);
    if (lmr != null) {
      run.all.binds.add(bind);
    }
    return bind;
  }

  /** Whether it is bound to a region, for sure. */
  boolean holds(final Lmr lmr) {
    return !closed && binds.stream().anyMatch(bind -> bind.lmr == lmr && bind.isOpen());
  }

  void closes() {
    closed = true;
    for (final Bind bind : binds) {
      if (bind.pending && !bind.at.mayHaveSettled(bind.cookie) && !run.isExcused(adapter)) {
        run.fail("T02", rmr + " was closed, and a bind of it is open at " + bind.at);
      }
      bind.endings++;
      bind.over = true;
    }
  }

  /** It could not be closed: an outcome is still to come. */
  void refusedToClose(final Object why) {
    if (binds.stream().noneMatch(bind -> bind.pending) && !run.isExcused(adapter)) {
      run.fail("T02", rmr + " cannot be closed, and no bind of it is open: " + why);
    }
  }

  @Override
  public String toString() {
    return rmr.toString();
  }
}
