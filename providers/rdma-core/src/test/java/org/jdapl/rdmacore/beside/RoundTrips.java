package org.jdapl.rdmacore.beside;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;

/**
 * Round trips of a message and its answer.
 *
 * <p>Polling, a thread dequeues without a pause, as ibv_rc_pingpong polls. Event-driven, a
 * dispatcher sleeps in the event channel until a completion comes, as ibv_rc_pingpong -e does, and
 * the messages are answered in upcalls.
 */
final class RoundTrips extends End implements Contest {

  private static final int DEPTH = 16;
  private static final int BATCH = 16;
  private static final long PATIENCE = 60;

  private final int size;
  private final int count;
  private final boolean isPolling;
  private final boolean drives;
  private final Semaphore done = new Semaphore(0);
  private int left;

  RoundTrips(final Partner partner, final int size, final int count, final boolean isPolling)
      throws InterruptedException {
    super(2 * size, DEPTH);
    this.size = size;
    this.count = count;
    this.isPolling = isPolling;
    drives = partner.serves();
    for (int i = 0; i < DEPTH; i++) {
      receive();
    }
    connect(partner);
  }

  private void receive() {
    posted(endpoint.postReceive(memory, size, size, 0));
  }

  private void send() {
    posted(endpoint.postSend(memory, 0, size, 0));
  }

  /** The microseconds of one. */
  @Override
  public double drive() throws InterruptedException {
    final long start = System.nanoTime();
    play(this::send);
    return (System.nanoTime() - start) / 1e3 / count;
  }

  @Override
  public void serve(final Runnable ready) throws InterruptedException {
    play(ready);
  }

  private void play(final Runnable begin) throws InterruptedException {
    left = count;
    if (isPolling) {
      begin.run();
      while (left > 0) {
        evd.drain(this, BATCH);
      }
    } else {
      evd.upcall(this);
      begin.run();
      if (!done.tryAcquire(PATIENCE, TimeUnit.SECONDS)) {
        throw new IllegalStateException("no answer for " + PATIENCE + " s, " + left + " left");
      }
      evd.teardown();
    }
  }

  @Override
  void completed(final DtoCompletion event) {
    if (event.operation() == DtoOperation.RECEIVE) {
      receive();
      left--;
      if (!drives || left > 0) {
        send();
      }
      if (left == 0 && !isPolling) {
        done.release();
      }
    }
  }
}
