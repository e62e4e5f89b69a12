package org.jdapl.evd;

/** How a dispatcher waits until an EVD is ready. */
public enum WaitStrategy {

  /**
   * Spins, and looks into the provider's event channel, if there is one, each time. It never
   * sleeps, so each dispatcher takes a core of its own.
   */
  BUSY_SPIN,

  /**
   * Blocks until it is woken: in the provider's event channel if there is one; else it spins
   * briefly, and parks then. The default.
   */
  SPIN_THEN_BLOCK
}
