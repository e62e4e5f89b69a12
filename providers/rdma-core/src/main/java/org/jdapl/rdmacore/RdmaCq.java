package org.jdapl.rdmacore;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jdapl.rdmacore.jni.Layout;
import org.jdapl.rdmacore.jni.Layout.Wc;
import org.jdapl.rdmacore.jni.Verbs;
import org.jdapl.verbs.ArmKind;
import org.jdapl.verbs.CompletionQueue;
import org.jdapl.verbs.CqHandler;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.RearmOutcome;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WorkCompletions;

/** A completion queue. Completions cross in batches, into memory that C fills and Java reads. */
final class RdmaCq extends RdmaObject implements CompletionQueue {

  /** How many completions cross at once at most. */
  static final int BATCH = 64;

  private static final RearmOutcome[] OUTCOMES = RearmOutcome.values();
  private static final int WITH_IMMEDIATE = 2;
  private static final int WITH_INVALIDATE = 8;
  private static final boolean SWAP = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private final CqHandler handler;
  private final ByteBuffer batch;
  private final long batchAddress;
  private volatile int capacity;

  RdmaCq(final RdmaDevice device, final int entries, final CqHandler handler) {
    this(device, entries, handler, Layout.allocate(BATCH * Wc.SIZE));
  }

  /** All memory is there before the device counts it. */
  private RdmaCq(
      final RdmaDevice device, final int entries, final CqHandler handler, final ByteBuffer batch) {
    super(device, Kind.CQ);
    this.handler = handler;
    this.batch = batch;
    batchAddress = Verbs.address(batch);
    final long result = Verbs.createCq(device.context(), entries, token, device.compChannel());
    if (!opened(result)) {
      throw notCreated(result, entries + " entries" + Memlock.hint(result, entries * 64L));
    }
    capacity = Verbs.cqEntries(result);
  }

  /** An event came. Returns whether the handler was called. */
  boolean onEvent() {
    if (!upcalls.enter()) {
      return false;
    }
    try {
      handler.onNotification(this);
    } finally {
      upcalls.exit();
    }
    return true;
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public int capacity() {
    return capacity;
  }

  @Override
  public synchronized int poll(final WorkCompletions into, final int max) {
    final long alive = pointer("poll_cq");
    final int count = Verbs.pollCq(alive, batchAddress, room("poll_cq", into, max));
    append(Results.check(count, "poll_cq", this, "the queue is broken"), into);
    return count;
  }

  @Override
  public synchronized int arm(final ArmKind kind) {
    final int solicited = kind == ArmKind.SOLICITED ? 1 : 0;
    return Results.check(
        Verbs.reqNotifyCq(pointer("req_notify_cq"), solicited), "req_notify_cq", this, kind.name());
  }

  @Override
  public synchronized RearmOutcome pollAndRearm(
      final WorkCompletions into, final int max, final ArmKind kind) {
    final long alive = pointer("poll_and_rearm_cq");
    final int solicited = kind == ArmKind.SOLICITED ? 1 : 0;
    final int room = room("poll_and_rearm_cq", into, max);
    final int result = Verbs.pollAndRearmCq(alive, batchAddress, room, solicited);
    Results.check(result, "poll_and_rearm_cq", this, "the queue is broken, or cannot be armed");
    append(result & 0xFFFF, into);
    return OUTCOMES[result >>> 16];
  }

  /** How many may cross: what was taken off the queue must have a place. */
  private int room(final String verb, final WorkCompletions into, final int max) {
    final int room = Math.min(BATCH, Math.min(max, into.capacity() - into.size()));
    if (room < 1) {
      throw new VerbsException(
          verb,
          toString(),
          VerbsException.EINVAL,
          "max " + max + " into a batch of " + into.capacity() + " that holds " + into.size());
    }
    return room;
  }

  private void append(final int count, final WorkCompletions into) {
    for (int at = 0, end = count * Wc.SIZE; at < end; at += Wc.SIZE) {
      final WcStatus status = WcStatus.of(batch.getInt(at + Wc.STATUS));
      final WcOpcode opcode =
          status == WcStatus.SUCCESS ? opcode(batch.getInt(at + Wc.OPCODE)) : null;
      final int immediate = batch.getInt(at + Wc.IMM_DATA);
      into.add(
          batch.getLong(at + Wc.WR_ID),
          status,
          opcode,
          batch.getInt(at + Wc.BYTE_LEN),
          batch.getInt(at + Wc.QP_NUM),
          batch.getInt(at + Wc.VENDOR_ERR),
          isReceive(opcode) && (batch.getInt(at + Wc.WC_FLAGS) & WITH_IMMEDIATE) != 0,
          SWAP ? Integer.reverseBytes(immediate) : immediate);
      if (opcode == WcOpcode.RECV && (batch.getInt(at + Wc.WC_FLAGS) & WITH_INVALIDATE) != 0) {
        into.setInvalidated(immediate);
      }
    }
  }

  /** Some devices set the flag of immediate data for sends too. */
  private static boolean isReceive(final WcOpcode opcode) {
    return opcode == WcOpcode.RECV || opcode == WcOpcode.RECV_RDMA_WITH_IMM;
  }

  /** The opcode of an ibv_wc_opcode; null for one of which there is no request here. */
  private static WcOpcode opcode(final int number) {
    return switch (number) {
      case 0 -> WcOpcode.SEND;
      case 1 -> WcOpcode.RDMA_WRITE;
      case 2 -> WcOpcode.RDMA_READ;
      case 3 -> WcOpcode.COMP_SWAP;
      case 4 -> WcOpcode.FETCH_ADD;
      case 5, 6 -> WcOpcode.BIND_MW; // a window of type 2 is closed by IBV_WC_LOCAL_INV
      case 128 -> WcOpcode.RECV;
      case 129 -> WcOpcode.RECV_RDMA_WITH_IMM;
      default -> null;
    };
  }

  @Override
  public synchronized void resize(final int entries) {
    device.limits().checkCq("resize_cq", toString(), entries);
    final long alive = pointer("resize_cq");
    Results.check(Verbs.resizeCq(alive, entries), "resize_cq", this, "to " + entries + " entries");
    capacity = Verbs.cqEntries(alive);
  }

  @Override
  int destroy(final long alive) {
    return Verbs.destroyCq(alive);
  }
}
