package org.jdapl.evd;

import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Set;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.verbs.MemoryRegion;

/** A local memory region over a memory region of the provider. */
final class LmrImpl extends ObjectBase implements Lmr {

  private final PzImpl pz;
  private final ByteBuffer buffer;
  private final Set<Privilege> privileges;
  private MemoryRegion mr;
  private long address;
  private int lkey;

  /** Written under the monitor of this object; posts look without. */
  private volatile boolean closed;

  LmrImpl(
      final String name,
      final PzImpl pz,
      final ByteBuffer buffer,
      final Set<Privilege> privileges) {
    super(HandleType.LMR, name);
    this.pz = pz;
    this.buffer = buffer.duplicate().order(buffer.order());
    this.privileges = Collections.unmodifiableSet(privileges);
  }

  void open(final MemoryRegion region) {
    mr = region;
    address = region.address();
    lkey = region.lkey();
  }

  MemoryRegion mr() {
    return mr;
  }

  /** Where it starts, also when it is closed. */
  long start() {
    return address;
  }

  int lkey() {
    return lkey;
  }

  /** Whether an endpoint of a zone may use a part of this region, for what if it is not null. */
  void checkUse(
      final PzImpl zone,
      final long offset,
      final long length,
      final Privilege need,
      final String user) {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_LMR, this, "use by " + user);
    }
    final boolean write = need == Privilege.LOCAL_WRITE || need == Privilege.REMOTE_WRITE;
    if (zone != pz) {
      throw new DatException(
          ReturnType.PROTECTION_VIOLATION,
          write ? ReturnSubtype.PROTECTION_WRITE : ReturnSubtype.PROTECTION_READ,
          user + ": " + name + " belongs to " + pz + ", the endpoint to " + zone);
    }
    if (need != null && !privileges.contains(need)) {
      throw new DatException(
          ReturnType.PRIVILEGES_VIOLATION,
          write ? ReturnSubtype.PRIVILEGES_WRITE : ReturnSubtype.PRIVILEGES_READ,
          user + ": " + name + " lacks " + need + ", it has " + privileges);
    }
    if (offset < 0 || length < 0 || length > buffer.capacity() - offset) {
      throw new DatException(
          ReturnType.LENGTH_ERROR,
          ReturnSubtype.NO_SUBTYPE,
          user
              + ": "
              + length
              + " bytes at "
              + offset
              + " are not inside the "
              + buffer.capacity()
              + " bytes of "
              + name);
    }
  }

  @Override
  IaImpl ia() {
    return pz.ia();
  }

  @Override
  public ProtectionZone pz() {
    return pz;
  }

  @Override
  public Set<Privilege> privileges() {
    return privileges;
  }

  @Override
  public ByteBuffer buffer() {
    checkOpen("buffer");
    return buffer.duplicate().order(buffer.order());
  }

  @Override
  public long length() {
    return buffer.capacity();
  }

  @Override
  public long address() {
    checkOpen("address");
    return address;
  }

  @Override
  public int rmrContext() {
    checkOpen("rmrContext");
    return mr.rkey();
  }

  private void checkOpen(final String call) {
    if (closed) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_LMR, this, call);
    }
  }

  @Override
  public void close() {
    synchronized (this) { // another close waits for what this one finds
      if (closed) {
        return;
      }
      DatObject user = this; // if it cannot be found out
      closed = true; // no post starts to use it from here on
      try {
        user = pz.userOf(this);
      } finally {
        closed = user == null;
      }
      if (user != null) {
        throw Misuse.state(
            ReturnSubtype.INVALID_STATE_LMR_IN_USE,
            name
                + ".close: "
                + (user instanceof RmrImpl
                    ? user + " is bound to it, or a bind was flushed; unbind or close that"
                    : "an open request of "
                        + user
                        + " uses it, or a post there does not return; close it again after that"));
      }
    }
    deregister();
  }

  /**
   * Ends the registration whoever uses it: its endpoints were drained or given up. Not while a
   * queue pair can still reach it, because the call that is to stop it is stuck. Waits for a close
   * that looks for users, which has a bound.
   */
  void closeAbruptly() {
    pz.checkStopped(name + ".close");
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    deregister();
  }

  private void deregister() {
    try {
      pz.ia().destroy(name, mr::close);
    } finally {
      pz.removeUser(this);
      pz.ia().remove(this);
    }
  }

  @Override
  public String toString() {
    return name + "(" + buffer.capacity() + " bytes)";
  }
}
