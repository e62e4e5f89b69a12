package org.jdapl.evd.explorer;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListenHandler;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Declaration;
import org.jdapl.verbs.Delivery;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.DeviceLimits;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.MemoryWindow;
import org.jdapl.verbs.MwType;
import org.jdapl.verbs.NanoClock;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * A provider that watches how the core uses another one: nothing is used after it was destroyed or
 * destroyed twice, a queue pair is drained before it is destroyed, a region outlives the requests
 * that use it, no object is destroyed inside its own callback, all are destroyed before the device
 * is closed. One thread at a time.
 */
final class AuditedProvider implements VerbsProvider {

  private final VerbsProvider real;
  private final SteppedClock clock;
  private final Consumer<String> problems;
  private final List<Watched> devices = new ArrayList<>();
  private long calls;

  /**
   * @param clock of its devices, over that of the provider behind.
   * @param problems told what is wrong.
   */
  AuditedProvider(
      final VerbsProvider real, final SteppedClock clock, final Consumer<String> problems) {
    this.real = real;
    this.clock = clock;
    this.problems = problems;
  }

  /** The devices that were opened, in order. */
  List<Watched> devices() {
    return devices;
  }

  /** How many verbs were called. */
  long calls() {
    return calls;
  }

  @Override
  public String name() {
    return real.name();
  }

  @Override
  public Delivery delivery() {
    return real.delivery();
  }

  @Override
  public EventChannel createEventChannel() {
    return real.createEventChannel();
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    final Watched device = new Watched(real.open(parameters, channel));
    devices.add(device);
    return device;
  }

  /** Something with one life, and callbacks perhaps. */
  private abstract class Audited<T extends AutoCloseable> implements AutoCloseable {
    final Watched owner;
    final T real;
    private boolean closed;
    private int callbacks;

    private Audited(final Watched owner, final T real) {
      this.owner = owner;
      this.real = real;
      if (owner != null) {
        owner.open.add(this);
      }
    }

    final void use(final String verb) {
      calls++;
      if (closed) {
        problems.accept(this + ": " + verb + " after it was destroyed");
      }
    }

    final void callback(final Runnable handler) {
      callbacks++;
      try {
        handler.run();
      } finally {
        callbacks--;
      }
    }

    final boolean isClosed() {
      return closed;
    }

    /** What must be so before it is destroyed. */
    void check() {}

    abstract void destroy();

    @Override
    public final void close() {
      calls++;
      if (closed) {
        problems.accept(this + ": destroyed twice");
        return;
      }
      if (callbacks > 0) {
        problems.accept(this + ": destroyed inside its own callback, before that is acknowledged");
      }
      check();
      destroy();
      closed = true;
      if (owner != null) {
        owner.open.remove(this);
      }
    }

    @Override
    public final String toString() {
      return real.toString();
    }
  }

  /** A device. */
  final class Watched extends Audited<Device> implements Device {
    private final Set<Audited<?>> open = new LinkedHashSet<>();
    private final IdentityHashMap<Object, Audited<?>> byReal = new IdentityHashMap<>();
    private AsyncHandler handler;
    private Pair lastPair;
    private Shared lastShared;
    private boolean lost;
    private long excusedFrom = Long.MAX_VALUE;

    private Watched(final Device real) {
      super(null, real);
    }

    /** The queue pair that was created last. */
    Pair lastPair() {
      return lastPair;
    }

    /** The shared receive queue that was created last. */
    Shared lastShared() {
      return lastShared;
    }

    /** Has it say that it is gone. */
    void lose() {
      lost = true;
      if (handler != null && !isClosed()) {
        callback(() -> handler.onAsync(AsyncType.DEVICE_FATAL, this));
      }
    }

    /** From some time on a close may take away what is in use. */
    void excuseFrom(final long time) {
      excusedFrom = time;
    }

    private boolean isExcused() {
      return lost || clock().nanoTime() >= excusedFrom;
    }

    boolean isLost() {
      return lost;
    }

    boolean isOver() {
      return isClosed();
    }

    @Override
    void destroy() {
      real.close(); // refused while there are objects that it counts
      for (final Audited<?> left : open) {
        problems.accept(this + ": closed before " + left.getClass().getSimpleName() + " " + left);
      }
    }

    @Override
    public String name() {
      return real.name();
    }

    @Override
    public Declaration declaration() {
      return real.declaration();
    }

    @Override
    public DeviceLimits limits() {
      return real.limits();
    }

    @Override
    public Set<Capability> capabilities() {
      return real.capabilities();
    }

    @Override
    public InetAddress address() {
      return real.address();
    }

    @Override
    public NanoClock clock() {
      return clock;
    }

    @Override
    public void onAsync(final AsyncHandler to) {
      handler = to;
      real.onAsync(
          (type, element) -> {
            final Audited<?> own = byReal.get(element);
            lost |= type == AsyncType.DEVICE_FATAL;
            if (own instanceof Shared shared && type == AsyncType.SRQ_LIMIT_REACHED) {
              shared.limits++;
            }
            callback(() -> to.onAsync(type, own == null ? element : own));
          });
    }

    @Override
    public ProtectionDomain allocPd() {
      use("alloc_pd");
      return new Domain(this, real.allocPd());
    }

    @Override
    public MemoryRegion regMr(
        final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
      use("reg_mr");
      return new Region(this, real.regMr(((Domain) pd).real, buffer, access));
    }

    @Override
    public MemoryWindow allocMw(final ProtectionDomain pd, final MwType type) {
      use("alloc_mw");
      return new Window(this, real.allocMw(((Domain) pd).real, type));
    }

    @Override
    public CompletionQueue createCq(final int entries, final CqHandler to) {
      use("create_cq");
      final CompletionQueue[] made = new CompletionQueue[1];
      final Queue[] own = new Queue[1];
      made[0] = real.createCq(entries, cq -> own[0].callback(() -> to.onNotification(own[0])));
      own[0] = new Queue(this, made[0]);
      byReal.put(made[0], own[0]);
      return own[0];
    }

    @Override
    public SharedReceiveQueue createSrq(
        final ProtectionDomain pd, final int maxWr, final int maxSge) {
      use("create_srq");
      lastShared = new Shared(this, real.createSrq(((Domain) pd).real, maxWr, maxSge));
      byReal.put(lastShared.real, lastShared);
      return lastShared;
    }

    @Override
    public QueuePair createQp(final QpAttributes of) {
      use("create_qp");
      final Pair pair =
          new Pair(
              this,
              real.createQp(
                  new QpAttributes(
                      ((Domain) of.pd()).real,
                      ((Queue) of.sendCq()).real,
                      ((Queue) of.recvCq()).real,
                      of.srq() == null ? null : ((Shared) of.srq()).real,
                      of.maxSendWr(),
                      of.maxRecvWr(),
                      of.maxSendSge(),
                      of.maxRecvSge(),
                      of.maxInline())));
      ((Queue) of.sendCq()).pairs.add(pair);
      ((Queue) of.recvCq()).pairs.add(pair);
      byReal.put(pair.real, pair);
      lastPair = pair;
      return pair;
    }

    @Override
    public CmListener listen(final long service, final int backlog, final CmListenHandler to) {
      use("listen");
      final Listener[] own = new Listener[1];
      own[0] =
          new Listener(
              this,
              real.listen(
                  service,
                  backlog,
                  request -> own[0].callback(() -> to.onRequest(new Request(this, request)))));
      return own[0];
    }

    @Override
    public CmId connect(
        final QueuePair qp,
        final InetAddress remote,
        final long service,
        final CmParameters parameters,
        final CmHandler to) {
      use("connect");
      ((Pair) qp).use("connect");
      return id(real.connect(((Pair) qp).real, remote, service, parameters, told(to)));
    }

    private CmHandler told(final CmHandler to) {
      return (id, type, status, data) -> {
        final Id own = id(id);
        own.callback(() -> to.onCmEvent(own, type, status, data));
      };
    }

    /** Its events may come before the call that made it returned. */
    private Id id(final CmId of) {
      Audited<?> own = byReal.get(of);
      if (own == null) {
        own = new Id(this, of);
        byReal.put(of, own);
      }
      return (Id) own;
    }
  }

  private final class Domain extends Audited<ProtectionDomain> implements ProtectionDomain {
    private Domain(final Watched owner, final ProtectionDomain real) {
      super(owner, real);
    }

    @Override
    void destroy() {
      real.close();
    }
  }

  private final class Region extends Audited<MemoryRegion> implements MemoryRegion {
    private Region(final Watched owner, final MemoryRegion real) {
      super(owner, real);
    }

    @Override
    public long address() {
      return real.address();
    }

    @Override
    public long length() {
      return real.length();
    }

    @Override
    public int lkey() {
      return real.lkey();
    }

    @Override
    public int rkey() {
      return real.rkey();
    }

    @Override
    void check() {
      for (final Audited<?> other : owner.open) {
        if (other instanceof Pair pair && pair.uses(real.lkey()) && !owner.isExcused()) {
          problems.accept(this + ": its registration ends while a request of " + pair + " uses it");
        }
        if (other instanceof Shared shared && shared.uses(real.lkey()) && !owner.isExcused()) {
          problems.accept(
              this + ": its registration ends while a receive of " + shared + " uses it");
        }
        if (other instanceof Window window && window.bound == this && !owner.isExcused()) {
          problems.accept(this + ": its registration ends while " + window + " is bound to it");
        }
      }
    }

    @Override
    void destroy() {
      real.close();
    }
  }

  /** A memory window, and what it is bound to as far as completions tell. */
  private final class Window extends Audited<MemoryWindow> implements MemoryWindow {
    private MemoryRegion bound;
    private int key;
    private final Set<Integer> ended = new HashSet<>();

    private Window(final Watched owner, final MemoryWindow real) {
      super(owner, real);
    }

    @Override
    public int rkey() {
      return real.rkey();
    }

    private void bind(final MemoryRegion to, final int by) {
      bound = ended.contains(by) ? null : to;
      key = by;
    }

    private void end(final int by) {
      ended.add(by); // its bind may be polled afterwards
      if (key == by) {
        bound = null;
      }
    }

    @Override
    void destroy() {
      real.close();
      bound = null;
    }
  }

  private final class Id extends Audited<CmId> implements CmId {
    private Id(final Watched owner, final CmId real) {
      super(owner, real);
    }

    @Override
    public void disconnect() {
      use("disconnect");
      real.disconnect();
    }

    @Override
    public void notifyEstablished() {
      use("rdma_notify");
      real.notifyEstablished();
    }

    @Override
    public int readsIn() {
      return real.readsIn();
    }

    @Override
    public int readsOut() {
      return real.readsOut();
    }

    @Override
    void destroy() {
      real.close();
    }
  }

  private final class Listener extends Audited<CmListener> implements CmListener {
    private Listener(final Watched owner, final CmListener real) {
      super(owner, real);
    }

    @Override
    public long service() {
      return real.service();
    }

    @Override
    void destroy() {
      real.close();
    }
  }

  private record Request(Watched owner, CmRequest real) implements CmRequest {
    @Override
    public InetAddress remoteAddress() {
      return real.remoteAddress();
    }

    @Override
    public ByteBuffer privateData() {
      return real.privateData();
    }

    @Override
    public CmId accept(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
      ((Pair) qp).use("accept");
      return owner.id(real.accept(((Pair) qp).real, parameters, owner.told(handler)));
    }

    @Override
    public void reject(final int status, final ByteBuffer privateData) {
      real.reject(status, privateData);
    }
  }

  private final class Queue extends Audited<CompletionQueue> implements CompletionQueue {
    private final Set<Pair> pairs = new LinkedHashSet<>();

    /** Those that were destroyed, and this was seen empty since. */
    private final Set<Pair> past = new LinkedHashSet<>();

    private Queue(final Watched owner, final CompletionQueue real) {
      super(owner, real);
    }

    @Override
    public Device device() {
      return owner;
    }

    @Override
    public int capacity() {
      return real.capacity();
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      use("poll_cq");
      final int before = into.size();
      boolean isEmpty = false;
      try {
        final int found = real.poll(into, max);
        isEmpty = found == 0;
        return found;
      } finally {
        polled(into, before, isEmpty);
      }
    }

    @Override
    public int arm(final ArmKind kind) {
      use("req_notify_cq");
      return real.arm(kind);
    }

    @Override
    public RearmOutcome pollAndRearm(
        final WorkCompletions into, final int max, final ArmKind kind) {
      use("poll_and_rearm");
      final int before = into.size();
      boolean isEmpty = false;
      try {
        final RearmOutcome outcome = real.pollAndRearm(into, max, kind);
        isEmpty = into.size() == before;
        return outcome;
      } finally {
        polled(into, before, isEmpty);
      }
    }

    private void polled(final WorkCompletions into, final int before, final boolean isEmpty) {
      if (isEmpty) {
        pairs.stream().filter(Pair::isDestroyed).forEach(past::add);
      }
      for (int i = before; i < into.size(); i++) {
        final long wrId = into.wrId(i);
        final boolean success = into.status(i) == WcStatus.SUCCESS;
        if (success && into.hasInvalidated(i)) {
          for (final Audited<?> other : owner.open) {
            if (other instanceof Window window) {
              window.end(into.invalidatedRkey(i));
            }
          }
        }
        for (final Pair pair : pairs) {
          if (pair.sends.complete(wrId, success) || pair.receives.complete(wrId, success)) {
            break;
          }
        }
        for (final Audited<?> other : owner.open) {
          if (other instanceof Shared shared && shared.complete(wrId, into.qpNumber(i))) {
            mayBeLate(shared, wrId, into.qpNumber(i));
          }
        }
      }
    }

    /**
     * A shared receive names a queue pair by its number alone. It may be a past one that still owes
     * completions: a provider may hold them back, in order, and its marker has not come.
     */
    private void mayBeLate(final Shared shared, final long wrId, final int number) {
      if (past.stream().noneMatch(pair -> pair.number() == number && pair.owes())) {
        return;
      }
      boolean isNamed = false;
      for (final Pair pair : pairs) {
        if (!pair.isClosed() && pair.number() == number) {
          pair.isMistaken = true;
          isNamed = true;
        }
      }
      if (!isNamed) {
        shared.late.add(wrId);
      }
    }

    @Override
    void destroy() {
      real.close();
    }
  }

  private static List<Integer> lkeys(final SgeList list) {
    final List<Integer> lkeys = new ArrayList<>();
    for (int i = 0; i < list.sgeCount(); i++) {
      lkeys.add(list.sgeLkey(i));
    }
    return lkeys;
  }

  /** A shared receive queue. */
  final class Shared extends Audited<SharedReceiveQueue> implements SharedReceiveQueue {
    private final Map<Long, List<Integer>> receives = new HashMap<>();
    private final Map<Long, Integer> takers = new HashMap<>();
    private final Set<Long> late = new HashSet<>();
    private long lastPosted;
    private int limits;

    private Shared(final Watched owner, final SharedReceiveQueue real) {
      super(owner, real);
    }

    private boolean uses(final int lkey) {
      return receives.values().stream().anyMatch(lkeys -> lkeys.contains(lkey));
    }

    private boolean complete(final long wrId, final int qpNumber) {
      final boolean wasOpen = receives.remove(wrId) != null;
      if (wasOpen) {
        takers.put(wrId, qpNumber);
      }
      return wasOpen;
    }

    /** The wr_id of the receive that was posted last. */
    long lastPosted() {
      return lastPosted;
    }

    /** Whether a completion said that a queue pair took a receive. */
    boolean wasTakenBy(final Pair pair, final long wrId) {
      return takers.getOrDefault(wrId, -1) == pair.number();
    }

    /** Whether a receive completed when its queue pair was past: it is nobody's. */
    boolean wasLate(final long wrId) {
      return late.contains(wrId);
    }

    /** How many receives were posted of which no completion says that they are done. */
    int left() {
      return receives.size();
    }

    /** How often it said that few receives are left. */
    int limits() {
      return limits;
    }

    @Override
    public int postRecv(final RecvRequest request) {
      use("post_srq_recv");
      final int errno = real.postRecv(request);
      if (errno == 0) {
        receives.put(request.wrId, lkeys(request));
        lastPosted = request.wrId;
      }
      return errno;
    }

    @Override
    public void armLimit(final int limit) {
      use("modify_srq");
      real.armLimit(limit);
    }

    @Override
    public void resize(final int maxWr) {
      use("modify_srq");
      real.resize(maxWr);
    }

    @Override
    void destroy() {
      real.close();
    }
  }

  /** Requests of a work queue that are not known to be done, oldest first. */
  private static final class Open {
    private record Posted(
        long wrId, List<Integer> lkeys, Window window, MemoryRegion region, int key) {
      private void done() {
        if (window != null) {
          window.bind(region, key);
        }
      }
    }

    private final ArrayDeque<Posted> requests = new ArrayDeque<>();
    private long lastPosted;

    private void post(final long wrId, final SgeList list) {
      requests.add(new Posted(wrId, lkeys(list), null, null, 0));
      lastPosted = wrId;
    }

    private void post(final long wrId, final Window window, final MemoryRegion region) {
      final List<Integer> lkeys = region == null ? List.of() : List.of(region.lkey());
      requests.add(new Posted(wrId, lkeys, window, region, window.rkey()));
      lastPosted = wrId;
    }

    private boolean complete(final long wrId, final boolean success) {
      if (!has(wrId)) {
        return false;
      }
      Posted next = requests.remove();
      while (next.wrId != wrId) { // those before it were not signaled
        next.done();
        next = requests.remove();
      }
      if (success) {
        next.done();
      }
      return true;
    }

    private boolean has(final long wrId) {
      return requests.stream().anyMatch(request -> request.wrId == wrId);
    }

    private boolean uses(final int lkey) {
      return requests.stream().anyMatch(request -> request.lkeys.contains(lkey));
    }
  }

  /** A queue pair. */
  final class Pair extends Audited<QueuePair> implements QueuePair {
    private final Open sends = new Open();
    private final Open receives = new Open();
    private int leftBehind;
    private boolean isMistaken;

    private Pair(final Watched owner, final QueuePair real) {
      super(owner, real);
    }

    private boolean uses(final int lkey) {
      return sends.uses(lkey) || receives.uses(lkey);
    }

    /** The wr_id of the request that was posted last. */
    long lastPosted(final boolean receive) {
      return (receive ? receives : sends).lastPosted;
    }

    /** Whether a request was posted and no completion says that it is done. */
    boolean isOpen(final long wrId) {
      return sends.has(wrId) || receives.has(wrId);
    }

    /** How many requests were open when it was destroyed. */
    int leftBehind() {
      return leftBehind;
    }

    private boolean owes() {
      return !sends.requests.isEmpty() || !receives.requests.isEmpty();
    }

    /** Whether a late completion of a past queue pair with its number may count as its own. */
    boolean isMistaken() {
      return isMistaken;
    }

    boolean isDestroyed() {
      return isClosed();
    }

    @Override
    public int number() {
      return real.number();
    }

    @Override
    public int maxInline() {
      return real.maxInline();
    }

    @Override
    public int postSend(final SendRequest request) {
      use("post_send");
      final int errno = real.postSend(request);
      if (errno == 0) {
        sends.post(request.wrId, request);
      }
      return errno;
    }

    @Override
    public int postRecv(final RecvRequest request) {
      use("post_recv");
      final int errno = real.postRecv(request);
      if (errno == 0) {
        receives.post(request.wrId, request);
      }
      return errno;
    }

    @Override
    public int postBind(final BindRequest request) {
      use("bind_mw");
      final Window window = (Window) request.window;
      window.use("bind_mw");
      final BindRequest behind = new BindRequest();
      behind.wrId = request.wrId;
      behind.signaled = request.signaled;
      behind.fence = request.fence;
      behind.window = window.real;
      behind.region = request.region == null ? null : ((Region) request.region).real;
      behind.address = request.address;
      behind.length = request.length;
      behind.access = request.access;
      final int errno = real.postBind(behind);
      if (errno == 0) {
        sends.post(request.wrId, window, request.region);
      }
      return errno;
    }

    @Override
    public void modifyToError() {
      use("modify_qp");
      real.modifyToError();
    }

    @Override
    void destroy() {
      leftBehind = sends.requests.size() + receives.requests.size();
      real.close();
    }
  }
}
