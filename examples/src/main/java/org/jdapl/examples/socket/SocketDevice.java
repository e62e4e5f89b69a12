package org.jdapl.examples.socket;

import java.io.IOException;
import java.net.*;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.verbs.*;

/** A device: its monitor guards all that it has, but is not held when a handler is called. */
final class SocketDevice implements Device {

  static final int MAX_BYTES = 1 << 30;
  private static final int MANY = 1 << 16;

  // tag::declaration[]
  private static final Declaration DECLARATION =
      new Declaration(
          ArmModel.WEAK,
          ArmHint.EXACT,
          ArmedAfterHint.YES,
          SecondArm.IGNORED,
          NotificationConcurrency.SERIAL,
          false,
          SolicitedSupport.UNSUPPORTED,
          LastWqe.NEVER,
          PrivateDataLength.EXACT);
  private static final DeviceLimits LIMITS =
      new DeviceLimits(
          MANY, MANY, 16, MANY, MANY, MANY, MANY, 0, 0, 0, 0, MAX_BYTES, 1, 1, 256, 256, 256);

  // end::declaration[]

  private record Pd(SocketDevice device) implements ProtectionDomain {
    @Override
    public void close() {
      device.close(this, () -> {});
    }
  }

  private record Mr(
      SocketDevice device,
      ProtectionDomain pd,
      ByteBuffer buffer,
      Set<Access> access,
      long address,
      long length,
      int lkey,
      int rkey)
      implements MemoryRegion {
    @Override
    public void close() {
      device.close(this, () -> device.regions.remove(lkey));
    }
  }

  final Map<SocketConnection, SocketListener> requests = new HashMap<>(); // to be answered
  private final Map<Integer, Mr> regions = new HashMap<>();
  final Map<Object, List<Object>> open = // objects, and what each uses
      Collections.synchronizedMap(new IdentityHashMap<>());
  final ExecutorService handlers = Executors.newSingleThreadExecutor(SocketDevice::daemon);
  AsyncHandler async;
  private boolean closed;
  private int lastNumber;

  static Thread daemon(Runnable body) {
    Thread thread = new Thread(body, "socket-device");
    thread.setDaemon(true);
    return thread;
  }

  // tag::objects[]
  void check(boolean is, String verb, int errno, String detail) {
    if (!is) {
      throw new VerbsException(verb, name(), errno, detail);
    }
  }

  void check(boolean is, String verb, String detail) {
    check(is, verb, VerbsException.EINVAL, detail);
  }

  void own(String verb, Object object) {
    check(open.containsKey(object), verb, object + "; expected an open object of this device");
  }

  synchronized <T> T add(String verb, T object, Object... uses) {
    check(!closed, verb, VerbsException.ENODEV, "the device is closed");
    for (Object used : uses) {
      own(verb, used);
    }
    open.put(object, List.of(uses));
    return object;
  }

  void close(Object object, Runnable last) {
    synchronized (this) {
      boolean isUsed = open.values().stream().flatMap(List::stream).anyMatch(o -> o == object);
      check(!isUsed, "close", VerbsException.EBUSY, object + " is used; close its users first");
      if (open.remove(object) != null) {
        last.run();
      }
    }
    call(object, () -> {}); // returns when no handler of it runs; none will
  }

  /** Has a handler of an object called, if the object is open then. */
  void later(Object object, Runnable handler) {
    handlers.execute(() -> call(object, handler));
  }

  /** Calls a handler with no lock held but one that its object's close waits for. */
  boolean call(Object object, Runnable handler) {
    synchronized (object) {
      if (open.containsKey(object)) {
        handler.run();
        return true;
      }
      return false;
    }
  }

  // end::objects[]

  // tag::memory[]
  /** A part of a region; null if it must not be used so. Local reads need no right. */
  ByteBuffer memory(ProtectionDomain pd, int key, long address, int length, Access right) {
    Mr mr = regions.get(key);
    if (mr == null || mr.pd != pd || (right != null && !mr.access.contains(right))) {
      return null;
    }
    long offset = address - mr.address;
    boolean isInside = offset >= 0 && length >= 0 && offset <= mr.length - length;
    return isInside ? mr.buffer.slice((int) offset, length) : null;
  }

  // end::memory[]

  Frame frame(String verb, int value, ByteBuffer data) {
    int length = data.remaining();
    check(length <= 256, verb, length + " bytes of private data; expected at most 256");
    return Frame.answer(value, ByteBuffer.allocate(length).put(data.duplicate()).flip());
  }

  private int port(String verb, long service) {
    check(service >= 0 && service <= 0xffff, verb, service + "; expected a TCP port");
    return (int) service;
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
  public void onAsync(AsyncHandler told) {
    async = told;
  }

  // tag::create[]
  @Override
  public ProtectionDomain allocPd() {
    return add("alloc_pd", new Pd(this));
  }

  @Override
  public synchronized MemoryRegion regMr(
      ProtectionDomain pd, ByteBuffer buffer, Set<Access> access) {
    boolean isFit =
        buffer.isDirect() && !(access.contains(Access.LOCAL_WRITE) && buffer.isReadOnly());
    check(isFit, "reg_mr", VerbsException.EINVAL, buffer + " for " + access);
    int key = ++lastNumber;
    long address = (long) key << Integer.SIZE; // made up; two regions are never adjacent
    ByteBuffer all = buffer.duplicate().clear();
    Mr mr = new Mr(this, pd, all, Set.copyOf(access), address, all.capacity(), key, key);
    regions.put(key, add("reg_mr", mr, pd));
    return mr;
  }

  @Override
  public CompletionQueue createCq(int size, CqHandler told) {
    check(size <= MANY, "create_cq", size + " entries; expected at most " + MANY);
    Queue<SocketCq.Wc> queue = new ArrayDeque<>();
    return add("create_cq", new SocketCq(this, size, told, queue, new AtomicBoolean()));
  }

  @Override
  public synchronized QueuePair createQp(QpAttributes how) {
    boolean isFit = Math.max(how.maxSendWr(), how.maxRecvWr()) <= MANY && how.srq() == null;
    check(isFit, "create_qp", how + "; expected at most " + LIMITS);
    SocketQp qp = new SocketQp(this, how, ++lastNumber & 0xff_ffff);
    return add("create_qp", qp, how.pd(), how.sendCq(), how.recvCq());
  }

  // end::create[]

  @Override
  public synchronized CmListener listen(long service, int backlog, CmListenHandler told) {
    check(!closed, "listen", VerbsException.ENODEV, "the device is closed");
    try {
      ServerSocket server = new ServerSocket(port("listen", service), 0, address());
      int port = server.getLocalPort();
      SocketListener listener = new SocketListener(this, server, port, backlog, told);
      daemon(add("listen", listener)::run).start();
      return listener;
    } catch (IOException e) {
      throw new VerbsException("listen", name(), VerbsException.EADDRINUSE, service + ": " + e);
    }
  }

  @Override
  public synchronized CmId connect(
      QueuePair qp, InetAddress remote, long service, CmParameters how, CmHandler told) {
    SocketAddress peer = new InetSocketAddress(remote, port("connect", service));
    Frame request = frame("connect", 0, how.privateData());
    SocketConnection id = new SocketConnection(this, null, new Socket());
    id.bind("connect", qp, how, told);
    id.send(request);
    daemon(() -> id.run(peer)).start();
    return id;
  }

  @Override
  public synchronized void close() {
    check(open.isEmpty(), "close", VerbsException.EBUSY, open.keySet() + " are open");
    closed = true;
    List.copyOf(requests.keySet()).forEach(request -> request.reject(0, Frame.NOTHING));
    handlers.shutdown();
  }
}
