package org.jdapl.rdmacore.beside;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;

/**
 * Round trips of a message and its answer, by two threads.
 *
 * <p>Polling, each side has a thread that dequeues without a pause, as ibv_rc_pingpong polls. Event
 * driven, each side has a dispatcher that sleeps in the event channel until a completion comes, as
 * ibv_rc_pingpong -e does, and the messages are answered in upcalls.
 */
final class RoundTrips implements AutoCloseable {

  private static final int DEPTH = 16;
  private static final int BATCH = 16;
  private static final long PATIENCE = 60;

  private final int size;
  private final boolean isPolling;
  private final Player client;
  private final Player server;

  RoundTrips(final int size, final boolean isPolling) throws InterruptedException {
    this.size = size;
    this.isPolling = isPolling;
    client = new Player();
    server = new Player();
    End.connect(client, server);
  }

  /** Makes round trips; returns the nanoseconds of one. */
  double run(final int count) throws InterruptedException {
    client.left = count;
    server.left = count;
    final long start = System.nanoTime();
    if (isPolling) {
      final Thread thread = new Thread(server::poll, "server");
      thread.start();
      client.send();
      client.poll();
      thread.join();
    } else {
      server.evd.upcall(server);
      client.evd.upcall(client);
      client.send();
      client.await();
      server.await();
      client.evd.teardown();
      server.evd.teardown();
    }
    return (double) (System.nanoTime() - start) / count;
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }

  /** Answers each message, as long as some are left. */
  private final class Player extends End {

    private final Semaphore done = new Semaphore(0);
    private int left;

    Player() {
      super(2 * RoundTrips.this.size, DEPTH);
      for (int i = 0; i < DEPTH; i++) {
        receive();
      }
    }

    private void receive() {
      posted(endpoint.postReceive(memory, size, size, 0));
    }

    void send() {
      posted(endpoint.postSend(memory, 0, size, 0));
    }

    @Override
    void completed(final DtoCompletion event) {
      if (event.operation() == DtoOperation.RECEIVE) {
        receive();
        left--;
        if (this == server || left > 0) {
          send();
        }
        if (left == 0) {
          done.release();
        }
      }
    }

    void poll() {
      while (!done.tryAcquire()) {
        evd.drain(this, BATCH);
      }
    }

    void await() throws InterruptedException {
      if (!done.tryAcquire(PATIENCE, TimeUnit.SECONDS)) {
        throw new IllegalStateException("no answer for " + PATIENCE + " s, " + left + " left");
      }
    }
  }
}
