package org.jdapl.rdmacore;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Layout.DeviceAttr;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.AbstractDevice;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.LastWqe;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;

/**
 * A device as one adapter sees it: an address, channels of its own, and a context that it shares
 * with the other adapters of the device. An id that is bound to the address keeps the context.
 */
final class RdmaDevice extends AbstractDevice {

  /**
   * What user space knows of any device: it gets no hint, an arm counts for later completions only,
   * and drivers differ in the rest. See the package's documentation.
   */
  static final Declaration DECLARATION =
      new Declaration(
          ArmModel.WEAK,
          ArmHint.NONE,
          ArmedAfterHint.YES,
          SecondArm.UNKNOWN,
          NotificationConcurrency.SERIAL,
          false,
          SolicitedSupport.NO_ERRORS,
          LastWqe.UNKNOWN,
          PrivateDataLength.PADDED);

  private static final int CQ_EVENTS = 64;

  /** IBV_DEVICE_SRQ_RESIZE. */
  private static final int RESIZE_OF_SRQ = 1 << 13;

  /** IBV_DEVICE_MEM_WINDOW_TYPE_2A and IBV_DEVICE_MEM_WINDOW_TYPE_2B. */
  private static final int WINDOWS_OF_TYPE_2 = 1 << 23 | 1 << 24;

  // What InfiniBand's messages have room for, less the header of the connection manager.
  private static final int IB_CONNECT_DATA = 56;
  private static final int IB_ACCEPT_DATA = 196;
  private static final int IB_REJECT_DATA = 148;

  final Regions regions = new Regions();

  /** Guards the lives of objects: their users, their ends, and the counts. */
  final Object objects = new Object();

  private final RdmaContext context;
  private final RdmaChannel channel;
  private final int port;
  private final Set<Capability> capabilities;
  private final long token;
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicBoolean fatal = new AtomicBoolean();
  private final Upcalls upcalls = new Upcalls();

  // Under the monitor of the objects.
  private final Map<RdmaObject.Kind, int[]> counts = new EnumMap<>(RdmaObject.Kind.class);
  private final Set<CmObject> ids = new LinkedHashSet<>();
  private boolean closed;
  private volatile boolean released;

  // Under the monitor of the channels: pointers, 0 when they are destroyed.
  private final Object channels = new Object();
  private long eventChannel;
  private long anchor;
  private long compChannel;
  private long cmTag;
  private long cqTag;
  private boolean keepsContext = true;
  private boolean counted; // whether the channel counts it

  // Of the thread that awaits.
  private final ByteBuffer cqTokens = Layout.allocate(CQ_EVENTS * Long.BYTES);
  private final long cqTokensAddress = Verbs.address(cqTokens);
  private final CmEvents cmEvents = new CmEvents();

  /**
   * A device that is not open yet.
   *
   * @param eventChannel where its ids are; its own if {@link #open} is called.
   * @param anchor an id in that channel that is bound to the address; its own likewise.
   */
  RdmaDevice(
      final RdmaChannel channel,
      final RdmaContext context,
      final InetAddress address,
      final long eventChannel,
      final long anchor) {
    super(context.name(), DECLARATION, limits(context, Cm.port(anchor)), address);
    this.channel = channel;
    this.context = context;
    this.eventChannel = eventChannel;
    this.anchor = anchor;
    for (final RdmaObject.Kind kind : RdmaObject.Kind.values()) {
      counts.put(kind, new int[1]);
    }
    port = Cm.port(anchor);
    capabilities = capabilities(context);
    token = Registry.OBJECTS.add(this);
  }

  private static DeviceLimits limits(final RdmaContext context, final int port) {
    final ByteBuffer attributes = Layout.allocate(Layout.PortAttr.SIZE);
    Results.check(
        Verbs.queryPort(context.pointer(), port, Verbs.address(attributes)),
        "query_port",
        context.name(),
        "port " + port);
    final boolean iwarp = context.isIwarp();
    return new DeviceLimits.Builder()
        .maxQp(context.attribute(DeviceAttr.MAX_QP))
        .maxQpWr(context.attribute(DeviceAttr.MAX_QP_WR))
        .maxSge(context.attribute(DeviceAttr.MAX_SGE))
        .maxCq(context.attribute(DeviceAttr.MAX_CQ))
        .maxCqe(context.attribute(DeviceAttr.MAX_CQE))
        .maxMr(context.attribute(DeviceAttr.MAX_MR))
        .maxPd(context.attribute(DeviceAttr.MAX_PD))
        .maxSrq(context.attribute(DeviceAttr.MAX_SRQ))
        .maxSrqWr(context.attribute(DeviceAttr.MAX_SRQ_WR))
        .maxSrqSge(context.attribute(DeviceAttr.MAX_SRQ_SGE))
        .maxMw(context.attribute(DeviceAttr.MAX_MW))
        .maxMessageBytes(Integer.toUnsignedLong(attributes.getInt(Layout.PortAttr.MAX_MSG_SZ)))
        .maxReadsIn(context.attribute(DeviceAttr.MAX_QP_RD_ATOM))
        .maxReadsOut(context.attribute(DeviceAttr.MAX_QP_INIT_RD_ATOM))
        .connectPrivateData(iwarp ? Cm.PRIVATE_DATA : IB_CONNECT_DATA)
        .acceptPrivateData(iwarp ? Cm.PRIVATE_DATA : IB_ACCEPT_DATA)
        .rejectPrivateData(iwarp ? Cm.PRIVATE_DATA - IwarpReject.TAG_BYTES : IB_REJECT_DATA)
        .build();
  }

  private static Set<Capability> capabilities(final RdmaContext context) {
    final Set<Capability> can = EnumSet.noneOf(Capability.class);
    if (hasAtomics(context)) {
      can.add(Capability.ATOMICS);
    }
    if (!context.isIwarp()) {
      can.add(Capability.RDMA_WRITE_WITH_IMM);
    }
    if ((context.attribute(DeviceAttr.DEVICE_CAP_FLAGS) & RESIZE_OF_SRQ) != 0) {
      can.add(Capability.SRQ_RESIZE);
    }
    return Collections.unmodifiableSet(can);
  }

  private static boolean hasAtomics(final RdmaContext context) {
    return context.attribute(DeviceAttr.ATOMIC_CAP) != 0;
  }

  /** Opens its channels, all or none; if not, what was the caller's is gone as well. */
  void open() {
    try {
      synchronized (channels) {
        channel.opened();
        counted = true;
        Cm.setToken(anchor, token);
        compChannel =
            Results.check(
                Verbs.createCompChannel(context.pointer()), "create_comp_channel", name(), "");
        cqTag = channel.add(Verbs.compChannelFd(compChannel), this::drainCqs, name());
        cmTag = channel.add(Cm.eventChannelFd(eventChannel), this::drainCm, name());
        context.add(this);
      }
    } catch (final Throwable e) {
      closed = true;
      release();
      throw e;
    }
  }

  RdmaChannel channel() {
    return channel;
  }

  long context() {
    return context.pointer();
  }

  boolean isIwarp() {
    return context.isIwarp();
  }

  /** Whether there are windows of type 2, and so the sends that end them. */
  boolean hasWindowsOfType2() {
    return (context.attribute(DeviceAttr.DEVICE_CAP_FLAGS) & WINDOWS_OF_TYPE_2) != 0;
  }

  boolean hasAtomics() {
    return capabilities.contains(Capability.ATOMICS);
  }

  // Events. On the thread that awaits.

  /**
   * Takes no more events off than there are queues, to save the call that finds no more; the
   * descriptor tells of what is left.
   */
  private int drainCqs() {
    final int queues;
    synchronized (objects) {
      queues = counts.get(RdmaObject.Kind.CQ)[0];
    }
    final int most = Math.min(CQ_EVENTS, Math.max(1, queues));
    final int count;
    synchronized (channels) {
      if (compChannel == 0) {
        return 0;
      }
      count = Verbs.getCqEvents(compChannel, cqTokensAddress, most);
      if (Results.isGone(count)) {
        channel.ignore(Verbs.compChannelFd(compChannel));
        onDeviceEvent(AsyncType.DEVICE_FATAL, 0);
        return 0;
      }
    }
    Results.check(count, "get_cq_event", name(), "");
    int made = 0;
    Throwable failure = null;
    for (int i = 0; i < count; i++) {
      try {
        if (Registry.OBJECTS.find(cqTokens.getLong(i * Long.BYTES)) instanceof RdmaCq cq
            && cq.onEvent()) {
          made++;
        }
      } catch (final RuntimeException | Error e) {
        failure = Results.first(failure, e); // the others were taken off the channel, too
      }
    }
    Results.rethrow(failure);
    return made;
  }

  private int drainCm() {
    final int count;
    final RdmaRequest[] requests = new RdmaRequest[CmEvents.BATCH];
    synchronized (channels) {
      if (eventChannel == 0) {
        return 0;
      }
      count = Cm.getEvents(eventChannel, cmEvents.address(), CmEvents.BATCH);
      Results.check(count, "get_cm_event", name(), "");
      for (int i = 0; i < count; i++) {
        cmEvents.select(i);
        if (cmEvents.newId() != 0) {
          requests[i] = adopt();
        }
      }
    }
    int made = 0;
    Throwable failure = null;
    for (int i = 0; i < count; i++) {
      cmEvents.select(i);
      try {
        made += requests[i] != null ? requests[i].deliver() : onCmEvent();
      } catch (final RuntimeException | Error e) {
        failure = Results.first(failure, e);
      }
    }
    Results.rethrow(failure);
    return made;
  }

  /**
   * The id of a request is an object from here on: the end of the device ends it too. Does not
   * throw, for the ids of the events after it would be lost.
   */
  private RdmaRequest adopt() {
    RdmaRequest request = null;
    try {
      if (Registry.OBJECTS.find(cmEvents.token()) instanceof RdmaListener listener) {
        request = new RdmaRequest(listener, cmEvents);
        synchronized (objects) {
          if (!closed && ids.add(request)) {
            return request;
          }
        }
      }
    } catch (final OutOfMemoryError e) {
      // refused as well
    }
    Cm.refuse(cmEvents.newId());
    Cm.destroyId(cmEvents.newId());
    if (request != null) {
      request.disown();
    }
    return null;
  }

  private int onCmEvent() {
    final Object object = Registry.OBJECTS.find(cmEvents.token());
    if (object == this && cmEvents.type() == CmEvents.DEVICE_REMOVAL) {
      onDeviceEvent(AsyncType.DEVICE_FATAL, 0);
    }
    return object instanceof CmObject id ? id.onEvent(cmEvents) : 0;
  }

  /** Has something told on the thread that awaits. From any thread. */
  void post(final RdmaChannel.Source call) {
    channel.post(call);
  }

  /** An asynchronous event of one of its objects. From any thread. */
  void postAsync(final AsyncType type, final RdmaObject object) {
    channel.post(() -> tell(type, object, object.upcalls));
  }

  /** An event of a port, or of the device. From any thread. */
  void onDeviceEvent(final AsyncType type, final int ofPort) {
    final boolean mine =
        type == AsyncType.DEVICE_FATAL ? fatal.compareAndSet(false, true) : ofPort == port;
    if (mine) {
      channel.post(() -> tell(type, this, upcalls));
    }
  }

  private int tell(final AsyncType type, final Object element, final Upcalls of) {
    final AsyncHandler handler = asyncHandler();
    if (handler == null || !of.enter()) {
      return 0;
    }
    try {
      handler.onAsync(type, element);
    } finally {
      of.exit();
    }
    return 1;
  }

  // What it is.

  @Override
  public Set<Capability> capabilities() {
    return capabilities;
  }

  // Objects.

  String nameFor(final RdmaObject.Kind kind) {
    return name() + "/" + kind.name().toLowerCase(Locale.ROOT) + numbers.incrementAndGet();
  }

  /** An object is being created. */
  void begin(final RdmaObject object) {
    synchronized (objects) {
      checkOpen(object.kind.create);
      object.hold(object.kind.create);
      counts.get(object.kind)[0]++;
    }
  }

  /** An object is gone. Called holding the monitor of the objects. */
  void end(final RdmaObject object) {
    counts.get(object.kind)[0]--;
  }

  @Override
  public ProtectionDomain allocPd() {
    return new RdmaPd(this);
  }

  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    Access.check(name(), buffer, access);
    return new RdmaMr(own("reg_mr", RdmaPd.class, pd), buffer, access);
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    limits().checkCq("create_cq", name(), entries);
    return new RdmaCq(this, entries, handler);
  }

  @Override
  public SharedReceiveQueue createSrq(
      final ProtectionDomain pd, final int maxWr, final int maxSge) {
    limits().checkSrq(name(), maxWr, maxSge);
    return new RdmaSrq(own("create_srq", RdmaPd.class, pd), maxWr, maxSge);
  }

  @Override
  public MemoryWindow allocMw(final ProtectionDomain pd, final MwType type) {
    if (limits().maxMw() == 0) {
      throw VerbsException.unsupported("alloc_mw", name());
    }
    if (type == MwType.TYPE_2 && !hasWindowsOfType2()) {
      throw VerbsException.unsupported("alloc_mw of type 2", name());
    }
    return new RdmaMw(own("alloc_mw", RdmaPd.class, pd), type);
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    limits().checkQp(name(), attributes);
    return new RdmaQp(
        own("create_qp", RdmaPd.class, attributes.pd()),
        own("create_qp", RdmaCq.class, attributes.sendCq()),
        own("create_qp", RdmaCq.class, attributes.recvCq()),
        attributes.srq() == null ? null : own("create_qp", RdmaSrq.class, attributes.srq()),
        attributes);
  }

  /** Moves a new queue pair to INIT. */
  int initQp(final long qp, final int access) {
    synchronized (channels) {
      return Cm.initQp(anchor, qp, access);
    }
  }

  /** The completion channel; it lives as long as there are objects. */
  long compChannel() {
    synchronized (channels) {
      return compChannel;
    }
  }

  // Connections.

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    Device.checkService("listen", name(), service, 0);
    if (backlog < 0) {
      throw invalid("listen", "backlog " + backlog + "; expected 0 or more");
    }
    final RdmaListener listener = add(new RdmaListener(this, service, backlog, handler));
    begun(listener, listener::listen);
    return listener;
  }

  @Override
  public CmId connect(
      final QueuePair qp,
      final InetAddress remote,
      final long service,
      final CmParameters parameters,
      final CmHandler handler) {
    final int remotePort = Device.checkService("connect", name(), service, 1);
    final RdmaQp connecting = own("connect", RdmaQp.class, qp);
    final byte[] data = limits().copyForConnect(name(), parameters.privateData());
    final RdmaCmId id = add(new RdmaCmId(this, connecting, parameters, handler));
    begun(id, () -> id.connect(remote, remotePort, data));
    return id;
  }

  private static void begun(final CmObject object, final Runnable begin) {
    try {
      begin.run();
    } catch (final Throwable e) {
      object.end();
      throw e;
    }
  }

  /** An id or a request is this device's to end; refused if the device is closed. */
  <T extends CmObject> T add(final T object) {
    try {
      synchronized (objects) {
        checkOpen("create_id");
        ids.add(object);
      }
    } catch (final Throwable e) {
      object.forget();
      throw e;
    }
    return object;
  }

  void remove(final CmObject object) {
    synchronized (objects) {
      ids.remove(object);
    }
  }

  /** A new id in its event channel, or an errno, negated. */
  long createId(final long forToken) {
    synchronized (channels) {
      return eventChannel == 0 ? -VerbsException.ENODEV : Cm.createId(eventChannel, forToken);
    }
  }

  /** Binds an id to the device's address. */
  int bind(final long id, final int service) {
    return Cm.bindAddr(id, address().getAddress(), scope(address()), service);
  }

  /** The number of the interface that a link-local address is of; 0 for others. */
  static int scope(final InetAddress address) {
    return address instanceof Inet6Address v6 ? v6.getScopeId() : 0;
  }

  // Checks.

  /** An object given to a verb, if it is an open one of this device. */
  <T extends RdmaObject> T own(final String verb, final Class<T> type, final Object object) {
    if (type.isInstance(object)) {
      final T mine = type.cast(object);
      if (mine.device == this && !mine.isClosed()) {
        return mine;
      }
    }
    synchronized (objects) {
      checkOpen(verb);
    }
    final String kind = type.getSimpleName().substring("Rdma".length());
    throw invalid(verb, object + "; expected an open " + kind + " of this device");
  }

  /** Called holding the monitor of the objects. */
  private void checkOpen(final String verb) {
    if (closed) {
      throw new VerbsException(verb, name(), VerbsException.ENODEV, "the device is closed");
    }
  }

  VerbsException invalid(final String verb, final String detail) {
    return VerbsException.invalid(verb, name(), detail);
  }

  // The end.

  /** Ends listeners, requests and connections too, as a process that ends does. */
  @Override
  public void close() {
    upcalls.refuseInside("close_device", name());
    final List<CmObject> left;
    synchronized (objects) {
      if (released) {
        return;
      }
      final List<String> kinds = new ArrayList<>();
      counts.forEach(
          (kind, count) -> {
            if (count[0] > 0) {
              kinds.add(count[0] + " " + kind.plural);
            }
          });
      if (!kinds.isEmpty()) {
        throw new VerbsException(
            "close_device",
            name(),
            VerbsException.EBUSY,
            String.join(", ", kinds) + " left; close them first");
      }
      left = List.copyOf(ids);
      left.forEach(id -> id.upcalls.refuseInside("close_device", id));
      closed = true;
    }
    upcalls.close();
    left.forEach(CmObject::endWithDevice);
    release();
  }

  /** Destroys its channels; what was destroyed is not again if this is called again. */
  private void release() {
    synchronized (channels) {
      if (eventChannel == 0) {
        return;
      }
      context.remove(this);
      if (compChannel != 0) {
        channel.remove(cqTag, Verbs.compChannelFd(compChannel));
        final int result = Verbs.destroyCompChannel(compChannel);
        if (!Results.isGone(result)) {
          Results.check(result, "destroy_comp_channel", name(), "close the device again");
        }
        compChannel = 0;
      }
      if (anchor != 0) {
        channel.remove(cmTag, Cm.eventChannelFd(eventChannel));
        if (keepsContext) { // before librdmacm may close it, and open another at the same place
          keepsContext = false;
          context.release();
        }
        final int result = Cm.destroyId(anchor);
        if (!Results.isGone(result)) {
          Results.check(result, "destroy_id", name(), "close the device again");
        }
        anchor = 0;
      }
      Cm.destroyEventChannel(eventChannel);
      eventChannel = 0;
    }
    released = true;
    Registry.OBJECTS.remove(token);
    if (counted) {
      channel.closed();
    }
  }

  @Override
  public String toString() {
    return name() + "(" + address().getHostAddress() + ")";
  }
}
