package org.jdapl.rdmacore.jni;

/**
 * The connection manager, one verb to a method; see {@link Verbs}. Addresses are those of {@link
 * java.net.InetAddress}, 4 or 16 bytes.
 */
public final class Cm {

  /** The most private data that crosses in one call. */
  public static final int PRIVATE_DATA = 255;

  private Cm() {}

  static native int[] layout();

  /** rdma_create_event_channel. */
  public static native long createEventChannel();

  /** rdma_destroy_event_channel; its ids were destroyed before. */
  public static native void destroyEventChannel(long channel);

  /** The descriptor of a channel. */
  public static native int eventChannelFd(long channel);

  /** rdma_create_id. */
  public static native long createId(long channel, long token);

  /** Gives an id that came with a connection request its token. */
  public static native void setToken(long id, long token);

  /** rdma_destroy_id. */
  public static native int destroyId(long id);

  /** The context an id is bound to; 0 if it is bound to none. */
  public static native long context(long id);

  /** The port an id is bound to. */
  public static native int port(long id);

  /** rdma_bind_addr. */
  public static native int bindAddr(long id, byte[] address, int scope, int service);

  /** rdma_listen; a backlog of 0 is the most the kernel allows. */
  public static native int listen(long id, int backlog);

  /** The service an id is bound to. */
  public static native int sourcePort(long id);

  /** rdma_resolve_addr. */
  public static native int resolveAddr(
      long id, byte[] address, int scope, int service, int timeoutMillis);

  /** rdma_resolve_route. */
  public static native int resolveRoute(long id, int timeoutMillis);

  /** Moves a queue pair to INIT. */
  public static native int initQp(long id, long qp, int access);

  /** Moves a queue pair from INIT to RTR; a timer below 0 is the library's own. */
  public static native int readyToReceive(long id, long qp, int readsIn, int rnrTimer, int access);

  /** Moves a queue pair from RTR to RTS; a timeout below 0 is that of the path. */
  public static native int readyToSend(
      long id, long qp, int readsOut, int ackTimeout, int retries, int rnrRetries, int access);

  /** rdma_connect. */
  public static native int connect(
      long id,
      int qpNumber,
      int srq,
      int readsIn,
      int readsOut,
      int retries,
      int rnrRetries,
      byte[] privateData);

  /** rdma_establish. */
  public static native int establish(long id);

  /** rdma_accept. */
  public static native int accept(
      long id,
      int qpNumber,
      int srq,
      int readsIn,
      int readsOut,
      int rnrRetries,
      byte[] privateData);

  /** rdma_reject: the consumer says no. */
  public static native int reject(long id, byte[] privateData);

  /** rdma_reject_ece: somebody else says no. */
  public static native int refuse(long id);

  /** rdma_disconnect. */
  public static native int disconnect(long id);

  /** rdma_notify of IBV_EVENT_COMM_EST. */
  public static native int notifyEstablished(long id);

  /** rdma_get_cm_event and rdma_ack_cm_event, up to max times: {@link Layout.CmEvent}s. */
  public static native int getEvents(long channel, long into, int max);
}
