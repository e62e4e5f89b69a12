package org.jdapl.verbs;

import java.util.Set;

/**
 * A reusable request to bind a memory window (ibv_mw_bind; for type 2 IBV_WR_BIND_MW or
 * IBV_WR_LOCAL_INV). Its owner fills the fields and posts it; the provider copies what it needs
 * before the post returns. Confined to one thread at a time.
 */
@Experimental
public final class BindRequest {

  /** Names the request in its completion. */
  public long wrId;

  /** Whether a success makes a completion (an error always does). */
  public boolean signaled = true;

  /** Whether to start only when earlier RDMA reads and atomics of this queue are done. */
  public boolean fence;

  /** The window. */
  public MemoryWindow window;

  /** The region the window opens. */
  public MemoryRegion region;

  /** Where in the region, as the region's addresses count. */
  public long address;

  /**
   * Bytes; 0 ends the rights, whatever the region. If there are none, because it was never bound,
   * or they were ended and perhaps its region closed since, that is done, cannot be done, or is
   * refused with EINVAL, as the device has it; it never throws.
   */
  public long length;

  /** What the peer may do; none but the REMOTE ones. */
  public Set<Access> access = Set.of();

  /** An empty request. */
  public BindRequest() {}
}
