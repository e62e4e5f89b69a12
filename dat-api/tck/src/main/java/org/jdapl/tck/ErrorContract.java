package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.junit.jupiter.api.Test;

/** Section R: errors; and the protection of D02. */
public abstract class ErrorContract extends Contract {

  private static final EventHandler NOBODY = new EventHandler() {};

  /** A contract; its state lives for one test. */
  protected ErrorContract() {}

  // R01: outcomes and misuse

  @Test
  void required_R01_ordinaryOutcomesAreReturnValues() {
    final Evd evd = softwareEvd(1);
    final EndpointAttributes one = EndpointAttributes.defaults().withMaxDtos(1, 1);
    final Pair pair = Pair.open(this, 8, one);
    pair.active.receives(0, 1);

    assertThat(evd.dequeue(NOBODY)).as(why("no event")).isEqualTo(Outcome.QUEUE_EMPTY);
    assertThat(evd.drain(NOBODY, 1)).as(why("no event")).isZero();
    postMany(evd, evd.length());
    assertThat(evd.postSoftwareEvent(1)).as(why("no room")).isEqualTo(Outcome.QUEUE_FULL);
    assertThat(pair.active.receive(1))
        .as(why("as many open as may be"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
  }

  @Test
  void required_R01_misuseNamesTheObjectAndTheOffendingValue() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;

    final DatException length =
        refused(ReturnType.LENGTH_ERROR, "a segment outside", () -> receive(side, 123_456, 64));
    final DatException state =
        refused(ReturnType.INVALID_STATE, "a send before connect", () -> side.send(1));
    final DatException limit =
        refused(ReturnType.INVALID_PARAMETER, "drain(-17)", () -> side.evd.drain(NOBODY, -17));

    assertThat(length).as(why("the offset")).hasMessageContaining("123456");
    assertThat(state).as(why("the endpoint")).hasMessageContaining(side.endpoint.name());
    assertThat(state).as(why("its state")).hasMessageContaining("UNCONNECTED");
    assertThat(limit).as(why("the EVD")).hasMessageContaining(side.evd.name());
    assertThat(limit).as(why("the limit")).hasMessageContaining("-17");
  }

  @Test
  void required_R01_anEvdNeedsALengthAndStreams() {
    final InterfaceAdapter adapter = bench.open();

    for (final int length : new int[] {0, -1, Integer.MIN_VALUE}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "length " + length,
          () -> adapter.createEvd(length, EventStream.SOFTWARE));
    }
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG2,
        "an EVD for nothing",
        () -> adapter.createEvd(1));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG2,
        "an EVD of no stream",
        () -> adapter.createEvd(1));
  }

  @Test
  void required_R01_drainNeedsAPositiveLimit() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    post(evd, 1);

    for (final int limit : new int[] {0, -1, Integer.MIN_VALUE}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG2,
          "drain with limit " + limit,
          () -> evd.drain(seen, limit));
    }

    assertThat(seen.takeAll()).as(why("nothing was taken")).isEqualTo(1);
  }

  @Test
  void required_R01_aWaitNeedsAHandlerAThresholdAndATime() {
    final Evd evd = softwareEvd(4);
    final Cno cno = bench.open().createCno();
    final Duration negative = Duration.ofNanos(-1);
    post(evd, 1);

    argument(1, "await(null)", () -> evd.await(null, 1, Duration.ZERO));
    argument(2, "threshold 5 of 4", () -> evd.await(NOBODY, 5, Duration.ZERO));
    argument(3, "no timeout", () -> evd.await(NOBODY, 1, null));
    argument(3, "a negative timeout", () -> evd.await(NOBODY, 1, negative));
    argument(1, "a CNO's await(null)", () -> cno.await(null, Duration.ZERO));
    argument(2, "a CNO's await without timeout", () -> cno.await(ready -> {}, null));
    argument(2, "a CNO's await, negative", () -> cno.await(ready -> {}, negative));
    final DatException threshold =
        refused(
            ReturnType.INVALID_PARAMETER,
            "threshold -17",
            () -> evd.await(NOBODY, -17, Duration.ZERO));

    assertThat(threshold).as(why("the EVD")).hasMessageContaining(evd.name());
    assertThat(threshold).as(why("the value")).hasMessageContaining("-17");
    assertThat(threshold).as(why("the expectation")).hasMessageContaining("1..4");
    assertThat(evd.remaining()).as(why("nobody waited")).isZero();
    assertThat(recorder(evd).takeAll()).as(why("nothing was taken")).isEqualTo(1);
  }

  private void argument(final int number, final String what, final ThrowingCallable misuse) {
    refused(
        ReturnType.INVALID_PARAMETER, ReturnSubtype.valueOf("INVALID_ARG" + number), what, misuse);
  }

  @Test
  void required_R01_anEvdTakesAnOpenCnoOfItsAdapter() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(4, EventStream.SOFTWARE);
    final Cno closed = adapter.createCno();
    closed.close();

    for (final Cno cno : List.of(closed, bench.open().createCno())) {
      refused(
          ReturnType.INVALID_HANDLE,
          ReturnSubtype.INVALID_HANDLE_CNO,
          cno + " for " + evd,
          () -> evd.cno(cno));
    }

    assertThat(evd.cno()).as(why("as before")).isNull();
  }

  @Test
  void required_R02_aClosedEvdIsNotWaitedFor() {
    final Evd evd = softwareEvd(4);
    evd.close();

    for (final ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> evd.await(NOBODY, 1, Duration.ZERO),
            evd::setUnwaitable,
            evd::clearUnwaitable,
            () -> evd.cno(null))) {
      refused(ReturnType.INVALID_HANDLE, "a call on a closed EVD", call);
    }
  }

  @Test
  void required_R01_concurrencyHasBounds() {
    for (final int limit : new int[] {0, -1, 1024, Integer.MAX_VALUE}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "many(" + limit + ")",
          () -> assertThat(Concurrency.many(limit)).isNull());
    }
  }

  @Test
  void required_R01_endpointsNeedFittingObjects() {
    final Pair pair = Pair.open(this);
    final InterfaceAdapter adapter = pair.active.adapter;
    final ProtectionZone pz = pair.active.pz;
    final Evd good = pair.active.evd;
    final Evd foreign = pair.passive.evd;
    final Evd software = adapter.createEvd(64, EventStream.SOFTWARE);
    final EndpointAttributes sizes = EndpointAttributes.defaults();

    for (final Evd bad : List.of(foreign, software)) {
      refused(
          ReturnType.INVALID_HANDLE,
          ReturnSubtype.INVALID_HANDLE_EVD_RECV,
          "receive EVD " + bad.name(),
          () -> adapter.createEndpoint(pz, bad, good, good, sizes));
      refused(
          ReturnType.INVALID_HANDLE,
          ReturnSubtype.INVALID_HANDLE_EVD_REQUEST,
          "request EVD " + bad.name(),
          () -> adapter.createEndpoint(pz, good, bad, good, sizes));
      refused(
          ReturnType.INVALID_HANDLE,
          ReturnSubtype.INVALID_HANDLE_EVD_CONN,
          "connect EVD " + bad.name(),
          () -> adapter.createEndpoint(pz, good, good, bad, sizes));
    }
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_PZ,
        "a zone of another adapter",
        () -> adapter.createEndpoint(pair.passive.pz, good, sizes));
  }

  @Test
  void required_A06_anEvdForSolicitedReceivesCarriesNothingElse() {
    final Side side = Pair.open(this).active;
    final EndpointAttributes usual = EndpointAttributes.defaults();
    final EndpointAttributes solicited = usual.withReceiveFlags(CompletionFlags.SOLICITED_WAIT);
    final Evd quiet = side.hearSolicitedOnly();
    final Evd other = side.adapter.createEvd(64, EventStream.DTO);
    final Endpoint ofOther = side.adapter.createEndpoint(side.pz, other, side.evd, side.evd, usual);

    for (final Evd[] evds : new Evd[][] {{quiet, side.evd}, {side.evd, quiet}}) {
      refused(
          ReturnType.INVALID_STATE,
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
          "other receives, or requests",
          () -> side.adapter.createEndpoint(side.pz, evds[0], evds[1], side.evd, usual));
    }
    for (final Evd evd : List.of(other, side.evd)) {
      refused(
          ReturnType.INVALID_STATE,
          ReturnSubtype.INVALID_STATE_EVD_CONFIG_NOTIFY,
          "solicited receives beside others, or on an EVD of more streams",
          () -> side.adapter.createEndpoint(side.pz, evd, side.evd, side.evd, solicited));
    }
    final Evd both = side.adapter.createEvd(64, EventStream.DTO);
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
        "its own requests beside solicited receives",
        () -> side.adapter.createEndpoint(side.pz, both, both, side.evd, solicited));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG3,
        "a flag that no receive has",
        () -> create(side, usual.withReceiveFlags(CompletionFlags.SUPPRESS)));

    side.endpoint.close();
    ofOther.close();
    side.adapter.createEndpoint(side.pz, quiet, quiet, side.evd, usual).close();
    side.adapter.createEndpoint(side.pz, other, side.evd, side.evd, solicited).close();
    side.adapter.createEndpoint(side.pz, both, both, side.evd, usual).close();
  }

  @Test
  void required_R01_servicePointsNeedAFreeQualifierAndAFittingEvd() {
    final Pair pair = Pair.open(this);
    final InterfaceAdapter adapter = pair.passive.adapter;
    final Evd software = adapter.createEvd(4, EventStream.SOFTWARE);
    final long connQual = connQual();

    refused(
        ReturnType.CONN_QUAL_IN_USE,
        "a qualifier where somebody listens",
        () -> adapter.createPsp(pair.psp.connQual(), pair.passive.evd));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_CR,
        "an EVD without CONNECTION_REQUEST",
        () -> adapter.createPsp(connQual, software));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_CR,
        "an EVD of another adapter",
        () -> adapter.createPsp(connQual, pair.active.evd));
    for (final long none : new long[] {0, -1, 65_536, 1L << 32}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "a PSP at " + none,
          () -> adapter.createPsp(none, pair.passive.evd));
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "an RSP at " + none,
          () -> adapter.createRsp(none, pair.passive.endpoint, pair.passive.evd));
    }
  }

  @Test
  void required_R01_memoryMustBeDirectAndNotEmpty() {
    final ProtectionZone pz = bench.open().createPz();

    for (final ByteBuffer buffer : List.of(ByteBuffer.allocate(8), ByteBuffer.allocateDirect(0))) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG1,
          "memory " + buffer,
          () -> pz.createLmr(buffer, Privilege.LOCAL_READ));
    }
  }

  @Test
  void required_R01_connectChecksItsArgumentsAndSendsNothing() {
    final Pair pair = Pair.open(this);
    final Endpoint endpoint = pair.active.endpoint;
    final ByteBuffer tooLong = ByteBuffer.allocate(1 << 20);

    for (final long none : new long[] {0, -1, 65_536, 1L << 32}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG2,
          "the qualifier " + none,
          () -> endpoint.connect(pair.passive.adapter.address(), none, Pair.CONNECT, null));
    }
    for (final Duration timeout : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG3,
          "timeout " + timeout,
          () -> endpoint.connect(pair.passive.adapter.address(), 1, timeout, null));
    }
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG4,
        "private data of a megabyte",
        () -> endpoint.connect(pair.passive.adapter.address(), 1, Pair.CONNECT, tooLong));

    pair.connect();
    assertThat(pair.passive.seen.count()).as(why("one request: the legal one")).isEqualTo(2);
  }

  @Test
  void required_R01_aConnectTimeoutMayBeAsLongAsADurationCanBe() {
    final Pair pair = Pair.open(this);
    pair.active.enable();
    pair.passive.enable();

    pair.active.endpoint.connect(
        pair.passive.adapter.address(),
        pair.psp.connQual(),
        Duration.ofSeconds(Long.MAX_VALUE),
        null);

    await(pair.active::established, "ESTABLISHED; an overflow makes the deadline lie in the past");
  }

  @Test
  void required_R01_aRequestIsAnsweredOnce() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    pair.passive.seen.answer(request::set);
    pair.active.enable();
    pair.passive.enable();
    pair.ask();
    await(() -> request.get() != null, "the request");
    final ByteBuffer tooLong = ByteBuffer.allocate(1 << 20);

    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG2,
        "accept with a megabyte",
        () -> request.get().accept(pair.passive.endpoint, tooLong));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "reject with a megabyte",
        () -> request.get().reject(tooLong));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EP,
        "accept with an endpoint of another adapter",
        () -> request.get().accept(pair.active.endpoint, null));
    request.get().accept(pair.passive.endpoint, null);
    await(pair.active::established, "ESTABLISHED: what was refused answered nothing");

    refused(
        ReturnType.INVALID_STATE,
        "a second accept",
        () -> request.get().accept(pair.passive.newEndpoint(), null));
    refused(ReturnType.INVALID_STATE, "a reject after accept", () -> request.get().reject(null));
    request.get().close();
    bench.settle();
    assertThat(pair.active.ended()).as(why("close after accept does nothing")).isFalse();
  }

  @Test
  void required_R01_callsOutOfStateAreRefused() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_UNCONNECTED,
        "disconnect before connect",
        () -> side.endpoint.disconnect(Disconnect.ABRUPT));
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_UNCONNECTED,
        "a send before connect",
        () -> side.send(1));

    pair.connect();
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_CONNECTED,
        "connect when connected",
        pair::ask);

    side.endpoint.disconnect(Disconnect.ABRUPT);
    await(side::ended, "the end");
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EP_DISCONNECTED,
        "connect when disconnected",
        pair::ask);
  }

  @Test
  void required_R01_objectsInUseAreNotClosed() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    side.receives(0, 1);

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EVD_IN_USE,
        "an EVD with an endpoint",
        side.evd::close);
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EVD_IN_USE,
        "an EVD with an endpoint",
        () -> side.evd.closeAsync(BOUND));
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_PZ_IN_USE,
        "a zone with an endpoint",
        side.pz::close);
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_LMR_IN_USE,
        "a region with a receive posted",
        side.lmr::close);

    pair.connect();
    pair.passive.sends(5, 1);
    await(() -> side.successes(Queue.RECEIVE) == 1, "what was refused left everything intact");
  }

  @Test
  void required_R01_postsCheckSegmentsAndFlags() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final Segments two = new Segments(2).add(side.lmr, 0, 8).add(side.lmr, 8, 8);
    final Segments one = side.message(1);

    refused(
        ReturnType.INVALID_PARAMETER,
        "two segments where one is the limit",
        () -> side.endpoint.postSend(two, 1, null, CompletionFlags.DEFAULT));
    refused(
        ReturnType.INVALID_PARAMETER,
        "two segments where one is the limit",
        () -> side.endpoint.postReceive(two, 1, null));
    refused(
        ReturnType.INVALID_PARAMETER,
        "an unknown flag",
        () -> side.endpoint.postSend(one, 1, null, 0x4000_0000));
    refused(
        ReturnType.INVALID_PARAMETER,
        "SOLICITED_WAIT is for sends only",
        () -> side.endpoint.postRdmaRead(one, 1, 1, 1, null, CompletionFlags.SOLICITED_WAIT));
  }

  @Test
  void required_R01_softwareEventsNeedTheirStream() {
    final Evd evd = bench.open().createEvd(4, EventStream.DTO);

    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "a software event for an EVD without SOFTWARE",
        () -> post(evd, 1));
  }

  // R02: closed and stale handles

  @Test
  void required_R02_aClosedEvdAnswersInvalidHandle() {
    final Evd evd = softwareEvd(4);
    final String name = evd.name();
    evd.close();

    for (final ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> evd.dequeue(NOBODY),
            () -> evd.drain(NOBODY, 1),
            () -> evd.postSoftwareEvent(1),
            () -> evd.upcall(NOBODY),
            () -> evd.upcall(NOBODY, Concurrency.many(2), Invoke.ON_NEW),
            () -> evd.notifyOnce(ready -> {}, Invoke.ON_ANY),
            evd::disable,
            () -> evd.resize(4),
            evd::teardown,
            evd::teardownAsync)) {
      refused(ReturnType.INVALID_HANDLE, "a call on a closed EVD", call);
    }
    assertThat(evd.name()).as(why("its name stays")).isEqualTo(name);
    assertThat(evd.statistics().events()).as(why("statistics are legal")).isZero();
  }

  @Test
  void required_R02_anUpcallThatClosedItsEvdDequeuesNothing() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    final AtomicReference<Throwable> refusal = new AtomicReference<>();
    seen.at(
        1,
        () -> {
          evd.close();
          refusal.set(catchThrowable(() -> evd.dequeue(NOBODY)));
        });
    post(evd, 1, 2);

    evd.upcall(seen);
    await(() -> refusal.get() != null, "the dequeue inside the upcall");

    assertThat(refusal.get())
        .as(why("it is closed, though its upcall runs"))
        .isInstanceOfSatisfying(
            DatException.class, e -> assertThat(e.type()).isEqualTo(ReturnType.INVALID_HANDLE));
  }

  @Test
  void required_R02_aClosedEndpointAnswersInvalidHandle() {
    final Pair pair = Pair.open(this);
    final Endpoint endpoint = pair.active.endpoint;
    endpoint.close();

    refused(ReturnType.INVALID_HANDLE, "connect of a closed endpoint", pair::ask);
    refused(
        ReturnType.INVALID_HANDLE,
        "disconnect of a closed endpoint",
        () -> endpoint.disconnect(Disconnect.ABRUPT));
  }

  @Test
  void required_R02_aRequestIsNotAcceptedWithAClosedEndpoint() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    pair.passive.seen.answer(request::set);
    pair.active.enable();
    pair.passive.enable();
    pair.ask();
    await(() -> request.get() != null, "the request");
    pair.passive.endpoint.close();

    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EP,
        "accept with a closed endpoint",
        () -> request.get().accept(pair.passive.endpoint, null));
    pair.passive.endpoint = pair.passive.newEndpoint();
    request.get().accept(pair.passive.endpoint, null);

    await(pair.active::established, "the request was not answered by the refused call");
  }

  @Test
  void required_R02_aClosedZoneOrRegionAnswersInvalidHandle() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    final ProtectionZone pz = side.adapter.createPz();
    final Lmr lmr = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    pz.close();
    lmr.close();

    refused(
        ReturnType.INVALID_HANDLE,
        "memory of a closed zone",
        () -> pz.createLmr(ByteBuffer.allocateDirect(8), Privilege.LOCAL_READ));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_PZ,
        "an endpoint of a closed zone",
        () -> side.adapter.createEndpoint(pz, side.evd, EndpointAttributes.defaults()));
    refused(
        ReturnType.INVALID_HANDLE,
        "a post of closed memory",
        () -> side.endpoint.postReceive(lmr, 0, 8, 1));
  }

  @Test
  void required_R02_aClosedEvdIsNoPlaceForEndpointsAndServicePoints() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    final long connQual = connQual();
    final Evd evd =
        side.adapter.createEvd(
            64, EventStream.DTO, EventStream.CONNECTION, EventStream.CONNECTION_REQUEST);
    evd.close();

    refused(
        ReturnType.INVALID_HANDLE,
        "an endpoint of a closed EVD",
        () -> side.adapter.createEndpoint(side.pz, evd, EndpointAttributes.defaults()));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_EVD_CR,
        "a service point of a closed EVD",
        () -> side.adapter.createPsp(connQual, evd));
  }

  @Test
  void required_R02_aClosedAdapterAnswersInvalidHandle() {
    final InterfaceAdapter adapter = bench.open();
    adapter.close();

    refused(
        ReturnType.INVALID_HANDLE,
        "an EVD of a closed adapter",
        () -> adapter.createEvd(1, EventStream.SOFTWARE));
    refused(ReturnType.INVALID_HANDLE, "a zone of a closed adapter", adapter::createPz);
  }

  @Test
  void required_R02_everythingMayBeClosedTwice() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final List<DatObject> inOrder =
        List.of(side.endpoint, pair.psp, side.evd, side.lmr, side.pz, side.adapter);

    for (final DatObject object : inOrder) {
      object.close();
      object.close();
    }
    for (final DatObject object : inOrder) {
      object.close();
      assertThat(object.name()).as(why("its name stays")).isNotEmpty();
    }
  }

  @Test
  void required_R02_aClosedServicePointFreesItsQualifier() {
    final Pair pair = Pair.open(this);
    pair.psp.close();

    final PublicServicePoint again =
        pair.passive.adapter.createPsp(pair.psp.connQual(), pair.passive.evd);
    pair.psp.close();
    pair.connect();

    assertThat(again.connQual())
        .as(why("closing the stale handle again closes nothing else"))
        .isEqualTo(pair.psp.connQual());
  }

  // R03: causes are kept

  @Test
  void required_R03_aRefusalOfTheProviderNamesTheObjectAndTheLimit() {
    final InterfaceAdapter adapter = bench.open();

    final DatException refusal =
        refused(
            ReturnType.INSUFFICIENT_RESOURCES,
            ReturnSubtype.RESOURCE_TEVD,
            "an EVD longer than any provider allows",
            () -> adapter.createEvd(Integer.MAX_VALUE, EventStream.DTO));

    assertThat(refusal)
        .as(why("what was asked of whom"))
        .hasMessageContaining(adapter.name())
        .hasMessageContaining(Integer.toString(Integer.MAX_VALUE));
  }

  @Test
  void required_R03_aSuccessCarriesNoVendorErrorAndAFailureNoLength() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    pair.passive.receives(0, 1);
    side.sends(0, 1);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "a success");
    writeTo(pair, ~pair.passive.lmr.rmrContext(), pair.passive.lmr.address());
    final DtoCompletion failure = failure(side);

    assertThat(pair.passive.seen.completions().get(0).vendorError()).as(why("success")).isZero();
    assertThat(pair.passive.seen.completions().get(0).transferredLength())
        .as(why("what was sent"))
        .isEqualTo(Side.MESSAGE);
    assertThat(failure.transferredLength()).as(why("0 with an error")).isZero();
    assertThat(failure.operation().toString()).as(why("what it was")).isEqualTo("RDMA_WRITE");
  }

  // D02: protection

  @Test
  void required_D02_rdmaWritesAndReadsReachThePeersMemory() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final Lmr remote = pair.passive.lmr;
    side.lmr.buffer().putLong(0, 0x1122_3344_5566_7788L);

    writeTo(pair, remote.rmrContext(), remote.address() + 128);
    succeeds(
        side.endpoint.postRdmaRead(
            side.lmr, 64, 64, remote.rmrContext(), remote.address() + 128, 2),
        "an RDMA read");
    await(() -> side.successes(Queue.REQUEST) == 2, "both done");

    assertThat(remote.buffer().getLong(128))
        .as(why("written to the peer"))
        .isEqualTo(0x1122_3344_5566_7788L);
    assertThat(side.lmr.buffer().getLong(64))
        .as(why("read back"))
        .isEqualTo(0x1122_3344_5566_7788L);
  }

  @Test
  void required_D02_memoryOfAnotherZoneIsAProtectionViolation() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final Lmr foreign =
        side.adapter.createPz().createLmr(ByteBuffer.allocateDirect(64), Privilege.values());

    for (final ThrowingCallable post :
        List.<ThrowingCallable>of(
            () -> side.endpoint.postSend(foreign, 0, 8, 1),
            () -> side.endpoint.postReceive(foreign, 0, 8, 1),
            () -> side.endpoint.postRdmaWrite(foreign, 0, 8, 1, 1, 1),
            () -> side.endpoint.postRdmaRead(foreign, 0, 8, 1, 1, 1))) {
      refused(ReturnType.PROTECTION_VIOLATION, "memory of another zone", post);
    }
    nothingWasPosted(pair);
  }

  @Test
  void required_D02_aMissingLocalRightIsAPrivilegesViolation() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final Lmr readable = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.LOCAL_READ);
    final Lmr writable = side.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.LOCAL_WRITE);

    for (final ThrowingCallable post :
        List.<ThrowingCallable>of(
            () -> side.endpoint.postSend(writable, 0, 8, 1),
            () -> side.endpoint.postRdmaWrite(writable, 0, 8, 1, 1, 1),
            () -> side.endpoint.postReceive(readable, 0, 8, 1),
            () -> side.endpoint.postRdmaRead(readable, 0, 8, 1, 1, 1))) {
      refused(ReturnType.PRIVILEGES_VIOLATION, "memory without the right", post);
    }
    nothingWasPosted(pair);
  }

  @Test
  void required_D02_aSegmentOutsideItsRegionIsALengthError() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final long length = side.lmr.length();

    for (final long[] segment :
        new long[][] {
          {-1, 8},
          {0, -1},
          {0, length + 1},
          {length, 1},
          {length - 1, 2},
          {1, Long.MAX_VALUE},
          {Long.MAX_VALUE, 1},
          {Long.MIN_VALUE, Long.MIN_VALUE},
          {1L << 32, 8}
        }) {
      final String what = "offset " + segment[0] + ", length " + segment[1];
      refused(ReturnType.LENGTH_ERROR, what, () -> receive(side, segment[0], segment[1]));
      refused(
          ReturnType.LENGTH_ERROR,
          what,
          () -> side.endpoint.postSend(side.lmr, segment[0], segment[1], 1));
    }
    nothingWasPosted(pair);
  }

  @Test
  void required_D02_aSegmentThatEndsWithItsRegionIsLegal() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final long length = side.lmr.length();
    pair.passive.receives(0, 1);

    succeeds(side.endpoint.postReceive(side.lmr, length - 64, 64, 1), "the last 64 bytes");
    succeeds(side.endpoint.postSend(side.lmr, length - 1, 1, 2), "the last byte");
    await(() -> pair.passive.successes(Queue.RECEIVE) == 1, "its arrival");

    assertThat(pair.passive.seen.completions().get(0).transferredLength())
        .as(why("one byte"))
        .isEqualTo(1);
  }

  @Test
  void required_D02_aWrongContextIsRefusedByThePeer() {
    final Pair pair = Pair.connected(this);

    writeTo(pair, ~pair.passive.lmr.rmrContext(), pair.passive.lmr.address());

    remoteAccessError(pair);
  }

  @Test
  void required_D02_anAddressOutsideThePeersRegionIsRefusedByThePeer() {
    for (final long offset : new long[] {-1, 1 - Side.MESSAGE, Long.MIN_VALUE}) {
      final Pair pair = Pair.connected(this);
      final Lmr remote = pair.passive.lmr;

      writeTo(pair, remote.rmrContext(), remote.address() + offset);

      remoteAccessError(pair);
    }
    final Pair pair = Pair.connected(this);
    final Lmr remote = pair.passive.lmr;

    writeTo(pair, remote.rmrContext(), remote.address() + remote.length() - 1);

    remoteAccessError(pair);
  }

  @Test
  void required_D02_thePeersRightsAreEnforced() {
    final Privilege[][] withoutRemoteWrite = {
      {Privilege.LOCAL_READ, Privilege.LOCAL_WRITE, Privilege.REMOTE_READ}, {Privilege.LOCAL_READ}
    };
    for (final Privilege[] privileges : withoutRemoteWrite) {
      final Pair pair = Pair.connected(this);
      final Lmr remote = pair.passive.pz.createLmr(ByteBuffer.allocateDirect(64), privileges);
      pair.active.lmr.buffer().putLong(0, -1L);

      writeTo(pair, remote.rmrContext(), remote.address());

      remoteAccessError(pair);
      assertThat(remote.buffer().getLong(0)).as(why("untouched")).isZero();
    }
  }

  @Test
  void required_D02_readingNeedsThePeersRightToo() {
    final Pair pair = Pair.connected(this);
    final Lmr remote =
        pair.passive.pz.createLmr(
            ByteBuffer.allocateDirect(64),
            Privilege.LOCAL_READ,
            Privilege.LOCAL_WRITE,
            Privilege.REMOTE_WRITE);

    succeeds(
        pair.active.endpoint.postRdmaRead(
            pair.active.lmr, 0, 64, remote.rmrContext(), remote.address(), 1),
        "an RDMA read");

    remoteAccessError(pair);
  }

  @Test
  void required_D02_memoryOfAnotherZoneIsRefusedByThePeerToo() {
    final Pair pair = Pair.connected(this);
    final Lmr remote =
        pair.passive
            .adapter
            .createPz()
            .createLmr(ByteBuffer.allocateDirect(64), Privilege.values());

    writeTo(pair, remote.rmrContext(), remote.address());

    remoteAccessError(pair);
  }

  @Test
  void required_D02_closedMemoryIsRefusedByThePeer() {
    final Pair pair = Pair.connected(this);
    final Lmr remote = pair.passive.pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.values());
    final int context = remote.rmrContext();
    final long address = remote.address();
    remote.close();

    writeTo(pair, context, address);

    remoteAccessError(pair);
  }

  @Test
  void required_D02_aMessageThatDoesNotFitIsAnErrorAtTheReceiver() {
    final Pair pair = Pair.connected(this);
    succeeds(
        pair.passive.endpoint.postReceive(pair.passive.lmr, 0, 8, 1), "a receive of eight bytes");

    pair.active.sends(1, 1);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
    await(() -> !pair.active.seen.completions().isEmpty(), "the outcome of the send");
    await(() -> !pair.passive.seen.completions().isEmpty(), "the outcome of the receive");

    assertThat(pair.passive.seen.completions().get(0).status())
        .as(why("64 bytes for a buffer of eight"))
        .isEqualTo(DtoStatus.ERR_LOCAL_LENGTH);
    assertThat(pair.active.seen.completions().get(0).status())
        .as(why("the sender learns of it"))
        .isNotEqualTo(DtoStatus.SUCCESS);
  }

  // E04 and E05 at their boundaries

  @Test
  void required_E04_lengthsAreExactAtTheSmallest() {
    final Evd evd = softwareEvd(1);
    final Recorder seen = recorder(evd);

    for (int i = 0; i < 3; i++) {
      postMany(evd, evd.length());
      assertThat(evd.postSoftwareEvent("too much"))
          .as(why("the length is the limit, not a power of two above it"))
          .isEqualTo(Outcome.QUEUE_FULL);
      assertThat(seen.takeAll()).as(why("all accepted ones")).isEqualTo(evd.length());
    }
    assertThat(evd.length()).as(why("as asked for")).isEqualTo(1);
  }

  @Test
  void required_E05_sizesThatOverflowAnIntDoNotFit() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    for (final int[] sizes :
        new int[][] {
          {Integer.MAX_VALUE, Integer.MAX_VALUE},
          {Integer.MAX_VALUE, 1},
          {1, Integer.MAX_VALUE},
          {1 << 30, 1 << 30}
        }) {
      refused(
          ReturnType.INSUFFICIENT_RESOURCES,
          "an endpoint of " + sizes[0] + " and " + sizes[1],
          () -> create(side, EndpointAttributes.defaults().withMaxDtos(sizes[0], sizes[1])));
    }

    assertThat(side.newEndpoint()).as(why("the room is still there")).isNotNull();
  }

  @Test
  void required_E05_negativeSizesAreRefused() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    for (final int[] sizes : new int[][] {{-1, 1}, {1, -1}, {-16, 16}, {Integer.MIN_VALUE, 0}}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          "an endpoint of " + sizes[0] + " and " + sizes[1],
          () -> create(side, EndpointAttributes.defaults().withMaxDtos(sizes[0], sizes[1])));
    }
  }

  @Test
  void required_E05_anEndpointWithoutReceivesTakesNone() {
    final Pair pair = Pair.open(this, 8, EndpointAttributes.defaults().withMaxDtos(0, 1));

    assertThat(pair.active.receive(1))
        .as(why("0 for none"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
  }

  @Test
  void required_R01_aNullHandlerIsRefusedAndTakesNothing() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    post(evd, 1);

    assertThatThrownBy(() -> evd.dequeue(null))
        .as(why("null is not allowed"))
        .isInstanceOf(RuntimeException.class);

    assertThat(seen.takeAll()).as(why("nothing was taken")).isEqualTo(1);
  }

  private static void create(final Side side, final EndpointAttributes attributes) {
    side.adapter.createEndpoint(side.pz, side.evd, attributes).close();
  }

  private static void receive(final Side side, final long offset, final long length) {
    assertThat(side.endpoint.postReceive(side.lmr, offset, length, 1)).isNull();
  }

  private void writeTo(final Pair pair, final int rmrContext, final long address) {
    succeeds(
        pair.active.endpoint.postRdmaWrite(
            pair.active.lmr, 0, Side.MESSAGE, rmrContext, address, 1),
        "an RDMA write; only the peer can see that it is not allowed");
  }

  private void remoteAccessError(final Pair pair) {
    assertThat(failure(pair.active).status())
        .as(why("at the initiator"))
        .isEqualTo(DtoStatus.ERR_REMOTE_ACCESS);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
    bench.settle();
    assertThat(pair.active.seen.terminals(pair.active.endpoint))
        .as(why("an error breaks the connection"))
        .containsExactly(Kind.BROKEN);
    assertThat(pair.passive.seen.completions()).as(why("no event at the target")).isEmpty();
    assertThat(pair.passive.seen.terminals(pair.passive.endpoint)).as(why("once")).hasSize(1);
  }

  private void nothingWasPosted(final Pair pair) {
    bench.settle();
    assertThat(pair.active.seen.completions()).as(why("refused is not posted")).isEmpty();
    pair.passive.receives(0, 16);
    pair.active.sends(0, 16);
    await(
        () -> pair.active.successes(Queue.REQUEST) == 16,
        "all slots are free and the connection stands");
  }
}
