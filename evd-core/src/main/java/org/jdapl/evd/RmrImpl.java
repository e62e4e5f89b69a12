package org.jdapl.evd;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.VerbsException;

/**
 * A remote memory region over a memory window of the provider.
 *
 * <p>It knows what the last bind asked for, which posters see, and the regions that the device has
 * or may have bound, as far as completions told. A region is in use while either an open bind or
 * the device has it.
 */
final class RmrImpl extends ObjectBase implements Rmr {

  private static final Privilege[] PRIVILEGES = Privilege.values();
  private static final int LEGAL_FLAGS = CompletionFlags.SUPPRESS | CompletionFlags.BARRIER_FENCE;

  private final PzImpl pz;
  private final Scope scope;
  private MemoryWindow window;

  /** Posters of binds, before the guard of the endpoint's requests. */
  private final PostGuard posters = new PostGuard();

  // Under the monitor of this object, which nobody holds while he calls anything else.
  private boolean closed;
  private LmrImpl asked;
  private long offset;
  private long length;
  private final Set<Privilege> rights = EnumSet.noneOf(Privilege.class);
  private int rkey;

  /** Where the last bind was posted. */
  private Incarnation at;

  private int openBinds;

  /** How many binds failed: one may before the post returned. */
  private int failures;

  private LmrImpl held;

  /** How many open binds were done already, and ended by the peer. */
  private int endedEarly;

  /**
   * Regions of binds that were flushed, or of which nobody can say what became: the device may have
   * done one before its queue pair failed, and have told nobody.
   */
  private final List<LmrImpl> perhaps = new ArrayList<>(0);

  /** Regions of binds that were given up: the device may still do one, after later ones. */
  private final List<LmrImpl> givenUp = new ArrayList<>(0);

  /** Where the peer may end it; and there, under the monitor of that list, its neighbours. */
  volatile BoundRmrs list;

  RmrImpl previous;
  RmrImpl next;

  RmrImpl(final String name, final PzImpl pz, final Scope scope) {
    super(HandleType.RMR, name);
    this.pz = pz;
    this.scope = scope;
  }

  void open(final MemoryWindow created) {
    window = created;
  }

  @Override
  IaImpl ia() {
    return pz.ia();
  }

  // Binding.

  @Override
  public Outcome bind(
      final Lmr lmr,
      final long from,
      final long bytes,
      final Set<Privilege> privileges,
      final Endpoint endpoint,
      final long cookie,
      final Object context,
      final int flags) {
    if (!(endpoint instanceof EndpointImpl own) || own.ia() != ia()) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EP,
          name + ".bind: " + endpoint + " is not an endpoint of " + ia());
    }
    if (privileges == null
        || privileges.contains(Privilege.LOCAL_READ)
        || privileges.contains(Privilege.LOCAL_WRITE)) {
      throw Misuse.argument(
          4, name + ".bind: privileges " + privileges + "; a peer is given REMOTE ones only");
    }
    Misuse.checkFlags(flags, LEGAL_FLAGS, 8, DtoOperation.BIND_MW, name);
    posters.lock();
    try {
      return bind(own.now(), lmr, from, bytes, privileges, cookie, context, flags);
    } finally {
      posters.unlock();
    }
  }

  private Outcome bind(
      final Incarnation endpoint,
      final Lmr lmr,
      final long from,
      final long bytes,
      final Set<Privilege> privileges,
      final long cookie,
      final Object context,
      final int flags) {
    endpoint.checkTakesBinds(this);
    endpoint.checkMayPost(this);
    final WorkQueue requests = endpoint.requests();
    requests.lock();
    try {
      endpoint.checkTakesPosts(this);
      if (requests.isFull()) {
        return Outcome.INSUFFICIENT_RESOURCES;
      }
      final LmrImpl region = bytes == 0 ? null : region(lmr, endpoint, from, bytes, privileges);
      final BindRequest bind = requests.bindRequest();
      bind.fence = (flags & CompletionFlags.BARRIER_FENCE) != 0;
      bind.window = window;
      bind.region = region == null ? null : region.mr();
      bind.address = region == null ? 0 : region.start() + from;
      bind.length = bytes;
      bind.access = requests.access(privileges);
      final boolean suppress = (flags & CompletionFlags.SUPPRESS) != 0;
      return post(endpoint, region, from, bytes, privileges, cookie, context, suppress);
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ".bind", e);
    } finally {
      requests.unlock();
    }
  }

  private LmrImpl region(
      final Lmr lmr,
      final Incarnation endpoint,
      final long from,
      final long bytes,
      final Set<Privilege> privileges) {
    if (!(lmr instanceof LmrImpl region) || region.ia() != ia()) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_LMR,
          name + ".bind: " + lmr + " is not a region of the adapter");
    }
    region.checkUse(endpoint.pz(), from, bytes, null, name);
    for (final Privilege privilege : PRIVILEGES) {
      if (privileges.contains(privilege)) {
        region.checkUse(endpoint.pz(), from, bytes, privilege, name);
      }
    }
    return region;
  }

  /** Posts the bind that was filled in. Under the guard of the endpoint's requests. */
  private Outcome post(
      final Incarnation endpoint,
      final LmrImpl region,
      final long from,
      final long bytes,
      final Set<Privilege> privileges,
      final long cookie,
      final Object context,
      final boolean suppress) {
    final int failuresBefore = begin(endpoint, bytes);
    int errno = -1;
    try {
      errno = endpoint.requests().postBind(endpoint.qp(), this, region, cookie, context, suppress);
    } finally {
      if (errno == 0) {
        posted(endpoint, region, from, bytes, privileges, failuresBefore);
      } else {
        cancel();
      }
    }
    return endpoint.outcome(errno, DtoOperation.BIND_MW);
  }

  /**
   * A bind is about to be posted.
   *
   * @return how many failed so far.
   */
  private synchronized int begin(final Incarnation endpoint, final long bytes) {
    checkOpen("bind");
    if (endpoint.pz() != pz) {
      throw new DatException(
          ReturnType.PROTECTION_VIOLATION,
          ReturnSubtype.NO_SUBTYPE,
          name + ".bind: it belongs to " + pz + ", " + endpoint + " to " + endpoint.pz());
    }
    if (openBinds > 0 && at != endpoint) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          name + ".bind: a bind of it is open at " + at + "; wait for its completion");
    }
    checkMayBindAgain(endpoint, bytes);
    openBinds++;
    return failures;
  }

  private void checkMayBindAgain(final Incarnation endpoint, final long bytes) {
    final boolean bound = asked != null || !perhaps.isEmpty() || (openBinds == 0 && held != null);
    if (!bound && bytes == 0) {
      throw Misuse.state(ReturnSubtype.NO_SUBTYPE, name + ".bind of length 0: it is not bound");
    }
    if (scope == Scope.EP && bound && (bytes > 0 || at != endpoint)) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE,
          name
              + ".bind: it is bound at "
              + at
              + (at == at.endpoint().now()
                  ? "; unbind it there first, by a bind of length 0"
                  : ", which has ended; close it, and create another one"));
    }
  }

  /** Nothing was posted. */
  private synchronized void cancel() {
    openBinds--;
  }

  /** A bind was posted; it may have completed already. */
  void posted(
      final Incarnation endpoint,
      final LmrImpl region,
      final long from,
      final long bytes,
      final Set<Privilege> privileges,
      final int failuresBefore) {
    removeFromList();
    final int key;
    try {
      key = window.rkey();
    } catch (final VerbsException e) {
      if (isClosed()) {
        return; // by who was told of its completion already
      }
      throw e;
    }
    synchronized (this) {
      at = endpoint;
      rkey = key;
      ask(failures == failuresBefore ? region : null, from, bytes, privileges);
    }
    if (scope == Scope.EP && region != null) {
      endpoint.bound().add(this);
      if (isClosed()) {
        removeFromList();
      }
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private void removeFromList() {
    final BoundRmrs last = list;
    if (last != null) {
      last.remove(this);
    }
  }

  private void ask(
      final LmrImpl region, final long from, final long bytes, final Set<Privilege> privileges) {
    asked = region;
    offset = from;
    length = region == null ? 0 : bytes;
    rights.clear();
    if (region != null) {
      rights.addAll(privileges);
    }
  }

  /** A bind is done: the device has a region bound now, or none if it is null. */
  synchronized void onDone(final LmrImpl region) {
    openBinds--;
    perhaps.clear();
    if (region != null && endedEarly > 0) {
      endedEarly--;
      held = null;
    } else {
      held = region;
    }
  }

  /** A bind failed, or was flushed: it is not counted on, and may have been done. */
  synchronized void onFailed(final LmrImpl region) {
    failures++;
    openBinds--;
    mayHave(perhaps, region);
    if (openBinds == 0) {
      ask(null, 0, 0, Set.of());
    }
  }

  /** What became of a bind nobody can say. */
  synchronized void onUnknown(final LmrImpl region) {
    openBinds--;
    mayHave(perhaps, region);
    mayHave(givenUp, region);
  }

  private static void mayHave(final List<LmrImpl> regions, final LmrImpl region) {
    if (region != null && !regions.contains(region)) {
      regions.add(region);
    }
  }

  /** A message of the peer ended it. */
  synchronized void onInvalidated() {
    if (held == null) {
      endedEarly++;
    }
    held = null;
    ask(null, 0, 0, Set.of());
  }

  /** Whether a context is that of the last bind. */
  synchronized boolean isLast(final int context) {
    return asked != null && rkey == context;
  }

  /** Whether the device may have it bound to a region; an open bind of it uses that as well. */
  synchronized boolean mayBeBoundTo(final LmrImpl region) {
    return held == region || perhaps.contains(region) || givenUp.contains(region);
  }

  // Reading into it.

  /**
   * Checks that an endpoint may read into a part of the window. Under the guard of its requests.
   *
   * @return that part of the region, both as the same bind says.
   */
  synchronized Segments checkRead(
      final Incarnation endpoint, final long from, final long bytes, final String user) {
    checkOpen("use by " + user);
    if (endpoint.pz() != pz || (scope == Scope.EP && asked != null && at != endpoint)) {
      throw new DatException(
          ReturnType.PROTECTION_VIOLATION,
          ReturnSubtype.PROTECTION_WRITE,
          user + ": " + name + " belongs to " + (endpoint.pz() == pz ? at : pz));
    }
    if (asked == null) {
      throw Misuse.state(
          ReturnSubtype.NO_SUBTYPE, user + ": " + name + " is not bound; bind it first");
    }
    if (!rights.contains(Privilege.REMOTE_WRITE)) {
      throw new DatException(
          ReturnType.PRIVILEGES_VIOLATION,
          ReturnSubtype.PRIVILEGES_WRITE,
          user + ": " + name + " lacks REMOTE_WRITE, it has " + rights);
    }
    if (from < 0 || bytes < 0 || bytes > length - from) {
      throw new DatException(
          ReturnType.LENGTH_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          user
              + ": "
              + bytes
              + " bytes at "
              + from
              + " are not inside the "
              + length
              + " of "
              + name);
    }
    return endpoint.requests().single(asked, offset + from, bytes);
  }

  // Asking.

  @Override
  public ProtectionZone pz() {
    return pz;
  }

  @Override
  public Scope scope() {
    return scope;
  }

  @Override
  public synchronized Lmr lmr() {
    return asked;
  }

  @Override
  public synchronized long address() {
    return asked == null ? 0 : asked.start() + offset;
  }

  @Override
  public synchronized long length() {
    return length;
  }

  @Override
  public synchronized Set<Privilege> privileges() {
    return rights.isEmpty() ? Set.of() : EnumSet.copyOf(rights);
  }

  @Override
  public synchronized int rmrContext() {
    checkOpen("rmrContext");
    return rkey;
  }

  private void checkOpen(final String call) {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_RMR, this, call);
    }
  }

  // Closing.

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      if (openBinds > 0) {
        throw Misuse.state(
            ReturnSubtype.NO_SUBTYPE,
            name + ".close: a bind of it is open at " + at + "; wait for its completion");
      }
      closed = true;
    }
    release();
  }

  /** Closes it whatever is open: its endpoints were drained or given up. */
  void closeAbruptly() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    release();
  }

  private void release() {
    removeFromList();
    try {
      pz.ia().destroy(name, this::destroy);
    } finally {
      pz.ia().remove(this);
    }
  }

  /** Until it is done, what it may be bound to is in use. */
  private void destroy() {
    window.close();
    pz.removeUser(this);
  }
}
