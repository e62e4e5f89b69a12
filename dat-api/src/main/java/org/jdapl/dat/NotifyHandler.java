package org.jdapl.dat;

/** Consumer code that is told that an EVD has events, and dequeues them itself. */
@FunctionalInterface
public interface NotifyHandler {

  /**
   * The EVD has events, or had some: it may be empty. From the return of this method on, any thread
   * may dequeue, until {@link Evd#notifyOnce} is called again; inside, this thread may.
   *
   * @param evd the EVD.
   */
  void onReady(Evd evd);
}
