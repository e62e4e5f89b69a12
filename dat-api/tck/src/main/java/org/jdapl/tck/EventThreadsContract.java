package org.jdapl.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jdapl.dat.DatException;
import org.jdapl.dat.DrainReport;
import org.jdapl.dat.DrainReport.Queue;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.Outcome;
import org.jdapl.dat.ReturnType;
import org.junit.jupiter.api.Test;

/**
 * The rules of section E that need framework threads and several threads of the test: for benches
 * of which {@link Bench#isVirtual} is false.
 */
public abstract class EventThreadsContract extends Contract {

  /** A contract; its state lives for one test. */
  protected EventThreadsContract() {}

  @Test
  void required_E01_postsThatRaceACloseAreDeliveredOrInTheReportOrRefused() {
    final Evd evd = softwareEvd(4096);
    final Recorder seen = recorder(evd);
    final CountDownLatch someCame = new CountDownLatch(1);
    final AtomicInteger accepted = new AtomicInteger();
    final AtomicReference<DrainReport> report = new AtomicReference<>();
    seen.at(100, someCame::countDown);
    evd.upcall(seen);

    final Runnable poster = () -> accepted.addAndGet(postUntilClosed(evd, 1000));
    final Runnable closer =
        () -> {
          hold(someCame);
          report.set(evd.closeAsync(BOUND).toCompletableFuture().join());
        };
    inParallel(poster, poster, poster, closer);

    assertThat(seen.count() + report.get().events().size())
        .as(why("accepted posts are delivered or in the report; lost between seal and sweep?"))
        .isEqualTo(accepted.get());
  }

  @Test
  void required_E02_eachOfSeveralPostersKeepsItsOrder() {
    final int posters = 4;
    final int each = 1000;
    final Evd evd = softwareEvd(posters * each);
    final Recorder seen = recorder(evd);
    evd.upcall(seen);

    inParallel(
        IntStream.range(0, posters)
            .mapToObj(poster -> (Runnable) () -> postNumbered(evd, poster, each))
            .toArray(Runnable[]::new));
    awaitCount(seen, posters * each, "all posts of all posters");

    for (int poster = 0; poster < posters; poster++) {
      final int mine = poster;
      assertThat(seen.payloads().stream().map(Post.class::cast).filter(p -> p.poster() == mine))
          .as(why("poster " + poster + ": its own order, none lost, none twice"))
          .extracting(Post::number)
          .containsExactlyElementsOf(IntStream.range(0, each).boxed().toList());
    }
  }

  @Test
  void required_E05_severalThreadsRefillASharedQueueWhileItsReceivesComplete() {
    final int posters = 3;
    final int each = 400;
    final Pair pair = Pair.open(this);
    pair.passive.share(16);
    pair.connect();
    final AtomicInteger posted = new AtomicInteger();
    final CompletableFuture<?>[] refills = new CompletableFuture<?>[posters];
    for (int poster = 0; poster < posters; poster++) {
      final int first = poster * each;
      refills[poster] =
          inBackground(
              () -> {
                for (int i = first; i < first + each; ) {
                  if (pair.passive.receive(i) == Outcome.SUCCESS) {
                    posted.incrementAndGet();
                    i++;
                  } else {
                    Thread.onSpinWait();
                  }
                }
              });
    }

    for (int sent = 0; sent < posters * each; sent++) {
      final int before = sent;
      await(() -> posted.get() > before, "a receive for the next message");
      await(() -> pair.active.send(before) == Outcome.SUCCESS, "room for a send");
    }
    await(CompletableFuture.allOf(refills), "the end of the posters");
    await(() -> pair.passive.successes(Queue.RECEIVE) == posters * each, "all receives");

    assertThat(pair.passive.seen.cookies(pair.passive.endpoint, Queue.RECEIVE))
        .as(why("each receive of each poster once"))
        .containsExactlyInAnyOrderElementsOf(Contract.range(0, posters * each));
    assertThat(pair.passive.srq.openReceives()).as(why("all handed out")).isZero();
  }

  @Test
  void required_E02_aDequeuerSeesEachProducerInOrderThoughTheyRace() {
    final int posters = 3;
    final int each = 1000;
    final int refused = 50;
    final Side side = new Side(this, 4096, EndpointAttributes.defaults().withMaxDtos(0, 0));
    final Runnable connector =
        () -> {
          for (int i = 0; i < refused; i++) {
            side.newEndpoint().connect(side.adapter.address(), 1, Pair.CONNECT, null);
          }
        };
    final List<CompletableFuture<Void>> producers = new ArrayList<>();
    producers.add(inBackground(connector));
    for (int i = 0; i < posters; i++) {
      final int poster = i;
      producers.add(inBackground(() -> postNumbered(side.evd, poster, each)));
    }

    awaitTaking(
        side.seen,
        () -> side.seen.count() >= posters * each + refused,
        "all posts, and the refusals of endpoints that nobody listens to");

    producers.forEach(producer -> await(producer, "the end of a producer"));
    assertThat(side.seen.takeAll()).as(why("none twice")).isZero();
    final List<Object> connections = new ArrayList<>();
    side.seen.events().stream()
        .filter(event -> event.stream() == EventStream.CONNECTION)
        .forEach(event -> connections.add(event.source()));
    assertThat(connections).as(why("one for each endpoint")).doesNotHaveDuplicates();
    assertThat(connections).hasSize(refused);
    for (int i = 0; i < posters; i++) {
      final int mine = i;
      assertThat(
              side.seen.payloads().stream().map(Post.class::cast).filter(p -> p.poster() == mine))
          .as(why("poster " + mine + ": its own order, none lost, none twice"))
          .extracting(Post::number)
          .containsExactlyElementsOf(IntStream.range(0, each).boxed().toList());
    }
  }

  @Test
  void required_E04_anyThreadMayPostAndNoMoreThanTheLengthAreAccepted() {
    final Evd evd = softwareEvd(100);
    final Recorder seen = recorder(evd);
    final AtomicInteger accepted = new AtomicInteger();
    final Runnable poster =
        () -> {
          for (int i = 0; i < 100; i++) {
            if (evd.postSoftwareEvent(i) == Outcome.SUCCESS) {
              accepted.incrementAndGet();
            }
          }
        };

    inParallel(poster, poster, poster, poster);

    assertThat(accepted.get()).as(why("room for the length")).isEqualTo(evd.length());
    assertThat(seen.takeAll()).as(why("SUCCESS means queued")).isEqualTo(accepted.get());
  }

  @Test
  void required_E08_resizeUnderLoadLosesNothingAndKeepsOrder() {
    final Evd evd = softwareEvd(8);
    final Recorder seen = recorder(evd);
    final int posters = 3;
    final int each = 2000;
    final int resizes = 20;
    final AtomicInteger resized = new AtomicInteger();
    final AtomicInteger posted = new AtomicInteger();
    final AtomicInteger posting = new AtomicInteger(posters);
    final Runnable[] all = new Runnable[posters + 1];
    for (int i = 0; i < posters; i++) {
      final int poster = i;
      all[i] =
          () -> {
            int n = 0;
            for (; n < each || resized.get() < resizes; n++) {
              while (evd.postSoftwareEvent(new Post(poster, n)) == Outcome.QUEUE_FULL) {
                Thread.yield();
              }
            }
            posted.addAndGet(n);
            posting.decrementAndGet();
          };
    }
    all[posters] =
        () -> {
          for (int n = 0; posting.get() > 0; n++) {
            try {
              evd.resize(1 + n % 16);
              resized.incrementAndGet();
            } catch (final DatException e) {
              assertThat(e.type()).as(why("more wait")).isEqualTo(ReturnType.INVALID_STATE);
            }
          }
        };
    evd.upcall(seen);

    inParallel(all);
    awaitCount(seen, posted.get(), "all posts");

    for (int poster = 0; poster < posters; poster++) {
      final int mine = poster;
      final List<Integer> numbers =
          seen.payloads().stream()
              .map(Post.class::cast)
              .filter(p -> p.poster() == mine)
              .map(Post::number)
              .toList();
      assertThat(numbers)
          .as(why("poster " + poster + ": its own order, none lost, none twice"))
          .hasSizeGreaterThanOrEqualTo(each)
          .containsExactlyElementsOf(IntStream.range(0, numbers.size()).boxed().toList());
    }
  }

  @Test
  void required_E08_aResizeThatIsRefusedDisturbsNobody() {
    final Evd evd = softwareEvd(1000);
    final Recorder seen = recorder(evd);
    final int waiting = 50;
    final AtomicInteger refused = new AtomicInteger();
    final AtomicInteger full = new AtomicInteger();
    for (int i = 0; i < waiting; i++) {
      post(evd, i);
    }

    inParallel(
        () -> {
          while (refused.get() < 2000) {
            if (evd.postSoftwareEvent("one more") != Outcome.SUCCESS) {
              full.incrementAndGet();
            }
            seen.take();
          }
        },
        () -> {
          while (refused.get() < 2000) {
            refused(ReturnType.INVALID_STATE, "resize below what waits", () -> evd.resize(10));
            refused.incrementAndGet();
          }
        });

    assertThat(full.get()).as(why("there was room all the time")).isZero();
    assertThat(evd.length()).as(why("unchanged")).isEqualTo(1000);
  }

  private void postNumbered(final Evd evd, final int poster, final int count) {
    for (int i = 0; i < count; i++) {
      post(evd, new Post(poster, i));
    }
  }

  private record Post(int poster, int number) {}
}
