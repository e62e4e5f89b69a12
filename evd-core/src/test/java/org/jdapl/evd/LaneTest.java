package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.atomic.MpscGrowableAtomicArrayQueue;
import org.jdapl.dat.DatException;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class LaneTest {

  private static final int POSTERS = 4;
  private static final int EACH = 100_000;
  private static final int FRESH = 2_000;
  private static final long ENOUGH = TimeUnit.SECONDS.toNanos(10);

  @Test
  void required_E04_theLongestEvdHoldsAsManyAsItSaysAndMoreIsRefused() {
    final InterceptedProvider provider = new InterceptedProvider();
    provider.maxCqe = Integer.MAX_VALUE; // some devices say so
    try (Jdapl jdapl = Jdapl.with(provider).byHand().start();
        InterfaceAdapter ia = jdapl.open();
        Evd evd = ia.createEvd(Lane.MAX_LENGTH, EventStream.SOFTWARE)) {
      for (int i = 0; i < Lane.MAX_LENGTH; i++) {
        assertThat(evd.postSoftwareEvent(evd)).isEqualTo(Outcome.SUCCESS);
      }
      assertThat(evd.postSoftwareEvent(evd)).isEqualTo(Outcome.QUEUE_FULL);
      assertThat(evd.drain(new EventHandler() {}, Integer.MAX_VALUE)).isEqualTo(Lane.MAX_LENGTH);
      for (final int tooLong : new int[] {Lane.MAX_LENGTH + 1, 1 << 27, Integer.MAX_VALUE}) {
        assertThatThrownBy(() -> ia.createEvd(tooLong, EventStream.SOFTWARE))
            .isInstanceOf(DatException.class)
            .hasMessageContaining("" + tooLong);
        assertThatThrownBy(() -> evd.resize(tooLong)).isInstanceOf(DatException.class);
      }
    }
  }

  /**
   * Who is interrupted in the middle of a post finds more taken than it had seen offered. Each post
   * waits for another thread: a busy machine makes fewer in the time.
   */
  @Test
  @Timeout(60)
  void required_E04_noPostIsRefusedWhileThereIsRoom() throws InterruptedException {
    final Lane lane = new Lane(POSTERS * EACH, false);
    final AtomicInteger refused = new AtomicInteger();
    final AtomicInteger posting = new AtomicInteger(POSTERS);
    final long start = System.nanoTime();
    final List<Thread> posters = new ArrayList<>();
    for (int i = 0; i < POSTERS; i++) {
      posters.add(
          new Thread(
              () -> {
                for (int n = 0; n < EACH && System.nanoTime() - start < ENOUGH; n++) {
                  if (!lane.offerSoftware(lane)) {
                    refused.incrementAndGet();
                  }
                  while (!lane.isEmpty()) { // what is offered is taken at once
                    Thread.onSpinWait();
                  }
                }
                posting.decrementAndGet();
              }));
    }
    posters.forEach(Thread::start);
    while (posting.get() > 0) {
      final Object unused = lane.poll();
    }
    for (final Thread poster : posters) {
      poster.join();
    }
    assertThat(refused).hasValue(0);
  }

  /** An EVD's close waits until all that was counted is there. */
  @Test
  void required_E04_aPostWithoutMemoryChangesNothing() throws ReflectiveOperationException {
    final Lane lane = new Lane(2, true);
    final boolean[] noMemory = {true};
    final MessagePassingQueue<Object> queue =
        new MpscGrowableAtomicArrayQueue<>(2, 8) {
          @Override
          public boolean offer(final Object event) {
            if (noMemory[0]) {
              throw new OutOfMemoryError("the test says so");
            }
            return super.offer(event);
          }
        };
    final Field field = Lane.class.getDeclaredField("queue");
    field.setAccessible(true);
    field.set(lane, queue);
    final ConnectionRequestEventImpl request = new ConnectionRequestEventImpl(null, null);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> lane.offerSoftware("one")).isInstanceOf(OutOfMemoryError.class);
      assertThatThrownBy(() -> lane.offerRequest(request)).isInstanceOf(OutOfMemoryError.class);
    }
    noMemory[0] = false;

    for (int i = 0; i < 2; i++) {
      assertThat(lane.offerSoftware("one")).isTrue();
      assertThat(lane.offerRequest(request)).isTrue();
    }
    assertThat(lane.offerSoftware("one")).as("it is full").isFalse();
    assertThat(lane.offerRequest(request)).isFalse();
    for (int i = 0; i < 4; i++) {
      assertThat(lane.poll()).isNotNull();
    }
    assertThat(lane.close()).as("all that was accepted was taken").isTrue();
  }

  /** The first post of all makes the queue; of two that make one each, one would be lost. */
  @Test
  @Timeout(60)
  void required_E01_ofTwoFirstPostsBothAreThere() throws InterruptedException {
    final Lane[] lanes = new Lane[FRESH];
    Arrays.setAll(lanes, i -> new Lane(2, false));
    final AtomicInteger arrived = new AtomicInteger();
    final Runnable posts =
        () -> {
          for (int i = 0; i < FRESH; i++) {
            arrived.incrementAndGet();
            while (arrived.get() < 2 * (i + 1)) {
              Thread.yield(); // the other one may have no core
            }
            lanes[i].offerSoftware(lanes);
          }
        };
    final Thread other = new Thread(posts);
    other.start();
    posts.run();
    other.join();
    for (final Lane lane : lanes) {
      assertThat(lane.poll()).isSameAs(lanes);
      assertThat(lane.poll()).isSameAs(lanes);
      assertThat(lane.poll()).isNull();
    }
  }
}
