package org.jdapl.verbs;

/** Told that an armed completion queue got a completion. */
@FunctionalInterface
public interface CqHandler {

  /**
   * Called by the provider, at most once per arm (see {@link SecondArm}). The dispatcher's handler
   * never blocks, never throws and never calls the provider back.
   *
   * @param cq the queue.
   */
  void onNotification(CompletionQueue cq);
}
