package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jdapl.dat.Cno;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnSubtype;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.SoftwareEvent;
import org.jdapl.dat.UpcallPolicy;
import org.junit.jupiter.api.Test;

/** Section W: waiting, as far as one thread can tell. */
public abstract class WaitContract extends Contract {

  /** Long enough for what must happen. */
  private static final Duration LONG = Duration.ofSeconds(10);

  /** Long enough to see that nothing happens. */
  private static final Duration SHORT = Duration.ofMillis(5);

  /** A contract; its state lives for one test. */
  protected WaitContract() {}

  // W01: the threshold

  @Test
  void required_W01_anAwaitHandsOutTheOldestAndTellsHowManyRemain() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, "a", "b", "c");

    succeeds(seen.await(3, Duration.ZERO), "an await for the three that are there");

    assertThat(seen.payloads()).as(why("one, the oldest")).containsExactly("a");
    assertThat(evd.remaining()).as(why("the others")).isEqualTo(2);
    assertThat(seen.takeAll()).as(why("the others are there")).isEqualTo(2);
  }

  @Test
  void required_W01_tooFewAreNotEnough() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, "a", "b");

    timesOut(seen, 3, SHORT);
    assertThat(evd.remaining()).as(why("both are left")).isEqualTo(2);
    post(evd, "c");
    succeeds(seen.await(3, SHORT), "an await once there are three");

    assertThat(seen.takeAll()).as(why("the other two")).isEqualTo(2);
  }

  @Test
  void required_W01_theThresholdIsWithinTheLength() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    postMany(evd, 4);

    for (final int threshold : new int[] {0, -1, 5, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
      refused(
          ReturnType.INVALID_PARAMETER,
          ReturnSubtype.INVALID_ARG2,
          "threshold " + threshold,
          () -> seen.await(threshold, Duration.ZERO));
    }
    succeeds(seen.await(4, Duration.ZERO), "as many as it is long");

    assertThat(seen.takeAll()).as(why("nothing else was taken")).isEqualTo(3);
  }

  @Test
  void required_A06_anAwaitFindsAReceiveThatDoesNotTellOfItself() {
    final Pair pair = Pair.open(this);
    final Evd quiet = pair.passive.hearSolicitedOnly();
    final Recorder heard = recorder(quiet);
    pair.connect();
    timesOut(heard, 1, Duration.ZERO);
    pair.arrive(0, 3);

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EVD_CONFIG_SOLICITED,
        "a threshold of 2, of which one may not tell",
        () -> heard.await(2, Duration.ZERO));
    succeeds(heard.await(1, Duration.ZERO), "an await for one that is there");
    assertThat(quiet.remaining()).as(why("the others")).isEqualTo(2);
    assertThat(heard.takeAll()).as(why("a dequeue finds them too")).isEqualTo(2);

    pair.passive.receives(3, 1);
    pair.active.sends(3, 1, CompletionFlags.SOLICITED_WAIT);
    succeeds(heard.await(1, LONG), "an await that a solicited receive ends");
  }

  @Test
  void required_W01_stashQueueAndLaneCountTogether() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 15);
    succeeds(side.seen.take(), "one of the receives; a batch of them is polled for it");
    post(side.evd, "a", "b");
    pair.arrive(15, 1);

    timesOut(side.seen, 18, SHORT);
    assertThat(side.evd.remaining()).as(why("15 receives, 2 software events")).isEqualTo(17);
    succeeds(side.seen.await(17, LONG), "an await for all of them");
    assertThat(side.evd.remaining()).as(why("one was taken")).isEqualTo(16);

    assertThat(side.seen.takeAll()).as(why("all others")).isEqualTo(16);
    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
        .as(why("in their order"))
        .containsExactlyElementsOf(range(0, 16));
  }

  @Test
  void required_W01_whatMakesNoEventDoesNotCount() {
    final EndpointAttributes two = EndpointAttributes.defaults().withMaxDtos(8, 2);
    final Pair pair = Pair.open(this, 64, two).connect();
    final Side side = pair.active;
    side.evd.teardown();
    pair.passive.receives(0, 8);

    for (int i = 0; i < 6; i++) {
      final int cookie = i;
      await(
          () -> {
            timesOut(side.seen, 1, Duration.ZERO);
            return side.send(cookie, CompletionFlags.SUPPRESS) == Outcome.SUCCESS;
          },
          "room for send " + i + ", which comes as the waits do away with what was suppressed");
    }
    await(() -> pair.passive.successes(Queue.RECEIVE) == 6, "the messages");
    timesOut(side.seen, 1, SHORT);
    assertThat(side.evd.remaining()).as(why("suppressed successes are no events")).isZero();
    side.receives(0, 1);
    pair.passive.sends(0, 1);
    await(() -> pair.passive.successes(Queue.REQUEST) == 1, "a message");
    await(
        () -> {
          timesOut(side.seen, 2, Duration.ZERO);
          return side.send(6, CompletionFlags.SUPPRESS) == Outcome.SUCCESS;
        },
        "room for a send behind it");
    await(() -> pair.passive.successes(Queue.RECEIVE) == 7, "the last message");
    timesOut(side.seen, 2, SHORT);
    assertThat(side.evd.remaining()).as(why("the receive only")).isEqualTo(1);
    succeeds(side.seen.await(1, LONG), "the receive");
  }

  @Test
  void required_W01_eventsOfAClosedEndpointDoNotCount() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 4);
    pair.active.endpoint.disconnect(Disconnect.ABRUPT);
    await(() -> side.endpoint.state() == EndpointState.DISCONNECTED, "the end is known");
    bench.settle();
    timesOut(side.seen, 64, SHORT);
    assertThat(side.evd.remaining()).as(why("four receives and the end")).isGreaterThan(4);

    await(side.endpoint.closeAsync(BOUND), "the close, which sweeps them");
    post(side.evd, "a");
    timesOut(side.seen, 2, SHORT);

    assertThat(side.evd.remaining()).as(why("the others are in the report")).isEqualTo(1);
  }

  @Test
  void required_W01_theEndOfAConnectionCountsThoughItMustWaitForCompletions() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    side.receives(0, 2);
    pair.active.endpoint.disconnect(Disconnect.ABRUPT);

    succeeds(side.seen.await(3, LONG), "two flushes and the end");
    awaitTaking(side.seen, side::ended, "the other two, the end when its order allows it");
    assertThat(side.seen.kinds(side.endpoint))
        .as(why("the end"))
        .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
  }

  @Test
  void required_W01_theEndOfAConnectionCountsWhileItWaits() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    side.receives(0, 2);
    final int before = side.seen.count();
    pair.active.endpoint.disconnect(Disconnect.ABRUPT);
    final List<Integer> left = new ArrayList<>();

    await(
        () -> {
          final boolean isOver = side.endpoint.state() == EndpointState.DISCONNECTED;
          if (isOver && side.seen.take() == Outcome.QUEUE_EMPTY && bench.isVirtual()) {
            timesOut(side.seen, 64, Duration.ZERO);
            left.add(side.evd.remaining());
          }
          return side.seen.count() > before;
        },
        "the first flush or the end");

    assertThat(left).as(why("the end is there, though nothing is handed out")).doesNotContain(0);
  }

  // W02: the deadline

  @Test
  void required_W02_afterATimeoutNothingWasTaken() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);

    timesOut(seen, 1, Duration.ZERO);
    timesOut(seen, 1, SHORT);
    post(evd, "a");
    timesOut(seen, 2, SHORT);

    assertThat(evd.remaining()).as(why("it is there")).isEqualTo(1);
    assertThat(seen.count()).as(why("nobody got it")).isZero();
    succeeds(seen.take(), "a dequeue after a timeout");
  }

  // W03: one waiter

  @Test
  void required_W03_insideAHandlerNothingWaits() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(8, EventStream.SOFTWARE);
    final Evd other = adapter.createEvd(8, EventStream.SOFTWARE);
    final Recorder seen = recorder(evd);
    final List<DatException> refusals = new ArrayList<>();
    seen.each(
        event -> {
          for (final Evd waited : List.of(evd, other)) {
            refusals.add(
                refused(
                    ReturnType.INVALID_STATE,
                    "an await inside a handler",
                    () -> waited.await(new EventHandler() {}, 1, LONG)));
          }
        });
    evd.upcall(seen);
    post(other, "there");
    post(evd, 1);
    awaitCount(seen, 1, "an upcall that tries to wait");
    evd.teardown();
    post(evd, 2);
    succeeds(seen.take(), "a dequeue whose handler tries to wait");
    post(evd, 3);
    succeeds(seen.await(1, LONG), "an await whose handler tries to wait");

    assertThat(refusals).as(why("each time, on both EVDs")).hasSize(6);
    assertThat(refusals.get(0)).as(why("the EVD")).hasMessageContaining(evd.name());
  }

  // W04: what ends a wait

  @Test
  void required_W04_completionsAndConnectionEventsEndAWait() {
    final Pair pair = Pair.open(this);
    final Side active = pair.active;
    final Side passive = pair.passive;
    pair.ask();

    succeeds(passive.seen.await(1, LONG), "the request; it is accepted at once");
    succeeds(active.seen.await(1, LONG), "the active side's ESTABLISHED");
    succeeds(passive.seen.await(1, LONG), "the passive side's ESTABLISHED");
    passive.receives(0, 1);
    active.sends(0, 1);
    succeeds(passive.seen.await(1, LONG), "the receive");
    succeeds(active.seen.await(1, LONG), "the send");
    active.endpoint.disconnect(Disconnect.GRACEFUL);
    succeeds(active.seen.await(1, LONG), "the end");
    succeeds(passive.seen.await(1, LONG), "the end on the other side");

    assertThat(active.established() && passive.established()).as(why("connected")).isTrue();
    assertThat(active.ended() && passive.ended()).as(why("disconnected")).isTrue();
    assertThat(passive.successes(Queue.RECEIVE)).as(why("the message")).isEqualTo(1);
    assertThat(active.successes(Queue.REQUEST)).as(why("the message")).isEqualTo(1);
  }

  @Test
  void required_W04_whatArrivesEndsAWaitThatFollowsADequeue() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();

    for (int round = 0; round < 10; round++) {
      pair.arrive(2 * round, 1);
      assertThat(side.seen.takeAll()).as(why("round " + round)).isEqualTo(1);
      side.receives(2 * round + 1, 1);
      pair.active.sends(2 * round + 1, 1);
      succeeds(side.seen.await(1, LONG), "an await for what comes after the last dequeue");
      await(() -> pair.active.successes(Queue.REQUEST) % 2 == 0, "the success of the second send");
    }

    assertThat(side.successes(Queue.RECEIVE)).as(why("all receives")).isEqualTo(20);
  }

  @Test
  void required_W04_aGracefulDisconnectEndsThoughTheWaiterWantsMore() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    side.evd.teardown();
    pair.passive.receives(0, 1);
    side.sends(0, 1, CompletionFlags.SUPPRESS);
    side.endpoint.disconnect(Disconnect.GRACEFUL);

    timesOut(side.seen, 64, Duration.ofSeconds(1));

    assertThat(side.evd.remaining()).as(why("the end, before the grace is over")).isEqualTo(1);
    succeeds(side.seen.await(1, LONG), "the end");
    assertThat(side.ended()).as(why("it is the end")).isTrue();
  }

  @Test
  void required_W04_anEvdThatIsUnwaitableIsNotWaitedFor() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, "a");
    evd.setUnwaitable();
    evd.setUnwaitable();

    refused(
        ReturnType.INVALID_STATE,
        ReturnSubtype.INVALID_STATE_EVD_UNWAITABLE,
        "an await of an unwaitable EVD",
        () -> seen.await(1, LONG));
    succeeds(seen.take(), "a dequeue of an unwaitable EVD");
    post(evd, "b");
    evd.upcall(seen);
    awaitCount(seen, 2, "an upcall of an unwaitable EVD");
    evd.teardown();
    evd.clearUnwaitable();
    evd.clearUnwaitable();

    post(evd, "c");
    succeeds(seen.await(1, LONG), "an await, now that it is waitable");
  }

  @Test
  void required_W04_anInterruptedThreadGetsNothingAndTheEvdIsUsable() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, "a");

    Thread.currentThread().interrupt();
    final Outcome outcome = seen.await(2, LONG);
    final boolean status = Thread.interrupted();

    assertThat(outcome).as(why("interrupted")).isEqualTo(Outcome.INTERRUPTED_CALL);
    assertThat(status).as(why("the interrupt status is set")).isTrue();
    assertThat(evd.remaining()).as(why("nothing was taken")).isEqualTo(1);
    succeeds(seen.await(1, LONG), "the EVD is usable");
  }

  @Test
  void required_W04_aHandlerThatThrowsLosesItsOwnEventOnly() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final IllegalStateException failure = new IllegalStateException("planned");
    seen.failAt(1, failure);
    post(evd, "a", "b");

    assertThatThrownBy(() -> seen.await(1, LONG)).as(why("thrown on")).isSameAs(failure);
    succeeds(seen.await(1, LONG), "the next event");

    assertThat(seen.payloads()).as(why("both were handed out")).containsExactly("a", "b");
  }

  // W05: the CNO

  @Test
  void required_W05_aTriggerBeforeTheWaitEndsItAtOnceAndOnlyOnce() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = evdOf(adapter, cno);
    final Recorder seen = recorder(evd);
    final List<Evd> told = new ArrayList<>();

    timesOut(cno, Duration.ZERO);
    post(evd, "a");
    succeeds(cno.await(told::add, Duration.ZERO), "a wait after the trigger");
    timesOut(cno, SHORT);
    post(evd, "b");
    succeeds(cno.await(told::add, LONG), "a wait after the next trigger");
    assertThat(seen.takeAll()).as(why("all are there")).isEqualTo(2);

    timesOut(cno, SHORT);
    assertThat(told).as(why("the hint")).containsExactly(evd, evd);
  }

  @Test
  void required_W05_drainingAllEvdsAtEachTriggerYieldsEverything() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final List<Recorder> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(recorder(evdOf(adapter, cno)));
    }
    assertThat(cno.evds()).as(why("all that use it")).hasSize(3);

    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < 3; i++) {
        if (round % (i + 1) == 0) {
          post(cno.evds().get(i), round);
        }
      }
      succeeds(cno.await(hint -> all.forEach(Recorder::takeAll), LONG), "round " + round);
    }

    timesOut(cno, SHORT);
    assertThat(all.get(0).count()).as(why("each round")).isEqualTo(20);
    assertThat(all.get(1).count()).as(why("each second round")).isEqualTo(10);
    assertThat(all.get(2).count()).as(why("each third round")).isEqualTo(7);
  }

  @Test
  void required_W05_completionsTriggerThoughTheCnoCameAfterTheEndpoint() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    final Cno cno = side.adapter.createCno();
    side.evd.cno(cno);
    assertThat(side.evd.cno()).as(why("its CNO")).isSameAs(cno);
    final int before = side.seen.count();
    side.receives(0, 10);

    for (int round = 0; round < 10; round++) {
      succeeds(pair.active.send(round), "a send");
      while (side.seen.count() == before + round) {
        succeeds(cno.await(hint -> side.seen.takeAll(), LONG), "the receive of round " + round);
      }
    }

    assertThat(side.successes(Queue.RECEIVE)).as(why("all receives")).isEqualTo(10);
  }

  @Test
  void required_W05_aCnoThatComesAfterADequeueTellsOfWhatCameAndComes() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    final Cno cno = side.adapter.createCno();
    side.receives(0, 16);

    for (int round = 0; round < 8; round++) {
      final int before = side.seen.count();
      assertThat(side.seen.takeAll()).as(why("nothing came")).isZero();
      pair.active.sends(2 * round, 1);
      await(() -> pair.active.successes(Queue.REQUEST) % 2 == 1, "the success of the first send");
      side.evd.cno(cno);
      while (side.seen.count() == before) {
        succeeds(cno.await(hint -> side.seen.takeAll(), LONG), "a wait for what came");
      }
      pair.active.sends(2 * round + 1, 1);
      while (side.seen.count() == before + 1) {
        succeeds(cno.await(hint -> side.seen.takeAll(), LONG), "a wait for what comes");
      }
      await(() -> pair.active.successes(Queue.REQUEST) % 2 == 0, "the success of the second send");
      side.evd.cno(null);
    }
  }

  @Test
  void required_W05_eventsThatAreThereTriggerWhenTheCnoComes() {
    final InterfaceAdapter adapter = bench.open();
    final Evd evd = adapter.createEvd(8, EventStream.SOFTWARE);
    final Recorder seen = recorder(evd);
    final Cno cno = adapter.createCno();
    final Cno other = adapter.createCno();
    post(evd, "a");

    evd.cno(cno);
    succeeds(cno.await(hint -> {}, Duration.ZERO), "a CNO that comes to an event");
    evd.cno(other);
    succeeds(other.await(hint -> {}, Duration.ZERO), "a CNO that comes instead of another");
    post(evd, "b");
    timesOut(cno, SHORT);
    succeeds(other.await(hint -> seen.takeAll(), Duration.ZERO), "the new one");
    evd.cno(null);
    post(evd, "c");

    timesOut(other, SHORT);
    assertThat(seen.takeAll()).as(why("it is there")).isEqualTo(1);
    cno.close();
    other.close();
  }

  @Test
  void required_W05_anInterruptUsesUpNoTrigger() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = evdOf(adapter, cno);

    Thread.currentThread().interrupt();
    final Outcome outcome = cno.await(hint -> {}, LONG);
    final boolean status = Thread.interrupted();
    post(evd, "a");

    assertThat(outcome).as(why("interrupted")).isEqualTo(Outcome.INTERRUPTED_CALL);
    assertThat(status).as(why("the interrupt status is set")).isTrue();
    succeeds(cno.await(hint -> {}, Duration.ZERO), "the CNO is usable");
  }

  @Test
  void required_W05_aCnoInUseIsNotClosed() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = evdOf(adapter, cno);

    final DatException inUse =
        refused(
            ReturnType.INVALID_STATE,
            ReturnSubtype.INVALID_STATE_CNO_IN_USE,
            "closing a CNO in use",
            cno::close);
    evd.close();
    cno.close();
    cno.close();

    assertThat(inUse).as(why("who uses it")).hasMessageContaining(evd.name());
    refused(
        ReturnType.INVALID_HANDLE,
        ReturnSubtype.INVALID_HANDLE_CNO,
        "waiting on a closed CNO",
        () -> cno.await(hint -> {}, LONG));
  }

  // W06: one way to tell

  @Test
  void required_W06_withAnUpcallEnabledNobodyWaits() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd, 2);

    for (final Runnable enabling : enablings(evd, seen)) {
      enabling.run();
      enabled("an await with an upcall enabled", () -> seen.await(1, LONG));
      evd.teardown();
      timesOut(seen, 1, Duration.ZERO);
    }
  }

  @Test
  void required_W06_afterANotifyUpcallOneMayWait() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final List<UpcallPolicy> inside = new ArrayList<>();
    evd.notifyOnce(ready -> inside.add(ready.policy()), Invoke.ON_ANY);
    post(evd, "a");
    await(() -> evd.policy() == UpcallPolicy.DISABLED, "the upcall");
    bench.settle();

    succeeds(seen.await(1, LONG), "an await in the gap");
    timesOut(seen, 1, SHORT);
    evd.notifyOnce(ready -> inside.add(ready.policy()), Invoke.ON_ANY);
    post(evd, "b");
    await(() -> inside.size() == 2, "the next upcall");
    await(evd.teardownAsync(), "its return");

    succeeds(seen.await(1, LONG), "an await in the next gap");
  }

  @Test
  void required_W06_noSwitchLosesAnEvent() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final int rounds = 12;
    pair.passive.receives(0, rounds);

    for (int round = 0; round < rounds; round++) {
      final int before = side.seen.count();
      if (round % 3 == 0) {
        side.evd.teardown();
        pair.active.sends(round, 1);
        succeeds(side.seen.await(1, LONG), "by await");
      } else if (round % 3 == 1) {
        pair.active.sends(round, 1);
        bench.settle();
        side.evd.upcall(side.seen);
        awaitCount(side.seen, before + 1, "by upcall, what came before it was enabled");
      } else {
        side.evd.teardown();
        timesOut(side.seen, 1, Duration.ZERO);
        side.evd.upcall(side.seen);
        pair.active.sends(round, 1);
        awaitCount(side.seen, before + 1, "by upcall, what came after a wait in vain");
      }
    }

    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
        .as(why("each once, in order"))
        .containsExactlyElementsOf(range(0, rounds));
  }

  @Test
  void required_W06_withAnUpcallEnabledTheCnoIsNotTriggered() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = evdOf(adapter, cno);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);
    post(evd, "a");
    awaitCount(seen, 1, "the upcall");
    bench.settle();

    timesOut(cno, SHORT);
    evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    evd.teardown();
    post(evd, "b");
    succeeds(cno.await(hint -> seen.takeAll(), LONG), "without an upcall");
    assertThat(seen.payloads()).as(why("each once")).containsExactly("a", "b");
  }

  @Test
  void required_W06_goingToDisabledWithEventsQueuedTriggersTheCno() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = evdOf(adapter, cno);
    final Recorder seen = recorder(evd);
    seen.at(1, evd::disable);
    evd.upcall(seen);
    post(evd, "a", "b", "c");
    awaitCount(seen, 1, "the upcall that disables");

    succeeds(cno.await(hint -> seen.takeAll(), LONG), "the rest");
    post(evd, "d");
    evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();
    succeeds(cno.await(hint -> {}, Duration.ZERO), "the trigger of d, before it was enabled");
    evd.teardown();
    succeeds(cno.await(hint -> seen.takeAll(), LONG), "what ON_NEW held back");

    assertThat(seen.payloads()).as(why("each once")).containsExactly("a", "b", "c", "d");
  }

  @Test
  void required_W06_whatAWaitLeavesTriggersTheCno() {
    final InterfaceAdapter adapter = bench.open();
    final Cno cno = adapter.createCno();
    final Evd evd = evdOf(adapter, cno);
    final Recorder seen = recorder(evd);
    post(evd, "a");
    succeeds(cno.await(hint -> {}, Duration.ZERO), "the trigger of the post");

    timesOut(seen, 2, SHORT);
    succeeds(cno.await(hint -> {}, Duration.ZERO), "the wait left it");
    succeeds(seen.await(1, SHORT), "a wait that takes it");
    timesOut(cno, SHORT);
  }

  // W07: the seam

  @Test
  void required_W07_anAwaitDrivesWhatItWaitsFor() {
    final InterfaceAdapter adapter = bench.open();
    final Evd source = adapter.createEvd(8, EventStream.SOFTWARE);
    final Evd target = adapter.createEvd(8, EventStream.SOFTWARE);
    final Recorder seen = recorder(target);
    source.upcall(
        new EventHandler() {
          @Override
          public void onSoftware(final SoftwareEvent event) {
            post(target, event.payload());
          }
        });
    post(source, "passed on");

    succeeds(seen.await(1, LONG), "an await for what another EVD's upcall posts");

    assertThat(seen.payloads()).as(why("the event")).containsExactly("passed on");
  }

  @Test
  void required_W07_aPingpongNeedsNothingButAwaits() {
    final Pair pair = Pair.connected(this);
    pair.active.evd.teardown();
    pair.passive.evd.teardown();
    final int rounds = 50;
    pair.passive.receives(0, 1);

    for (int round = 0; round < rounds; round++) {
      pair.active.receives(round, 1);
      pair.active.sends(round, 1);
      succeeds(pair.passive.seen.await(1, LONG), "the ping of round " + round);
      pair.passive.receives(round + 1, 1);
      pair.passive.sends(round, 1);
      succeeds(pair.active.seen.await(2, LONG), "the pong of round " + round);
      assertThat(pair.active.seen.takeAll()).as(why("the send")).isEqualTo(1);
      succeeds(pair.passive.seen.await(1, LONG), "the passive side's send");
    }

    assertThat(pair.active.seen.cookies(pair.active.endpoint, Queue.RECEIVE))
        .as(why("all pongs"))
        .containsExactlyElementsOf(range(0, rounds));
  }

  private Evd evdOf(final InterfaceAdapter adapter, final Cno cno) {
    final Evd evd = adapter.createEvd(64, EventStream.SOFTWARE);
    evd.cno(cno);
    return evd;
  }

  private void timesOut(final Cno cno, final Duration timeout) {
    assertThat(cno.await(hint -> {}, timeout))
        .as(why("nothing triggered it"))
        .isEqualTo(Outcome.TIMEOUT_EXPIRED);
  }

  private void timesOut(final Recorder seen, final int threshold, final Duration timeout) {
    assertThat(seen.await(threshold, timeout))
        .as(why("fewer than " + threshold + " events are there"))
        .isEqualTo(Outcome.TIMEOUT_EXPIRED);
  }
}
