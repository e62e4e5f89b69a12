package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.ExtensionOp;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.junit.jupiter.api.Test;

/** The rules of section D for atomics, immediate data, and the flags of requests. */
public abstract class TransferContract extends Contract {

  private static final int DEFAULT = CompletionFlags.DEFAULT;
  private static final int UNSIGNALLED = CompletionFlags.UNSIGNALLED;

  /** A contract; its state lives for one test. */
  protected TransferContract() {}

  private Pair connected() {
    return Pair.connected(this);
  }

  /** Memory as atomics see it. */
  private static ByteBuffer numbers(final Side side) {
    return side.lmr.buffer().order(ByteOrder.nativeOrder());
  }

  private void add(final Side side, final long to, final Lmr remote, final long add) {
    succeeds(
        side.endpoint.postFetchAndAdd(
            side.lmr, to, remote.rmrContext(), remote.address(), add, add, null, DEFAULT),
        "a fetch and add");
  }

  private void swap(
      final Side side, final long to, final Lmr remote, final long compare, final long swap) {
    succeeds(
        side.endpoint.postCompareAndSwap(
            side.lmr, to, remote.rmrContext(), remote.address(), compare, swap, 0, null, DEFAULT),
        "a compare and swap");
  }

  private void awaitRequests(final Side side, final int count) {
    await(() -> side.successes(Queue.REQUEST) == count, count + " requests that succeed");
  }

  // Atomics

  @Test
  void required_D01_aFetchAndAddAddsAndTellsWhatWasThere() {
    final Pair pair = connected();
    final ByteBuffer remote = numbers(pair.passive).putLong(0, Long.MAX_VALUE);

    add(pair.active, 8, pair.passive.lmr, 3);
    add(pair.active, 16, pair.passive.lmr, -1);
    awaitRequests(pair.active, 2);

    assertThat(numbers(pair.active).getLong(8)).as(why("before")).isEqualTo(Long.MAX_VALUE);
    assertThat(numbers(pair.active).getLong(16))
        .as(why("it wraps around"))
        .isEqualTo(Long.MIN_VALUE + 2);
    assertThat(remote.getLong(0)).as(why("after both")).isEqualTo(Long.MIN_VALUE + 1);
    assertThat(pair.active.seen.completions())
        .as(why("what they were, and how long"))
        .allMatch(c -> c.operation() == DtoOperation.FETCH_AND_ADD && c.transferredLength() == 8);
    assertThat(pair.passive.seen.completions()).as(why("no event at the target")).isEmpty();
  }

  @Test
  void required_D01_aCompareAndSwapSwapsWhatIsExpectedOnly() {
    final Pair pair = connected();
    final ByteBuffer remote = numbers(pair.passive).putLong(0, 5).putLong(8, 77);

    swap(pair.active, 8, pair.passive.lmr, 4, 9);
    swap(pair.active, 16, pair.passive.lmr, 5, -6);
    swap(pair.active, 24, pair.passive.lmr, 5, 7);
    awaitRequests(pair.active, 3);

    final ByteBuffer fetched = numbers(pair.active);
    assertThat(List.of(fetched.getLong(8), fetched.getLong(16), fetched.getLong(24)))
        .as(why("what was there: kept, swapped, kept"))
        .containsExactly(5L, 5L, -6L);
    assertThat(remote.getLong(0)).as(why("swapped once")).isEqualTo(-6);
    assertThat(remote.getLong(8)).as(why("beside it")).isEqualTo(77);
    assertThat(pair.active.seen.completions())
        .as(why("a compare that fails is a success"))
        .allMatch(c -> c.operation() == DtoOperation.COMPARE_AND_SWAP);
  }

  /** Each number is fetched by one of them: a sum alone could hide two errors. */
  @Test
  void required_D01_additionsAreAtomicUnderEightContendingEndpoints() {
    final int sides = 8;
    final int each = 40;
    final int open = 8;
    final Side target = target(sides);
    final long door = connQual();
    target.adapter.createPsp(door, target.evd);
    final List<Side> adders = new ArrayList<>();
    final List<Long> fetched = new ArrayList<>();
    for (int i = 0; i < sides; i++) {
      final Side side = new Side(this, 64, EndpointAttributes.defaults());
      final AtomicInteger left = new AtomicInteger(each - open);
      side.seen.each(
          event -> {
            if (event instanceof DtoCompletion done && done.status() == DtoStatus.SUCCESS) {
              synchronized (fetched) {
                fetched.add(numbers(side).getLong((int) done.cookie()));
              }
              if (left.getAndDecrement() > 0) {
                fetch(side, (int) done.cookie(), target.lmr);
              }
            }
          });
      side.enable();
      side.endpoint.connect(target.adapter.address(), door, Pair.CONNECT, null);
      adders.add(side);
    }
    await(() -> adders.stream().allMatch(Side::established), "eight connections");

    for (int i = 0; i < open; i++) {
      for (final Side side : adders) {
        fetch(side, 8 * i, target.lmr);
      }
    }
    await(() -> adders.stream().allMatch(s -> s.successes(Queue.REQUEST) == each), "all of them");
    bench.settle();

    assertThat(numbers(target).getLong(0)).as(why("the sum")).isEqualTo(sides * each);
    synchronized (fetched) {
      assertThat(fetched)
          .as(why("each step was seen by one of them"))
          .containsExactlyInAnyOrderElementsOf(range(0, sides * each));
    }
  }

  /** Each takes numbers by swaps that the others make fail; no number is taken twice. */
  @Test
  void required_D01_swapsAreAtomicUnderEightContendingEndpoints() {
    final int sides = 8;
    final int each = 10;
    final Side target = target(sides);
    final long door = connQual();
    target.adapter.createPsp(door, target.evd);
    final List<Side> swappers = new ArrayList<>();
    final List<Long> taken = new ArrayList<>();
    for (int i = 0; i < sides; i++) {
      final Side side = new Side(this, 64, EndpointAttributes.defaults());
      final AtomicInteger left = new AtomicInteger(each);
      side.seen.each(
          event -> {
            if (event instanceof DtoCompletion done && done.status() == DtoStatus.SUCCESS) {
              final long found = numbers(side).getLong(0);
              if (found == done.cookie()) {
                left.decrementAndGet();
                synchronized (taken) {
                  taken.add(found);
                }
              }
              if (left.get() > 0) {
                take(side, found == done.cookie() ? found + 1 : found, target.lmr);
              }
            }
          });
      side.enable();
      side.endpoint.connect(target.adapter.address(), door, Pair.CONNECT, null);
      swappers.add(side);
    }
    await(() -> swappers.stream().allMatch(Side::established), "eight connections");

    swappers.forEach(side -> take(side, 0, target.lmr));
    await(
        () -> {
          synchronized (taken) {
            return taken.size() >= sides * each;
          }
        },
        "all of them");

    assertThat(numbers(target).getLong(0)).as(why("one step for each")).isEqualTo(sides * each);
    synchronized (taken) {
      assertThat(taken)
          .as(why("each number was taken once"))
          .containsExactlyInAnyOrderElementsOf(range(0, sides * each));
    }
  }

  /** Tries to make a number the next one. */
  private void take(final Side side, final long number, final Lmr remote) {
    succeeds(
        side.endpoint.postCompareAndSwap(
            side.lmr,
            0,
            remote.rmrContext(),
            remote.address(),
            number,
            number + 1,
            number,
            null,
            DEFAULT),
        "a compare and swap within its own count");
  }

  /** Who accepts connections of some others, and has the memory that they change. */
  private Side target(final int sides) {
    final Side target = new Side(this, 2 * sides * 16, EndpointAttributes.defaults());
    target.seen.answer(request -> request.accept(target.newEndpoint(), null));
    target.endpoint.close();
    target.enable();
    return target;
  }

  private void fetch(final Side side, final int to, final Lmr remote) {
    succeeds(
        side.endpoint.postFetchAndAdd(
            side.lmr, to, remote.rmrContext(), remote.address(), 1, to, null, DEFAULT),
        "a fetch and add within its own count");
  }

  @Test
  void required_D01_anAtomicOfAnAddressThatIsNotAlignedBreaksTheConnection() {
    for (int off = 1; off < 8; off += 3) {
      final Pair pair = connected();
      final Lmr remote = pair.passive.lmr;

      succeeds(
          pair.active.endpoint.postFetchAndAdd(
              pair.active.lmr, 0, remote.rmrContext(), remote.address() + off, 1, 1, null, DEFAULT),
          "only the peer can see that its address is not aligned");

      final DtoCompletion failure = failure(pair.active);
      assertThat(failure.status()).as(why("")).isEqualTo(DtoStatus.ERR_REMOTE_RESPONDER);
      assertThat(failure.operation()).as(why("")).isEqualTo(DtoOperation.FETCH_AND_ADD);
      await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
      assertThat(remote.buffer().getLong(0)).as(why("untouched")).isZero();
      assertThat(remote.buffer().getLong(8)).as(why("untouched")).isZero();
    }
  }

  @Test
  void required_D02_anAtomicNeedsItsRightAtThePeer() {
    final Pair pair = connected();
    final Lmr remote =
        pair.passive.pz.createLmr(
            ByteBuffer.allocateDirect(64),
            Privilege.LOCAL_READ,
            Privilege.LOCAL_WRITE,
            Privilege.REMOTE_READ,
            Privilege.REMOTE_WRITE);

    add(pair.active, 0, remote, 1);

    assertThat(failure(pair.active).status())
        .as(why("to read and to write is not enough"))
        .isEqualTo(DtoStatus.ERR_REMOTE_ACCESS);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
    assertThat(remote.buffer().getLong(0)).as(why("untouched")).isZero();
  }

  @Test
  void required_D02_anAtomicWritesLocalMemory() {
    final Pair pair = connected();
    final Side side = pair.active;
    final Lmr readable = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.LOCAL_READ);

    refused(
        ReturnType.PRIVILEGES_VIOLATION,
        "no right to write",
        () -> side.endpoint.postFetchAndAdd(readable, 0, 1, 8, 1, 1, null, DEFAULT));
    refused(
        ReturnType.LENGTH_ERROR,
        "eight bytes at the last seven",
        () ->
            side.endpoint.postCompareAndSwap(
                side.lmr, side.lmr.length() - 7, 1, 8, 1, 1, 1, null, DEFAULT));
    bench.settle();
    assertThat(side.seen.completions()).as(why("nothing was posted")).isEmpty();
  }

  @Test
  void required_D01_anAtomicTakesTheFlagsOfAnRdmaRead() {
    final Pair pair = connected();
    final Side side = pair.active;
    final Lmr remote = pair.passive.lmr;
    final int key = remote.rmrContext();

    succeeds(
        side.endpoint.postFetchAndAdd(
            side.lmr, 0, key, remote.address(), 1, 1, null, CompletionFlags.SUPPRESS),
        "in silence");
    succeeds(
        side.endpoint.postCompareAndSwap(
            side.lmr, 8, key, remote.address(), 1, 2, 2, side, CompletionFlags.BARRIER_FENCE),
        "behind it");
    await(() -> !side.seen.completions().isEmpty(), "the second one");

    assertThat(side.seen.completions()).as(why("one")).hasSize(1);
    assertThat(side.seen.completions().get(0).context()).as(why("its own")).isSameAs(side);
    assertThat(numbers(pair.passive).getLong(0)).as(why("both were done, in order")).isEqualTo(2);
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG8,
        "the peer has no completion",
        () -> side.endpoint.postFetchAndAdd(side.lmr, 0, key, 8, 1, 1, null, solicited()));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG9,
        "the peer has no completion",
        () -> side.endpoint.postCompareAndSwap(side.lmr, 0, key, 8, 1, 1, 1, null, solicited()));
  }

  private static int solicited() {
    return CompletionFlags.SOLICITED_WAIT;
  }

  // Immediate data

  private void write(final Pair pair, final int immediate, final int cookie, final int flags) {
    final Lmr remote = pair.passive.lmr;
    succeeds(
        pair.active.endpoint.postRdmaWriteImmed(
            pair.active.message(cookie),
            remote.rmrContext(),
            remote.address() + 1024,
            immediate,
            cookie,
            null,
            flags),
        "an RDMA write with immediate data");
  }

  @Test
  void required_D01_anRdmaWriteWithImmediateDataTakesAReceive() {
    final int[] data = {0, 1, -1, Integer.MIN_VALUE, 0x0102_0304};
    for (final boolean shares : new boolean[] {false, true}) {
      final Pair pair = Pair.open(this);
      if (shares) {
        pair.passive.share(16);
      }
      pair.connect();
      final ByteBuffer remote = numbers(pair.passive);
      numbers(pair.active).put(0, (byte) 7).put(3 * Side.MESSAGE, (byte) 8);
      pair.passive.receives(0, data.length + 1);

      for (int i = 0; i < data.length; i++) {
        write(pair, data[i], i, DEFAULT);
      }
      pair.active.sends(9, 1);
      await(
          () -> pair.passive.successes(Queue.RECEIVE) == data.length + 1,
          "a receive for each, and one for the send");

      final List<DtoCompletion> received = pair.passive.seen.completions();
      for (int i = 0; i < data.length; i++) {
        final DtoCompletion event = received.get(i);
        assertThat(event.operation()).as(why(event + "")).isEqualTo(DtoOperation.RECEIVE_IMMED);
        assertThat(event.immediateData()).as(why(event + "")).isEqualTo(data[i]);
        assertThat(event.transferredLength()).as(why(event + "")).isEqualTo(Side.MESSAGE);
        assertThat(event.cookie()).as(why("the receive that was first")).isEqualTo(i);
      }
      final DtoCompletion last = received.get(data.length);
      assertThat(last.operation()).as(why(last + "")).isEqualTo(DtoOperation.RECEIVE);
      assertThat(last.immediateData()).as(why("a send has none")).isZero();
      assertThat(remote.get(0)).as(why("the receive's own memory is not touched")).isZero();
      assertThat(remote.get(1024)).as(why("written behind the others")).isZero();
      awaitRequests(pair.active, data.length + 1);
      assertThat(pair.active.seen.completions().get(0).operation())
          .as(why("what it was"))
          .isEqualTo(DtoOperation.RDMA_WRITE_IMMED);
      assertThat(pair.active.seen.completions().get(0).immediateData())
          .as(why("what was sent does not come back"))
          .isZero();
    }
  }

  @Test
  void required_D01_anRdmaWriteWithImmediateDataWritesBeforeItTells() {
    final Pair pair = connected();
    final AtomicInteger seen = new AtomicInteger(-1);
    pair.passive.seen.each(
        event -> {
          if (event instanceof DtoCompletion) {
            seen.set(numbers(pair.passive).getInt(1024));
          }
        });
    numbers(pair.active).putInt(Side.MESSAGE, 4711);
    pair.passive.receives(0, 1);

    write(pair, 1, 1, DEFAULT);
    await(() -> seen.get() != -1, "its receive");

    assertThat(seen).as(why("seen inside the upcall")).hasValue(4711);
  }

  @Test
  void required_D01_immediateDataWaitsForAReceive() {
    final Pair pair =
        Pair.open(this, 256, EndpointAttributes.defaults().withRetries(7, 7)).connect();

    write(pair, 5, 1, DEFAULT);
    pair.passive.receives(3, 1);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "it is tried again");

    assertThat(pair.passive.seen.completions().get(0).immediateData()).as(why("")).isEqualTo(5);
  }

  @Test
  void required_D01_immediateDataWithoutAReceiveFailsWhenItsRetriesAreOver() {
    final Pair pair =
        Pair.open(this, 256, EndpointAttributes.defaults().withRetries(7, 0)).connect();

    write(pair, 5, 1, DEFAULT);

    final DtoCompletion failure = failure(pair.active);
    assertThat(failure.status()).as(why("")).isEqualTo(DtoStatus.ERR_RECEIVER_NOT_READY);
    assertThat(failure.operation()).as(why("")).isEqualTo(DtoOperation.RDMA_WRITE_IMMED);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
  }

  @Test
  void required_D01_immediateDataTellsWhoWaitsForSolicitedReceives() {
    final Pair pair = Pair.open(this);
    final Evd quiet = pair.passive.hearSolicitedOnly();
    final Recorder seen = recorder(quiet);
    quiet.upcall(seen);
    pair.connect();
    pair.passive.receives(0, 2);

    write(pair, 1, 1, DEFAULT);
    write(pair, 2, 2, solicited());
    await(() -> seen.completions().size() == 2, "both, told by the second");

    assertThat(seen.completions().stream().map(DtoCompletion::immediateData))
        .as(why("in order"))
        .containsExactly(1, 2);
  }

  @Test
  void required_E09_aCopyKeepsItsImmediateData() {
    final Pair pair = connected();
    final List<Event> copies = new ArrayList<>();
    pair.passive.seen.each(event -> copies.add(event.copy()));
    pair.passive.receives(0, 2);

    write(pair, 11, 1, DEFAULT);
    write(pair, 12, 2, DEFAULT);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 2, "two receives");
    bench.settle();

    assertThat(copies.stream().filter(DtoCompletion.class::isInstance))
        .as(why("each its own"))
        .extracting(event -> ((DtoCompletion) event).immediateData())
        .containsExactly(11, 12);
  }

  @Test
  void required_D01_aReceiveThatFailsTellsNoImmediateData() {
    final Pair pair = connected();
    pair.passive.receives(0, 2);
    write(pair, 3, 1, DEFAULT);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "one receive");

    pair.passive.endpoint.disconnect(Disconnect.ABRUPT);
    final DtoCompletion flushed = failure(pair.passive);

    assertThat(flushed.operation()).as(why("what was posted")).isEqualTo(DtoOperation.RECEIVE);
    assertThat(flushed.immediateData()).as(why("none")).isZero();
  }

  // Extensions by name

  private void extension(
      final Pair pair, final ExtensionOp operation, final long operand, final long swap) {
    final Lmr remote = pair.passive.lmr;
    final Segments local = new Segments(1).add(pair.active.lmr, 8, 8);
    succeeds(
        pair.active.endpoint.extensionOp(
            operation,
            local,
            remote.rmrContext(),
            remote.address(),
            operand,
            swap,
            operation.number(),
            this,
            DEFAULT),
        operation + "");
  }

  @Test
  void required_D01_eachExtensionThatIsToldCanBePosted() {
    for (final ExtensionOp operation :
        Pair.open(this).active.adapter.providerAttributes().extensions()) {
      final Pair pair = connected();
      pair.passive.receives(0, 1);
      numbers(pair.active).putLong(8, 33);
      final ByteBuffer remote = numbers(pair.passive).putLong(0, 5);

      extension(pair, operation, 5, -6);
      awaitRequests(pair.active, 1);

      final DtoCompletion done = pair.active.seen.completions().get(0);
      assertThat(done.operation()).as(why("its own")).isEqualTo(operation.operation());
      assertThat(done.cookie()).as(why("as given")).isEqualTo(operation.number());
      assertThat(done.context()).as(why("as given")).isSameAs(this);
      assertThat(done.transferredLength()).as(why("a number")).isEqualTo(8);
      assertThat(List.of(remote.getLong(0), numbers(pair.active).getLong(8)))
          .as(why(operation + ": at the peer, and here"))
          .isEqualTo(
              switch (operation) {
                case FETCH_AND_ADD -> List.of(10L, 5L);
                case COMPARE_AND_SWAP -> List.of(-6L, 5L);
                case RDMA_WRITE_IMMED -> List.of(33L, 33L);
              });
      if (operation == ExtensionOp.RDMA_WRITE_IMMED) {
        await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "its receive");
        assertThat(pair.passive.seen.completions().get(0).immediateData())
            .as(why("its operand"))
            .isEqualTo(5);
      }
    }
  }

  @Test
  void required_D01_immediateDataOfAnExtensionHas32BitsWithOrWithoutSign() {
    final Pair pair = connected();
    pair.passive.receives(0, 4);

    for (final long data : new long[] {-1, 0xFFFF_FFFFL, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      extension(pair, ExtensionOp.RDMA_WRITE_IMMED, data, 0);
    }
    await(() -> pair.passive.successes(Queue.RECEIVE) == 4, "their receives");

    assertThat(pair.passive.seen.completions())
        .as(why("their bits"))
        .extracting(DtoCompletion::immediateData)
        .containsExactly(-1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE);
    for (final long data : new long[] {1L << 32, Integer.MIN_VALUE - 1L, Long.MIN_VALUE}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG5,
          data + "",
          () -> extension(pair, ExtensionOp.RDMA_WRITE_IMMED, data, 0));
    }
  }

  @Test
  void required_D01_anExtensionIsRefusedAsItsMethodIs() {
    final Pair pair = connected();
    final Side side = pair.active;
    final Segments number = new Segments(2).add(side.lmr, 0, 8);

    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "no operation",
        () -> side.endpoint.extensionOp(null, number, 1, 8, 1, 1, 1, null, DEFAULT));
    for (final ExtensionOp atomic :
        List.of(ExtensionOp.FETCH_AND_ADD, ExtensionOp.COMPARE_AND_SWAP)) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG9,
          "the peer has no completion",
          () -> side.endpoint.extensionOp(atomic, number, 1, 8, 1, 1, 1, null, solicited()));
      for (final int length : new int[] {0, 7, 9}) {
        final Segments other = new Segments(1).add(side.lmr, 0, length);
        refused(
            ReturnType.LENGTH_ERROR,
            length + " bytes",
            () -> side.endpoint.extensionOp(atomic, other, 1, 8, 1, 1, 1, null, DEFAULT));
      }
    }
    bench.settle();
    assertThat(side.seen.completions()).as(why("nothing was posted")).isEmpty();
  }

  // UNSIGNALLED

  /** Sends that tell nobody; when it returns, they are done. */
  private void sendUnsignalled(final Pair pair, final int first, final int count) {
    pair.passive.receives(first, count);
    pair.active.sends(first, count, UNSIGNALLED);
    await(
        () -> pair.passive.successes(Queue.RECEIVE) == first + count,
        "the receives of all sends up to these");
    bench.settle();
  }

  @Test
  void required_D01_anUnsignalledSuccessIsHandedOutWithTheNextThatTells() {
    final Pair pair = connected();
    for (int round = 0; round < 3; round++) {
      final int done = 4 * round;

      sendUnsignalled(pair, done, 3);

      assertThat(pair.active.seen.completions()).as(why("no upcall for them")).hasSize(done);
      pair.passive.receives(done + 3, 1);
      pair.active.sends(done + 3, 1);
      await(() -> pair.active.seen.completions().size() == done + 4, "all with the next one");
    }
    assertThat(pair.active.seen.cookies(pair.active.endpoint, Queue.REQUEST))
        .as(why("in order"))
        .containsExactlyElementsOf(range(0, 12));
  }

  @Test
  void required_D01_anUnsignalledSuccessIsHandedOutWithAnyEvent() {
    final Pair pair = connected();
    sendUnsignalled(pair, 0, 2);
    final int before = pair.active.seen.count();

    post(pair.active.evd, "news");
    awaitCount(pair.active.seen, before + 3, "the two sends, and what told");
  }

  @Test
  void required_D01_anUnsignalledFailureTells() {
    final Pair pair =
        Pair.open(this, 256, EndpointAttributes.defaults().withRetries(7, 0)).connect();

    pair.active.sends(0, 1, UNSIGNALLED);

    assertThat(failure(pair.active).status())
        .as(why("the peer has no receive"))
        .isEqualTo(DtoStatus.ERR_RECEIVER_NOT_READY);
  }

  @Test
  void required_D01_anUnsignalledSuccessPrecedesTheEndOfItsConnection() {
    final Pair pair = connected();
    sendUnsignalled(pair, 0, 2);

    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(pair.active::ended, "the end");

    assertThat(pair.active.seen.completions()).as(why("both, before the end")).hasSize(2);
    final List<Event> events = pair.active.seen.events();
    assertThat(events.get(events.size() - 1))
        .as(why("" + events))
        .isInstanceOf(ConnectionEvent.class);
  }

  @Test
  void required_D01_aDequeueAndAnEnabledUpcallFindUnsignalledSuccesses() {
    final Pair pair = connected();
    sendUnsignalled(pair, 0, 4);
    pair.active.evd.disable();
    bench.settle();

    succeeds(pair.active.seen.take(), "the first one");
    assertThat(pair.active.successes(Queue.REQUEST)).as(why("by dequeue")).isEqualTo(1);
    pair.active.enable();
    awaitRequests(pair.active, 4);
  }

  @Test
  void required_D01_aNotificationIsNotUsedUpByUnsignalledSuccesses() {
    final Pair pair = connected();
    pair.active.evd.teardown();
    final AtomicInteger told = new AtomicInteger();
    pair.active.evd.notifyOnce(evd -> told.incrementAndGet(), Invoke.ON_ANY);
    bench.settle(); // it would tell of what is there when it looks

    sendUnsignalled(pair, 0, 3);

    assertThat(told).as(why("not told")).hasValue(0);
    pair.passive.receives(3, 1);
    pair.active.sends(3, 1);
    await(() -> told.get() == 1, "told of the next one");
    bench.settle();

    assertThat(pair.active.seen.takeAll()).as(why("all of them")).isEqualTo(4);
  }

  @Test
  void required_D01_noWaitEndsWithAnUnsignalledSuccess() {
    final Pair pair = connected();
    pair.active.evd.teardown();
    pair.passive.receives(0, 3);

    pair.active.sends(0, 1, UNSIGNALLED);
    if (bench.isVirtual()) { // else it may be there before the wait is, which then finds it
      assertThat(pair.active.seen.await(1, Duration.ofMillis(50)))
          .as(why("nothing told"))
          .isEqualTo(Outcome.TIMEOUT_EXPIRED);
      succeeds(pair.active.seen.await(1, Duration.ZERO), "a wait takes what is there");
    }
    pair.active.sends(1, 1, UNSIGNALLED);
    pair.active.sends(2, 1);
    while (pair.active.successes(Queue.REQUEST) < 3) {
      succeeds(pair.active.seen.await(1, BOUND), "the last one tells");
    }
  }

  @Test
  void required_D01_unsignalledSuccessesOfAClosedEndpointHaveOneOutcomeEach() {
    final Pair pair = connected();
    sendUnsignalled(pair, 0, 5);

    final DrainReport report =
        await(pair.active.endpoint.closeAsync(BOUND), "the close of the endpoint");

    everyPostHasOneOutcome(pair.active, report, Queue.REQUEST, range(0, 5));
  }

  @Test
  void required_D01_requestsOfAllKindsMayBeUnsignalled() {
    final Pair pair = connected();
    final Side side = pair.active;
    final int key = pair.passive.lmr.rmrContext();
    final long address = pair.passive.lmr.address();
    pair.passive.receives(0, 2);

    succeeds(side.endpoint.postRdmaWrite(side.message(0), key, address, 0, null, UNSIGNALLED), "");
    succeeds(side.endpoint.postRdmaRead(side.message(1), key, address, 1, null, UNSIGNALLED), "");
    succeeds(side.endpoint.postFetchAndAdd(side.lmr, 0, key, address, 1, 2, null, UNSIGNALLED), "");
    write(pair, 3, 3, UNSIGNALLED);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "the receive of the last one");
    bench.settle();

    assertThat(side.seen.completions()).as(why("no upcall")).isEmpty();
    side.sends(4, 1);
    awaitRequests(side, 5);
  }
}
