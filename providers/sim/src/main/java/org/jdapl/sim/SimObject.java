package org.jdapl.sim;

import org.jdapl.verbs.VerbsException;

/** What all objects of a device share: a name, its place in the device's table, one end. */
abstract class SimObject implements AutoCloseable {

  final SimDevice device;
  final SimFabric fabric;
  private final String name;
  private volatile boolean closed;

  /** Called holding the wire; opens it, before anything is changed. */
  SimObject(final SimDevice device, final String name, final Object... uses) {
    this.device = device;
    this.fabric = device.fabric();
    this.name = device.name() + "/" + name;
    device.objects().add(this, uses);
  }

  final boolean isClosed() {
    return closed;
  }

  /** Ends it, once. */
  @Override
  public void close() {
    device.objects().close(this, this::end);
  }

  private void end() {
    closed = true;
    release();
  }

  /** Called once, holding the wire. */
  void release() {}

  final VerbsException invalid(final String verb, final String detail) {
    return VerbsException.invalid(verb, name, detail);
  }

  @Override
  public String toString() {
    return name;
  }
}
