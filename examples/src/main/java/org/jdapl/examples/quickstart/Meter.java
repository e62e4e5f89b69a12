package org.jdapl.examples.quickstart;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdapl.dat.AsyncEvent;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Event;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.EventStream;
import org.jdapl.dat.SoftwareEvent;

/** Passes events on to a side, and counts what the EVD hands out rather than what it says. */
final class Meter implements EventHandler {

  private final Side side;
  private final AtomicInteger running = new AtomicInteger();
  private final AtomicInteger mostAtOnce = new AtomicInteger();
  private final Map<EventStream, Long> events = new EnumMap<>(EventStream.class);
  private long nextSequence;
  private long sequenceGaps;

  Meter(final Side side) {
    this.side = side;
  }

  @Override
  public void onCompletion(final DtoCompletion event) {
    measure(event, () -> side.onCompletion(event));
  }

  @Override
  public void onConnection(final ConnectionEvent event) {
    measure(event, () -> side.onConnection(event));
  }

  @Override
  public void onRequest(final ConnectionRequestEvent event) {
    measure(event, () -> side.onRequest(event));
  }

  @Override
  public void onSoftware(final SoftwareEvent event) {
    measure(event, () -> side.onSoftware(event));
  }

  @Override
  public void onAsync(final AsyncEvent event) {
    measure(event, () -> side.onAsync(event));
  }

  private void measure(final Event event, final Runnable upcall) {
    mostAtOnce.accumulateAndGet(running.incrementAndGet(), Math::max);
    try {
      if (event.sequence() != nextSequence) {
        sequenceGaps++;
      }
      nextSequence = event.sequence() + 1;
      events.merge(event.stream(), 1L, Long::sum);
      upcall.run();
    } catch (final RuntimeException e) {
      side.fail("the handler failed at " + event.stream() + " event: " + e);
      throw e;
    } finally {
      running.decrementAndGet();
    }
  }

  long events(final EventStream stream) {
    return events.getOrDefault(stream, 0L);
  }

  int mostAtOnce() {
    return mostAtOnce.get();
  }

  long sequenceGaps() {
    return sequenceGaps;
  }
}
