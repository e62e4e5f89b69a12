package org.jdapl.evd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.dat.DatObject;
import org.slf4j.Logger;

/**
 * Gives back all that an adapter has of its device: first what brings news, and the connections;
 * then memory and queues; the device last. So ends an adapter that is closed abruptly, and so does
 * it let go of a device that is lost, by itself. What does not end in its time is left behind.
 *
 * <p>Each call of the provider is a task of the reaper, so that one that does not return holds up
 * none but those that need its end.
 */
final class DeviceRelease {

  private static final Logger LOGGER = Log.of(DeviceRelease.class);

  /**
   * How a bound is divided: for what is being created, for the endpoints, for what they left behind
   * in their turns, for the EVDs, for the device.
   */
  static final int PARTS = 5;

  private final IaImpl ia;
  private final List<DatObject> objects;
  private final Duration part;
  private final boolean lost;
  private final Runnable last;

  /**
   * @param objects those of the adapter.
   * @param bound how long it may take.
   * @param lost whether the device is lost: then EVDs and CNOs stay, without it.
   * @param last ends it; a task of the reaper.
   */
  DeviceRelease(
      final IaImpl ia,
      final List<DatObject> objects,
      final Duration bound,
      final boolean lost,
      final Runnable last) {
    this.ia = ia;
    this.objects = objects;
    part = bound.dividedBy(PARTS);
    this.lost = lost;
    this.last = last;
  }

  void start() {
    final List<CompletableFuture<?>> drains = new ArrayList<>();
    for (final DatObject object : objects) {
      if (object instanceof SpImpl || object instanceof CrImpl) {
        call(object::close);
      } else if (object instanceof EndpointImpl endpoint) {
        if (lost) {
          endpoint.now().connection().onDeviceLost();
        }
        drains.add(endpoint.life().close(part));
      }
    }
    once(drains, 2, this::releaseQueues);
  }

  private void releaseQueues() {
    for (final DatObject object : objects) {
      if (object instanceof SrqImpl srq) {
        call(srq::closeAbruptly);
      }
    }
    for (final DatObject object : objects) {
      if (object instanceof RmrImpl rmr) {
        call(rmr::closeAbruptly);
      }
    }
    for (final DatObject object : objects) {
      if (object instanceof LmrImpl lmr) {
        callOrLeave(lmr::closeAbruptly);
      }
    }
    final List<CompletableFuture<?>> ends = new ArrayList<>();
    for (final DatObject object : objects) {
      if (object instanceof PzImpl) {
        callOrLeave(object::close);
      } else if (object instanceof CnoImpl cno) {
        tolerate(lost ? cno::onDeviceLost : cno::closeAbruptly);
      } else if (object instanceof EvdImpl evd) {
        tolerate(
            () -> ends.add(lost ? evd.closing().onDeviceLost() : evd.closing().start(part, true)));
      }
    }
    once(ends, 1, last);
  }

  /** Goes on by the reaper when all are done, or some parts of the bound are over; once. */
  private void once(final List<CompletableFuture<?>> all, final int parts, final Runnable next) {
    final CompletableFuture<Void> done =
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new));
    final AtomicBoolean begun = new AtomicBoolean();
    final Runnable step =
        () -> {
          if (begun.compareAndSet(false, true)) {
            ia.reaper().execute(next);
          }
        };
    final var unused = done.whenComplete((result, failure) -> step.run());
    ia.reaper().schedule(part.multipliedBy(parts), done, step);
  }

  private void call(final Runnable call) {
    ia.reaper().execute(() -> tolerate(call));
  }

  /** What cannot be destroyed because something uses it is destroyed later. */
  private void callOrLeave(final Runnable destroy) {
    call(
        () -> {
          try {
            destroy.run();
          } catch (final Throwable e) {
            ia.destroyLater(destroy);
            throw e;
          }
        });
  }

  private void tolerate(final Runnable call) {
    try {
      call.run();
    } catch (final Throwable e) {
      LOGGER.error("{}: letting go of the device goes on after {}", ia.name(), e.toString(), e);
    }
  }
}
