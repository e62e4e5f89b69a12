package org.jdapl.hooks;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jdapl.verbs.EventChannel;

/** A channel that also delivers what was held back. */
final class FaultChannel implements EventChannel {

  final EventChannel behind;
  private final Queue<Runnable> calls = new ConcurrentLinkedQueue<>();

  FaultChannel(final EventChannel behind) {
    this.behind = behind;
  }

  /** Has something done in {@link #await}. From any thread. */
  void submit(final Runnable call) {
    calls.add(call);
    behind.wakeup();
  }

  @Override
  public int await(final long timeoutNanos) {
    int made = behind.await(calls.isEmpty() ? timeoutNanos : 0);
    for (int left = calls.size(); left > 0; left--) { // not what these cause: no endless loop here
      final Runnable call = calls.poll();
      if (call != null) {
        call.run();
        made++;
      }
    }
    return made;
  }

  @Override
  public void wakeup() {
    behind.wakeup();
  }

  @Override
  public void close() {
    behind.close();
  }
}
