package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.Capability;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Atomics on the peer's memory, of devices that declare them. */
public abstract class AtomicTck extends VerbsTck {

  private static final String OLD =
      "the value after the operation is returned, not the one before.";

  private final ByteBuffer memory = ByteBuffer.allocateDirect(64).order(ByteOrder.nativeOrder());
  private Link a;
  private Link b;
  private MemoryRegion target;

  /** Tests of atomics. */
  protected AtomicTck() {}

  private void connect() {
    a = new Link(this, first());
    b = new Link(this, second());
    for (final Link link : List.of(a, b)) {
      needs(
          link.side.device.capabilities().contains(Capability.ATOMICS),
          link.side.device.name() + " does not declare ATOMICS");
    }
    target = b.side.region(memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC));
    a.connectTo(b, 7);
  }

  private SendRequest request(final WrOpcode opcode, final long compareAdd, final long swap) {
    final SendRequest request = a.side.send(opcode, 1, 0, 8);
    request.remoteAddress = target.address() + 8;
    request.rkey = target.rkey();
    request.compareAdd = compareAdd;
    request.swap = swap;
    return request;
  }

  private void post(final WrOpcode opcode, final long compareAdd, final long swap) {
    a.side.postSend(a.qp, request(opcode, compareAdd, swap));
  }

  private void awaitOld(final int number, final WcOpcode opcode, final long old) {
    a.sends.awaitPolled(number, "an answer that is not matched with its request.");
    final Completion seen = a.sends.polled.get(number - 1);
    check(
        seen.isSuccess() && seen.opcode() == opcode && seen.byteLength() == Long.BYTES,
        "SUCCESS " + opcode + " 8 bytes",
        seen,
        "the opcode of the request is passed on.");
    same(old, a.side.buffer.getLong(0), "the value before", OLD);
  }

  @Test
  void required_D01_aFetchAndAddReturnsTheOldValueAndAdds() {
    connect();
    memory.putLong(8, 40);
    post(WrOpcode.ATOMIC_FETCH_AND_ADD, 2, 0);
    awaitOld(1, WcOpcode.FETCH_ADD, 40);
    same(42L, memory.getLong(8), "the value after", "an add of another byte order.");
    post(WrOpcode.ATOMIC_FETCH_AND_ADD, -43, 0);
    awaitOld(2, WcOpcode.FETCH_ADD, 42);
    same(-1L, memory.getLong(8), "the value after", "an add of 32 bits.");
  }

  @Test
  void required_D01_aCompareAndSwapSwapsOnlyWhatIsEqual() {
    connect();
    memory.putLong(8, 7);
    post(WrOpcode.ATOMIC_CMP_AND_SWP, 6, 100);
    awaitOld(1, WcOpcode.COMP_SWAP, 7);
    same(7L, memory.getLong(8), "the value after a compare that failed", "a swap in any case.");
    post(WrOpcode.ATOMIC_CMP_AND_SWP, 7, 100);
    awaitOld(2, WcOpcode.COMP_SWAP, 7);
    same(100L, memory.getLong(8), "the value after", "compare and swap exchanged.");
  }

  private void isRefused(final SendRequest request) {
    memory.putLong(8, 40);
    a.side.postSend(a.qp, request);
    a.sends.awaitPolled(1, "a request that is not answered.");
    final Completion seen = a.sends.polled.get(0);
    final String often = "an atomic that is checked as a write is, or not at all.";
    check(
        seen.status() == WcStatus.REM_ACCESS_ERR || seen.status() == WcStatus.REM_INV_REQ_ERR,
        "an atomic that may not be to fail with REM_ACCESS_ERR or REM_INV_REQ_ERR",
        seen,
        often);
    same(40L, memory.getLong(8), "the memory", often);
  }

  @Test
  void required_D02_anAtomicWithoutTheRightIsRefused() {
    connect();
    target = b.side.region(memory, Side.all());
    isRefused(request(WrOpcode.ATOMIC_FETCH_AND_ADD, 2, 0));
  }

  @Test
  void required_D02_anAtomicThatIsNotAlignedIsRefused() {
    connect();
    final SendRequest request = request(WrOpcode.ATOMIC_FETCH_AND_ADD, 2, 0);
    request.remoteAddress += 4;
    isRefused(request);
  }

  @Test
  void required_D01_atomicsOfTwoQueuePairsAreAtomic() {
    connect();
    final Link other = new Link(this, a.side);
    other.connectTo(new Link(this, b.side), 7);
    memory.putLong(8, 0);
    final int each = 64;
    final Set<Long> seen = new HashSet<>();
    for (int i = 0; i < each; i++) {
      final SendRequest first = request(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, 0);
      final SendRequest second = request(WrOpcode.ATOMIC_FETCH_AND_ADD, 1, 0);
      second.clearSge();
      second.addSge(a.side.mr.address() + 8, 8, a.side.mr.lkey());
      a.side.postSend(a.qp, first);
      other.side.postSend(other.qp, second);
      a.sends.awaitPolled(i + 1, "an answer that is not matched with its request.");
      other.sends.awaitPolled(i + 1, "an answer that is not matched with its request.");
      seen.add(a.side.buffer.getLong(0));
      seen.add(a.side.buffer.getLong(8));
    }
    final String often = "a read and a write, with no lock that all queue pairs share.";
    same(2L * each, memory.getLong(8), "the sum", often);
    same(2 * each, seen.size(), "different values before", often);
  }
}
