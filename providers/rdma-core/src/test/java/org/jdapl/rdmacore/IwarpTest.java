package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.jdapl.rdmacore.Side.CmEvent;
import org.jdapl.rdmacore.jni.Cm;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** What is different over iWARP: who connects the queue pair, and what a reject says. */
class IwarpTest extends Bed {

  private static final int ECONNRESET = 104;
  private static final int ECONNREFUSED = 111;

  @Override
  void choose() {
    Fake.speakIwarp();
  }

  private static byte[] bytes(final String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private CmRequest request(final String text) {
    a.own(
        a.device.connect(
            a.qp,
            b.device.address(),
            b.listener.service(),
            new CmParameters(ByteBuffer.wrap(bytes(text)), 4, 4, 7, 7),
            a.handler()));
    b.await(() -> !b.requests.isEmpty());
    return b.requests.remove(0);
  }

  /** What the active side is told. */
  private CmEvent answer() {
    a.await(() -> !a.events.isEmpty());
    return a.events.remove(0);
  }

  @Test
  void shouldUseAQueuePairThatTheDeviceConnected() {
    b.listen();
    final CmRequest request = request("hello");
    assertThat(request.privateData().remaining()).as("bytes, exactly").isEqualTo(5);
    b.own(
        request.accept(
            b.qp, new CmParameters(ByteBuffer.wrap(bytes("welcome")), 4, 4, 7, 7), b.handler()));
    a.await(() -> a.has(CmEventType.ESTABLISHED) && b.has(CmEventType.ESTABLISHED));
    b.qp.postRecv(b.recv(1, 0, 8));

    assertThat(a.events).containsExactly(new CmEvent(CmEventType.ESTABLISHED, 0, "welcome"));
    assertThat(a.qp.postSend(a.send(2, WrOpcode.SEND, 0, 8))).isZero();
    assertThat(Side.poll(b.recvCq, 1))
        .extracting(Side.Completion::status)
        .containsExactly(WcStatus.SUCCESS);
  }

  /** Its queue pair writes there as the peer's would. */
  @Test
  void required_D01_aReadFillsARegionThatIsToBeWrittenHereOnly() {
    b.listen();
    b.own(request("").accept(b.qp, Side.PARAMETERS, b.handler()));
    a.await(() -> a.has(CmEventType.ESTABLISHED) && b.has(CmEventType.ESTABLISHED));
    final ByteBuffer buffer = ByteBuffer.allocateDirect(8);
    final MemoryRegion into = a.own(a.device.regMr(a.pd, buffer, Set.of(Access.LOCAL_WRITE)));
    final SendRequest read = new SendRequest(1);
    read.opcode = WrOpcode.RDMA_READ;
    read.addSge(into.address(), 8, into.lkey());
    read.remoteAddress = b.mr.address();
    read.rkey = b.mr.rkey();
    b.buffer.putLong(0, 0x1234_5678L);

    assertThat(a.qp.postSend(read)).isZero();

    assertThat(Side.poll(a.sendCq, 1))
        .extracting(Side.Completion::status)
        .containsExactly(WcStatus.SUCCESS);
    assertThat(buffer.order(b.buffer.order()).getLong(0)).isEqualTo(0x1234_5678L);
  }

  @Test
  void shouldHaveNoImmediateData() {
    assertThat(a.device.capabilities()).doesNotContain(Capability.RDMA_WRITE_WITH_IMM);
  }

  @Test
  void shouldTellTheConsumersRejectFromAnotherByItsTag() {
    b.listen();
    request("").reject(CmHandler.CONSUMER_REJECT, ByteBuffer.wrap(bytes("no")));
    assertThat(answer())
        .isEqualTo(new CmEvent(CmEventType.REJECTED, CmHandler.CONSUMER_REJECT, "no"));
    request("").reject(CmHandler.CONSUMER_REJECT, null);
    assertThat(answer())
        .isEqualTo(new CmEvent(CmEventType.REJECTED, CmHandler.CONSUMER_REJECT, ""));
    request("").reject(1, ByteBuffer.wrap(bytes("not sent")));
    assertThat(answer()).isEqualTo(new CmEvent(CmEventType.REJECTED, ECONNREFUSED, ""));
    a.own(a.connect(a.device.address(), 65535, Side.PARAMETERS)); // nobody listens
    assertThat(answer()).isEqualTo(new CmEvent(CmEventType.REJECTED, ECONNRESET, ""));
  }

  @Test
  void shouldUnderstandTheRejectsOfOtherPrograms() {
    b.listen();
    assertThat(rejectRaw("\2\0\2\1no")).as("of DAPL").isEqualTo("no");
    assertThat(rejectRaw("\2\0\2\1")).as("of DAPL, saying nothing").isEmpty();
    assertThat(rejectRaw("never")).as("of a program that tags nothing").isEqualTo("never");
    assertThat(rejectRaw("no")).as("likewise").isEqualTo("no");
  }

  /** What a consumer's reject said that carried just these bytes. */
  private String rejectRaw(final String sent) {
    final RdmaRequest request = (RdmaRequest) request("");
    synchronized (request) {
      assertThat(Cm.reject(request.pointer(), bytes(sent))).isZero();
    }
    final CmEvent event = answer();
    request.refuse();
    assertThat(event.status()).isEqualTo(CmHandler.CONSUMER_REJECT);
    return event.data();
  }

  @Test
  void shouldLeaveRoomForTheTagOfAReject() {
    b.listen();
    final int limit = b.device.limits().rejectPrivateData();
    final CmRequest request = request("");
    assertThatThrownBy(
            () -> request.reject(CmHandler.CONSUMER_REJECT, ByteBuffer.allocate(limit + 1)))
        .hasMessageContaining("expected <= " + limit);
    request.reject(CmHandler.CONSUMER_REJECT, ByteBuffer.wrap(bytes("n".repeat(limit))));

    assertThat(answer().data()).isEqualTo("n".repeat(limit));
  }
}
