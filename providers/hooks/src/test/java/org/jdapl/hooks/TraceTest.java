package org.jdapl.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jdapl.sim.SimModel;
import org.jdapl.verbs.Delivery;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TraceTest {

  @ParameterizedTest
  @EnumSource(Delivery.class)
  void required_S04_theTraceTellsEachVerbAndEachEventInOrder(final Delivery delivery) {
    final Bed bed =
        new Bed(
            "refuse post_send@2=ENOMEM",
            SimModel.DEFAULT
                .withDelivery(delivery)
                .withLatency(1000, 1000)
                .withCmLatency(1000, 1000));
    bed.connect().settle();
    bed.postRecv(5);
    bed.arm();
    bed.postSend(6);
    bed.postSend(7);
    bed.settle();
    bed.poll();
    final String id = "sim0/qp1 id";
    assertThat(bed.trace.toString().lines().map(line -> line.replaceFirst("^[0-9]+ ", "")))
        .containsSubsequence(
            "sim.open_device() = sim0",
            "sim0.create_cq(64) = sim0/cq1",
            "sim0.create_qp(send=sim0/cq1 recv=sim0/cq1) = sim0/qp1",
            "sim0.listen(7, 4) = sim0/listener 7",
            "sim0.connect(sim0/qp1, " + bed.device.address() + ", 7) = " + id,
            "sim0/listener 7 -> request from " + bed.device.address(),
            id + " -> established",
            "sim0/qp2.post_recv(wrId=5 bytes=8) = 0",
            "sim0/cq1.req_notify_cq(NEXT) = 0",
            "sim0/qp1.post_send(SEND wrId=6 bytes=8) = 0",
            "sim0/qp1.post_send(SEND wrId=7 bytes=8) = 12",
            "sim0/cq1 -> notification",
            "sim0/cq1.poll_cq(64) = 2 [wrId=5 SUCCESS qp=2, wrId=6 SUCCESS qp=1]");
  }

  @Test
  void shouldTellWhatAVerbThrew() {
    final Bed bed = new Bed("");
    assertThatThrownBy(() -> bed.device.createCq(0, cq -> {}))
        .hasMessageContaining("create_cq on sim0");
    assertThat(bed.trace.toString())
        .endsWith(
            "sim0.create_cq(0) threw org.jdapl.verbs.VerbsException: create_cq on sim0: invalid"
                + " argument (errno 22): entries 0; expected 1 to 1048576");
  }

  @Test
  void shouldKeepTheLastLines() {
    final Trace.Tail tail = new Trace.Tail(3);
    for (int i = 0; i < 10; i++) {
      tail.accept("line " + i);
    }
    assertThat(tail).hasToString("line 7\nline 8\nline 9");
    assertThatThrownBy(() -> new Trace.Tail(0)).hasMessageContaining("at least 1 line");
  }
}
