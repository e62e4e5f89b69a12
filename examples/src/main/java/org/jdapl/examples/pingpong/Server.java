package org.jdapl.examples.pingpong;

import org.jdapl.evd.WaitStrategy;
import org.jdapl.verbs.VerbsProvider;

/** Answers each message with one. */
final class Server extends Player {

  Server(final VerbsProvider provider, final WaitStrategy strategy, final int size) {
    super(provider, strategy, size);
  }

  @Override
  void onEstablished() {}

  @Override
  void onMessage() {
    send();
  }

  @Override
  void onFailure() {} // the connection ends, which tells the client
}
