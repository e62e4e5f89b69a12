package org.jdapl.verbs;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Set;

/**
 * An open RDMA device with its connection manager (ibv_context and rdma_cm). May be called from any
 * thread.
 *
 * <p>Once it is closed, every method that creates something throws a {@link VerbsException} with
 * ENODEV, unless it refuses numbers that are not valid first; those that tell of the device answer
 * as before.
 */
public interface Device extends AutoCloseable {

  /**
   * The largest service: services are the ports of the connection manager, from 1 (RDMA_PS_TCP).
   */
  long MAX_SERVICE = 0xFFFF;

  /**
   * What {@link #listen} and {@link #connect} check first.
   *
   * @param verb the verb, for the message.
   * @param device the name of the device, for the message.
   * @param service what is asked for.
   * @param least the least that is legal: 0 to listen, 1 to connect.
   * @return the service, a port.
   * @throws VerbsException with EINVAL unless it is up to {@link #MAX_SERVICE}.
   */
  static int checkService(
      final String verb, final String device, final long service, final int least) {
    if (service < least || service > MAX_SERVICE) {
      throw VerbsException.invalid(
          verb, device, "service " + service + "; expected " + least + " to " + MAX_SERVICE);
    }
    return (int) service;
  }

  /**
   * The name of the device, for messages.
   *
   * @return a name such as {@code sim0} or {@code mlx5_0}.
   */
  String name();

  /**
   * How this device behaves where the verbs leave a choice.
   *
   * @return the same value for the life of the device.
   */
  Declaration declaration();

  /**
   * What this device has room for (ibv_query_device).
   *
   * @return the same value for the life of the device.
   */
  DeviceLimits limits();

  /**
   * What this device can do that not every device can. The core asks for nothing else.
   *
   * @return the same value for the life of the device; unmodifiable.
   */
  @Experimental
  default Set<Capability> capabilities() {
    return Set.of();
  }

  /**
   * The address that peers connect to.
   *
   * @return the address of the device.
   */
  InetAddress address();

  /**
   * The time this device lives in. A device in virtual time returns a {@link SteppedClock}.
   *
   * @return the clock.
   */
  default NanoClock clock() {
    return NanoClock.SYSTEM;
  }

  /**
   * Says where asynchronous events go (ibv_get_async_event). Called once, before any object is
   * created. None is told of an object when the object's close has returned, nor any when the
   * device's has: each waits for the call that runs.
   *
   * @param handler called by the provider.
   */
  void onAsync(AsyncHandler handler);

  /**
   * Creates a protection domain (ibv_alloc_pd).
   *
   * @return the domain.
   * @throws VerbsException with ENOMEM if there is no room.
   */
  ProtectionDomain allocPd();

  /**
   * Registers memory (ibv_reg_mr).
   *
   * @param pd the domain the region belongs to.
   * @param buffer a direct buffer; the region is the whole of it, whatever its position and limit.
   *     Memory that ends by itself, as that of an arena does, must outlive the region.
   * @param access what may be done to it.
   * @return the region.
   * @throws VerbsException with EINVAL if the buffer is not direct, or the rights are not legal
   *     ({@link Access#check}); with ENOMEM if there is no room.
   */
  MemoryRegion regMr(ProtectionDomain pd, ByteBuffer buffer, Set<Access> access);

  /**
   * Creates a completion queue (ibv_create_cq). It is not armed.
   *
   * @param entries the least number of entries it must hold.
   * @param handler told when an armed queue gets a completion.
   * @return the queue.
   * @throws VerbsException if it is larger than the device allows; with ENOMEM if there is no room.
   */
  CompletionQueue createCq(int entries, CqHandler handler);

  /**
   * Creates a shared receive queue (ibv_create_srq).
   *
   * @param pd the domain.
   * @param maxWr receives it must hold.
   * @param maxSge scatter-gather elements of one receive.
   * @return the queue.
   * @throws VerbsException if not supported; with ENOMEM if there is no room.
   */
  default SharedReceiveQueue createSrq(ProtectionDomain pd, int maxWr, int maxSge) {
    throw VerbsException.unsupported("create_srq", name());
  }

  /**
   * Allocates a memory window (ibv_alloc_mw). It is not bound.
   *
   * @param pd the domain.
   * @param type who may use it.
   * @return the window.
   * @throws VerbsException with EOPNOTSUPP if there are no windows of this type; with ENOMEM if
   *     there is no room.
   */
  @Experimental
  default MemoryWindow allocMw(ProtectionDomain pd, MwType type) {
    throw VerbsException.unsupported("alloc_mw", name());
  }

  /**
   * Creates a reliable-connected queue pair, ready for receives to be posted (ibv_create_qp, and
   * the step to INIT).
   *
   * @param attributes its sizes and queues.
   * @return the queue pair, not connected.
   * @throws VerbsException if it is larger than the device allows; with ENOMEM if there is no room.
   */
  QueuePair createQp(QpAttributes attributes);

  /**
   * Listens for connection requests (rdma_listen).
   *
   * @param service the service (port) to listen at, up to {@link #MAX_SERVICE}; 0 lets the provider
   *     pick one.
   * @param backlog how many requests may wait for an answer; more are refused.
   * @param handler told of each request.
   * @return the listener.
   * @throws VerbsException with EADDRINUSE if somebody listens there.
   */
  CmListener listen(long service, int backlog, CmListenHandler handler);

  /**
   * Asks a peer for a connection (rdma_resolve_addr, rdma_resolve_route, rdma_connect). The outcome
   * is an event; exactly one of ESTABLISHED, REJECTED, UNREACHABLE, CONNECT_ERROR, ADDR_ERROR and
   * ROUTE_ERROR comes first. So is that nobody listens there, or that the peer is gone.
   *
   * @param qp the queue pair to connect; the id does not own it.
   * @param remote the peer's address.
   * @param service the peer's service, 1 to {@link #MAX_SERVICE}.
   * @param parameters how to connect, and the private data.
   * @param handler told of each event; it may be called before this method returns.
   * @return the id of the connection.
   * @throws VerbsException with EINVAL if the queue pair is closed, connected or in the error
   *     state, or the private data too long; or if this device could not send the request.
   */
  CmId connect(
      QueuePair qp, InetAddress remote, long service, CmParameters parameters, CmHandler handler);

  /**
   * Closes the device (ibv_close_device). Its objects must be closed before.
   *
   * @throws VerbsException with EBUSY if there are objects left.
   */
  @Override
  void close();
}
