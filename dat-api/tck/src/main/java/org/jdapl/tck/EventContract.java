package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DatObject;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SoftwareEvent;
import org.junit.jupiter.api.Test;

/** Section E: events and their queue. */
public abstract class EventContract extends Contract {

  private static final int BATCH = 16;

  /** A contract; its state lives for one test. */
  protected EventContract() {}

  // E01: exactly once, or in the report

  @Test
  void required_E01_eachEventGoesToExactlyOneUpcall() {
    final Pair pair = Pair.connected(this);

    pair.passive.receives(0, BATCH);
    pair.active.sends(100, BATCH);
    post(pair.passive.evd, "a", "b", "c");
    awaitCount(pair.passive.seen, 2 + BATCH + 3, "request, ESTABLISHED, receives, software");
    awaitCount(pair.active.seen, 1 + BATCH, "ESTABLISHED and sends");
    bench.settle();

    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each receive once; a completion polled twice or dropped between two polls?"))
        .containsExactlyElementsOf(range(0, BATCH));
    assertThat(pair.active.seen.cookies(pair.active.endpoint, Queue.REQUEST))
        .as(why("each send once"))
        .containsExactlyElementsOf(range(100, BATCH));
    assertThat(pair.passive.seen.payloads()).as(why("each SE once")).containsExactly("a", "b", "c");
    assertThat(pair.passive.seen.count()).as(why("nothing else")).isEqualTo(2 + BATCH + 3);
  }

  @Test
  void required_E01_eachEventGoesToExactlyOneDequeue() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();

    pair.arrive(0, BATCH);
    post(pair.passive.evd, "a", "b");
    final int taken = pair.passive.seen.takeAll();

    assertThat(taken).as(why("all that waited, and no more")).isEqualTo(BATCH + 2);
    assertThat(pair.passive.seen.take()).as(why("nothing twice")).isEqualTo(Outcome.QUEUE_EMPTY);
    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each receive once"))
        .containsExactlyElementsOf(range(0, BATCH));
  }

  @Test
  void required_E01_upcallsAndDequeuesShareTheEventsWithoutLossOrRepetition() {
    final Pair pair = Pair.connected(this);
    final Recorder seen = pair.passive.seen;
    final int before = seen.count();

    pair.passive.evd.teardown();
    pair.arrive(0, BATCH);
    for (int i = 0; i < 5; i++) {
      succeeds(seen.take(), "dequeue with completions there");
    }
    seen.at(before + 9, pair.passive.evd::disable);
    pair.passive.enable();
    awaitCount(seen, before + 9, "four by upcall after five by dequeue");
    bench.settle();
    assertThat(seen.takeAll()).as(why("the rest by dequeue")).isEqualTo(BATCH - 9);

    assertThat(seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("one order over all ways to get events"))
        .containsExactlyElementsOf(range(0, BATCH));
  }

  @Test
  void required_E01_whatACloseDropsIsInItsReport() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, "taken", "dropped", "dropped too");
    succeeds(seen.take(), "dequeue with events there");

    final DrainReport report = await(evd.closeAsync(BOUND), "the close of an idle EVD");

    assertThat(seen.payloads()).as(why("handed out")).containsExactly("taken");
    assertThat(report.events())
        .as(why("queued and never handed out: in the report, in order"))
        .extracting(event -> ((SoftwareEvent) event).payload())
        .containsExactly("dropped", "dropped too");
    assertThat(report.requests()).as(why("no posts here")).isEmpty();
  }

  @Test
  void required_E01_aConnectionEventIsInOneReport() {
    final Pair pair = Pair.open(this);
    final Side side = pair.active;
    pair.passive.enable();
    pair.ask();
    await(() -> side.endpoint.state() == EndpointState.CONNECTED, "the connection");

    final DrainReport ofEndpoint = await(side.endpoint.closeAsync(BOUND), "the endpoint's close");
    final DrainReport ofEvd = await(side.evd.closeAsync(BOUND), "the EVD's close");

    assertThat(ofEndpoint.events())
        .as(why("they were not dequeued"))
        .extracting(event -> ((ConnectionEvent) event).kind())
        .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
    assertThat(ofEvd.events()).as(why("they are reported")).isEmpty();
  }

  // E02: order

  @Test
  void required_E02_eachWorkQueueIsFirstInFirstOut() {
    final Pair pair = Pair.connected(this);
    final Endpoint endpoint = pair.active.endpoint;
    final int context = pair.passive.lmr.rmrContext();
    final long address = pair.passive.lmr.address();

    pair.passive.receives(0, 8);
    for (int i = 0; i < 5; i++) {
      succeeds(pair.active.send(3L * i), "a send");
      succeeds(
          endpoint.postRdmaWrite(pair.active.lmr, 0, 64, context, address, 3L * i + 1),
          "an RDMA write");
      succeeds(
          endpoint.postRdmaRead(pair.active.lmr, 64, 64, context, address, 3L * i + 2),
          "an RDMA read");
    }
    await(() -> pair.active.successes(Queue.REQUEST) == 15, "15 requests done");
    await(() -> pair.passive.successes(Queue.RECEIVE) == 5, "5 receives done");

    assertThat(pair.active.seen.cookies(endpoint, Queue.REQUEST))
        .as(why("requests complete in the order of their posts, whatever they are"))
        .containsExactlyElementsOf(range(0, 15));
    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("receives complete in the order of their posts"))
        .containsExactlyElementsOf(range(0, 5));
  }

  @Test
  void required_E02_theOrderSpansManyBatches() {
    final Pair pair = Pair.connected(this);
    final int rounds = 20;

    for (int round = 0; round < rounds; round++) {
      pair.passive.receives(round * BATCH, BATCH);
      pair.active.sends(round * BATCH, BATCH);
      final long due = (round + 1L) * BATCH;
      await(() -> pair.active.successes(Queue.REQUEST) == due, due + " sends done");
      await(() -> pair.passive.successes(Queue.RECEIVE) == due, due + " receives done");
    }

    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("receives in order, each once"))
        .containsExactlyElementsOf(range(0, rounds * BATCH));
    assertThat(pair.active.seen.cookies(pair.active.endpoint, Queue.REQUEST))
        .as(why("sends in order, each once"))
        .containsExactlyElementsOf(range(0, rounds * BATCH));
  }

  @Test
  void required_E02_softwareEventsAreFirstInFirstOut() {
    final Evd evd = softwareEvd(64);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);

    IntStream.range(0, 64).forEach(i -> post(evd, i));
    awaitCount(seen, 64, "all software events");

    assertThat(seen.payloads())
        .as(why("the order of the posts"))
        .containsExactlyElementsOf(IntStream.range(0, 64).mapToObj(i -> (Object) i).toList());
  }

  @Test
  void required_E02_theEventsOfAConnectionKeepTheirOrder() {
    final Pair pair = Pair.connected(this);

    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");

    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("active side"))
        .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
    assertThat(pair.passive.seen.kinds(pair.passive.endpoint))
        .as(why("passive side"))
        .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
  }

  // E03: EVD, stream, source, sequence

  @Test
  void required_E03_everyEventNamesItsEvdStreamAndSource() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;

    side.receives(1, 1);
    pair.active.sends(1, 1);
    post(side.evd, "payload");
    awaitCount(side.seen, 4, "one event of each stream");

    for (final Event event : side.seen.events()) {
      final DatObject source =
          switch (event.stream()) {
            case CONNECTION_REQUEST -> pair.psp;
            case SOFTWARE -> side.evd;
            default -> side.endpoint;
          };
      assertThat(event.evd()).as(why("the EVD that handed it out")).isSameAs(side.evd);
      assertThat(event.source()).as(why("source of " + event.stream())).isSameAs(source);
    }
    assertThat(side.seen.events())
        .as(why("all four streams"))
        .extracting(Event::stream)
        .containsExactlyInAnyOrder(
            EventStream.CONNECTION_REQUEST,
            EventStream.CONNECTION,
            EventStream.DTO,
            EventStream.SOFTWARE);
  }

  @Test
  void required_E03_theSourceIsTheEndpointAlsoWhereManyShareAnEvd() {
    final Pair pair = Pair.connected(this);
    final Endpoint first = pair.passive.endpoint;
    pair.passive.receives(1, 1);
    pair.active.sends(1, 1);
    await(() -> pair.passive.seen.successes(first, Queue.RECEIVE) == 1, "a receive of the first");

    pair.renew();
    pair.connect();
    final Endpoint second = pair.passive.endpoint;
    pair.passive.receives(2, 1);
    pair.active.sends(2, 1);
    await(() -> pair.passive.seen.successes(second, Queue.RECEIVE) == 1, "one of the second");

    assertThat(pair.passive.seen.cookies(first, Queue.RECEIVE))
        .as(why("first"))
        .containsExactly(1L);
    assertThat(pair.passive.seen.cookies(second, Queue.RECEIVE))
        .as(why("second"))
        .containsExactly(2L);
  }

  @Test
  void required_E03_theSequenceIsGaplessOverUpcallsAndDequeues() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);

    post(evd, 0, 1, 2, 3);
    succeeds(seen.take(), "dequeue");
    evd.upcall(seen);
    awaitCount(seen, 4, "the rest by upcalls");
    evd.teardown();
    post(evd, 4, 5);
    assertThat(seen.takeAll()).as(why("two more by drain")).isEqualTo(2);

    assertThat(seen.events())
        .as(why("numbers are given at hand-out: 0, 1, 2 …, one count for all ways out"))
        .extracting(Event::sequence)
        .containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
  }

  // E04: postSoftwareEvent

  @Test
  void required_E04_aFullQueueSaysSoAndQueuesNothing() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(4, EventStream.SOFTWARE);
    final Recorder seen = recorder(evd);
    fill(evd);

    assertThat(evd.postSoftwareEvent("too much"))
        .as(why("as many wait as the EVD is long"))
        .isEqualTo(Outcome.QUEUE_FULL);
    bench.settle();

    assertThat(adapter.asyncEvd().dequeue(new EventHandler() {}))
        .as(why("QUEUE_FULL is no async event"))
        .isEqualTo(Outcome.QUEUE_EMPTY);
    assertThat(seen.takeAll()).as(why("what was refused is not queued")).isEqualTo(evd.length());
    assertThat(seen.payloads()).as(why("not the refused one")).doesNotContain("too much");
  }

  @Test
  void required_E04_aFullQueueLeavesTheEvdUnharmed() {
    final Evd evd = softwareEvd(2);
    final Recorder seen = recorder(evd);
    fill(evd);
    assertThat(evd.postSoftwareEvent("too much")).as(why("full")).isEqualTo(Outcome.QUEUE_FULL);

    succeeds(seen.take(), "dequeue makes room");
    post(evd, "fits again");
    assertThat(evd.postSoftwareEvent("too much")).as(why("full")).isEqualTo(Outcome.QUEUE_FULL);
    evd.upcall(seen);
    awaitCount(seen, evd.length() + 1, "all accepted posts by upcalls");
    post(evd, "and again");
    awaitCount(seen, evd.length() + 2, "a post after the queue was empty");

    assertThat(seen.payloads())
        .as(why("the accepted ones only"))
        .endsWith("fits again", "and again")
        .doesNotContain("too much");
  }

  @Test
  void required_E04_thePayloadIsTheConsumersOwnObject() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    final Object payload = new Object();

    post(evd, payload);
    post(evd, (Object) null);
    assertThat(seen.takeAll()).as(why("both")).isEqualTo(2);

    assertThat(seen.payloads().get(0)).as(why("by reference")).isSameAs(payload);
    assertThat(seen.payloads().get(1)).as(why("null is a payload")).isNull();
  }

  // E05: completions cannot overflow

  @Test
  void required_E05_completionsRequestsAndSoftwareEventsHaveRoomEachOnItsOwn() {
    final Pair pair = Pair.open(this, 32, EndpointAttributes.defaults().withMaxDtos(16, 16));
    final Side side = pair.passive;
    fill(side.evd);

    pair.active.enable();
    pair.ask();
    awaitTaking(side.seen, side::established, "a connection, though the lane was full");
    await(pair.active::established, "the connection at the peer");
    fill(side.evd);
    side.receives(0, 16);
    pair.active.receives(100, 16);
    pair.active.sends(0, 16);
    side.sends(100, 16);
    await(() -> pair.active.successes(Queue.REQUEST) == 16, "the peer's sends");
    await(() -> pair.active.successes(Queue.RECEIVE) == 16, "the peer's receives");
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(pair.active::ended, "the end at the peer");
    bench.settle();
    awaitTaking(side.seen, side::ended, "the end here");

    assertThat(side.successes(Queue.RECEIVE)).as(why("no receive was lost")).isEqualTo(16);
    assertThat(side.successes(Queue.REQUEST)).as(why("no send was lost")).isEqualTo(16);
    assertThat(side.seen.payloads()).as(why("no SE was lost")).hasSize(2 * side.evd.length());
    assertThat(side.seen.kinds(side.endpoint))
        .as(why("no connection event was lost"))
        .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
  }

  @Test
  void required_E05_connectionEventsHaveTwoSlotsForEachEndpoint() {
    final EndpointAttributes none = EndpointAttributes.defaults().withMaxDtos(0, 0);
    final Pair pair = Pair.open(this, 1, none);
    final List<Endpoint> actives = new ArrayList<>();
    pair.passive.enable();

    for (int i = 0; i < 4; i++) {
      final Endpoint accepting = pair.passive.endpoint;
      actives.add(pair.active.endpoint);
      pair.ask();
      await(() -> pair.passive.seen.established(accepting), "ESTABLISHED at the passive side");
      accepting.disconnect(Disconnect.ABRUPT);
      await(() -> !pair.passive.seen.terminals(accepting).isEmpty(), "its end");
      bench.settle();
      pair.renew();
    }
    awaitTaking(
        pair.active.seen,
        () -> actives.stream().noneMatch(e -> pair.active.seen.terminals(e).isEmpty()),
        "all ends at the active side");

    for (final Endpoint endpoint : actives) {
      assertThat(pair.active.seen.kinds(endpoint))
          .as(why("both events of each endpoint wait in an EVD of length 1"))
          .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
    }
  }

  @Test
  void required_E05_anEndpointThatDoesNotFitIsRefusedAndChangesNothing() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(40, EventStream.DTO, EventStream.CONNECTION);
    final ProtectionZone pz = adapter.createPz();
    final EndpointAttributes defaults = EndpointAttributes.defaults();
    final int rest = evd.length() - 32;
    adapter.createEndpoint(pz, evd, defaults.withMaxDtos(16, 16));

    noRoom(() -> adapter.createEndpoint(pz, evd, defaults.withMaxDtos(rest + 1, 0)));
    noRoom(() -> adapter.createEndpoint(pz, evd, defaults.withMaxDtos(0, rest + 1)));

    assertThat(adapter.createEndpoint(pz, evd, defaults.withMaxDtos(rest, 0)))
        .as(why("the refused ones took no room: what is left can be had to the last slot"))
        .isNotNull();
    noRoom(() -> adapter.createEndpoint(pz, evd, defaults.withMaxDtos(1, 0)));
  }

  @Test
  void required_E05_aRefusalByOneEvdTakesNoRoomInTheOther() {
    final InterfaceAdapter adapter = bench.open();
    final Evd large = adapter.createEvd(16, EventStream.DTO, EventStream.CONNECTION);
    final Evd small = adapter.createEvd(1, EventStream.DTO);
    final ProtectionZone pz = adapter.createPz();
    final EndpointAttributes defaults = EndpointAttributes.defaults();
    final int all = large.length();
    final int tooMany = small.length() + 1;

    noRoom(
        () -> adapter.createEndpoint(pz, large, small, large, defaults.withMaxDtos(all, tooMany)));
    noRoom(
        () -> adapter.createEndpoint(pz, small, large, large, defaults.withMaxDtos(tooMany, all)));

    assertThat(adapter.createEndpoint(pz, large, defaults.withMaxDtos(all, 0)))
        .as(why("the EVD that had room has all of it still"))
        .isNotNull();
  }

  @Test
  void required_E05_theRoomReturnsWhenTheEndpointIsClosed() {
    final Pair pair = Pair.open(this, 32, EndpointAttributes.defaults().withMaxDtos(16, 16));
    pair.connect();
    pair.passive.evd.teardown();
    pair.arrive(0, BATCH);
    noRoom(pair.passive::newEndpoint);

    pair.passive.endpoint.close();

    assertThat(pair.passive.newEndpoint())
        .as(why("its completions were swept by the close, so its room is free"))
        .isNotNull();
  }

  @Test
  void required_E05_aReceiveBeyondTheEndpointsOwnCountIsNotPosted() {
    final Pair pair = Pair.open(this, 64, EndpointAttributes.defaults().withMaxDtos(4, 4));
    pair.passive.receives(0, 4);

    assertThat(pair.passive.receive(4))
        .as(why("four receives are open, as many as the endpoint may have"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    final DrainReport report = await(pair.passive.endpoint.closeAsync(BOUND), "the close");

    assertThat(report.requests())
        .as(why("the refused one was not posted"))
        .extracting(DrainReport.Request::cookie)
        .containsExactly(0L, 1L, 2L, 3L);
  }

  @Test
  void required_E05_aRequestCountsUntilItsCompletionWasHandedOut() {
    final Pair pair = Pair.open(this, 64, EndpointAttributes.defaults().withMaxDtos(8, 4));
    pair.connect();
    pair.active.evd.teardown();
    pair.passive.receives(0, 8);
    pair.active.sends(0, 4);
    await(() -> pair.passive.successes(Queue.RECEIVE) == 4, "the arrival of four sends");
    bench.settle();

    assertThat(pair.active.send(4))
        .as(why("done is not handed out: their completions still wait in the EVD"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    await(() -> pair.active.seen.take() == Outcome.SUCCESS, "a completion");

    assertThat(pair.active.send(4)).as(why("one handed out, one free")).isEqualTo(Outcome.SUCCESS);
    assertThat(pair.active.send(5))
        .as(why("one handed out, one free, no more"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
  }

  @Test
  void required_E05_insideItsUpcallACompletionIsHandedOut() {
    final Pair pair = Pair.open(this, 64, EndpointAttributes.defaults().withMaxDtos(8, 1));
    pair.connect();
    final Side side = pair.active;
    final int before = side.seen.count();
    pair.passive.receives(0, 2);

    side.seen.at(before + 1, () -> succeeds(side.send(1), "the slot of send 0 is free again"));
    side.sends(0, 1);
    awaitCount(side.seen, before + 2, "two sends through one slot");

    assertThat(side.seen.cookies(side.endpoint, Queue.REQUEST))
        .as(why("both sent"))
        .containsExactly(0L, 1L);
  }

  @Test
  void required_E05_suppressedRequestsAreFreedByALaterCompletionOfTheirQueue() {
    final Pair pair = Pair.open(this, 64, EndpointAttributes.defaults().withMaxDtos(8, 4));
    pair.connect();
    pair.passive.receives(0, 8);
    final Side side = pair.active;

    side.sends(0, 3, CompletionFlags.SUPPRESS);
    side.sends(3, 1);
    await(() -> side.successes(Queue.REQUEST) == 1, "the completion of the fourth");
    side.sends(4, 4);
    await(() -> side.successes(Queue.REQUEST) == 5, "the completions of the last four");

    assertThat(side.seen.cookies(side.endpoint, Queue.REQUEST))
        .as(why("no event for suppressed successes"))
        .containsExactly(3L, 4L, 5L, 6L, 7L);
    assertThat(side.evd.statistics().suppressed()).as(why("but they count")).isEqualTo(3);
  }

  // E06: connection requests that find no room

  @Test
  void required_E06_aRequestThatFindsItsEvdFullIsRefusedAndReported() {
    final Pair pair = Pair.open(this, 1, EndpointAttributes.defaults().withMaxDtos(0, 0));
    final List<AsyncEvent> reports = new CopyOnWriteArrayList<>();
    pair.passive.adapter.asyncEvd().upcall(keeping(reports));
    pair.active.enable();
    final int tries = 4;
    final List<Endpoint> actives = new ArrayList<>();
    for (int i = 0; i < tries; i++) {
      actives.add(pair.active.endpoint);
      pair.ask();
      pair.renewActive();
    }
    final Recorder seen = pair.active.seen;
    await(
        () -> actives.stream().filter(e -> !seen.terminals(e).isEmpty()).count() == tries - 1,
        "the refusal of all requests but the one that the EVD has room for");

    pair.passive.enable();
    await(() -> pair.passive.established(), "the one that had room");
    await(() -> counted(reports) >= tries - 1, "reports of all that had none");
    bench.settle();
    assertThat(actives.stream().flatMap(e -> seen.terminals(e).stream()))
        .as(why("the library refused them, not the consumer"))
        .containsOnly(Kind.NON_PEER_REJECTED);
    assertThat(reports)
        .allMatch(report -> report.kind() == AsyncEvent.Kind.EVD_OVERFLOW)
        .allMatch(report -> report.source() == pair.passive.evd)
        .allMatch(report -> report.reason().contains(pair.passive.evd.name()));
    assertThat(counted(reports)).as(why("each of them is counted once")).isEqualTo(tries - 1);
  }

  private static long counted(final List<AsyncEvent> reports) {
    return reports.stream().mapToLong(AsyncEvent::count).sum();
  }

  @Test
  void required_E06_aRefusedRequestLeavesNothingBehind() {
    final Pair pair = Pair.open(this, 1, EndpointAttributes.defaults().withMaxDtos(0, 0));
    pair.active.enable();
    final int tries = 5;
    final List<Endpoint> actives = new ArrayList<>();
    for (int i = 0; i < tries; i++) {
      actives.add(pair.active.endpoint);
      pair.ask();
      pair.renewActive();
    }
    await(
        () -> actives.stream().filter(pair.active::ended).count() == tries - 1,
        "the refusal of all requests but the one that the EVD has room for");
    pair.passive.enable();
    await(() -> pair.passive.established(), "the one that had room");

    actives.forEach(Endpoint::close);
    pair.passive.endpoint.close();
    pair.psp.close();
    pair.passive.evd.close();
    pair.passive.lmr.close();
    pair.passive.pz.close();
    pair.passive.adapter.close(); // is refused while a request lives
  }

  // E07: the async EVD

  @Test
  void required_E07_peersCannotFillTheAsyncEvd() {
    final Pair pair = Pair.open(this, 1, EndpointAttributes.defaults().withMaxDtos(0, 0));
    pair.active.enable();
    final int tries = 100; // more than the async EVD is long
    final List<Endpoint> actives = new ArrayList<>();
    for (int i = 0; i < tries; i++) {
      actives.add(pair.active.endpoint);
      pair.ask();
      await(
          () -> actives.stream().filter(e -> !pair.active.ended(e)).count() == 1,
          "the refusal of all requests but the first");
      pair.renewActive();
    }
    bench.settle();

    final List<AsyncEvent> reports = new ArrayList<>();
    while (pair.passive.adapter.asyncEvd().dequeue(keeping(reports)) == Outcome.SUCCESS) {}
    assertThat(reports).as(why("one slot for each live object and kind")).hasSize(1);
    assertThat(reports.get(0).count()).as(why("it counts")).isEqualTo(tries - 1);
  }

  private static EventHandler keeping(final List<AsyncEvent> reports) {
    return new EventHandler() {
      @Override
      public void onAsync(final AsyncEvent event) {
        reports.add(event.copy());
      }
    };
  }

  // E08: resize

  @Test
  void required_E08_aLongerEvdHasRoomAtOnceAndKeepsTheOrder() {
    final Evd evd = softwareEvd(2);
    final Recorder seen = recorder(evd);
    post(evd, 1, 2);
    assertThat(evd.postSoftwareEvent(3)).as(why("full")).isEqualTo(Outcome.QUEUE_FULL);

    evd.resize(4);

    assertThat(evd.length()).as(why("resized")).isEqualTo(4);
    post(evd, 3, 4);
    assertThat(evd.postSoftwareEvent(5)).as(why("full")).isEqualTo(Outcome.QUEUE_FULL);
    evd.upcall(seen);
    awaitCount(seen, 4, "what was there before and after");
    assertThat(seen.payloads()).as(why("in order")).containsExactly(1, 2, 3, 4);
  }

  @Test
  void required_E08_aShorterEvdMustHoldWhatWaits() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    post(evd, 1, 2, 3, 4);

    refused(ReturnType.INVALID_STATE, "resize below what waits", () -> evd.resize(3));
    assertThat(evd.length()).as(why("unchanged")).isEqualTo(4);
    succeeds(seen.take(), "dequeue");
    evd.resize(3);
    evd.resize(3);
    assertThat(evd.postSoftwareEvent(5)).as(why("full")).isEqualTo(Outcome.QUEUE_FULL);
    refused(ReturnType.INVALID_PARAMETER, "resize to nothing", () -> evd.resize(0));
    refused(
        ReturnType.INSUFFICIENT_RESOURCES,
        "resize beyond the device",
        () -> evd.resize(Integer.MAX_VALUE));

    assertThat(seen.takeAll()).as(why("nothing was lost")).isEqualTo(3);
    assertThat(seen.payloads()).as(why("in order")).containsExactly(1, 2, 3, 4);
  }

  @Test
  void required_E08_aLongerEvdHasRoomForMoreEndpoints() {
    final Pair pair = Pair.open(this, 32, EndpointAttributes.defaults().withMaxDtos(16, 16));
    pair.connect();
    pair.passive.evd.teardown();
    pair.arrive(0, BATCH);
    noRoom(pair.passive::newEndpoint);

    pair.passive.evd.resize(64);
    refused(
        ReturnType.INVALID_STATE,
        "resize below what is reserved",
        () -> {
          pair.passive.newEndpoint();
          pair.passive.evd.resize(63);
        });

    pair.passive.enable();
    awaitCount(pair.passive.seen, 2 + BATCH, "what waited while the EVD was resized");
    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("in order"))
        .containsExactlyElementsOf(range(0, BATCH));
  }

  // E09: flyweight and copy

  @Test
  void required_E09_useAfterTheReturnFailsAndNamesCopy() {
    assumeTrue(EventContract.class.desiredAssertionStatus(), "needs -ea");
    final Pair pair = Pair.open(this);
    final List<Event> kept = new ArrayList<>();
    pair.passive.seen.each(kept::add);
    pair.connect();
    pair.passive.receives(1, 1);
    pair.active.sends(1, 1);
    post(pair.passive.evd, "payload");
    awaitCount(pair.passive.seen, 4, "one event of each stream");
    pair.passive.evd.teardown();

    assertThat(kept).as(why("a flyweight of each stream")).hasSize(4);
    for (final Event event : kept) {
      assertThatThrownBy(event::sequence)
          .as(why("use after the return"))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("copy()");
      assertThatThrownBy(event::evd).as(why("evd()")).isInstanceOf(AssertionError.class);
      assertThatThrownBy(event::source).as(why("source()")).isInstanceOf(AssertionError.class);
      assertThatThrownBy(event::copy).as(why("copy()")).isInstanceOf(AssertionError.class);
    }
  }

  @Test
  void required_E09_alsoADequeuedEventIsValidOnlyUntilItsHandlerReturns() {
    assumeTrue(EventContract.class.desiredAssertionStatus(), "needs -ea");
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    final AtomicReference<Event> kept = new AtomicReference<>();
    seen.each(kept::set);
    post(evd, "payload");

    succeeds(seen.take(), "dequeue");

    assertThatThrownBy(((SoftwareEvent) kept.get())::payload)
        .as(why("use after the return"))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("copy()");
  }

  @Test
  void required_E09_anEventStaysValidWhileItsHandlerDequeuesAnother() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    final List<Object> afterwards = new CopyOnWriteArrayList<>();
    seen.each(
        event -> {
          if (event.sequence() == 0) {
            succeeds(seen.take(), "dequeue inside the upcall");
            afterwards.add(event.sequence());
            afterwards.add(((SoftwareEvent) event).payload());
          }
        });
    post(evd, "outer", "inner");

    evd.upcall(seen);
    awaitCount(seen, 2, "one by upcall, one by dequeue inside");
    await(() -> afterwards.size() == 2, "the end of the outer upcall");

    assertThat(afterwards)
        .as(why("one flyweight for both overwrites the outer event"))
        .containsExactly(0L, "outer");
  }

  @Test
  void required_E09_aCopyLivesForEver() {
    final Pair pair = Pair.open(this);
    final List<Event> copies = new ArrayList<>();
    final List<String> original = new ArrayList<>();
    final List<String> printed = new ArrayList<>();
    pair.passive.seen.each(
        event -> {
          copies.add(event.copy());
          original.add(text(event));
          if (event instanceof DtoCompletion) {
            printed.add(event.toString());
          }
        });
    pair.connect();
    pair.passive.receives(1, 8);
    pair.active.sends(1, 8);
    post(pair.passive.evd, "payload");
    awaitCount(pair.passive.seen, 11, "events of each stream");
    pair.passive.evd.teardown();

    assertThat(copies.stream().map(EventContract::text))
        .as(why("a copy says what the event said, after any number of events"))
        .containsExactlyElementsOf(original);
    assertThat(copies.stream().map(Event::copy).map(EventContract::text))
        .as(why("so does a copy of a copy"))
        .containsExactlyElementsOf(original);
    assertThat(copies.stream().filter(DtoCompletion.class::isInstance).map(Event::toString))
        .as(why("and when it is printed"))
        .containsExactlyElementsOf(printed);
    assertThat(printed)
        .as(why("a completion says whose it is, which, and how it went"))
        .hasSize(8)
        .allMatch(line -> line.contains("DTO from " + pair.passive.endpoint.name()))
        .allMatch(line -> line.matches(".*cookie=[1-8] SUCCESS .*"));
  }

  // E11: the stash

  @Test
  void required_E11_aHandlerThatDisablesItselfInMidBatchLeavesTheRestToDequeue() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    final int before = seen.count();

    seen.at(before + 3, pair.passive.evd::disable);
    pair.passive.enable();
    awaitCount(seen, before + 3, "three of sixteen");
    bench.settle();
    assertThat(seen.count() - before)
        .as(why("disable takes effect before the next event, also in mid-batch"))
        .isEqualTo(3);

    for (int i = 3; i < BATCH; i++) {
      succeeds(seen.take(), "event " + i + " was polled already: it waits in the stash");
    }
    assertThat(seen.take()).as(why("no more than there were")).isEqualTo(Outcome.QUEUE_EMPTY);
    allReceivesInOrder(pair, BATCH);
  }

  @Test
  void required_E11_enablingOnAnyAfterADisableInMidBatchDeliversTheRest() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    final int before = seen.count();
    seen.at(before + 3, pair.passive.evd::disable);
    pair.passive.enable();
    awaitCount(seen, before + 3, "three of sixteen");
    bench.settle();

    pair.passive.evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
    awaitCount(seen, before + BATCH, "the stash counts as events that are there");

    allReceivesInOrder(pair, BATCH);
  }

  @Test
  void required_E11_enablingOnNewAfterADisableInMidBatchWaitsForTheNextEvent() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    final int before = seen.count();
    seen.at(before + 3, pair.passive.evd::disable);
    pair.passive.enable();
    awaitCount(seen, before + 3, "three of sixteen");
    bench.settle();

    pair.passive.evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();
    assertThat(seen.count() - before).as(why("old events cause no upcall")).isEqualTo(3);
    pair.passive.receives(BATCH, 1);
    pair.active.sends(BATCH, 1);
    awaitCount(seen, before + BATCH + 1, "the next arrival covers the stash");

    allReceivesInOrder(pair, BATCH + 1);
  }

  @Test
  void required_E11_afterTheStashWasDequeuedUpcallsGoOn() {
    for (final Invoke when : Invoke.values()) {
      final Pair pair = batchAtHand();
      final Recorder seen = pair.passive.seen;
      final int before = seen.count();
      seen.at(before + 3, pair.passive.evd::disable);
      pair.passive.enable();
      awaitCount(seen, before + 3, "three of sixteen");
      bench.settle();
      assertThat(seen.takeAll()).as(why("the rest")).isEqualTo(BATCH - 3);

      pair.passive.evd.upcall(seen, Concurrency.SINGLE_INSTANCE, when);
      pair.passive.receives(BATCH, BATCH);
      pair.active.sends(BATCH, BATCH);
      awaitCount(seen, before + 2 * BATCH, when + ": the next batch by upcalls");

      allReceivesInOrder(pair, 2 * BATCH);
    }
  }

  @Test
  void required_E11_aPartlyDequeuedBatchIsAheadOfWhatArrivesLater() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    for (int i = 0; i < 5; i++) {
      succeeds(seen.take(), "a completion is there");
    }

    pair.passive.receives(BATCH, 5);
    pair.active.sends(BATCH, 5);
    await(() -> pair.active.successes(Queue.REQUEST) == BATCH + 5, "five more sends");
    bench.settle();
    pair.passive.enable();
    await(() -> pair.passive.successes(Queue.RECEIVE) == BATCH + 5, "all 21 receives");

    allReceivesInOrder(pair, BATCH + 5);
  }

  @Test
  void required_E11_changingToNotifyInMidBatchKeepsTheRest() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    final int before = seen.count();
    final AtomicInteger told = new AtomicInteger();

    seen.at(
        before + 3,
        () -> pair.passive.evd.notifyOnce(evd -> told.incrementAndGet(), Invoke.ON_ANY));
    pair.passive.enable();
    await(() -> told.get() == 1, "onReady: the rest of the batch is there");
    bench.settle();

    assertThat(seen.count() - before).as(why("no event is pushed any more")).isEqualTo(3);
    assertThat(seen.takeAll()).as(why("the rest is there to dequeue")).isEqualTo(BATCH - 3);
    allReceivesInOrder(pair, BATCH);
  }

  @Test
  void required_E11_changingThePolicyToAndFroInMidBatchLosesNothing() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    final Evd evd = pair.passive.evd;
    final int before = seen.count();

    for (int k = 1; k < BATCH; k += 2) {
      seen.at(
          before + k,
          () -> {
            evd.disable();
            evd.upcall(seen);
          });
    }
    evd.upcall(seen);
    awaitCount(seen, before + BATCH, "the whole batch");

    allReceivesInOrder(pair, BATCH);
  }

  @Test
  void required_E11_closingTheEndpointSweepsTheStash() {
    final Pair pair = batchAtHand();
    final Recorder seen = pair.passive.seen;
    final int before = seen.count();
    seen.at(before + 3, pair.passive.evd::disable);
    pair.passive.enable();
    awaitCount(seen, before + 3, "three of sixteen");
    bench.settle();

    final DrainReport report = await(pair.passive.endpoint.closeAsync(BOUND), "the close");
    seen.takeAll();

    assertThat(report.requests())
        .as(why("what was polled and not handed out is in the report, in order, as SUCCESS"))
        .extracting(DrainReport.Request::cookie)
        .containsExactlyElementsOf(range(3, BATCH - 3));
    assertThat(report.requests())
        .as(why("they were done"))
        .allMatch(request -> request.status() == DrainReport.Status.SUCCESS);
    allReceivesInOrder(pair, 3);
  }

  private Pair batchAtHand() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();
    pair.arrive(0, BATCH);
    return pair;
  }

  private void allReceivesInOrder(final Pair pair, final int count) {
    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each receive exactly once, in order"))
        .containsExactlyElementsOf(range(0, count));
  }

  private void fill(final Evd evd) {
    for (int i = 0; i < evd.length(); i++) {
      post(evd, i);
    }
  }

  private void noRoom(final ThrowingCallable creation) {
    refused(
        ReturnType.INSUFFICIENT_RESOURCES,
        ReturnSubtype.RESOURCE_TEVD,
        "an endpoint whose requests do not fit into its EVD",
        creation);
  }

  private static String text(final Event event) {
    final String common =
        event.stream()
            + " "
            + event.sequence()
            + " "
            + event.source().name()
            + " "
            + event.evd().name();
    return switch (event.stream()) {
      case DTO -> {
        final DtoCompletion dto = (DtoCompletion) event;
        final DtoOperation operation = dto.operation();
        final DtoStatus status = dto.status();
        yield "%s %s %d %s %s %d %d %s"
            .formatted(
                common,
                operation,
                dto.cookie(),
                dto.context(),
                status,
                dto.transferredLength(),
                dto.vendorError(),
                dto.endpoint().name());
      }
      case CONNECTION -> {
        final ConnectionEvent connection = (ConnectionEvent) event;
        yield common
            + connection.kind()
            + connection.endpoint().name()
            + connection.privateData().remaining();
      }
      case CONNECTION_REQUEST -> {
        final ConnectionRequestEvent request = (ConnectionRequestEvent) event;
        yield common + request.servicePoint().name() + request.request().name();
      }
      case SOFTWARE -> common + ((SoftwareEvent) event).payload();
      default -> common;
    };
  }
}
