package org.jdapl.rdmacore.beside;

/** What is measured: one process drives it, the other one serves. */
interface Contest {

  /** Does it, when the other process said that it is ready; returns the figure. */
  double drive() throws Exception;

  /**
   * Does the other side's part.
   *
   * @param ready says that it can begin.
   */
  void serve(Runnable ready) throws Exception;
}
