package org.jdapl.evd;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The leaf lock of a work queue, held for the time of a post. Nothing is called under it but the
 * verb; an upcall of the provider inside that verb only sets a state word.
 */
class PostGuard {

  private static final int SPINS = 100;
  private static final int YIELDS = 1000;
  private static final long NAP = 50_000;

  /** How long a verb may take before it counts as stuck; a collection may stop its thread. */
  private static final long STUCK_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final VarHandle HELD;

  static {
    try {
      HELD = MethodHandles.lookup().findVarHandle(PostGuard.class, "held", boolean.class);
    } catch (final ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  @SuppressWarnings("unused") // through HELD
  private boolean held;

  final void lock() {
    for (int tries = 0; !tryLock(); tries++) {
      pause(tries);
    }
  }

  /**
   * Locks, unless the verb of who holds it does not return.
   *
   * @return whether it is locked.
   */
  final boolean lockUnlessStuck() {
    final long began = System.nanoTime();
    boolean locked = tryLock();
    // Tries count as well: in a pause of the whole process time passes, and no verb goes on.
    for (int tries = 0;
        !locked && (tries < 2 * YIELDS || System.nanoTime() - began < STUCK_NANOS);
        tries++) {
      pause(tries);
      locked = tryLock();
    }
    return locked;
  }

  private void pause(final int tries) {
    if (tries < SPINS) {
      Thread.onSpinWait();
    } else if (tries < YIELDS) {
      Thread.yield();
    } else {
      LockSupport.parkNanos(this, NAP); // its verb may not return for long
    }
  }

  final boolean tryLock() {
    return HELD.compareAndSet(this, false, true);
  }

  final void unlock() {
    HELD.setRelease(this, false);
  }
}
