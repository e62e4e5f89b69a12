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
      new DeviceLimits.Builder()
          .maxQp(MANY)
          .maxQpWr(MANY)
          .maxSge(16)
          .maxCq(MANY)
          .maxCqe(MANY)
          .maxMr(MANY)
          .maxPd(MANY)
          .maxMessageBytes(MAX_BYTES)
          .maxReadsIn(1)
          .maxReadsOut(1)
          .connectPrivateData(256)
          .acceptPrivateData(256)
          .rejectPrivateData(256)
          .build();

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

  /** The objects that are open, and what each was made with. */
  final Map<Object, List<Object>> open = Collections.synchronizedMap(new IdentityHashMap<>());

  final Map<SocketConnection, SocketListener> requests = new HashMap<>(); // to be answered
  final ExecutorService handlers = Executors.newSingleThreadExecutor(SocketDevice::daemon);
  private final Map<Integer, Mr> regions = new HashMap<>();
  AsyncHandler async;
  private boolean closed;
  private int lastNumber;

  private static Thread daemon(Runnable body) {
    Thread thread = new Thread(body, "socket-device");
    thread.setDaemon(true);
    return thread;
  }

  static void start(Runnable body) {
    daemon(body).start();
  }

  // tag::objects[]
  void check(boolean is, String verb, String detail) {
    if (!is) {
      throw VerbsException.invalid(verb, name(), detail);
    }
  }

  /** Fails unless the device is open, and the objects are open ones of it. */
  synchronized void own(String verb, Object... objects) {
    if (closed) {
      throw new VerbsException(verb, name(), VerbsException.ENODEV, "the device is closed");
    }
    for (Object object : objects) {
      check(open.containsKey(object), verb, object + "; expected an open object of this device");
    }
  }

  /** Opens an object, which is made with others. */
  synchronized <T> T add(String verb, T object, Object... uses) {
    own(verb, uses);
    open.put(object, List.of(uses));
    return object;
  }

  /** Ends an object, once, and not before those that are made with it. */
  void close(Object object, Runnable last) {
    synchronized (this) {
      if (open.values().stream().flatMap(List::stream).anyMatch(o -> o == object)) {
        throw busy(object + " is used; close its users first");
      }
      if (open.remove(object) != null) {
        last.run();
      }
    }
    call(object, () -> {}); // returns when no handler of it runs; none will
  }

  private VerbsException busy(String detail) {
    return new VerbsException("close", name(), VerbsException.EBUSY, detail);
  }

  /** Has a handler of an object called, if the object is open then. */
  void later(Object object, Runnable handler) {
    handlers.execute(() -> call(object, handler));
  }

  /** Calls a handler with no lock held but one that its object's close waits for. */
  boolean call(Object object, Runnable handler) {
    synchronized (object) {
      boolean isOpen = open.containsKey(object);
      if (isOpen) {
        handler.run();
      }
      return isOpen;
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
  public void onAsync(AsyncHandler handler) {
    async = handler;
  }

  // tag::create[]
  @Override
  public ProtectionDomain allocPd() {
    return add("alloc_pd", new Pd(this));
  }

  @Override
  public synchronized MemoryRegion regMr(
      ProtectionDomain pd, ByteBuffer buffer, Set<Access> access) {
    Access.check(name(), buffer, access);
    int key = ++lastNumber;
    long address = (long) key << Integer.SIZE; // made up; two regions are never adjacent
    ByteBuffer all = buffer.duplicate().clear();
    Mr mr = new Mr(this, pd, all, Set.copyOf(access), address, all.capacity(), key, key);
    regions.put(key, add("reg_mr", mr, pd));
    return mr;
  }

  @Override
  public CompletionQueue createCq(int size, CqHandler handler) {
    LIMITS.checkCq("create_cq", name(), size);
    AtomicBoolean armed = new AtomicBoolean();
    return add("create_cq", new SocketCq(this, size, handler, new ArrayDeque<>(), armed));
  }

  @Override
  public synchronized QueuePair createQp(QpAttributes wanted) {
    LIMITS.checkQp(name(), wanted);
    SocketQp qp = new SocketQp(this, wanted, ++lastNumber & 0xff_ffff);
    return add("create_qp", qp, wanted.pd(), wanted.sendCq(), wanted.recvCq());
  }

  // end::create[]

  @Override
  public synchronized CmListener listen(long service, int backlog, CmListenHandler handler) {
    own("listen");
    int wanted = Device.checkService("listen", name(), service, 0);
    try {
      ServerSocket server = new ServerSocket(wanted, 0, address());
      int port = server.getLocalPort();
      SocketListener listener = new SocketListener(this, server, port, backlog, handler);
      start(add("listen", listener)::run);
      return listener;
    } catch (IOException e) {
      throw new VerbsException("listen", name(), VerbsException.EADDRINUSE, service + ": " + e);
    }
  }

  @Override
  public synchronized CmId connect(
      QueuePair qp, InetAddress remote, long service, CmParameters parameters, CmHandler handler) {
    int port = Device.checkService("connect", name(), service, 1);
    byte[] data = LIMITS.copyForConnect(name(), parameters.privateData());
    SocketConnection id = new SocketConnection(this, null, new Socket());
    id.bind("connect", qp, parameters, handler);
    id.send(Frame.answer(0, data));
    start(() -> id.run(new InetSocketAddress(remote, port)));
    return id;
  }

  @Override
  public synchronized void close() {
    if (!open.isEmpty()) {
      throw busy(open.keySet() + " are open; close them first");
    }
    closed = true;
    for (SocketConnection request : List.copyOf(requests.keySet())) {
      request.reject(SocketConnection.NOBODY_LISTENS, null);
    }
    handlers.shutdown();
  }
}
