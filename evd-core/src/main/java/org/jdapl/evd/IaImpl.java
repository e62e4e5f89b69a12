package org.jdapl.evd;

import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EvdStatistics;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.IaStatistics;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An interface adapter: a device, and all DAT objects on it. */
final class IaImpl implements InterfaceAdapter {

  private static final Logger LOGGER = LoggerFactory.getLogger(InterfaceAdapter.class);
  private static final int ASYNC_LENGTH = 64;

  private final String name;
  private final Jdapl runtime;
  private final Device device;
  private final Reaper reaper;
  private final Runnable afterClose;
  private final EndpointTable endpoints = new EndpointTable();
  private final AsyncSlot asyncSlot = new AsyncSlot(this);
  private final EvdImpl ownAsyncEvd;
  private final Object asyncLock = new Object();
  private EvdImpl asyncEvd;
  private final AtomicLong numbers = new AtomicLong();

  // Under the monitor of this object.
  private final Set<DatObject> objects = new LinkedHashSet<>();
  private boolean closing;
  private final CompletableFuture<Void> closed = new CompletableFuture<>();

  IaImpl(
      final String name,
      final Jdapl runtime,
      final Device device,
      final Dispatcher dispatcher,
      final Runnable afterClose) {
    this.name = name;
    this.runtime = runtime;
    this.device = device;
    reaper = runtime.reaper();
    this.afterClose = afterClose;
    ownAsyncEvd =
        new EvdImpl(name + "/async", this, ASYNC_LENGTH, EventStream.ASYNC.flag(), dispatcher);
    asyncEvd = ownAsyncEvd;
  }

  void open() {
    device.onAsync(this::onAsync);
  }

  // Creating.

  @Override
  public Evd createEvd(final int length, final EventStream... streams) {
    checkOpen("createEvd");
    checkLength(length, name + ".createEvd");
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
    runtime.reserveEvd(name);
    final EvdImpl evd = new EvdImpl(nameFor("evd"), this, length, flags, runtime.nextDispatcher());
    return add(evd);
  }

  /** Checks the length of an EVD. */
  void checkLength(final int length, final String call) {
    if (length < 1) {
      throw Misuse.argument(1, call + ": length " + length + " is below 1");
    }
    final int most = Math.min(device.limits().maxCqe(), Lane.MAX_LENGTH);
    if (length > most) {
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_TEVD,
          call + ": length " + length + " is more than the " + most + " that may be");
    }
  }

  @Override
  public ProtectionZone createPz() {
    checkOpen("createPz");
    try {
      return add(new PzImpl(nameFor("pz"), this, device.allocPd()));
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
    checkOpen("createEndpoint");
    if (!(pz instanceof PzImpl zone) || zone.ia() != this) {
      throw Misuse.handle(
          ReturnSubtype.INVALID_HANDLE_PZ,
          name + ".createEndpoint: " + pz + " is not a protection zone of this adapter");
    }
    final EndpointImpl endpoint =
        new EndpointImpl(
            nameFor("ep"),
            this,
            zone,
            evd(receiveEvd, EventStream.DTO, ReturnSubtype.INVALID_HANDLE_EVD_RECV),
            evd(requestEvd, EventStream.DTO, ReturnSubtype.INVALID_HANDLE_EVD_REQUEST),
            evd(connectEvd, EventStream.CONNECTION, ReturnSubtype.INVALID_HANDLE_EVD_CONN),
            check(attributes),
            endpoints.allocate());
    try {
      endpoint.open();
    } catch (final RuntimeException e) {
      endpoints.free(endpoint.tag());
      throw e;
    }
    endpoints.put(endpoint);
    return add(endpoint);
  }

  private EndpointAttributes check(final EndpointAttributes attributes) {
    if (attributes == null
        || attributes.maxReceiveDtos() < 0
        || attributes.maxRequestDtos() < 0
        || attributes.maxReceiveIov() < 1
        || attributes.maxRequestIov() < 1
        || attributes.rdmaReadsIn() < 0
        || attributes.rdmaReadsOut() < 0
        || isNoRetryCount(attributes.retryCount())
        || isNoRetryCount(attributes.rnrRetryCount())
        || (attributes.receiveFlags() & ~CompletionFlags.SOLICITED_WAIT) != 0) {
      throw Misuse.argument(
          5,
          name
              + ".createEndpoint: "
              + attributes
              + "; it takes at least 0 receives, requests and reads, of at least 1 segment,"
              + " 0..7 retries, and DEFAULT or SOLICITED_WAIT as flags of receives");
    }
    final int most = device.limits().maxQpWr() - WorkQueue.MARKERS;
    final int sge = device.limits().maxSge();
    if (attributes.maxReceiveDtos() > most
        || attributes.maxRequestDtos() > most
        || attributes.maxReceiveIov() > sge
        || attributes.maxRequestIov() > sge) {
      throw Misuse.resources(
          ReturnSubtype.RESOURCE_TEP,
          name
              + ".createEndpoint: "
              + attributes
              + "; the provider has room for "
              + most
              + " receives and requests of "
              + sge
              + " segments");
    }
    return attributes;
  }

  private static boolean isNoRetryCount(final int count) {
    return count < 0 || count > 7;
  }

  private EvdImpl evd(final Evd evd, final EventStream stream, final ReturnSubtype subtype) {
    if (!(evd instanceof EvdImpl own) || own.ia() != this || !own.takes(stream)) {
      throw Misuse.handle(
          subtype, name + ": " + evd + " is not an EVD of this adapter that takes " + stream);
    }
    own.checkOpen(subtype, "use by an object of " + name);
    return own;
  }

  @Override
  public PublicServicePoint createPsp(final long connQual, final Evd evd) {
    checkOpen("createPsp");
    if (connQual < 1) {
      throw Misuse.argument(1, name + ".createPsp: connection qualifier " + connQual);
    }
    final PspImpl psp =
        new PspImpl(
            nameFor("psp"),
            this,
            evd(evd, EventStream.CONNECTION_REQUEST, ReturnSubtype.INVALID_HANDLE_EVD_CR),
            connQual);
    psp.open();
    return add(psp);
  }

  @Override
  public Cno createCno() {
    checkOpen("createCno");
    return add(new CnoImpl(nameFor("cno"), this));
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

  <T extends DatObject> T add(final T object) {
    if (!addIfOpen(object)) {
      if (object instanceof EvdImpl) {
        runtime.releaseEvd(); // nobody has it, and it has nothing of the provider's
      } else {
        object.close();
      }
      checkOpen("create");
    }
    return object;
  }

  synchronized boolean addIfOpen(final DatObject object) {
    return !closing && objects.add(object);
  }

  synchronized void remove(final DatObject object) {
    if (objects.remove(object) && object instanceof EvdImpl evd) {
      runtime.watchdog().remove(evd);
      runtime.releaseEvd();
    }
  }

  /** An EVD has a completion queue. */
  void watch(final EvdImpl evd) {
    runtime.watchdog().add(evd);
  }

  private synchronized void checkOpen(final String call) {
    if (closing) {
      throw Misuse.closed(ReturnSubtype.INVALID_HANDLE_IA, this, call);
    }
  }

  // Async errors.

  /** Puts an async error into the async EVD; from any thread. */
  void report(final AsyncSlot slot, final AsyncEvent.Kind kind, final String reason) {
    final AsyncEventImpl event = slot.add(kind, reason);
    if (event != null) {
      final EvdImpl to;
      synchronized (asyncLock) {
        to = asyncEvd;
        to.enqueue(event);
      }
      to.signalLane();
    }
  }

  /** An EVD is being closed: what it has of async errors is in its lane when this returned. */
  void leaveAsync(final EvdImpl evd) {
    synchronized (asyncLock) {
      if (asyncEvd == evd) {
        asyncEvd = ownAsyncEvd;
      }
    }
  }

  @Override
  public void asyncEvd(final Evd evd) {
    final EvdImpl to = evd(evd, EventStream.ASYNC, ReturnSubtype.INVALID_HANDLE_EVD_ASYNC);
    synchronized (asyncLock) {
      to.checkOpen(ReturnSubtype.INVALID_HANDLE_EVD_ASYNC, "use by " + name);
      asyncEvd = to; // whoever closes it comes to leaveAsync after this
    }
  }

  /** An object is closed: its async error, if one waits, goes into a report. */
  void withdraw(final AsyncSlot slot, final List<Event> into) {
    final EvdImpl from;
    synchronized (asyncLock) {
      from = asyncEvd;
    }
    slot.withdraw(from, into);
  }

  /** Called by the provider. */
  private void onAsync(final AsyncType type, final Object element) {
    switch (type) {
      case COMM_EST -> {
        final EndpointImpl endpoint = endpointOf(element);
        if (endpoint != null) {
          reaper.execute(endpoint.connection()::notifyEstablished);
        }
      }
      case QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR -> {
        final EndpointImpl endpoint = endpointOf(element);
        if (endpoint != null) {
          report(endpoint.asyncSlot(), AsyncEvent.Kind.EP_BROKEN, endpoint.name() + ": " + type);
          endpoint.connection().onBroken();
        }
      }
      case CQ_ERR -> {
        final EvdImpl evd = evdOf(element);
        if (evd != null) {
          report(evd.asyncSlot(), AsyncEvent.Kind.EVD_OVERFLOW, evd.name() + ": " + type);
        }
      }
      case DEVICE_FATAL -> report(asyncSlot, AsyncEvent.Kind.IA_CATASTROPHIC, name + ": " + type);
      case PORT_ERR ->
          report(asyncSlot, AsyncEvent.Kind.PROVIDER_INTERNAL_ERROR, name + ": " + type);
      case QP_LAST_WQE_REACHED, SRQ_LIMIT_REACHED, SRQ_ERR, PORT_ACTIVE -> {}
    }
  }

  private synchronized EndpointImpl endpointOf(final Object qp) {
    for (final DatObject object : objects) {
      if (object instanceof EndpointImpl endpoint && endpoint.qp() == qp) {
        return endpoint;
      }
    }
    return null;
  }

  private synchronized EvdImpl evdOf(final Object cq) {
    for (final DatObject object : objects) {
      if (object instanceof EvdImpl evd) {
        for (final CqFeed feed : evd.merger().feeds()) {
          if (feed.cq() == cq) {
            return evd;
          }
        }
      }
    }
    return null;
  }

  // Closing.

  @Override
  public void close() {
    synchronized (this) {
      if (!closing && !objects.isEmpty()) {
        throw Misuse.state(
            ReturnSubtype.INVALID_STATE_IA_IN_USE, name + ".close: open objects: " + objects);
      }
    }
    closeAbruptly(Duration.ofSeconds(5));
  }

  @Override
  public void closeAbruptly(final Duration bound) {
    Misuse.checkBound(bound, name + ".closeAbruptly");
    final List<DatObject> all;
    final boolean first;
    synchronized (this) {
      first = !closing;
      closing = true;
      all = new ArrayList<>(objects);
    }
    if (first) {
      closeAll(all, bound);
    }
    await(closed, bound, this);
  }

  private void closeAll(final List<DatObject> all, final Duration bound) {
    final Duration part = bound.dividedBy(3);
    final List<CompletableFuture<?>> drains = new ArrayList<>();
    for (final DatObject object : all) {
      if (object instanceof PspImpl || object instanceof CrImpl) {
        tolerate(object::close);
      } else if (object instanceof EndpointImpl endpoint) {
        drains.add(endpoint.drain().start(part));
      }
    }
    final CompletableFuture<Void> drained =
        CompletableFuture.allOf(drains.toArray(CompletableFuture[]::new));
    once(drained, part.multipliedBy(2), () -> closeEvds(all, part));
  }

  private void closeEvds(final List<DatObject> all, final Duration part) {
    final List<CompletableFuture<?>> closes = new ArrayList<>();
    for (final DatObject object : all) {
      if (object instanceof LmrImpl lmr) {
        tolerate(lmr::closeAbruptly);
      }
    }
    for (final DatObject object : all) {
      if (object instanceof PzImpl) {
        tolerate(object::close);
      } else if (object instanceof CnoImpl cno) {
        tolerate(cno::closeAbruptly);
      } else if (object instanceof EvdImpl evd) {
        tolerate(() -> closes.add(evd.closeAsAdapter(part)));
      }
    }
    tolerate(() -> closes.add(ownAsyncEvd.closeAsAdapter(part)));
    final CompletableFuture<Void> done =
        CompletableFuture.allOf(closes.toArray(CompletableFuture[]::new));
    once(done, part.multipliedBy(2), this::closeDevice);
  }

  private void closeDevice() {
    synchronized (this) {
      if (!objects.isEmpty()) {
        LOGGER.error("{}: closed abruptly, and these are stuck: {}", name, objects);
      }
    }
    tolerate(device::close);
    runtime.releaseEvd();
    afterClose.run();
    closed.complete(null);
  }

  /** Goes on by the reaper when something is done, or the time is over; once. */
  private void once(final CompletableFuture<Void> done, final Duration bound, final Runnable next) {
    final AtomicBoolean begun = new AtomicBoolean();
    final Runnable step =
        () -> {
          if (begun.compareAndSet(false, true)) {
            reaper.execute(next);
          }
        };
    final var unused = done.whenComplete((result, failure) -> step.run());
    reaper.schedule(bound, done, step);
  }

  private void tolerate(final Runnable call) {
    try {
      call.run();
    } catch (final RuntimeException e) {
      LOGGER.error("{}: abrupt close goes on after {}", name, e.toString(), e);
    }
  }

  /** Waits, unless this thread is the framework's: then what was begun ends by itself. */
  void await(final CompletableFuture<?> future, final Duration bound, final DatObject object) {
    if (!Dispatcher.isCurrent() && !Reaper.isCurrent()) {
      runtime.await(future, bound, object);
    }
  }

  /** What a consumer gets of a future: its code does not run on a thread of the framework. */
  <T> CompletionStage<T> stage(final CompletableFuture<T> future) {
    return runtime.isByHand() ? future.copy() : future.thenApplyAsync(Function.identity());
  }

  // What it is.

  @Override
  public InetAddress address() {
    return device.address();
  }

  @Override
  public Evd asyncEvd() {
    synchronized (asyncLock) {
      return asyncEvd;
    }
  }

  @Override
  public IaStatistics statistics() {
    final List<EvdStatistics> evds = new ArrayList<>();
    synchronized (this) {
      for (final DatObject object : objects) {
        if (object instanceof EvdImpl evd) {
          evds.add(evd.statistics());
        }
      }
    }
    evds.add(ownAsyncEvd.statistics());
    return new IaStatistics(name, runtime.dispatcherStatistics(), evds);
  }

  boolean isOwnAsyncEvd(final EvdImpl evd) {
    return evd == ownAsyncEvd;
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

  @Override
  public String name() {
    return name;
  }

  @Override
  public String toString() {
    return name;
  }
}
