package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jdapl.dat.CompletionFlags;
import org.jdapl.dat.Concurrency;
import org.jdapl.dat.ConnectionEvent.Kind;
import org.jdapl.dat.ConnectionRequest;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.DtoOperation;
import org.jdapl.dat.DtoStatus;
import org.jdapl.dat.Endpoint.Disconnect;
import org.jdapl.dat.EndpointState;
import org.jdapl.dat.Evd;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Invoke;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.NotifyHandler;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.Privilege;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import org.jdapl.dat.ReturnType;
import org.jdapl.dat.UpcallPolicy;
import org.junit.jupiter.api.Test;

/** Section U: upcalls. */
public abstract class UpcallContract extends Contract {

  private static final int BATCH = 16;

  /** True on a thread that is inside a call that may produce an event. */
  private final ThreadLocal<Boolean> producing = ThreadLocal.withInitial(() -> false);

  /** A contract; its state lives for one test. */
  protected UpcallContract() {}

  // U01: one upcall at a time

  @Test
  void required_U01_oneUpcallAtATimeWhateverSignalsIt() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;

    for (int round = 0; round < 10; round++) {
      side.receives(round * 8, 8);
      pair.active.sends(round * 8, 8);
      post(side.evd, round);
      final long due = 8L * (round + 1);
      await(() -> side.successes(Queue.RECEIVE) == due, due + " receives");
      await(() -> pair.active.successes(Queue.REQUEST) == due, due + " sends");
    }
    awaitCount(side.seen, 2 + 80 + 10, "completions and software events");

    assertThat(side.seen.most()).as(why("CQ and lane feed one serializer")).isEqualTo(1);
  }

  // U02: never on the producer's stack

  @Test
  void required_U02_noUpcallRunsOnTheStackOfAPost() {
    final Pair pair = Pair.connected(this);
    final AtomicInteger onStack = new AtomicInteger();
    pair.active.seen.each(event -> countIfProducing(onStack));
    pair.passive.seen.each(event -> countIfProducing(onStack));
    final int before = pair.active.seen.count() + pair.passive.seen.count();

    produce(() -> pair.passive.receives(0, 4));
    produce(() -> pair.active.sends(0, 4));
    produce(() -> post(pair.passive.evd, "a", "b"));
    nothingYet(before, pair);
    awaitCount(pair.passive.seen, 2 + 4 + 2, "receives and software events");
    awaitCount(pair.active.seen, 1 + 4, "sends");
    produce(() -> pair.active.endpoint.disconnect(Disconnect.ABRUPT));
    await(() -> pair.active.ended() && pair.passive.ended(), "the end on both sides");
    produce(() -> succeeds(pair.active.send(9), "a post to an endpoint that flushes it at once"));
    await(
        () -> pair.active.seen.cookies(pair.active.endpoint, Queue.REQUEST).contains(9L),
        "the flush of a post after the end");

    assertThat(onStack.get())
        .as(why("an upcall on the poster's stack deadlocks a poster that holds its own lock"))
        .isZero();
  }

  @Test
  void required_U02_noUpcallRunsOnTheStackOfAPolicyChange() {
    final Evd evd = softwareEvd(16);
    final Recorder seen = recorder(evd, 2);
    final AtomicInteger onStack = new AtomicInteger();
    final AtomicInteger told = new AtomicInteger();
    seen.each(event -> countIfProducing(onStack));
    final NotifyHandler notified =
        ready -> {
          countIfProducing(onStack);
          told.incrementAndGet();
        };

    post(evd, "a", "b");
    produce(() -> evd.notifyOnce(notified, Invoke.ON_ANY));
    await(() -> told.get() == 1, "onReady");
    produce(() -> evd.upcall(seen));
    awaitCount(seen, 2, "both by upcalls");
    post(evd, "c");
    produce(evd::disable);
    produce(() -> evd.upcall(seen, Concurrency.many(2), Invoke.ON_ANY));
    awaitCount(seen, 3, "the third, with either policy");

    assertThat(onStack.get()).as(why("enabling runs no upcall itself")).isZero();
  }

  @Test
  void required_U02_aPostInsideAnUpcallDoesNotNest() {
    final Evd evd = softwareEvd(16);
    final Recorder seen = recorder(evd);
    final AtomicInteger deep = new AtomicInteger();
    final List<Integer> depths = Collections.synchronizedList(new ArrayList<>());
    seen.each(
        event -> {
          depths.add(deep.incrementAndGet());
          if (event.sequence() < 5) {
            post(evd, event.sequence());
          }
          deep.decrementAndGet();
        });
    evd.upcall(seen);

    post(evd, "start");
    awaitCount(seen, 6, "each event posts the next");

    assertThat(depths).as(why("never an upcall within an upcall")).containsOnly(1);
  }

  // U03: no event is left over

  @Test
  void required_U03_oneEventAtATimeIsAlwaysSeen() {
    final Evd evd = softwareEvd(4);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);

    for (int i = 1; i <= 100; i++) {
      post(evd, i);
      awaitCount(seen, i, "a post to an EVD that just went idle, or is about to");
    }
  }

  @Test
  void required_U03_aPostFromInsideTheUpcallIsSeen() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    seen.each(
        event -> {
          if (event.sequence() < 999) {
            post(evd, event.sequence());
          }
        });
    evd.upcall(seen);

    post(evd, "start");
    awaitCount(seen, 1000, "each upcall posts the next event, nobody else does");
  }

  @Test
  void required_U03_aPostAtTheEndOfATurnIsSeen() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicInteger posted = new AtomicInteger();
    seen.turnEnd(
        () -> {
          if (posted.get() < 100) {
            post(evd, posted.incrementAndGet());
          }
        });
    evd.upcall(seen);

    post(evd, "start");
    awaitCount(seen, 101, "posted after the lane was found empty, before the EVD goes idle");
  }

  @Test
  void required_U03_completionsThatArriveDuringATurnAreSeen() {
    final Pair pair = Pair.connected(this);
    final int rounds = 200;
    echo(pair.active, rounds - 1);
    echo(pair.passive, rounds);
    pair.active.receives(0, 1);
    pair.passive.receives(0, 1);

    pair.active.sends(0, 1);
    await(
        () -> pair.active.successes(Queue.RECEIVE) == rounds,
        "a message to and fro, answered from inside upcalls, nothing else signals");
  }

  @Test
  void required_U03_bothSourcesAtOnceAreSeen() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    for (int round = 0; round < 50; round++) {
      side.receives(round, 1);
      pair.active.sends(round, 1);
      post(side.evd, round);
      awaitCount(side.seen, 2 + 2 * (round + 1), "one completion, one software event each round");
      final long due = round + 1L;
      await(() -> pair.active.successes(Queue.REQUEST) == due, "the send");
    }
  }

  @Test
  void required_U03_enablingCoversWhatArrivedBefore() {
    final Pair pair = Pair.open(this);
    pair.passive.receives(0, 2);
    post(pair.passive.evd, "before");

    pair.connect();
    pair.active.sends(0, 2);

    awaitCount(pair.passive.seen, 1 + 2 + 2, "the post before the enabling, and all since");
  }

  // U04: liveness

  @Test
  void required_U04_atQuiescenceAnEnabledEvdHoldsNoEvent() {
    for (final Concurrency concurrency : List.of(Concurrency.SINGLE_INSTANCE, many(3))) {
      final Evd flooded = softwareEvd(1000);
      postMany(flooded, 1000);
      final Recorder many = recorder(flooded).atMost(concurrency.limit());
      flooded.upcall(many, concurrency, Invoke.ON_ANY);
      awaitCount(many, 1000, "more than one turn takes");

      final Pair pair = Pair.connected(this);
      final Side side = pair.passive;
      final Recorder seen = side.seen;
      side.evd.upcall(seen.atMost(concurrency.limit()), concurrency, Invoke.ON_ANY);

      side.receives(0, BATCH);
      pair.active.sends(0, BATCH);
      post(side.evd, 1, 2, 3);
      pair.active.endpoint.disconnect(Disconnect.GRACEFUL);
      bench.settle();
      await(side::ended, "the end");
      bench.settle();
      side.evd.teardown();

      assertThat(seen.takeAll()).as(why(concurrency + " left events behind")).isZero();
      assertThat(side.successes(Queue.RECEIVE)).as(why("all delivered")).isEqualTo(BATCH);
      assertThat(seen.payloads()).as(why("all delivered")).containsExactly(1, 2, 3);
    }
  }

  // U05: policies

  @Test
  void required_U05_disabledEventsAccumulate() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    assertThat(evd.policy()).as(why("as created")).isEqualTo(UpcallPolicy.DISABLED);

    evd.upcall(seen);
    evd.disable();
    post(evd, 1, 2, 3);
    bench.settle();

    assertThat(seen.count()).as(why("DISABLED: no upcall")).isZero();
    assertThat(evd.policy()).as(why("disabled")).isEqualTo(UpcallPolicy.DISABLED);
    assertThat(seen.takeAll()).as(why("they wait to be dequeued")).isEqualTo(3);
  }

  @Test
  void required_U05_singleInstanceIsHandedTheEvents() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);

    evd.upcall(seen);
    assertThat(evd.policy()).as(why("enabled")).isEqualTo(UpcallPolicy.SINGLE_INSTANCE);
    post(evd, 1, 2, 3);
    awaitCount(seen, 3, "by upcalls");

    assertThat(evd.policy()).as(why("stays enabled")).isEqualTo(UpcallPolicy.SINGLE_INSTANCE);
  }

  @Test
  void required_U05_notifyTellsOnceAndHandsOutNothing() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicInteger told = new AtomicInteger();
    evd.notifyOnce(ready -> told.incrementAndGet(), Invoke.ON_ANY);
    assertThat(evd.policy()).as(why("enabled")).isEqualTo(UpcallPolicy.NOTIFY);

    post(evd, 1);
    await(() -> told.get() == 1, "onReady");
    post(evd, 2, 3);
    bench.settle();

    assertThat(told.get()).as(why("then silence until it is enabled again")).isEqualTo(1);
    assertThat(evd.policy()).as(why("after the upcall")).isEqualTo(UpcallPolicy.DISABLED);
    assertThat(evd.statistics().events()).as(why("no event was handed out")).isZero();
    assertThat(seen.takeAll()).as(why("all are there")).isEqualTo(3);
  }

  @Test
  void required_U05_notifyTellsAgainWhenEnabledAgain() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicInteger told = new AtomicInteger();
    final NotifyHandler handler = ready -> told.incrementAndGet();

    for (int round = 1; round <= 5; round++) {
      final int due = round;
      evd.notifyOnce(handler, Invoke.ON_ANY);
      post(evd, round);
      await(() -> told.get() == due, "onReady of round " + round);
      bench.settle();
      succeeds(seen.take(), "what it was told of");
    }

    assertThat(told.get()).as(why("once for each enabling")).isEqualTo(5);
  }

  @Test
  void required_U05_notifyEnabledInsideTheUpcallTakesEffectOnItsReturn() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicInteger told = new AtomicInteger();
    final AtomicBoolean inside = new AtomicBoolean();
    final AtomicBoolean nested = new AtomicBoolean();
    final NotifyHandler handler =
        new NotifyHandler() {
          @Override
          public void onReady(final Evd ready) {
            nested.compareAndSet(false, inside.getAndSet(true));
            told.incrementAndGet();
            ready.notifyOnce(this, Invoke.ON_ANY);
            seen.take();
            inside.set(false);
          }
        };
    evd.notifyOnce(handler, Invoke.ON_ANY);

    post(evd, 1, 2, 3);
    awaitCount(seen, 3, "one event by each upcall, each of which enabled the next");
    bench.settle();

    assertThat(nested.get()).as(why("not before the return")).isFalse();
    assertThat(told.get()).as(why("an upcall for each, empty ones allowed")).isBetween(3, 10);
    assertThat(evd.policy()).as(why("enabled by the last")).isEqualTo(UpcallPolicy.NOTIFY);
  }

  @Test
  void required_U05_notifyCoversCompletions() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final AtomicInteger told = new AtomicInteger();
    final NotifyHandler handler =
        new NotifyHandler() {
          @Override
          public void onReady(final Evd ready) {
            told.incrementAndGet();
            ready.notifyOnce(this, Invoke.ON_ANY);
            side.seen.takeAll();
          }
        };
    side.evd.notifyOnce(handler, Invoke.ON_ANY);

    for (int round = 0; round < 10; round++) {
      side.receives(round * 4, 4);
      pair.active.sends(round * 4, 4);
      final long due = 4L * (round + 1);
      await(() -> side.successes(Queue.RECEIVE) == due, due + " receives, dequeued in onReady");
      await(() -> pair.active.successes(Queue.REQUEST) == due, due + " sends");
    }

    assertThat(told.get()).as(why("told at least once a round")).isGreaterThanOrEqualTo(10);
  }

  @Test
  void required_U05_manyGivesEachEventToExactlyOneUpcall() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();
    final Evd evd = pair.passive.evd;
    final Recorder seen = pair.passive.seen;
    pair.arrive(0, BATCH);

    evd.upcall(seen.atMost(4), many(4), Invoke.ON_ANY);
    assertThat(evd.policy()).as(why("enabled")).isEqualTo(UpcallPolicy.MANY);
    post(evd, 1, 2, 3);
    awaitCount(seen, 2 + BATCH + 3, "all events");
    bench.settle();
    evd.teardown();

    assertThat(seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each once, numbered in the order of hand-out"))
        .containsExactlyElementsOf(range(0, BATCH));
    assertThat(seen.payloads()).as(why("each once, in order")).containsExactly(1, 2, 3);
  }

  @Test
  void required_U05_teardownLeavesDisabled() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    for (final Runnable enabling : enablings(evd, seen)) {
      enabling.run();

      evd.teardown();

      assertThat(evd.policy()).as(why("after teardown")).isEqualTo(UpcallPolicy.DISABLED);
      post(evd, 1);
      bench.settle();
      succeeds(seen.take(), "no upcall took it");
    }
  }

  @Test
  void required_U05_teardownInsideTheUpcallReturnsAtOnce() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicReference<CompletionStage<Void>> done = new AtomicReference<>();
    final AtomicBoolean early = new AtomicBoolean();
    seen.at(
        2,
        () -> {
          evd.teardown();
          done.set(evd.teardownAsync());
          early.set(done.get().toCompletableFuture().isDone());
        });
    post(evd, 1, 2, 3, 4);

    evd.upcall(seen);
    awaitCount(seen, 2, "the upcall that tears down");
    await(() -> done.get() != null, "the return of teardown inside");
    await(done.get(), "the teardown, after the upcall returned");
    bench.settle();

    assertThat(early.get()).as(why("an upcall was running: the one that asked")).isFalse();
    assertThat(seen.count()).as(why("that upcall was the last")).isEqualTo(2);
    assertThat(evd.policy()).as(why("after teardown")).isEqualTo(UpcallPolicy.DISABLED);
    assertThat(seen.takeAll()).as(why("the rest")).isEqualTo(2);
  }

  // A02: nobody is told

  @Test
  void required_A02_aDequeueOfWhichNobodyIsToldPollsAndDoesNotArm() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    assertThat(side.seen.takeAll()).as(why("nothing is there")).isZero();
    final long arms = side.evd.statistics().arms();

    for (int round = 0; round < 20; round++) {
      pair.arrive(round, 1);
      assertThat(side.seen.takeAll()).as(why("the receive of round " + round)).isEqualTo(1);
    }

    assertThat(side.evd.statistics().arms() - arms)
        .as(why("no upcall, no CNO, no waiter: nobody needs a notification"))
        .isZero();
  }

  // U06: ON_NEW and ON_ANY

  @Test
  void required_U06_onNewLeavesOldEventsOfTheLaneUntilTheNextArrives() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, 1, 2, 3);

    evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();
    assertThat(seen.count()).as(why("old events cause no upcall")).isZero();
    post(evd, 4);
    awaitCount(seen, 4, "the next arrival covers all");

    assertThat(seen.payloads()).as(why("in order")).containsExactly(1, 2, 3, 4);
  }

  @Test
  void required_U06_onNewLeavesOldCompletionsUntilTheNextArrives() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 5);
    final int before = side.seen.count();

    side.evd.upcall(side.seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();
    assertThat(side.seen.count() - before)
        .as(why("old completions cause no upcall; armed over old ones a STRONG device fires"))
        .isZero();
    pair.arrive(5, 1);
    awaitCount(side.seen, before + 6, "the next completion covers all");

    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
        .as(why("in order"))
        .containsExactlyElementsOf(range(0, 6));
  }

  @Test
  void required_U06_anArrivalInOneSourceCoversTheOldEventsOfTheOther() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 5);
    final int before = side.seen.count();
    side.evd.upcall(side.seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();

    post(side.evd, "new");
    awaitCount(side.seen, before + 6, "old completions, new software event");
    side.evd.teardown();
    post(side.evd, "old");
    side.evd.upcall(side.seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();
    assertThat(side.seen.count() - before).as(why("old software event")).isEqualTo(6);
    pair.arrive(5, 1);
    awaitCount(side.seen, before + 8, "old software event, new completion");
  }

  @Test
  void required_U06_onNewOverAnEmptyEvdNeedsNoPollAfterwards() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();

    for (int round = 0; round < 10; round++) {
      final int before = side.seen.count();
      side.evd.upcall(side.seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
      pair.arrive(2 * round, 2);
      awaitCount(side.seen, before + 2, "arrivals after the enabling");
      post(side.evd, round);
      awaitCount(side.seen, before + 3, "and a software event");
      side.evd.teardown();
    }
  }

  @Test
  void required_U06_whoDequeuedAndEnablesIsToldOfWhatCameAndComes() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    for (int round = 0; round < 10; round++) {
      final boolean forNew = round % 2 == 0;
      side.evd.teardown();
      final int before = side.seen.count();
      pair.arrive(4 * round, 1);
      assertThat(side.seen.takeAll()).as(why("what is there")).isEqualTo(1);
      pair.arrive(4 * round + 1, 2);

      side.evd.upcall(
          side.seen, Concurrency.SINGLE_INSTANCE, forNew ? Invoke.ON_NEW : Invoke.ON_ANY);
      if (forNew) {
        bench.settle();
        assertThat(side.seen.count()).as(why("old completions")).isEqualTo(before + 1);
      } else {
        awaitCount(side.seen, before + 3, "what came since the last dequeue");
      }
      pair.arrive(4 * round + 3, 1);
      awaitCount(side.seen, before + 4, "what came since the enabling, and all before it");
    }
  }

  @Test
  void required_U06_onNewHoldsForNotify() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, 3);
    post(side.evd, "old");
    final AtomicInteger told = new AtomicInteger();

    side.evd.notifyOnce(ready -> told.incrementAndGet(), Invoke.ON_NEW);
    bench.settle();
    assertThat(told.get()).as(why("old events cause no upcall")).isZero();
    pair.arrive(3, 1);
    await(() -> told.get() == 1, "onReady for the next arrival");
    bench.settle();

    assertThat(side.seen.takeAll()).as(why("old and new are there")).isEqualTo(5);
  }

  @Test
  void required_U06_onAnyCausesAnUpcallAtOnce() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    final int before = side.seen.count();
    pair.arrive(0, 3);

    side.evd.upcall(side.seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
    awaitCount(side.seen, before + 3, "completions that were there");
    side.evd.teardown();
    post(side.evd, "there");
    side.evd.upcall(side.seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
    awaitCount(side.seen, before + 4, "a software event that was there");
    side.evd.teardown();
    pair.arrive(3, 1);
    final AtomicInteger told = new AtomicInteger();
    side.evd.notifyOnce(ready -> told.incrementAndGet(), Invoke.ON_ANY);
    await(() -> told.get() == 1, "onReady for a completion that was there");
  }

  @Test
  void required_U06_onAnyIsTheDefaultAndLaterArrivalsNeedNoPoll() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();

    for (int round = 0; round < 10; round++) {
      final int before = side.seen.count();
      pair.arrive(4 * round, 2);
      side.evd.upcall(side.seen);
      pair.arrive(4 * round + 2, 2);
      awaitCount(side.seen, before + 4, "two before and two after the enabling");
      side.evd.teardown();
    }
  }

  // U07: the consumer never races an upcall

  @Test
  void required_U07_dequeueOutsideTheUpcallIsRefused() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    for (final Runnable enabling : enablings(evd, seen)) {
      enabling.run();

      enabled("dequeue while an upcall may start", seen::take);
      enabled("drain while an upcall may start", seen::takeAll);

      evd.teardown();
    }
    evd.upcall(seen);
    post(evd, 1);
    awaitCount(seen, 1, "what was refused took nothing");
    enabled("dequeue between upcalls", seen::take);
  }

  @Test
  void required_U07_aRefusedDequeueTakesNothing() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    post(evd, 1, 2);
    evd.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_NEW);
    bench.settle();

    enabled("dequeue with old events there", seen::take);
    enabled("drain with old events there", seen::takeAll);
    post(evd, 3);
    awaitCount(seen, 3, "nothing was taken");

    assertThat(seen.payloads()).as(why("all, in order")).containsExactly(1, 2, 3);
  }

  @Test
  void required_U07_dequeueInsideTheUpcallIsLegal() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final List<Outcome> outcomes = Collections.synchronizedList(new ArrayList<>());
    seen.at(
        1,
        () -> {
          outcomes.add(seen.take());
          outcomes.add(seen.take());
          outcomes.add(seen.take());
        });
    post(evd, 1, 2, 3);

    evd.upcall(seen);
    awaitCount(seen, 3, "one by upcall, two by dequeue inside");
    await(() -> outcomes.size() == 3, "the third dequeue");

    assertThat(outcomes)
        .as(why("the two that were left, then none"))
        .containsExactly(Outcome.SUCCESS, Outcome.SUCCESS, Outcome.QUEUE_EMPTY);
    assertThat(seen.payloads()).as(why("in order")).containsExactly(1, 2, 3);
  }

  @Test
  void required_U07_dequeueInsideAnUpcallOfManyIsLegal() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd, 2);
    final AtomicReference<Outcome> outcome = new AtomicReference<>();
    seen.at(1, () -> outcome.set(seen.take()));
    post(evd, 1, 2, 3);

    evd.upcall(seen, many(2), Invoke.ON_ANY);
    awaitCount(seen, 3, "each event by one upcall or by the dequeue inside");
    await(() -> outcome.get() != null, "the dequeue inside, not refused");

    assertThat(seen.payloads()).as(why("numbered in order")).containsExactly(1, 2, 3);
  }

  @Test
  void required_U07_afterTeardownTheEvdIsTheConsumers() {
    final Pair pair = Pair.connected(this);
    pair.passive.evd.teardown();
    pair.arrive(0, 4);

    succeeds(pair.passive.seen.take(), "dequeue after teardown");
    assertThat(pair.passive.seen.takeAll()).as(why("drain after teardown")).isEqualTo(3);
  }

  @Test
  void required_U07_betweenANotifyUpcallAndItsReenablingTheEvdIsTheConsumers() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicInteger told = new AtomicInteger();
    final NotifyHandler handler = ready -> told.incrementAndGet();
    evd.notifyOnce(handler, Invoke.ON_ANY);
    post(evd, 1, 2);
    await(() -> told.get() == 1, "onReady");
    bench.settle();

    succeeds(seen.take(), "dequeue in the gap");
    succeeds(seen.take(), "another one in the gap");
    evd.notifyOnce(handler, Invoke.ON_ANY);

    enabled("dequeue after the re-enabling", seen::take);
  }

  @Test
  void required_U07_disableTakesEffectBeforeTheNextEvent() {
    for (int k = 1; k <= 4; k++) {
      final int last = k;
      final Evd evd = softwareEvd(8);
      final Recorder seen = recorder(evd);
      seen.at(last, evd::disable);
      post(evd, 1, 2, 3, 4, 5);

      evd.upcall(seen);
      awaitCount(seen, last, "upcalls until the disable");
      bench.settle();

      assertThat(seen.count()).as(why("disabled at event " + last)).isEqualTo(last);
      assertThat(seen.takeAll()).as(why("the rest is there")).isEqualTo(5 - last);
    }
  }

  // U08: everything is allowed inside an upcall

  @Test
  void required_U08_anyPostInsideAnUpcall() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.active;
    final int context = pair.passive.lmr.rmrContext();
    final long address = pair.passive.lmr.address();
    final int before = side.seen.count();
    side.seen.at(
        before + 1,
        () -> {
          side.receives(0, 1);
          side.sends(1, 1);
          succeeds(
              side.endpoint.postRdmaWrite(side.lmr, 0, 8, context, address, 2), "an RDMA write");
          succeeds(side.endpoint.postRdmaRead(side.lmr, 0, 8, context, address, 3), "an RDMA read");
          post(side.evd, "from inside");
        });
    pair.passive.receives(0, 1);

    post(side.evd, "start");
    await(() -> side.successes(Queue.REQUEST) == 3, "all requests posted inside the upcall");
    awaitCount(side.seen, before + 5, "and the software event");
  }

  @Test
  void required_U08_postingToAFullEvdInsideAnUpcallSaysQueueFull() {
    final Evd full = softwareEvd(2);
    final Evd evd = softwareEvd(2);
    final Recorder seen = recorder(evd);
    final List<Outcome> outcomes = Collections.synchronizedList(new ArrayList<>());
    postMany(full, full.length());
    seen.at(
        1,
        () -> {
          outcomes.add(full.postSoftwareEvent("too much"));
          for (int i = 0; i <= evd.length(); i++) {
            outcomes.add(evd.postSoftwareEvent(i));
          }
        });
    evd.upcall(seen);

    post(evd, "start");
    await(() -> outcomes.size() == evd.length() + 2, "QUEUE_FULL instead of waiting for oneself");
    awaitCount(seen, evd.length() + 1, "what was accepted");

    assertThat(outcomes.get(0)).as(why("another EVD, full")).isEqualTo(Outcome.QUEUE_FULL);
    assertThat(outcomes.get(outcomes.size() - 1))
        .as(why("its own EVD, filled from inside"))
        .isEqualTo(Outcome.QUEUE_FULL);
  }

  @Test
  void required_U08_acceptInsideAnUpcall() {
    final Pair pair = Pair.connected(this);

    assertThat(pair.passive.endpoint.state())
        .as(why("accepted inside onRequest"))
        .isEqualTo(EndpointState.CONNECTED);
  }

  @Test
  void required_U08_rejectInsideAnUpcall() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.answer(request -> request.reject(ByteBuffer.wrap(new byte[] {1, 2})));
    pair.active.enable();
    pair.passive.enable();

    pair.ask();
    await(pair.active::ended, "the rejection");

    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("rejected inside onRequest"))
        .containsExactly(Kind.PEER_REJECTED);
  }

  @Test
  void required_U08_connectAndDisconnectInsideAnUpcall() {
    final Pair pair = Pair.open(this);
    pair.active.seen.at(1, pair::ask);
    pair.active.seen.connection(
        event -> {
          if (event.kind() == Kind.ESTABLISHED) {
            event.endpoint().disconnect(Disconnect.GRACEFUL);
          }
        });
    pair.active.enable();
    pair.passive.enable();

    post(pair.active.evd, "start");
    await(() -> pair.active.ended() && pair.passive.ended(), "connected and ended inside upcalls");

    assertThat(pair.active.seen.kinds(pair.active.endpoint))
        .as(why("active side"))
        .containsExactly(Kind.ESTABLISHED, Kind.DISCONNECTED);
  }

  @Test
  void required_U08_policyChangesHereAndElsewhereInsideAnUpcall() {
    final Evd here = softwareEvd(8);
    final Evd there = softwareEvd(8);
    final Recorder seen = recorder(here);
    final Recorder elsewhere = recorder(there);
    post(there, "waits");
    seen.at(
        1,
        () -> {
          there.upcall(elsewhere);
          here.disable();
          here.upcall(seen);
        });
    seen.at(
        2,
        () -> {
          there.disable();
          there.teardown();
          here.teardown();
          here.upcall(seen, Concurrency.SINGLE_INSTANCE, Invoke.ON_ANY);
        });

    here.upcall(seen);
    post(here, 1);
    awaitCount(elsewhere, 1, "enabled from another EVD's upcall");
    post(here, 2);
    awaitCount(seen, 2, "disabled and enabled again inside");
    post(here, 3);
    awaitCount(seen, 3, "torn down and enabled again inside");
    post(there, "waits again");
    bench.settle();

    assertThat(elsewhere.count()).as(why("torn down from another EVD's upcall")).isEqualTo(1);
  }

  @Test
  void required_U08_dequeueOfAnotherDisabledEvdInsideAnUpcall() {
    final Evd here = softwareEvd(8);
    final Evd there = softwareEvd(8);
    final Recorder seen = recorder(here);
    final Recorder elsewhere = recorder(there);
    post(there, "waits");
    final AtomicReference<Outcome> outcome = new AtomicReference<>();
    seen.at(1, () -> outcome.set(elsewhere.take()));

    here.upcall(seen);
    post(here, 1);
    await(() -> outcome.get() != null, "the dequeue inside the upcall");

    assertThat(outcome.get()).as(why("it is the consumer's")).isEqualTo(Outcome.SUCCESS);
  }

  @Test
  void required_U08_closingItsOwnEndpointInsideAnUpcall() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final AtomicReference<CompletionStage<DrainReport>> closing = new AtomicReference<>();
    final AtomicReference<EndpointState> state = new AtomicReference<>();
    side.seen.at(
        side.seen.count() + 1,
        () -> {
          side.endpoint.close();
          state.set(side.endpoint.state());
          closing.set(side.endpoint.closeAsync(BOUND));
        });
    side.receives(0, 8);

    pair.active.sends(0, 1);
    await(() -> closing.get() != null, "close inside the upcall returns at once");
    final DrainReport report = await(closing.get(), "the close completes after the upcall");
    await(pair.active::ended, "the peer sees the end");

    assertThat(state.get()).as(why("sealed at once")).isEqualTo(EndpointState.CLOSED);
    assertThat(report.requests().size() + side.seen.completions().size())
        .as(why("every post has its outcome"))
        .isEqualTo(8);
  }

  @Test
  void required_U08_closingItsOwnEvdInsideAnUpcall() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicReference<CompletionStage<DrainReport>> closing = new AtomicReference<>();
    final AtomicBoolean early = new AtomicBoolean();
    seen.at(
        2,
        () -> {
          closing.set(evd.closeAsync(BOUND));
          early.set(closing.get().toCompletableFuture().isDone());
          evd.close();
        });
    post(evd, 1, 2, 3, 4);

    evd.upcall(seen);
    await(() -> closing.get() != null, "close inside the upcall returns at once");
    final DrainReport report = await(closing.get(), "the close completes after the upcall");
    bench.settle();

    assertThat(early.get()).as(why("its own upcall was running")).isFalse();
    assertThat(seen.count()).as(why("that upcall was the last")).isEqualTo(2);
    assertThat(report.events()).as(why("the rest is in the report")).hasSize(2);
  }

  @Test
  void required_U08_closingAnotherEvdInsideAnUpcall() {
    final Evd here = softwareEvd(8);
    final Evd there = softwareEvd(8);
    final Recorder seen = recorder(here);
    final Recorder elsewhere = recorder(there);
    final AtomicReference<CompletionStage<DrainReport>> closing = new AtomicReference<>();
    there.upcall(elsewhere);
    seen.at(1, () -> closing.set(there.closeAsync(BOUND)));
    here.upcall(seen);

    post(here, 1);
    await(() -> closing.get() != null, "closeAsync inside the upcall returns at once");
    await(closing.get(), "the close of the other EVD");

    refused(ReturnType.INVALID_HANDLE, "a post to it", () -> post(there, 1));
  }

  @Test
  void required_U08_creatingAndClosingObjectsInsideAnUpcall() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    final AtomicBoolean done = new AtomicBoolean();
    final long connQual = connQual();
    side.seen.at(
        side.seen.count() + 1,
        () -> {
          final Evd evd = side.adapter.createEvd(8, EventStream.CONNECTION_REQUEST);
          final PublicServicePoint psp = side.adapter.createPsp(connQual, evd);
          final ProtectionZone pz = side.adapter.createPz();
          final Lmr lmr = pz.createLmr(ByteBuffer.allocateDirect(64), Privilege.LOCAL_READ);
          lmr.close();
          pz.close();
          psp.close();
          pair.psp.close();
          done.set(true);
        });

    post(side.evd, "start");
    await(done::get, "objects created and closed inside an upcall");
  }

  @Test
  void required_U08_answeringARequestFromAnotherUpcallLater() {
    final Pair pair = Pair.open(this);
    final AtomicReference<ConnectionRequest> request = new AtomicReference<>();
    pair.passive.seen.answer(request::set);
    pair.passive.seen.at(2, () -> request.get().accept(pair.passive.endpoint, null));
    pair.active.enable();
    pair.passive.enable();

    pair.ask();
    await(() -> request.get() != null, "the request");
    post(pair.passive.evd, "now");

    await(
        () -> pair.active.established() && pair.passive.established(),
        "accepted in the upcall of a software event");
  }

  // U09: nothing after the end

  @Test
  void required_U09_afterTeardownNothingIsDeliveredThoughThePeerGoesOnSending() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.receives(0, BATCH);
    pair.active.sends(0, 8);

    side.evd.teardown();
    final int atTeardown = side.seen.count();
    pair.active.sends(8, 8);
    await(() -> pair.active.successes(Queue.REQUEST) == BATCH, "the peer's sends");
    bench.settle();

    assertThat(side.seen.count()).as(why("no upcall after teardown")).isEqualTo(atTeardown);
    side.seen.takeAll();
    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
        .as(why("what it held back is there"))
        .containsExactlyElementsOf(range(0, BATCH));
  }

  @Test
  void required_U09_afterCloseNothingIsDeliveredThoughThePeerGoesOnSending() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    pair.psp.close();
    side.receives(0, BATCH);
    pair.active.sends(0, BATCH);

    side.endpoint.close();
    side.evd.close();
    final int atClose = side.seen.count();
    await(pair.active::ended, "the peer's end");
    bench.settle();

    assertThat(side.seen.count()).as(why("no upcall after close")).isEqualTo(atClose);
  }

  // A06: solicited receives

  @Test
  void required_A06_aSolicitedReceiveComesWithAllBeforeItAndAFlushAlone() {
    final Pair pair = Pair.open(this);
    final Evd quiet = pair.passive.hearSolicitedOnly();
    final Recorder heard = recorder(quiet);
    quiet.upcall(heard);
    pair.connect();
    pair.passive.receives(0, 6);

    pair.active.sends(0, 4);
    pair.active.sends(4, 1, CompletionFlags.SOLICITED_WAIT);
    awaitCount(heard, 5, "the solicited receive, behind those that were not");
    pair.active.endpoint.disconnect(Disconnect.ABRUPT);
    awaitCount(heard, 6, "the one that was flushed");

    assertThat(heard.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each once, in order"))
        .containsExactlyElementsOf(range(0, 6));
  }

  // U10: a handler that throws

  @Test
  void required_U10_aThrowingHandlerLosesNothing() {
    for (final Throwable failure :
        List.of(new IllegalStateException("planned"), new AssertionError("planned"))) {
      final Evd evd = softwareEvd(8);
      final Recorder seen = recorder(evd).failAt(2, failure);
      post(evd, 1, 2, 3, 4, 5);

      evd.upcall(seen);
      awaitCount(seen, 5, "all, though the handler threw " + failure);
      post(evd, 6);
      awaitCount(seen, 6, "later ones too");

      assertThat(seen.payloads())
          .as(why("the event counts as consumed, the rest is delivered, none twice"))
          .containsExactly(1, 2, 3, 4, 5, 6);
      await(() -> evd.statistics().failures() == 1, "the failure is counted");
      assertThat(evd.policy()).as(why("enabled")).isEqualTo(UpcallPolicy.SINGLE_INSTANCE);
    }
  }

  @Test
  void required_U10_aThrowInMidBatchLosesNoCompletion() {
    final Pair pair = Pair.connected(this);
    final Side side = pair.passive;
    side.evd.teardown();
    pair.arrive(0, BATCH);
    final int before = side.seen.count();
    for (int k = 1; k <= BATCH; k += 3) {
      side.seen.failAt(before + k, new AssertionError("planned"));
    }

    side.enable();
    awaitCount(side.seen, before + BATCH, "the whole batch");

    assertThat(side.seen.cookies(side.endpoint, Queue.RECEIVE))
        .as(why("each once, in order"))
        .containsExactlyElementsOf(range(0, BATCH));
    await(() -> side.evd.statistics().failures() == 6, "each failure is counted");
  }

  @Test
  void required_U10_aThrowInAConnectionUpcallLosesNothing() {
    final Pair pair = Pair.open(this);
    pair.passive.seen.failAt(1, new IllegalStateException("planned: the request"));
    pair.passive.seen.failAt(2, new IllegalStateException("planned: ESTABLISHED"));

    pair.connect();
    pair.passive.receives(0, 1);
    pair.active.sends(0, 1);

    awaitCount(pair.passive.seen, 3, "the connection works on");
    await(() -> pair.passive.evd.statistics().failures() == 2, "both failures are counted");
  }

  @Test
  void required_U10_aThrowFromOnTurnEndLosesNothing() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicBoolean thrown = new AtomicBoolean();
    seen.turnEnd(
        () -> {
          if (!thrown.getAndSet(true)) {
            throw new IllegalStateException("planned");
          }
        });
    evd.upcall(seen);

    post(evd, 1, 2);
    awaitCount(seen, 2, "both");
    await(thrown::get, "the end of the turn");
    post(evd, 3);
    awaitCount(seen, 3, "and the next");
  }

  @Test
  void required_U10_aThrowFromOnReadyLosesNothing() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final AtomicInteger told = new AtomicInteger();
    final NotifyHandler handler =
        ready -> {
          told.incrementAndGet();
          throw new IllegalStateException("planned");
        };
    evd.notifyOnce(handler, Invoke.ON_ANY);
    post(evd, 1, 2);
    await(() -> told.get() == 1, "onReady");
    bench.settle();
    evd.teardown(); // until the upcall that threw has ended

    succeeds(seen.take(), "the EVD is the consumer's");
    evd.notifyOnce(handler, Invoke.ON_ANY);
    await(() -> told.get() == 2, "onReady again");
    bench.settle();
    evd.teardown(); // until the upcall that threw has ended
    succeeds(seen.take(), "nothing was lost");
  }

  @Test
  void required_U10_aThrowInsideADequeueIsThrownOnAndTheEventIsConsumed() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd).failAt(1, new IllegalStateException("planned"));
    post(evd, 1, 2);

    assertThatThrownBy(seen::take).as(why("thrown on to the caller")).hasMessage("planned");
    succeeds(seen.take(), "the next one");

    assertThat(seen.payloads()).as(why("the first was consumed")).containsExactly(1, 2);
    assertThat(seen.take()).as(why("no more")).isEqualTo(Outcome.QUEUE_EMPTY);
  }

  @Test
  void required_U10_oneFailingEvdHarmsNoOther() {
    final Evd failing = softwareEvd(64);
    final Evd sound = softwareEvd(64);
    final Recorder bad = recorder(failing);
    final Recorder good = recorder(sound);
    IntStream.rangeClosed(1, 32).forEach(k -> bad.failAt(k, new AssertionError("planned")));
    failing.upcall(bad);
    sound.upcall(good);

    for (int i = 0; i < 32; i++) {
      post(failing, i);
      post(sound, i);
    }

    awaitCount(bad, 32, "all of the failing one");
    awaitCount(good, 32, "all of the sound one");
  }

  // U14: no needless provider call

  private void produce(final Runnable call) {
    producing.set(true);
    try {
      call.run();
    } finally {
      producing.set(false);
    }
  }

  private void countIfProducing(final AtomicInteger onStack) {
    if (producing.get()) {
      onStack.incrementAndGet();
    }
  }

  private void nothingYet(final int before, final Pair pair) {
    if (bench.isVirtual()) {
      assertThat(pair.active.seen.count() + pair.passive.seen.count())
          .as(why("nobody ran a dispatcher yet"))
          .isEqualTo(before);
    }
  }

  /** Answers messages from inside their upcalls. */
  private static void echo(final Side side, final int answers) {
    final AtomicInteger received = new AtomicInteger();
    side.seen.each(
        event -> {
          if (isReceived(event) && received.incrementAndGet() <= answers) {
            side.receives(received.get(), 1);
            side.sends(received.get(), 1);
          }
        });
  }

  private static boolean isReceived(final Event event) {
    return event.stream() == EventStream.DTO
        && ((DtoCompletion) event).operation() == DtoOperation.RECEIVE
        && ((DtoCompletion) event).status() == DtoStatus.SUCCESS;
  }

  private static Concurrency many(final int limit) {
    return Concurrency.many(limit);
  }
}
