package org.jdapl.examples.socket;

import java.io.IOException;
import java.net.*;
import java.nio.ByteBuffer;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.verbs.*;

/** A device: its monitor guards all that it has, but is not held when a handler is called. */
final class SocketDevice extends AbstractDevice {

  static final Executor THREADS = Executors.newCachedThreadPool(SocketDevice::daemon);

  // tag::declaration[]
  private static final int MANY = 1 << 16;
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
          .maxMessageBytes(1 << 30)
          .maxReadsIn(1)
          .maxReadsOut(1)
          .privateData(256)
          .build();

  // end::declaration[]

  // tag::memory[]
  private record Mr(
      SocketDevice device, ProtectionDomain pd, ByteBuffer buffer, Set<Access> access, int lkey)
      implements HostRegion {
    @Override
    public long address() {
      return (long) lkey << Integer.SIZE; // made up; two regions are never adjacent
    }

    @Override
    public void close() {
      device.objects.close(this, () -> device.regions.remove(lkey));
    }
  }

  // end::memory[]

  // tag::device[]
  final ObjectTable objects = new ObjectTable(this, this);
  final ScatterGather memory = new ScatterGather(LIMITS.maxSge()); // of the request at hand
  final Map<SocketConnection, SocketListener> requests = new HashMap<>(); // to be answered
  final ExecutorService handlers = Executors.newSingleThreadExecutor(SocketDevice::daemon);
  final Map<Integer, HostRegion> regions = new HashMap<>();
  private int lastNumber;

  SocketDevice() {
    super("socket0", DECLARATION, LIMITS, InetAddress.getLoopbackAddress());
  }

  private static Thread daemon(Runnable body) {
    Thread thread = new Thread(body, "socket-device");
    thread.setDaemon(true);
    return thread;
  }

  /** Has a handler of an object called, if the object is open then. */
  void later(Object object, Runnable handler) {
    handlers.execute(() -> objects.call(object, handler));
  }

  // end::device[]

  // tag::create[]
  @Override
  public ProtectionDomain allocPd() {
    return objects.addPd();
  }

  @Override
  public synchronized MemoryRegion regMr(
      ProtectionDomain pd, ByteBuffer buffer, Set<Access> access) {
    Access.check(name(), buffer, access);
    ByteBuffer all = buffer.duplicate().clear();
    Mr mr = objects.add(new Mr(this, pd, all, Set.copyOf(access), ++lastNumber), pd);
    regions.put(mr.lkey, mr);
    return mr;
  }

  @Override
  public CompletionQueue createCq(int size, CqHandler handler) {
    LIMITS.checkCq("create_cq", name(), size);
    return objects.add(new SocketCq(this, size, handler, new ArrayDeque<>(), new AtomicBoolean()));
  }

  @Override
  public synchronized QueuePair createQp(QpAttributes wanted) {
    LIMITS.checkQp(name(), wanted);
    SocketQp qp = new SocketQp(this, wanted, ++lastNumber & 0xff_ffff);
    return objects.add(qp, wanted.pd(), wanted.sendCq(), wanted.recvCq());
  }

  // end::create[]

  @Override
  public synchronized CmListener listen(long service, int backlog, CmListenHandler handler) {
    objects.checkOpen("listen");
    int wanted = Device.checkService("listen", name(), service, 0);
    try {
      ServerSocket server = new ServerSocket(wanted, 0, address());
      int port = server.getLocalPort();
      SocketListener listener = new SocketListener(this, server, port, backlog, handler);
      THREADS.execute(objects.add(listener)::run);
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
    THREADS.execute(() -> id.run(new InetSocketAddress(remote, port)));
    return id;
  }

  // tag::close[]
  @Override
  public synchronized void close() {
    objects.end();
    List.copyOf(requests.keySet()).forEach(it -> it.reject(SocketConnection.NOBODY_LISTENS, null));
    handlers.shutdown();
  }
  // end::close[]
}
