package org.jdapl.rdmacore.jni;

import java.nio.ByteBuffer;

/**
 * The verbs, one to a method. Objects are pointers; only a caller that knows an object to be alive
 * may pass it. A result below 0 is an errno, negated.
 */
public final class Verbs {

  private Verbs() {}

  static native int[] layout();

  /** Where the memory of a direct buffer is. */
  public static native long address(ByteBuffer buffer);

  // Devices.

  /** The names of all devices, each ended by a newline; null if they cannot be listed. */
  public static native String deviceNames();

  /** The name of a context's device. */
  public static native String deviceName(long context);

  /** Whether a device speaks iWARP. */
  public static native boolean isIwarp(long context);

  /** The descriptor of a context's asynchronous events. */
  public static native int asyncFd(long context);

  /** ibv_query_device, into a {@link Layout.DeviceAttr}. */
  public static native int queryDevice(long context, long into);

  /** ibv_query_port, into a {@link Layout.PortAttr}. */
  public static native int queryPort(long context, int port, long into);

  // Memory.

  /** ibv_alloc_pd. */
  public static native long allocPd(long context);

  /** ibv_dealloc_pd. */
  public static native int deallocPd(long pd);

  /** ibv_reg_mr. */
  public static native long regMr(long pd, long start, long length, int access);

  /** ibv_dereg_mr. */
  public static native int deregMr(long mr);

  /** The local key of a region. */
  public static native int mrLkey(long mr);

  /** The remote key of a region. */
  public static native int mrRkey(long mr);

  /** ibv_alloc_mw, of an ibv_mw_type. */
  public static native long allocMw(long pd, int type);

  /** ibv_dealloc_mw. */
  public static native int deallocMw(long mw);

  /** The remote key of a window. */
  public static native int mwRkey(long mw);

  /** ibv_bind_mw. */
  public static native int bindMw(
      long qp, long mw, long mr, long start, long length, int access, long wrId, int flags);

  /** Posts IBV_WR_BIND_MW, or IBV_WR_LOCAL_INV if the length is 0, of a window of type 2. */
  public static native int bindMw2(
      long qp, long mw, long mr, long start, long length, int access, long wrId, int flags);

  // Completion queues.

  /** ibv_create_comp_channel. */
  public static native long createCompChannel(long context);

  /** ibv_destroy_comp_channel. */
  public static native int destroyCompChannel(long channel);

  /** The descriptor of a completion channel. */
  public static native int compChannelFd(long channel);

  /** ibv_create_cq. */
  public static native long createCq(long context, int entries, long token, long channel);

  /** How many entries a queue has. */
  public static native int cqEntries(long cq);

  /** ibv_resize_cq. */
  public static native int resizeCq(long cq, int entries);

  /** ibv_destroy_cq. */
  public static native int destroyCq(long cq);

  private static native int pollCq0(long cq, long into, int max);

  /** ibv_poll_cq, into an array of {@link Layout.Wc}; how many. */
  public static int pollCq(final long cq, final long into, final int max) {
    assert Crossings.crossed();
    return pollCq0(cq, into, max);
  }

  private static native int reqNotifyCq0(long cq, int solicited);

  /** ibv_req_notify_cq. */
  public static int reqNotifyCq(final long cq, final int solicited) {
    assert Crossings.crossed();
    return reqNotifyCq0(cq, solicited);
  }

  private static native int pollAndRearmCq0(long cq, long into, int max, int solicited);

  /**
   * Polls, arms if that came up short, and polls once more.
   *
   * @return how many in the low 16 bits, above them the ordinal of a RearmOutcome.
   */
  public static int pollAndRearmCq(
      final long cq, final long into, final int max, final int solicited) {
    assert Crossings.crossed();
    return pollAndRearmCq0(cq, into, max, solicited);
  }

  private static native int getCqEvents0(long channel, long into, int max);

  /** ibv_get_cq_event and ibv_ack_cq_events, up to max times: the tokens of the queues. */
  public static int getCqEvents(final long channel, final long into, final int max) {
    assert Crossings.crossed();
    return getCqEvents0(channel, into, max);
  }

  // Shared receive queues.

  /** ibv_create_srq. */
  public static native long createSrq(long pd, long token, int maxWr, int maxSge);

  /** ibv_modify_srq of the limit. */
  public static native int armSrqLimit(long srq, int limit);

  /** ibv_modify_srq of the number of receives. */
  public static native int resizeSrq(long srq, int maxWr);

  /** ibv_destroy_srq. */
  public static native int destroySrq(long srq);

  // Queue pairs.

  /** ibv_create_qp of a reliable-connected one; tells how many inline bytes it takes. */
  public static native long createQp(
      long pd,
      long sendCq,
      long recvCq,
      long srq,
      long token,
      int maxSendWr,
      int maxRecvWr,
      int maxSendSge,
      int maxRecvSge,
      int maxInline,
      int[] actualInline);

  /** The number of a queue pair. */
  public static native int qpNumber(long qp);

  /** ibv_modify_qp to the error state. */
  public static native int modifyQpToError(long qp);

  /** ibv_destroy_qp. */
  public static native int destroyQp(long qp);

  private static native long postSend0(long qp, long list);

  /**
   * ibv_post_send of a list of {@link Layout.SendWr}.
   *
   * @return 0, or an errno (not negated), and above 32 bits how many were posted before that.
   */
  public static long postSend(final long qp, final long list) {
    assert Crossings.crossed();
    return postSend0(qp, list);
  }

  private static native long postRecv0(long qp, long list);

  /** ibv_post_recv of a list of {@link Layout.RecvWr}; the result is that of {@link #postSend}. */
  public static long postRecv(final long qp, final long list) {
    assert Crossings.crossed();
    return postRecv0(qp, list);
  }

  private static native long postSrqRecv0(long srq, long list);

  /**
   * ibv_post_srq_recv of a list of {@link Layout.RecvWr}; the result is that of {@link #postSend}.
   */
  public static long postSrqRecv(final long srq, final long list) {
    assert Crossings.crossed();
    return postSrqRecv0(srq, list);
  }

  /** ibv_get_async_event and ibv_ack_async_event, up to max times: {@link Layout.Async}s. */
  public static native int getAsyncEvents(long context, long into, int max);
}
