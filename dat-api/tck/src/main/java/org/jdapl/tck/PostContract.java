package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.junit.jupiter.api.Test;

/** The rules of section D for the segments and the flags of each kind of request. */
public abstract class PostContract extends Contract {

  private static final int ALL_FLAGS =
      CompletionFlags.SUPPRESS
          | CompletionFlags.SOLICITED_WAIT
          | CompletionFlags.UNSIGNALLED
          | CompletionFlags.BARRIER_FENCE;

  /** Where requests reach the peer's memory, beyond what its receives take. */
  private static final int REMOTE = 8192;

  private static final List<DtoOperation> OF_SEGMENTS =
      List.of(
          DtoOperation.SEND,
          DtoOperation.RDMA_WRITE,
          DtoOperation.RDMA_READ,
          DtoOperation.RDMA_WRITE_IMMED);

  private static final List<DtoOperation> ALL =
      List.of(
          DtoOperation.SEND,
          DtoOperation.RDMA_WRITE,
          DtoOperation.RDMA_READ,
          DtoOperation.RDMA_WRITE_IMMED,
          DtoOperation.FETCH_AND_ADD,
          DtoOperation.COMPARE_AND_SWAP);

  /** A contract; its state lives for one test. */
  protected PostContract() {}

  private static boolean takesAReceive(final DtoOperation operation) {
    return operation == DtoOperation.SEND || operation == DtoOperation.RDMA_WRITE_IMMED;
  }

  /** Which argument the flags are. */
  private static ReturnSubtype flagsOf(final DtoOperation operation) {
    return switch (operation) {
      case SEND -> ReturnSubtype.INVALID_ARG4;
      case RDMA_WRITE_IMMED -> ReturnSubtype.INVALID_ARG7;
      case FETCH_AND_ADD -> ReturnSubtype.INVALID_ARG8;
      case COMPARE_AND_SWAP -> ReturnSubtype.INVALID_ARG9;
      default -> ReturnSubtype.INVALID_ARG6;
    };
  }

  private static Outcome post(
      final Pair pair,
      final DtoOperation operation,
      final Segments local,
      final int key,
      final long cookie,
      final int flags) {
    final Side side = pair.active;
    final long remote = pair.passive.lmr.address() + REMOTE;
    return switch (operation) {
      case SEND -> side.endpoint.postSend(local, cookie, null, flags);
      case RDMA_WRITE -> side.endpoint.postRdmaWrite(local, key, remote, cookie, null, flags);
      case RDMA_READ -> side.endpoint.postRdmaRead(local, key, remote, cookie, null, flags);
      case RDMA_WRITE_IMMED ->
          side.endpoint.postRdmaWriteImmed(local, key, remote, 1, cookie, null, flags);
      case FETCH_AND_ADD ->
          side.endpoint.postFetchAndAdd(side.lmr, 0, key, remote, 1, cookie, null, flags);
      case COMPARE_AND_SWAP ->
          side.endpoint.postCompareAndSwap(side.lmr, 0, key, remote, 1, 2, cookie, null, flags);
      default -> throw new IllegalArgumentException(operation + " is no request");
    };
  }

  private static Outcome post(
      final Pair pair, final DtoOperation operation, final long cookie, final int flags) {
    final int key = pair.passive.lmr.rmrContext();
    return post(pair, operation, pair.active.message(1), key, cookie, flags);
  }

  // Segments

  /** Segments apart from each other, of 1 to 7 bytes. */
  private static Segments scattered(final Lmr lmr, final int count, final boolean backwards) {
    final Segments segments = new Segments(count);
    for (int i = 0; i < count; i++) {
      segments.add(lmr, 16L * i, 1 + (backwards ? count - 1 - i : i) % 7);
    }
    return segments;
  }

  private static byte[] bytes(final Segments segments) {
    final ByteBuffer all = ByteBuffer.allocate(7 * segments.count());
    for (int i = 0; i < segments.count(); i++) {
      for (int at = 0; at < segments.length(i); at++) {
        all.put(segments.lmr(i).buffer().get((int) segments.offset(i) + at));
      }
    }
    return bytes(all.flip(), 0, all.limit());
  }

  private static byte[] bytes(final ByteBuffer buffer, final int from, final int length) {
    final byte[] bytes = new byte[length];
    buffer.get(from, bytes);
    return bytes;
  }

  private static void fill(final Lmr lmr, final int seed) {
    for (int i = 0; i < lmr.length(); i++) {
      lmr.buffer().put(i, (byte) (seed + 31 * i + i / 256));
    }
  }

  private List<Integer> counts() {
    return List.of(1, 2, bench.open().attributes().maxIovPerDto());
  }

  private Pair ofSegments(final int most) {
    return Pair.open(this, 256, EndpointAttributes.defaults().withMaxIov(most, most)).connect();
  }

  @Test
  void required_D01_aMessageOfAsManySegmentsAsBothEndpointsTakeArrives() {
    for (final int most : counts()) {
      final Pair pair = ofSegments(most);
      fill(pair.active.lmr, 1);
      final Segments from = scattered(pair.active.lmr, most, false);
      final Segments to = scattered(pair.passive.lmr, most, true);
      succeeds(pair.passive.endpoint.postReceive(to, 1, null), "a receive of " + most);

      succeeds(post(pair, DtoOperation.SEND, from, 0, 2, 0), "a send of " + most);
      await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "a receive of " + most);

      assertThat(bytes(to)).as(why(most + " segments")).isEqualTo(bytes(from));
      assertThat(pair.passive.seen.completions().get(0).transferredLength())
          .as(why("all of it"))
          .isEqualTo(bytes(from).length);
    }
  }

  @Test
  void required_D01_anRdmaRequestOfAsManySegmentsAsItsEndpointTakesIsDone() {
    for (final int most : counts()) {
      for (final DtoOperation operation : OF_SEGMENTS) {
        if (operation == DtoOperation.SEND) {
          continue;
        }
        final Pair pair = ofSegments(most);
        fill(pair.active.lmr, 1);
        fill(pair.passive.lmr, 2);
        final Segments local = scattered(pair.active.lmr, most, false);
        final byte[] said = bytes(local);
        final byte[] there = bytes(pair.passive.lmr.buffer(), REMOTE, said.length);
        pair.passive.receives(1, 1);

        succeeds(
            post(pair, operation, local, pair.passive.lmr.rmrContext(), 2, 0),
            operation + " of " + most);
        await(() -> pair.active.successes(Queue.REQUEST) == 1, operation + " of " + most);

        final boolean reads = operation == DtoOperation.RDMA_READ;
        assertThat(bytes(local)).as(why(operation + ", here")).isEqualTo(reads ? there : said);
        assertThat(bytes(pair.passive.lmr.buffer(), REMOTE, said.length))
            .as(why(operation + ", there"))
            .isEqualTo(reads ? there : said);
      }
    }
  }

  @Test
  void required_D01_oneSegmentMoreThanAnEndpointTakesIsRefused() {
    for (final int most : counts()) {
      final Pair pair = ofSegments(most);
      final Segments more = scattered(pair.active.lmr, most + 1, false);

      for (final DtoOperation operation : OF_SEGMENTS) {
        assertThat(
                refused(
                    ReturnType.INVALID_PARAMETER,
                    ReturnSubtype.INVALID_ARG1,
                    operation + " of " + (most + 1) + " segments",
                    () -> post(pair, operation, more, pair.passive.lmr.rmrContext(), 1, 0)))
            .as(why("it says both"))
            .hasMessageContaining((most + 1) + " segments are more than the " + most);
      }
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "a receive of " + (most + 1) + " segments",
          () -> pair.active.endpoint.postReceive(more, 1, null));

      assertThat(pair.active.endpoint.isRequestIdle()).as(why("nothing was posted")).isTrue();
      assertThat(pair.active.endpoint.isReceiveIdle()).as(why("nothing was posted")).isTrue();
      pair.arrive(1, 1);
    }
  }

  @Test
  void required_D01_aSharedReceiveOfAsManySegmentsAsItsQueueTakesIsTaken() {
    final int most = bench.open().attributes().maxIovPerSrqReceive();
    final Pair pair = Pair.open(this, 256, EndpointAttributes.defaults().withMaxIov(1, most));
    pair.passive.endpoint.close();
    pair.passive.srq = pair.passive.adapter.createSrq(pair.passive.pz, 4, most);
    pair.passive.endpoint = pair.passive.newEndpoint();
    pair.connect();
    fill(pair.active.lmr, 1);
    final Segments from = scattered(pair.active.lmr, most, false);
    final Segments to = scattered(pair.passive.lmr, most, true);

    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "a shared receive of one segment more",
        () -> pair.passive.srq.postReceive(scattered(pair.passive.lmr, most + 1, true), 1, null));
    succeeds(pair.passive.srq.postReceive(to, 1, null), "a shared receive of " + most);
    succeeds(post(pair, DtoOperation.SEND, from, 0, 2, 0), "a send of " + most);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "its receive");

    assertThat(bytes(to)).as(why(most + " segments")).isEqualTo(bytes(from));
  }

  @Test
  void required_D01_aMessageOfNoSegmentsIsEmpty() {
    final Pair pair = Pair.connected(this);
    final Segments none = new Segments(1);
    succeeds(pair.passive.endpoint.postReceive(none, 1, null), "a receive without memory");

    succeeds(post(pair, DtoOperation.SEND, none, 0, 2, 0), "a send without memory");
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "its receive");

    assertThat(pair.passive.seen.completions().get(0).transferredLength()).as(why("")).isZero();
  }

  // Flags

  @Test
  void required_D01_eachRequestTakesEachOfItsFlags() {
    final Pair pair = Pair.connected(this);
    final List<Long> handedOut = new ArrayList<>();
    int received = 0;
    long cookie = 0;
    for (final DtoOperation operation : ALL) {
      for (int flags = 0; flags <= ALL_FLAGS; flags++) {
        if ((flags & CompletionFlags.SOLICITED_WAIT) != 0 && !takesAReceive(operation)) {
          continue;
        }
        final int arrive = takesAReceive(operation) ? 2 : 1;
        pair.passive.receives(0, arrive);
        received += arrive;
        succeeds(post(pair, operation, ++cookie, flags), operation + " with flags " + flags);
        if ((flags & CompletionFlags.SUPPRESS) == 0) {
          handedOut.add(cookie);
        }
        succeeds(pair.active.send(++cookie), "one that tells");
        handedOut.add(cookie);
        final int all = received;
        await(
            () ->
                pair.active.successes(Queue.REQUEST) == handedOut.size()
                    && pair.passive.successes(Queue.RECEIVE) == all,
            operation + " with flags " + flags);
      }
    }
    assertThat(pair.active.seen.cookies(pair.active.endpoint, Queue.REQUEST))
        .as(why("all but the suppressed ones, in order"))
        .containsExactlyElementsOf(handedOut);
  }

  @Test
  void required_D01_otherFlagsAreRefused() {
    final Pair pair = Pair.connected(this);
    for (final DtoOperation operation : ALL) {
      for (int bit = 0; bit < Integer.SIZE; bit++) {
        final int flag = 1 << bit;
        final boolean known = (flag & ALL_FLAGS) != 0;
        if (known && (flag != CompletionFlags.SOLICITED_WAIT || takesAReceive(operation))) {
          continue;
        }
        refused(
            ReturnType.INVALID_PARAMETER,
            flagsOf(operation),
            operation + " with flag " + Integer.toHexString(flag),
            () -> post(pair, operation, 1, flag | CompletionFlags.SUPPRESS));
      }
    }
    assertThat(pair.active.endpoint.isRequestIdle()).as(why("nothing was posted")).isTrue();
    pair.arrive(1, 1);
  }

  @Test
  void required_D05_aSuppressedFailureMakesAnEvent() {
    for (final DtoOperation operation : ALL) {
      for (final int more : new int[] {0, CompletionFlags.UNSIGNALLED}) {
        final Pair pair =
            Pair.open(this, 256, EndpointAttributes.defaults().withRetries(7, 0)).connect();
        final Lmr gone = pair.passive.pz.createLmr(ByteBuffer.allocateDirect(64));
        final int key = gone.rmrContext();
        gone.close();

        succeeds(
            post(pair, operation, pair.active.message(1), key, 7, CompletionFlags.SUPPRESS | more),
            operation + " that the peer cannot take");
        await(() -> !pair.active.seen.completions().isEmpty(), "the failure of " + operation);

        final DtoCompletion failure = pair.active.seen.completions().get(0);
        assertThat(failure.status())
            .as(why(operation + ""))
            .isEqualTo(
                takesAReceive(operation)
                    ? DtoStatus.ERR_RECEIVER_NOT_READY
                    : DtoStatus.ERR_REMOTE_ACCESS);
        assertThat(failure.cookie()).as(why("its own")).isEqualTo(7);
        assertThat(failure.operation()).as(why("its own")).isEqualTo(operation);
      }
    }
  }

  @Test
  void required_D05_suppressedRequestsOfAnyKindNeverRunDry() {
    for (final DtoOperation operation : ALL) {
      final Pair pair =
          Pair.open(this, 256, EndpointAttributes.defaults().withMaxDtos(16, 3)).connect();
      for (int i = 0; i < 20; i++) {
        final int cookie = i;
        if (takesAReceive(operation)) {
          pair.passive.receives(0, 1);
        }
        await(
            () -> post(pair, operation, cookie, CompletionFlags.SUPPRESS) == Outcome.SUCCESS,
            "room for " + operation + " " + i);
        if (takesAReceive(operation)) {
          await(() -> pair.passive.successes(Queue.RECEIVE) == cookie + 1, "its receive");
        }
      }
      pair.passive.receives(0, 1);
      await(() -> pair.active.send(99) == Outcome.SUCCESS, "room for one that tells");
      await(() -> pair.active.successes(Queue.REQUEST) == 1, "one that tells");

      assertThat(pair.active.seen.cookies(pair.active.endpoint, Queue.REQUEST))
          .as(why("after " + operation + " in silence"))
          .containsExactly(99L);
    }
  }
}
