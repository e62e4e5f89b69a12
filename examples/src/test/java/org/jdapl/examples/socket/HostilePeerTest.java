package org.jdapl.examples.socket;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever a peer sends, or does not: a connection has its outcome and its end. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostilePeerTest {

  private static final int MAGIC = 0x6a444132;
  private static final int HEADER_BYTES = 4 * Integer.BYTES + Long.BYTES;
  private static final CmParameters PARAMETERS =
      new CmParameters(ByteBuffer.allocate(0), 1, 1, 7, 7);

  private final Device device = new SocketProvider().open("", null);
  private final ProtectionDomain pd = device.allocPd();
  private final CompletionQueue cq = device.createCq(16, queue -> {});
  private final QueuePair qp = device.createQp(new QpAttributes(pd, cq, cq, null, 4, 4, 1, 1, 0));
  private final ByteBuffer memory = ByteBuffer.allocateDirect(Long.BYTES);
  private final MemoryRegion region =
      device.regMr(pd, memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
  private final BlockingQueue<CmRequest> requests = new LinkedBlockingQueue<>();
  private final BlockingQueue<CmEventType> events = new LinkedBlockingQueue<>();
  private final CmListener listener = device.listen(0, 4, requests::add);

  private void onEvent(
      final CmId id, final CmEventType type, final int status, final ByteBuffer data) {
    events.add(type);
  }

  HostilePeerTest() {
    device.onAsync((type, element) -> {});
  }

  private Socket connect() throws IOException {
    return new Socket(InetAddress.getLoopbackAddress(), (int) listener.service());
  }

  /**
   * Sends a frame whose length may be a lie; without an opcode an answer, or a request. In one
   * write: who is not believed is cut off in the middle of a frame, and a second one would fail.
   */
  @SuppressWarnings("EnumOrdinal") // as the frames have it
  private static void send(
      final Socket to, final WrOpcode opcode, final int length, final int value, final byte... data)
      throws IOException {
    final ByteBuffer frame = ByteBuffer.allocate(HEADER_BYTES + data.length);
    frame.putInt(MAGIC + (opcode == null ? -1 : opcode.ordinal())).putInt(length).putInt(value);
    frame.put(HEADER_BYTES, data);
    to.getOutputStream().write(frame.array());
  }

  private void post(final WrOpcode opcode) {
    final SendRequest request = new SendRequest(1);
    request.opcode = opcode;
    request.addSge(region.address(), Long.BYTES, region.lkey());
    assertThat(qp.postSend(request)).isZero();
  }

  private CmRequest takeRequest() throws InterruptedException {
    return requests.poll(20, TimeUnit.SECONDS);
  }

  private CmEventType event() throws InterruptedException {
    return events.poll(20, TimeUnit.SECONDS);
  }

  private static void sendGarbage(final Socket to, final String what) throws IOException {
    switch (what) {
      case "a negative length" -> send(to, null, -5, 0);
      case "a length without bytes" -> send(to, null, Integer.MAX_VALUE, 0);
      case "a length above the limit" -> {
        send(to, WrOpcode.SEND, (1 << 30) + 1, 0);
        assertEnds(to); // though it is open, and more could come
      }
      case "an answer to nothing" -> send(to, null, 0, 0);
      case "an error to nothing" -> send(to, null, 0, WcStatus.REM_OP_ERR.code());
      case "a read of less than nothing" -> send(to, WrOpcode.RDMA_READ, 0, -1);
      case "a read of too much" -> send(to, WrOpcode.RDMA_READ, 0, Integer.MAX_VALUE);
      case "another protocol" ->
          to.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(US_ASCII));
      case "half a frame" -> to.getOutputStream().write(MAGIC >>> 24);
      default -> throw new IllegalArgumentException(what);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a negative length",
        "a length without bytes",
        "a length above the limit",
        "an answer to nothing",
        "an error to nothing",
        "a read of less than nothing",
        "a read of too much",
        "another protocol",
        "half a frame"
      })
  void required_C02_garbageEndsTheConnectionAndFlushes(final String what) throws Exception {
    final RecvRequest receive = new RecvRequest(1);
    receive.wrId = 7;
    assertThat(qp.postRecv(receive)).isZero();
    try (Socket peer = connect()) {
      send(peer, null, 0, 0);
      requests.take().accept(qp, PARAMETERS, this::onEvent);
      assertThat(event()).isEqualTo(CmEventType.ESTABLISHED);
      sendGarbage(peer, what);
    }
    assertThat(event()).isEqualTo(CmEventType.DISCONNECTED);
    final WorkCompletions batch = new WorkCompletions(4);
    assertThat(cq.poll(batch, 4)).isOne();
    assertThat(batch.wrId(0)).isEqualTo(7);
    assertThat(batch.status(0)).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  @ParameterizedTest
  @ValueSource(strings = {"SEND", "RDMA_READ"})
  void required_D02_anAnswerOfAnotherLengthChangesNothing(final String opcode) throws Exception {
    memory.putLong(0, 4711);
    try (Socket peer = connect()) {
      send(peer, null, 0, 0);
      requests.take().accept(qp, PARAMETERS, this::onEvent);
      assertThat(event()).isEqualTo(CmEventType.ESTABLISHED);
      post(WrOpcode.valueOf(opcode));
      final byte[] data = new byte[opcode.equals("SEND") ? Long.BYTES : 3];
      send(peer, null, data.length, 0, data);
      assertThat(event()).isEqualTo(CmEventType.DISCONNECTED);
    }
    final WorkCompletions batch = new WorkCompletions(4);
    assertThat(cq.poll(batch, 4)).isOne();
    assertThat(batch.status(0)).isEqualTo(WcStatus.WR_FLUSH_ERR);
    assertThat(memory.getLong(0)).isEqualTo(4711);
  }

  @Test
  void required_C02_garbageInsteadOfAnAnswerIsUnreachable() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      final InetAddress here = InetAddress.getLoopbackAddress();
      device.connect(qp, here, server.getLocalPort(), PARAMETERS, this::onEvent);
      try (Socket peer = server.accept()) {
        send(peer, null, -1, 0);
        assertThat(event()).isEqualTo(CmEventType.UNREACHABLE);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void required_E01_aRequestIsDeliveredOnceAndNotIfItIsTooLong(final boolean isLong)
      throws Exception {
    try (Socket peer = connect()) {
      final byte[] data = new byte[isLong ? 257 : 0];
      send(peer, null, data.length, 0, data);
      if (!isLong) {
        send(peer, null, 0, 0); // once more
      }
      assertEnds(peer);
    }
    try (Socket last = connect()) {
      send(last, null, 1, 0, (byte) 1); // what came before was handed over before it
      if (!isLong) {
        assertThat(takeRequest().privateData().remaining()).isZero();
      }
      assertThat(takeRequest().privateData().remaining()).isOne();
    }
  }

  @Test
  void required_E01_aLengthIsNotBelievedBeforeTheAccept() throws Exception {
    try (Socket peer = connect()) {
      send(peer, null, 0, 0);
      requests.take();
      send(peer, WrOpcode.SEND, 257, 0);
      assertEnds(peer); // its bytes are not waited for
    }
  }

  @Test
  void required_D02_whoIsAcceptedMaySendALongMessageAtOnce() throws Exception {
    final byte[] data = new byte[257];
    try (Socket peer = connect()) {
      send(peer, null, 0, 0);
      requests.take().accept(qp, PARAMETERS, this::onEvent);
      assertThat(event()).isEqualTo(CmEventType.ESTABLISHED);
      final InputStream in = peer.getInputStream();
      assertThat(in.readNBytes(HEADER_BYTES)).hasSize(HEADER_BYTES);
      send(peer, WrOpcode.SEND, data.length, 0, data);
      peer.setSoTimeout(20_000);
      assertThat(in.readNBytes(HEADER_BYTES)).hasSize(HEADER_BYTES); // no receive, it says
    }
  }

  /** Of a process that has no memory left when the thread that writes is to be started. */
  private static final class Poor extends Socket {

    Poor(final ServerSocket server) throws IOException {
      super(server.getInetAddress(), server.getLocalPort());
    }

    @Override
    public void setTcpNoDelay(final boolean on) {
      throw new OutOfMemoryError("unable to create native thread");
    }
  }

  @Test
  void required_C02_aConnectionWithoutAWriterIsClosed() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket poor = new Poor(server);
        Socket peer = server.accept()) {
      final SocketConnection connection = new SocketConnection((SocketDevice) device, null, poor);

      assertThatThrownBy(() -> connection.run(null)).isInstanceOf(OutOfMemoryError.class);
      assertEnds(peer);
    }
  }

  @Test
  void required_C02_whoAsksWhenTheDeviceIsClosedIsAnswered() throws Exception {
    try (Socket peer = connect();
        Socket other = connect()) {
      send(other, null, 0, 0);
      requests.take().reject(0, null); // so the listener has taken the one before as well
      listener.close();
      qp.close();
      cq.close();
      region.close();
      pd.close();
      device.close();
      send(peer, null, 0, 0);
      peer.setSoTimeout(20_000);
      final InputStream in = peer.getInputStream();
      assertThat(in.readNBytes(12)).endsWith(0, 0, 0, SocketConnection.NOBODY_LISTENS);
    }
  }

  /** Of a process that has no descriptor left for a while. */
  private static final class Exhausted extends ServerSocket {

    private static final int FAILURES = 50;

    private int failures;
    private long start;
    private volatile long nanos;

    Exhausted() throws IOException {
      super(0, 1, InetAddress.getLoopbackAddress());
    }

    @Override
    public Socket accept() throws IOException {
      if (failures == 0) {
        start = System.nanoTime();
      }
      if (failures++ < FAILURES) {
        throw new SocketException("Too many open files");
      }
      nanos = System.nanoTime() - start;
      return super.accept();
    }
  }

  @Test
  void shouldWaitForDescriptorsAndListenOn() throws Exception {
    try (Exhausted server = new Exhausted();
        Socket peer = new Socket(server.getInetAddress(), server.getLocalPort())) {
      final SocketListener exhausted =
          new SocketListener((SocketDevice) device, server, 1, 1, requests::add);
      SocketDevice.THREADS.execute(exhausted::run);
      send(peer, null, 0, 0);

      assertEnds(peer); // refused, as the device does not know this listener
      assertThat(server.nanos).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(Exhausted.FAILURES));
    }
  }

  @Test
  void required_C04_whoConnectsAndSaysNothingIsNotWaitedFor() throws Exception {
    try (Socket peer = connect()) {
      assertEnds(peer);
    }
  }

  private static void assertEnds(final Socket peer) throws IOException {
    peer.setSoTimeout(20_000);
    peer.getInputStream().readAllBytes(); // until the other side closes it
  }
}
