package org.jdapl.rdmacore;

import org.jdapl.verbs.VerbsException;

/**
 * What all objects of a device share: a pointer that nobody uses after its end, a name, and those
 * it is built on, which cannot end before it.
 *
 * <p>A verb runs while the monitor that guards its pointer is held, and the end of the object takes
 * that monitor before anything is destroyed: no verb meets a dangling pointer.
 */
abstract class RdmaObject implements AutoCloseable {

  /** The kinds a device counts. */
  enum Kind {
    PD("protection domains", "alloc_pd", "dealloc_pd"),
    MR("memory regions", "reg_mr", "dereg_mr"),
    MW("memory windows", "alloc_mw", "dealloc_mw"),
    CQ("completion queues", "create_cq", "destroy_cq"),
    SRQ("shared receive queues", "create_srq", "destroy_srq"),
    QP("queue pairs", "create_qp", "destroy_qp");

    final String plural;
    final String create;
    final String destroy;

    Kind(final String plural, final String create, final String destroy) {
      this.plural = plural;
      this.create = create;
      this.destroy = destroy;
    }
  }

  private static final int ENOSPC = 28;

  final RdmaDevice device;
  final Kind kind;
  final long token;
  private final String name;
  private final RdmaObject[] uses;
  final Upcalls upcalls = new Upcalls();

  /** Held by the close that is under way, before all other monitors: the next one waits for it. */
  private final Object closing = new Object();

  // Under the monitor of the device's objects.
  private int users;
  private boolean ended;

  /** The pointer; 0 before and after its life. Written holding all monitors that guard it. */
  private volatile long pointer;

  RdmaObject(final RdmaDevice device, final Kind kind, final RdmaObject... uses) {
    this.device = device;
    this.kind = kind;
    this.uses = uses;
    name = device.nameFor(kind);
    token = Registry.OBJECTS.add(this);
    try {
      device.begin(this);
    } catch (final Throwable e) {
      Registry.OBJECTS.remove(token);
      throw e;
    }
  }

  /** Takes hold of what it uses. Called holding the monitor of the device's objects. */
  void hold(final String verb) {
    for (final RdmaObject used : uses) {
      if (used.ended) {
        throw device.invalid(verb, used + " is closed");
      }
    }
    for (final RdmaObject used : uses) {
      used.users++;
    }
  }

  /**
   * The object was created, or could not be. From the begin to here nothing may throw: what is said
   * of a failure is made after it.
   *
   * @return whether it was created.
   */
  final boolean opened(final long result) {
    if (result < 0) {
      synchronized (device.objects) {
        ended = true;
      }
      letGo();
      return false;
    }
    pointer = result;
    return true;
  }

  /**
   * What to throw when the object could not be created. Drivers have several errnos for no room.
   */
  final VerbsException notCreated(final long result, final String detail) {
    final int errno = (int) -result;
    return errno == ENOSPC || errno == VerbsException.EAGAIN
        ? new VerbsException(
            kind.create, device.name(), VerbsException.ENOMEM, detail + "; errno " + errno)
        : new VerbsException(kind.create, device.name(), errno, detail);
  }

  private void letGo() {
    Registry.OBJECTS.remove(token);
    synchronized (device.objects) {
      for (final RdmaObject used : uses) {
        used.users--;
      }
      device.end(this);
    }
  }

  /** The pointer, if it is alive. The caller holds a monitor that guards it, or a user of it. */
  final long pointer(final String verb) {
    final long alive = pointer;
    if (alive == 0) {
      throw new VerbsException(verb, name, VerbsException.EINVAL, "it is closed");
    }
    return alive;
  }

  /** The pointer as with {@link #pointer}, or 0: a post is refused by its result. */
  final long pointerOrNull() {
    return pointer;
  }

  final boolean isClosed() {
    return pointer == 0;
  }

  /** Sets the pointer, holding all monitors that guard it. */
  void guard(final long value) {
    synchronized (this) {
      pointer = value;
    }
  }

  /** For {@link #guard}. */
  final void set(final long value) {
    pointer = value;
  }

  /** Destroys what the pointer points to. */
  abstract int destroy(long alive);

  @Override
  public final void close() {
    upcalls.refuseInside(kind.destroy, this);
    synchronized (closing) {
      closeOnce();
    }
  }

  private void closeOnce() {
    synchronized (device.objects) {
      if (ended) {
        return;
      }
      if (users > 0) {
        throw new VerbsException(
            kind.destroy, name, VerbsException.EBUSY, users + " objects use it; close those first");
      }
      ended = true;
    }
    upcalls.close();
    final long alive = pointer;
    guard(0);
    int result = -VerbsException.ENOMEM; // if memory runs out before the device is asked
    try {
      result = destroy(alive);
    } finally {
      if (result < 0 && !Results.isGone(result)) {
        guard(alive);
        upcalls.reopen();
        synchronized (device.objects) {
          ended = false;
        }
      }
    }
    if (result < 0 && !Results.isGone(result)) {
      throw new VerbsException(kind.destroy, name, -result, "it stays as it was");
    }
    letGo();
  }

  @Override
  public String toString() {
    return name;
  }
}
