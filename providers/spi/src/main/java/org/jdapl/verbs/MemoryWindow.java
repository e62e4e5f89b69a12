package org.jdapl.verbs;

/**
 * A memory window (ibv_mw): gives the peer rights to a part of a region, and takes them back, by
 * requests in the send queue.
 */
@Experimental
public interface MemoryWindow extends AutoCloseable {

  /**
   * The key for the peer.
   *
   * @return the key of the bind that was posted last.
   */
  int rkey();

  /** Releases the window (ibv_dealloc_mw), bound or not. Its key is dead when this returns. */
  @Override
  void close();
}
