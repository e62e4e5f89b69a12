package org.jdapl.verbs;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The open objects of a device, for a provider that has no other table of them (what a kernel keeps
 * for an ibv_context): whose an object is, what it is made with, how many there may be, and that no
 * handler of it runs once it is closed. Every method but {@link #call} may be called holding the
 * lock.
 */
public final class ObjectTable {

  private enum Kind {
    PD(ProtectionDomain.class, "protection domains", "alloc_pd", "dealloc_pd"),
    MR(MemoryRegion.class, "memory regions", "reg_mr", "dereg_mr"),
    MW(MemoryWindow.class, "memory windows", "alloc_mw", "dealloc_mw"),
    CQ(CompletionQueue.class, "completion queues", "create_cq", "destroy_cq"),
    SRQ(SharedReceiveQueue.class, "shared receive queues", "create_srq", "destroy_srq"),
    QP(QueuePair.class, "queue pairs", "create_qp", "destroy_qp"),
    ID(Object.class, "ids", "create_id", "destroy_id");

    private final Class<?> type;
    private final String plural;
    private final String create;
    private final String destroy;

    Kind(final Class<?> type, final String plural, final String create, final String destroy) {
      this.type = type;
      this.plural = plural;
      this.create = create;
      this.destroy = destroy;
    }

    private int limit(final DeviceLimits limits) {
      return switch (this) {
        case PD -> limits.maxPd();
        case MR -> limits.maxMr();
        case MW -> limits.maxMw();
        case CQ -> limits.maxCq();
        case SRQ -> limits.maxSrq();
        case QP -> limits.maxQp();
        case ID -> Integer.MAX_VALUE;
      };
    }

    private static Kind of(final Object object) {
      for (final Kind kind : values()) {
        if (kind.type.isInstance(object)) {
          return kind;
        }
      }
      throw new IllegalArgumentException("null; expected an object of verbs");
    }
  }

  private static final class Entry {
    private final Kind kind;
    private final Object[] uses;
    private final List<Thread> callers = new ArrayList<>(); // of its handlers
    private int users;
    private boolean closed; // it stays until no handler of it runs

    private Entry(final Kind kind, final Object[] uses) {
      this.kind = kind;
      this.uses = uses;
    }

    private boolean isMadeWith(final Object object) {
      return Stream.of(uses).anyMatch(used -> used == object);
    }
  }

  private final Device device;
  private final Object lock;
  private final IdentityHashMap<Object, Entry> entries = new IdentityHashMap<>();
  private final Map<Kind, Integer> counts = new EnumMap<>(Kind.class);
  private boolean closed;

  /**
   * The table of a device that is open and has no objects.
   *
   * @param device whose {@link Device#name} is in messages, and whose {@link Device#limits} count.
   * @param lock guards the table: the lock that the provider's verbs hold.
   */
  public ObjectTable(final Device device, final Object lock) {
    this.device = device;
    this.lock = lock;
  }

  /**
   * Opens an object.
   *
   * @param <T> its type.
   * @param object of any of the SPI's types; it counts where {@link DeviceLimits} has a number.
   * @param uses what it is made with, which cannot be closed before it.
   * @return the object.
   * @throws VerbsException with ENODEV if the device is closed; with EINVAL unless all that it uses
   *     is open and of this device; with ENOMEM if there are as many as the device has room for.
   */
  public <T> T add(final T object, final Object... uses) {
    final Kind kind = Kind.of(object);
    synchronized (lock) {
      checkOpen(kind.create);
      for (final Object used : uses) {
        own(kind.create, Object.class, used);
      }
      final int limit = kind.limit(device.limits());
      if (counts.getOrDefault(kind, 0) >= limit) {
        throw new VerbsException(
            kind.create,
            device.name(),
            VerbsException.ENOMEM,
            "there are " + limit + " " + kind.plural + "; close one first");
      }
      counts.merge(kind, 1, Integer::sum);
      for (final Object used : uses) {
        entries.get(used).users++;
      }
      entries.put(object, new Entry(kind, uses.clone()));
      return object;
    }
  }

  /** A domain of software: nothing but what regions and queue pairs are compared by. */
  private final class Domain implements ProtectionDomain {
    @Override
    public void close() {
      ObjectTable.this.close(this, () -> {});
    }
  }

  /**
   * Opens a protection domain that has no more to it than to be open.
   *
   * @return the domain, whose {@link ProtectionDomain#close} is {@link #close} of this table.
   * @throws VerbsException as {@link #add}.
   */
  public ProtectionDomain addPd() {
    return add(new Domain());
  }

  /**
   * Checks an object that is given to a verb.
   *
   * @param <T> the type that it must have.
   * @param verb the verb, for the message.
   * @param type the type that it must have.
   * @param object the object, or null.
   * @return the object.
   * @throws VerbsException with ENODEV if the device is closed; with EINVAL unless it is an open
   *     object of this device.
   */
  public <T> T own(final String verb, final Class<T> type, final Object object) {
    synchronized (lock) {
      checkOpen(verb);
      if (!type.isInstance(object) || !isOpen(object)) {
        throw VerbsException.invalid(
            verb, device.name(), object + "; expected an open object of this device");
      }
      return type.cast(object);
    }
  }

  /**
   * Checks that the device is open.
   *
   * @param verb the verb, for the message.
   * @throws VerbsException with ENODEV if it is closed.
   */
  public void checkOpen(final String verb) {
    if (isClosed()) {
      throw new VerbsException(verb, device.name(), VerbsException.ENODEV, "the device is closed");
    }
  }

  /**
   * Whether the device is closed.
   *
   * @return true since {@link #end}.
   */
  public boolean isClosed() {
    synchronized (lock) {
      return closed;
    }
  }

  /**
   * Whether an object is open.
   *
   * @param object any object.
   * @return false before {@link #add} and since {@link #close}.
   */
  public boolean isOpen(final Object object) {
    synchronized (lock) {
      final Entry entry = entries.get(object);
      return entry != null && !entry.closed;
    }
  }

  /**
   * Calls a handler of an object without the lock, if the object is open. Whether two calls of one
   * object may run at once is up to the caller.
   *
   * @param object whose handler it is.
   * @param handler the call.
   * @return whether it was made.
   */
  public boolean call(final Object object, final Runnable handler) {
    final Entry entry;
    synchronized (lock) {
      if (!isOpen(object)) {
        return false;
      }
      entry = entries.get(object);
      entry.callers.add(Thread.currentThread());
    }
    try {
      handler.run();
    } finally {
      synchronized (lock) {
        entry.callers.remove(Thread.currentThread());
        lock.notifyAll();
      }
    }
    return true;
  }

  /**
   * Closes an object, once: a barrier that waits, with the lock released, for the handlers of it
   * that run.
   *
   * @param object the object; no effect if it is closed, or never was open.
   * @param last what its end does, called holding the lock and before any handler is waited for.
   * @throws VerbsException with EBUSY, and nothing changed, if an object uses it or a handler of it
   *     is the caller.
   */
  public void close(final Object object, final Runnable last) {
    synchronized (lock) {
      final Entry entry = entries.get(object);
      if (entry == null) {
        return;
      }
      if (entry.callers.contains(Thread.currentThread())) {
        throw VerbsException.insideHandler(entry.kind.destroy, object.toString());
      }
      if (!entry.closed) {
        checkUnused(object, entry);
        entry.closed = true;
        counts.merge(entry.kind, -1, Integer::sum);
        for (final Object used : entry.uses) {
          entries.get(used).users--;
        }
        last.run();
      }
      awaitCallers(entry);
      entries.remove(object);
    }
  }

  private void checkUnused(final Object object, final Entry entry) {
    if (entry.users > 0) {
      throw busy(entry.kind.destroy, object, userOf(object) + " uses it; close that first");
    }
  }

  private Object userOf(final Object object) {
    return entries.entrySet().stream()
        .filter(user -> !user.getValue().closed && user.getValue().isMadeWith(object))
        .map(Map.Entry::getKey)
        .findAny()
        .orElseThrow();
  }

  private static VerbsException busy(final String verb, final Object object, final String detail) {
    return new VerbsException(verb, object.toString(), VerbsException.EBUSY, detail);
  }

  private void awaitCallers(final Entry entry) {
    boolean interrupted = false;
    while (!entry.callers.isEmpty()) {
      try {
        lock.wait();
      } catch (final InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Closes the device; no effect if it is closed.
   *
   * @throws VerbsException with EBUSY, and nothing changed, if there are objects left.
   */
  public void end() {
    synchronized (lock) {
      final List<String> left = new ArrayList<>();
      counts.forEach(
          (kind, count) -> {
            if (count > 0) {
              left.add(count + " " + kind.plural);
            }
          });
      if (!left.isEmpty()) {
        throw busy(
            "close_device", device.name(), String.join(", ", left) + " left; close them first");
      }
      closed = true;
    }
  }
}
