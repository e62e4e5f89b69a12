package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.Segments;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.VerbsException;

/** A protection zone over a protection domain. */
final class PzImpl extends ObjectBase implements ProtectionZone {

  private final IaImpl ia;
  private final ProtectionDomain pd;

  // Under the monitor of this object.
  private final Set<DatObject> users = new LinkedHashSet<>();
  private boolean closed;

  PzImpl(final String name, final IaImpl ia, final ProtectionDomain pd) {
    super(HandleType.PZ, name);
    this.ia = ia;
    this.pd = pd;
  }

  @Override
  public Lmr createLmr(final ByteBuffer buffer, final Privilege... privileges) {
    if (buffer == null || !buffer.isDirect() || buffer.capacity() == 0) {
      throw Misuse.argument(
          1,
          name
              + ".createLmr: "
              + buffer
              + " cannot be registered; it takes a direct buffer of at least one byte,"
              + " ByteBuffer.allocateDirect makes one");
    }
    final EnumSet<Privilege> rights = EnumSet.noneOf(Privilege.class);
    final EnumSet<Access> access = EnumSet.noneOf(Access.class);
    if (privileges == null || Arrays.asList(privileges).contains(null)) {
      throw Misuse.argument(
          2, name + ".createLmr: privileges " + Arrays.toString(privileges) + "; none is null");
    }
    for (final Privilege privilege : privileges) {
      rights.add(privilege);
      switch (privilege) {
        case LOCAL_READ -> {}
        case LOCAL_WRITE -> access.add(Access.LOCAL_WRITE);
        case REMOTE_READ -> access.add(Access.REMOTE_READ);
        case REMOTE_WRITE -> {
          access.add(Access.REMOTE_WRITE);
          access.add(Access.LOCAL_WRITE);
        }
        case REMOTE_ATOMIC -> {
          access.add(Access.REMOTE_ATOMIC);
          access.add(Access.LOCAL_WRITE);
        }
      }
    }
    if (buffer.isReadOnly() && access.contains(Access.LOCAL_WRITE)) {
      throw Misuse.argument(
          1, name + ".createLmr: " + buffer + " is read-only, and " + rights + " would be written");
    }
    if (ia.device().limits().maxMw() > 0) {
      access.add(Access.MW_BIND);
    }
    return ia.create(name + ".createLmr", () -> newLmr(buffer, rights, access));
  }

  private LmrImpl newLmr(
      final ByteBuffer buffer, final Set<Privilege> rights, final Set<Access> access) {
    final LmrImpl lmr = new LmrImpl(ia.nameFor("lmr"), this, buffer, rights);
    addUser(lmr);
    boolean opened = false;
    try {
      final MemoryRegion mr = ia.device().regMr(pd, buffer, access);
      lmr.open(mr);
      opened = true;
    } catch (final VerbsException e) {
      throw Misuse.failed(
          name + ".createLmr of " + buffer.capacity() + " bytes",
          e,
          ReturnSubtype.RESOURCE_MEMORY_REGION);
    } finally {
      if (!opened) {
        removeUser(lmr);
      }
    }
    return lmr;
  }

  @Override
  public Rmr createRmr() {
    return createRmr(Rmr.Scope.PZ, name + ".createRmr");
  }

  @Override
  public Rmr createRmrForEndpoint() {
    return createRmr(Rmr.Scope.EP, name + ".createRmrForEndpoint");
  }

  private Rmr createRmr(final Rmr.Scope scope, final String call) {
    return ia.create(
        call,
        () -> {
          final RmrImpl rmr = new RmrImpl(ia.nameFor("rmr"), this, scope);
          addUser(rmr);
          boolean opened = false;
          try {
            rmr.open(
                ia.device().allocMw(pd, scope == Rmr.Scope.PZ ? MwType.TYPE_1 : MwType.TYPE_2));
            opened = true;
          } catch (final VerbsException e) {
            throw Misuse.failed(call, e, ReturnSubtype.RESOURCE_MEMORY_REGION);
          } finally {
            if (!opened) {
              removeUser(rmr);
            }
          }
          return rmr;
        });
  }

  /**
   * Checks segments of a request and puts them into it.
   *
   * @param used where the regions are remembered until it completes, from an index on.
   * @param most how many segments it may have.
   * @param user posts it.
   * @return bytes in all.
   */
  long use(
      final Segments segments,
      final SgeList into,
      final LmrImpl[] used,
      final int from,
      final int most,
      final Privilege need,
      final String user) {
    final int count = segments.count();
    if (count > most) {
      throw Misuse.argument(
          1, user + ": " + count + " segments are more than the " + most + " of its attributes");
    }
    into.clearSge();
    Arrays.fill(used, from, from + most, null);
    long total = 0;
    for (int i = 0; i < count; i++) {
      if (!(segments.lmr(i) instanceof LmrImpl region)) {
        throw Misuse.handle(
            ReturnSubtype.INVALID_HANDLE_LMR,
            user + ": the region, or the list of segments, is " + segments.lmr(i));
      }
      final long offset = segments.offset(i);
      final long length = segments.length(i);
      region.checkUse(this, offset, length, need, user);
      used[from + i] = region;
      into.addSge(region.address() + offset, (int) length, region.lkey());
      total += length;
    }
    final long longest = ia.device().limits().maxMessageBytes();
    if (total > longest) {
      throw new DatException(
          ReturnType.LENGTH_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          user + ": " + total + " bytes are more than the " + longest + " of a message");
    }
    return total;
  }

  /** Who of this zone has an open request that uses a region, or is bound to it; or null. */
  DatObject userOf(final LmrImpl lmr) {
    final List<DatObject> all = users();
    for (final DatObject user : all) {
      if ((user instanceof EndpointImpl endpoint && endpoint.now().uses(lmr))
          || (user instanceof SrqImpl srq && srq.uses(lmr))) {
        return user;
      }
    }
    for (final DatObject user : all) { // afterwards: an open bind that is done is one of these
      if (user instanceof RmrImpl rmr && rmr.mayBeBoundTo(lmr)) {
        return user;
      }
    }
    return null;
  }

  /** Checks that no queue pair of this zone moves data. */
  void checkStopped(final String call) {
    for (final DatObject user : users()) {
      if (user instanceof EndpointImpl endpoint && !endpoint.now().drain().isStopped()) {
        throw Misuse.state(
            ReturnSubtype.INVALID_STATE_LMR_IN_USE,
            call + ": the queue pair of " + user + " could not be stopped yet");
      }
    }
  }

  /** A copy: a guard that somebody holds for long is looked at without this monitor. */
  private synchronized List<DatObject> users() {
    return List.copyOf(users);
  }

  synchronized void addUser(final DatObject user) {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_PZ, this, "use by " + user.name());
    }
    users.add(user);
  }

  synchronized void removeUser(final DatObject user) {
    users.remove(user);
  }

  @Override
  public void close() {
    synchronized (this) {
      if (!users.isEmpty()) {
        throw Misuse.inUse(ReturnSubtype.INVALID_STATE_PZ_IN_USE, name, users);
      }
      if (closed) {
        return;
      }
      closed = true;
    }
    try {
      ia.destroy(name, pd::close);
    } finally {
      ia.remove(this);
    }
  }

  ProtectionDomain pd() {
    return pd;
  }

  @Override
  IaImpl ia() {
    return ia;
  }
}
