package org.jdapl.rdmacore.beside;

import org.jdapl.dat.DtoCompletion;

/** RDMA writes, as many on their way as ib_write_bw has; one thread posts and polls, as there. */
final class Writes extends End implements Contest {

  private static final int DEPTH = 128;
  private static final int BATCH = 16;

  private final int count;
  private final long rmrContext;
  private final long address;
  private int completed;

  Writes(final Partner partner, final int size, final int count) throws InterruptedException {
    super(size, DEPTH);
    this.count = count;
    connect(partner);
    partner.tell(memory.rmrContext());
    partner.tell(memory.address());
    rmrContext = partner.hear();
    address = partner.hear();
  }

  /** How many MiB a second. */
  @Override
  public double drive() {
    completed = 0;
    final long start = System.nanoTime();
    for (int posted = 0; completed < count; ) {
      if (posted < count && posted - completed < DEPTH) {
        posted(endpoint.postRdmaWrite(memory, 0, memory.length(), (int) rmrContext, address, 0));
        posted++;
      } else {
        evd.drain(this, BATCH);
      }
    }
    final double mebibytes = (double) count * memory.length() / (1 << 20);
    return mebibytes / ((System.nanoTime() - start) / 1e9);
  }

  /** It takes part in nothing. */
  @Override
  public void serve(final Runnable ready) {
    ready.run();
  }

  @Override
  void completed(final DtoCompletion event) {
    completed++;
  }
}
