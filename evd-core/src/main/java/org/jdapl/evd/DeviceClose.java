package org.jdapl.evd;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.verbs.Device;
import org.jdapl.verbs.VerbsException;
import org.slf4j.Logger;

/**
 * The close of an adapter's device, behind all that is the device's. What is stuck keeps it open:
 * it is closed when that has returned.
 */
final class DeviceClose {

  private static final Logger LOGGER = Log.of(InterfaceAdapter.class);
  private static final Duration RETRY = Duration.ofMillis(100);

  private final IaImpl ia;
  private final Device device;
  private final Runnable afterwards;

  /** What could not be destroyed, because something that is stuck uses it. */
  private final Queue<Runnable> left = new ConcurrentLinkedQueue<>();

  private final AtomicBoolean running = new AtomicBoolean();
  private volatile boolean done;
  private volatile boolean failed;

  /**
   * That of a device.
   *
   * @param afterwards run once it is closed.
   */
  DeviceClose(final IaImpl ia, final Device device, final Runnable afterwards) {
    this.ia = ia;
    this.device = device;
    this.afterwards = afterwards;
  }

  /** Something of the device could not be destroyed: that is tried again before. */
  void after(final Runnable destroy) {
    left.add(destroy);
  }

  /** Closes it, now or when it can be. By the reaper. */
  void run() {
    if (!running.compareAndSet(false, true)) {
      return; // a call that did not return yet
    }
    if (!done) {
      done = tryToClose();
      if (done) {
        afterwards.run();
      } else {
        ia.reaper().executeAfter(RETRY, this::run);
      }
    }
    running.set(false);
  }

  /** False if the provider says that something still uses it. */
  private boolean tryToClose() {
    left.removeIf(DeviceClose::succeeds);
    try {
      device.close();
      return true;
    } catch (final Throwable e) {
      if (!failed) {
        LOGGER.error("{}: its device could not be closed: {}", ia.name(), e.toString(), e);
      }
      failed = true;
      return !(e instanceof VerbsException failure) || failure.errno() != VerbsException.EBUSY;
    }
  }

  private static boolean succeeds(final Runnable destroy) {
    try {
      destroy.run();
      return true;
    } catch (final Throwable e) {
      return false; // it was reported when it failed first
    }
  }

  boolean isDone() {
    return done;
  }
}
