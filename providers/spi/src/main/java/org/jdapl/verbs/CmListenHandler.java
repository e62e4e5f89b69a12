package org.jdapl.verbs;

/** Told of connection requests. */
@FunctionalInterface
public interface CmListenHandler {

  /**
   * Called by the provider. The dispatcher's handler never blocks and never throws.
   *
   * @param request the request; to be answered by accept or reject, now or later, from any thread.
   */
  void onRequest(CmRequest request);
}
