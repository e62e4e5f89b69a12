package org.jdapl.verbs;

/** What some devices can do (device_cap_flags and atomic_cap of ibv_device_attr). */
@Experimental
public enum Capability {
  /**
   * Atomics on 8 bytes of the peer's memory: atomic with those of any queue pair of the device that
   * has the memory (IBV_ATOMIC_HCA).
   */
  ATOMICS,
  /** RDMA writes with immediate data. */
  RDMA_WRITE_WITH_IMM,
  /** Shared receive queues of another size (IBV_DEVICE_SRQ_RESIZE). */
  SRQ_RESIZE
}
