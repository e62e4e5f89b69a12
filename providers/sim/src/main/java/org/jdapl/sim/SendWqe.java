package org.jdapl.sim;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.BindRequest;
import org.jdapl.verbs.ScatterGather;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;

/** A slot of a send queue. Filled by the poster, then used by whoever holds the wire. */
final class SendWqe {

  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

  final SendRequest request;

  /** When it reaches the peer, and when the peer's answer is back; 0 is at once. */
  long arrival;

  long answer;

  /** How often it was sent again for want of a receive, or of an answer. */
  int rnrRetries;

  int retries;
  WcStatus status;

  /** What it binds, if it is a bind; else null. */
  SimMw window;

  private SimMr region;
  private long bindAddress;
  private long bindLength;
  private final Set<Access> access = EnumSet.noneOf(Access.class);
  private int newKey;
  private ByteBuffer inlined = EMPTY; // grows to the longest inline request
  private int inlinedLength;

  SendWqe(final int maxSge) {
    request = new SendRequest(maxSge);
  }

  /** Copies a request, its data too if it is inline; false if that data is nowhere registered. */
  boolean load(final SendRequest from, final Memory memory) {
    request.set(from);
    window = null;
    begin();
    return !from.inline || copyInline(memory);
  }

  private void begin() {
    arrival = 0;
    answer = 0;
    rnrRetries = 0;
    retries = 0;
    status = null;
  }

  /** Copies a bind, whose objects are of this provider. */
  void load(final BindRequest from) {
    request.wrId = from.wrId;
    request.signaled = from.signaled;
    request.inline = false;
    request.clearSge();
    window = (SimMw) from.window;
    region = from.length == 0 ? null : (SimMr) from.region;
    bindAddress = from.address;
    bindLength = from.length;
    access.clear();
    access.addAll(from.access);
    newKey = window.nextKey();
    begin();
  }

  /** Carries a bind out. */
  WcStatus bind(final SimQp qp) {
    return window.bind(qp, region, bindAddress, bindLength, access, newKey);
  }

  private boolean copyInline(final Memory memory) {
    final int length = (int) request.length();
    if (inlined.capacity() < length) {
      inlined = ByteBuffer.allocate(length);
    }
    inlinedLength = 0;
    for (int i = 0; i < request.sgeCount(); i++) {
      final int part = request.sgeLength(i);
      if (part > 0) {
        final SimMr region = memory.local.apply(request.sgeLkey(i));
        if (region == null || !region.holds(request.sgeAddress(i), part)) {
          return false;
        }
        final int offset = (int) (request.sgeAddress(i) - region.address());
        inlined.put(inlinedLength, region.buffer(), offset, part);
        inlinedLength += part;
      }
    }
    return true;
  }

  /** What it reads or fills here; false if its domain may not. */
  boolean setLocal(final SimPd pd, final ScatterGather local) {
    if (request.inline) {
      local.set(inlined, 0, inlinedLength);
      return true;
    }
    final Access right = isRead() ? Access.LOCAL_WRITE : null;
    return local.setLocal(pd.fabric.memory.local, pd, request, request.length(), right);
  }

  /** Whether it is an RDMA read or an atomic: it fills local memory, and read depths count it. */
  boolean isRead() {
    return window == null
        && switch (request.opcode) {
          case RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD -> true;
          default -> false;
        };
  }

  boolean hasImmediate() {
    return request.opcode == WrOpcode.SEND_WITH_IMM
        || request.opcode == WrOpcode.RDMA_WRITE_WITH_IMM;
  }

  WcOpcode opcode() {
    if (window != null) {
      return WcOpcode.BIND_MW;
    }
    return request.opcode.completion();
  }
}
