package org.jdapl.verbs;

import java.nio.ByteBuffer;

/** Told of the events of one connection. */
@FunctionalInterface
public interface CmHandler {

  /** The status of a REJECTED that the consumer at the peer asked for. */
  int CONSUMER_REJECT = 28;

  /**
   * Called by the provider, one at a time for one id; a close of the id waits for it. The
   * dispatcher's handler never blocks and never throws.
   *
   * @param id the connection.
   * @param type what happened.
   * @param status with REJECTED the reason, {@link #CONSUMER_REJECT} if the peer's consumer said
   *     no; with the other errors an errno.
   * @param privateData what the peer sent along, valid during the call; empty, never null.
   */
  void onCmEvent(CmId id, CmEventType type, int status, ByteBuffer privateData);
}
