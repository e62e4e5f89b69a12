package org.jdapl.verbs;

/**
 * A reliable-connected queue pair (ibv_qp). The connection manager moves it to connected; receives
 * may be posted before. Once it is closed, a post is refused with EINVAL.
 */
public interface QueuePair extends AutoCloseable {

  /**
   * The number of the queue pair. Numbers are used again after {@link #close}.
   *
   * @return the number, 24 bits.
   */
  int number();

  /**
   * Posts a request to the send queue (ibv_post_send). In the error state it is taken and flushed.
   * One thread at a time.
   *
   * @param request copied before the method returns.
   * @return 0, or an errno of {@link VerbsException}: ENOMEM if the queue is full, EINVAL if the
   *     queue pair is neither connected nor in the error state or the request is not valid. Nothing
   *     was posted then.
   */
  int postSend(SendRequest request);

  /**
   * Posts a request to the receive queue (ibv_post_recv). In the error state it is taken and
   * flushed. One thread at a time.
   *
   * @param request copied before the method returns.
   * @return 0, or an errno of {@link VerbsException}: ENOMEM if the queue is full, EINVAL if the
   *     request is not valid or the queue pair takes its receives from a shared queue. Nothing was
   *     posted then.
   */
  int postRecv(RecvRequest request);

  /**
   * The bytes a request with {@link SendRequest#inline} may carry.
   *
   * @return at least what was asked for; 0 if it takes no inline data.
   */
  default int maxInline() {
    return 0;
  }

  /**
   * Posts requests to the send queue in their order, in one crossing where the provider can (the
   * list of ibv_send_wr). One thread at a time.
   *
   * @param requests what to post; each is copied before the method returns.
   * @param count how many of them, from the first.
   * @return how many were posted. If fewer, the next one was refused; {@link #postSend} of it tells
   *     why.
   */
  default int postSends(final SendRequest[] requests, final int count) {
    int posted = 0;
    while (posted < count && postSend(requests[posted]) == 0) {
      posted++;
    }
    return posted;
  }

  /**
   * Posts requests to the receive queue in their order, in one crossing where the provider can (the
   * list of ibv_recv_wr). One thread at a time.
   *
   * @param requests what to post; each is copied before the method returns.
   * @param count how many of them, from the first.
   * @return how many were posted. If fewer, the next one was refused; {@link #postRecv} of it tells
   *     why.
   */
  default int postRecvs(final RecvRequest[] requests, final int count) {
    int posted = 0;
    while (posted < count && postRecv(requests[posted]) == 0) {
      posted++;
    }
    return posted;
  }

  /**
   * Posts a bind of a memory window to the send queue (ibv_bind_mw). Its completion is a {@link
   * WcOpcode#BIND_MW}; the window's key changes with the call. The requests behind it start when it
   * is done. A bind that cannot be done ends in {@link WcStatus#MW_BIND_ERR} and the error state:
   * the window is of another domain, or of type 2 and bound; or the region lacks {@link
   * Access#MW_BIND} or, for writes, {@link Access#LOCAL_WRITE}. One thread at a time.
   *
   * @param request copied before the method returns.
   * @return 0, or an errno of {@link VerbsException}: EOPNOTSUPP if there are no windows, else as
   *     {@link #postSend}. Nothing was posted then.
   */
  @Experimental
  default int postBind(final BindRequest request) {
    return VerbsException.EOPNOTSUPP;
  }

  /**
   * Moves the queue pair to the error state (ibv_modify_qp to IBV_QPS_ERR): every request in it
   * completes, with WR_FLUSH_ERR unless it was done already. Legal in every state and twice.
   *
   * @throws VerbsException with EINVAL if it is closed; or if the device refused.
   */
  void modifyToError();

  /**
   * Destroys the queue pair (ibv_destroy_qp), in any state, also while another thread posts: that
   * post is done or refused. Completions of it that nobody polled may stay in their queue or
   * vanish; none is added when this returned, and no asynchronous event of it comes. A connection
   * that it has is over, and its id may be closed later.
   */
  @Override
  void close();
}
