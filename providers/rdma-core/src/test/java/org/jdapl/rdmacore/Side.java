package org.jdapl.rdmacore;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.AsyncType;
import org.jdapl.verbs.CmEventType;
import org.jdapl.verbs.CmHandler;
import org.jdapl.verbs.CmId;
import org.jdapl.verbs.CmListener;
import org.jdapl.verbs.CmParameters;
import org.jdapl.verbs.CmRequest;
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
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;
import org.jdapl.verbs.WrOpcode;

/**
 * A device with one object of each kind that a connection needs, and what its handlers were told.
 * Everything that was created is closed by {@link #close}, in the right order, whatever failed.
 */
final class Side implements AutoCloseable {

  static final String ADDRESS = "192.0.2.1";
  static final int SIZE = 4096;
  static final int WR = 8;
  static final CmParameters PARAMETERS = new CmParameters(null, 4, 4, 7, 7);

  record Completion(long wrId, WcStatus status, WcOpcode opcode, int length, Integer immediate) {}

  record CmEvent(CmEventType type, int status, String data) {}

  record Async(AsyncType type, Object element) {}

  final EventChannel channel;
  Device device;
  ProtectionDomain pd;
  ByteBuffer buffer = Layout.allocate(SIZE);
  MemoryRegion mr;
  CompletionQueue sendCq;
  CompletionQueue recvCq;
  SharedReceiveQueue srq;
  QueuePair qp;
  CmListener listener;
  CmId id;

  final List<CompletionQueue> notified = new ArrayList<>();
  final List<CmEvent> events = new ArrayList<>();
  final List<CmRequest> requests = new ArrayList<>();
  final List<Async> asyncs = new ArrayList<>();
  private final List<AutoCloseable> open = new ArrayList<>();

  /** A side that owns nothing yet; events arrive in a channel. */
  Side(final EventChannel channel) {
    this.channel = channel;
  }

  static Side open(final EventChannel channel) {
    final Side side = new Side(channel);
    side.create(false);
    return side;
  }

  /** Creates the objects; those that there are already stay. */
  void create(final boolean shared) {
    create(shared, EnumSet.allOf(Access.class), 32);
  }

  /** As {@link #create(boolean)}, for a device that does not have everything. */
  void create(final boolean shared, final Set<Access> access, final int inline) {
    device = own(new RdmaCoreProvider().open("address=" + ADDRESS, channel));
    device.onAsync((type, element) -> asyncs.add(new Async(type, element)));
    pd = own(device.allocPd());
    mr = own(device.regMr(pd, buffer, access));
    sendCq = own(device.createCq(4 * WR, notified::add));
    recvCq = own(device.createCq(4 * WR, notified::add));
    srq = shared ? own(device.createSrq(pd, WR, 2)) : null;
    qp = own(device.createQp(new QpAttributes(pd, sendCq, recvCq, srq, WR, WR, 2, 2, inline)));
  }

  <T extends AutoCloseable> T own(final T object) {
    open.add(object);
    return object;
  }

  void listen() {
    listener = own(device.listen(0, 2, requests::add));
  }

  void connect(final Side to, final CmParameters parameters) {
    id = own(connect(to.device.address(), to.listener.service(), parameters));
  }

  CmId connect(final InetAddress to, final long service, final CmParameters parameters) {
    return device.connect(qp, to, service, parameters, handler());
  }

  CmHandler handler() {
    return (of, type, status, data) ->
        events.add(new CmEvent(type, status, new String(text(data)).stripTrailing()));
  }

  static char[] text(final ByteBuffer data) {
    final char[] text = new char[data.remaining()];
    for (int i = 0; i < text.length; i++) {
      final byte letter = data.get(data.position() + i);
      text[i] = letter == 0 ? ' ' : (char) letter;
    }
    return text;
  }

  void accept() {
    id = own(requests.remove(0).accept(qp, PARAMETERS, handler()));
  }

  /** Connects to a side that listens, and both know it. */
  void connect(final Side to) {
    connect(to, PARAMETERS);
    to.await(() -> !to.requests.isEmpty());
    to.accept();
    await(() -> has(CmEventType.ESTABLISHED) && to.has(CmEventType.ESTABLISHED));
  }

  boolean has(final CmEventType type) {
    return events.stream().anyMatch(event -> event.type == type);
  }

  /** Awaits events until a condition holds. */
  void await(final BooleanSupplier condition) {
    final long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!condition.getAsBoolean()) {
      assertThat(deadline - System.nanoTime()).as("time left; events %s", events).isPositive();
      channel.await(TimeUnit.MILLISECONDS.toNanos(10));
    }
  }

  RecvRequest recv(final long wrId, final int offset, final int length) {
    final RecvRequest request = new RecvRequest(2);
    request.wrId = wrId;
    request.addSge(mr.address() + offset, length, mr.lkey());
    return request;
  }

  SendRequest send(final long wrId, final WrOpcode opcode, final int offset, final int length) {
    final SendRequest request = new SendRequest(2);
    request.wrId = wrId;
    request.opcode = opcode;
    request.addSge(mr.address() + offset, length, mr.lkey());
    return request;
  }

  SendRequest remote(
      final long wrId, final WrOpcode opcode, final int length, final Side to, final int offset) {
    final SendRequest request = send(wrId, opcode, 0, length);
    request.remoteAddress = to.mr.address() + offset;
    request.rkey = to.mr.rkey();
    return request;
  }

  static List<Completion> poll(final CompletionQueue cq, final int max) {
    final WorkCompletions batch = new WorkCompletions(max);
    assertThat(cq.poll(batch, max)).isEqualTo(batch.size());
    return completions(batch);
  }

  static List<Completion> completions(final WorkCompletions batch) {
    final List<Completion> list = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      final boolean success = batch.status(i) == WcStatus.SUCCESS;
      list.add(
          new Completion(
              batch.wrId(i),
              batch.status(i),
              batch.opcode(i),
              success ? batch.byteLength(i) : -1,
              success && batch.hasImmediate(i) ? batch.immediate(i) : null));
    }
    return list;
  }

  /**
   * Closes what was created, the last first, but queue pairs before ids; each again if it fails.
   */
  @Override
  public void close() {
    for (int i = open.size() - 1; i >= 0; i--) {
      if (open.get(i) instanceof QueuePair) {
        close(open.remove(i));
      }
    }
    while (!open.isEmpty()) {
      close(open.remove(open.size() - 1));
    }
  }

  private static void close(final AutoCloseable object) {
    try {
      object.close();
    } catch (final Exception e) {
      try {
        object.close();
      } catch (final Exception again) {
        throw new AssertionError("close of " + object + " failed twice", again);
      }
    }
  }
}
