package org.jdapl.verbs.tck;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import org.jdapl.verbs.Access;
import org.jdapl.verbs.MemoryRegion;
import org.jdapl.verbs.SendRequest;
import org.jdapl.verbs.VerbsException;
import org.jdapl.verbs.WcOpcode;
import org.jdapl.verbs.WcStatus;
import org.jdapl.verbs.WrOpcode;
import org.junit.jupiter.api.Test;

/** Atomics on the peer's memory, of a device that lets memory be registered for them. */
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
    try {
      target = b.side.region(memory, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC));
    } catch (final VerbsException e) {
      needs(false, "no memory can be registered for atomics: " + e.getMessage());
    }
    a.connectTo(b, 7);
  }

  private void post(final WrOpcode opcode, final long compareAdd, final long swap) {
    final SendRequest request = a.side.send(opcode, 1, 0, 8);
    request.remoteAddress = target.address() + 8;
    request.rkey = target.rkey();
    request.compareAdd = compareAdd;
    request.swap = swap;
    final int errno = verb("post " + opcode, () -> a.qp.postSend(request));
    needs(
        errno != VerbsException.EOPNOTSUPP && errno != VerbsException.EINVAL,
        "atomics are refused with errno " + errno);
    same(0, errno, "the errno of the post", "room that does not return.");
  }

  private void awaitOld(final int number, final WcOpcode opcode, final long old) {
    a.sends.awaitPolled(number, "an answer that is not matched with its request.");
    final Completion seen = a.sends.polled.get(number - 1);
    needs(seen.status() != WcStatus.REM_OP_ERR, "the peer has no atomics");
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
}
