package org.jdapl.evd;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jdapl.dat.AdapterAttributes;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CommonServicePoint;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointParameters;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.HandleType;
import org.jdapl.dat.IaStatistics;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ObjectCounts;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ProviderAttributes;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReservedServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SharedReceiveQueue;
import org.jdapl.evd.StateTable.Machine;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.VerbsException;
import org.slf4j.Logger;

/** An interface adapter: a device, and all DAT objects on it. */
final class IaImpl extends ObjectBase implements InterfaceAdapter {

  /** The states of an adapter. */
  enum State {
    /** Objects may be created. */
    OPEN,
    /** Its device is lost. */
    LOST,
    /** It is being closed. */
    CLOSING,
    /** It is closed, or its bound is over. */
    CLOSED
  }

  /** What moves an adapter. */
  enum Trigger {
    /** Its device is lost. */
    LOSE,
    /** The consumer closes it. */
    CLOSE,
    /** All is closed, or the bound is over. */
    END
  }

  static final StateTable<State, Trigger> TABLE =
      new StateTable<>(State.class, Trigger.class)
          .on(State.OPEN, Trigger.LOSE, State.LOST)
          .on(State.OPEN, Trigger.CLOSE, State.CLOSING)
          .on(State.LOST, Trigger.CLOSE, State.CLOSING)
          .on(State.CLOSING, Trigger.END, State.CLOSED);

  private static final Logger LOGGER = Log.of(InterfaceAdapter.class);
  private static final int ASYNC_LENGTH = 64;
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);
  private static final Duration LOSS_BOUND = Duration.ofSeconds(5);
  private static final Duration RETRY = Duration.ofMillis(1);

  private final Jdapl runtime;
  private final Device device;
  private final IaLimits limits;
  private final Reaper reaper;
  private final Runnable afterClose;
  private final Runnable afterDevice;
  private final EndpointTable endpoints = new EndpointTable();
  private final AsyncErrors asyncErrors;
  private final DeviceClose deviceClose;
  private final AtomicLong numbers = new AtomicLong();
  private final LeakDetector leaks;

  // Under the monitor of this object.
  private final Set<DatObject> objects = new LinkedHashSet<>();
  private int creating;
  private boolean releasing;

  private final Machine<State, Trigger> machine = TABLE.startIn(State.OPEN);

  /** Also while it is being closed. */
  private final AtomicBoolean lost = new AtomicBoolean();

  /** Of the close and the release of the device, how many are to come. */
  private final AtomicInteger endsToCome = new AtomicInteger(2);

  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  /**
   * An adapter.
   *
   * @param afterClose run by the reaper when it is closed.
   * @param afterDevice run by the reaper when its device is closed as well, which is later if
   *     something is stuck.
   */
  IaImpl(
      final String name,
      final Jdapl runtime,
      final Device device,
      final Dispatcher dispatcher,
      final LeakDetector leaks,
      final Runnable afterClose,
      final Runnable afterDevice) {
    super(HandleType.IA, name);
    this.runtime = runtime;
    this.device = device;
    limits = new IaLimits(this, device);
    reaper = runtime.reaper();
    deviceClose = new DeviceClose(this, device, this::countEnd);
    this.leaks = leaks;
    this.afterClose = afterClose;
    this.afterDevice = afterDevice;
    asyncErrors =
        new AsyncErrors(
            this,
            new EvdImpl(name + "/async", this, ASYNC_LENGTH, EventStream.ASYNC.flag(), dispatcher));
  }

  void open() {
    device.onAsync(asyncErrors::on);
    leaks.watch(this);
  }

  // Creating.

  @Override
  public Evd createEvd(final int length, final EventStream... streams) {
    limits.checkLength(length, name + ".createEvd");
    if (streams == null) {
      throw Misuse.argument(2, name + ".createEvd: the streams are null");
    }
    int flags = 0;
    for (final EventStream stream : streams) {
      if (stream == null) {
        throw Misuse.argument(2, name + ".createEvd: a stream is null");
      }
      flags |= stream.flag();
    }
    if (flags == 0) {
      throw Misuse.argument(2, name + ".createEvd: no streams; it takes at least one");
    }
    final int all = flags;
    return create(name + ".createEvd", () -> newEvd(length, all));
  }

  private EvdImpl newEvd(final int length, final int flags) {
    runtime.reserveEvd(name);
    try {
      return new EvdImpl(nameFor("evd"), this, length, flags, runtime.nextDispatcher());
    } catch (final Throwable e) {
      runtime.releaseEvd(); // an EVD that is not made takes no room
      throw e;
    }
  }

  @Override
  public ProtectionZone createPz() {
    return create(name + ".createPz", () -> new PzImpl(nameFor("pz"), this, allocPd()));
  }

  private ProtectionDomain allocPd() {
    try {
      return device.allocPd();
    } catch (final VerbsException e) {
      throw Misuse.failed(name + ".createPz", e, ReturnSubtype.RESOURCE_PROTECTION_DOMAIN);
    }
  }

  @Override
  public Endpoint createEndpoint(
      final ProtectionZone pz,
      final Evd receiveEvd,
      final Evd requestEvd,
      final Evd connectEvd,
      final EndpointAttributes attributes) {
    return create(
        name + ".createEndpoint",
        () ->
            newEndpoint(
                new EndpointParameters(pz, receiveEvd, requestEvd, connectEvd, null, attributes),
                5));
  }

  @Override
  public Endpoint createEndpoint(
      final ProtectionZone pz, final Evd evd, final EndpointAttributes attributes) {
    return create(
        name + ".createEndpoint",
        () -> newEndpoint(new EndpointParameters(pz, evd, evd, evd, null, attributes), 3));
  }

  private PzImpl zone(final ProtectionZone pz, final String call) {
    if (!(pz instanceof PzImpl zone) || zone.ia() != this) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_PZ,
          call + ": " + pz + " is not a protection zone of this adapter");
    }
    return zone;
  }

  @Override
  public SharedReceiveQueue createSrq(
      final ProtectionZone pz, final int maxReceives, final int maxIov) {
    limits.checkSrq(maxReceives, maxIov, name + ".createSrq");
    return create(
        name + ".createSrq", () -> newSrq(zone(pz, name + ".createSrq"), maxReceives, maxIov));
  }

  private SrqImpl newSrq(final PzImpl pz, final int maxReceives, final int maxIov) {
    final SrqImpl srq =
        new SrqImpl(nameFor("srq"), this, pz, maxReceives, maxIov, endpoints.allocate());
    try {
      srq.open();
    } catch (final Throwable e) {
      endpoints.free(srq.tag());
      throw e;
    }
    endpoints.put(srq);
    return srq;
  }

  @Override
  public Endpoint createEndpoint(
      final ProtectionZone pz,
      final Evd receiveEvd,
      final Evd requestEvd,
      final Evd connectEvd,
      final SharedReceiveQueue srq,
      final EndpointAttributes attributes) {
    if (srq == null) {
      throw wrongSrq(null, name + ".createEndpoint");
    }
    return create(
        name + ".createEndpoint",
        () ->
            newEndpoint(
                new EndpointParameters(pz, receiveEvd, requestEvd, connectEvd, srq, attributes),
                6));
  }

  private EndpointImpl newEndpoint(final EndpointParameters parameters, final int argument) {
    check(parameters, argument, name + ".createEndpoint");
    final EndpointImpl endpoint = new EndpointImpl(nameFor("ep"), this);
    endpoint.life().open(parameters);
    return endpoint;
  }

  /**
   * Checks what an endpoint is to be made of.
   *
   * @param argument the number of the attributes among the arguments.
   */
  void check(final EndpointParameters parameters, final int argument, final String call) {
    if (parameters == null) {
      throw Misuse.argument(argument, call + ": the parameters are null");
    }
    final PzImpl zone = zone(parameters.pz(), call);
    checkEvd(parameters.receiveEvd(), ReturnSubtype.INVALID_HANDLE_EVD_RECV, call);
    checkEvd(parameters.requestEvd(), ReturnSubtype.INVALID_HANDLE_EVD_REQUEST, call);
    evd(
        parameters.connectEvd(),
        EventStream.CONNECTION,
        ReturnSubtype.INVALID_HANDLE_EVD_CONN,
        call);
    final SharedReceiveQueue srq = parameters.srq();
    if (srq != null) {
      checkSrq(srq, zone, call);
    }
    limits.check(parameters.attributes(), argument, call);
    if (parameters.receiveEvd() == null
        && (srq != null || parameters.attributes().maxReceiveDtos() > 0)) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EVD_RECV,
          call
              + ": no EVD for receives, and "
              + parameters.attributes()
              + "; without one it takes"
              + " none: maxReceiveDtos 0");
    }
    if (parameters.requestEvd() == null && parameters.attributes().maxRequestDtos() > 0) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EVD_REQUEST,
          call
              + ": no EVD for requests, and "
              + parameters.attributes()
              + "; without one it sends"
              + " none: maxRequestDtos 0");
    }
  }

  private void checkEvd(final Evd evd, final ReturnSubtype subtype, final String call) {
    if (evd != null) {
      evd(evd, EventStream.DTO, subtype, call);
    }
  }

  private void checkSrq(final SharedReceiveQueue srq, final PzImpl zone, final String call) {
    if (!(srq instanceof SrqImpl queue) || queue.ia() != this) {
      throw wrongSrq(srq, call);
    }
    if (queue.pz() != zone) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_PZ,
          call + ": " + zone + " is not the zone of " + srq + ", " + queue.pz());
    }
  }

  private DatException wrongSrq(final SharedReceiveQueue srq, final String call) {
    return Misuse.handle(
        ReturnSubtype.INVALID_HANDLE_SRQ,
        call + ": " + srq + " is not a shared receive queue of this adapter");
  }

  private EvdImpl evd(
      final Evd evd, final EventStream stream, final ReturnSubtype subtype, final String call) {
    if (!(evd instanceof EvdImpl own) || own.ia() != this || !own.takes(stream)) {
      throw Misuse.handle(
          subtype, call + ": " + evd + " is not an EVD of this adapter that takes " + stream);
    }
    own.checkOpen(subtype, call);
    return own;
  }

  // Service points.

  @Override
  public PublicServicePoint createPsp(final long connQual, final Evd evd) {
    checkConnQual(1, connQual, name + ".createPsp");
    return createSp(
        name + ".createPsp",
        () -> open(new PspImpl(nameFor("psp"), this, ofRequests(evd, "createPsp"), connQual)));
  }

  @Override
  public PublicServicePoint createPsp(final Evd evd) {
    return createSp(
        name + ".createPsp",
        () -> open(new PspImpl(nameFor("psp"), this, ofRequests(evd, "createPsp"), 0)));
  }

  @Override
  public ReservedServicePoint createRsp(
      final long connQual, final Endpoint endpoint, final Evd evd) {
    checkConnQual(1, connQual, name + ".createRsp");
    if (!(endpoint instanceof EndpointImpl own) || own.ia() != this) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_EP,
          name + ".createRsp: " + endpoint + " is not an endpoint of this adapter");
    }
    return createSp(
        name + ".createRsp",
        () -> open(new RspImpl(nameFor("rsp"), this, ofRequests(evd, "createRsp"), connQual, own)));
  }

  @Override
  public CommonServicePoint createCsp(final InetSocketAddress at, final Evd evd) {
    if (at == null || at.isUnresolved()) {
      throw Misuse.argument(1, name + ".createCsp: address " + at + " is not resolved");
    }
    if (!at.getAddress().isAnyLocalAddress() && !at.getAddress().equals(address())) {
      throw new DatException(
          ReturnType.INVALID_ADDRESS,
          ReturnSubtype.INVALID_ADDRESS_UNREACHABLE,
          name + ".createCsp: " + at + " is not an address of this adapter, " + address());
    }
    return createSp(
        name + ".createCsp",
        () -> open(new CspImpl(nameFor("csp"), this, ofRequests(evd, "createCsp"), at.getPort())));
  }

  private <T extends SpImpl> T createSp(final String call, final Supplier<T> maker) {
    final T servicePoint = create(call, maker);
    if (servicePoint.isDestroyed()) { // its request, or the close of its endpoint, was faster
      remove(servicePoint);
    }
    return servicePoint;
  }

  private static <T extends SpImpl> T open(final T servicePoint) {
    servicePoint.open();
    return servicePoint;
  }

  private EvdImpl ofRequests(final Evd evd, final String call) {
    return evd(
        evd,
        EventStream.CONNECTION_REQUEST,
        ReturnSubtype.INVALID_HANDLE_EVD_CR,
        name + "." + call);
  }

  /** The same on every provider, whatever that takes for a port. */
  static void checkConnQual(final int argument, final long connQual, final String call) {
    if (connQual < 1 || connQual > Device.MAX_SERVICE) {
      throw Misuse.argument(
          argument,
          call + ": connection qualifier " + connQual + "; it takes 1 to " + Device.MAX_SERVICE);
    }
  }

  /** The service point that listens at a connection qualifier, or null. */
  SpImpl servicePointAt(final long connQual) {
    return first(
        SpImpl.class,
        servicePoint ->
            servicePoint.connQual() == connQual && servicePoint.state() == SpImpl.State.LISTENING
                ? servicePoint
                : null);
  }

  @Override
  public Cno createCno() {
    return create(name + ".createCno", () -> new CnoImpl(nameFor("cno"), this));
  }

  CnoImpl checkCno(final Cno cno, final String call) {
    if (cno != null && (!(cno instanceof CnoImpl own) || own.ia() != this)) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_CNO, call + ": " + cno + " is not a CNO of this adapter");
    }
    return (CnoImpl) cno;
  }

  String nameFor(final String kind) {
    return name + "/" + kind + "-" + numbers.incrementAndGet();
  }

  /**
   * Makes an object, and adds it. Whoever lets go of the device waits for that, and finds it;
   * unless it took too long.
   */
  <T extends DatObject> T create(final String call, final Supplier<T> maker) {
    synchronized (this) {
      if (machine.state() != State.OPEN) {
        throw notOpen(call);
      }
      creating++;
    }
    try {
      final T object = maker.get();
      leaks.opened(object.name()); // first: once it is added, it may be closed
      final boolean late;
      synchronized (this) {
        objects.add(object);
        late = releasing;
      }
      if (late) {
        object.close();
        throw notOpen(call);
      }
      return object;
    } finally {
      synchronized (this) {
        creating--;
      }
    }
  }

  /** Adds an object that the consumer did not create. */
  synchronized boolean addIfOpen(final DatObject object) {
    if (machine.state() != State.OPEN) {
      return false;
    }
    leaks.arrived(object.name());
    return objects.add(object);
  }

  synchronized void remove(final DatObject object) {
    if (objects.remove(object)) {
      leaks.closed(object.name());
      if (object instanceof EvdImpl evd) {
        runtime.watchdog().remove(evd);
        runtime.releaseEvd();
      }
    }
  }

  /** What is asked for of the first open object of a kind that has it; null if none has. */
  synchronized <T, R> R first(final Class<T> kind, final Function<T, R> of) {
    for (final DatObject object : objects) {
      final R found = kind.isInstance(object) ? of.apply(kind.cast(object)) : null;
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /** An EVD has a completion queue. */
  void watch(final EvdImpl evd) {
    runtime.watchdog().add(evd);
  }

  private DatException notOpen(final String call) {
    return machine.state() == State.LOST
        ? Misuse.state(
            ReturnSubtype.NO_SUBTYPE,
            call + ": its device is lost; close this adapter, and open another one")
        : Misuse.closed(ReturnSubtype.INVALID_HANDLE_IA, this, call);
  }

  @Override
  public void asyncEvd(final Evd evd) {
    final EvdImpl to =
        evd(evd, EventStream.ASYNC, ReturnSubtype.INVALID_HANDLE_EVD_ASYNC, name + ".asyncEvd");
    asyncErrors.target(to);
  }

  // Closing.

  @Override
  public void close() {
    final List<DatObject> open;
    synchronized (this) {
      open = isClosing() ? List.of() : List.copyOf(objects);
      if (open.isEmpty()) {
        machine.move(Trigger.CLOSE);
      }
    }
    if (!open.isEmpty()) {
      throw Misuse.state(
          ReturnSubtype.INVALID_STATE_IA_IN_USE,
          name + ".close: open objects: " + leaks.describe(open));
    }
    close(CLOSE_BOUND);
  }

  @Override
  public void closeAbruptly(final Duration bound) {
    Misuse.checkBound(bound, name + ".closeAbruptly");
    final List<DatObject> open;
    synchronized (this) {
      open = machine.move(Trigger.CLOSE) == null ? List.of() : List.copyOf(objects);
    }
    leaks.closedAbruptly(open);
    close(bound);
  }

  private boolean isClosing() {
    return machine.state() == State.CLOSING || machine.state() == State.CLOSED;
  }

  /** First it lets go, however short the bound: once it is closed, nothing begins any more. */
  private void close(final Duration bound) {
    try {
      if (!closed.isDone()) { // each call: another one's parts may be longer
        release(bound, false, runtime.deadline(bound.dividedBy(DeviceRelease.PARTS)));
      }
    } finally {
      reaper.schedule(bound, closed, this::endClose); // the shortest bound counts
    }
    await(closed, bound, this);
  }

  /**
   * Its device was removed or failed: the adapter lets go of it by itself, since the system may
   * wait for that. From any thread, also inside a provider's upcall.
   */
  void onDeviceLost(final Object why) {
    if (lost.compareAndSet(false, true)) {
      machine.move(Trigger.LOSE);
      LOGGER.error(
          "{}: the device is lost ({}); its connections and waits end, and the device is closed",
          name,
          why);
      asyncErrors.report(AsyncEvent.Kind.IA_CATASTROPHIC, name + ": " + why);
      reaper.execute(
          () ->
              release(
                  LOSS_BOUND, true, runtime.deadline(LOSS_BOUND.dividedBy(DeviceRelease.PARTS))));
    }
  }

  boolean isLost() {
    return lost.get();
  }

  /** Lets go of the device, once nothing is being created, or the time for that is over. */
  private void release(final Duration bound, final boolean isLost, final long deadline) {
    final List<DatObject> all;
    synchronized (this) {
      if (creating > 0 && !runtime.isOver(deadline)) {
        reaper.executeAfter(RETRY, () -> release(bound, isLost, deadline));
        return;
      }
      releasing = true;
      all = new ArrayList<>(objects);
      all.add(asyncErrors.own());
    }
    new DeviceRelease(this, all, bound, isLost, isLost ? deviceClose::run : this::finishClose)
        .start();
  }

  private void finishClose() {
    deviceClose.run();
    endClose();
  }

  /** When all is closed, or the bound is over. */
  private void endClose() {
    if (machine.move(Trigger.END) != null) {
      final List<DatObject> stuck = stillOpen();
      if (!stuck.isEmpty()) {
        LOGGER.error("{}: closed abruptly, and these are stuck: {}", name, stuck);
      } else if (!deviceClose.isDone()) {
        LOGGER.error("{}: closed, and its device is not yet", name);
      }
      giveUp(stuck);
      runtime.releaseEvd();
      afterClose.run();
      closed.complete(null);
      countEnd();
    }
  }

  private void countEnd() {
    if (endsToCome.decrementAndGet() == 0) {
      closeNow(asyncErrors.own());
      stillOpen().forEach(IaImpl::closeNow); // the bound may have been over before their turn came
      afterDevice.run();
    }
  }

  /** The runtime may end now, and what would close this with it. */
  private static void closeNow(final DatObject object) {
    if (object instanceof EvdImpl evd) {
      final var unused = evd.closing().start(Duration.ZERO, true);
      evd.closing().giveUp();
    }
  }

  private synchronized List<DatObject> stillOpen() {
    return List.copyOf(objects);
  }

  /** Ends the closes of EVDs: their timers may not come any more. */
  private static void giveUp(final List<DatObject> stuck) {
    for (final DatObject object : stuck) {
      if (object instanceof EvdImpl evd && evd.isClosed()) {
        evd.closing().giveUp();
      }
    }
  }

  /**
   * Destroys something of the device for a close, or if that fails, later.
   *
   * @param name of the object that is closed.
   * @throws DatException what the provider threw.
   */
  void destroy(final String name, final Runnable verb) {
    final Throwable failure = destroy(verb);
    if (failure != null) {
      throw Misuse.failed(name + ".close", failure);
    }
  }

  /**
   * Destroys something of the device, or if that fails, later.
   *
   * @return what the provider threw, or null.
   */
  Throwable destroy(final Runnable verb) {
    try {
      verb.run();
      return null;
    } catch (final Throwable e) {
      destroyLater(verb);
      return e;
    }
  }

  /** What something stuck uses is destroyed when that has returned, before the device is closed. */
  void destroyLater(final Runnable destroy) {
    deviceClose.after(destroy);
  }

  /** Waits, unless this thread is the framework's: then what was begun ends by itself. */
  void await(final CompletableFuture<?> future, final Duration bound, final DatObject object) {
    if (!Dispatcher.isCurrent() && !Reaper.isCurrent()) {
      runtime.await(future, bound, object);
    }
  }

  /**
   * What a consumer gets of a future: its code does not run on a thread of the framework, and not
   * in the common pool, where something else may be stuck.
   */
  <T> CompletionStage<T> stage(final CompletableFuture<T> future) {
    return runtime.isByHand()
        ? future.copy()
        : future.thenApplyAsync(Function.identity(), task -> startThread(task, name + "-stage"));
  }

  private static void startThread(final Runnable task, final String name) {
    final Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  // What it is.

  @Override
  public AdapterAttributes attributes() {
    return limits.attributes();
  }

  @Override
  public ProviderAttributes providerAttributes() {
    return limits.providerAttributes();
  }

  @Override
  public InetAddress address() {
    return device.address();
  }

  @Override
  public Evd asyncEvd() {
    return asyncErrors.target();
  }

  @Override
  public IaStatistics statistics() {
    final List<EvdStatistics> evds = new ArrayList<>();
    final ObjectCounts open;
    synchronized (this) {
      open = counts();
      for (final DatObject object : objects) {
        if (object instanceof EvdImpl evd) {
          evds.add(evd.statistics());
        }
      }
    }
    evds.add(asyncErrors.own().statistics());
    return new IaStatistics(name, open, runtime.dispatcherStatistics(), evds);
  }

  private ObjectCounts counts() {
    return new ObjectCounts(
        runtime.adapters(),
        count(EvdImpl.class),
        count(CnoImpl.class),
        count(PzImpl.class),
        count(LmrImpl.class),
        count(RmrImpl.class),
        count(SrqImpl.class),
        count(EndpointImpl.class),
        count(SpImpl.class),
        count(CrImpl.class));
  }

  private int count(final Class<? extends DatObject> kind) {
    return (int) objects.stream().filter(kind::isInstance).count();
  }

  @Override
  IaImpl ia() {
    return this;
  }

  /** What its device can do. */
  IaLimits limits() {
    return limits;
  }

  AsyncErrors asyncErrors() {
    return asyncErrors;
  }

  Device device() {
    return device;
  }

  Jdapl runtime() {
    return runtime;
  }

  Reaper reaper() {
    return reaper;
  }

  EndpointTable endpoints() {
    return endpoints;
  }
}
