package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("allocation")
class AllocationTest {

  private static final int WARM_UP = 50_000;
  private static final int ROUNDS = 50_000;

  private final AtomicLong notified = new AtomicLong();
  private volatile Thread wire;

  /** By reflection: the module under test does not read jdk.management. */
  private static long[] allocatedBytes(final long... ids) {
    try {
      final Object threads =
          Class.forName("java.lang.management.ManagementFactory")
              .getMethod("getThreadMXBean")
              .invoke(null);
      return (long[])
          Class.forName("com.sun.management.ThreadMXBean")
              .getMethod("getThreadAllocatedBytes", long[].class)
              .invoke(threads, (Object) ids);
    } catch (final ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @Test
  void shouldAllocateNothingWhenPostingAndPolling() {
    try (SimFabric fabric = SimFabric.realTime()) {
      final Side a = new Side(fabric);
      final Side b = new Side(fabric);
      final CompletionQueue cq =
          b.device.createCq(
              8,
              self -> {
                wire = Thread.currentThread();
                notified.incrementAndGet();
              });
      b.qp.close();
      b.qp = b.device.createQp(new QpAttributes(b.pd, b.sendCq, cq, null, 4, 4, 4, 4, 0));
      a.connect(b);
      final RecvRequest recv = b.recv(1, 0, 64);
      final SendRequest send = a.request(WrOpcode.SEND, 1, 0, 64);
      final SendRequest write = a.remote(WrOpcode.RDMA_WRITE, 2, 0, 64, b, 0);
      final SendRequest read = a.remote(WrOpcode.RDMA_READ, 3, 0, 64, b, 0);
      final SendRequest inline = a.request(WrOpcode.SEND, 4, 0, 64);
      inline.inline = true;
      final WorkCompletions batch = new WorkCompletions(4);
      final Runnable round =
          () -> {
            final long before = notified.get();
            int sum = b.qp.postRecv(recv) + b.qp.postRecv(recv) + cq.arm(ArmKind.NEXT);
            sum += a.qp.postSend(send) + a.qp.postSend(write) + a.qp.postSend(read);
            sum += a.qp.postSend(inline);
            int sends = 0;
            int receives = 0;
            while (sends < 4 || receives < 2 || notified.get() == before) {
              batch.clear();
              sends += a.sendCq.poll(batch, 4);
              batch.clear();
              receives += cq.poll(batch, 4);
              Thread.yield();
            }
            if (sum != 0) {
              throw new AssertionError("a post failed");
            }
          };
      for (int i = 0; i < WARM_UP; i++) {
        round.run();
      }
      final long[] ids = {Thread.currentThread().getId(), wire.getId()};
      final long[] before = allocatedBytes(ids);
      final long start = System.nanoTime();
      for (int i = 0; i < ROUNDS; i++) {
        round.run();
      }
      final long took = System.nanoTime() - start;
      final long[] after = allocatedBytes(ids);
      System.out.println(
          "caller "
              + (after[0] - before[0])
              + " bytes, wire "
              + (after[1] - before[1])
              + " bytes in "
              + ROUNDS
              + " rounds of "
              + took / ROUNDS
              + " ns");
      assertThat(after[0] - before[0]).isLessThan(ROUNDS / 10); // reading the counters allocates
      assertThat(after[1] - before[1]).isLessThan(ROUNDS / 10);
    }
  }
}
