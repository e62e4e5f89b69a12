package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jdapl.dat.AdapterAttributes;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.junit.jupiter.api.Test;

/** Rule C06: retries, timers, and how many reads there are at once. */
public abstract class RetryContract extends Contract {

  private static final int FOR_EVER = 7;
  private static final Duration LONGEST_ACK = Duration.ofNanos(4096L << 31);
  private static final Duration LONGEST_RNR = Duration.ofNanos(655_360_000);

  /** A contract; its state lives for one test. */
  protected RetryContract() {}

  private static void modify(final Side side, final UnaryOperator<EndpointAttributes> change) {
    final Endpoint endpoint = side.endpoint;
    endpoint.modify(
        endpoint.parameters().withAttributes(change.apply(endpoint.parameters().attributes())));
  }

  private void hasReads(final Side side, final int in, final int out, final String when) {
    assertThat(List.of(side.endpoint.rdmaReadsIn(), side.endpoint.rdmaReadsOut()))
        .as(why("reads in and out of " + side.endpoint + ", " + when))
        .containsExactly(in, out);
  }

  // Reads

  @Test
  void required_C06_readsAreNegotiatedDownToWhatBothSidesHave() {
    final Pair pair = Pair.open(this);
    modify(pair.active, of -> of.withRdmaReads(3, 7));
    modify(pair.passive, of -> of.withRdmaReads(2, 8));
    hasReads(pair.active, 3, 7, "not connected");

    pair.connect();

    hasReads(pair.active, 3, 2, "connected");
    hasReads(pair.passive, 2, 3, "connected");
    assertThat(pair.active.endpoint.parameters().attributes().rdmaReadsOut())
        .as(why("what it asked for stays"))
        .isEqualTo(7);
    pair.active.endpoint.disconnect(Disconnect.ABRUPT);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
    hasReads(pair.active, 3, 2, "disconnected");
    hasReads(pair.passive, 2, 3, "disconnected");
    pair.active.endpoint.reset();
    hasReads(pair.active, 3, 7, "reset");
    pair.passive.endpoint.close();
    hasReads(pair.passive, 2, 3, "closed");
  }

  @Test
  void required_C06_noReadsAtAllIsNegotiatedToo() {
    final Pair pair = Pair.open(this);
    modify(pair.passive, of -> of.withRdmaReads(0, 0));

    pair.connect();

    hasReads(pair.active, 0, 0, "connected");
    hasReads(pair.passive, 0, 0, "connected");
  }

  @Test
  void required_C06_moreReadsThanTheDeviceCanAreNegotiatedDown() {
    final Pair pair = Pair.open(this);
    final AdapterAttributes most = pair.active.adapter.attributes();
    final int in = most.maxRdmaReadsPerEpIn();
    final int out = most.maxRdmaReadsPerEpOut();
    modify(pair.active, of -> of.withRdmaReads(in + 1, out + 100));
    modify(pair.passive, of -> of.withRdmaReads(in + 1, out + 100));

    pair.connect();

    hasReads(pair.active, Math.min(in, out), Math.min(in, out), "connected");
    hasReads(pair.passive, Math.min(in, out), Math.min(in, out), "connected");
  }

  @Test
  void required_C06_moreReadsThanWereNegotiatedMayBePosted() {
    final Pair pair = Pair.open(this);
    modify(pair.active, of -> of.withRdmaReads(1, 1));
    pair.connect();
    final Lmr remote = pair.passive.lmr;

    for (int i = 0; i < 8; i++) {
      succeeds(
          pair.active.endpoint.postRdmaRead(
              pair.active.lmr, 8L * i, 8, remote.rmrContext(), remote.address(), i),
          "a read behind others");
    }

    await(() -> pair.active.successes(Queue.REQUEST) == 8, "all of them");
  }

  /** The peer refuses it, or the device keeps it until the end. */
  @Test
  void required_C06_noReadSucceedsWhereNoneWereNegotiated() {
    for (final DtoOperation read : List.of(DtoOperation.RDMA_READ, DtoOperation.FETCH_AND_ADD)) {
      final Pair pair = Pair.open(this);
      modify(pair.passive, of -> of.withRdmaReads(0, 1));
      pair.connect();
      final Lmr remote = pair.passive.lmr;
      pair.active.lmr.buffer().putLong(0, 5);
      remote.buffer().putLong(0, 7);

      succeeds(
          read == DtoOperation.RDMA_READ
              ? pair.active.endpoint.postRdmaRead(
                  pair.active.lmr, 0, 8, remote.rmrContext(), remote.address(), 1)
              : pair.active.endpoint.postFetchAndAdd(
                  pair.active.lmr, 0, remote.rmrContext(), remote.address(), 1, 1, null, 0),
          "the device sees it, or the peer");
      bench.settle();
      pair.active.endpoint.disconnect(Disconnect.ABRUPT);

      final DtoCompletion failure = failure(pair.active);
      assertThat(failure.operation()).as(why("" + failure)).isEqualTo(read);
      await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
      assertThat(pair.active.lmr.buffer().getLong(0)).as(why("nothing was read")).isEqualTo(5);
      assertThat(remote.buffer().getLong(0)).as(why("nothing was added")).isEqualTo(7);
    }
  }

  // Retries

  @Test
  void required_C06_nothingIsSentForEverUnlessTheConsumerSaysSo() {
    final EndpointAttributes own = Pair.open(this).active.endpoint.parameters().attributes();

    assertThat(own.retryCount()).as(why("7 may be for ever")).isPositive().isLessThan(FOR_EVER);
    assertThat(own.rnrRetryCount()).as(why("7 is for ever")).isPositive().isLessThan(FOR_EVER);
  }

  /** The peer's number of retries says how often the peer sends again. */
  @Test
  void required_C06_retriesWithoutAReceiveAreOfTheSideThatSends() {
    final Pair pair = Pair.open(this);
    modify(pair.active, of -> of.withRetries(FOR_EVER, FOR_EVER));
    modify(pair.passive, of -> of.withRetries(0, 0));
    pair.connect();
    final Lmr remote = pair.active.lmr;

    pair.active.sends(1, 1);
    for (int i = 0; i < 4; i++) { // time passes
      succeeds(
          pair.passive.endpoint.postRdmaWrite(
              pair.passive.lmr, 0, 8, remote.rmrContext(), remote.address() + 4096, i),
          "a write");
      final int done = i + 1;
      await(() -> pair.passive.successes(Queue.REQUEST) == done, "a write");
    }
    pair.passive.receives(2, 1);

    await(() -> pair.active.successes(Queue.REQUEST) == 1, "it was sent until it was received");
    pair.passive.sends(3, 1);
    assertThat(failure(pair.passive).status())
        .as(why("the other side does not send again"))
        .isEqualTo(DtoStatus.ERR_RECEIVER_NOT_READY);
  }

  // Timers

  @Test
  void required_C06_timersAreZeroUnlessTheConsumerSaysOtherwise() {
    final Pair pair = Pair.open(this);
    final EndpointAttributes before = pair.active.endpoint.parameters().attributes();

    assertThat(before.ackTimeout()).as(why("the provider's own")).isZero();
    assertThat(before.rnrTimer()).as(why("the provider's own")).isZero();
    modify(pair.active, of -> of.withTimers(Duration.ofNanos(1), LONGEST_RNR));
    modify(pair.passive, of -> of.withTimers(LONGEST_ACK, Duration.ofMillis(3)));
    final EndpointAttributes after = pair.active.endpoint.parameters().attributes();
    assertThat(after.ackTimeout()).as(why("as given")).isEqualTo(Duration.ofNanos(1));
    assertThat(after.rnrTimer()).as(why("as given")).isEqualTo(LONGEST_RNR);
    pair.connect();
    pair.arrive(1, 8);
  }

  @Test
  void required_C06_timersThatAreNoneAreRefused() {
    final Side side = Pair.open(this).active;
    final EndpointAttributes usual = EndpointAttributes.defaults();
    final Duration ok = Duration.ofMillis(1);
    final Duration below = Duration.ofNanos(-1);

    for (final EndpointAttributes wrong :
        List.of(
            usual.withTimers(null, ok),
            usual.withTimers(ok, null),
            usual.withTimers(below, ok),
            usual.withTimers(ok, below),
            usual.withTimers(LONGEST_ACK.plusNanos(1), ok),
            usual.withTimers(ok, LONGEST_RNR.plusNanos(1)),
            usual.withTimers(Duration.ofSeconds(Long.MAX_VALUE), ok))) {
      final boolean ack = !ok.equals(wrong.ackTimeout());
      final String named =
          ack ? "ackTimeout " + wrong.ackTimeout() : "rnrTimer " + wrong.rnrTimer();
      assertThat(
              refused(
                  ReturnType.INVALID_PARAMETER,
                  ReturnSubtype.INVALID_ARG3,
                  named,
                  () -> side.adapter.createEndpoint(side.pz, side.evd, wrong)))
          .as(why("it names what is wrong, and what is not"))
          .hasMessageContaining(named + "; it takes up to " + (ack ? LONGEST_ACK : LONGEST_RNR));
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          named,
          () -> modify(side, of -> wrong));
    }

    assertThat(side.endpoint.state()).as(why("as before")).isEqualTo(EndpointState.UNCONNECTED);
    assertThat(side.endpoint.parameters().attributes()).as(why("as before")).isEqualTo(usual);
    side.adapter
        .createEndpoint(side.pz, side.evd, usual.withTimers(LONGEST_ACK, LONGEST_RNR))
        .close();
  }
}
