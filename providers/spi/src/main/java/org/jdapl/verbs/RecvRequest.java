package org.jdapl.verbs;

/**
 * A reusable request for a receive queue (ibv_recv_wr). Its owner fills it and posts it; the
 * provider copies what it needs before the post returns. Confined to one thread at a time.
 */
public final class RecvRequest extends SgeList {

  /** Names the request in its completion. */
  public long wrId;

  /**
   * An empty request.
   *
   * @param maxSge scatter-gather elements it has room for.
   */
  public RecvRequest(final int maxSge) {
    super(maxSge);
  }

  /**
   * Becomes a copy of a request: what a provider keeps of a post.
   *
   * @param from the request.
   * @return this one.
   * @throws IndexOutOfBoundsException if there is no room for its elements.
   */
  public RecvRequest set(final RecvRequest from) {
    copySge(from);
    wrId = from.wrId;
    return this;
  }
}
