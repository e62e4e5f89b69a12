package org.jdapl.examples.socket;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.ArmHint;
import org.jdapl.verbs.ArmModel;
import org.jdapl.verbs.ArmedAfterHint;
import org.jdapl.verbs.AsyncHandler;
import org.jdapl.verbs.AsyncType;
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
import org.jdapl.verbs.NotificationConcurrency;
import org.jdapl.verbs.PrivateDataLength;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.SecondArm;
import org.jdapl.verbs.SgeList;
import org.jdapl.verbs.SolicitedSupport;
import org.jdapl.verbs.VerbsException;

/**
 * A device: one lock for all of its objects, and one thread, which waits for sockets and calls
 * handlers, without the lock.
 */
final class SocketDevice implements Device {

  static final int MAX_MESSAGE = 32 << 20;
  static final int MAX_SGE = 16;
  static final int MAX_PRIVATE_DATA = 256;
  private static final long LOOK_MILLIS = 1;

  // tag::declaration[]
  private static final Declaration DECLARATION =
      new Declaration(
          ArmModel.WEAK,
          ArmHint.EXACT,
          ArmedAfterHint.YES,
          SecondArm.COUNTED,
          NotificationConcurrency.SERIAL,
          false,
          SolicitedSupport.FULL,
          LastWqe.NEVER,
          PrivateDataLength.EXACT);
  // end::declaration[]

  // tag::limits[]
  private static final DeviceLimits LIMITS =
      new DeviceLimits(
          1 << 12,
          1 << 12,
          MAX_SGE,
          1 << 12,
          1 << 16,
          1 << 12,
          1 << 12,
          0,
          0,
          0,
          0,
          MAX_MESSAGE,
          16,
          16,
          MAX_PRIVATE_DATA,
          MAX_PRIVATE_DATA,
          MAX_PRIVATE_DATA);

  // end::limits[]

  private record Upcall(SocketObject owner, Runnable call) {}

  final Object lock = new Object();
  final Set<SocketConnection> starving = new HashSet<>(); // hold a message, but have no receive
  private final Selector selector = Selector.open();
  private final Thread thread = new Thread(this::run, "socket-device");
  private final ArrayDeque<Upcall> upcalls = new ArrayDeque<>();
  private final Set<SocketObject> objects = new LinkedHashSet<>();
  private final Map<Integer, SocketMr> regions = new HashMap<>();
  private AsyncHandler asyncHandler = (type, element) -> {};
  private SocketObject running; // whose handler the thread is in
  private long rounds;
  private long wantedRounds;
  private long nextAddress = 1 << 20;
  private int nextKey = 2;
  private int nextQp = 1;
  private boolean closed;
  private volatile boolean isStopped;
  private boolean isEnded;
  private boolean isBusy; // known to the thread only

  SocketDevice() throws IOException {
    thread.setDaemon(true);
    thread.start();
  }

  // tag::engine[]
  private void run() {
    try {
      while (!isStopped) {
        selector.select(isBusy ? LOOK_MILLIS : 0);
        look();
        callHandlers();
      }
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      synchronized (lock) {
        isEnded = true;
        running = null;
        lock.notifyAll();
      }
    }
  }

  private void look() {
    synchronized (lock) {
      selector.selectedKeys().forEach(key -> ((Runnable) key.attachment()).run());
      selector.selectedKeys().clear();
      List.copyOf(starving).forEach(SocketConnection::serve);
      rounds++;
      isBusy = !starving.isEmpty() || rounds < wantedRounds;
      lock.notifyAll();
    }
  }

  private void callHandlers() {
    Upcall next = nextUpcall();
    while (next != null) {
      try {
        next.call().run();
      } catch (final RuntimeException e) { // a mistake of its own; it must not end this thread
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
      next = nextUpcall();
    }
  }

  private Upcall nextUpcall() {
    synchronized (lock) {
      Upcall next = upcalls.poll();
      while (next != null && next.owner().closed) {
        next = upcalls.poll();
      }
      running = next == null ? null : next.owner();
      lock.notifyAll();
      return next;
    }
  }

  /** Has a handler called by the thread, unless its owner is closed first. */
  void later(final SocketObject owner, final Runnable call) {
    upcalls.add(new Upcall(owner, call));
    selector.wakeup();
  }

  // end::engine[]

  // tag::barrier[]
  void refuseInside(final SocketObject owner) {
    if (running == owner && Thread.currentThread() == thread) {
      throw owner.error("destroy", VerbsException.EBUSY, "called inside its own handler");
    }
  }

  /** Returns when no handler of a closed object runs. */
  void awaitHandler(final SocketObject owner) {
    if (Thread.currentThread() != thread) {
      await(() -> running != owner);
    }
  }

  /** An interrupt must not break a barrier; it is kept for later. */
  private void await(final BooleanSupplier condition) {
    boolean isInterrupted = false;
    while (!condition.getAsBoolean()) {
      try {
        lock.wait();
      } catch (final InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  // end::barrier[]

  /** Returns when the selector has let go of channels that were closed. */
  void awaitRound() {
    synchronized (lock) {
      if (Thread.currentThread() != thread) {
        final long enough = rounds + 2; // the one under way may have selected before
        wantedRounds = Math.max(wantedRounds, enough);
        selector.wakeup();
        await(() -> rounds >= enough || isEnded);
      }
    }
  }

  SelectionKey register(final SelectableChannel channel, final int operations, final Runnable ready)
      throws IOException {
    channel.configureBlocking(false);
    final SelectionKey key = channel.register(selector, operations, ready);
    selector.wakeup();
    return key;
  }

  void async(final AsyncType type, final SocketObject element) {
    later(element, () -> asyncHandler.onAsync(type, element));
  }

  /** The parts of a request's elements; null if one is not to be used so. */
  ByteBuffer[] parts(final SocketPd pd, final SgeList list, final Access right) {
    final ByteBuffer[] parts = new ByteBuffer[list.sgeCount()];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = part(pd, list.sgeLkey(i), list.sgeAddress(i), list.sgeLength(i), right);
      if (parts[i] == null) {
        return null;
      }
    }
    return parts;
  }

  ByteBuffer part(
      final SocketPd pd, final int key, final long from, final int length, final Access right) {
    if (length == 0) {
      return ByteBuffer.allocate(0); // the key does not count then
    }
    final SocketMr region = regions.get(key & ~1);
    return region == null ? null : region.part(pd, key, from, length, right);
  }

  void wakeup() {
    selector.wakeup();
  }

  void forget(final SocketMr region) {
    regions.remove(region.lkey());
  }

  void remove(final SocketObject object) {
    objects.remove(object);
  }

  <T extends SocketObject> T add(final T object) {
    objects.add(object);
    return object;
  }

  private void checkRoom(final String verb, final Class<?> type, final int limit) {
    checkOpen(verb);
    if (objects.stream().filter(type::isInstance).count() >= limit) {
      throw new VerbsException(
          verb, name(), VerbsException.ENOMEM, "there are " + limit + "; close one first");
    }
  }

  void checkOpen(final String verb, final SocketObject object) {
    checkOpen(verb);
    if (object.closed) {
      throw object.error(verb, VerbsException.EINVAL, "it is closed");
    }
  }

  private void checkOpen(final String verb) {
    if (closed) {
      throw new VerbsException(verb, name(), VerbsException.ENODEV, "the device is closed");
    }
  }

  /** An object given to a verb, if it is an open one of this device. */
  <T extends SocketObject> T own(final String verb, final Class<T> type, final Object object) {
    checkOpen(verb);
    if (type.isInstance(object) && type.cast(object).device == this && !type.cast(object).closed) {
      return type.cast(object);
    }
    throw invalid(verb, object + "; expected an open " + type.getSimpleName() + " of this device");
  }

  byte[] privateData(final String verb, final ByteBuffer data) {
    final byte[] copy = new byte[data == null ? 0 : data.remaining()];
    if (copy.length > MAX_PRIVATE_DATA) {
      throw invalid(verb, copy.length + " bytes of private data; expected <= " + MAX_PRIVATE_DATA);
    }
    if (data != null) {
      data.duplicate().get(copy);
    }
    return copy;
  }

  private VerbsException invalid(final String verb, final String detail) {
    return new VerbsException(verb, name(), VerbsException.EINVAL, detail);
  }

  private void checkSize(final String verb, final String what, final long size, final long max) {
    if (size < 0 || size > max) {
      throw invalid(verb, what + " " + size + "; expected 0 to " + max);
    }
  }

  @Override
  public String name() {
    return "socket0";
  }

  @Override
  public Declaration declaration() {
    return DECLARATION;
  }

  @Override
  public DeviceLimits limits() {
    return LIMITS;
  }

  @Override
  public InetAddress address() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public void onAsync(final AsyncHandler handler) {
    synchronized (lock) {
      asyncHandler = handler;
    }
  }

  @Override
  public ProtectionDomain allocPd() {
    synchronized (lock) {
      checkRoom("alloc_pd", SocketPd.class, LIMITS.maxPd());
      return add(new SocketPd(this));
    }
  }

  // tag::regMr[]
  @Override
  public MemoryRegion regMr(
      final ProtectionDomain pd, final ByteBuffer buffer, final Set<Access> access) {
    final boolean isWritable = access.contains(Access.LOCAL_WRITE);
    if (!buffer.isDirect() || (isWritable && buffer.isReadOnly())) {
      throw invalid("reg_mr", buffer + " for " + access + "; expected a direct one, to be written");
    }
    if (access.contains(Access.REMOTE_WRITE) && !isWritable) {
      throw invalid("reg_mr", access + "; writes of the peer need LOCAL_WRITE too");
    }
    synchronized (lock) {
      final SocketPd domain = own("reg_mr", SocketPd.class, pd);
      checkRoom("reg_mr", SocketMr.class, LIMITS.maxMr());
      final SocketMr region = add(new SocketMr(domain, buffer, access, nextAddress, nextKey));
      regions.put(nextKey, region);
      nextKey += 2;
      nextAddress += buffer.capacity() + (1 << 20); // never adjacent
      return region;
    }
  }

  // end::regMr[]

  @Override
  public CompletionQueue createCq(final int entries, final CqHandler handler) {
    checkSize("create_cq", "entries - 1", entries - 1L, LIMITS.maxCqe() - 1);
    synchronized (lock) {
      checkRoom("create_cq", SocketCq.class, LIMITS.maxCq());
      return add(new SocketCq(this, entries, handler));
    }
  }

  @Override
  public QueuePair createQp(final QpAttributes attributes) {
    checkSize("create_qp", "maxSendWr", attributes.maxSendWr(), LIMITS.maxQpWr());
    checkSize("create_qp", "maxRecvWr", attributes.maxRecvWr(), LIMITS.maxQpWr());
    checkSize("create_qp", "maxSendSge", attributes.maxSendSge(), MAX_SGE);
    checkSize("create_qp", "maxRecvSge", attributes.maxRecvSge(), MAX_SGE);
    if (attributes.srq() != null) {
      throw VerbsException.unsupported("create_qp with an SRQ", name());
    }
    synchronized (lock) {
      final SocketPd pd = own("create_qp", SocketPd.class, attributes.pd());
      final SocketCq sendCq = own("create_qp", SocketCq.class, attributes.sendCq());
      final SocketCq recvCq = own("create_qp", SocketCq.class, attributes.recvCq());
      checkRoom("create_qp", SocketQp.class, LIMITS.maxQp());
      final int number = nextQp++ & 0xffffff;
      return add(new SocketQp(pd, sendCq, recvCq, number, attributes));
    }
  }

  @Override
  public CmListener listen(final long service, final int backlog, final CmListenHandler handler) {
    checkSize("listen", "service", service, 65_535);
    checkSize("listen", "backlog", backlog, Integer.MAX_VALUE);
    synchronized (lock) {
      checkOpen("listen");
      return add(new SocketListener(this, (int) service, backlog, handler));
    }
  }

  @Override
  public CmId connect(
      final QueuePair qp,
      final InetAddress remote,
      final long service,
      final CmParameters parameters,
      final CmHandler handler) {
    checkSize("connect", "service", service, 65_535);
    final byte[] data = privateData("connect", parameters.privateData());
    synchronized (lock) {
      final SocketQp own = own("connect", SocketQp.class, qp);
      final SocketConnection id = SocketConnection.active(own, handler, parameters, data);
      id.connect(remote, (int) service);
      return add(id);
    }
  }

  /** Ends listeners and connections too, as the end of the process would. */
  @Override
  public void close() {
    final List<SocketObject> last;
    synchronized (lock) {
      if (closed) {
        return;
      }
      if (Thread.currentThread() == thread) {
        throw new VerbsException("close", name(), VerbsException.EBUSY, "called inside a handler");
      }
      last = List.copyOf(objects);
      for (final SocketObject object : last) {
        if (!(object instanceof CmId) && !(object instanceof CmListener)) {
          throw new VerbsException(
              "close_device", name(), VerbsException.EBUSY, object + " is left; close it first");
        }
      }
      closed = true;
    }
    last.forEach(SocketObject::close);
    synchronized (lock) {
      isStopped = true;
      selector.wakeup();
      await(() -> isEnded);
    }
    try {
      selector.keys().forEach(key -> SocketConnection.close(key.channel()));
      selector.close();
    } catch (final IOException e) {
      throw new VerbsException("close_device", name(), VerbsException.EIO, e.toString());
    }
  }

  @Override
  public String toString() {
    return name();
  }
}
