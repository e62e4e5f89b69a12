package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import org.jdapl.rdmacore.jni.Crossings;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** How often the data path crosses into C. Needs assertions, which count it. */
class CrossingsTest extends Bed {

  private static long crossings(final Runnable use) {
    final long before = Crossings.count();
    use.run();
    return Crossings.count() - before;
  }

  @Test
  void required_N04_crossesOncePerBatchAndList() {
    connect();
    final WorkCompletions batch = new WorkCompletions(64);
    final RecvRequest[] recvs = new RecvRequest[Side.WR];
    final SendRequest[] sends = new SendRequest[Side.WR];
    for (int i = 0; i < Side.WR; i++) {
      recvs[i] = b.recv(i, 0, 8);
      sends[i] = a.send(i, WrOpcode.SEND, 0, 8);
    }

    assertThat(crossings(() -> b.qp.postRecvs(recvs, Side.WR))).as("a list").isOne();
    assertThat(crossings(() -> a.qp.postSends(sends, Side.WR))).as("a list").isOne();
    assertThat(crossings(() -> b.recvCq.pollAndRearm(batch, 64, ArmKind.NEXT)))
        .as("drain and rearm")
        .isOne();
    assertThat(batch.size()).isEqualTo(Side.WR);
    batch.clear();
    assertThat(crossings(() -> a.sendCq.poll(batch, 64))).as("a batch").isOne();
    assertThat(batch.size()).isEqualTo(Side.WR);
    assertThat(crossings(() -> b.qp.postRecv(recvs[0]))).as("a request").isOne();
    assertThat(crossings(() -> a.qp.postSend(sends[0]))).as("a request").isOne();
  }
}
