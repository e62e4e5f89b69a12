package org.jdapl.examples.pingpong;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.evd.WaitStrategy;
import org.jdapl.verbs.VerbsProvider;

/** Answers each message with one. */
final class Server extends Player {

  private final CountDownLatch connected = new CountDownLatch(1);
  private final CountDownLatch finished = new CountDownLatch(1);
  private final AtomicLong answers = new AtomicLong(); // only the handler changes it

  Server(final VerbsProvider provider, final WaitStrategy strategy, final int size) {
    super(provider, strategy, size);
  }

  @Override
  void onEstablished() {
    connected.countDown();
  }

  @Override
  void onMessage() {
    answers.lazySet(answers.get() + 1);
    send();
  }

  @Override
  void onLast() {
    finished.countDown();
  }

  @Override
  void onFailure() { // the connection ends, which tells a client of this process
    connected.countDown();
    finished.countDown();
  }

  /** How many messages were answered. From any thread. */
  long answers() {
    return answers.get();
  }

  /** Opens when a client is connected, or something failed. */
  CountDownLatch connected() {
    return connected;
  }

  /** Opens when the client said that it was all, or something failed. */
  CountDownLatch finished() {
    return finished;
  }
}
