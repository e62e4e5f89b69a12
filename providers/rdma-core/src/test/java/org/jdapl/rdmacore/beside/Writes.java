package org.jdapl.rdmacore.beside;

import org.jdapl.dat.DtoCompletion;

/** RDMA writes, as many on their way as ib_write_bw has; one thread posts and polls, as there. */
final class Writes implements AutoCloseable {

  private static final int DEPTH = 128;
  private static final int BATCH = 16;

  private final int size;
  private final Writer client;
  private final Writer server;

  Writes(final int size) throws InterruptedException {
    this.size = size;
    client = new Writer(size);
    server = new Writer(size);
    End.connect(client, server);
  }

  /** Writes; returns how many bytes a second. */
  double run(final int count) {
    client.completed = 0;
    final long start = System.nanoTime();
    for (int posted = 0; client.completed < count; ) {
      if (posted < count && posted - client.completed < DEPTH) {
        client.write(server);
        posted++;
      } else {
        client.evd.drain(client, BATCH);
      }
    }
    return (double) count * size / ((System.nanoTime() - start) / 1e9);
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }

  /** Counts what was written. */
  private static final class Writer extends End {

    private int completed;

    Writer(final int size) {
      super(size, DEPTH);
    }

    void write(final End to) {
      posted(
          endpoint.postRdmaWrite(
              memory, 0, memory.length(), to.memory.rmrContext(), to.memory.address(), 0));
    }

    @Override
    void completed(final DtoCompletion event) {
      completed++;
    }
  }
}
