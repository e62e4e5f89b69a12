package org.jdapl.examples.socket;

import org.jdapl.verbs.VerbsException;

/** What all objects of a device share: a name, users, and one end. Guarded by the device's lock. */
abstract class SocketObject implements AutoCloseable {

  final SocketDevice device;
  boolean closed;
  private final String name;
  private int users;

  SocketObject(final SocketDevice device, final String name) {
    this.device = device;
    this.name = device.name() + "/" + name;
  }

  final void use(final int change) {
    users += change;
  }

  /** Called once, holding the lock. */
  abstract void release();

  // tag::close[]
  @Override
  public void close() {
    synchronized (device.lock) {
      if (!closed) {
        device.refuseInside(this);
        if (users > 0) {
          throw error("destroy", VerbsException.EBUSY, users + " objects use it; close them first");
        }
        closed = true;
        device.remove(this);
        release();
      }
      device.awaitHandler(this);
    }
  }

  // end::close[]

  final VerbsException error(final String verb, final int errno, final String detail) {
    return new VerbsException(verb, name, errno, detail);
  }

  @Override
  public String toString() {
    return name;
  }
}
