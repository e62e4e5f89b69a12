package org.jdapl.evd;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class LaneTest {

  private static final int POSTERS = 4;
  private static final int EACH = 100_000;

  /** Who is interrupted in the middle of a post finds more taken than it had seen offered. */
  @Test
  @Timeout(60)
  void required_E04_noPostIsRefusedWhileThereIsRoom() throws InterruptedException {
    final Lane lane = new Lane(POSTERS * EACH);
    final AtomicInteger refused = new AtomicInteger();
    final List<Thread> posters = new ArrayList<>();
    for (int i = 0; i < POSTERS; i++) {
      posters.add(
          new Thread(
              () -> {
                for (int n = 0; n < EACH; n++) {
                  if (!lane.offerSoftware(lane)) {
                    refused.incrementAndGet();
                  }
                  while (!lane.isEmpty()) { // what is offered is taken at once
                    Thread.onSpinWait();
                  }
                }
              }));
    }
    posters.forEach(Thread::start);
    int taken = 0;
    while (taken + refused.get() < POSTERS * EACH) {
      if (lane.poll() != null) {
        taken++;
      }
    }
    for (final Thread poster : posters) {
      poster.join();
    }
    assertThat(refused).hasValue(0);
  }
}
