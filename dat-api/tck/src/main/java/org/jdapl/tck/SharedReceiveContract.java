package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DrainReport.Status;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.Segments;
import org.jdapl.dat.SharedReceiveQueue;
import org.junit.jupiter.api.Test;

/** The rules of all sections, for endpoints that share their receives. */
public abstract class SharedReceiveContract extends Contract {

  private static final int DEPTH = 16;

  /** A contract; its state lives for one test. */
  protected SharedReceiveContract() {}

  private Pair sharing() {
    final Pair pair = Pair.open(this);
    pair.passive.share(DEPTH);
    return pair;
  }

  /** One more connection, beside those there are. */
  private void connectAnother(final Pair pair) {
    pair.renew();
    pair.ask();
    await(() -> pair.active.established() && pair.passive.established(), "one more connection");
  }

  private void send(final Pair pair, final Endpoint from, final int first, final int count) {
    final long before = pair.active.seen.successes(from, Queue.REQUEST);
    for (int i = first; i < first + count; i++) {
      succeeds(from.postSend(pair.active.lmr, 0, Side.MESSAGE, i), "a send");
    }
    await(
        () -> pair.active.seen.successes(from, Queue.REQUEST) == before + count,
        "the success of " + count + " sends");
    bench.settle();
  }

  private void isOpen(final Side side, final int receives, final String what) {
    assertThat(side.srq.openReceives()).as(why(what)).isEqualTo(receives);
  }

  /** As many receives can be posted as are not open, and no more. */
  private void hasRoomForTheRest(final Side side, final int openReceives) {
    isOpen(side, openReceives, "posted, and neither handed out nor given back");
    side.receives(100, DEPTH - openReceives);
    assertThat(side.receive(200)).as(why("full")).isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
  }

  // E: events

  @Test
  void required_E01_eachSharedReceiveGoesToTheEndpointThatTookIt() {
    final Pair pair = sharing().connect();
    final List<Endpoint> from = new ArrayList<>(List.of(pair.active.endpoint));
    final List<Endpoint> to = new ArrayList<>(List.of(pair.passive.endpoint));
    for (int i = 1; i < 4; i++) {
      connectAnother(pair);
      from.add(pair.active.endpoint);
      to.add(pair.passive.endpoint);
    }
    pair.passive.receives(0, DEPTH);

    int sent = 0;
    for (int i = 0; i < from.size(); i++) {
      send(pair, from.get(i), sent, i + 1);
      sent += i + 1;
    }
    await(() -> pair.passive.seen.completions().size() == 10, "a receive for each send");

    for (int i = 0; i < to.size(); i++) {
      assertThat(pair.passive.seen.cookies(to.get(i), Queue.RECEIVE))
          .as(why("of sender " + i + ", in the order the receives were posted"))
          .containsExactlyElementsOf(range(i * (i + 1) / 2, i + 1));
    }
    hasRoomForTheRest(pair.passive, DEPTH - sent);
  }

  @Test
  void required_E02_theReceivesOfAnEndpointAreInOrderThoughOthersTakeSomeBetween() {
    final Pair pair = sharing().connect();
    final Endpoint first = pair.passive.endpoint;
    final Endpoint firstSender = pair.active.endpoint;
    connectAnother(pair);
    pair.passive.receives(0, DEPTH);

    for (int i = 0; i < DEPTH / 2; i++) {
      succeeds(firstSender.postSend(pair.active.lmr, 0, 8, i), "a send");
      succeeds(pair.active.send(i), "a send");
    }
    await(() -> pair.passive.seen.completions().size() == DEPTH, "all receives");

    for (final Endpoint endpoint : List.of(first, pair.passive.endpoint)) {
      assertThat(pair.passive.seen.cookies(endpoint, Queue.RECEIVE))
          .as(why("as they were posted"))
          .hasSize(DEPTH / 2)
          .isSorted();
    }
  }

  @Test
  void required_E05_aSharedQueueTakesRoomOncePerReceiveEvd() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(DEPTH + 8, EventStream.DTO, EventStream.CONNECTION);
    final Evd other = adapter.createEvd(DEPTH - 1, EventStream.DTO);
    final ProtectionZone pz = adapter.createPz();
    final SharedReceiveQueue srq = adapter.createSrq(pz, DEPTH, 1);
    final EndpointAttributes four = EndpointAttributes.defaults().withMaxDtos(16, 4);

    final Endpoint first = adapter.createEndpoint(pz, evd, evd, evd, srq, four);
    final Endpoint second = adapter.createEndpoint(pz, evd, evd, evd, srq, four);
    noRoom(() -> adapter.createEndpoint(pz, evd, evd, evd, srq, four));
    noRoom(() -> adapter.createEndpoint(pz, other, evd, evd, srq, four.withMaxDtos(0, 0)));
    first.close();
    final Endpoint third = adapter.createEndpoint(pz, evd, evd, evd, srq, four);
    noRoom(() -> adapter.createEndpoint(pz, evd, four.withMaxDtos(1, 0)));
    second.close();
    third.close();

    assertThat(adapter.createEndpoint(pz, evd, four.withMaxDtos(DEPTH, 8)))
        .as(why("the last endpoint that shared gave the room back, all of it"))
        .isNotNull();
  }

  private void noRoom(final org.assertj.core.api.ThrowableAssert.ThrowingCallable create) {
    refused(
        ReturnType.INSUFFICIENT_RESOURCES,
        ReturnSubtype.RESOURCE_TEVD,
        "more completions than fit",
        create);
  }

  @Test
  void required_E05_aReceiveBeyondTheSharedQueuesCountIsNotPosted() {
    final Pair pair = sharing().connect();
    pair.passive.evd.teardown();
    pair.passive.receives(0, DEPTH);
    assertThat(pair.passive.receive(DEPTH))
        .as(why("as many are open as may be"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    send(pair, pair.active.endpoint, 0, 3);

    assertThat(pair.passive.receive(DEPTH))
        .as(why("done is not handed out: their completions still wait in the EVD"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    succeeds(pair.passive.seen.take(), "a completion is there");

    succeeds(pair.passive.receive(DEPTH), "one handed out, one free");
    assertThat(pair.passive.receive(DEPTH))
        .as(why("no more"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
  }

  @Test
  void required_E05_aSharedQueueGrowsAsFarAsItsEvdsHaveRoom() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(DEPTH + 8, EventStream.DTO, EventStream.CONNECTION);
    final Evd other = adapter.createEvd(DEPTH + 4, EventStream.DTO);
    final ProtectionZone pz = adapter.createPz();
    final SharedReceiveQueue srq = adapter.createSrq(pz, DEPTH, 1);
    final EndpointAttributes four = EndpointAttributes.defaults().withMaxDtos(16, 4);
    final Endpoint first = adapter.createEndpoint(pz, evd, evd, evd, srq, four);
    final Endpoint second =
        adapter.createEndpoint(pz, other, evd, evd, srq, four.withMaxDtos(0, 0));

    noRoom(() -> srq.resize(DEPTH + 5));
    assertThat(srq.maxReceives()).as(why("refused, unchanged")).isEqualTo(DEPTH);
    srq.resize(DEPTH + 4);
    assertThat(srq.maxReceives()).as(why("it fits exactly")).isEqualTo(DEPTH + 4);
    noRoom(() -> adapter.createEndpoint(pz, evd, four.withMaxDtos(1, 0)));
    srq.resize(DEPTH - 4);
    adapter.createEndpoint(pz, evd, four.withMaxDtos(4, 4)).close();
    noRoom(() -> adapter.createEndpoint(pz, evd, four.withMaxDtos(9, 0)));
    first.close();
    second.close();

    assertThat(adapter.createEndpoint(pz, evd, four.withMaxDtos(DEPTH, 8)))
        .as(why("all room was given back"))
        .isNotNull();
    srq.resize(10 * DEPTH);
    assertThat(srq.maxReceives()).as(why("nobody shares it")).isEqualTo(10 * DEPTH);
  }

  @Test
  void required_E05_aSharedQueueTakesAsManyReceivesAsItIsMadeFor() {
    final Pair pair = sharing().connect();
    pair.passive.receives(0, 6);
    for (final int to : new int[] {6, 40, 8, 7, 64}) {
      pair.passive.srq.resize(to);

      final int room = to - pair.passive.srq.openReceives();
      pair.passive.receives(100, room);
      assertThat(pair.passive.receive(200))
          .as(why("full at " + to))
          .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
      send(pair, pair.active.endpoint, 0, Math.max(1, Math.min(16, to - 6)));
      for (int left = to - 6 - 16; left > 0; left -= 16) {
        send(pair, pair.active.endpoint, 0, Math.min(16, left));
      }
      final int left = Math.min(6, to - 1);
      await(() -> pair.passive.srq.openReceives() == left, "all but " + left + ", taken");
    }
  }

  @Test
  void required_E05_aSmallerSharedQueueCountsWhatIsNotHandedOut() {
    final Pair pair = sharing().connect();
    pair.passive.evd.teardown();
    pair.passive.srq.resize(DEPTH / 2);
    pair.passive.receives(0, DEPTH / 2);
    send(pair, pair.active.endpoint, 0, 3);

    succeeds(pair.passive.seen.take(), "a completion is there");

    succeeds(pair.passive.receive(DEPTH), "one handed out, one free");
    assertThat(pair.passive.receive(DEPTH))
        .as(why("though the device has room for those that were polled"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
  }

  @Test
  void required_E05_resizesLoseNoReceive() {
    final Pair pair = sharing().connect();
    pair.passive.receives(0, 8);
    int posted = 8;
    for (int round = 0; round < 30; round++) {
      pair.passive.srq.resize(8 + round * 7 % 40);
      for (int i = 0; i < 4; i++) {
        succeeds(pair.active.send(i), "a send");
      }
      final int sent = 4 * (round + 1);
      await(() -> pair.passive.seen.completions().size() == sent, "their receives");
      await(() -> pair.active.seen.completions().size() == sent, "their completions");
      pair.passive.receives(posted, 4);
      posted += 4;
    }

    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each, in the order they were posted"))
        .containsExactlyElementsOf(range(0, 120));
    isOpen(pair.passive, 8, "the last ones");
  }

  @Test
  void required_R01_aSharedQueueIsNotResizedBelowWhatIsInIt() {
    final Side side = sharing().passive;
    side.receives(0, 5);
    side.srq.lowWatermark(3);
    final int most = side.adapter.attributes().maxReceivesPerSrq();

    refused(ReturnType.INVALID_STATE, "five are open", () -> side.srq.resize(4));
    refused(ReturnType.INVALID_PARAMETER, "no room at all", () -> side.srq.resize(0));
    refused(
        ReturnType.INSUFFICIENT_RESOURCES,
        ReturnSubtype.RESOURCE_SRQ,
        "more than there may be",
        () -> side.srq.resize(most + 1));
    assertThat(side.srq.maxReceives()).as(why("unchanged")).isEqualTo(DEPTH);
    side.srq.resize(5);
    refused(ReturnType.INVALID_PARAMETER, "above what it takes", () -> side.srq.lowWatermark(6));
    hasRoomOf(side, 5);
    side.endpoint.close();
    side.srq.close();
    refused(ReturnType.INVALID_HANDLE, "closed", () -> side.srq.resize(7));
  }

  private void hasRoomOf(final Side side, final int receives) {
    assertThat(side.receive(200)).as(why("full")).isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    isOpen(side, receives, "full");
  }

  @Test
  void required_T13_aWatermarkIsNotAboveTheSizeOfItsQueue() {
    final Side side = sharing().passive;
    side.receives(0, 10);
    side.srq.lowWatermark(9);

    refused(ReturnType.INVALID_STATE, "ten are open", () -> side.srq.resize(9));
    side.srq.resize(10);
    assertThat(side.srq.lowWatermark()).as(why("it stays")).isEqualTo(9);
  }

  @Test
  void required_E05_aSharedQueueIsRefilledFromItsUpcallsWithoutEnd() {
    final Pair pair = sharing();
    pair.passive.seen.each(
        event -> {
          if (event instanceof DtoCompletion receive && receive.status() == DtoStatus.SUCCESS) {
            succeeds(pair.passive.receive(receive.cookie() + DEPTH), "the slot is free again");
          }
        });
    pair.connect();
    pair.passive.receives(0, DEPTH);

    for (int round = 0; round < 20; round++) {
      send(pair, pair.active.endpoint, 8 * round, 8);
    }
    await(() -> pair.passive.successes(Queue.RECEIVE) == 160, "ten times through the queue");
    await(() -> pair.passive.srq.openReceives() == DEPTH, "refilled");

    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each receive once"))
        .hasSize(160)
        .doesNotHaveDuplicates();
  }

  @Test
  void required_E05_endpointsAtSeveralEvdsShareOneQueueWhileItIsRefilled() {
    final Pair pair = sharing();
    final Evd second = pair.passive.adapter.createEvd(64, EventStream.DTO);
    final Recorder seen = recorder(second);
    final List<Recorder> recorders = List.of(pair.passive.seen, seen);
    for (final Recorder recorder : recorders) {
      recorder.each(
          event -> {
            if (event instanceof DtoCompletion receive && receive.status() == DtoStatus.SUCCESS) {
              succeeds(pair.passive.receive(receive.cookie() + DEPTH), "its slot is free again");
            }
          });
    }
    pair.connect();
    second.upcall(seen);
    final Endpoint firstSender = pair.active.endpoint;
    pair.renewActive();
    pair.passive.endpoint = atReceiveEvd(pair.passive, second);
    pair.ask();
    await(() -> pair.active.established() && pair.passive.established(), "a second connection");
    pair.passive.receives(0, DEPTH);

    final int rounds = 25;
    final int half = DEPTH / 2; // more than the depth at once might find no receive
    for (int round = 1; round <= rounds; round++) {
      for (int i = 0; i < half; i++) {
        succeeds(firstSender.postSend(pair.active.lmr, 0, Side.MESSAGE, i), "a send");
      }
      pair.active.sends(0, half);
      final int all = round * DEPTH;
      await(
          () -> recorders.stream().mapToInt(r -> r.completions().size()).sum() == all,
          "a receive for each send of round " + round);
      await(() -> pair.active.seen.completions().size() == all, "their own completions");
    }

    final List<Long> cookies = new ArrayList<>();
    recorders.forEach(r -> r.completions().forEach(c -> cookies.add(c.cookie())));
    assertThat(seen.completions()).as(why("those of the second")).hasSize(rounds * half);
    assertThat(cookies).as(why("each receive once")).doesNotHaveDuplicates();
    await(() -> pair.passive.srq.openReceives() == DEPTH, "refilled"); // after it was recorded
  }

  private static Endpoint atReceiveEvd(final Side side, final Evd receiveEvd) {
    return side.adapter.createEndpoint(
        side.pz, receiveEvd, side.evd, side.evd, side.srq, EndpointAttributes.defaults());
  }

  // M: merge order

  @Test
  void required_M02_establishedPrecedesTheFirstSharedReceive() {
    final Pair pair = sharing();
    pair.active.seen.connection(
        event -> {
          if (event.kind() == ConnectionEvent.Kind.ESTABLISHED) {
            pair.active.sends(0, 4);
          }
        });
    pair.passive.receives(0, DEPTH);
    pair.active.enable();
    pair.passive.enable();
    for (int i = 0; i < 3; i++) {
      pair.ask();
      final int expected = 4;
      await(() -> pair.passive.successes(Queue.RECEIVE) == expected, "four receives");
      final List<Event> events = of(pair.passive, pair.passive.endpoint);
      assertThat(events.get(0)).as(why("first: " + events)).isInstanceOf(ConnectionEvent.class);
      pair.passive.receives(0, 4);
      pair.renew();
    }
  }

  private static List<Event> of(final Side side, final Endpoint endpoint) {
    return side.seen.events().stream().filter(event -> event.source() == endpoint).toList();
  }

  @Test
  void required_M03_sharedSuccessesPrecedeTheEndThoughThePeerDisconnectsAtOnce() {
    for (int count = 0; count <= DEPTH; count += 4) {
      final Pair pair = sharing().connect();
      pair.passive.receives(0, DEPTH);

      pair.active.sends(0, count);
      pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
      await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
      bench.settle();

      successesThenTheEnd(pair.passive, count);
      hasRoomForTheRest(pair.passive, DEPTH - count);
    }
  }

  private void successesThenTheEnd(final Side side, final int count) {
    final List<Event> events = of(side, side.endpoint);
    assertThat(events.subList(1, count + 1))
        .as(why("as many successes as the peer sent, behind ESTABLISHED: " + side.seen))
        .allMatch(e -> e instanceof DtoCompletion c && c.status() == DtoStatus.SUCCESS);
    assertThat(events)
        .as(why("and the end behind them: " + side.seen))
        .hasSize(count + 2)
        .last()
        .isInstanceOf(ConnectionEvent.class);
  }

  @Test
  void required_M03_sharedSuccessesPrecedeTheEndAlsoForADequeuingConsumer() {
    final Pair pair = sharing().connect();
    pair.passive.evd.teardown();
    pair.passive.receives(0, DEPTH);

    pair.active.sends(0, 12);
    pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
    await(pair.active::ended, "the end at the active side");
    bench.settle();
    awaitTaking(pair.passive.seen, pair.passive::ended, "the end, by dequeue");

    successesThenTheEnd(pair.passive, 12);
  }

  @Test
  void required_M03_theEndOfASharingEndpointNeedsNoMessage() {
    final Pair pair = sharing().connect();

    pair.passive.endpoint.disconnect(Disconnect.ABRUPT);
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");

    assertThat(pair.passive.seen.terminals(pair.passive.endpoint)).as(why("once")).hasSize(1);
  }

  @Test
  void required_M05_nothingOfADeadEndpointGoesToTheNextOneOfItsSharedQueue() {
    final Pair pair = sharing().connect();
    pair.passive.receives(0, DEPTH);
    for (int round = 0; round < 6; round++) {
      final Endpoint dead = pair.passive.endpoint;
      pair.passive.evd.teardown();
      send(pair, pair.active.endpoint, 0, 3);
      final int delivered = pair.passive.seen.cookies(dead, Queue.RECEIVE).size();

      final DrainReport report = await(dead.closeAsync(BOUND), "the close");
      pair.renew();
      pair.passive.enable();
      pair.ask();
      await(() -> pair.active.established() && pair.passive.established(), "the next one");
      bench.settle();

      assertThat(pair.passive.seen.cookies(dead, Queue.RECEIVE)).hasSize(delivered);
      assertThat(cookies(report, Queue.RECEIVE)).as(why("what it took")).hasSize(3);
      assertThat(of(pair.passive, pair.passive.endpoint))
          .as(why("the next one has received nothing"))
          .hasSize(1);
      pair.passive.receives(round, 3);
    }
  }

  // T: teardown

  @Test
  void required_T02_eachSharedPostIsDeliveredReportedOrStillThere() {
    for (int rounds = 0; rounds < 12; rounds++) {
      final Pair pair = sharing().connect();
      pair.passive.receives(0, DEPTH);
      pair.active.sends(0, 12);
      final int[] looks = {rounds};
      await(() -> looks[0]-- == 0, "some of what the sends do");

      final DrainReport report = await(pair.passive.endpoint.closeAsync(BOUND), "the close");

      final List<Long> done = outcomes(pair.passive, report, Queue.RECEIVE);
      assertThat(done)
          .as(why("taken in the order of the posts, each once: " + pair.passive.seen + report))
          .containsExactlyElementsOf(range(0, done.size()));
      hasRoomForTheRest(pair.passive, DEPTH - done.size());
    }
  }

  @Test
  void required_T02_closeInsideTheUpcallOfASharedReceiveAccountsForAllPosts() {
    final Pair pair = sharing();
    final List<DrainReport> reports = new CopyOnWriteArrayList<>();
    pair.passive.seen.each(
        event -> {
          if (event instanceof DtoCompletion completion && completion.cookie() == 3) {
            completion.endpoint().closeAsync(BOUND).thenAccept(reports::add);
          }
        });
    pair.connect();
    pair.passive.receives(0, DEPTH);
    pair.active.sends(0, 12);
    await(() -> !reports.isEmpty(), "the close");

    final List<Long> done = outcomes(pair.passive, reports.get(0), Queue.RECEIVE);
    assertThat(done).as(why("each once")).containsExactlyElementsOf(range(0, done.size()));
    hasRoomForTheRest(pair.passive, DEPTH - done.size());
  }

  @Test
  void required_T04_whatAnEndpointDidNotTakeIsTakenByTheOthers() {
    final Pair pair = sharing().connect();
    final Endpoint first = pair.passive.endpoint;
    pair.passive.receives(0, DEPTH);
    send(pair, pair.active.endpoint, 0, 3);

    final DrainReport report = await(first.closeAsync(BOUND), "the close");
    connectAnother(pair);
    send(pair, pair.active.endpoint, 3, DEPTH - 3);
    await(() -> pair.passive.successes(Queue.RECEIVE) == DEPTH - 3, "all that it had left");

    assertThat(report.requests()).as(why("its receives were delivered")).isEmpty();
    assertThat(pair.passive.seen.cookies(first, Queue.RECEIVE))
        .as(why("what it took"))
        .containsExactlyElementsOf(range(0, 3));
    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("all that it had left"))
        .containsExactlyElementsOf(range(3, DEPTH - 3));
    hasRoomForTheRest(pair.passive, 0);
  }

  @Test
  void required_T04_whatAnEndpointTookAndNobodyGotIsInTheReport() {
    final Pair pair = sharing().connect();
    pair.passive.evd.teardown();
    final Object context = new Object();
    succeeds(
        pair.passive.srq.postReceive(
            new Segments(1).add(pair.passive.lmr, 0, Side.MESSAGE), 70, context),
        "a receive");
    pair.passive.receives(1, DEPTH - 1);
    send(pair, pair.active.endpoint, 0, 3);

    final DrainReport report = await(pair.passive.endpoint.closeAsync(BOUND), "the close");

    assertThat(requests(report, Queue.RECEIVE))
        .as(why("what came, and nothing of what nobody took"))
        .containsExactly(
            new DrainReport.Request(Queue.RECEIVE, 70, context, Status.SUCCESS),
            new DrainReport.Request(Queue.RECEIVE, 1, null, Status.SUCCESS),
            new DrainReport.Request(Queue.RECEIVE, 2, null, Status.SUCCESS));
    hasRoomForTheRest(pair.passive, DEPTH - 3);
  }

  @Test
  void required_T04_anEndpointThatNeverConnectedLeavesTheSharedQueueAsItIs() {
    final Pair pair = sharing();
    pair.passive.receives(0, 5);

    final DrainReport report = await(pair.passive.endpoint.closeAsync(BOUND), "the close");

    assertThat(report.requests()).as(why("it took none")).isEmpty();
    hasRoomForTheRest(pair.passive, 5);
  }

  @Test
  void required_T04_closeOfOneDoesNotDisturbTheOthers() {
    final Pair pair = sharing().connect();
    final Endpoint first = pair.passive.endpoint;
    final Endpoint firstSender = pair.active.endpoint;
    connectAnother(pair);
    pair.passive.receives(0, DEPTH);

    firstSender.postSend(pair.active.lmr, 0, Side.MESSAGE, 0);
    final var closing = first.closeAsync(BOUND);
    pair.active.sends(0, 12);
    await(closing, "the close");
    await(() -> pair.passive.successes(Queue.RECEIVE) == 12, "all messages of the other one");

    assertThat(pair.passive.seen.terminals(pair.passive.endpoint)).as(why("it stands")).isEmpty();
  }

  @Test
  void required_T05_receivesOfCompletionsThatACloseSweptAreFreeAgain() {
    final Pair pair = sharing().connect();
    for (int round = 0; round < 5; round++) {
      pair.passive.evd.teardown();
      pair.passive.receives(0, DEPTH);
      send(pair, pair.active.endpoint, 0, DEPTH);

      await(pair.passive.endpoint.closeAsync(BOUND), "the close");

      isOpen(pair.passive, 0, "all swept");
      pair.passive.enable();
      connectAnother(pair);
    }
  }

  @Test
  void required_T10_abruptCloseOfAnAdapterEndsSharedQueuesToo() {
    final Pair pair = sharing().connect();
    connectAnother(pair);
    pair.passive.receives(0, DEPTH);
    pair.active.sends(0, 4);

    pair.passive.adapter.closeAbruptly(BOUND);

    closed(() -> pair.passive.receive(0));
    await(pair.active::ended, "the end at the peer");
  }

  // T13: the low watermark

  private List<AsyncEvent> asyncOf(final Side side) {
    final List<AsyncEvent> events = new CopyOnWriteArrayList<>();
    side.adapter
        .asyncEvd()
        .upcall(
            new EventHandler() {
              @Override
              public void onAsync(final AsyncEvent event) {
                events.add(event.copy());
              }
            });
    return events;
  }

  private void told(final List<AsyncEvent> events, final int times, final String what) {
    await(() -> events.size() >= times, what);
    bench.settle();
    assertThat(events).as(why(what)).hasSize(times);
    assertThat(events.stream().mapToLong(AsyncEvent::count).sum()).as(why(what)).isEqualTo(times);
    assertThat(events)
        .as(why("what it is"))
        .allMatch(event -> event.kind() == AsyncEvent.Kind.SRQ_LOW_WATERMARK)
        .allMatch(event -> event.source() instanceof SharedReceiveQueue);
  }

  @Test
  void required_T13_theLowWatermarkIsToldOfOnceForEachTimeItIsSet() {
    final Pair pair = sharing().connect();
    final List<AsyncEvent> events = asyncOf(pair.passive);
    pair.passive.receives(0, DEPTH);
    pair.passive.srq.lowWatermark(12);

    send(pair, pair.active.endpoint, 0, 4);
    told(events, 0, "twelve are left, not fewer");
    send(pair, pair.active.endpoint, 4, 1);
    told(events, 1, "eleven are left");
    send(pair, pair.active.endpoint, 5, 4);
    told(events, 1, "fewer and fewer, but it was told");
    pair.passive.srq.lowWatermark(4);
    send(pair, pair.active.endpoint, 9, 3);
    told(events, 1, "four are left");
    send(pair, pair.active.endpoint, 12, 2);
    told(events, 2, "the new watermark");
  }

  @Test
  void required_T13_aWatermarkThatIsReachedAlreadyIsToldOfAtOnce() {
    final Pair pair = sharing().connect();
    final List<AsyncEvent> events = asyncOf(pair.passive);
    pair.passive.receives(0, 4);

    pair.passive.srq.lowWatermark(5);
    told(events, 1, "four are left");
    pair.passive.receives(4, DEPTH - 4);
    send(pair, pair.active.endpoint, 0, DEPTH);
    told(events, 1, "it was told");
    pair.passive.srq.lowWatermark(1);
    told(events, 2, "none is left");
  }

  @Test
  void required_T13_aWatermarkIsToldOfThoughNobodyTakesTheCompletions() {
    final Pair pair = sharing().connect();
    final List<AsyncEvent> events = asyncOf(pair.passive);
    pair.passive.evd.teardown();
    pair.passive.receives(0, DEPTH);
    pair.passive.srq.lowWatermark(10);

    send(pair, pair.active.endpoint, 0, 8);

    told(events, 1, "what was taken is not left, handed out or not");
  }

  @Test
  void required_T13_aWatermarkMayBeTakenBack() {
    final Pair pair = sharing().connect();
    final List<AsyncEvent> events = asyncOf(pair.passive);
    pair.passive.receives(0, DEPTH);
    pair.passive.srq.lowWatermark(12);
    pair.passive.srq.lowWatermark(0);

    send(pair, pair.active.endpoint, 0, DEPTH);

    told(events, 0, "nobody asked");
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG1,
        "a watermark above the depth",
        () -> pair.passive.srq.lowWatermark(DEPTH + 1));
  }

  // R: errors

  private void closed(final org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
    refused(ReturnType.INVALID_HANDLE, ReturnSubtype.INVALID_HANDLE_SRQ, "it is closed", call);
  }

  @Test
  void required_R02_aClosedSharedQueueIsAnInvalidHandle() {
    final Pair pair = sharing();
    final Side side = pair.passive;
    side.receives(0, 3);
    side.endpoint.close();

    side.srq.close();
    side.srq.close();

    closed(() -> side.receive(0));
    closed(() -> side.srq.lowWatermark(1));
    closed(side::newEndpoint);
    assertThat(side.srq.maxReceives()).as(why("what it was")).isEqualTo(DEPTH);
    side.lmr.close();
    side.pz.close();
  }

  @Test
  void required_R01_misuseOfASharedQueueIsRefusedAndNamesTheReason() {
    final Pair pair = sharing();
    final Side side = pair.passive;
    side.receives(0, 1);

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_SRQ_IN_USE,
        "closing it under an endpoint",
        side.srq::close);
    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_LMR_IN_USE,
        "closing the memory of an open receive",
        side.lmr::close);
    refused(
        ReturnType.INVALID_STATE,
        "a receive for one endpoint",
        () -> side.endpoint.postReceive(side.lmr, 0, 8, 0));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_PZ,
        "another zone",
        () -> inAnotherZone(side));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_SRQ,
        "a queue of another adapter",
        () -> ofAnotherAdapter(pair));
    refused(
        ReturnType.LENGTH_ERROR,
        "a segment outside of its region",
        () -> side.srq.postReceive(side.lmr, side.lmr.length(), 1, 0));
    isOpen(side, 1, "nothing was posted");
  }

  private static Endpoint inAnotherZone(final Side side) {
    return side.adapter.createEndpoint(
        side.adapter.createPz(),
        side.evd,
        side.evd,
        side.evd,
        side.srq,
        EndpointAttributes.defaults());
  }

  private static Endpoint ofAnotherAdapter(final Pair pair) {
    final Side side = pair.active;
    return side.adapter.createEndpoint(
        side.pz, side.evd, side.evd, side.evd, pair.passive.srq, EndpointAttributes.defaults());
  }

  @Test
  void required_R01_sizesOfASharedQueueAreChecked() {
    final Pair pair = Pair.open(this);
    final InterfaceAdapter adapter = pair.active.adapter;
    final ProtectionZone pz = pair.active.pz;

    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG2,
        "no receives",
        () -> adapter.createSrq(pz, 0, 1));
    refused(
        ReturnType.INVALID_PARAMETER,
        ReturnSubtype.INVALID_ARG3,
        "no segments",
        () -> adapter.createSrq(pz, 1, 0));
    refused(
        ReturnType.INSUFFICIENT_RESOURCES,
        ReturnSubtype.RESOURCE_SRQ,
        "more than any device has",
        () -> adapter.createSrq(pz, Integer.MAX_VALUE, 1));
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_PZ,
        "a zone of another adapter",
        () -> adapter.createSrq(pair.passive.pz, 1, 1));
    Stream.of(1, 2, 17).map(depth -> adapter.createSrq(pz, depth, 2)).forEach(this::holdsItsDepth);
  }

  private void holdsItsDepth(final SharedReceiveQueue srq) {
    final Segments none = new Segments(2);
    IntStream.range(0, srq.maxReceives())
        .forEach(i -> succeeds(srq.postReceive(none, i, null), "a receive within the depth"));
    assertThat(srq.postReceive(none, 0, null))
        .as(why("full"))
        .isEqualTo(Outcome.INSUFFICIENT_RESOURCES);
    srq.close();
  }
}
