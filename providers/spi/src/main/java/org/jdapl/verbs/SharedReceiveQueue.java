package org.jdapl.verbs;

/**
 * A shared receive queue (ibv_srq). Once it is closed, a post is refused with EINVAL, and the
 * others throw a {@link VerbsException} with it.
 */
public interface SharedReceiveQueue extends AutoCloseable {

  /**
   * Posts a request (ibv_post_srq_recv). One thread at a time.
   *
   * @param request copied before the method returns.
   * @return 0, or an errno of {@link VerbsException}: ENOMEM if the queue is full, EINVAL if the
   *     request is not valid. Nothing was posted then.
   */
  int postRecv(RecvRequest request);

  /**
   * Asks for one {@link AsyncType#SRQ_LIMIT_REACHED} when fewer receives than that are left
   * (ibv_modify_srq).
   *
   * @param limit the low watermark.
   * @throws VerbsException if not supported.
   */
  default void armLimit(final int limit) {
    throw VerbsException.unsupported("modify_srq", toString());
  }

  /**
   * Changes how many receives it holds, and loses none (ibv_modify_srq). May be called while
   * another thread posts.
   *
   * @param maxWr receives it must hold.
   * @throws VerbsException if not supported, see {@link Capability#SRQ_RESIZE}, if it is more than
   *     the device allows, or if more are in it.
   */
  @Experimental
  default void resize(final int maxWr) {
    throw VerbsException.unsupported("modify_srq", toString());
  }

  /**
   * Destroys the queue (ibv_destroy_srq).
   *
   * @throws VerbsException with EBUSY if a queue pair uses it.
   */
  @Override
  void close();
}
