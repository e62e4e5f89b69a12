package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Rmr;
import org.jdapl.dat.RmrBindCompletion;
import org.junit.jupiter.api.Test;

/** The rules of all sections, for windows: binds, send with invalidate, reads into a window. */
public abstract class RmrContract extends Contract {

  private static final Set<Privilege> READ = EnumSet.of(Privilege.REMOTE_READ);
  private static final Set<Privilege> WRITE = EnumSet.of(Privilege.REMOTE_WRITE);
  private static final Set<Privilege> BOTH =
      EnumSet.of(Privilege.REMOTE_READ, Privilege.REMOTE_WRITE);

  /** Where the windows of the tests start, and how long they are. */
  private static final int START = 256;

  private static final int LENGTH = 128;

  /** A contract; its state lives for one test. */
  protected RmrContract() {}

  /** Two sides, connected; the passive one opens windows, the active one reaches through them. */
  private Pair connected() {
    final Pair pair = Pair.open(this);
    assumeTrue(pair.passive.adapter.attributes().maxRmrs() > 0, "needs memory windows");
    return pair.connect();
  }

  private Outcome post(final Rmr rmr, final Side side, final long cookie) {
    return rmr.bind(side.lmr, START, LENGTH, BOTH, side.endpoint, cookie, null, 0);
  }

  private void bind(final Rmr rmr, final Side side, final Set<Privilege> privileges) {
    final int before = side.seen.binds().size();
    succeeds(rmr.bind(side.lmr, START, LENGTH, privileges, side.endpoint, 7, null, 0), "a bind");
    boundThen(side, before);
  }

  private void unbind(final Rmr rmr, final Side side) {
    final int before = side.seen.binds().size();
    succeeds(rmr.bind(null, 0, 0, Set.of(), side.endpoint, 8, null, 0), "an unbind");
    boundThen(side, before);
  }

  private void boundThen(final Side side, final int before) {
    await(() -> side.seen.binds().size() == before + 1, "the completion of a bind");
    assertThat(side.seen.binds().get(before).status())
        .as(why("how it ended"))
        .isEqualTo(DtoStatus.SUCCESS);
  }

  /** The active side writes 8 bytes. */
  private void write(final Pair pair, final int context, final long address) {
    succeeds(
        pair.active.endpoint.postRdmaWrite(pair.active.lmr, 0, 8, context, address, 1), "a write");
  }

  private void reaches(final Pair pair, final int context, final long address) {
    final long before = pair.active.successes(Queue.REQUEST);
    write(pair, context, address);
    await(() -> pair.active.successes(Queue.REQUEST) == before + 1, "a write that may be");
  }

  private void isRefused(final Pair pair, final String what) {
    await(() -> pair.active.ended() && pair.passive.ended(), "the end of both, " + what);
    final List<DtoCompletion> requests =
        pair.active.seen.completions(pair.active.endpoint, Queue.REQUEST);
    assertThat(requests.get(requests.size() - 1).status())
        .as(why(what + ": " + pair.active.seen))
        .isEqualTo(DtoStatus.ERR_REMOTE_ACCESS);
    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("DAT breaks the connection"))
        .endsWith(ConnectionEvent.Kind.BROKEN);
  }

  private void message(final Pair pair, final int context) {
    pair.passive.receives(50, 1);
    succeeds(
        pair.active.endpoint.postSendWithInvalidate(pair.active.lmr, 0, Side.MESSAGE, context, 60),
        "a send with invalidate");
  }

  // D01: what binds do

  @Test
  void required_D01_aBindIsAnEventAndOpensItsPartOfARegion() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    final Object context = new Object();

    succeeds(rmr.bind(side.lmr, START, LENGTH, BOTH, side.endpoint, -5, context, 0), "a bind");
    await(() -> side.seen.binds().size() == 1, "its completion");

    final RmrBindCompletion bound = side.seen.binds().get(0);
    assertThat(bound.rmr()).as(why("which")).isSameAs(rmr);
    assertThat(bound.endpoint()).as(why("where")).isSameAs(side.endpoint);
    assertThat(bound.cookie()).as(why("cookie")).isEqualTo(-5);
    assertThat(bound.context()).as(why("context")).isSameAs(context);
    assertThat(bound.status()).as(why("status")).isEqualTo(DtoStatus.SUCCESS);
    assertThat(bound.vendorError()).as(why("no error")).isZero();
    assertThat(List.of(rmr.lmr(), rmr.address(), rmr.length(), rmr.privileges()))
        .as(why("what is bound"))
        .isEqualTo(List.of(side.lmr, side.lmr.address() + START, (long) LENGTH, BOTH));

    pair.active.lmr.buffer().putLong(0, 0x1234_5678_9ABCL);
    reaches(pair, rmr.rmrContext(), rmr.address() + LENGTH - 8);
    assertThat(side.lmr.buffer().getLong(START + LENGTH - 8))
        .as(why("written through the window"))
        .isEqualTo(0x1234_5678_9ABCL);
    succeeds(
        pair.active.endpoint.postRdmaRead(
            pair.active.lmr, 64, 8, rmr.rmrContext(), rmr.address() + LENGTH - 8, 2),
        "a read");
    await(() -> pair.active.successes(Queue.REQUEST) == 2, "the read");
    assertThat(pair.active.lmr.buffer().getLong(64)).as(why("read")).isEqualTo(0x1234_5678_9ABCL);
  }

  @Test
  void required_D01_whatIsPostedBehindABindFindsTheWindowOpen() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    pair.active.receives(0, 8);

    for (int i = 0; i < 8; i++) {
      final long before = pair.active.successes(Queue.RECEIVE);
      final long written = pair.active.successes(Queue.REQUEST);
      succeeds(
          rmr.bind(
              side.lmr, 8L * i, 8, WRITE, side.endpoint, i, null, CompletionFlags.BARRIER_FENCE),
          "a bind");
      succeeds(side.send(i), "a send that tells of it");
      await(() -> pair.active.successes(Queue.RECEIVE) == before + 1, "the message");
      write(pair, rmr.rmrContext(), rmr.address());
      await(() -> pair.active.successes(Queue.REQUEST) == written + 1, "the write");
    }
    await(() -> side.seen.binds().size() == 8, "all binds");
    assertThat(side.seen.binds().stream().map(RmrBindCompletion::cookie))
        .as(why("in order"))
        .containsExactlyElementsOf(range(0, 8));
  }

  @Test
  void required_D01_eachBindHasItsOwnContextAndTheOneBeforeIsDead() {
    final Pair pair = connected();
    final Rmr rmr = pair.passive.pz.createRmr();
    bind(rmr, pair.passive, BOTH);
    final int first = rmr.rmrContext();
    bind(rmr, pair.passive, BOTH);

    assertThat(rmr.rmrContext()).as(why("another one")).isNotEqualTo(first);
    reaches(pair, rmr.rmrContext(), rmr.address());
    write(pair, first, rmr.address());

    isRefused(pair, "a write with the context of the bind before");
  }

  @Test
  void required_D01_aBindOfNoLengthClosesTheWindow() {
    final Pair pair = connected();
    final Rmr rmr = pair.passive.pz.createRmr();
    bind(rmr, pair.passive, BOTH);
    final int context = rmr.rmrContext();
    final long address = rmr.address();
    unbind(rmr, pair.passive);

    assertThat(rmr.lmr()).as(why("no region")).isNull();
    assertThat(rmr.length()).as(why("no length")).isZero();
    assertThat(rmr.privileges()).as(why("no privileges")).isEmpty();
    write(pair, context, address);

    isRefused(pair, "a write through a window that was closed");
  }

  @Test
  void required_D01_aWindowThatIsFreedIsClosed() {
    final Pair pair = connected();
    final Rmr rmr = pair.passive.pz.createRmr();
    bind(rmr, pair.passive, BOTH);
    final int context = rmr.rmrContext();
    final long address = rmr.address();
    rmr.close();

    write(pair, context, address);

    isRefused(pair, "a write through a window that was freed");
  }

  @Test
  void required_D01_aSuppressedBindMakesNoEventAndIsDone() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    for (int i = 0; i < 40; i++) {
      final long cookie = i;
      await(
          () ->
              rmr.bind(
                      side.lmr,
                      START,
                      LENGTH,
                      BOTH,
                      side.endpoint,
                      cookie,
                      null,
                      CompletionFlags.SUPPRESS)
                  == Outcome.SUCCESS,
          "room for a suppressed bind");
    }
    final Lmr other = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    await(
        () -> rmr.bind(other, 0, 64, BOTH, side.endpoint, 99, null, 0) == Outcome.SUCCESS,
        "room for one with an event");
    await(() -> side.seen.binds().size() == 1, "its completion");

    reaches(pair, rmr.rmrContext(), rmr.address());
    assertThat(side.seen.binds().get(0).cookie()).as(why("of the last one")).isEqualTo(99);
    side.lmr.close(); // nothing is bound to it any more
  }

  @Test
  void required_D01_aWindowThatIsNotBoundIsNotClosed() {
    final Pair pair = connected();
    final Side side = pair.passive;
    for (final Rmr rmr : List.of(side.pz.createRmr(), side.pz.createRmrForEndpoint())) {
      isNotUnbound(rmr, side, "that was never bound");
      final Lmr lmr = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      final int before = side.seen.binds().size();
      succeeds(rmr.bind(lmr, 0, 64, BOTH, side.endpoint, 1, null, 0), "a bind");
      boundThen(side, before);
      unbind(rmr, side);
      isNotUnbound(rmr, side, "that is closed already");
      lmr.close();
      isNotUnbound(rmr, side, "whose region is closed");
    }

    assertThat(side.endpoint.isRequestIdle()).as(why("nothing was posted")).isTrue();
    reaches(pair, side.lmr.rmrContext(), side.lmr.address());
  }

  private void isNotUnbound(final Rmr rmr, final Side side, final String what) {
    refused(
        ReturnType.INVALID_STATE,
        "an unbind of a window " + what,
        () -> rmr.bind(null, 0, 0, Set.of(), side.endpoint, 1, null, 0));
  }

  // D01: send with invalidate

  @Test
  void required_D01_aMessageEndsAWindowOfItsReceiver() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmrForEndpoint();
    final Rmr other = side.pz.createRmrForEndpoint();
    bind(other, side, BOTH);
    bind(rmr, side, BOTH);
    final int context = rmr.rmrContext();
    reaches(pair, context, rmr.address());

    message(pair, context);
    await(() -> side.successes(Queue.RECEIVE) == 1, "the message");

    final DtoCompletion receive = side.seen.completions(side.endpoint, Queue.RECEIVE).get(0);
    assertThat(receive.operation())
        .as(why("what it was"))
        .isEqualTo(DtoOperation.RECEIVE_WITH_INVALIDATE);
    assertThat(receive.rmrContext()).as(why("what it ended")).isEqualTo(context);
    assertThat(receive.transferredLength()).as(why("its length")).isEqualTo(Side.MESSAGE);
    assertThat(rmr.lmr()).as(why("the window is closed")).isNull();
    assertThat(other.lmr()).as(why("another one is not")).isSameAs(side.lmr);
    await(() -> pair.active.successes(Queue.REQUEST) == 2, "the send's own success");
    final List<DtoCompletion> requests =
        pair.active.seen.completions(pair.active.endpoint, Queue.REQUEST);
    assertThat(requests.get(1).operation()).as(why("a send")).isEqualTo(DtoOperation.SEND);
    assertThat(requests.get(1).rmrContext()).as(why("nothing of the sender")).isZero();

    reaches(pair, other.rmrContext(), other.address());
    write(pair, context, side.lmr.address() + START);
    isRefused(pair, "a write through a window that a message ended");
  }

  @Test
  void required_D01_aWindowThatAMessageEndedCanBeBoundAgainManyTimes() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmrForEndpoint();
    for (int i = 0; i < 12; i++) {
      final long before = side.successes(Queue.RECEIVE);
      succeeds(
          rmr.bind(
              side.lmr,
              START,
              LENGTH,
              BOTH,
              side.endpoint,
              i,
              null,
              i % 3 == 0 ? 0 : CompletionFlags.SUPPRESS),
          "a bind");
      pair.active.receives(i, 1);
      succeeds(side.send(i), "the message that tells of it");
      final int round = i;
      await(() -> pair.active.successes(Queue.RECEIVE) == round + 1, "it");
      message(pair, rmr.rmrContext());
      await(() -> side.successes(Queue.RECEIVE) == before + 1, "the message that ends it");
    }
    succeeds(side.send(100), "a send behind all binds");
    pair.active.receives(100, 1);
    await(() -> side.seen.cookies(side.endpoint, Queue.REQUEST).contains(100L), "its success");

    side.lmr.close(); // nothing is bound to it
    rmr.close();
  }

  @Test
  void required_D01_aMessageThatEndsNoWindowBreaksTheConnection() {
    for (int i = 0; i < 3; i++) {
      final Pair pair = connected();
      final Rmr ofZone = pair.passive.pz.createRmr();
      bind(ofZone, pair.passive, BOTH);
      final Rmr ended = pair.passive.pz.createRmrForEndpoint();
      bind(ended, pair.passive, BOTH);
      final int context = ended.rmrContext();
      unbind(ended, pair.passive);

      message(
          pair,
          switch (i) {
            case 0 -> ofZone.rmrContext();
            case 1 -> context;
            default -> pair.passive.lmr.rmrContext();
          });

      isRefused(pair, "an invalidation of what is no window of this connection, case " + i);
      assertThat(pair.passive.successes(Queue.RECEIVE)).as(why("no message")).isZero();
    }
  }

  @Test
  void required_D01_aWindowOfAnEndpointIsBoundOnlyWhenItIsNot() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmrForEndpoint();
    assertThat(rmr.scope()).as(why("scope")).isEqualTo(Rmr.Scope.EP);
    assertThat(rmr.pz()).as(why("zone")).isSameAs(side.pz);
    bind(rmr, side, BOTH);

    refused(ReturnType.INVALID_STATE, "a bind of a bound window", () -> post(rmr, side, 1));
    unbind(rmr, side);
    bind(rmr, side, BOTH);

    reaches(pair, side.lmr.rmrContext(), side.lmr.address());
  }

  // D01: reads into a window

  @Test
  void required_D01_aReadMayGoIntoAWindow() {
    final Pair pair = connected();
    final Side side = pair.active;
    final Lmr remote = pair.passive.lmr;
    remote.buffer().putLong(0, 0x7777_6666_5555L);
    final Rmr rmr = side.pz.createRmrForEndpoint();
    bind(rmr, side, WRITE);

    succeeds(
        side.endpoint.postRdmaReadToRmr(
            rmr, 8, 8, remote.rmrContext(), remote.address(), 3, rmr, 0),
        "a read into a window");
    await(() -> side.successes(Queue.REQUEST) == 1, "the read");

    final DtoCompletion read = side.seen.completions().get(0);
    assertThat(read.operation()).as(why("operation")).isEqualTo(DtoOperation.RDMA_READ);
    assertThat(read.context()).as(why("context")).isSameAs(rmr);
    assertThat(side.lmr.buffer().getLong(START + 8))
        .as(why("where the window says"))
        .isEqualTo(0x7777_6666_5555L);
  }

  @Test
  void required_D02_aReadIntoAWindowStaysInIt() {
    final Pair pair = connected();
    final Side side = pair.active;
    final Rmr rmr = side.pz.createRmr();
    final Rmr foreign = side.adapter.createPz().createRmr();

    refused(ReturnType.INVALID_STATE, "it is not bound", () -> readTo(rmr, side, 0, 8));
    refused(ReturnType.PROTECTION_VIOLATION, "another zone", () -> readTo(foreign, side, 0, 8));
    bind(rmr, side, READ);
    refused(ReturnType.PRIVILEGES_VIOLATION, "not writable", () -> readTo(rmr, side, 0, 8));
    bind(rmr, side, WRITE);
    for (final long[] part :
        new long[][] {{-1, 8}, {0, LENGTH + 1}, {LENGTH, 1}, {1, Long.MAX_VALUE}, {0, -1}}) {
      refused(ReturnType.LENGTH_ERROR, "outside", () -> readTo(rmr, side, part[0], part[1]));
    }
    unbind(rmr, side);
    refused(ReturnType.INVALID_STATE, "it is closed again", () -> readTo(rmr, side, 0, 8));
    rmr.close();
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_RMR,
        "it is freed",
        () -> readTo(rmr, side, 0, 8));
    assertThat(side.endpoint.isRequestIdle()).as(why("nothing was posted")).isTrue();
  }

  private static Outcome readTo(
      final Rmr rmr, final Side side, final long offset, final long length) {
    return side.endpoint.postRdmaReadToRmr(rmr, offset, length, 1, 1, 1, null, 0);
  }

  // D02: protection

  @Test
  void required_D02_aPeerStaysInsideTheWindow() {
    for (final long offset : new long[] {-1, -START, LENGTH - 7, LENGTH, Long.MIN_VALUE}) {
      final Pair pair = connected();
      final Rmr rmr = pair.passive.pz.createRmr();
      bind(rmr, pair.passive, BOTH);

      write(pair, rmr.rmrContext(), rmr.address() + offset);

      isRefused(pair, "a write at " + offset + " of the window");
    }
  }

  @Test
  void required_D02_aPeerHasTheRightsOfTheWindowAndNotThoseOfTheRegion() {
    final Pair pair = connected();
    final Rmr readable = pair.passive.pz.createRmr();
    bind(readable, pair.passive, READ);
    write(pair, readable.rmrContext(), readable.address());
    isRefused(pair, "a write through a window for reads");

    final Pair second = connected();
    final Rmr writable = second.passive.pz.createRmr();
    bind(writable, second.passive, WRITE);
    succeeds(
        second.active.endpoint.postRdmaRead(
            second.active.lmr, 0, 8, writable.rmrContext(), writable.address(), 1),
        "a read");
    isRefused(second, "a read through a window for writes");
  }

  @Test
  void required_D02_aWindowGivesNoRightThatItsRegionLacks() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    final Lmr readable =
        side.pz.createLmr(
            ByteBuffer.allocateDirect(64), Privilege.LOCAL_READ, Privilege.REMOTE_READ);

    for (final Set<Privilege> privileges : List.of(WRITE, BOTH)) {
      refused(
          ReturnType.PRIVILEGES_VIOLATION,
          "writes to a region for reads",
          () -> rmr.bind(readable, 0, 64, privileges, side.endpoint, 1, null, 0));
    }
    succeeds(rmr.bind(readable, 0, 64, READ, side.endpoint, 1, null, 0), "reads");
  }

  @Test
  void required_D02_aWindowItsRegionAndItsEndpointAreOfOneZone() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final ProtectionZone other = side.adapter.createPz();
    final Lmr foreign = other.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    final Rmr strange = other.createRmr();
    final Rmr rmr = side.pz.createRmr();

    refused(
        ReturnType.PROTECTION_VIOLATION,
        "a region of another zone",
        () -> rmr.bind(foreign, 0, 64, BOTH, side.endpoint, 1, null, 0));
    refused(
        ReturnType.PROTECTION_VIOLATION, "a window of another zone", () -> post(strange, side, 1));
    assertThat(side.endpoint.isRequestIdle()).as(why("nothing was posted")).isTrue();
  }

  @Test
  void required_D02_aWindowOfOneEndpointIsClosedToThePeersOfOthers() {
    final Pair pair = connected();
    final Rmr ofZone = pair.passive.pz.createRmr();
    bind(ofZone, pair.passive, BOTH);
    final Rmr rmr = pair.passive.pz.createRmrForEndpoint();
    bind(rmr, pair.passive, BOTH);
    pair.renew();
    pair.ask();
    await(() -> pair.active.established() && pair.passive.established(), "one more connection");

    reaches(pair, ofZone.rmrContext(), ofZone.address());
    write(pair, rmr.rmrContext(), rmr.address());

    isRefused(pair, "a write through the window of another endpoint");
  }

  @Test
  void required_D02_aPartThatIsNotInsideTheRegionIsALengthError() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    final long length = side.lmr.length();

    for (final long[] part :
        new long[][] {{-1, 8}, {0, length + 1}, {length, 1}, {1, Long.MAX_VALUE}, {0, -1}}) {
      refused(
          ReturnType.LENGTH_ERROR,
          "a part outside of the region",
          () -> rmr.bind(side.lmr, part[0], part[1], BOTH, side.endpoint, 1, null, 0));
    }
    succeeds(rmr.bind(side.lmr, 0, length, BOTH, side.endpoint, 1, null, 0), "all of it");
  }

  // R01, R02: misuse

  @Test
  void required_R01_aBindSaysWhatIsWrongWithIt() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();

    final List<ThrowingCallable> local =
        List.of(
            () -> rmr.bind(side.lmr, 0, 8, null, side.endpoint, 1, null, 0),
            () ->
                rmr.bind(side.lmr, 0, 8, Set.of(Privilege.LOCAL_WRITE), side.endpoint, 1, null, 0));
    for (final ThrowingCallable bind : local) {
      refused(
          ReturnType.INVALID_PARAMETER, ReturnSubtype.INVALID_ARG4, "rights of this side", bind);
    }
    for (int bit = 0; bit < Integer.SIZE; bit++) {
      final int flag = 1 << bit;
      if (flag != CompletionFlags.SUPPRESS && flag != CompletionFlags.BARRIER_FENCE) {
        refused(
            ReturnType.INVALID_PARAMETER,
            ReturnSubtype.INVALID_ARG8,
            "a flag that is not for binds, bit " + bit,
            () -> rmr.bind(side.lmr, 0, 8, BOTH, side.endpoint, 1, null, flag));
      }
    }
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EP,
        "an endpoint of another adapter",
        () -> rmr.bind(side.lmr, 0, 8, BOTH, pair.active.endpoint, 1, null, 0));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_LMR,
        "no region",
        () -> rmr.bind(null, 0, 8, BOTH, side.endpoint, 1, null, 0));
    final Endpoint fresh = side.newEndpoint();
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_UNCONNECTED,
        "not connected",
        () -> rmr.bind(side.lmr, 0, 8, BOTH, fresh, 1, null, 0));
    final Endpoint deaf =
        side.adapter.createEndpoint(
            side.pz,
            side.evd,
            side.adapter.createEvd(64, EventStream.DTO),
            side.evd,
            fresh.parameters().attributes());
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_REQUEST,
        "an EVD without RMR_BIND",
        () -> rmr.bind(side.lmr, 0, 8, BOTH, deaf, 1, null, 0));
  }

  @Test
  void required_R02_aFreedWindowIsAnInvalidHandle() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    final Lmr lmr = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    lmr.close();
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_LMR,
        "a region that was freed",
        () -> rmr.bind(lmr, 0, 8, BOTH, side.endpoint, 1, null, 0));
    rmr.close();
    rmr.close();

    for (final ThrowingCallable use :
        List.<ThrowingCallable>of(() -> post(rmr, side, 1), rmr::rmrContext)) {
      refused(ReturnType.INVALID_HANDLE, ReturnSubtype.INVALID_HANDLE_RMR, "a freed window", use);
    }
    assertThat(rmr.pz()).as(why("may be asked")).isSameAs(side.pz);
    assertThat(side.endpoint.isRequestIdle()).as(why("nothing was posted")).isTrue();
  }

  // E05: room

  @Test
  void required_E05_aBindCountsAsARequest() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final int most = side.endpoint.parameters().attributes().maxRequestDtos();
    final Rmr rmr = side.pz.createRmr();
    side.evd.teardown();

    for (int i = 0; i < most; i++) {
      succeeds(post(rmr, side, i), "a bind within the endpoint's own count");
    }
    assertThat(post(rmr, side, 99)).as(why("full")).isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    assertThat(side.send(99)).as(why("full")).isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    side.enable();
    await(() -> side.seen.binds().size() == most, "all binds");

    succeeds(post(rmr, side, 100), "there is room again");
  }

  // M: order

  @Test
  void required_M02_establishedPrecedesTheFirstBind() {
    for (int i = 0; i < 5; i++) {
      final Pair pair = Pair.open(this);
      final Side side = pair.passive;
      assumeTrue(side.adapter.attributes().maxRmrs() > 0, "needs memory windows");
      final Rmr rmr = side.pz.createRmr();
      side.seen.connection(
          event -> {
            if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
              succeeds(post(rmr, side, 1), "a bind as soon as there is a connection");
            }
          });
      pair.connect();
      await(() -> side.seen.binds().size() == 1, "its completion");

      final List<EventStream> order =
          side.seen.events().stream()
              .map(Event::stream)
              .filter(stream -> stream != EventStream.CONNECTION_REQUEST)
              .toList();
      assertThat(order)
          .as(why("in this order"))
          .containsExactly(EventStream.CONNECTION, EventStream.RMR_BIND);
    }
  }

  @Test
  void required_M03_bindsThatSucceededPrecedeTheEnd() {
    for (final Disconnect how : Disconnect.values()) {
      final Pair pair = connected();
      final Side side = pair.passive;
      final Rmr rmr = side.pz.createRmr();
      for (int i = 0; i < 12; i++) {
        succeeds(post(rmr, side, i), "a bind");
      }

      side.endpoint.disconnect(how);
      await(() -> side.ended() && side.seen.binds().size() == 12, "the end, and all binds");

      boolean ended = false;
      for (final Event event : side.seen.events()) {
        ended |= event instanceof ConnectionEvent connection && connection.kind().isTerminal();
        assertThat(
                ended
                    && event instanceof RmrBindCompletion bind
                    && bind.status() == DtoStatus.SUCCESS)
            .as(why("a success after the end: " + side.seen))
            .isFalse();
      }
      if (how == Disconnect.GRACEFUL) {
        assertThat(side.seen.binds().stream().map(RmrBindCompletion::status))
            .as(why("graceful"))
            .containsOnly(DtoStatus.SUCCESS);
      }
    }
  }

  // T: teardown

  @Test
  void required_T02_eachBindIsDeliveredOrReported() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    side.evd.teardown();
    final long before = side.seen.binds().size();
    for (int i = 0; i < 10; i++) {
      succeeds(post(rmr, side, i), "a bind");
    }
    assertThat(side.seen.takeAll()).as(why("some may be there")).isNotNegative();
    final long taken = side.seen.binds().size() - before;

    final DrainReport report = await(side.endpoint.closeAsync(BOUND), "the close");

    assertThat(cookies(report, Queue.REQUEST))
        .as(why("what was not taken"))
        .containsExactlyElementsOf(range(taken, 10 - taken));
    assertThat(report.complete()).as(why("complete")).isTrue();
    rmr.close(); // no bind of it is open
    side.lmr.close();
  }

  @Test
  void required_T03_aBindThatIsPostedAfterTheEndIsFlushed() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmrForEndpoint();
    side.endpoint.disconnect(Disconnect.ABRUPT);
    await(side::ended, "the end");

    succeeds(post(rmr, side, 1), "a bind");
    await(() -> side.seen.binds().size() == 1, "its completion");

    assertThat(side.seen.binds().get(0).status())
        .as(why("flushed"))
        .isEqualTo(DtoStatus.ERR_FLUSHED);
    assertThat(rmr.lmr()).as(why("nothing is bound")).isNull();
    side.endpoint.close();
    refused(ReturnType.INVALID_STATE, "a bind at a closed endpoint", () -> post(rmr, side, 2));
  }

  @Test
  void required_T11_aRegionCannotBeClosedWhileAWindowIsBoundToIt() {
    final Pair pair = connected();
    final Side side = pair.passive;
    for (final Rmr rmr : List.of(side.pz.createRmr(), side.pz.createRmrForEndpoint())) {
      final Lmr lmr = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      side.evd.teardown();
      succeeds(rmr.bind(lmr, 0, 64, BOTH, side.endpoint, 1, null, 0), "a bind");
      inUse(lmr, "a bind of it is open");
      refused(ReturnType.INVALID_STATE, "a bind of the window is open", rmr::close);
      final int before = side.seen.binds().size();
      side.enable();
      boundThen(side, before);

      inUse(lmr, "the window is bound to it");
      unbind(rmr, side);
      lmr.close();

      final Lmr other = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
      succeeds(rmr.bind(other, 0, 64, BOTH, side.endpoint, 1, null, 0), "another bind");
      boundThen(side, before + 2);
      inUse(other, "the window is bound to it");
      rmr.close();
      other.close();
    }
  }

  /** A device may have done it before its queue pair failed, and the peers of others may use it. */
  @Test
  void required_T11_aRegionIsInUseWhenABindToItWasFlushed() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    side.endpoint.disconnect(Disconnect.ABRUPT);
    await(side::ended, "the end");
    succeeds(post(rmr, side, 1), "a bind");
    await(() -> side.seen.binds().size() == 1, "its completion");
    final Lmr other = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());

    inUse(side.lmr, "the bind may have been done");
    other.close();
    rmr.close();
    side.lmr.close();
  }

  @Test
  void required_T11_aBindToAnotherRegionLetsGoOfTheFirst() {
    final Pair pair = connected();
    final Side side = pair.passive;
    final Rmr rmr = side.pz.createRmr();
    final Lmr lmr = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    succeeds(rmr.bind(lmr, 0, 64, BOTH, side.endpoint, 1, null, 0), "a bind");
    boundThen(side, 0);
    bind(rmr, side, BOTH);

    lmr.close();
    inUse(side.lmr, "the window is bound to it now");
  }

  @Test
  void required_T10_aZoneAndAnAdapterAreInUseWhileTheyHaveAWindow() {
    final Pair pair = connected();
    final ProtectionZone pz = pair.passive.adapter.createPz();
    final Rmr rmr = pz.createRmr();
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_PZ_IN_USE,
        "a window belongs to it",
        pz::close);
    rmr.close();
    pz.close();

    final Rmr left = pair.passive.pz.createRmr();
    bind(left, pair.passive, BOTH);
    succeeds(post(left, pair.passive, 1), "one more");
    pair.passive.adapter.closeAbruptly(BOUND);
    refused(ReturnType.INVALID_HANDLE, "it is freed", left::rmrContext);
  }

  private void inUse(final Lmr lmr, final String why) {
    refused(ReturnType.INVALID_STATE, ReturnSubtype.INVALID_STATE_LMR_IN_USE, why, lmr::close);
  }
}
