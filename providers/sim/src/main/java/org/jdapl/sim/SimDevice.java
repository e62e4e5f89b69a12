package org.jdapl.sim;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jdapl.verbs.AbstractDevice;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.ObjectTable;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;

/** A device. Its objects are made and ended holding the wire. */
final class SimDevice extends AbstractDevice {

  static final int MAX_SGE = 32;

  static final DeviceLimits LIMITS =
      new DeviceLimits.Builder()
          .maxQp(1 << 16)
          .maxQpWr(1 << 15)
          .maxSge(MAX_SGE)
          .maxCq(1 << 16)
          .maxCqe(1 << 20)
          .maxMr(1 << 20)
          .maxPd(1 << 16)
          .maxSrq(1 << 16)
          .maxSrqWr(1 << 15)
          .maxSrqSge(MAX_SGE)
          .maxMw(1 << 19)
          .maxMessageBytes(1L << 30)
          .maxReadsIn(16)
          .maxReadsOut(16)
          .connectPrivateData(56)
          .acceptPrivateData(196)
          .rejectPrivateData(148)
          .build();

  private static final Set<Capability> CAPABILITIES = Set.of(Capability.values());
  private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
  private static final long FIRST_FREE_SERVICE = 49152;

  private final SimFabric fabric;
  private final SimModel model;
  private final SimChannel channel;
  private final Latency latency;
  private final Latency cmLatency;
  private final Upcalls asyncEvents;
  private final ObjectTable objects;
  private final BitSet qpNumbers = new BitSet();
  private final Set<SimCmId> ids = new LinkedHashSet<>();
  private final Set<SimListener> listeners = new LinkedHashSet<>();
  private final Set<SimRequest> unanswered = new LinkedHashSet<>();
  private long created;
  private int lastQpNumber;
  private boolean linkIsDown;
  private boolean silent;
  private volatile boolean removed;

  SimDevice(
      final SimFabric fabric, final String name, final SimModel model, final SimChannel channel) {
    super(name, model.declaration(), LIMITS, ADDRESS);
    this.fabric = fabric;
    this.model = model;
    this.channel = channel;
    objects = new ObjectTable(this, fabric.wire);
    latency = model.latency(fabric);
    cmLatency = model.cmLatency(fabric);
    asyncEvents = upcalls("async events");
    if (channel != null) {
      channel.opened();
    }
  }

  ObjectTable objects() {
    return objects;
  }

  SimFabric fabric() {
    return fabric;
  }

  SimModel model() {
    return model;
  }

  Latency latency() {
    return latency;
  }

  Latency cmLatency() {
    return cmLatency;
  }

  /** Calls in order, one at a time, as soon as may be. */
  Upcalls upcalls(final String of) {
    return new Upcalls(
        fabric, name() + "/" + of, latency, channel != null ? channel : fabric.lane());
  }

  /** Calls as the model says of notifications. */
  Upcalls notifications(final String of) {
    if (channel != null) {
      return new Upcalls(fabric, of, model.isSerial(), latency, channel);
    }
    return model.isSerial()
        ? new Upcalls(fabric, of, latency, fabric.lane())
        : new Upcalls(fabric, of, false, latency, fabric.lane(), fabric.secondLane());
  }

  /** Reports an event of an object, unless it is closed before; its close waits for the handler. */
  void async(final AsyncType type, final SimObject element) {
    asyncEvents.post(() -> objects.call(element, () -> tell(type, element, element.toString())));
  }

  /** Reports an event of the device itself. Called holding the wire. */
  private void async(final AsyncType type) {
    asyncEvents.post(() -> tell(type, this, name()));
  }

  private void tell(final AsyncType type, final Object element, final String elementName) {
    final AsyncHandler handler = asyncHandler();
    if (handler != null) {
      if (fabric.isTracing()) {
        fabric.note(elementName + " async " + type);
      }
      handler.onAsync(type, element);
    }
  }

  /** Called holding the wire, as are the next. */
  void setLink(final boolean up) {
    if (linkIsDown == up && !removed) {
      linkIsDown = !up;
      async(up ? AsyncType.PORT_ACTIVE : AsyncType.PORT_ERR);
    }
  }

  void silence() {
    silent = true;
  }

  void remove() {
    if (!removed) {
      removed = true;
      async(AsyncType.DEVICE_FATAL);
      List.copyOf(ids).forEach(SimCmId::removed);
    }
  }

  boolean isRemoved() {
    return removed;
  }

  /** Whether messages between two devices arrive. Called holding the wire. */
  boolean reaches(final SimDevice other) {
    return !linkIsDown && !other.linkIsDown && !removed && !other.removed;
  }

  /** Whether messages between their connection managers do. Called holding the wire. */
  boolean reachesManager(final SimDevice other) {
    return reaches(other) && !silent && !other.silent;
  }

  @Override
  public Set<Capability> capabilities() {
    return CAPABILITIES;
  }

  @Override
  public NanoClock clock() {
    return fabric.clock();
  }

  @Override
  public ProtectionDomain allocPd() {
    synchronized (fabric.wire) {
      checkOpen("alloc_pd");
      return new SimPd(this, created++);
    }
  }

  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    Access.check(name(), buffer, access);
    synchronized (fabric.wire) {
      final SimPd domain = own("reg_mr", SimPd.class, pd);
      final ByteBuffer whole = buffer.duplicate().clear().order(fabric.scratch.order());
      final SimMr region = fabric.memory.add(domain, whole, access);
      if (region == null) {
        throw noRoom("reg_mr", "the fabric has no key left");
      }
      return region;
    }
  }

  @Override
  public MemoryWindow allocMw(final ProtectionDomain pd, final MwType type) {
    synchronized (fabric.wire) {
      final SimPd domain = own("alloc_mw", SimPd.class, pd);
      final SimMw window = fabric.memory.add(domain, type);
      if (window == null) {
        throw noRoom("alloc_mw", "the fabric has no key left");
      }
      return window;
    }
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    LIMITS.checkCq("create_cq", name(), entries);
    synchronized (fabric.wire) {
      checkOpen("create_cq");
      return new SimCq(this, created++, entries, handler);
    }
  }

  @Override
  public SharedReceiveQueue createSrq(
      final ProtectionDomain pd, final int maxWr, final int maxSge) {
    LIMITS.checkSrq(name(), maxWr, maxSge);
    synchronized (fabric.wire) {
      final SimPd domain = own("create_srq", SimPd.class, pd);
      return new SimSrq(domain, created++, maxWr, maxSge);
    }
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    LIMITS.checkQp(name(), attributes);
    synchronized (fabric.wire) {
      final SimPd pd = own("create_qp", SimPd.class, attributes.pd());
      final SimCq sendCq = own("create_qp", SimCq.class, attributes.sendCq());
      final SimCq recvCq = own("create_qp", SimCq.class, attributes.recvCq());
      final SimSrq srq =
          attributes.srq() == null ? null : own("create_qp", SimSrq.class, attributes.srq());
      final int number =
          model.reusesQpNumbers() ? qpNumbers.nextClearBit(1) : ++lastQpNumber & 0xffffff;
      final SimQp qp = new SimQp(pd, sendCq, recvCq, srq, number, attributes);
      qpNumbers.set(number);
      return qp;
    }
  }

  void freeNumber(final int qpNumber) {
    qpNumbers.clear(qpNumber);
  }

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    Device.checkService("listen", name(), service, 0);
    if (backlog < 0) {
      throw invalid("listen", "backlog " + backlog + "; expected 0 or more");
    }
    synchronized (fabric.wire) {
      checkOpen("listen");
      long chosen = service;
      if (service == 0) {
        chosen = FIRST_FREE_SERVICE;
        while (fabric.listeners.containsKey(chosen)) {
          chosen++;
        }
      } else if (fabric.listeners.containsKey(service)) {
        throw new VerbsException(
            "listen", name(), VerbsException.EADDRINUSE, "service " + service + " on this fabric");
      }
      final SimListener listener = new SimListener(this, chosen, backlog, handler);
      fabric.listeners.put(chosen, listener);
      listeners.add(listener);
      return listener;
    }
  }

  @Override
  public CmId connect(
      final QueuePair qp,
      final InetAddress remote,
      final long service,
      final CmParameters parameters,
      final CmHandler handler) {
    Device.checkService("connect", name(), service, 1);
    synchronized (fabric.wire) {
      final SimQp connecting = own("connect", SimQp.class, qp);
      final byte[] data = LIMITS.copyForConnect(name(), parameters.privateData());
      final SimCmId id =
          new SimCmId(this, connecting, parameters, handler, SimCmId.State.CONNECTING);
      if (remote.equals(ADDRESS)) {
        id.send(() -> arrive(id, service, data));
      } else {
        id.send(() -> id.failed(CmEventType.UNREACHABLE, VerbsException.ETIMEDOUT));
      }
      return id;
    }
  }

  private void arrive(final SimCmId from, final long service, final byte[] data) {
    final SimListener listener = fabric.listeners.get(service);
    if (!reachesManager(listener == null ? this : listener.device())) {
      fabric.later(
          SimCmId.TIMEOUT_NANOS,
          () -> from.failed(CmEventType.UNREACHABLE, VerbsException.ETIMEDOUT));
    } else if (listener == null) {
      from.reject(this, SimListener.NOBODY_LISTENS, new byte[0]);
    } else {
      listener.arrive(from, data);
    }
  }

  void add(final SimCmId id) {
    ids.add(id);
  }

  void remove(final SimCmId id) {
    ids.remove(id);
  }

  void remove(final SimListener listener) {
    listeners.remove(listener);
    fabric.listeners.remove(listener.service());
  }

  void add(final SimRequest request) {
    unanswered.add(request);
  }

  void remove(final SimRequest request) {
    unanswered.remove(request);
  }

  void dropUndelivered(final SimListener listener) {
    for (final SimRequest request : List.copyOf(unanswered)) {
      if (request.isUndeliveredTo(listener)) {
        request.drop();
      }
    }
  }

  /** An object given to a verb, if it is one of this device. */
  <T extends SimObject> T own(final String verb, final Class<T> type, final Object object) {
    checkOpen(verb);
    return objects.own(verb, type, object);
  }

  private void checkOpen(final String verb) {
    objects.checkOpen(verb);
    if (removed) {
      throw new VerbsException(verb, name(), VerbsException.EIO, "the device was removed");
    }
  }

  private VerbsException invalid(final String verb, final String detail) {
    return VerbsException.invalid(verb, name(), detail);
  }

  private VerbsException noRoom(final String verb, final String detail) {
    return new VerbsException(verb, name(), VerbsException.ENOMEM, detail);
  }

  /** Ends listeners and connections too, as a process that ends does; peers get DISCONNECTED. */
  @Override
  public void close() {
    final List<SimListener> openListeners;
    final List<SimCmId> openIds;
    synchronized (fabric.wire) {
      if (objects.isClosed()) {
        return;
      }
      asyncEvents.refuseInside("close_device");
      listeners.forEach(SimListener::refuseInside);
      ids.forEach(SimCmId::refuseInside);
      objects.end();
      fabric.closed(this);
      List.copyOf(unanswered).forEach(SimRequest::drop);
      openListeners = List.copyOf(listeners);
      openIds = List.copyOf(ids);
    }
    openListeners.forEach(SimListener::close);
    openIds.forEach(SimCmId::close);
    asyncEvents.close();
    if (channel != null) {
      channel.closed();
    }
  }

  @Override
  public String toString() {
    return name() + "[" + model + "]";
  }
}
