package org.jdapl.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.EventChannel;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.ProtectionDomain;
import org.jdapl.verbs.QpAttributes;
import org.jdapl.verbs.QueuePair;
import org.jdapl.verbs.RecvRequest;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.SharedReceiveQueue;
import org.jdapl.verbs.SteppedClock;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/** One end of a connection, with everything it needs and a record of all it was told. */
final class Side {

  static final int BYTES = 4096;
  static final int WR = 16;
  static final CmParameters PARAMETERS = parameters("", 3, 7);

  record Completion(
      long wrId, WcStatus status, WcOpcode opcode, int byteLength, int qpNumber, int immediate) {}

  final SimFabric fabric;
  final Device device;
  final ProtectionDomain pd;
  final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);
  final MemoryRegion mr;
  final CompletionQueue sendCq;
  final CompletionQueue recvCq;
  final AtomicInteger sendNotifications = new AtomicInteger();
  final AtomicInteger recvNotifications = new AtomicInteger();
  final List<CmEventType> events = new CopyOnWriteArrayList<>();
  final List<Integer> statuses = new CopyOnWriteArrayList<>();
  final List<String> privateData = new CopyOnWriteArrayList<>();
  final List<AsyncType> asyncs = new CopyOnWriteArrayList<>();
  final List<Object> asyncElements = new CopyOnWriteArrayList<>();
  QueuePair qp;
  volatile CmId id;

  Side(final SimFabric fabric) {
    this(fabric, SimModel.DEFAULT);
  }

  Side(final SimFabric fabric, final SimModel model) {
    this(fabric, model, null, 2 * WR);
  }

  Side(final SimFabric fabric, final SimModel model, final EventChannel channel, final int cqe) {
    this.fabric = fabric;
    device = fabric.provider(model).open("", channel);
    device.onAsync(
        (type, element) -> {
          asyncElements.add(element);
          asyncs.add(type);
        });
    pd = device.allocPd();
    mr = device.regMr(pd, buffer, EnumSet.allOf(Access.class));
    sendCq = device.createCq(cqe, cq -> sendNotifications.incrementAndGet());
    recvCq = device.createCq(cqe, cq -> recvNotifications.incrementAndGet());
    qp = createQp(null);
  }

  QueuePair createQp(final SharedReceiveQueue srq) {
    return device.createQp(new QpAttributes(pd, sendCq, recvCq, srq, WR, WR, 4, 4, 0));
  }

  static CmParameters parameters(final String data, final int retries, final int rnrRetries) {
    return new CmParameters(
        ByteBuffer.wrap(data.getBytes(StandardCharsets.UTF_8)), 4, 4, retries, rnrRetries);
  }

  void onCm(final CmId of, final CmEventType type, final int status, final ByteBuffer data) {
    id = of;
    statuses.add(status);
    privateData.add(StandardCharsets.UTF_8.decode(data).toString());
    events.add(type);
  }

  /** Connects this side, active, to another. */
  Side connect(final Side passive) {
    return connect(passive, PARAMETERS);
  }

  Side connect(final Side passive, final CmParameters parameters) {
    return connect(passive, parameters, parameters);
  }

  Side connect(final Side passive, final CmParameters parameters, final CmParameters answer) {
    final AtomicReference<CmId> accepted = new AtomicReference<>();
    final CmListener listener =
        passive.device.listen(
            0, 1, request -> accepted.set(request.accept(passive.qp, answer, passive::onCm)));
    final CmId connecting =
        device.connect(qp, passive.device.address(), listener.service(), parameters, this::onCm);
    until(
        () ->
            events.contains(CmEventType.ESTABLISHED)
                && passive.events.contains(CmEventType.ESTABLISHED));
    id = connecting;
    passive.id = accepted.get();
    listener.close();
    return this;
  }

  /** Runs virtual time, or waits in real time, until something is so. */
  void until(final BooleanSupplier condition) {
    until(fabric, condition);
  }

  static void until(final SimFabric fabric, final BooleanSupplier condition) {
    if (fabric.isVirtual()) {
      assertThat(fabric.runUntil(condition)).as("%s: %s", fabric, fabric.trace()).isTrue();
      return;
    }
    final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("%s", fabric).isLessThan(deadline);
      Thread.yield();
    }
  }

  /** Lets virtual time pass. */
  void pass(final long nanos) {
    final SteppedClock clock = (SteppedClock) fabric.clock();
    final long stop = clock.nanoTime() + nanos;
    boolean did = true;
    while (did) {
      did = clock.step(stop);
    }
  }

  /** Runs virtual time until nothing is left to happen. */
  void settle() {
    assertThat(fabric.runUntil(() -> false)).isFalse();
  }

  static List<Completion> poll(final CompletionQueue cq, final int max) {
    final WorkCompletions batch = new WorkCompletions(max);
    assertThat(cq.poll(batch, max)).isEqualTo(batch.size());
    return completions(batch);
  }

  static List<Completion> completions(final WorkCompletions batch) {
    final List<Completion> list = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      list.add(
          new Completion(
              batch.wrId(i),
              batch.status(i),
              batch.opcode(i),
              batch.byteLength(i),
              batch.qpNumber(i),
              batch.immediate(i)));
    }
    return list;
  }

  List<Completion> sends() {
    return poll(sendCq, 4 * WR);
  }

  List<Completion> receives() {
    return poll(recvCq, 4 * WR);
  }

  /** Waits for exactly that many completions. */
  List<Completion> await(final CompletionQueue cq, final int count) {
    final List<Completion> all = new ArrayList<>();
    until(
        () -> {
          all.addAll(poll(cq, count));
          return all.size() >= count;
        });
    return all;
  }

  Completion nextSend() {
    return await(sendCq, 1).get(0);
  }

  Completion nextReceive() {
    return await(recvCq, 1).get(0);
  }

  RecvRequest recv(final long wrId, final int offset, final int length) {
    final RecvRequest request = new RecvRequest(4);
    request.wrId = wrId;
    request.addSge(mr.address() + offset, length, mr.lkey());
    return request;
  }

  void postRecv(final long wrId, final int offset, final int length) {
    assertThat(qp.postRecv(recv(wrId, offset, length))).isZero();
  }

  SendRequest request(final WrOpcode opcode, final long wrId, final int offset, final int length) {
    final SendRequest request = new SendRequest(4);
    request.opcode = opcode;
    request.wrId = wrId;
    request.addSge(mr.address() + offset, length, mr.lkey());
    return request;
  }

  /** A request that names the peer's memory. */
  SendRequest remote(
      final WrOpcode opcode,
      final long wrId,
      final int offset,
      final int length,
      final Side peer,
      final int peerOffset) {
    final SendRequest request = request(opcode, wrId, offset, length);
    request.remoteAddress = peer.mr.address() + peerOffset;
    request.rkey = peer.mr.rkey();
    return request;
  }

  void post(final SendRequest request) {
    assertThat(qp.postSend(request)).isZero();
  }

  void postSend(final long wrId, final int offset, final int length) {
    post(request(WrOpcode.SEND, wrId, offset, length));
  }

  void fill(final int offset, final int length, final int seed) {
    for (int i = 0; i < length; i++) {
      buffer.put(offset + i, (byte) (seed + 31 * i));
    }
  }

  byte[] bytes(final int offset, final int length) {
    final byte[] bytes = new byte[length];
    buffer.get(offset, bytes);
    return bytes;
  }

  static List<Long> wrIds(final List<Completion> completions) {
    return completions.stream().map(Completion::wrId).toList();
  }

  static List<WcStatus> statuses(final List<Completion> completions) {
    return completions.stream().map(Completion::status).toList();
  }

  void close() {
    if (id != null) {
      id.close();
    }
    qp.close();
    sendCq.close();
    recvCq.close();
    mr.close();
    pd.close();
    device.close();
  }
}
