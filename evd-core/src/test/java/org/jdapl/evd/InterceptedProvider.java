package org.jdapl.evd;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.CmEventType;
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
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.VerbsProvider;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/**
 * A provider whose device calls a hook inside each verb, on the caller's thread. It moves no data;
 * what the connection manager says, a test says.
 */
final class InterceptedProvider implements VerbsProvider, Device {

  private static final int SIZE = 1 << 10;

  /** Told of each verb by its name; what it throws, the verb throws. */
  volatile Consumer<String> hook = verb -> {};

  /** Whether notifications wait for {@link #release}. */
  volatile boolean holdsNotifications;

  /** Whether requests are done only when a test says so. */
  volatile boolean holdsSends;

  /** The statuses of the requests that were rejected. */
  final List<Integer> rejections = new CopyOnWriteArrayList<>();

  /** To be set before it is opened. */
  volatile int maxCqe = SIZE;

  private final Delivery delivery;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Qp> qps = new ArrayList<>();
  private final Queue<Runnable> held = new ArrayDeque<>();
  private final Id id = new Id();
  private final AtomicInteger objects = new AtomicInteger();
  private volatile CmHandler cmHandler;
  private volatile CmListenHandler listenHandler;
  private final Map<Long, CmListenHandler> listeners = new ConcurrentHashMap<>();
  private volatile AsyncHandler asyncHandler;
  private volatile boolean closed;

  InterceptedProvider() {
    this(Delivery.PUSH);
  }

  InterceptedProvider(final Delivery delivery) {
    this.delivery = delivery;
  }

  // What a test does.

  /** Something happens to the connection that was asked for or accepted last. */
  void tell(final CmEventType type, final int status) {
    tell(type, status, new byte[0]);
  }

  /** It happens with private data. */
  void tell(final CmEventType type, final int status, final byte[] privateData) {
    cmHandler.onCmEvent(id, type, status, ByteBuffer.wrap(privateData));
  }

  /** Whether something can happen to a connection: one was asked for or accepted. */
  boolean hasConnection() {
    return cmHandler != null;
  }

  /** From now on it does not tell of the connections of before. */
  void forgetConnections() {
    cmHandler = null;
  }

  /** Whether somebody listens at a service. */
  boolean isListening(final long service) {
    return listeners.containsKey(service);
  }

  /** A peer asks for a connection at a service. */
  void ask(final long service) {
    listeners.get(service).onRequest(new Request());
  }

  /** A peer asks for a connection where the last service point was created, closed or not. */
  void ask() {
    listenHandler.onRequest(new Request());
  }

  /** An asynchronous error of a queue pair. */
  void fail(final int qp, final AsyncType type) {
    asyncHandler.onAsync(type, qps.get(qp));
  }

  /** The device is gone. */
  void lose() {
    asyncHandler.onAsync(AsyncType.DEVICE_FATAL, this);
  }

  /** All receives of a queue pair are flushed, as if it had left for the error state. */
  void flush(final int qp) {
    qps.get(qp).enterError();
  }

  /** The requests of a queue pair that were held are done. */
  void done(final int qp, final WcStatus status) {
    qps.get(qp).done(status);
  }

  /** Whether a queue pair has requests that are held. */
  boolean isHolding(final int qp) {
    return !qps.get(qp).sends.isEmpty();
  }

  /** Whether a queue pair has a receive for a message. */
  boolean canReceive(final int qp) {
    return !qps.get(qp).receives.isEmpty();
  }

  /** The oldest receive of a queue pair gets its message. */
  void receive(final int qp) {
    qps.get(qp).receive();
  }

  /** Whether the device was closed. */
  boolean isClosed() {
    return closed;
  }

  /** Gives the notifications that were held. */
  void release() {
    holdsNotifications = false;
    Runnable notification;
    while ((notification = held.poll()) != null) {
      notification.run();
    }
  }

  private void call(final String verb) {
    hook.accept(verb);
  }

  private void create(final String verb) {
    call(verb);
    objects.incrementAndGet();
  }

  private void destroy(final String verb) {
    call(verb);
    objects.decrementAndGet();
  }

  // The provider.

  @Override
  public String name() {
    return "hooked";
  }

  @Override
  public Delivery delivery() {
    return delivery;
  }

  @Override
  public EventChannel createEventChannel() {
    return new Channel();
  }

  @Override
  public Device open(final String parameters, final EventChannel channel) {
    call("open_device");
    return this;
  }

  @Override
  public Declaration declaration() {
    return Declaration.weakest();
  }

  @Override
  public Set<Capability> capabilities() {
    return Set.of(Capability.values());
  }

  @Override
  public DeviceLimits limits() {
    return new DeviceLimits.Builder()
        .maxQp(SIZE)
        .maxQpWr(SIZE)
        .maxSge(16)
        .maxCq(SIZE)
        .maxCqe(maxCqe)
        .maxMr(SIZE)
        .maxMw(SIZE)
        .maxSrq(SIZE)
        .maxSrqWr(SIZE)
        .maxSrqSge(1)
        .maxPd(SIZE)
        .maxMessageBytes(1 << 30)
        .maxReadsIn(1)
        .maxReadsOut(1)
        .connectPrivateData(56)
        .acceptPrivateData(196)
        .rejectPrivateData(148)
        .build();
  }

  @Override
  public InetAddress address() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public void onAsync(final AsyncHandler handler) {
    call("on_async");
    asyncHandler = handler;
  }

  @Override
  public ProtectionDomain allocPd() {
    create("alloc_pd");
    return () -> destroy("dealloc_pd");
  }

  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    create("reg_mr");
    return new Region(buffer.capacity());
  }

  @Override
  public MemoryWindow allocMw(final ProtectionDomain pd, final MwType type) {
    create("alloc_mw");
    return new Window();
  }

  @Override
  public SharedReceiveQueue createSrq(
      final ProtectionDomain pd, final int maxWr, final int maxSge) {
    create("create_srq");
    return new Srq();
  }

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    create("create_cq");
    return new Cq(handler);
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    create("create_qp");
    final Qp qp = new Qp((Cq) attributes.sendCq(), (Cq) attributes.recvCq(), qps.size() + 1);
    qps.add(qp);
    return qp;
  }

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    listenHandler = handler; // requests may come before the call returns
    call("listen");
    listeners.put(service, handler);
    return new Listener(service);
  }

  @Override
  public CmId connect(
      final QueuePair qp,
      final InetAddress remote,
      final long service,
      final CmParameters parameters,
      final CmHandler handler) {
    cmHandler = handler;
    call("connect");
    return id;
  }

  @Override
  public void close() {
    call("close_device");
    if (objects.get() > 0) {
      throw new VerbsException("close_device", name(), VerbsException.EBUSY, objects + " left");
    }
    closed = true;
  }

  private final class Id implements CmId {
    @Override
    public void disconnect() {
      call("disconnect");
    }

    @Override
    public void notifyEstablished() {
      call("rdma_notify");
    }

    @Override
    public void close() {
      call("destroy_id");
    }
  }

  private final class Listener implements CmListener {
    private final long service;

    private Listener(final long service) {
      this.service = service;
    }

    @Override
    public long service() {
      return service;
    }

    @Override
    public void close() {
      call("close_listener");
      listeners.remove(service);
    }
  }

  private final class Request implements CmRequest {
    @Override
    public InetAddress remoteAddress() {
      return address();
    }

    @Override
    public ByteBuffer privateData() {
      return ByteBuffer.allocate(0);
    }

    @Override
    public CmId accept(final QueuePair qp, final CmParameters parameters, final CmHandler handler) {
      cmHandler = handler;
      call("accept");
      return id;
    }

    @Override
    public void reject(final int status, final ByteBuffer data) {
      rejections.add(status);
      call("reject");
    }
  }

  private final class Region implements MemoryRegion {
    private final long length;

    private Region(final long length) {
      this.length = length;
    }

    @Override
    public long address() {
      return 0;
    }

    @Override
    public long length() {
      return length;
    }

    @Override
    public int lkey() {
      return 1;
    }

    @Override
    public int rkey() {
      return 1;
    }

    @Override
    public void close() {
      destroy("dereg_mr");
    }
  }

  private final class Window implements MemoryWindow {
    private final AtomicInteger key = new AtomicInteger();
    private volatile boolean closed;

    @Override
    public int rkey() {
      call("rkey");
      if (closed) {
        throw new VerbsException("rkey", name(), VerbsException.EINVAL, "it was freed");
      }
      return key.get();
    }

    @Override
    public void close() {
      destroy("dealloc_mw");
      closed = true;
    }
  }

  /** Nobody takes its receives. */
  private final class Srq implements SharedReceiveQueue {
    @Override
    public int postRecv(final RecvRequest request) {
      call("post_srq_recv");
      return 0;
    }

    @Override
    public void resize(final int maxWr) {
      call("modify_srq");
    }

    @Override
    public void close() {
      destroy("destroy_srq");
    }
  }

  private final class Channel implements EventChannel {
    private final Semaphore wakeUps = new Semaphore(0);

    @Override
    public int await(final long timeoutNanos) {
      call("await");
      try {
        if (wakeUps.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS)) {
          wakeUps.drainPermits();
        }
      } catch (final InterruptedException e) {
        throw new AssertionError(e);
      }
      return 0;
    }

    @Override
    public void wakeup() {
      call("wakeup");
      wakeUps.release();
    }

    @Override
    public void close() {
      call("close_channel");
    }
  }

  private record Completion(long wrId, WcStatus status) {}

  private final class Cq implements CompletionQueue {
    private final CqHandler handler;
    private final Queue<Completion> completions = new ArrayDeque<>();
    private boolean armed;

    private Cq(final CqHandler handler) {
      this.handler = handler;
    }

    /** Called with the lock. */
    private void add(final long wrId, final WcStatus status) {
      completions.add(new Completion(wrId, status));
      if (armed) {
        armed = false;
        if (holdsNotifications) {
          held.add(() -> handler.onNotification(this));
        } else {
          handler.onNotification(this);
        }
      }
    }

    @Override
    public Device device() {
      return InterceptedProvider.this;
    }

    @Override
    public int capacity() {
      return SIZE;
    }

    @Override
    public int poll(final WorkCompletions into, final int max) {
      call("poll_cq");
      lock.lock();
      try {
        int taken = 0;
        while (taken < max && !completions.isEmpty()) {
          final Completion next = completions.remove();
          into.add(next.wrId, next.status, WcOpcode.SEND, 1, 1, 0, false, 0);
          taken++;
        }
        return taken;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public int arm(final ArmKind kind) {
      call("req_notify_cq");
      lock.lock();
      try {
        armed = true;
        return completions.isEmpty() ? 0 : 1;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      destroy("destroy_cq");
    }
  }

  private final class Qp implements QueuePair {
    private final Cq sendCq;
    private final Cq recvCq;
    private final int number;
    private final Queue<Long> receives = new ArrayDeque<>();
    private final Queue<Long> sends = new ArrayDeque<>();
    private boolean error;

    private Qp(final Cq sendCq, final Cq recvCq, final int number) {
      this.sendCq = sendCq;
      this.recvCq = recvCq;
      this.number = number;
    }

    private void enterError() {
      lock.lock();
      try {
        error = true;
        done(WcStatus.WR_FLUSH_ERR);
        while (!receives.isEmpty()) {
          recvCq.add(receives.remove(), WcStatus.WR_FLUSH_ERR);
        }
      } finally {
        lock.unlock();
      }
    }

    private void done(final WcStatus status) {
      lock.lock();
      try {
        while (!sends.isEmpty()) {
          sendCq.add(sends.remove(), status);
        }
      } finally {
        lock.unlock();
      }
    }

    private void receive() {
      lock.lock();
      try {
        recvCq.add(receives.remove(), WcStatus.SUCCESS);
      } finally {
        lock.unlock();
      }
    }

    @Override
    public int number() {
      return number;
    }

    @Override
    public int postSend(final SendRequest request) {
      call("post_send");
      return post(request.wrId);
    }

    @Override
    public int postBind(final BindRequest request) {
      call("bind_mw");
      ((Window) request.window).key.incrementAndGet();
      return post(request.wrId);
    }

    private int post(final long wrId) {
      lock.lock();
      try {
        if (holdsSends && !error) {
          sends.add(wrId);
        } else {
          sendCq.add(wrId, error ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS);
        }
        return 0;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public int postRecv(final RecvRequest request) {
      call("post_recv");
      lock.lock();
      try {
        if (error) {
          recvCq.add(request.wrId, WcStatus.WR_FLUSH_ERR);
        } else {
          receives.add(request.wrId);
        }
        return 0;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void modifyToError() {
      call("modify_qp");
      enterError();
    }

    @Override
    public void close() {
      destroy("destroy_qp");
    }
  }

  /**
   * A verb fails from now on.
   *
   * @return the verbs that are called from now on.
   */
  List<String> refuse(final String refused) {
    final List<String> verbs = new ArrayList<>();
    hook =
        verb -> {
          verbs.add(verb);
          if (verb.equals(refused)) {
            throw refused(verb);
          }
        };
    return verbs;
  }

  /** What a verb throws that a test wants to fail. */
  static VerbsException refused(final String verb) {
    return new VerbsException(verb, "hooked", VerbsException.EINVAL, "the test says no");
  }
}
