package org.jdapl.rdmacore;

import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.verbs.VerbsException;

/**
 * What has an id of the connection manager (rdma_cm_id): a pointer that is used under the monitor
 * of this object and not after its end, and a token that its events come with.
 */
abstract class CmObject {

  final RdmaDevice device;
  final Upcalls upcalls = new Upcalls();
  private final long token;
  private final String name;

  /** Held by the end that is under way, before all other monitors: the next one waits for it. */
  private final Object ending = new Object();

  private long pointer; // under the monitor of this object
  private volatile boolean ended; // written under the monitor of this object

  CmObject(final RdmaDevice device, final String name) {
    this.device = device;
    this.name = device.name() + "/" + name;
    token = Registry.OBJECTS.add(this);
  }

  final long token() {
    return token;
  }

  /**
   * Creates the id; refused once this ended, as the end of the device ends it. Called holding the
   * monitor, and what uses the id follows before it is let go.
   */
  final void create() {
    checkNotEnded("create_id");
    pointer = Results.check(device.createId(token), "create_id", this, "");
  }

  /** Called holding the monitor. */
  final void checkNotEnded(final String verb) {
    if (ended) {
      throw new VerbsException(verb, name, VerbsException.ENODEV, "the device is closed");
    }
  }

  /** The id is this object's to destroy from here on. */
  final synchronized void own(final long id) {
    pointer = id;
  }

  /** The id, or 0 if there is none any more. Called holding the monitor. */
  final long pointer() {
    return pointer;
  }

  final boolean isEnded() {
    return ended;
  }

  /** The id is another object's from now on, or its caller's to destroy. */
  final synchronized void disown() {
    pointer = 0;
    ended = true;
    Registry.OBJECTS.remove(token);
  }

  /** There is no device for it. */
  final synchronized void forget() {
    ended = true;
    Registry.OBJECTS.remove(token);
    if (pointer != 0) {
      Cm.destroyId(pointer);
      pointer = 0;
    }
  }

  /**
   * An event of the id came; called on the thread that awaits.
   *
   * @return the number of handler calls made.
   */
  abstract int onEvent(CmEvents event);

  /** Its device ends, and it with it. */
  void endWithDevice() {
    end();
  }

  /** Destroys the id, once. A barrier: no event of it is handed over when this returned. */
  final void end() {
    upcalls.refuseInside("destroy_id", this);
    synchronized (ending) {
      endOnce();
    }
  }

  private void endOnce() {
    synchronized (this) {
      if (ended) {
        return;
      }
      ended = true;
    }
    upcalls.close();
    final int result;
    synchronized (this) {
      result = pointer == 0 ? 0 : Cm.destroyId(pointer);
      if (result < 0 && !Results.isGone(result)) {
        ended = false;
      } else {
        pointer = 0;
      }
    }
    if (result < 0 && !Results.isGone(result)) {
      upcalls.reopen();
      throw new VerbsException("destroy_id", name, -result, "it stays as it was");
    }
    Registry.OBJECTS.remove(token);
    device.remove(this);
  }

  @Override
  public String toString() {
    return name;
  }
}
