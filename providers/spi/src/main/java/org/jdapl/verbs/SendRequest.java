package org.jdapl.verbs;

/**
 * A reusable request for a send queue (ibv_send_wr). Its owner fills the fields and posts it; the
 * provider copies what it needs before the post returns. Confined to one thread at a time.
 */
public final class SendRequest extends SgeList {

  /** Names the request in its completion. */
  public long wrId;

  /** What to do. */
  public WrOpcode opcode = WrOpcode.SEND;

  /** Whether a success makes a completion (an error always does). */
  public boolean signaled = true;

  /** Whether the completion at the peer is a solicited one. */
  public boolean solicited;

  /** Whether to start only when earlier RDMA reads and atomics of this queue are done. */
  public boolean fence;

  /** Whether the provider copies the data while posting. */
  public boolean inline;

  /** Where in the peer's memory, for RDMA and atomics. */
  public long remoteAddress;

  /** The key of the peer's memory, for RDMA and atomics. */
  public int rkey;

  /** Immediate data. */
  public int immediate;

  /** The key of the peer's window that {@link WrOpcode#SEND_WITH_INV} ends. */
  @Experimental public int invalidateRkey;

  /** What to compare with, or what to add. */
  public long compareAdd;

  /** What to put in place. */
  public long swap;

  /**
   * An empty request.
   *
   * @param maxSge scatter-gather elements it has room for.
   */
  public SendRequest(final int maxSge) {
    super(maxSge);
  }

  /**
   * Becomes a copy of a request: what a provider keeps of a post.
   *
   * @param from the request.
   * @return this one.
   * @throws IndexOutOfBoundsException if there is no room for its elements.
   */
  public SendRequest set(final SendRequest from) {
    copySge(from);
    wrId = from.wrId;
    opcode = from.opcode;
    signaled = from.signaled;
    solicited = from.solicited;
    fence = from.fence;
    inline = from.inline;
    remoteAddress = from.remoteAddress;
    rkey = from.rkey;
    immediate = from.immediate;
    invalidateRkey = from.invalidateRkey;
    compareAdd = from.compareAdd;
    swap = from.swap;
    return this;
  }
}
