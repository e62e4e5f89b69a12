package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("allocation")
class AllocationTest extends Bed {

  private static final int WARM_UP = 50_000;
  private static final int ROUNDS = 50_000;

  private int notifications;

  /** By reflection: the module under test does not read jdk.management. */
  private static long allocatedBytes() {
    try {
      final Object threads =
          Class.forName("java.lang.management.ManagementFactory")
              .getMethod("getThreadMXBean")
              .invoke(null);
      return (long)
          Class.forName("com.sun.management.ThreadMXBean")
              .getMethod("getCurrentThreadAllocatedBytes")
              .invoke(threads);
    } catch (final ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @Test
  void shouldAllocateNothingWhenPostingPollingAndAwaiting() {
    final var cq = b.own(b.device.createCq(64, queue -> notifications++));
    b.qp.close();
    b.qp =
        b.own(
            b.device.createQp(
                new org.jdapl.verbs.QpAttributes(b.pd, b.sendCq, cq, null, 8, 8, 2, 2, 0)));
    connect();
    final RecvRequest[] recvs = {b.recv(1, 0, 8), b.recv(2, 8, 8)};
    final SendRequest[] sends = {
      a.send(3, WrOpcode.SEND, 0, 8), a.send(4, WrOpcode.SEND_WITH_IMM, 0, 8)
    };
    sends[1].inline = true;
    final SendRequest write = a.remote(5, WrOpcode.RDMA_WRITE, 8, b, 64);
    final WorkCompletions batch = new WorkCompletions(16);
    final Runnable round =
        () -> {
          b.qp.postRecvs(recvs, 2);
          a.qp.postSends(sends, 2);
          a.qp.postSend(write);
          channel.await(0);
          batch.clear();
          cq.pollAndRearm(batch, 16, ArmKind.NEXT);
          a.sendCq.poll(batch, 14);
        };
    cq.arm(ArmKind.NEXT);
    for (int i = 0; i < WARM_UP; i++) {
      round.run();
    }
    allocatedBytes();
    final long perMeasurement = -allocatedBytes() + allocatedBytes();
    notifications = 0;
    final long before = allocatedBytes();
    for (int i = 0; i < ROUNDS; i++) {
      round.run();
    }
    final long bytes = allocatedBytes() - before - perMeasurement;

    assertThat(notifications).isEqualTo(ROUNDS);
    assertThat(batch.size()).isEqualTo(5);
    assertThat(bytes).as("bytes allocated in " + ROUNDS + " rounds").isLessThan(ROUNDS / 10);
  }
}
