package org.jdapl.verbs;

/**
 * A registered memory region (ibv_mr). It keeps its buffer from being collected; memory that does
 * not end by that, as that of an arena (java.lang.foreign), must outlive it. What it tells stays
 * the same.
 */
public interface MemoryRegion extends AutoCloseable {

  /**
   * The address of its first byte, as work requests and peers name it. A provider may make it up.
   *
   * @return the address.
   */
  long address();

  /**
   * The length.
   *
   * @return bytes.
   */
  long length();

  /**
   * The key for local use.
   *
   * @return the key.
   */
  int lkey();

  /**
   * The key for the peer.
   *
   * @return the key.
   */
  int rkey();

  /** Ends the registration (ibv_dereg_mr). The keys are dead when this returns. */
  @Override
  void close();
}
