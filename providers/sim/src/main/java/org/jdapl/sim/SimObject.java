package org.jdapl.sim;

import org.jdapl.verbs.VerbsException;

/** What all objects of a device share: a name, its place in the device's counts, one end. */
abstract class SimObject implements AutoCloseable {

  /** The kinds a device counts. */
  enum Kind {
    PD("protection domains", "dealloc_pd"),
    MR("memory regions", "dereg_mr"),
    MW("memory windows", "dealloc_mw"),
    CQ("completion queues", "destroy_cq"),
    SRQ("shared receive queues", "destroy_srq"),
    QP("queue pairs", "destroy_qp");

    final String plural;
    final String destroy;

    Kind(final String plural, final String destroy) {
      this.plural = plural;
      this.destroy = destroy;
    }
  }

  final SimDevice device;
  final SimFabric fabric;
  private final Kind kind;
  private final String name;
  private volatile boolean closed;

  /** Called holding the wire. */
  SimObject(final SimDevice device, final Kind kind, final String name) {
    this.device = device;
    this.fabric = device.fabric();
    this.kind = kind;
    this.name = device.name() + "/" + name;
  }

  final boolean isClosed() {
    return closed;
  }

  /** Ends it, once. */
  @Override
  public void close() {
    synchronized (fabric.wire) {
      if (closed) {
        return;
      }
      final String user = user();
      if (user != null) {
        throw new VerbsException(
            kind.destroy, name, VerbsException.EBUSY, user + " uses it; close that first");
      }
      closed = true;
      release();
      device.removed(kind);
    }
  }

  /** Who uses it, or null. Called holding the wire. */
  String user() {
    return null;
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
